"""Solutions without the points of a fold, along paths on which all points of the fold leave together."""

from queue import Empty, SimpleQueue
from typing import NamedTuple

import numpy as np

from svmselect.checks import frozen
from svmselect.forks import cached_property
from svmselect.gram import Gram
from svmselect.solver._state import midpoint
from svmselect.solver.feasible import balanced, give_excess, snapped
from svmselect.svm import Solution
from svmselect.unlearning._certify import SLACK, round_off, rows_of
from svmselect.unlearning._paths import FoldPaths, Outcome
from svmselect.unlearning.points import KEPT_VALUES, TOLD
from svmselect.unlearning.tableau import Tableau

__all__ = ["FoldEnds", "FoldStart", "FoldsUnlearning"]

# Rounding may leave this much of the variables' sum, relative to the sum of their absolute values.
UNBALANCED = 1e-12
# Events of a path that are open at once, without those of the points that leave.
MOST_OPEN = 500


class FoldEnds(NamedTuple):
    """Solutions without some points, computed from the Gram matrix; one row for each set of points."""

    theta: np.ndarray  # signed variables, feasible, and 0 at the points that left: shape (n, m)
    f: np.ndarray  # ``K theta - y``, computed from theta and the Gram matrix: shape (n, m)
    gap: np.ndarray  # ``M+ - M-``, 0 where no pair violates
    noise: np.ndarray  # by how much rounding may have made it too small
    b: np.ndarray  # the threshold, as in `Solution`
    reached: np.ndarray  # whether the path came to its end; else the row is undefined
    n_events: np.ndarray  # events met on the path

    def optimal(self, tol):
        """Return whether each solution has converged to `tol`; see `Solution.converged`: bool, shape (n,)."""
        balanced = np.abs(self.theta.sum(axis=1)) <= UNBALANCED * np.abs(self.theta).sum(axis=1)
        beyond_doubt = self.gap + self.noise <= tol + max(tol, TOLD)
        return self.reached & balanced & (self.gap <= tol) & beyond_doubt

    def solution(self, j, y, C):
        """Return row j as the Solution of a problem with labels y and bounds C, shape (m,) each."""
        theta, f, b = self.theta[j], self.f[j], float(self.b[j])
        return Solution(
            alpha=frozen(theta * y),
            C=frozen(C),
            b=b,
            decision=frozen(f + y + b),
            objective=0.5 * float(theta @ (f + b - y)),
            kkt_gap=float(self.gap[j]),
            n_iter=0,
            columns_requested=0,
            kernel_values=0,
            converged=True,
        )


