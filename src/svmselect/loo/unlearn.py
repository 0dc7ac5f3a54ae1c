"""Leave-one-out by unlearning: what all points share, and the points that need no path."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg.blas import dger, dtrsm
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dpstrf, dtrtri

from svmselect.loo._unlearn import SLACK, Outcome, Paths, certain_at_once, mirror, rows_of

__all__ = ["unlearn"]

# a pivot of the Cholesky factor, relative to the largest possible one: below it a point depends on the others
DEPENDENT = 1e-10
# so few points: the whole tableau is computed
FEW = 200
# of tableau columns held at once, those of points met on the way not counted
KEPT_VALUES = 20_000_000


class Tableau:
    """The solution's principal pivot transform on b and S (see _unlearn), by columns.

    Points are numbered anew, S first. With a fixed sum, ``K_SS + shift`` acts like ``K_SS``, but is definite
    where that is so on directions of sum 0: its Cholesky factor, pivoted where some in-bound SVs depend on
    others, selects S among them and solves the bordered system.

    Parameters
    ----------
    gram : Gram
    inbound : ndarray of intp, shape (n,)
        Candidates for S, at least one.
    others : ndarray of intp, optional
        The points outside that matter; all by default.
    threshold : bool
        Whether the sum of theta is fixed. Without a threshold it is not, and there is no shift.

    Attributes
    ----------
    order : ndarray of intp, shape (n,)
        The points that matter: S, the candidates that depend on it, the others.
    number : ndarray of intp, shape (m,)
        Its inverse: the new number of each of them.
    s : int
        Size of S.
    """

    def __init__(self, gram, inbound, others=None, threshold=True):
        self.gram = gram
        if others is None:
            outside = np.ones(gram.m, dtype=bool)
            outside[inbound] = False
            others = np.flatnonzero(outside)
        order = np.concatenate([inbound, others])
        rows = rows_of(gram, inbound, order)
        self.threshold = threshold
        self.shift = (float(gram.diagonal.mean()) or 1.0) if threshold else 0.0
        least = DEPENDENT * (gram.diagonal.max() + self.shift)
        block = rows[:, : inbound.size]
        factor, failed = dpotrf((block + self.shift).T, lower=True, overwrite_a=True)
        if failed or factor.diagonal().min() ** 2 <= least:
            factor, pivots, rank, _ = dpstrf((block + self.shift).T, lower=True, tol=least)
            factor = np.asfortranarray(np.tril(factor[:rank, :rank]))
            chosen = np.concatenate([pivots - 1, np.arange(inbound.size, order.size)])
            order, rows = order[chosen], rows[np.ix_(chosen[:rank], chosen)]
        self.s = s = len(rows)
        self.order = order
        self.number = np.empty(gram.m, dtype=np.intp)
        self.number[order] = np.arange(order.size)
        self.rows = rows
        self.factor = factor
        # of theta_S per unit of the threshold, and its sum: without a threshold, nothing answers to one
        self.ones = dpotrs(factor, np.ones(s), lower=True)[0] if threshold else np.zeros(s)
        self.total = float(self.ones.sum()) if threshold else np.inf
        self.diagonal = gram.diagonal[order]

    @cached_property
    def inverse(self):
        """Of ``K_SS + shift``."""
        lower, _ = dpotri(self.factor, lower=True)
        mirror(lower.T)
        return lower.T

    @cached_property
    def rows_of_others(self):
        return np.ascontiguousarray(self.rows[:, self.s :])

    def response(self, points):
        """``T_tS``, ``T_tb`` and the bend of some points.

        Parameters
        ----------
        points : ndarray of intp, shape (n,)

        Returns
        -------
        x : ndarray, shape (n, s)
            What theta_S does, per unit of theta_t for t outside S, of g_t for t in S.
        b : ndarray, shape (n,)
            What the threshold does.
        bend : ndarray, shape (n,)
            What g_t does per unit of theta_t.
        """
        outside = points >= self.s
        inside, outer = np.flatnonzero(~outside), np.flatnonzero(outside)
        x = np.empty((points.size, self.s))
        x[inside] = self.inverse[points[inside]]
        right = np.ascontiguousarray(self.rows[:, points[outer]])
        x[outer] = dpotrs(self.factor, -right, lower=True)[0].T
        b = (x.sum(axis=1) + outside) / self.total
        # x -= b ones', in place
        dger(-1.0, self.ones, b, a=x.T, overwrite_a=True)
        b -= self.shift * outside
        bend = np.empty(points.size)
        bend[outer] = self.diagonal[points[outer]] + np.einsum("ij,ji->i", x[outer], right) + b[outer]
        with np.errstate(divide="ignore"):  # a lone point of S cannot move
            bend[inside] = 1 / x[inside, points[inside]]
        return x, b, bend

    def bends(self):
        """The bend of every point, shape (n,), without its response.

        That of a point outside S is its squared distance in feature space from the affine hull of S, that of
        a point in S from the affine hull of the others in S (infinite where there are none); without a
        threshold, from the linear hulls.
        """
        s = self.s
        bends = np.empty(self.order.size)
        inverse, _ = dtrtri(self.factor, lower=True)
        with np.errstate(divide="ignore"):
            bends[:s] = 1 / (np.einsum("ij,ij->j", inverse, inverse) - self.ones**2 / self.total)
        if self.threshold and s == 1:
            bends[0] = np.inf
        u = dtrsm(1, self.factor, self.rows[:, s:].T + self.shift, side=1, lower=1, trans_a=1, overwrite_b=1)
        bends[s:] = self.diagonal[s:] + self.shift - np.einsum("ij,ij->i", u, u)
        bends[s:] += (1 - u @ inverse.sum(axis=1)) ** 2 / self.total
        return bends

    def columns(self, points, x, b):
        """The columns of some points, from their responses: one row for each, of all points that matter."""
        columns = np.empty((points.size, self.order.size))
        columns[:, : self.s] = x
        others = columns[:, self.s :]
        np.matmul(x, self.rows_of_others, out=others)
        others += b[:, None]
        outside = np.flatnonzero(points >= self.s)
        others[outside] += rows_of(self.gram, self.order[points[outside]], self.order[self.s :])
        return columns


def unlearn(full, y, points, kept, progress, stop=True):
    """Decision values of left-out points.

    Parameters
    ----------
    full : Dual
        The solved problem with all points, exact to round-off.
    y : ndarray, shape (m,)
    points : ndarray of intp, shape (n,)
        A point may come more than once.
    kept : ndarray, shape (n,)
        The bound of alpha_r that is left when a point goes: 0, but where r stands for several identical
        points.
    progress : callable or None
        Called with the number of points decided since the last call.
    stop : bool
        Whether a path stops as soon as its sign is certain.

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
        tableau = Tableau(full.gram, inbound)
        return unlearn_from(tableau, y, theta, f + b, lo, hi, points, kept, progress, stop)
    # b is an interval: at the end where another point may take over theta_r, that point enters
    decision, outcome = np.empty(points.size), np.empty(points.size, dtype=np.intp)
    for sign in (-1, 1):
        these = y[points] == sign
        can_take_over = np.flatnonzero(theta < hi if sign > 0 else theta > lo)
        first = can_take_over[np.argmin(sign * f[can_take_over])]
        tableau = Tableau(full.gram, np.array([first]))
        decision[these], outcome[these] = unlearn_from(
            tableau, y, theta, f - f[first], lo, hi, points[these], kept[these], progress, stop
        )
    return decision, outcome


