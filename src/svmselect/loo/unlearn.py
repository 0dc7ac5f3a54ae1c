"""Leave-one-out by unlearning: what all points share, and the points that need no path."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg.blas import dger, dtrsm
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dpstrf, dtrtri

from svmselect.kernels.rows import slices
from svmselect.loo._ends import Ends, continued, judge, random_combinations, strayed
from svmselect.loo._unlearn import SLACK, Outcome, Paths, certain_at_once, mirror, round_off, rows_of

__all__ = ["unlearn"]

# a pivot of the Cholesky factor, relative to the largest possible one: below it a point depends on the others
DEPENDENT = 1e-10
# so few points: the whole tableau is computed
FEW = 200
# of tableau columns held at once, those of points met on the way not counted
KEPT_VALUES = 20_000_000
# points whose ends are judged at once: as many as stay in the cache
JUDGED_VALUES = 50_000
# the KKT gap of a left-out problem that counts as solved, at least and as a multiple of that of the solution
GAP, GAPS = 1e-8, 10
# and by how much rounding may have made it too small
TOLD = 1e-6
# how far the sum of theta may be off, relative to the largest: where signs are wanted, and where values are
UNBALANCED, UNBALANCED_VALUE = 100 * SLACK, 0.01 * SLACK
# how far the g of a path may be off in a random combination of all points
OFF = 1e-9


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
        # of the size of the diagonal: a smaller one would make points near the first pivot's look dependent
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

    def times_gram(self, values):
        """The product of the rows of an array of shape (n, m) with the Gram matrix."""
        others = self.s + np.flatnonzero(values[:, self.s :].any(axis=0))
        product = values[:, : self.s] @ self.rows
        product += values[:, others] @ rows_of(self.gram, self.order[others], self.order)
        return product


def unlearn(full, y, points, kept, progress, stop=True):
    """Decision values of left-out points.

    Parameters
    ----------
    full : Dual
        The solved problem with all points.
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
        See `Outcome`. UNDECIDED also where the end of a path does not bear out what it says.
    """
    theta, f, lo, hi = full.arrays()
    gap = max(full.gap_now(), 0.0)
    decision, outcome = np.empty(points.size), np.empty(points.size, dtype=np.intp)
    inbound = np.flatnonzero((lo < theta) & (theta < hi))
    if inbound.size:
        b = full.state()[2]
        several = [(Tableau(full.gram, inbound), b, np.arange(points.size))]
    else:
        # b is an interval: at the end where another point may take over theta_r, that point enters
        several = []
        for sign in (-1, 1):
            can_take_over = np.flatnonzero(theta < hi if sign > 0 else theta > lo)
            first = can_take_over[np.argmin(sign * f[can_take_over])]
            several.append(
                (Tableau(full.gram, np.array([first])), -f[first], np.flatnonzero(y[points] == sign))
            )
    for tableau, b, these in several:
        start = Start(tableau, y, theta, f + b, lo, hi, gap)
        decision[these], outcome[these] = start.unlearn(points[these], kept[these], progress, stop)
    return decision, outcome


class Start:
    """A solution that points are unlearned from, in the order of its tableau.

    Parameters
    ----------
    tableau : Tableau
    y, theta, g, lo, hi : ndarray, shape (m,)
        Labels, the solution, ``f + b``, and the boxes, of all points.
    gap : float
        The KKT gap of the solution.
    unit : float
        The size of the linear term.
    """

    def __init__(self, tableau, y, theta, g, lo, hi, gap, unit=1.0):
        self.tableau = tableau
        self.y, self.theta, self.g, self.lo, self.hi = (
            values[tableau.order] for values in (y, theta, g, lo, hi)
        )
        self.gap, self.unit = gap, unit
        self.g_slack = np.maximum(SLACK * unit, round_off(self.theta, tableau.diagonal, unit))
        self.paths = Paths(tableau, self.theta, self.g, self.lo, self.hi, self.g_slack)
        self.ends = Ends(-(-JUDGED_VALUES // self.y.size), self.y.size)
        self.combinations = random_combinations(self.y.size)
        self.products = np.full_like(self.combinations, np.nan)  # of the Gram matrix and those, where known

    def unlearn(self, points, kept, progress, stop):
        """As the function of this name, for the points of one tableau."""
        tableau, paths, m = self.tableau, self.paths, self.y.size
        at_start = np.where(np.arange(m) < tableau.s, 0, self.g)
        points = tableau.number[points]
        decision = self.g[points] + self.y[points]
        outcome = np.full(points.size, int(Outcome.CERTAIN))
        width = np.minimum(self.hi - self.lo, 2 * np.abs(self.theta).max())[: tableau.s].sum()
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
                boxes = self.y, self.theta, at_start, self.lo, self.hi, self.g_slack
                largest = tableau.diagonal.max()
                certain = certain_at_once(part, stays, x[at], bend[at], *boxes, largest, self.gap * width)
            rest = np.flatnonzero(~certain)
            if progress is not None and certain.any():
                progress(part.size - rest.size)
            walked = np.arange(m) if m <= FEW else rest
            paths.keep(known[walked], tableau.columns(known[walked], x[walked], b[walked]))
            for few in slices(rest.size, len(self.ends.theta)):
                these = rest[few]
                found = paths.walk(part[these], stays[these], self.y, stop, self.ends)
                value, bears_out = self.judged(part[these], stays[these], stop)
                found[~bears_out] = Outcome.UNDECIDED
                decision[begin + these], outcome[begin + these] = value, found
                if progress is not None:
                    progress(int(np.count_nonzero(found != Outcome.UNDECIDED)))
        return decision, outcome

    def strayed(self, n):
        """See `_ends.strayed`, for the first n ends."""
        s = self.tableau.s
        if np.isnan(self.products[0, 0]):
            self.products[:s] = self.tableau.rows @ self.combinations
        new = s + np.flatnonzero(self.ends.moved[s:])
        new = new[np.isnan(self.products[new, 0])]
        for part in slices(new.size, len(self.ends.theta)):
            rows = rows_of(self.tableau.gram, self.tableau.order[new[part]], self.tableau.order)
            self.products[new[part]] = rows @ self.combinations
        return strayed(self.ends, n, self.theta, self.g, self.combinations, self.products)

    def judge(self, points, kept):
        """See `_ends.judge`."""
        boxes = self.y, self.lo, self.hi, self.tableau.diagonal, self.paths.theta_slack
        return judge(points, kept, *boxes, self.ends, self.unit)

    def judged(self, points, kept, stop=True):
        """What the ends of paths say, held against the Gram matrix.

        Parameters
        ----------
        points, kept : ndarray, shape (n,)
            Those whose paths were the last to be walked.
        stop : bool
            Whether signs are enough. Else a sum that has drifted away is no end: it may make a point look
            in-bound, and fix a threshold, that is at its bound.

        Returns
        -------
        decision : ndarray, shape (n,)
            Of the left-out points.
        bears_out : ndarray of bool, shape (n,)
            Whether the ends are optimal, and the signs follow from them.

        Notes
        -----
        The g of a path is compared with that of its variables in random combinations of all points: cheap,
        and an error of ten times `OFF` passes once in a billion times. Where they differ, g is computed from
        the variables.

        With theta_r as it is, the other variables have to be feasible and optimal. Where alpha_r has come to
        its end that is all. Where h < 0 no more is needed either. Else h, the curvature c and the slope sigma
        of the dual along the direction in which the variables go on, but for theta_r, bound the margin from
        below: ``h(0) >= h - (c L^2 / 2 + |sigma| L + defect) / (L - t)`` (see `leave_one_out`), where
        `defect` is what the value may lack of the optimum, at most the gap times the widths.
        """
        ends, n = self.ends, points.size
        off, unbalanced = self.strayed(n)
        doubtful = np.flatnonzero(~(off <= OFF * self.unit))
        if doubtful.size:
            ends.g[doubtful] = self.g + self.tableau.times_gram(ends.theta[doubtful] - self.theta)
            going = doubtful[ends.room[doubtful] > 0]
            ends.rate[going] = self.tableau.times_gram(ends.direction[going])
        gap, noise, b, width = self.judge(points, kept)
        decision = ends.g[np.arange(n), points] + self.y[points] + b
        margin = self.y[points] * decision
        bears_out = (gap <= max(GAP, GAPS * self.gap)) & (noise <= TOLD)
        bears_out &= unbalanced <= (UNBALANCED if stop else UNBALANCED_VALUE)
        bears_out &= (ends.left[:n] == 0) | (ends.room[:n] > 0) | (margin < -noise)
        going = np.flatnonzero(ends.room[:n] > 0)
        if going.size:
            boxes = self.lo, self.hi, self.paths.theta_slack
            curvature, slope, within = continued(points, going, *boxes, ends, b)
            room, left = ends.room[going], ends.left[going]
            loss = 0.5 * curvature * room**2 + np.abs(slope) * room + np.maximum(gap[going], 0) * width[going]
            bears_out[going] &= within & ((margin[going] - noise[going]) * (room - left) > loss)
        return decision, bears_out
