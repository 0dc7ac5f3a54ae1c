"""Leave-one-out errors against leaving one out, and the estimates against the library's."""

import warnings
from inspect import signature
from itertools import combinations

import numpy as np
import pytest
import sklearn.svm
from estimators.problems import blobs
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, nasty, two_classes
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

import svmselect
from svmselect import (
    RBF,
    Gram,
    leave_one_out,
    radius_margin,
    smallest_enclosing_sphere,
    solve_csvc,
    span_bound,
    span_rule,
    sv_count,
    xi_alpha,
)
from svmselect.bounds import SINGLE_FITS
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
    remaining = ~np.eye(41, dtype=bool)
    theirs = [sklearn.svm.NuSVC(**model).fit(X[rest], y[rest]) for rest in remaining]
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


def by_definition(declared, model, X, y, weight, k):
    """The estimate of three or more classes, row by row, with a fit of its own for each pair of classes."""
    trained = np.flatnonzero(weight)
    fits, total = {}, 0.0
    for i in range(k):
        for j in range(i + 1, k):
            rows = [r for r in trained if y[r] in (i, j)]
            gram, labels = Gram(X[rows], RBF(model.gamma)), np.where(y[rows] == j, 1, -1)
            solution = solve_csvc(gram, labels, model.C * weight[rows], tol=1e-9)
            result = declared.compute(gram, labels, solution)
            total += result.bound * len(rows) if declared.is_bound else 0
            fits[i, j] = rows, solution, result
    if declared.is_bound:
        return total / trained.size
    wrong = 0
    for r in trained:
        votes = [0] * k
        for (i, j), (rows, solution, result) in fits.items():
            if r in rows:
                lost = result.errors[rows.index(r)]
                votes[(i + j - y[r]) if lost else y[r]] += 1
            else:
                theta = solution.alpha * np.where(y[rows] == j, 1, -1)
                value = theta @ rbf_kernel(X[rows], X[[r]], gamma=model.gamma)[:, 0] + solution.b
                votes[j if value >= 0 else i] += 1
        wrong += votes.index(max(votes)) != y[r]
    return wrong / trained.size


@pytest.mark.parametrize("declared", SINGLE_FITS, ids=lambda declared: declared.key)
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_single_fit_estimates_of_any_number_of_classes(declared, classes, weighted):
    X, y = blobs(classes + 10, m=60, k=classes)
    weight = np.ones(60)
    if weighted:
        weight = np.random.default_rng(0).uniform(0.5, 2, size=60)
        weight[::7] = 0
    model = SVC(C=1.5, gamma=0.4).fit(X, y, sample_weight=weight)
    result = getattr(model, f"{declared.key}_")
    assert result == pytest.approx(by_definition(declared, model, X, y, weight, classes), rel=1e-4)
    assert result > 0
    if declared.key in ("sv_count_bound", "span_bound"):  # theorems for any C
        left_out_errors = (model.loo_predictions_ != y)[weight > 0]
        assert result >= left_out_errors.mean() > 0


def test_the_votes_forgive_what_a_pair_loses():
    """An error of a pair need not be one of the classifier: the sum over pairs would count more."""
    X, y = blobs(4, m=60, k=4)
    model = SVC(C=1.5, gamma=0.4).fit(X, y)
    summed = 0
    for i, j in combinations(range(4), 2):
        rows = np.isin(y, (i, j))
        summed += SVC(C=1.5, gamma=0.4).fit(X[rows], y[rows]).span_estimate_ * rows.sum() / 60
    assert model.loo_error_ - 0.1 < model.span_estimate_ < summed


def test_each_estimate_is_declared_once():
    assert len({declared.key for declared in SINGLE_FITS}) == len(SINGLE_FITS)
    for declared in SINGLE_FITS:
        assert getattr(svmselect, declared.compute.__name__) is declared.compute
        assert f"{declared.key}_" in SVC.__doc__ and f"{declared.key}_" in NuSVC.__doc__
        X, y = blobs(0, m=20, k=2)
        gram, y = Gram(X, RBF(0.5)), 2.0 * y - 1
        result = declared.evaluate(gram, y, solve_csvc(gram, y, 1.0), smallest_enclosing_sphere(gram))
        assert hasattr(result, "bound") == declared.is_bound != hasattr(result, "errors")
        assert ("sphere" in signature(declared.compute).parameters) == declared.needs_sphere


def test_what_is_not_defined_says_so():
    X, y = blobs(13, k=3)
    fitted = SVC().fit(X, y)
    assert 0 <= fitted.loo_error_ <= 1
    X, y = blobs(13, k=2)
    nu = NuSVC(0.985).fit(X[1:], y[1:])
    assert 0 <= nu.span_estimate_ <= 1
    with pytest.raises(ValueError, match=r"nu\b.* 0.985\b"):
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
    row_weight = weight * model.class_weight_[y]
    assert model.weighted_loo_error_ == pytest.approx(row_weight[wrong].sum() / row_weight.sum())
    assert model.weighted_loo_error_ != pytest.approx(model.loo_error_)


def test_left_out_decision_values_of_nu():
    X, y = blobs(5, m=30, k=2)
    model = NuSVC(nu=0.4, gamma=0.3).fit(X, y)
    for r in range(0, 30, 7):
        rest = np.arange(30) != r
        without = NuSVC(nu=0.4, gamma=0.3).fit(X[rest], y[rest])
        assert model.loo_decision_[r] == pytest.approx(without.decision_function(X[[r]])[0], abs=1e-2)
    np.testing.assert_array_equal(model.loo_predictions_, np.where(model.loo_decision_ >= 0, 1, 0))