def unlearn_from(tableau, y, theta, g, lo, hi, points, kept, progress, stop):
    """The same, from the tableau of the solution and ``g = f + b``."""
    y, theta, g, lo, hi = (values[tableau.order] for values in (y, theta, g, lo, hi))
    points = tableau.number[points]
    g[: tableau.s] = 0
    m = y.size
    g_slack = SLACK * max(1.0, float(tableau.diagonal.max()))
    decision, outcome = g[points] + y[points], np.full(points.size, int(Outcome.CERTAIN))
    paths = Paths(tableau, theta, g, lo, hi, g_slack)
    size = max(FEW, KEPT_VALUES // m)
    for begin in range(0, points.size, size):
        paths.forget()
        part = points[begin : begin + size]
        stays = kept[begin : begin + size]
        # of these points, or of all where that costs less than a second call for those met on the way
        known, at = (np.arange(m), part) if m <= FEW else (part, slice(None))
        x, b, bend = tableau.response(known)
        certain = np.zeros(part.size, dtype=bool)
        if stop:
            certain = certain_at_once(part, stays, x[at], bend[at], y, theta, g, lo, hi, g_slack)
        rest = np.flatnonzero(~certain)
        if progress is not None and certain.any():
            progress(part.size - rest.size)
        walked = np.arange(m) if m <= FEW else rest
        paths.keep(known[walked], tableau.columns(known[walked], x[walked], b[walked]))
        decision[begin + rest], outcome[begin + rest] = paths.walk(part[rest], stays[rest], y, progress, stop)
    return decision, outcome
