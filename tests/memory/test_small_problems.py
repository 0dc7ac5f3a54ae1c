"""Small problems through every compiled module, in sizes around those of vectors, blocks and caches.

`make test-memory` runs them on a build with gcc's address and undefined-behaviour sanitizers and Cython's
checks of bounds; `make test-slow` on the usual one.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import svmselect
from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate,
    cross_validate_grid,
    decision_function,
    leave_one_out,
    smallest_enclosing_sphere,
    solve_csvc,
    solve_nusvc,
    solve_path,
    span_bound,
    span_rule,
)

pytestmark = pytest.mark.slow

SIZES = [2, 7, 16, 33, 64, 130]


def problem(m, d=3, seed=0):
    """Overlapping classes of m points, some of them twice, with a constant feature."""
    rng = np.random.default_rng([seed, m])
    y = np.where(np.arange(m) % 2, 1.0, -1.0)
    X = rng.standard_normal((m, d)) + 0.5 * y[:, None]
    X[m // 2 : m // 2 + m // 8] = X[: m // 8]
    X[:, -1] = 1
    return X, y


def test_the_sanitized_build_is_the_one_that_is_tested():
    sanitized = "sanitized" in Path(svmselect.__file__).parts[-3:-1]
    assert sanitized == ("ASAN_OPTIONS" in os.environ)


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("as_csr", [False, True])
def test_gram(m, dtype, as_csr):
    X, _ = problem(m, d=5)
    rows = sparse.csr_array(np.where(np.abs(X) > 1, X, 0)) if as_csr else X
    dense = rows.toarray() if as_csr else rows
    squares = ((dense[:, None] - dense) ** 2).sum(axis=2)
    gram = Gram(rows, RBF(0.5), dtype=dtype)
    np.testing.assert_allclose(gram.matrix(), np.exp(-0.5 * squares), atol=1e-5)
    moved = dense if gram.origin is None else dense - gram.origin
    products, part, two = moved @ moved.T, np.arange(0, m, 2), [m - 1, 0]
    np.testing.assert_allclose(gram.set_kernel(Linear()).matrix(), products, atol=1e-4)
    np.testing.assert_allclose(gram.restricted(part).matrix(), products[np.ix_(part, part)], atol=1e-4)
    np.testing.assert_allclose(gram.submatrix(part, two), products[np.ix_(part, two)], atol=1e-4)
    np.testing.assert_allclose(gram.cross(rows[:1], part), products[:1, part], atol=1e-4)


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
@pytest.mark.parametrize("working_set", ["wss2", "mvp"])
def test_fits(m, kernel, working_set):
    """The whole matrix, and a cache of few columns; from zero, and from the solution."""
    X, y = problem(m)
    for C in (0.1, 1e4):
        whole = solve_csvc(Gram(X, kernel), y, C, working_set=working_set, tol=1e-6)
        few = Gram(X, kernel, memory_mb=9 * 8 * (m + 64) / 2**20)
        part = solve_csvc(few, y, C, working_set=working_set, tol=1e-6)
        again = solve_csvc(few, y, C, start=whole.alpha, tol=1e-6)
        for solution in (whole, part, again):
            assert solution.converged and solution.kkt_gap <= 1e-5
            assert solution.objective == pytest.approx(whole.objective, rel=1e-5, abs=1e-6)
        assert np.allclose(decision_function(few, y, whole, X), whole.decision, atol=1e-5 * max(1, C))
    left_out = solve_csvc(Gram(X, kernel), y, np.where(np.arange(m) % 3 == 2, 0.0, 1.0))
    assert left_out.converged


@pytest.mark.parametrize("m", SIZES[1:])
def test_nu(m):
    X, y = problem(m)
    solution = solve_nusvc(Gram(X, RBF(2.0)), y, 0.5, tol=1e-6)
    assert solution.converged and solution.n_sv >= 0.5 * (m - 1)


@pytest.mark.parametrize("m", SIZES[2:])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
def test_leave_one_out(m, kernel):
    """The paths of unlearning, and both ways of retraining."""
    X, y = problem(m)
    for C in (0.5, 50):
        results = [
            leave_one_out(Gram(X, kernel), y, C, method=method, tol=1e-6)
            for method in ("unlearn", "retrain", "certified")
        ]
        sure = np.abs(results[0].decision) > 1e-3
        for other in results[1:]:
            assert (results[0].errors[sure] == other.errors[sure]).all()


@pytest.mark.parametrize("m", [16, 64])
def test_estimates(m):
    X, y = problem(m)
    gram = Gram(X, RBF(0.5))
    for C in (1.0, np.where(y > 0, 2.0, 0.5)):
        solution = solve_csvc(gram, y, C, tol=1e-6)
        assert 0 <= span_rule(gram, y, solution).error <= 1
        assert span_bound(gram, y, solution).bound >= 0
    assert smallest_enclosing_sphere(gram).squared_radius > 0


@pytest.mark.parametrize("seeding", ["cold", "ato", "mir", "sir", "avg", "top", "unlearn"])
def test_cross_validation(seeding):
    X, y = problem(64)
    gram = Gram(X, RBF(0.5))
    cold = cross_validate(gram, y, 1.0, 5, tol=1e-6)
    assert cross_validate(gram, y, 1.0, 5, seeding, tol=1e-6).error == pytest.approx(cold.error, abs=2 / 64)


def test_paths_and_grids():
    X, y = problem(64)
    points = list(solve_path(Gram(X, RBF(0.5)), y, [0.1, 1, 10], gammas=[0.1, 1], warm_start="C"))
    assert len(points) == 6 and all(point.solution.converged for point in points)
    grid = cross_validate_grid(Gram(X, RBF(0.5)), y, [0.1, 1], gammas=[0.1, 1], folds=3)
    assert np.isfinite(grid.error).all()
