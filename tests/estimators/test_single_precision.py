"""Several classes trained with float32 kernel values, beside float64 ones and scikit-learn's."""

import numpy as np
import pytest
import sklearn.svm
from estimators.problems import blobs
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

import svmselect.sklearn.svc as svc
from svmselect import Gram
from svmselect.sklearn import SVC

M, TOL = 1_200, 1e-3


def rows_of(kind):
    """Rows, labels, C and gamma."""
    X, y = blobs(3, M, 6, 4)
    C, gamma = 1.0, 0.1
    if kind == "large C":
        C = 1e4
    elif kind == "flat kernel":
        C, gamma = 1e3, 1e-4
    elif kind == "large norms":
        X, gamma = 1e3 * X, 1e-7
    elif kind == "duplicates":
        X = np.repeat(X[: M // 20], 20, axis=0)
    elif kind == "duplicates of two kinds":
        X = np.repeat(X[:2], M // 2, axis=0)
        C = 10.0
    elif kind == "sparse":
        X = sparse.csr_array(np.where(np.abs(X) > 1, X, 0))
    elif kind == "offset":
        X = X + 1e6
    elif kind == "sparse offset":
        X, gamma = sparse.csr_array(X + 1e3), 1e-5
    elif kind == "unequal weights":
        C = 0.01
    return X, y, C, gamma


KINDS = ["plain", "large C", "flat kernel", "large norms", "duplicates", "duplicates of two kinds", "sparse"]
KINDS += ["offset", "sparse offset", "unequal weights"]
SINGLE = ["plain", "large norms", "duplicates", "duplicates of two kinds", "sparse", "unequal weights"]


@pytest.fixture
def types(monkeypatch):
    """The types of the kernel values that fits have used."""
    types = []

    def solve(gram, *args, **kwargs):
        types.append(str(gram.dtype))
        return solve_csvc(gram, *args, **kwargs)

    solve_csvc = svc.solve_csvc
    monkeypatch.setattr(svc, "solve_csvc", solve)
    return types


def exact_gaps(model, X, gamma):
    """The KKT gap of each pair's alphas by float64 kernel values of rows that were moved to their mean."""
    X = X.toarray() if sparse.issparse(X) else X
    K = rbf_kernel(X - X.mean(axis=0), gamma=gamma)
    gaps = []
    training = model._training
    for pair, solution in zip(training.problem.pairs, training.solutions, strict=True):
        f = K[np.ix_(pair.rows, pair.rows)] @ (solution.alpha * pair.y) - pair.y
        free_up = np.where(pair.y > 0, solution.alpha < solution.C, solution.alpha > 0)
        free_down = np.where(pair.y > 0, solution.alpha > 0, solution.alpha < solution.C)
        gaps.append(f[free_down].max() - f[free_up].min())
    return np.array(gaps)


@pytest.mark.parametrize("kind", KINDS)
def test_solutions_are_those_of_float64_to_tol(kind, types):
    X, y, C, gamma = rows_of(kind)
    weight = {0: 100.0} if kind == "unequal weights" else None
    model = SVC(C, gamma=gamma, tol=TOL, class_weight=weight, decision_function_shape="ovo").fit(X, y)
    # rows far from 0 are tried in float32, and found out
    expected = (
        {"float32"} if kind in SINGLE else {"float32", "float64"} if kind == "sparse offset" else {"float64"}
    )
    assert set(types) == expected
    assert exact_gaps(model, X, gamma).max() <= TOL * (1 + 3 * svc.SINGLE_SHARE)
    # objectives and labels of a fit with float64 values, and of scikit-learn's
    theirs = sklearn.svm.SVC(
        C=C, gamma=gamma, tol=1e-5, cache_size=500, class_weight=weight, decision_function_shape="ovo"
    )
    moved = X - X.mean(axis=0) if kind == "offset" else X
    values = theirs.fit(moved, y).decision_function(moved)
    largest_difference = np.abs(model.decision_function(X) - values).max()
    assert largest_difference <= 0.05 * (1 + np.abs(values).max())
    sure = np.abs(values).min(axis=1) > largest_difference
    assert sure.sum() > M // 3
    np.testing.assert_array_equal(model.predict(X)[sure], theirs.predict(moved)[sure])


@pytest.mark.parametrize("kind", SINGLE)
def test_objectives_are_those_of_float64(kind, monkeypatch):
    X, y, C, gamma = rows_of(kind)
    single = SVC(C, gamma=gamma).fit(X, y)
    monkeypatch.setattr(svc, "SINGLE_ROWS", M + 1)
    double = SVC(C, gamma=gamma).fit(X, y)
    for one, other in zip(single._training.solutions, double._training.solutions, strict=True):
        # the gap in objective of a KKT gap is at most the gap times the sum of all alphas that may move
        assert abs(one.objective - other.objective) <= 2 * TOL * min(other.C.sum(), 2 * other.alpha.sum())


def test_values_that_differ_in_float64_are_trained_with_again(types, monkeypatch):
    X, y, C, gamma = rows_of("plain")
    monkeypatch.setattr(svc, "SINGLE_SHARE", 1e-9)
    monkeypatch.setattr(svc, "single_rounding", lambda kernel, X: 0.0)
    model = SVC(C, gamma=gamma).fit(X, y)
    assert types == ["float32", "float64"] * 6
    assert exact_gaps(model, X, gamma).max() <= TOL


def test_float32_alone_would_be_wrong_without_the_rule(monkeypatch):
    """Rows far from 0 whose kernel values float32 does not resolve: the rule is needed."""
    X, y, C, gamma = rows_of("sparse offset")
    monkeypatch.setattr(svc, "single_rounding", lambda kernel, X: 0.0)
    monkeypatch.setattr(svc, "SINGLE_SHARE", np.inf)
    assert exact_gaps(SVC(1e3 * C, gamma=gamma).fit(X, y), X, gamma).max() > 2 * TOL


@pytest.mark.parametrize("model", [{"C": "1"}, {"C": -1.0}, {"C": None}, {"tol": "1"}, {"tol": 0.0}])
def test_bad_parameters_are_named(model):
    X, y, _, _ = rows_of("plain")
    with pytest.raises(ValueError, match=next(iter(model))):
        SVC(**model).fit(X, y)


def test_estimates_and_leave_one_out_have_float64_values(monkeypatch):
    X, y, C, gamma = rows_of("plain")
    single = SVC(C, gamma=gamma).fit(X, y)
    types, compute = [], Gram.compute
    monkeypatch.setattr(Gram, "compute", lambda gram, *args: types.append(gram.dtype) or compute(gram, *args))
    single_error, single_bound = single.loo_error_, single.xi_alpha_bound_
    assert set(types) == {np.dtype("float64")}
    monkeypatch.setattr(svc, "SINGLE_ROWS", M + 1)
    double = SVC(C, gamma=gamma).fit(X, y)
    assert single_error == double.loo_error_
    np.testing.assert_allclose(single_bound, double.xi_alpha_bound_, rtol=1e-6)
