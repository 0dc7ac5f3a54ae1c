"""Leave-one-out by unlearning: what all points share, and the points that need no path."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky

from svmselect.loo._unlearn import SLACK, Outcome, Paths, Tableau

__all__ = ["unlearn"]


def unlearn(gram, y, theta, f, b, lo, hi, points, progress):
    """Decision values of left-out points from an exact solution.

    Returns
    -------
    decision : ndarray, shape (n,)
    outcome : ndarray of intp, shape (n,)
    """
    support = np.flatnonzero((lo < theta) & (theta < hi))
    g = f + b
    decision, outcome = g[points] + y[points], np.full(points.size, int(Outcome.UNDECIDED))
    if support.size == 0 or points.size == 0:
        return decision, outcome
    rows = np.stack([gram.columns.column(t) for t in support]).astype(np.float64, copy=False)
    g[support] = 0
    K_SS = rows[:, support]
    shift = float(gram.diagonal.mean()) or 1.0
    try:
        factor = cholesky(K_SS + shift, lower=True)
    except LinAlgError:
        return decision, outcome
    pivots = factor.diagonal()
    if pivots.min() ** 2 < 1e-13 * pivots.max() ** 2:
        return decision, outcome
    ones = cho_solve((factor, True), np.ones(support.size))
    place = np.full(gram.m, -1)
    place[support] = np.arange(support.size)

    # x: what theta_S does per unit of theta_r (outside S) or of g_r (in S); bend: what g_r does per unit of theta_r
    inside = place[points] >= 0
    right = rows[:, points]
    right[:, inside] = np.eye(support.size)[:, place[points[inside]]]
    x = cho_solve((factor, True), right)
    threshold = (x.sum(axis=0) - ~inside) / ones.sum()
    x -= np.outer(ones, threshold)
    threshold += shift * ~inside
    k = np.arange(points.size)
    bend = np.empty(points.size)
    bend[inside] = 1 / x[place[points[inside]], k[inside]]
    out = ~inside
    bend[out] = gram.diagonal[points[out]] - (right[:, out] * x[:, out]).sum(axis=0) - threshold[out]

    # points whose sign is certain before the first event
    left = np.abs(theta[points])
    rate = -y[points] * np.where(inside, bend, -1) * x
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(rate > 0, (hi - theta)[support, None], (lo - theta)[support, None]) / rate
    room[~(np.abs(rate) > 0)] = np.inf
    room[place[points[inside]], k[inside]] = np.inf
    room = np.minimum(room.min(axis=0), 2 * left)
    margin = 1 + y[points] * g[points]
    with np.errstate(divide="ignore"):
        certain = (room > left) & (margin - room**2 * bend / (2 * (room - left)) > SLACK)
    outcome[certain] = Outcome.CERTAIN

    rest = np.flatnonzero(~certain)
    todo = points[rest]
    tableau = Tableau(gram, support, rows, np.asfortranarray(factor), ones, shift)
    sign = np.where(inside[rest], 1.0, -1.0)
    columns = (x[:, rest] * sign).T @ rows + (sign * threshold[rest])[:, None]
    outside = ~inside[rest]
    columns[outside] += np.stack([gram.columns.column(t) for t in todo[outside]]) if outside.any() else 0
    columns[:, support] = (x[:, rest] * sign).T
    tableau.keep(todo, np.ascontiguousarray(columns))
    paths = Paths(tableau, theta, g, lo, hi, SLACK * max(1.0, float(gram.diagonal.max())))
    decision[rest], outcome[rest] = paths.walk(todo, y, progress)
    return decision, outcome
