"""Decision values of left-out points: certain at once by a bound, or computed along each point's path."""

from typing import NamedTuple

import numpy as np

from svmselect.forks import cached_property
from svmselect.kernels.panels import slices
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

__all__ = [
    "GAP",
    "KEPT_VALUES",
    "TOLD",
    "Donors",
    "PointStart",
    "donors_of",
    "follow_paths",
    "near_rows",
    "unlearn_points",
]

# For at most this many points, the whole tableau is computed.
FEW = 200
# For at most this many points, finding donors takes longer than their paths.
FEW_PATHS = 8
# Points outside of S that may take over what a point loses.
MOST_DONORS = 16
# Values of tableau columns in memory together, besides the columns of points that paths meet.
KEPT_VALUES = 20_000_000
# Ends with this many values are checked together: they stay in the cache.
CHECKED_VALUES = 50_000
# A left-out problem counts as solved at a KKT gap of GAP, or of GAPS times that of the solution ...
GAP, GAPS = 1e-8, 10
# ... if rounding made it too small by no more than this.
TOLD = 1e-6
# The sum of theta may be off by this, relative to the largest: for a sign, and for a decision value.
UNBALANCED, UNBALANCED_VALUE = 100 * SLACK, 0.01 * SLACK
# The g of a path may be off by this in a random combination of all points.
OFF = 1e-9
# From MANY rows on, of which at most one in FEW_INBOUND is in-bound, paths look at the points and at the rows
# closest to an event alone, one in NEAR_SHARE.
MANY, FEW_INBOUND, NEAR_SHARE = 4_000, 10, 4


def unlearn_points(full, y, points, bounds_left, progress, stop=True):
    """Return decision values and outcomes of left-out points, by paths from the solution of all points.

    `full` is the solved Dual. `bounds_left` are the bounds of alpha_r when one point goes: 0 or, where r
    stands for several identical points, the bound of the remaining ones. With `stop` a path stops as soon as
    its sign is certain; the value is the one where it ended. `progress` is called with the number of points
    decided since the last call. The outcome is UNDECIDED also where the Gram matrix does not confirm the end.
    """
    # paths that look at few of many rows, and at all rows where an end is not confirmed
    decision, outcome = np.empty(points.size), np.zeros(points.size, dtype=np.intp)
    near = near_rows(full, points)
    for outside in [None] if near is None else [near, None]:
        places = np.flatnonzero(outcome == Outcome.UNDECIDED)
        if places.size:
            decision[places], outcome[places] = follow_paths(
                full, y, points[places], bounds_left[places], progress, stop, outside
            )
    return decision, outcome


