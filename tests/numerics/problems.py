"""Problems to solve, an independent QP solver and the definition of the KKT gap."""

import numpy as np
import piqp
import pytest

from svmselect import Solution, solve_csvc, svm
from svmselect.solver.blocks import Blocks


def solve_blocked(gram, y, C, size, most_inbound=None, **options):
    """The solution by blocks of `size` rows, however small the problem is."""
    blocks = Blocks(size, 8 * size if most_inbound is None else most_inbound)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svm, "choose_blocks", lambda *_: blocks)
        return solve_csvc(gram, y, C, **options)


def two_classes(rng, m, d, gap=1.0):
    """Overlapping Gaussian classes, shape (m, d), with at least one point of each."""
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return rng.normal(size=(m, d)) + gap * (y[:, None] > 0), y


def nasty(rng, kind, m, d):
    """Rows of a degenerate kind, shape (m, d), and labels of both classes."""
    X, y = two_classes(rng, m, d, gap=rng.choice([0.0, 1.0, 4.0]))
    half = m // 2
    if kind == "duplicates":
        X[half:] = X[: m - half]
    elif kind == "near duplicates":
        X[half:] = X[: m - half] + 10.0 ** rng.integers(-12, -3) * rng.normal(size=(m - half, d))
    elif kind == "lattice":
        X = np.round(X)
    elif kind == "collinear":
        X = np.outer(np.round(3 * X[:, 0]), np.ones(d))
    elif kind == "binary":
        X = (X > 0).astype(float)
    elif kind == "constant feature":
        X[:, 0] = 1
    elif kind == "zero rows":
        X[:half] = 0
    elif kind == "one point of a class":
        y[:] = -1
        y[0] = 1
    elif kind == "separable":
        X[:, 0] += 10 * y
    return X, y


KINDS = [
    *("plain", "duplicates", "near duplicates", "lattice", "collinear", "binary"),
    *("constant feature", "zero rows", "one point of a class", "separable"),
]


def minimise(P, linear, lo, hi, A=None, b=None):
    """Minimise 1/2 x'Px - linear'x over a box and Ax = b by an interior-point solver; the minimiser."""
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.settings.max_iter = 1000
    # its tolerances are met where the matrix is of order 1
    scale = P.diagonal().max() or 1.0
    lo, hi = np.asarray(lo, dtype=float), np.asarray(hi, dtype=float)
    solver.setup(P / scale, -linear / scale, A, b, None, None, None, lo, hi)
    status = solver.solve()
    assert status == piqp.PIQP_SOLVED, status
    return np.clip(solver.result.x, lo, hi)


def solve_qp(K, y, C, linear=None, balanced=True):
    """Minimise 1/2 a'Qa - linear'a over the box, with y'a = 0 if balanced.

    Returns the minimiser and the minimum.
    """
    Q = K * np.outer(y, y)
    linear = np.ones(len(y)) if linear is None else linear
    sum_is_zero = {"A": y[None, :], "b": np.zeros(1)} if balanced else {}
    a = minimise(Q, linear, np.zeros(len(y)), np.broadcast_to(C, len(y)), **sum_is_zero)
    return a, 0.5 * a @ Q @ a - linear @ a


def kkt_gap(K, y, alpha, C):
    """M+ - M- by its definition."""
    minus_yG = y - K @ (y * alpha)
    up = np.where(y > 0, alpha < C, alpha > 0)
    low = np.where(y > 0, alpha > 0, alpha < C)
    return minus_yG[up].max() - minus_yG[low].min()


def solution_from_alpha(gram, y, alpha, C, b=0.0):
    """A Solution with any alphas."""
    y, alpha = np.asarray(y, dtype=float), np.asarray(alpha, dtype=float)
    decision = gram.matrix() @ (y * alpha) + b
    objective = 0.5 * (y * alpha) @ (decision - b) - alpha.sum()
    C = np.array(np.broadcast_to(C, y.shape), dtype=float)
    return Solution(alpha, C, b, decision, objective, 0.0, 0, 0, 0, True)


def features(gram):
    """Rows with the inner products of a Gram matrix, shape (m, m)."""
    values, vectors = np.linalg.eigh(gram.matrix())
    return vectors * np.sqrt(np.maximum(values, 0))
