"""Epsilon-SVR and nu-SVR against a QP solver, LIBSVM, and the dual with two variables per row."""

import numpy as np
import pytest
from fuzz.regressions import drawn
from numerics.problems import minimise
from sklearn.svm import SVR
from sklearn.svm import NuSVR as LibsvmNuSVR

from svmselect import (
    RBF,
    Gram,
    Linear,
    predict_targets,
    solve_nusvr,
    solve_svr,
    solve_svr_path,
)
from svmselect.solver.blocks import Blocks


def smooth(m, d=3, seed=0, noise=0.2):
    """Rows, and noisy targets of a smooth function of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, -1] + noise * rng.normal(size=m)


def two_sided_gap(K, z, C, epsilon, theta):
    """``M+ - M-`` of the dual with two variables per row, by its definition."""
    g = K @ theta - z
    positive, negative = np.maximum(theta, 0), np.minimum(theta, 0)
    up = np.concatenate([(g + epsilon)[positive < C], (g - epsilon)[negative < 0]])
    low = np.concatenate([(g + epsilon)[positive > 0], (g - epsilon)[negative > -C]])
    return low.max(initial=-np.inf) - up.min(initial=np.inf)


@pytest.mark.parametrize("seed", range(40))
def test_is_optimal_on_nasty_problems(seed):
    X, z, C, epsilon, kernel, _ = drawn(np.random.default_rng(seed))
    gram = Gram(X, kernel)
    solution, K, theta = solve_svr(gram, z, C, epsilon, tol=1e-6 * max(np.ptp(z), 1e-9)), gram.matrix(), None
    theta = solution.theta
    assert (np.abs(theta) <= C).all()
    assert abs(theta.sum()) <= 1e-9 * max(np.abs(theta).sum(), 1e-300)
    # the certificate, by the definition of the gap
    gap = two_sided_gap(K, z, C, epsilon, theta)
    np.testing.assert_allclose(max(gap, 0), solution.kkt_gap, rtol=1e-3, atol=1e-9 * np.abs(z).max())
    assert solution.converged
    np.testing.assert_allclose(
        solution.prediction, K @ theta + solution.b, rtol=1e-9, atol=1e-9 * np.abs(z).max()
    )
    value = 0.5 * theta @ K @ theta - z @ theta + epsilon * np.abs(theta).sum()
    np.testing.assert_allclose(
        solution.objective, value, rtol=1e-6, atol=1e-9 * np.abs(z).max() * np.abs(theta).sum()
    )


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_a_qp_solver(seed):
    rng = np.random.default_rng(seed)
    X, z = smooth(20, seed=seed)
    C, epsilon = rng.uniform(0, 5, size=20), [0.0, 0.1, 0.4][seed % 3]
    K = Gram(X, RBF(0.5)).matrix()
    # two variables per row, whose difference is theta
    both = minimise(
        np.block([[K, -K], [-K, K]]) + 1e-13 * np.eye(40),
        np.concatenate([z - epsilon, -z - epsilon]),
        np.zeros(40),
        np.concatenate([C, C]),
        np.concatenate([np.ones(20), -np.ones(20)])[None],
        np.zeros(1),
    )
    solution = solve_svr(Gram(X, RBF(0.5)), z, C, epsilon, tol=1e-10)
    np.testing.assert_allclose(K @ solution.theta, K @ (both[:20] - both[20:]), atol=2e-6)


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_agrees_with_libsvm(kernel, epsilon, C):
    X, z = smooth(80)
    gram = Gram(X, kernel)
    solution = solve_svr(gram, z, C, epsilon, tol=1e-9)
    reference = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-9).fit(gram.matrix(), z)
    np.testing.assert_allclose(solution.prediction, reference.predict(gram.matrix()), atol=2e-5)
    np.testing.assert_allclose(predict_targets(gram, solution, X), solution.prediction, atol=1e-9)


@pytest.mark.parametrize("C", [0.3, 30.0])
@pytest.mark.parametrize("nu", [0.12, 0.437, 0.9])
def test_nu_agrees_with_libsvm_and_with_its_epsilon(nu, C):
    X, z = smooth(80)
    gram = Gram(X, RBF(0.3))
    solution = solve_nusvr(gram, z, C, nu, tol=1e-8)
    reference = LibsvmNuSVR(kernel="precomputed", C=C, nu=nu, tol=1e-8).fit(gram.matrix(), z)
    np.testing.assert_allclose(solution.prediction, reference.predict(gram.matrix()), atol=2e-5)
    same = solve_svr(gram, z, C, solution.epsilon, tol=1e-9)
    np.testing.assert_allclose(solution.prediction, same.prediction, atol=1e-5)
    np.testing.assert_allclose(solution.objective, same.objective, rtol=1e-5)
    if solution.epsilon > 0:
        np.testing.assert_allclose(np.abs(solution.theta).sum(), nu * C * 80)


def test_nu_of_bounded_rows_alone_has_the_middle_of_the_tubes():
    X, z = smooth(48)
    # 18 rows on each side at their bound: epsilon is an interval
    gram, C = Gram(X, RBF(0.25)), 2.0**-12
    solution = solve_nusvr(gram, z, C, 0.75, tol=1e-9)
    assert solution.n_inbound == 0
    reference = LibsvmNuSVR(kernel="precomputed", C=C, nu=0.75, tol=1e-9).fit(gram.matrix(), z)
    np.testing.assert_allclose(solution.prediction, reference.predict(gram.matrix()), atol=1e-7)


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()])
@pytest.mark.parametrize("epsilon", [0.0, 0.15])
def test_blocks_shrinking_and_smo_alone_agree(monkeypatch, kernel, epsilon):
    X, z = smooth(400)
    whole = solve_svr(Gram(X, kernel), z, 1.0, epsilon, tol=1e-8)
    assert whole.converged
    with monkeypatch.context() as patch:
        patch.setattr("svmselect.svr.blocks_by_rows", lambda gram: Blocks(32, 200))
        by_blocks = solve_svr(Gram(X, kernel), z, 1.0, epsilon, tol=1e-6)
    for other in (
        by_blocks,
        solve_svr(Gram(X, kernel), z, 1.0, epsilon, tol=1e-6, active_set=False),
        solve_svr(Gram(X, kernel), z, 1.0, epsilon, tol=1e-6, start=np.r_[1e-3, -1e-3, np.zeros(398)]),
    ):
        assert other.converged
        np.testing.assert_allclose(other.prediction, whole.prediction, atol=2e-4)
        np.testing.assert_allclose(other.objective, whole.objective, rtol=1e-6)


def test_path_has_the_solutions_of_single_fits():
    X, z = smooth(60)
    gram = Gram(X, RBF(0.3))
    path = list(solve_svr_path(gram, z, [0.1, 1, 10], [0.3, 0.05], tol=1e-8))
    assert [(point.epsilon, point.C) for point in path] == [(e, C) for e in (0.3, 0.05) for C in (0.1, 1, 10)]
    for epsilon, C, solution in path:
        single = solve_svr(gram, z, C, epsilon, tol=1e-8)
        np.testing.assert_allclose(solution.prediction, single.prediction, atol=1e-6)


def test_a_row_without_weight_is_predicted_by_the_others():
    X, z = smooth(30)
    C = np.ones(30)
    C[:3], z[:3] = 0, 1e6
    solution = solve_svr(Gram(X, RBF(0.3)), z, C, 0.1, tol=1e-9)
    rest = solve_svr(Gram(X[3:], RBF(0.3)), z[3:], 1.0, 0.1, tol=1e-9)
    np.testing.assert_allclose(solution.prediction[3:], rest.prediction, atol=1e-8)
    np.testing.assert_allclose(
        solution.prediction[:3], predict_targets(Gram(X[3:], RBF(0.3)), rest, X[:3]), atol=1e-8
    )


@pytest.mark.parametrize("unit", [1e-8, 1e7])
def test_units_of_the_targets_change_nothing_but_units(unit):
    X, z = smooth(40)
    gram = Gram(X, RBF(0.3))
    one = solve_svr(gram, z, 2.0, 0.1, tol=1e-9)
    other = solve_svr(gram, unit * (z + 3), 2.0 * unit, 0.1 * unit, tol=1e-9 * unit)
    np.testing.assert_allclose(other.prediction / unit - 3, one.prediction, atol=1e-8)


def test_kernel_values_are_computed_once():
    X, z = smooth(64)
    gram = Gram(X, RBF(0.3))
    solution = solve_svr(gram, z, 1.0, 0.1)
    assert solution.kernel_values <= 64**2
    assert gram.columns.m == 64


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(z=[1.0, np.nan, 0.0]), ("z", "nan")),
        (dict(z=[1.0, 2.0]), ("z", "(3,)")),
        (dict(z=["a", "b", "c"]), ("z", "numbers")),
        (dict(C=-1.0), ("C", "-1.0")),
        (dict(C=[0, 0, 0]), ("C", "0")),
        (dict(epsilon=-0.1), ("epsilon", "-0.1")),
        (dict(epsilon=np.inf), ("epsilon", "inf")),
        (dict(tol=0), ("tol", "0")),
        (dict(start=[2.0, -2.0, 0.0]), ("start", "2.0")),
        (dict(start=[1.0, 0.0, 0.0]), ("start", "1")),
        (dict(start=[0.0]), ("start", "(3,)")),
    ],
)
def test_bad_input_is_named(change, words):
    arguments = dict(z=[0.0, 1.0, 2.0], C=1.0, epsilon=0.1) | change
    with pytest.raises(ValueError) as error:
        solve_svr(Gram(np.arange(3.0)[:, None], RBF(1.0)), **arguments)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize("nu", [0, 1.5, "half", True])
def test_bad_nu_is_named(nu):
    with pytest.raises(ValueError, match=f"nu .*{nu}"):
        solve_nusvr(Gram(np.arange(3.0)[:, None], RBF(1.0)), [0.0, 1.0, 2.0], 1.0, nu)
    with pytest.raises(ValueError, match="RegressionSolution"):
        predict_targets(Gram(np.arange(3.0)[:, None], RBF(1.0)), None, [[1.0]])
