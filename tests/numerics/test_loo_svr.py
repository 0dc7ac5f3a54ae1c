"""Exact leave-one-out of regressions against training without each row, ours and LIBSVM's."""

import numpy as np
import pytest
from fuzz.regressions import LIBSVM, OURS, differences, drawn
from numerics.test_svr import smooth

from svmselect import (
    RBF,
    Gram,
    Linear,
    Sigmoid,
    cross_validate_svr,
    leave_one_out_svr,
    solve_svr,
    span_estimate_svr,
)


@pytest.mark.parametrize("seed", range(1000, 1014))
def test_nasty_problems(seed):
    X, z, C, epsilon, kernel, _ = drawn(np.random.default_rng(seed))
    ours, libsvm, *_ = differences(X, z, C, epsilon, kernel)
    assert ours <= OURS
    assert libsvm <= LIBSVM


@pytest.mark.parametrize("kernel", [RBF(0.25), Linear()])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_paths_and_training_agree(kernel, epsilon):
    X, z = smooth(150)
    gram = Gram(X, kernel)
    paths, trained = (leave_one_out_svr(gram, z, 10.0, epsilon, method=m) for m in ("unlearn", "retrain"))
    np.testing.assert_allclose(paths.predictions, trained.predictions, atol=1e-10)
    assert paths.n_not_converged == trained.n_not_converged == 0
    assert paths.kkt_gap.max() < 1e-9
    np.testing.assert_array_equal(paths.residuals, z - paths.predictions)
    np.testing.assert_allclose(paths.mean_absolute_error, np.abs(paths.residuals).mean())
    np.testing.assert_allclose(paths.mean_squared_error, (paths.residuals**2).mean())
    # rows strictly inside the tube need no path, and few others are trained without
    inside = np.abs(z - paths.solution.prediction) < epsilon - 1e-9
    assert (paths.resolved_by[inside] == "inside").all()
    assert np.count_nonzero(paths.resolved_by == "retrained") <= 5


def test_no_row_fixes_the_threshold():
    # with a tube wider than the range every prediction is the middle of the other targets
    rng = np.random.default_rng(0)
    z = rng.normal(size=9)
    loo = leave_one_out_svr(Gram(rng.normal(size=(9, 2)), RBF(1.0)), z, 1.0, epsilon=50.0)
    middles = [(np.delete(z, r).min() + np.delete(z, r).max()) / 2 for r in range(9)]
    np.testing.assert_allclose(loo.predictions, middles, atol=1e-12)


def test_two_rows_predict_each_other():
    z = np.array([1.0, 5.0])
    loo = leave_one_out_svr(Gram(np.array([[0.0], [1.0]]), RBF(1.0)), z, 10.0, 0.1)
    np.testing.assert_allclose(loo.predictions, z[::-1])


def test_rows_without_weight_and_the_solution():
    X, z = smooth(40)
    C = np.full(40, 3.0)
    C[[0, 7]] = 0
    gram = Gram(X, RBF(0.25))
    loo, reference = leave_one_out_svr(gram, z, C, 0.1), solve_svr(gram, z, C, 0.1, tol=1e-11)
    np.testing.assert_allclose(loo.solution.theta, reference.theta, atol=1e-8)
    np.testing.assert_allclose(loo.solution.prediction, reference.prediction, atol=1e-9)
    np.testing.assert_allclose(loo.solution.objective, reference.objective, rtol=1e-9)
    np.testing.assert_allclose(loo.predictions[[0, 7]], reference.prediction[[0, 7]], atol=1e-9)
    again = leave_one_out_svr(gram, z, C, 0.1, start=loo.solution.theta)
    np.testing.assert_allclose(again.predictions, loo.predictions, atol=1e-9)


def test_progress_comes_to_its_end_and_bad_arguments_are_named():
    X, z = smooth(60)
    calls = []
    leave_one_out_svr(Gram(X, RBF(0.25)), z, 1.0, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1]
    for change, words in [
        (dict(method="paths"), ("method", "paths")),
        (dict(C=[1.0] + [0.0] * 59), ("C", "1")),
        (dict(epsilon=None), ("epsilon", "None")),
    ]:
        with pytest.raises(ValueError) as error:
            leave_one_out_svr(Gram(X, RBF(0.25)), z, **(dict(C=1.0) | change))
        assert all(word in str(error.value) for word in words)
    with pytest.raises(ValueError, match="semi-definite"):
        leave_one_out_svr(Gram(X, Sigmoid(0.1, 0.0)), z, 1.0)


