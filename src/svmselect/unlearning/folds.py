"""Folds are unlearned from a solution: all points of a fold leave it at once."""

from __future__ import annotations

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

__all__ = ["FoldStart", "FoldsUnlearning"]

# Rounding may leave this much of the variables' sum, relative to the sum of their absolute values.
UNBALANCED = 1e-12
# Events of a path that are open at once, without those of the points that leave.
MOST_OPEN = 500


class _FoldEnds(NamedTuple):
    """Solutions without some points, as the Gram matrix has them: one row for each set of points that left.

    Attributes
    ----------
    theta : ndarray, shape (n, m)
        Signed variables: feasible, 0 at the points that left.
    f : ndarray, shape (n, m)
        ``K theta - y``, computed from theta and the Gram matrix.
    gap : ndarray, shape (n,)
        ``M+ - M-``, 0 where no pair violates.
    noise : ndarray, shape (n,)
        By how much rounding may have made it too small.
    b : ndarray, shape (n,)
        The threshold, as in `Solution`.
    reached : ndarray of bool, shape (n,)
        Whether the path came to its end; else the row says nothing.
    n_events : ndarray of intp, shape (n,)
        Met on the path.
    """

    theta: np.ndarray
    f: np.ndarray
    gap: np.ndarray
    noise: np.ndarray
    b: np.ndarray
    reached: np.ndarray
    n_events: np.ndarray

    def optimal(self, tol):
        """Whether the gap is at most `tol`, and rounding leaves no doubt of it, as `Solution.converged` has
        it: bool, shape (n,)."""
        balanced = np.abs(self.theta.sum(axis=1)) <= UNBALANCED * np.abs(self.theta).sum(axis=1)
        known = self.gap + self.noise <= tol + max(tol, TOLD)
        return self.reached & balanced & (self.gap <= tol) & known

    def solution(self, j, y, C):
        """Row j as the solution of a problem with labels y and bounds C, shape (m,) each."""
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
    """Solutions without some points, each at the end of a path that begins at the solution of all points.

    All theta of the points that leave go to 0 in proportion, while every other point stays optimal: what
    leave-one-out does with one point, by the same paths from the same tableau (see svmselect.unlearning). A
    path is not taken at its word: gradient, gap and threshold at its end are those of its variables by the
    Gram matrix.

    Parameters
    ----------
    gram : Gram
    y, C : ndarray, shape (m,)
    known : tuple
        The signed variables of the solution of all points, to a KKT gap that is round-off or little more, its
        gradient, and the round-off that this may have.
    b : float
        Its threshold.
    """

    def __init__(self, gram: Gram, y, C, known, b):
        self.gram, self.b = gram, b
        self.theta, self.f, self.drift = known
        self.lo, self.hi = np.where(y > 0, 0, -C), np.where(y > 0, C, 0)
        self.inbound = np.flatnonzero((self.lo < self.theta) & (self.theta < self.hi))

    def unlearn_folds(self, sets):
        """Return the solutions without each of some sets of points.

        Parameters
        ----------
        sets : list of ndarray of intp

        Returns
        -------
        _FoldEnds
        """
        n, m = len(sets), self.theta.size
        theta, f = np.tile(self.theta, (n, 1)), np.tile(self.f, (n, 1))
        reached, n_events = np.ones(n, dtype=bool), np.zeros(n, dtype=np.intp)
        ends = _FoldEnds(theta, f, *np.zeros((3, n)), reached, n_events)
        for j, points in enumerate(sets):
            ends.theta[j, points] = 0
        # where only points leave that are no SVs, the solution stays
        going = np.flatnonzero((ends.theta != self.theta).any(axis=1))
        if self.inbound.size:
            starts = [(self.start, going)]
        else:
            total = np.array([self.theta[sets[j]].sum() for j in going])
            size = np.array([np.abs(self.theta[sets[j]]).sum() for j in going])
            sign = np.where(np.abs(total) <= SLACK * size, 0, np.sign(total))
            starts = [
                (start, going[sign == value])
                for start, value in (("start_up", 1), ("start_down", -1))
                if (sign == value).any()
            ]
            starts = [(getattr(self, start), rows) for start, rows in starts]
            # where SVs leave that balance each other, the others may stay as they are
            stay = going[sign == 0]
            change = ends.theta[stay] - self.theta
            moved = np.flatnonzero(change.any(axis=0))
            ends.f[stay] += change[:, moved] @ rows_of(self.gram, moved, np.arange(m))
        for start, rows in starts:
            start.leave([sets[j] for j in rows], rows, ends)
        self.check_ends(sets, ends)
        return ends

    # Made by the first folds, whose columns count.
    @cached_property
    def start(self):
        return FoldStart(self.gram, self.inbound, self.theta, self.f, self.b, self.lo, self.hi)

    # Without in-bound points b is an interval. At its end where others may take over from the points that
    # leave, one of these enters.
    @cached_property
    def start_up(self):
        points = np.flatnonzero(self.theta < self.hi)
        return self.start_with(points[self.f[points].argmin()])

    @cached_property
    def start_down(self):
        points = np.flatnonzero(self.theta > self.lo)
        return self.start_with(points[self.f[points].argmax()])

    def start_with(self, t):
        return FoldStart(self.gram, np.array([t]), self.theta, self.f, -self.f[t], self.lo, self.hi)

    def check_ends(self, sets, ends):
        """Fill in gap, noise and threshold of ends, from their gradients."""
        theta, f = ends.theta, ends.f
        up, low = theta < self.hi, theta > self.lo
        for j, points in enumerate(sets):
            up[j, points] = low[j, points] = False
        noise = round_off(theta, self.gram.diagonal, 1.0) + self.drift
        least, most = np.where(up, f, np.inf).min(axis=1), np.where(low, f, -np.inf).max(axis=1)
        lowest = np.where(up, f - noise, np.inf).min(axis=1)
        highest = np.where(low, f + noise, -np.inf).max(axis=1)
        # no pair violates where one of the two sets is empty
        pairs = up.any(axis=1) & low.any(axis=1)
        gap = np.subtract(most, least, where=pairs, out=np.zeros(len(sets)))
        ends.noise[:] = np.subtract(highest, lowest, where=pairs, out=np.zeros(len(sets))) - gap
        ends.gap[:] = np.maximum(gap, 0)
        inside = up & low
        count = inside.sum(axis=1)
        mean = np.einsum("ij,ij->i", f, inside) / np.maximum(count, 1)
        for j in np.flatnonzero(count == 0):
            mean[j] = midpoint(least[j], most[j])
        ends.b[:] = -mean


