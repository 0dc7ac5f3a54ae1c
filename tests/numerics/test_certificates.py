"""Certificates of left-out regressions: a wrong end, a fit that stops early, a wrong tolerance is noticed."""

from fractions import Fraction

import numpy as np
import pytest

import svmselect.unlearning.regression as paths
from svmselect import RBF, Gram, Linear, cross_validate_svr, leave_one_out_svr, solve_svr
from svmselect.loo.regression import FullRegression, ScaledRegression
from svmselect.sklearn import SVR


def smooth(m=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2))
    return X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=m)


def test_an_end_with_a_gap_is_trained_anew(monkeypatch):
    X, z = smooth()
    gram = Gram(X, RBF(0.5))
    right = leave_one_out_svr(gram, z, 1.0)
    assert np.count_nonzero(right.resolved_by == "unlearned") > 30
    conditions = paths._conditions

    def with_a_gap(*arguments):
        gap, rounding, level = conditions(*arguments)
        return np.maximum(gap, 0) + 1e-9, rounding, level

    monkeypatch.setattr(paths, "_conditions", with_a_gap)
    again = leave_one_out_svr(gram, z, 1.0)
    assert "unlearned" not in again.resolved_by
    np.testing.assert_allclose(again.predictions, right.predictions, atol=1e-10)


def test_rows_whose_training_stops_early_are_named():
    X, z = smooth()
    gram, start = Gram(X, RBF(0.5)), None
    full = leave_one_out_svr(gram, z, 10.0)
    start = full.solution.theta
    # the solution of all rows needs no step, and models without a row have too few
    loo = leave_one_out_svr(gram, z, 10.0, method="retrain", start=start, max_iter=2)
    retrained = np.flatnonzero(loo.resolved_by == "retrained")
    assert loo.solution.converged and loo.not_converged.size > retrained.size / 2
    assert set(loo.not_converged) <= set(retrained)
    assert (loo.kkt_gap[loo.not_converged] > 1e-8).all()
    known = np.setdiff1d(np.arange(60), loo.not_converged)
    np.testing.assert_allclose(loo.predictions[known], full.predictions[known], atol=1e-7)
    nearly = 0
    for steps in (500, 700, 900):
        loo = leave_one_out_svr(gram, z, 10.0, method="retrain", start=start, max_iter=steps)
        known = np.setdiff1d(np.arange(60), loo.not_converged)
        assert (loo.kkt_gap[known] <= 1e-8).all()
        nearly += np.count_nonzero((loo.kkt_gap > 1e-8) & (loo.kkt_gap < 1e-3))
    assert nearly > 0


@pytest.mark.parametrize("share", [1.0, 1 - 1e-13, 0.5])
def test_a_group_that_comes_to_its_bound_without_a_row_moves(share):
    X, z = np.array([[0.0], [0.0], [1.0]]), np.array([1.0, 1.0, 0.0])
    gram, C = Gram(X, Linear()), np.array([1.0, 1.0, 2.0])
    full = FullRegression(gram, ScaledRegression.scaling(z, C, 0.0), np.arange(3), None, 1000)
    full.theta = np.array([share * full.bound_left[0], -share * full.bound_left[0]])
    assert (full.moves() == np.array([share > 0.9, share > 0.9, True])).all()


def test_a_row_with_a_copy_does_not_move_the_middle():
    # the tube is wider than the range: predictions are the middle of the least and the largest other target
    X, z = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([0.0, 0.0, 1.0, 3.0])
    loo = leave_one_out_svr(Gram(X, RBF(1.0)), z, 1.0, epsilon=50.0)
    np.testing.assert_allclose(loo.predictions, [1.5, 1.5, 1.5, 0.5], atol=1e-12)


def test_folds_take_the_tolerance_in_units_of_the_targets():
    X, z = smooth()
    gram = Gram(X, RBF(0.5))
    for seeding, unit in (("path", 2.0**20), ("unlearn", 2.0**20), ("unlearn", 2.0**-40)):
        runs = [
            cross_validate_svr(
                gram, s * z, s * np.array([1.0, 10.0]), s * 0.1, folds=4, tol=s * 1e-2, seeding=seeding
            )
            for s in (1.0, unit)
        ]
        np.testing.assert_array_equal(runs[0].n_iter, runs[1].n_iter)
        np.testing.assert_array_equal(unit * runs[0].predictions, runs[1].predictions)


def test_folds_leave_a_solution_to_round_off():
    X, z = smooth()
    gram, folds = Gram(X, RBF(0.5)), np.arange(60) % 20
    run = cross_validate_svr(gram, z, 1.0, 0.1, folds=folds, tol=1e-2, seeding="unlearn")
    exact = cross_validate_svr(gram, z, 1.0, 0.1, folds=folds, tol=1e-11, seeding="path")
    left = np.isin(folds, np.flatnonzero(run.n_iter[0, 0, 0] == 0))
    assert left.sum() > 30
    np.testing.assert_allclose(run.predictions[..., left], exact.predictions[..., left], atol=1e-7)


def test_a_row_at_0_follows_from_the_other_side():
    # all variables are at 0 or at a bound, and rows within the tube take over on either side
    rng = np.random.default_rng(3)
    compared = 0
    for _ in range(200):
        m = int(rng.integers(4, 8))
        X, z = rng.normal(size=(m, 1)), rng.normal(size=m)
        gram, C = Gram(X, RBF(0.5)), 0.01
        solution = solve_svr(gram, z, C, 0.5, tol=1e-13)
        if solution.n_inbound or not solution.n_sv:
            continue
        loo = leave_one_out_svr(gram, z, C, 0.5)
        # a path that began at another row would be refused
        assert "retrained" not in loo.resolved_by
        for r in np.flatnonzero(solution.theta):
            left = np.full(m, C)
            left[r] = 0
            fit = solve_svr(gram, z, left, 0.5, tol=1e-13)
            assert loo.predictions[r] == pytest.approx(fit.prediction[r], abs=1e-9)
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("alpha", [0.07, 0.1, 0.29, 0.58])
def test_the_rank_of_an_interval_is_that_of_whole_numbers(alpha):
    X, z = smooth(99)
    model = SVR(C=1.0, epsilon=0.1).fit(X, z)
    new = X[:3] + 0.1
    k = int(Fraction(str(alpha)) * 100)
    support, vectors, theta, b, size = model._left_out_models
    np.testing.assert_array_equal(vectors, X[support])
    np.testing.assert_array_equal(size, np.abs(model.loo_residuals_))
    predictions = model._training.gram.cross(new, support) @ theta.T + b
    ends = np.column_stack(
        [np.sort(predictions - size, axis=1)[:, k - 1], np.sort(predictions + size, axis=1)[:, 99 - k]]
    )
    np.testing.assert_allclose(model.predict_interval(new, alpha), ends, rtol=1e-12)
