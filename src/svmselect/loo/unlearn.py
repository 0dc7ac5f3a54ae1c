"""Leave-one-out by unlearning: what all points share, and the points that need no path."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpstrf

from svmselect.loo._unlearn import SLACK, Outcome, Paths, Tableau

__all__ = ["unlearn"]

# of a pivot of the Cholesky factor, relative to the first: below it a point depends on the others
DEPENDENT = 1e-10


def unlearn(gram, y, theta, f, b, lo, hi, points, progress):
    """Decision values of left-out points, from the exact solution with all points.

    Returns
    -------
    decision : ndarray, shape (n,)
    outcome : ndarray of intp, shape (n,)
    """
    inbound = np.flatnonzero((lo < theta) & (theta < hi))
    if inbound.size:
        return from_support(gram, y, theta, f + b, lo, hi, inbound, points, progress)
    # b is an interval: at the end where another point may take over theta_r, that point enters
    decision, outcome = np.empty(points.size), np.empty(points.size, dtype=np.intp)
    for sign in (-1, 1):
        these = y[points] == sign
        can_take_over = np.flatnonzero(theta < hi if sign > 0 else theta > lo)
        first = can_take_over[np.argmin(sign * f[can_take_over])]
        decision[these], outcome[these] = from_support(
            gram, y, theta, f - f[first], lo, hi, np.array([first]), points[these], progress
        )
    return decision, outcome


def from_support(gram, y, theta, g, lo, hi, support, points, progress):
    """The same, with the candidates for S."""
    decision, outcome = g[points] + y[points], np.full(points.size, int(Outcome.UNDECIDED))
    if points.size == 0:
        return decision, outcome
    rows = np.stack([gram.columns.column(t) for t in support]).astype(np.float64, copy=False)
    g = g.copy()
    g[support] = 0
    shift = float(gram.diagonal.mean()) or 1.0
    factor, order, rank, _ = dpstrf(rows[:, support] + shift, lower=True, tol=DEPENDENT * (gram.diagonal.max() + shift))
    order = order[:rank] - 1
    support, rows, factor = support[order], rows[order], np.asfortranarray(factor[:rank, :rank])
    ones = cho_solve((factor, True), np.ones(rank))
    place = np.full(gram.m, -1)
    place[support] = np.arange(rank)

    # x: what theta_S does per unit of theta_r (outside S) or of g_r (in S); bend: what g_r does per unit of theta_r
    inside = place[points] >= 0
    at = place[points[inside]]
    right = rows[:, points]
    right[:, inside] = np.eye(rank)[:, at]
    x = cho_solve((factor, True), right)
    threshold = (x.sum(axis=0) - ~inside) / ones.sum()
    x -= np.outer(ones, threshold)
    threshold += shift * ~inside
    k = np.flatnonzero(inside)
    bend = gram.diagonal[points] - (right * x).sum(axis=0) - threshold
    bend[inside] = 1 / x[at, k]

    # points whose sign is certain before the first event
    left = np.abs(theta[points])
    rate = -y[points] * np.where(inside, bend, -1) * x
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(rate > 0, (hi - theta)[support, None], (lo - theta)[support, None]) / rate
    room[~(np.abs(rate) > 0)] = np.inf
    room[at, k] = np.inf
    room = np.minimum(room.min(axis=0), 2 * left)
    margin = 1 + y[points] * g[points]
    with np.errstate(divide="ignore", invalid="ignore"):
        certain = (room > left) & (margin - room**2 * bend / (2 * (room - left)) > SLACK)
    outcome[certain] = Outcome.CERTAIN

    rest = np.flatnonzero(~certain)
    todo = points[rest]
    tableau = Tableau(gram, support, rows, factor, ones, shift)
    sign = np.where(inside[rest], 1.0, -1.0)
    columns = (x[:, rest] * sign).T @ rows + (sign * threshold[rest])[:, None]
    for c, t in enumerate(todo):
        if place[t] < 0:
            columns[c] += gram.columns.column(t)
    columns[:, support] = (x[:, rest] * sign).T
    tableau.keep(todo, columns)
    paths = Paths(tableau, theta, g, lo, hi, SLACK * max(1.0, float(gram.diagonal.max())))
    decision[rest], outcome[rest] = paths.walk(todo, y, progress)
    return decision, outcome
