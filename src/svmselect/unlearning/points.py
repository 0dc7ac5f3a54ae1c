"""Single points are unlearned from a solution: by a bound at once, or each by its path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmselect.forks import cached_property
from svmselect.kernels.rows import slices
from svmselect.unlearning._certify import (
    SLACK,
    Ends,
    certain_at_once,
    conditions,
    continued,
    random_combinations,
    round_off,
    rows_of,
    strayed,
)
from svmselect.unlearning._paths import Outcome, PointPaths
from svmselect.unlearning.tableau import Tableau

__all__ = ["GAP", "KEPT_VALUES", "TOLD", "Donors", "PointStart", "donors_of", "unlearn_points"]

# For at most this many points, the whole tableau is computed.
FEW = 200
# For at most this many points, finding donors takes longer than their paths.
FEW_PATHS = 8
# Points outside of S that may take over what a point loses.
MOST_DONORS = 16
# Values of tableau columns that are held at once, without those of points that paths meet.
KEPT_VALUES = 20_000_000
# The ends of this many values are judged at once: they stay in the cache.
JUDGED_VALUES = 50_000
# A left-out problem counts as solved at a KKT gap of GAP, or of GAPS times that of the solution ...
GAP, GAPS = 1e-8, 10
# ... and if rounding made it too small by no more than this.
TOLD = 1e-6
# The sum of theta may be off by this, relative to the largest: where signs are wanted, and where values are.
UNBALANCED, UNBALANCED_VALUE = 100 * SLACK, 0.01 * SLACK
# The g of a path may be off by this in a random combination of all points.
OFF = 1e-9


def unlearn_points(full, y, points, bounds_left, progress, stop=True):
    """Return decision values of left-out points, each by its path from the solution of all points.

    Parameters
    ----------
    full : Dual
        The solved problem with all points.
    y : ndarray, shape (m,)
    points : ndarray of intp, shape (n,)
        A point may come more than once.
    bounds_left : ndarray, shape (n,)
        The bound of alpha_r that is left when a point goes: 0, but where r stands for starts identical
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
    if points.size == 0:
        return decision, outcome
    inbound = np.flatnonzero((lo < theta) & (theta < hi))
    if inbound.size:
        b = full.state()[2]
        starts = [(Tableau(full.gram, inbound), b, np.arange(points.size))]
    else:
        # b is an interval: at the end where another point may take over theta_r, that point enters
        starts = []
        for sign in (-1, 1):
            can_take_over = np.flatnonzero(theta < hi if sign > 0 else theta > lo)
            first = can_take_over[np.argmin(sign * f[can_take_over])]
            starts.append(
                (Tableau(full.gram, np.array([first])), -f[first], np.flatnonzero(y[points] == sign))
            )
    for tableau, b, places in starts:
        start = PointStart(tableau, y, theta, f + b, lo, hi, gap)
        decision[places], outcome[places] = start.decide(points[places], bounds_left[places], progress, stop)
    return decision, outcome


class Donors(NamedTuple):
    """Points that may take over what a left-out point loses, in proportion to their room.

    Attributes
    ----------
    room : ndarray, shape (m,)
        By how much each of them can move; 0 for all others.
    products : ndarray, shape (m,)
        The Gram matrix times the room.
    square : float
        The room times that.
    total : float
        The room of all.
    cost : float
        What the dual value loses at first where all of them use all of their room.
    """

    room: np.ndarray
    products: np.ndarray
    square: float
    total: float
    cost: float


def donors_of(tableau, sign, theta, g, lo, hi, g_slack, most):
    """The donors where theta is to grow (sign 1) or fall (-1): S, and where twice `most` is beyond its room,
    the points for which it costs least. Arguments are those of `PointStart`, in its order."""
    s = tableau.s
    room = np.maximum((hi - theta if sign > 0 else theta - lo) - SLACK * (hi - lo), 0)
    cost = np.maximum(sign * g, 0) + g_slack
    weights = np.zeros_like(room)
    weights[:s] = room[:s]
    products = weights[:s] @ tableau.rows
    lacking = 2 * most - weights.sum()
    outside = s + np.flatnonzero(room[s:])
    if lacking > 0 and outside.size:
        if outside.size > MOST_DONORS:
            outside = outside[np.argpartition(cost[outside], MOST_DONORS)[:MOST_DONORS]]
        outside = outside[np.argsort(cost[outside])]
        chosen = outside[: 1 + np.searchsorted(np.cumsum(room[outside]), lacking)]
        weights[chosen] = room[chosen]
        products += weights[chosen] @ rows_of(tableau.gram, tableau.order[chosen], tableau.order)
    return Donors(
        weights, products, float(weights @ products), float(weights.sum()), float(weights[s:] @ cost[s:])
    )