def near_rows(full, points):
    """Return the rows outside S at which paths look, the points and the rows closest to an event.

    None stands for all: where rows are few, most of them would be near, or many are in-bound.
    """
    theta, f, lo, hi = full.arrays()
    inbound, m = (lo < theta) & (theta < hi), theta.size
    if m < MANY or not 0 < np.count_nonzero(inbound) <= m // FEW_INBOUND:
        return None
    distance = np.abs(f + full.state()[2])
    near = distance <= np.partition(distance, m // NEAR_SHARE)[m // NEAR_SHARE]
    near[points] = True
    near[inbound] = False
    return np.flatnonzero(near) if 2 * np.count_nonzero(near) <= m else None


def follow_paths(full, y, points, bounds_left, progress, stop, outside):
    """Return the results of `unlearn_points`, by paths that look at S and rows `outside` (None: all)."""
    # 1) the solution; a tableau on its in-bound points
    theta, f, lo, hi = full.arrays()
    gap = max(full.gap_now(), 0.0)
    inbound = np.flatnonzero((lo < theta) & (theta < hi))
    if inbound.size:
        starts = [(Tableau(full.gram, inbound, outside), full.state()[2], np.arange(points.size))]
    else:
        # Without in-bound points b is an interval. At the end of it where another point may take over from r,
        # that point enters S: one tableau for each sign of theta_r.
        starts = []
        for sign in (-1, 1):
            can_take_over = np.flatnonzero(theta < hi if sign > 0 else theta > lo)
            first = can_take_over[np.argmin(sign * f[can_take_over])]
            places = np.flatnonzero(y[points] == sign)
            starts.append((Tableau(full.gram, np.array([first])), -f[first], places))
    # 2) the points of each tableau
    decision, outcome = np.empty(points.size), np.empty(points.size, dtype=np.intp)
    for tableau, b, places in starts:
        start = PointStart(tableau, y, theta, f + b, lo, hi, gap)
        decision[places], outcome[places], _ = start.decide(
            points[places], bounds_left[places], progress, stop
        )
    return decision, outcome


class _FarRows:
    """The rows at which paths do not look; the ends of paths are checked there, too.

    Each is at a bound, and stays optimal while its g keeps the sign that the bound asks for.
    """

    def __init__(self, tableau, theta, g, lo, hi):
        self.tableau = tableau
        away = np.ones(g.size, dtype=bool)
        away[tableau.order] = False
        rows = np.flatnonzero(away)
        self.g, self.sign = g[rows], np.where(theta < hi, 1.0, -1.0)[rows]
        # what they add to the round-off of every g, and the largest theta
        self.square = float(theta[rows] ** 2 @ tableau.gram.diagonal[rows])
        self.largest = float(np.abs(theta[rows]).max(initial=0))
        # the tableau's first row says by how much the threshold of a path differs from that of its theta
        self.places = np.append(tableau.order[0], rows)
        self.rows_of_S = rows_of(tableau.gram, tableau.order[: tableau.s], self.places)

    def stay(self, change, change_of_first, margin):
        """Return whether g of all rows keeps its sign at the ends of n paths, by more than a margin.

        `change` is that of theta, shape (n, rows of the tableau), and `change_of_first`, shape (n,), that of
        g of the tableau's first row.
        """
        tableau, s = self.tableau, self.tableau.s
        moved = s + np.flatnonzero(change[:, s:].any(axis=0))
        shift = change[:, :s] @ self.rows_of_S
        shift += change[:, moved] @ rows_of(tableau.gram, tableau.order[moved], self.places)
        g = self.g + shift[:, 1:] + (change_of_first - shift[:, 0])[:, None]
        return (self.sign * g).min(axis=1) > margin


class Donors(NamedTuple):
    """Points that may take over what a left-out point loses, in proportion to their room."""

    room: np.ndarray  # by how much each donor can move; 0 for all other points
    products: np.ndarray  # the Gram matrix times the room
    square: float  # the product of `room` and `products`
    total: float  # the sum of the room
    cost: float  # the slope of the dual value, negated, where all donors move in proportion to their room


def donors_of(tableau, sign, theta, g, lo, hi, g_slack, most):
    """Return the Donors whose theta can grow (sign 1) or fall (-1) by twice `most` in all.

    S comes first. Where its room is too small, the points outside follow for which moving costs least. Other
    arguments are those of `PointStart`, in the tableau's order.
    """
    s = tableau.s
    # what each point can take, and the cost per unit
    room = np.maximum((hi - theta if sign > 0 else theta - lo) - SLACK * (hi - lo), 0)
    cost = np.maximum(sign * g, 0) + g_slack
    weights = np.zeros_like(room)
    weights[:s] = room[:s]
    products = weights[:s] @ tableau.rows
    # the cheapest points outside S, until their room is enough
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
    """The solution at which the paths of all points start, in the order of its tableau.

    `g` is ``f + b``, `gap` the KKT gap of the solution, `unit` the size of the linear term p, which are the
    labels by default.
    """

    tube = 0.0  # of a regression ``2 epsilon``

    def __init__(self, tableau, y, theta, g, lo, hi, gap, unit=1.0, p=None):
        self.tableau = tableau
        self.y, self.theta, self.g, self.lo, self.hi = (
            values[tableau.order] for values in (y, theta, g, lo, hi)
        )
        self.p = self.y if p is None else p[tableau.order]
        self.gap, self.unit = gap, unit
        self.largest_gap = max(GAP, GAPS * gap)
        slack = np.maximum(SLACK * unit, round_off(theta, tableau.gram.diagonal, unit))
        self.g_slack = slack[tableau.order]
        all_there = tableau.order.size == tableau.gram.m
        self.far = None if all_there else _FarRows(tableau, theta, g, lo, hi)

    @cached_property
    def paths(self):
        """Return the paths from this solution, with the tableau's columns that they have met."""
        paths = PointPaths(self.tableau, self.theta, self.g, self.lo, self.hi, self.g_slack)
        if self.tube > 0:
            paths.open_tube(self.tube)
        return paths

    @cached_property
    def ends(self):
        """Return the memory for the ends of paths that are checked together."""
        return Ends(-(-CHECKED_VALUES // self.y.size), self.y.size)

    @cached_property
    def combinations(self):
        """Return the random combinations in which the ends are compared with the Gram matrix."""
        return random_combinations(self.y.size)

    @cached_property
    def products(self):
        """Return the Gram matrix times the combinations, in rows that were computed; NaN in others."""
        return np.full_like(self.combinations, np.nan)

    def certain_at_once(self, points, bounds_left, x, bend):
        """Return whether the sign of each left-out point is certain before its path begins."""
        tableau = self.tableau
        g = np.where(np.arange(self.y.size) < tableau.s, 0, self.g)
        boxes = self.theta, g, self.lo, self.hi, self.g_slack
        width = np.minimum(self.hi - self.lo, 2 * np.abs(self.theta).max())[: tableau.s].sum()
        most = (np.abs(self.theta[points]) - bounds_left).max()
        donors = [donors_of(tableau, sign, *boxes, most) for sign in (1, -1)]
        return certain_at_once(
            points, bounds_left, x, bend, self.y, *boxes, tableau.diagonal, self.gap * width, donors
        )

    def decide(self, points, bounds_left, progress, stop, models=None):
        """Compute decision values and outcomes of `unlearn_points`, and KKT gaps, for points of this tableau.

        The gap is the largest that the end of a path may have, given its round-off: 0 without a path. Row k
        of `models`, shape (n, m), is filled with the variables at the end of the k-th path.
        """
        tableau, m = self.tableau, self.y.size
        points = tableau.number[points]
        decision = self.g[points] + self.p[points]
        outcome, gaps = np.full(points.size, int(Outcome.CERTAIN)), np.zeros(points.size)
        size = max(FEW, KEPT_VALUES // m)
        for begin in range(0, points.size, size):
            part = points[begin : begin + size]
            bounds = bounds_left[begin : begin + size]
            # 1) Responses of these points, or of all points where that costs less than a second call for the
            # points that paths meet.
            responding, chosen = (np.arange(m), part) if m <= FEW else (part, slice(None))
            x, b, bend = tableau.response(responding)
            # 2) signs that are certain at once
            certain = np.zeros(part.size, dtype=bool)
            if stop and points.size > FEW_PATHS:
                certain = self.certain_at_once(part, bounds, x[chosen], bend[chosen])
            rest = np.flatnonzero(~certain)
            if progress is not None and certain.any():
                progress(part.size - rest.size)
            if rest.size == 0:
                continue
            # 3) columns of the tableau for the paths of the rest
            paths = self.paths
            paths.drop_columns()
            rows = np.arange(m) if m <= FEW else rest
            paths.keep(responding[rows], tableau.columns(responding[rows], x[rows], b[rows]))
            # 4) the paths, and checks of their ends
            for few in slices(rest.size, len(self.ends.theta)):
                places = rest[few]
                result = paths.walk(part[places], bounds[places], self.y, stop, self.ends)
                value, confirmed = self.check_ends(part[places], bounds[places], stop)
                result[~confirmed] = Outcome.UNDECIDED
                decision[begin + places], outcome[begin + places] = value, result
                gaps[begin + places] = self.ends.gap[: places.size]
                if models is not None:
                    models[np.ix_(begin + places, tableau.order)] = self.ends.theta[: places.size]
                if progress is not None:
                    progress(int(np.count_nonzero(result != Outcome.UNDECIDED)))
        return decision, outcome, gaps

    def strayed(self, n):
        """Compute by how much the first n ends contradict the Gram matrix; see `_certify.strayed`."""
        s = self.tableau.s
        # products = K @ combinations, in the rows of points that have moved
        if np.isnan(self.products[0, 0]):
            self.products[:s] = self.tableau.rows @ self.combinations
        new = s + np.flatnonzero(self.ends.moved[s:])
        new = new[np.isnan(self.products[new, 0])]
        for part in slices(new.size, len(self.ends.theta)):
            rows = rows_of(self.tableau.gram, self.tableau.order[new[part]], self.tableau.order)
            self.products[new[part]] = rows @ self.combinations
        return strayed(self.ends, n, self.theta, self.g, self.combinations, self.products)

    def conditions(self, points, bounds_left):
        """Compute gap, round-off, threshold and widths of these ends; see `_certify.conditions`."""
        boxes = self.y, self.lo, self.hi, self.tableau.diagonal, self.paths.theta_slack
        far = () if self.far is None else (self.far.square, self.far.largest)
        return conditions(points, bounds_left, *boxes, self.ends, self.unit, *far)

    def check_ends(self, points, bounds_left, stop=True):
        """Return the decision values at the ends of the paths followed last, and whether they are confirmed.

        The g of a path is compared with the g of its variables in random combinations of all points. That is
        cheap, and an error of ten times `OFF` passes once in a billion times. Where they differ, g is
        computed from the variables.

        With theta_r as it is, the other variables have to be feasible and optimal. Nothing else is needed
        where alpha_r has come to its end, or where the margin h is negative. Else h is bounded from below by
        the curvature c and the slope sigma of the dual along the direction in which the other variables go on
        (``docs/how_it_works.md``): ``h(0) >= h - (c L^2 / 2 + |sigma| L + defect) / (L - t)``. Here L is the
        reach, t the remaining alpha_r, and `defect` what the value may lack of the optimum, at most the gap
        times the widths.

        Without `stop`, values count and not only signs, and the sum of theta has to be closer to the start's:
        an error of it may make a point at its bound look in-bound, and fix a threshold.
        """
        ends, n = self.ends, points.size
        # 1) g by the Gram matrix, where the path's is wrong
        off, unbalanced = self.strayed(n)
        doubtful = np.flatnonzero(~(off <= OFF * self.unit))
        if doubtful.size:
            ends.g[doubtful] = self.g + self.tableau.times_gram(ends.theta[doubtful] - self.theta)
            going = doubtful[ends.reach[doubtful] > 0]
            ends.rate[going] = self.tableau.times_gram(ends.direction[going])
        # 2) the KKT conditions, and the margin of the left-out point
        gap, noise, b, width = self.conditions(points, bounds_left)
        ends.gap[:n] = np.maximum(gap, 0) + noise
        decision = ends.g[np.arange(n), points] + self.p[points] + b
        margin = self.y[points] * decision
        confirmed = (gap <= self.largest_gap) & (noise <= TOLD)
        confirmed &= unbalanced <= (UNBALANCED if stop else UNBALANCED_VALUE)
        confirmed &= (ends.remaining[:n] == 0) | (ends.reach[:n] > 0) | (margin < -noise)
        # 3) the bound of the margin, where the sign follows from how the path would go on
        going = np.flatnonzero(ends.reach[:n] > 0)
        if going.size:
            boxes = self.lo, self.hi, self.paths.theta_slack
            curvature, slope, within = continued(points, going, *boxes, ends, b)
            reach, remaining = ends.reach[going], ends.remaining[going]
            loss = (
                0.5 * curvature * reach**2 + np.abs(slope) * reach + np.maximum(gap[going], 0) * width[going]
            )
            confirmed[going] &= within & ((margin[going] - noise[going]) * (reach - remaining) > loss)
        # 4) the rows at which the paths did not look
        if self.far is not None:
            change, change_of_first = ends.theta[:n] - self.theta, ends.g[:n, 0] - self.g[0] + b
            # without in-bound points the threshold is an interval, as long as the gap is negative
            confirmed &= self.far.stay(change, change_of_first, np.maximum(-gap, 0))
        return decision, confirmed
