"""Bounds beyond what float64 can square."""

import warnings

import numpy as np
import pytest
from numerics.problems import two_classes
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate,
    cross_validate_grid,
    leave_one_out,
    solve_csvc,
    solve_path,
)
from svmselect.sklearn import SVC, LOOSearchCV, SeededCV

LARGE = [1e100, 1e160, 1e300, 1.7e308]


@pytest.fixture(autouse=True)
def no_warning_of_numpy():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.mark.parametrize("C", LARGE)
def test_a_hard_margin(C):
    """No alpha comes near the bound, so that its size does not matter."""
    X, y = load_iris(return_X_y=True)
    model, expected = SVC(C=C).fit(X, y), SVC(C=1e8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-2)
    assert model.loo_error_ == expected.loo_error_ == 0.06666666666666667
    for name in ("span_estimate_", "span_bound_", "opper_winther_estimate_"):
        assert getattr(model, name) == pytest.approx(getattr(expected, name), rel=1e-3)
    for search in (LOOSearchCV, SeededCV):
        scores = search(SVC(), {"C": [1.0, C]}).fit(X, y).cv_results_["mean_test_score"]
        by_less = search(SVC(), {"C": [1.0, 1e8]}).fit(X, y).cv_results_["mean_test_score"]
        np.testing.assert_allclose(scores, by_less)


@pytest.mark.parametrize("Cs", [[1e-300, 1e100], [1e-320, 1e300], [1e-250, 1e-10, 1e200], [1e-300, 1.0]])
def test_paths_over_all_numbers(Cs):
    X, y = two_classes(np.random.default_rng(0), 40, 2)
    gram = Gram(X, RBF(0.5))
    assert len(list(solve_path(gram, y, Cs, warm_start="C"))) == len(Cs)
    for seeding in ("path", "unlearn"):
        result = cross_validate_grid(gram, y, Cs, folds=3, seeding=seeding, max_iter=20_000)
        assert 0 <= result.error.min() <= result.error.max() <= 1


@pytest.mark.parametrize("C", LARGE[1:])
@pytest.mark.parametrize(("kernel", "unit"), [(RBF(0.5), 1.0), (Linear(), 1e-3), (Linear(), 1e3)])
def test_classes_that_overlap(C, kernel, unit):
    """The compiled paths come to an end, with numbers; before, they wrote outside of their arrays."""
    X, y = two_classes(np.random.default_rng(0), 60, 2)
    gram, folds, few = Gram(unit * X, kernel), np.arange(60) % 3, 20_000
    for solution in (
        solve_csvc(gram, y, C, max_iter=few),
        *(point.solution for point in solve_path(gram, y, [1.0, C], warm_start="C")),
    ):
        assert np.isfinite(solution.decision).all() and (solution.alpha <= solution.C).all()
    for seeding in ("path", "unlearn"):
        result = cross_validate_grid(gram, y, [1.0, C], folds=folds, seeding=seeding, max_iter=few)
        assert result.Cs[1] == C and 0 <= result.error.min() <= result.error.max() <= 1
    for seeding in ("cold", "top", "unlearn", "ato", "mir", "sir", "avg"):
        assert 0 <= cross_validate(gram, y, C, folds, seeding=seeding, max_iter=few).error <= 1
    assert 0 <= leave_one_out(gram, y, C, max_iter=few).error <= 1