class FoldStart:
    """A solution with its tableau, and the paths that begin there.

    Parameters
    ----------
    gram : Gram
    inbound : ndarray of intp, shape (n,)
        Candidates for S, at least one.
    theta, f : ndarray, shape (m,)
        The solution and its gradient.
    b : float
        Its threshold.
    lo, hi : ndarray, shape (m,)
        The boxes.
    """

    def __init__(self, gram, inbound, theta, f, b, lo, hi):
        self.gram, self.tableau = gram, Tableau(gram, inbound)
        order = self.tableau.order
        self.theta, self.f, self.lo, self.hi = (values[order] for values in (theta, f, lo, hi))
        self.b = b
        self.idle = SimpleQueue()  # paths, one for each thread
        self.paths = self.new_paths()
        self.idle.put(self.paths)

    def new_paths(self):
        """Paths from here, with the columns of the tableau that each of them may need, if they are few."""
        tableau, m = self.tableau, self.theta.size
        g_slack = np.maximum(SLACK, round_off(self.theta, tableau.diagonal, 1.0))
        most_open = min(m, tableau.s + MOST_OPEN)
        g = self.f + self.b
        paths = FoldPaths(tableau, self.theta, g, self.lo, self.hi, g_slack, most_open, KEPT_VALUES)
        if tableau.s * m <= KEPT_VALUES:
            points = np.arange(tableau.s)
            x, b, _ = tableau.response(points)
            paths.keep(points, tableau.columns(points, x, b))
        return paths

    def leave(self, sets, rows, ends):
        """Let each of some sets of points leave, and fill in these rows of the `_FoldEnds`."""
        tableau = self.tableau
        sets = [tableau.number[points] for points in sets]
        largest = np.array([np.abs(self.theta[points]).max() for points in sets])
        pulls = [-self.theta[points] / each for points, each in zip(sets, largest, strict=True)]
        direct, base = self.base(sets, pulls)
        theta = np.empty_like(base)
        try:
            paths = self.idle.get_nowait()
        except Empty:
            paths = self.new_paths()
        for j, points in enumerate(sets):
            outcome, ends.n_events[rows[j]] = paths.leave(points, pulls[j], base[j], theta[j])
            if outcome != Outcome.REACHED:
                ends.reached[rows[j]] = False
                theta[j] = self.theta
                direct[j] = 0
                continue
            lo, hi = self.lo.copy(), self.hi.copy()
            lo[points] = hi[points] = 0
            theta[j] = _summing_to_0(theta[j], lo, hi)
        self.idle.put(paths)
        change = theta - self.theta
        # what leaves from outside S is in `direct`
        for j, points in enumerate(sets):
            change[j, points[points >= tableau.s]] = 0
        f = self.f + largest[:, None] * direct + tableau.times_gram(change)
        ends.theta[np.ix_(rows, tableau.order)] = theta
        ends.f[np.ix_(rows, tableau.order)] = f

    def base(self, sets, pulls):
        """Return the rates that driven points outside S cause: of every g while S is fixed, and of all points
        while S follows; shape (n, m) each. The second is the sum of their columns of the tableau."""
        tableau, s = self.tableau, self.tableau.s
        direct, total = np.zeros((len(sets), self.theta.size)), np.zeros(len(sets))
        for j, (points, pull) in enumerate(zip(sets, pulls, strict=True)):
            outer = (points >= s) & (pull != 0)
            if outer.any():
                total[j] = pull[outer].sum()
                direct[j] = pull[outer] @ rows_of(self.gram, tableau.order[points[outer]], tableau.order)
        x = tableau.solved(-direct[:, :s])
        b = (x.sum(axis=1) + total) / tableau.total
        base = direct.copy()
        base[:, :s] = x - b[:, None] * tableau.ones
        base[:, s:] += base[:, :s] @ tableau.rows_of_others + (b - tableau.shift * total)[:, None]
        return direct, base


def _summing_to_0(theta, lo, hi):
    """Return variables within their boxes whose sum is 0, from some where round-off is missing."""
    theta = snapped(theta, lo, hi)
    if abs(theta.sum()) < np.minimum(theta - lo, hi - theta).max():
        return give_excess(theta, lo, hi)
    return balanced(theta, lo, hi, np.arange(0))