class FoldsUnlearning:
    """The solution of all points, from which paths lead to the solutions without some of them.

    All theta of the points that leave go to 0 in proportion, while every other point stays optimal. `solved`
    has the signed variables of the solution, to a KKT gap that is round-off or little more, their gradient,
    and its round-off; `b` is the threshold. Gradient, gap and threshold at the end of a path are computed
    from its variables and the Gram matrix.
    """

    def __init__(self, gram: Gram, y, C, solved, b):
        self.gram, self.b = gram, b
        self.theta, self.f, self.drift = solved
        self.lo, self.hi = np.where(y > 0, 0, -C), np.where(y > 0, C, 0)
        self.inbound = np.flatnonzero((self.lo < self.theta) & (self.theta < self.hi))
        self.starts: dict[int, FoldStart] = {}  # by sign, without in-bound points

    def unlearn_folds(self, sets):
        """Return the FoldEnds of the solutions without each of some sets of points."""
        # 1) ends as if the other points stayed where they are
        n, m = len(sets), self.theta.size
        theta, f = np.tile(self.theta, (n, 1)), np.tile(self.f, (n, 1))
        reached, n_events = np.ones(n, dtype=bool), np.zeros(n, dtype=np.intp)
        ends = FoldEnds(theta, f, *np.zeros((3, n)), reached, n_events)
        for j, points in enumerate(sets):
            ends.theta[j, points] = 0
        # 2) the start of each path; without SVs among the points that leave, the solution stays
        going = np.flatnonzero((ends.theta != self.theta).any(axis=1))
        if self.inbound.size:
            starts = [(self.start, going)]
        else:
            total = np.array([self.theta[sets[j]].sum() for j in going])
            size = np.array([np.abs(self.theta[sets[j]]).sum() for j in going])
            sign = np.where(np.abs(total) <= SLACK * size, 0, np.sign(total))
            starts = [
                (self.start_towards(value), going[sign == value])
                for value in (1, -1)
                if (sign == value).any()
            ]
            # where SVs leave that balance each other, the remaining points may stay as they are
            stay = going[sign == 0]
            change = ends.theta[stay] - self.theta
            moved = np.flatnonzero(change.any(axis=0))
            ends.f[stay] += change[:, moved] @ rows_of(self.gram, moved, np.arange(m))
        # 3) the paths, and the gaps at their ends
        for start, rows in starts:
            start.leave([sets[j] for j in rows], rows, ends)
        self.check_ends(sets, ends)
        return ends

    # Computed with the first folds, so that its columns count as theirs.
    @cached_property
    def start(self):
        """Return the start of paths where there are in-bound points."""
        return FoldStart(self.gram, self.inbound, self.theta, self.f, self.b, self.lo, self.hi)

    def start_towards(self, sign):
        """Return the start of paths on which other points have to grow (sign 1) or fall (-1).

        Without in-bound points b is an interval. The path starts at the end of it where a point t may take
        over from the points that leave, with S = {t}.
        """
        if sign not in self.starts:
            points = np.flatnonzero(self.theta < self.hi if sign > 0 else self.theta > self.lo)
            t = points[np.argmin(sign * self.f[points])]
            box = self.lo, self.hi
            start = FoldStart(self.gram, np.array([t]), self.theta, self.f, -self.f[t], *box)
            self.starts.setdefault(sign, start)
        return self.starts[sign]

    def check_ends(self, sets, ends):
        """Compute gap, noise and threshold of ends from their gradients."""
        # the index sets, without the points that left
        theta, f = ends.theta, ends.f
        up, low = theta < self.hi, theta > self.lo
        for j, points in enumerate(sets):
            up[j, points] = low[j, points] = False
        # gap = max(f[low]) - min(f[up]), and the gap with round-off
        noise = round_off(theta, self.gram.diagonal, 1.0) + self.drift
        least, most = np.where(up, f, np.inf).min(axis=1), np.where(low, f, -np.inf).max(axis=1)
        lowest = np.where(up, f - noise, np.inf).min(axis=1)
        highest = np.where(low, f + noise, -np.inf).max(axis=1)
        # no pair violates where one of the two sets is empty
        pairs = up.any(axis=1) & low.any(axis=1)
        gap = np.subtract(most, least, where=pairs, out=np.zeros(len(sets)))
        ends.noise[:] = np.subtract(highest, lowest, where=pairs, out=np.zeros(len(sets))) - gap
        ends.gap[:] = np.maximum(gap, 0)
        # b = -mean(f[in-bound]), or the midpoint of an interval
        inside = up & low
        count = inside.sum(axis=1)
        mean = np.einsum("ij,ij->i", f, inside) / np.maximum(count, 1)
        for j in np.flatnonzero(count == 0):
            mean[j] = midpoint(least[j], most[j])
        ends.b[:] = -mean


