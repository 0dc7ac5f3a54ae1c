"""Errors in which points have weights, of leave-one-out and of cross-validation."""

import numpy as np
import pytest
from numerics.problems import two_classes

from svmselect import RBF, Gram, cross_validate, cross_validate_grid, leave_one_out, stratified_folds


@pytest.fixture(scope="module")
def problem():
    """Overlapping classes, one of them half as large; and weights that make them equal."""
    rng = np.random.default_rng(0)
    X, y = two_classes(rng, 90, 3)
    y[:30], y[30:] = 1.0, -1.0
    return Gram(X + 0.8 * (y[:, None] > 0), RBF(0.3)), y, np.where(y > 0, 1 / 30, 1 / 60)


def weighted(wrong, weight):
    return sum(w for w, is_wrong in zip(weight, wrong, strict=True) if is_wrong) / sum(weight)


def test_leave_one_out(problem):
    gram, y, weight = problem
    loo = leave_one_out(gram, y, 3.0)
    assert 0 < loo.error != loo.weighted_error(weight)
    assert loo.weighted_error(weight) == pytest.approx(weighted(loo.errors, weight))
    # by class: the mean of their own errors
    values = [loo.errors[y == label].mean() for label in (-1, 1)]
    assert loo.weighted_error(weight) == pytest.approx(np.mean(values))
    for equal in (np.ones(90), np.full(90, 1e-300), np.full(90, 7)):
        assert loo.weighted_error(equal) == pytest.approx(loo.error)
    only = np.zeros(90)
    only[np.flatnonzero(loo.errors)[0]] = 2
    assert loo.weighted_error(only) == 1


@pytest.mark.parametrize("rounds", [None, 2])
def test_cross_validation_counts_the_folds_that_were_run(problem, rounds):
    gram, y, weight = problem
    cv = cross_validate(gram, y, 3.0, stratified_folds(y, 5, 0), rounds=rounds)
    run = ~np.isnan(cv.decision)
    assert run.sum() == (90 if rounds is None else 36)
    assert cv.weighted_error(weight) == pytest.approx(weighted(cv.errors[run], weight[run]))
    assert cv.weighted_error(np.ones(90)) == pytest.approx(cv.error)
    if rounds:
        with pytest.raises(ValueError, match=r"weight\b.*left out"):
            cv.weighted_error(np.where(run, 0.0, 1.0))


def test_a_grid_has_the_decision_values_of_each_model(problem):
    gram, y, weight = problem
    folds, Cs, gammas = stratified_folds(y, 5, 0), [10.0, 0.3], [0.1, 1.0]
    how = {"gammas": gammas, "folds": folds, "tol": 1e-6}
    grid = cross_validate_grid(gram, y, Cs, **how, decision_values=True)
    plain = cross_validate_grid(gram, y, Cs, **how)
    np.testing.assert_array_equal(grid.errors, plain.errors)
    assert grid.decision.shape == (2, 2, 90)
    for g, gamma in enumerate(gammas):
        gram.set_kernel(RBF(gamma))
        for c, C in enumerate(Cs):
            cv = cross_validate(gram, y, C, folds, tol=1e-6)
            np.testing.assert_allclose(grid.decision[g, c], cv.decision, atol=1e-4)
            wrong = (grid.decision[g, c] >= 0) != (y > 0)
            assert grid.weighted_error(weight)[g, c] == pytest.approx(weighted(wrong, weight))
    np.testing.assert_allclose(grid.weighted_error(np.ones(90)), grid.error)
    assert plain.decision is None
    with pytest.raises(ValueError, match="decision_values"):
        plain.weighted_error(weight)
    gram.set_kernel(RBF(0.3))


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ([1.0, 2.0], r"weight\b.* \(2,\)"),
        (np.full(90, -1.0), r"weight\b.* -1.0 at point 0\b"),
        (np.full(90, np.nan), r"weight\b.* nan at point 0\b"),
        (np.zeros(90), r"weight\b.*left out"),
        (["a"] * 90, "weight must be numbers"),
    ],
)
def test_bad_weights_are_named(problem, weight, sentence):
    gram, y, _ = problem
    with pytest.raises(ValueError, match=sentence):
        leave_one_out(gram, y, 3.0).weighted_error(weight)
