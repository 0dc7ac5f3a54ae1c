"""Leave-one-out by unlearning: what all points share, and the points that need no path."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpstrf

from svmselect.loo._unlearn import SLACK, Outcome, Paths

__all__ = ["unlearn"]

# a pivot of the Cholesky factor, relative to the largest possible one: below it a point depends on the others
DEPENDENT = 1e-10


def rows_of(gram, points):
    """Rows of the Gram matrix, a float64 copy: beyond the budget a view changes at a later request."""
    gram.columns.fetch(points)
    rows = np.empty((points.size, gram.m))
    for row, t in zip(rows, points, strict=True):
        row[:] = gram.columns.column(t)
    return rows


class Tableau:
    """The solution's principal pivot transform on b and S (see _unlearn), by columns.

    With a fixed sum, ``K_SS + shift`` acts like ``K_SS``, but is definite where that is so on directions of
    sum 0: its Cholesky factor, pivoted, selects S among the in-bound SVs and solves the bordered system.

    Parameters
    ----------
    gram : Gram
    inbound : ndarray of intp, shape (n,)
        Candidates for S.

    Attributes
    ----------
    support : ndarray of intp, shape (s,)
        S.
    place : ndarray of intp, shape (m,)
        Where in S a point is; -1 outside.
    """

    def __init__(self, gram, inbound):
        self.gram = gram
        rows = rows_of(gram, inbound)
        self.shift = float(gram.diagonal.mean()) or 1.0
        largest = gram.diagonal.max() + self.shift
        factor, order, rank, _ = dpstrf(rows[:, inbound] + self.shift, lower=True, tol=DEPENDENT * largest)
        order = order[:rank] - 1
        self.support = inbound[order]
        self.rows = rows[order]
        self.factor = np.asfortranarray(factor[:rank, :rank])
        self.place = np.full(gram.m, -1)
        self.place[self.support] = np.arange(rank)
        self.others = np.flatnonzero(self.place < 0)
        self.rows_of_others = np.ascontiguousarray(self.rows[:, self.others])
        self.ones = cho_solve((self.factor, True), np.ones(rank))

    def response(self, points):
        """``T_St`` of some points and ``T_tt``, as (x, bend): x of shape (s, n) is what theta_S does, per
        unit of theta_t for t outside S, of g_t for t in S; bend of shape (n,) what g_t does per unit of
        theta_t. Third, ``T_bt``."""
        place = self.place[points]
        inside = place >= 0
        k = np.flatnonzero(inside)
        x = -self.rows[:, points]
        x[:, inside] = np.eye(len(x))[:, place[inside]]
        right = x.copy()
        x = cho_solve((self.factor, True), x, overwrite_b=True)
        b = (x.sum(axis=0) + ~inside) / self.ones.sum()
        x -= np.outer(self.ones, b)
        b -= self.shift * ~inside
        bend = self.gram.diagonal[points] - (right * x).sum(axis=0) + b
        with np.errstate(divide="ignore"):  # a lone point of S cannot move
            bend[inside] = 1 / x[place[inside], k]
        return x, bend, b

    def columns(self, points, x, b):
        """The columns of some points, from their responses, shape (n, m)."""
        columns = np.empty((points.size, self.gram.m))
        columns[:, self.support] = x.T
        others = x.T @ self.rows_of_others
        others += b[:, None]
        for c in np.flatnonzero(self.place[points] < 0):
            others[c] += self.gram.columns.column(points[c])[self.others]
        columns[:, self.others] = others
        return columns


def unlearn(full, y, points, progress):
    """Decision values of left-out points.

    Parameters
    ----------
    full : Dual
        The solved problem with all points, exact to round-off.
    y : ndarray, shape (m,)
    points : ndarray of intp, shape (n,)
    progress : callable or None
        Called with the number of points decided since the last call.

    Returns
    -------
    decision : ndarray, shape (n,)
        Decision value without the point where its path ended.
    outcome : ndarray of intp, shape (n,)
        See `Outcome`.
    """
    theta, f, lo, hi = full.arrays()
    inbound = np.flatnonzero((lo < theta) & (theta < hi))
    if inbound.size:
        b = full.state()[2]
        return unlearn_from(Tableau(full.gram, inbound), y, theta, f + b, lo, hi, points, progress)
    # b is an interval: at the end where another point may take over theta_r, that point enters
    decision, outcome = np.empty(points.size), np.empty(points.size, dtype=np.intp)
    for sign in (-1, 1):
        these = y[points] == sign
        can_take_over = np.flatnonzero(theta < hi if sign > 0 else theta > lo)
        first = can_take_over[np.argmin(sign * f[can_take_over])]
        tableau = Tableau(full.gram, np.array([first]))
        decision[these], outcome[these] = unlearn_from(
            tableau, y, theta, f - f[first], lo, hi, points[these], progress
        )
    return decision, outcome


def unlearn_from(tableau, y, theta, g, lo, hi, points, progress):
    """The same, from the tableau of the solution and ``g = f + b``."""
    decision, outcome = g[points] + y[points], np.full(points.size, int(Outcome.CERTAIN))
    support, place = tableau.support, tableau.place
    g = g.copy()
    g[support] = 0
    x, bend, b = tableau.response(points)

    # points whose sign is certain before the first event
    inside = place[points] >= 0
    left = np.abs(theta[points])
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # 0 / 0; inf * 0 where the lone point of S is left out
        rate = -y[points] * np.where(inside, bend, 1) * x
        room = np.where(rate > 0, (hi - theta)[support, None], (lo - theta)[support, None]) / rate
    room[rate == 0] = np.inf
    room[place[points[inside]], np.flatnonzero(inside)] = np.inf
    room = np.minimum(room.min(axis=0), 2 * left)
    margin = 1 + y[points] * g[points]
    with np.errstate(divide="ignore", invalid="ignore"):
        certain = (room > left) & (margin - room**2 * bend / (2 * (room - left)) > SLACK)

    rest = np.flatnonzero(~certain)
    if progress is not None and certain.any():
        progress(points.size - rest.size)
    todo = points[rest]
    paths = Paths(tableau, theta, g, lo, hi, SLACK * max(1.0, float(tableau.gram.diagonal.max())))
    paths.keep(todo, tableau.columns(todo, x[:, rest], b[rest]))
    decision[rest], outcome[rest] = paths.walk(todo, y, progress)
    return decision, outcome
