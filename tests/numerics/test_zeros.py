"""Zero is zero: rows that repeat, variables at 0, bounds left by copies, and labels of values that are 0."""

import numpy as np
import pytest
from fuzz.left_out import faults

from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate_svr,
    leave_one_out,
    leave_one_out_nusvr,
    leave_one_out_one_class,
    leave_one_out_svr,
    solve_nusvr,
    solve_one_class,
    solve_svr,
)
from svmselect.loo.groups import bounds_without
from svmselect.solver.feasible import balanced, filled, give_excess, snapped


@pytest.mark.parametrize("start", [0, 40, 80, 120, 160])
def test_degenerate_problems_agree_with_the_reference(start):
    words_of_faults = [
        words for n in range(start, start + 40) for words in faults(np.random.default_rng([n, 5]))[0]
    ]
    assert words_of_faults == []


def test_a_variable_at_0_takes_no_round_off():
    C = np.ones(4)
    theta = np.array([1.0, -1.0 + 2.0**-50, 0.0, 0.0])
    np.testing.assert_array_equal(balanced(theta, -C, C, np.array([], dtype=np.intp)), [1, -1, 0, 0])
    np.testing.assert_array_equal(
        give_excess(np.array([1.0, -1.0, 0.0]), -np.ones(3), np.ones(3), 1e-16)[2], 0
    )
    np.testing.assert_array_equal(snapped(np.array([1e-13, -0.5, 0.5]), -C[:3], C[:3]), [0, -0.5, 0.5])
    # a variable that is small beside its box, and not beside the others, stays
    np.testing.assert_array_equal(
        snapped(np.array([1e-3, -1e-3]), -1e10 * C[:2], 1e10 * C[:2]), [1e-3, -1e-3]
    )
    np.testing.assert_array_equal(filled(np.full(3, 0.1), 0.1 + 2.0**-56), [0.1, 0, 0])


def test_bounds_left_by_copies_keep_their_digits():
    C, group = np.array([1.0, 1e-6, 3.0, 1e-13, 2.0]), np.array([0, 0, 1, 0, 1])
    np.testing.assert_array_equal(bounds_without(C, group), [1e-6 + 1e-13, 1 + 1e-13, 2, 1 + 1e-6, 3])
    np.testing.assert_array_equal(bounds_without(np.full(4, 0.1), np.array([0, 1, 0, 0])), [0.2, 0, 0.2, 0.2])


@pytest.mark.parametrize("gamma", [0.3, 3.0, 10.0])
def test_rejected_rows_do_not_depend_on_the_order_of_rows(gamma):
    X = np.round(np.random.default_rng(11).normal(size=(50, 2)))
    rates = set()
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(50)
        loo = leave_one_out_one_class(Gram(X[order], RBF(gamma)), 0.2)
        assert (loo.decision == 0).any()
        rates.add(round(loo.rejection_rate, 12))
    assert len(rates) == 1


@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5, 1, 2, 10])
def test_a_row_with_four_copies_is_not_rejected_without_it(gamma):
    # were its value below 0, the copies' variables would sum to 4, and all sum to 1.4
    X = np.repeat([[0.0], [1.0], [3.0]], 5, axis=0)
    assert leave_one_out_one_class(Gram(X, RBF(gamma)), 0.1).rejection_rate == 0


def test_nothing_is_rejected_where_the_origin_is_inside():
    X = np.random.default_rng(2).normal(size=(40, 2))
    gram = Gram(X, Linear(), origin=np.zeros(2))
    assert leave_one_out_one_class(gram, 0.5).rejection_rate == 0


@pytest.mark.parametrize("nu", [1 / 120, 0.05, 0.3, 0.9])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_training_rejects_at_most_nu(nu, scale):
    rng = np.random.default_rng(3)
    X, weight = rng.normal(size=(120, 2)), rng.choice([0.5, 1, 2], size=120)
    for kernel in (RBF(1.0), RBF(1e-4), Linear()):
        gram = Gram(X * (scale if kernel == Linear() else 1), kernel, origin=np.zeros(2))
        solution = solve_one_class(gram, nu, weight * scale)
        assert weight @ (solution.decision < 0) <= nu * weight.sum() * (1 + 1e-12)
        # more than the first rows have variables: the tolerance is not larger than all values
        assert solution.n_iter > 0 and solution.converged


def test_errors_of_lattices_do_not_depend_on_the_order_of_points():
    for seed in range(60):
        rng = np.random.default_rng([seed, 9])
        m = int(rng.integers(5, 12))
        X, y = rng.integers(-1, 2, size=(m, 2)).astype(float), np.where(np.arange(m) % 2, 1.0, -1.0)
        C = 10.0 ** rng.integers(-1, 2)
        errors = []
        for values in (False, True):
            for _ in range(3):
                order = rng.permutation(m)
                loo = leave_one_out(Gram(X[order], Linear()), y[order], C, decision_values=values)
                errors.append(np.empty(m, dtype=bool))
                errors[-1][order] = loo.errors
        assert all((each == errors[0]).all() for each in errors), seed


