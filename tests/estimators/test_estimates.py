"""Leave-one-out errors against leaving one out, and the estimates against the library's."""

import warnings

import numpy as np
import pytest
import sklearn.svm
from estimators.problems import blobs
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, nasty, two_classes
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from svmselect import (
    RBF,
    Gram,
    leave_one_out,
    radius_margin,
    solve_csvc,
    span_bound,
    span_rule,
    sv_count,
    xi_alpha,
)
from svmselect.sklearn import SVC, NuSVC


def left_out(model, X, y, weight):
    """Predictions of scikit-learn's SVC without each row (None where one class is left), and how sure."""
    predicted, margin = [], []
    for r in range(len(y)):
        rest = np.delete(np.arange(len(y)), r)
        if np.unique(y[rest]).size < np.unique(y).size:
            predicted.append(None)
            margin.append(np.inf)
            continue
        reference = sklearn.svm.SVC(tol=1e-9, decision_function_shape="ovo", max_iter=100_000, **model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            reference.fit(X[rest], y[rest], sample_weight=weight[rest])
        predicted.append(reference.predict(X[r : r + 1])[0])
        if reference.fit_status_:
            margin.append(0.0)
            continue
        alpha, bound = np.abs(reference.dual_coef_), model["C"] * weight[rest]
        if len(reference.classes_) == 2:
            bound = bound[reference.support_]
            if not ((alpha > 1e-6 * bound) & (alpha < (1 - 1e-6) * bound)).any():
                margin.append(0.0)  # any threshold of an interval is optimal
                continue
        margin.append(np.abs(reference.decision_function(X[r : r + 1])).min())
    return predicted, np.array(margin)


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    m=st.integers(4, 24),
    C=st.sampled_from([0.05, 1.0, 50.0]),
    kernel=st.sampled_from(["rbf", "linear"]),
    weighted=st.booleans(),
)
@settings(deadline=None, max_examples=15)
def test_two_classes(seed, kind, m, C, kernel, weighted):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, m, 2)
    weight = rng.uniform(0.5, 2, size=m) if weighted else np.ones(m)
    model = {"C": C, "kernel": kernel, "gamma": 0.7}
    ours = SVC(**model).fit(X, y, sample_weight=weight)
    predicted, margin = left_out(model, X, y, weight)
    for r in np.flatnonzero(margin > 1e-4 * (1 + C)):
        if predicted[r] is None:
            assert ours.loo_predictions_[r] != y[r]
        else:
            assert ours.loo_predictions_[r] == predicted[r]
    assert ours.loo_error_ == np.mean(ours.loo_predictions_ != y)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [3, 5])
def test_more_classes(kernel, weighted, classes):
    X, y = blobs(11, m=40, k=classes)
    weight = np.ones(40)
    if weighted:
        weight = np.random.default_rng(0).uniform(0.5, 2, size=40)
        weight[::9] = 0
    model = {"C": 2.0, "kernel": kernel, "gamma": 0.4}
    ours = SVC(**model).fit(
        rbf_kernel(X, gamma=0.4) if kernel == "precomputed" else X, y, sample_weight=weight
    )
    if kernel == "precomputed":
        model["kernel"] = "rbf"
    predicted, margin = left_out(model, X, y, weight)
    sure = margin > 1e-6
    assert sure.mean() > 0.9
    np.testing.assert_array_equal(ours.loo_predictions_[sure], np.array(predicted)[sure])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_nu(classes, kernel):
    X, y = blobs(14, m=41, k=classes)
    model = {"nu": 0.613, "kernel": kernel, "gamma": 0.4, "tol": 1e-8}
    ours = NuSVC(**model).fit(X, y)
    kept = ~np.eye(41, dtype=bool)
    theirs = [sklearn.svm.NuSVC(**model).fit(X[rest], y[rest]) for rest in kept]
    predicted = [fitted.predict(X[r : r + 1])[0] for r, fitted in enumerate(theirs)]
    np.testing.assert_array_equal(ours.loo_predictions_, predicted)
    assert ours.loo_error_ == np.mean(predicted != y) > 0