class PointStart:
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

    @cached_property
    def paths(self):
        return PointPaths(self.tableau, self.theta, self.g, self.lo, self.hi, self.g_slack)

    @cached_property
    def ends(self):
        return Ends(-(-JUDGED_VALUES // self.y.size), self.y.size)

    @cached_property
    def combinations(self):
        return random_combinations(self.y.size)

    @cached_property
    def products(self):
        """Products of the Gram matrix and the combinations, where known."""
        return np.full_like(self.combinations, np.nan)

    def certain_at_once(self, points, bounds_left, x, bend):
        """Whether the sign of each left-out point is certain before its path begins: bool, shape (n,)."""
        tableau = self.tableau
        g = np.where(np.arange(self.y.size) < tableau.s, 0, self.g)
        boxes = self.theta, g, self.lo, self.hi, self.g_slack
        width = np.minimum(self.hi - self.lo, 2 * np.abs(self.theta).max())[: tableau.s].sum()
        most = (np.abs(self.theta[points]) - bounds_left).max()
        donors = [donors_of(tableau, sign, *boxes, most) for sign in (1, -1)]
        return certain_at_once(
            points, bounds_left, x, bend, self.y, *boxes, tableau.diagonal, self.gap * width, donors
        )

    def decide(self, points, bounds_left, progress, stop):
        """Return decision values and outcomes of `unlearn_points`, for the points of this tableau."""
        tableau, m = self.tableau, self.y.size
        points = tableau.number[points]
        decision = self.g[points] + self.y[points]
        outcome = np.full(points.size, int(Outcome.CERTAIN))
        size = max(FEW, KEPT_VALUES // m)
        for begin in range(0, points.size, size):
            part = points[begin : begin + size]
            stays = bounds_left[begin : begin + size]
            # The responses of these points, or of all where that costs less than a second call for those that
            # paths meet.
            known, chosen = (np.arange(m), part) if m <= FEW else (part, slice(None))
            x, b, bend = tableau.response(known)
            certain = np.zeros(part.size, dtype=bool)
            if stop and points.size > FEW_PATHS:
                certain = self.certain_at_once(part, stays, x[chosen], bend[chosen])
            rest = np.flatnonzero(~certain)
            if progress is not None and certain.any():
                progress(part.size - rest.size)
            if rest.size == 0:
                continue
            paths = self.paths
            paths.drop_columns()
            walked = np.arange(m) if m <= FEW else rest
            paths.keep(known[walked], tableau.columns(known[walked], x[walked], b[walked]))
            for few in slices(rest.size, len(self.ends.theta)):
                places = rest[few]
                reached = paths.walk(part[places], stays[places], self.y, stop, self.ends)
                value, bears_out = self.check_ends(part[places], stays[places], stop)
                reached[~bears_out] = Outcome.UNDECIDED
                decision[begin + places], outcome[begin + places] = value, reached
                if progress is not None:
                    progress(int(np.count_nonzero(reached != Outcome.UNDECIDED)))
        return decision, outcome

    def strayed(self, n):
        """Return by how much the first n ends are off the Gram matrix; see `_certify.strayed`."""
        s = self.tableau.s
        if np.isnan(self.products[0, 0]):
            self.products[:s] = self.tableau.rows @ self.combinations
        new = s + np.flatnonzero(self.ends.moved[s:])
        new = new[np.isnan(self.products[new, 0])]
        for part in slices(new.size, len(self.ends.theta)):
            rows = rows_of(self.tableau.gram, self.tableau.order[new[part]], self.tableau.order)
            self.products[new[part]] = rows @ self.combinations
        return strayed(self.ends, n, self.theta, self.g, self.combinations, self.products)

    def conditions(self, points, bounds_left):
        """Return what `_certify.conditions` does, for these ends."""
        boxes = self.y, self.lo, self.hi, self.tableau.diagonal, self.paths.theta_slack
        return conditions(points, bounds_left, *boxes, self.ends, self.unit)

    def check_ends(self, points, bounds_left, stop=True):
        """Return the decision values at the ends of paths, and whether the Gram matrix confirms them.

        Parameters
        ----------
        points, bounds_left : ndarray, shape (n,)
            The points whose paths were the last to be walked.
        stop : bool
            Whether signs are enough. Else a sum that has drifted away is no end: it may make a point look
            in-bound, and fix a threshold, that is at its bound.

        Returns
        -------
        decision : ndarray, shape (n,)
            Decision values of the left-out points.
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
        gap, noise, b, width = self.conditions(points, bounds_left)
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