class FoldStart:
    """A solution with its tableau, at which the paths of folds start.

    The `tube` of a regression is ``2 epsilon``; its boxes and f are those of the side of each row.
    """

    def __init__(self, gram, inbound, theta, f, b, lo, hi, tube=0.0):
        self.gram, self.tableau, self.tube = gram, Tableau(gram, inbound), tube
        order = self.tableau.order
        self.theta, self.f, self.lo, self.hi = (values[order] for values in (theta, f, lo, hi))
        self.b = b
        self.idle = SimpleQueue()  # paths, one for each thread
        self.paths = self.new_paths()
        self.idle.put(self.paths)

    def new_paths(self):
        """Return paths from here; where S is small, they have all its columns of the tableau."""
        tableau, m = self.tableau, self.theta.size
        g_slack = np.maximum(SLACK, round_off(self.theta, tableau.diagonal, 1.0))
        most_open = min(m, tableau.s + MOST_OPEN)
        g = self.f + self.b
        paths = FoldPaths(tableau, self.theta, g, self.lo, self.hi, g_slack, most_open, KEPT_VALUES)
        if self.tube > 0:
            paths.open_tube(self.tube)
        if tableau.s * m <= KEPT_VALUES:
            points = np.arange(tableau.s)
            x, b, _ = tableau.response(points)
            paths.keep(points, tableau.columns(points, x, b))
        return paths

    def leave(self, sets, rows, ends):
        """Follow the paths on which each set of points leaves, and fill in these rows of the `FoldEnds`."""
        # 1) rates of the driven points, and the rates that they cause
        tableau = self.tableau
        sets = [tableau.number[points] for points in sets]
        largest = np.array([np.abs(self.theta[points]).max() for points in sets])
        driven_rates = [-self.theta[points] / each for points, each in zip(sets, largest, strict=True)]
        direct, start_rates = self.start_rates(sets, driven_rates)
        # 2) the paths, whose ends are made feasible to the last bit
        theta = np.empty_like(start_rates)
        try:
            paths = self.idle.get_nowait()
        except Empty:
            paths = self.new_paths()
        for j, points in enumerate(sets):
            outcome, ends.n_events[rows[j]] = paths.leave(points, driven_rates[j], start_rates[j], theta[j])
            if outcome != Outcome.REACHED:
                ends.reached[rows[j]] = False
                theta[j] = self.theta
                direct[j] = 0
                continue
            lo, hi = self.lo.copy(), self.hi.copy()
            if self.tube > 0:  # rows may have turned to the other side
                lo, hi = np.minimum(lo, -hi), np.maximum(hi, -lo)
            lo[points] = hi[points] = 0
            theta[j] = _summing_to_0(theta[j], lo, hi)
        self.idle.put(paths)
        # 3) f += K @ change, in which `direct` has the part of the points that leave from outside S
        change = theta - self.theta
        for j, points in enumerate(sets):
            change[j, points[points >= tableau.s]] = 0
        f = self.f + largest[:, None] * direct + tableau.times_gram(change)
        ends.theta[np.ix_(rows, tableau.order)] = theta
        ends.f[np.ix_(rows, tableau.order)] = f

    def start_rates(self, sets, driven_rates):
        """Compute the rates that driven points outside S cause, shape (n, m) each.

        The first are the rates of every g while S is fixed, the second those of all points while S follows.
        """
        # direct = driven_rate[outside] @ K[outside]
        tableau, s = self.tableau, self.tableau.s
        direct, total = np.zeros((len(sets), self.theta.size)), np.zeros(len(sets))
        for j, (points, rates) in enumerate(zip(sets, driven_rates, strict=True)):
            outer = (points >= s) & (rates != 0)
            if outer.any():
                total[j] = rates[outer].sum()
                direct[j] = rates[outer] @ rows_of(self.gram, tableau.order[points[outer]], tableau.order)
        # driven_rate[outside] @ T[outside], the sum of columns of the tableau
        x = tableau.solved(-direct[:, :s])
        b = (x.sum(axis=1) + total) / tableau.total
        joint = direct.copy()
        joint[:, :s] = x - b[:, None] * tableau.ones
        joint[:, s:] += joint[:, :s] @ tableau.outside_rows + (b - tableau.shift * total)[:, None]
        return direct, joint


def _summing_to_0(theta, lo, hi):
    """Return variables within their boxes, moved by round-off so that their sum is 0."""
    theta = snapped(theta, lo, hi)
    if abs(theta.sum()) < np.minimum(theta - lo, hi - theta).max():
        return give_excess(theta, lo, hi)
    return balanced(theta, lo, hi, np.arange(0))