def test_the_only_row_of_a_class_is_an_error():
    X, y = blobs(12, m=30, k=2)
    y[0] = 7
    assert SVC().fit(X, y).loo_predictions_[0] != 7
    assert NuSVC(0.05).fit(X, y).loo_predictions_[0] != 7


def test_single_fit_estimates_are_the_librarys():
    X, y = two_classes(np.random.default_rng(1), 100, 3)
    weight = np.random.default_rng(2).uniform(0.5, 2, size=100)
    weight[:10] = 0
    fitted = SVC(5.0, gamma=0.3).fit(X, y, sample_weight=weight)
    gram, y, C = Gram(X[10:], RBF(0.3)), y[10:], 5 * weight[10:]
    solution = solve_csvc(gram, y, C, tol=1e-9)
    assert fitted.span_estimate_ == span_rule(gram, y, solution).error
    assert fitted.span_bound_ == pytest.approx(span_bound(gram, y, solution).bound, rel=1e-5)
    assert fitted.xi_alpha_bound_ == xi_alpha(gram, y, solution).error
    assert fitted.sv_count_bound_ == sv_count(gram, y, solution).error
    assert fitted.radius_margin_bound_ == pytest.approx(radius_margin(gram, y, solution).bound, rel=1e-5)
    left = leave_one_out(gram, y, C)
    np.testing.assert_array_equal(fitted.loo_predictions_[10:] != y, left.errors)


def test_what_is_not_defined_says_so():
    X, y = blobs(13, k=3)
    fitted = SVC().fit(X, y)
    assert 0 <= fitted.loo_error_ <= 1
    with pytest.raises(AttributeError, match="span_estimate_ is for two classes, y had 3: use loo_error_"):
        fitted.span_estimate_  # noqa: B018
    X, y = blobs(13, k=2)
    nu = NuSVC(0.985).fit(X[1:], y[1:])
    assert 0 <= nu.span_estimate_ <= 1
    with pytest.raises(ValueError, match=r"nu must be at most 0\.\d+ for classes of these sizes, got 0.985"):
        nu.loo_error_  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'loo_eror_'"):
        fitted.loo_eror_  # noqa: B018
    assert not hasattr(SVC(), "loo_error_")


@pytest.mark.parametrize("classes", [2, 3])
def test_left_out_decision_values_and_weighted_errors(classes):
    X, y = blobs(5, m=40, k=classes)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=40)
    weight[[3, 7]] = 0
    model = SVC(C=2.0, gamma=0.3, class_weight={0: 2.0, 1: 0.5}).fit(X, y, sample_weight=weight)
    assert model.loo_predictions_.shape == (40,)
    for r in range(40):
        # weights stay those of all rows
        bounds = np.where(np.arange(40) == r, 0, weight * model.class_weight_[y])
        without = SVC(C=2.0, gamma=0.3, tol=1e-9).fit(X, y, sample_weight=bounds)
        np.testing.assert_allclose(model.loo_decision_[r], without.decision_function(X[[r]])[0], atol=1e-6)
    wrong = model.loo_predictions_ != y
    of_rows = weight * model.class_weight_[y]
    assert model.weighted_loo_error_ == pytest.approx(of_rows[wrong].sum() / of_rows.sum())
    assert model.weighted_loo_error_ != pytest.approx(model.loo_error_)


def test_left_out_decision_values_of_nu():
    X, y = blobs(5, m=30, k=2)
    model = NuSVC(nu=0.4, gamma=0.3).fit(X, y)
    for r in range(0, 30, 7):
        rest = np.arange(30) != r
        without = NuSVC(nu=0.4, gamma=0.3).fit(X[rest], y[rest])
        assert model.loo_decision_[r] == pytest.approx(without.decision_function(X[[r]])[0], abs=1e-2)
    np.testing.assert_array_equal(model.loo_predictions_, np.where(model.loo_decision_ >= 0, 1, 0))
