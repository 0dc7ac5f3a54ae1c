"""Problems to solve, an independent QP solver and the definition of the KKT gap."""

import numpy as np
import piqp


def two_classes(rng, m, d, gap=1.0):
    """Overlapping Gaussian classes, shape (m, d), with at least one point of each."""
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return rng.normal(size=(m, d)) + gap * (y[:, None] > 0), y


def solve_qp(K, y, C, linear=None, balanced=True):
    """Minimise 1/2 a'Qa - linear'a over the box, with y'a = 0 if balanced, by an interior-point solver.

    Returns the minimiser and the minimum.
    """
    m = len(y)
    Q = K * np.outer(y, y)
    linear = np.ones(m) if linear is None else linear
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.settings.max_iter = 1000
    A, b = (y[None, :], np.zeros(1)) if balanced else (None, None)
    # its tolerances are met where the matrix is of order 1
    scale = Q.diagonal().max() or 1.0
    C = np.asarray(C, dtype=float)
    solver.setup(Q / scale, -linear / scale, A, b, None, None, None, np.zeros(m), C)
    status = solver.solve()
    assert status == piqp.PIQP_SOLVED, status
    a = np.clip(solver.result.x, 0, C)
    return a, 0.5 * a @ Q @ a - linear @ a


def kkt_gap(K, y, alpha, C):
    """M+ - M- by its definition."""
    minus_yG = y - K @ (y * alpha)
    up = np.where(y > 0, alpha < C, alpha > 0)
    low = np.where(y > 0, alpha > 0, alpha < C)
    return minus_yG[up].max() - minus_yG[low].min()
