"""Predictions of left-out rows of a regression, each along its path from the solution of all rows."""

import numpy as np

from svmselect.kernels.panels import BLOCK_ROWS, slices
from svmselect.solver._state import midpoint
from svmselect.solver.feasible import SNAP
from svmselect.unlearning._certify import round_off, rows_of
from svmselect.unlearning.folds import FoldEnds, FoldStart
from svmselect.unlearning.points import GAP as KNOWN
from svmselect.unlearning.points import PointStart
from svmselect.unlearning.tableau import Tableau

# The end of a path may have this KKT gap, GAPS times that of the solution, or the round-off of STEPS steps,
# each of which leaves as much as a gradient that is computed anew. Others are solved anew.
GAP, GAPS, STEPS = 1e-11, 10, 200

__all__ = ["RegressionFolds", "largest_gap", "unlearn_rows"]


def largest_gap(full):
    """Return the KKT gap that the end of a path from a solved Dual may have."""
    return max(GAP, GAPS * full.gap_now(), min(STEPS * full.rounding(), KNOWN))


def _conditions(theta, g, C, side, tube, slack, noise):
    """Compute gap, round-off and threshold of some solutions of a regression, shape (n,) each.

    The variables `theta`, ``K theta - p`` up to a constant `g`, and its round-off `noise` have the shape (n,
    m), as the bounds `C`, which are 0 for rows that are left out. `side` is 1 where p is ``z - epsilon`` and
    -1 where it is ``z + epsilon``. Variables within `slack` of a bound, or of 0 with a `tube`, are on it.

    The gap is below 0 where no pair violates. Round-off may have made it too small by the second result. The
    third is the level of g at in-bound rows, or the midpoint without any.
    """
    positive = g + np.where(side > 0, 0, tube)
    negative = positive - tube
    # on which side each variable grows and shrinks; with epsilon = 0 there is one side
    grows, shrinks = theta < C - slack, theta > slack - C
    up, low = np.where(theta < -slack, negative, positive), np.where(theta > slack, positive, negative)
    inside = grows & shrinks & ((np.abs(theta) > slack) if tube > 0 else True)
    least, most = np.where(grows, up, np.inf).min(axis=1), np.where(shrinks, low, -np.inf).max(axis=1)
    lowest = np.where(grows, up - noise, np.inf).min(axis=1)
    highest = np.where(shrinks, low + noise, -np.inf).max(axis=1)
    count = inside.sum(axis=1)
    level = np.where(inside, np.where(theta > 0, positive, negative), 0).sum(axis=1) / np.maximum(count, 1)
    for k in np.flatnonzero(count == 0):
        level[k] = midpoint(least[k], most[k])
    gap = most - least
    with np.errstate(invalid="ignore"):
        return gap, np.where(np.isfinite(gap), highest - lowest - gap, 0), level


class _RegressionStart(PointStart):
    """The solution of a regression at which the paths of all rows start; see `PointStart`.

    Bounds and p are those of the side of each row, and the `tube` is ``2 epsilon`` wide.
    """

    def __init__(self, full, tableau, theta, g, lo, hi, p, tube):
        side = np.where(hi > 0, 1.0, -1.0) if tube > 0 else np.where(theta < 0, -1.0, 1.0)
        super().__init__(tableau, side, theta, g, lo, hi, max(full.gap_now(), 0.0), 1.0, p)
        self.largest_gap = largest_gap(full)
        self.tube, self.C = tube, np.maximum(self.hi, -self.lo)

    def conditions(self, points, bounds_left):
        """Compute gap, round-off, threshold and widths of the ends of paths, whose widths are not needed."""
        n, number = points.size, np.arange(points.size)
        theta, g = self.ends.theta[:n], self.ends.g[:n]
        C = np.tile(self.C, (n, 1))
        C[number, points] = bounds_left
        slack = 10 * np.asarray(self.paths.theta_slack)
        noise = round_off(theta, self.tableau.diagonal, 1.0)
        gap, rounding, level = _conditions(theta, g, C, self.y, self.tube, slack, noise)
        return gap, rounding, -level, np.zeros(n)