def test_folds_of_weighted_regressions_have_the_middle_of_the_interval():
    X, z = np.array([[2.0], [0], [0], [0], [1], [0]]), np.array([-1.0, 2, -2, 1, -2, 1])
    weight = np.array([3.0, 1, 2, 2, 3, 2])
    run = cross_validate_svr(
        Gram(X, Linear()), z, [0.01, 0.1], 0.5, folds=np.arange(6) % 3, weight=weight, tol=1e-10
    )
    np.testing.assert_allclose(run.predictions[0, 0, 1, [2, 5]], -0.4, atol=1e-8)


def test_folds_that_leave_a_solution_have_it_too():
    X = np.array([[0, 1], [1, 0], [0, 1], [0, 0], [0, 0], [2, 1.0]])
    z, gram = np.array([-2, 0, -2, 2, -2, 0.0]), Gram(X, Linear())
    for seeding in ("path", "unlearn"):
        run = cross_validate_svr(gram, z, 0.2, 0.1, folds=np.arange(6) % 2, seeding=seeding, tol=1e-10)
        np.testing.assert_allclose(run.predictions[0, 0, 0, ::2], 0.4, atol=1e-8)


def test_copies_of_a_left_out_row_keep_their_bound():
    X, z = np.array([[0, 1], [1, 0], [0, 1.0]]), np.array([1, 0, 1.0])
    C = 2 * np.array([1, 1e-6, 1e-6])
    gram = Gram(X, RBF(0.5))
    left = C.copy()
    left[0] = 0
    right = solve_svr(gram, z, left, 0.25, tol=1e-14).prediction[0]
    assert right == pytest.approx(0.5, abs=1e-5)
    assert leave_one_out_svr(gram, z, C, 0.25).predictions[0] == pytest.approx(right, abs=1e-11)


@pytest.mark.parametrize("seed", range(40))
def test_nu_keeps_its_constraint(seed):
    rng = np.random.default_rng([seed, 3])
    m = int(rng.integers(4, 30))
    X = rng.normal(size=(m, 2))
    z, C = X[:, 0] + 0.3 * rng.normal(size=m), 10.0 ** rng.uniform(-1, 3) * rng.choice([0.5, 1, 2], size=m)
    nu = rng.uniform(0.1, 0.8)
    solution = solve_nusvr(Gram(X, RBF(3.0)), z, C, nu, tol=1e-9)
    assert solution.converged
    assert np.abs(solution.theta).sum() <= nu * C.sum() * (1 + 1e-9)


def test_a_poor_start_of_nu_is_not_the_end():
    X = np.array([[0.464], [-0.518], [-0.593], [0.264]])
    solution = solve_nusvr(Gram(X, RBF(3.0)), [-0.104, -0.407, -1.157, 0.868], 1.0, 0.7, tol=1e-9)
    assert solution.epsilon == pytest.approx(0.3084, abs=1e-4)
    np.testing.assert_allclose(solution.prediction, [0.2044, -0.7154, -0.7799, 0.3290], atol=1e-4)


@pytest.mark.parametrize("C", [1.0, 30.0])
@pytest.mark.parametrize("nu", [0.2, 0.6])
def test_left_out_predictions_of_nu_are_those_of_training(C, nu):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    z, bound = X[:, 0] + 0.3 * rng.normal(size=60), C * rng.choice([0.0, 0.5, 1, 2], size=60)
    gram, models = Gram(X, RBF(0.3)), (np.empty((60, 60)), np.empty(60))
    loo = leave_one_out_nusvr(gram, z, bound, nu, models=models)
    assert loo.n_not_converged == 0 and np.count_nonzero(loo.resolved_by == "unlearned") > 40
    for r in range(0, 60, 4):
        left = bound.copy()
        left[r] = 0
        fit = solve_nusvr(gram, z, left, nu, tol=1e-11)
        assert loo.predictions[r] == pytest.approx(fit.prediction[r], abs=1e-8)
        np.testing.assert_allclose(models[0][r], fit.theta, atol=1e-6 * C)
        assert models[1][r] == pytest.approx(fit.b, abs=1e-8)


@pytest.mark.parametrize("function", [leave_one_out_svr, leave_one_out_nusvr, leave_one_out_one_class])
def test_values_in_float32_are_refused(function):
    gram = Gram(np.random.default_rng(0).normal(size=(9, 2)), RBF(1.0), dtype="float32")
    data = (0.5,) if function is leave_one_out_one_class else (np.arange(9.0), 1.0)
    with pytest.raises(ValueError, match=r"gram .*float64.* float32"):
        function(gram, *data)