@pytest.mark.parametrize("kernel", [RBF(0.25), Linear()])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 5.0])
def test_folds_by_unlearning_by_paths_and_by_single_fits(kernel, epsilon):
    X, z = smooth(90)
    z = 100 * z + 1000  # units in which 1e-5 is a tight tolerance
    weight = np.ones(90)
    weight[[3, 50]] = 0, 2
    folds, Cs = np.arange(90) % 6, [1000.0, 10.0]
    gram = Gram(X, kernel)
    runs = [
        cross_validate_svr(gram, z, Cs, 100 * epsilon, None, folds, weight, tol=1e-5, seeding=seeding)
        for seeding in ("unlearn", "path")
    ]
    for run in runs:
        assert run.converged.all()
        for c, C in enumerate(Cs):
            for h in (0, 3):
                bound = np.where(folds == h, 0, C * weight)
                fit = solve_svr(gram, z, bound, 100 * epsilon, tol=1e-6)
                np.testing.assert_allclose(
                    run.predictions[0, 0, c, folds == h], fit.prediction[folds == h], atol=1e-3
                )
    # most folds come to the optimum by their paths
    assert runs[0].n_iter.sum() <= runs[1].n_iter.sum()


def test_folds_of_one_row_are_leave_one_out():
    X, z = smooth(80)
    gram = Gram(X, RBF(0.25))
    run = cross_validate_svr(gram, z, 10.0, 0.1, folds=80, tol=1e-8)
    assert (run.n_iter == 0).mean() > 0.95
    loo = leave_one_out_svr(gram, z, 10.0, 0.1)
    np.testing.assert_allclose(run.predictions[0, 0, 0], loo.predictions, atol=1e-7)


def test_grid_of_gamma_epsilon_and_C():
    X, z = smooth(50)
    calls = []
    run = cross_validate_svr(
        Gram(X, RBF(1.0)), z, [1, 10], [0.3, 0.1], [0.1, 1.0], 5, progress=lambda *call: calls.append(call)
    )
    assert calls == [(n, 8) for n in range(1, 9)]
    assert run.predictions.shape == (2, 2, 2, 50)
    gamma, epsilon, C = run.best
    single = cross_validate_svr(Gram(X, RBF(gamma)), z, C, epsilon, folds=run.folds)
    np.testing.assert_allclose(single.mean_squared_error.item(), run.mean_squared_error.min(), rtol=1e-2)
    np.testing.assert_allclose(single.mean_absolute_error, np.abs(z - single.predictions).mean(axis=-1))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(Cs=[-1.0]), ("Cs", "-1.0")),
        (dict(epsilons=[-1.0]), ("epsilon", "-1.0")),
        (dict(gammas=[0.0]), ("gammas", "0.0")),
        (dict(folds=1), ("folds", "1")),
        (dict(folds=np.zeros(9, dtype=int)), ("folds", "1")),
        (dict(folds=np.ones(9)), ("folds", "float64")),
        (dict(folds=np.arange(9) % 2, weight=np.arange(9) % 2), ("folds", "1")),
        (dict(weight=-np.ones(9)), ("weight", "-1.0")),
        (dict(seeding="cold"), ("seeding", "cold")),
    ],
)
def test_bad_arguments_of_folds_are_named(change, words):
    arguments = dict(Cs=1.0, epsilons=0.1, folds=3) | change
    with pytest.raises(ValueError) as error:
        cross_validate_svr(Gram(np.arange(9.0)[:, None], RBF(1.0)), np.arange(9.0), **arguments)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(1.0)])
def test_spans_give_the_left_out_predictions_where_sets_stay(epsilon, kernel):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    z = np.sin(X[:, 0]) + X[:, 1] + 0.4 * rng.normal(size=60)
    C = rng.uniform(0.5, 2, size=60)
    gram = Gram(X, kernel)
    models = np.zeros((60, 60)), np.zeros(60)
    exact = leave_one_out_svr(gram, z, C, epsilon, models=models)
    estimate = span_estimate_svr(gram, z, exact.solution)
    theta = exact.solution.theta

    def sets(theta):
        # without a tube a variable in its box may have either sign
        bounded = np.abs(theta) > (1 - 1e-9) * C
        return np.where(bounded, 2 * np.sign(theta), np.sign(theta) * (epsilon > 0))

    same = np.array([(np.delete(sets(models[0][r]) == sets(theta), r)).all() for r in range(60)])
    assert same.sum() >= 2 and (same & (theta != 0)).any()
    np.testing.assert_allclose(estimate.predictions[same], exact.predictions[same], atol=1e-7)
    assert 0.8 < estimate.mean_absolute_error / exact.mean_absolute_error < 1.25
    assert estimate.bound >= estimate.mean_absolute_error
    np.testing.assert_allclose(z - estimate.predictions, estimate.residuals)
    assert (np.isfinite(estimate.squared_span) == (theta != 0)).all()


def test_spans_without_in_bound_rows_are_infinite_and_bad_arguments_are_named():
    gram, z = Gram(np.arange(6.0)[:, None], RBF(1.0)), np.array([0, 0, 0, 9, 9, 9.0])
    solution = solve_svr(gram, z, 0.1, 0.1, tol=1e-9)
    estimate = span_estimate_svr(gram, z, solution)
    assert solution.n_inbound == 0
    assert estimate.n_without_span == solution.n_sv and np.isinf(estimate.mean_absolute_error)
    with pytest.raises(ValueError, match=r"solution .*NoneType"):
        span_estimate_svr(gram, z, None)
    with pytest.raises(ValueError, match="nan"):
        span_estimate_svr(gram, np.full(6, np.nan), solution)