def unlearn_rows(full, epsilon, points, bounds_left, progress, models=None):
    """Return predictions, outcomes and KKT gaps of left-out rows, by paths from the solution of all rows.

    `full` is the solved Dual, in units in which its targets are about 1 in size; `points` are support
    vectors. For `bounds_left` and `progress` see `unlearn_points`. `models`, a pair of arrays of shape (n, m)
    and (n,), is filled with variables and thresholds of the models without each of the n points.

    The outcome is REACHED where the Gram matrix confirms the end of the path, else UNDECIDED. The gap is the
    largest that the end may have, given its round-off.
    """
    theta, f, lo, hi = full.arrays()
    p, tube = full.linear_term(), 2 * epsilon
    prediction, outcome = np.empty(points.size), np.empty(points.size, dtype=np.intp)
    gaps = np.zeros(points.size)
    inbound = np.flatnonzero((lo < theta) & (theta < hi))
    if inbound.size:
        starts = [(inbound, full.state()[2], np.arange(points.size), (f, lo, hi, p))]
    else:
        # Without in-bound rows b is an interval, and S is a row that may take over; see `unlearn_points`.
        starts = []
        for sign in (-1, 1):
            places = np.flatnonzero(np.sign(theta[points]) == sign)
            if places.size:
                first, sides = _first_to_follow(sign, theta, f, lo, hi, p, tube)
                starts.append((np.array([first]), -sides[0][first], places, sides))
    for members, b, places, (f_of_side, lo_of_side, hi_of_side, p_of_side) in starts:
        tableau = Tableau(full.gram, members)
        start = _RegressionStart(full, tableau, theta, f_of_side + b, lo_of_side, hi_of_side, p_of_side, tube)
        ends = None if models is None else np.empty((places.size, theta.size))
        prediction[places], outcome[places], gaps[places] = start.decide(
            points[places], bounds_left[places], progress, False, ends
        )
        if models is not None:
            models[0][places] = ends
    if models is not None:
        everything = np.arange(theta.size)
        for part in slices(points.size, BLOCK_ROWS):
            # b = prediction - K theta
            sums = np.einsum("ij,ij->i", models[0][part], rows_of(full.gram, points[part], everything))
            models[1][part] = prediction[part] - sums
    return prediction, outcome, gaps


class RegressionFolds:
    """A solution with in-bound rows of a regression, from which paths lead to those without some of them."""

    def __init__(self, full, epsilon):
        theta, f, lo, hi = full.arrays()
        self.gram, self.tube, self.theta, self.f = full.gram, 2 * epsilon, theta, f
        self.p, self.C, self.side = full.linear_term(), np.maximum(hi, -lo), np.where(hi > 0, 1.0, -1.0)
        if epsilon == 0:
            self.side[:] = 1.0
        self.drift = full.known()[2]
        inbound = np.flatnonzero((lo < theta) & (theta < hi))
        self.start = FoldStart(self.gram, inbound, theta, f, full.state()[2], lo, hi, self.tube)

    def unlearn_folds(self, sets, tol):
        """Return predictions of all rows without each of n sets of rows, shape (n, m), and which are optimal.

        For `tol` see `Solution.converged`.
        """
        n, m = len(sets), self.theta.size
        theta, f = np.tile(self.theta, (n, 1)), np.tile(self.f, (n, 1))
        ends = FoldEnds(theta, f, *np.zeros((3, n)), np.ones(n, dtype=bool), np.zeros(n, dtype=np.intp))
        C = np.tile(self.C, (n, 1))
        for j, rows in enumerate(sets):
            ends.theta[j, rows] = C[j, rows] = 0
        going = np.flatnonzero((ends.theta != self.theta).any(axis=1))
        if going.size:
            self.start.leave([sets[j] for j in going], going, ends)
        slack = np.full(m, SNAP * np.abs(ends.theta).max(initial=0))
        noise = round_off(ends.theta, self.gram.diagonal, 1.0) + self.drift
        gap, rounding, level = _conditions(ends.theta, ends.f, C, self.side, self.tube, slack, noise)
        ends.gap[:], ends.noise[:] = np.maximum(gap, 0), rounding
        return ends.f + self.p - level[:, None], ends.optimal(tol)


def _first_to_follow(sign, theta, f, lo, hi, p, tube):
    """Return the row that first takes over from one of this sign, and f, lo, hi and p with it on that side.

    A variable at 0 may be on the other side, to which it can turn.
    """
    can_follow = theta < hi if sign > 0 else theta > lo
    turns = (theta == 0) & (lo < hi) & ~can_follow
    value = np.where(can_follow, sign * f, np.where(turns, sign * f + tube, np.inf))
    first = int(value.argmin())
    f, lo, hi, p = f.copy(), lo.copy(), hi.copy(), p.copy()
    if turns[first]:
        # p = z - side * epsilon
        lo[first], hi[first] = -hi[first], -lo[first]
        f[first] += sign * tube
        p[first] -= sign * tube
    return first, (f, lo, hi, p)
