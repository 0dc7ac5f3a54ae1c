"""From one training set to the next: what every seed starts from, and how a seed is made feasible.

Seeds work in the solver's signed variables ``theta_i = y_i alpha_i``. The box of theta_i is ``[0, C_i]`` for
class +1 and ``[-C_i, 0]`` for class -1, the equality constraint is ``sum(theta) = 0``, and the gradient
``f = K theta - y`` is the optimality indicator of Wen et al. (2017), eq. 2. "To be most similar" is to have
the largest kernel value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import NamedTuple

import numpy as np

from svmselect.gram import Gram

__all__ = ["Seed", "Transition", "balanced"]

SNAP = 1e-12  # this close to a bound, relative to the width of the box, is on it


class Seed(NamedTuple):
    """Where a fit starts, and what finding it took.

    Attributes
    ----------
    theta : ndarray, shape (m,)
        Feasible signed variables.
    steps : int
        Of ATO: moves from one event to the next.
    cg_iterations : int
        Of ATO: conjugate-gradient iterations in all of these.
    cg_residual : float
        The largest relative residual that one of these was left with.
    """

    theta: np.ndarray
    steps: int = 0
    cg_iterations: int = 0
    cg_residual: float = 0.0


@dataclass(frozen=True)
class Transition:
    """A solved training set, and the points that leave it and enter it.

    Attributes
    ----------
    gram : Gram
    y, C : ndarray, shape (m,)
        Labels, and the upper bound of each point while it is in the training set.
    theta, f : ndarray, shape (m,)
        Signed variables of the solution, and its gradient at every row.
    level : float
        ``b' = -b``: the value of f at the in-bound support vectors.
    leaves, enters : ndarray of intp
        R and T of the paper. Every other point is in both training sets.
    tol : float
        KKT tolerance of the fits.
    rng : numpy.random.Generator
        For seeds that draw.
    """

    gram: Gram
    y: np.ndarray
    C: np.ndarray
    theta: np.ndarray
    f: np.ndarray
    level: float
    leaves: np.ndarray
    enters: np.ndarray
    tol: float
    rng: np.random.Generator

    @cached_property
    def box(self):
        """Bounds (lo, hi) of the next problem, each of shape (m,): 0 and 0 at the points that leave."""
        bound = self.C.copy()
        bound[self.leaves] = 0
        return np.where(self.y > 0, 0, -bound), np.where(self.y > 0, bound, 0)

    @cached_property
    def inbound(self):
        """The in-bound points of the solution, those that leave among them: bool, shape (m,)."""
        alpha = np.abs(self.theta)
        return (alpha > 0) & (alpha < self.C)

    @property
    def giving(self):
        """Support vectors among the points that leave."""
        return self.leaves[self.theta[self.leaves] != 0]

    def without_leaving(self):
        """theta, 0 at the points that leave."""
        theta = self.theta.copy()
        theta[self.leaves] = 0
        return theta

    def feasible(self, theta, first):
        """`theta` within the box of the next problem and with the sum 0: the points `first` move by one
        amount, each as far as its box lets it, and the others only where that is not enough."""
        return balanced(theta, *self.box, first)


def balanced(theta, lo, hi, first):
    """Variables within their boxes that sum to 0.

    Parameters
    ----------
    theta, lo, hi : ndarray, shape (m,)
        ``lo <= 0 <= hi``. Variables outside are put on the bound first, and so are those that miss it by
        round-off, before and after.
    first : ndarray of int
        The points to move: all by one amount, each as far as its box lets it. Where that is not enough all
        others follow in the same way.

    Returns
    -------
    ndarray, shape (m,)
        Its sum is 0 to the round-off of one variable.
    """
    theta = snapped(np.clip(theta, lo, hi), lo, hi)
    rest = np.ones(theta.size, dtype=bool)
    rest[first] = False
    for points in (first, np.flatnonzero(rest)):
        excess = fsum(theta)
        if excess == 0:
            break
        target = theta[points].sum() - excess
        theta[points] = snapped(moved(theta[points], lo[points], hi[points], target), lo[points], hi[points])
    # what rounding has left goes to the point that has most room for it
    excess = fsum(theta)
    if excess != 0:
        room = np.minimum(theta - lo, hi - theta)
        t = room.argmax() if room.max() > 0 else (theta - lo if excess > 0 else hi - theta).argmax()
        theta[t] = np.clip(theta[t] - excess, lo[t], hi[t])
    return theta


def moved(theta, lo, hi, total):
    """All variables moved by one amount, each as far as its box lets it, so that they sum to `total`, or come
    as close to it as the boxes allow."""
    if theta.size == 0 or total <= lo.sum():
        return lo
    if total >= hi.sum():
        return hi
    # the sum is a piecewise linear function of the amount: a variable moves between its two ends
    ends = np.concatenate([lo - theta, hi - theta])
    order = np.argsort(ends, kind="stable")
    ends = ends[order]
    slope = np.cumsum(np.where(order < theta.size, 1, -1))
    sums = lo.sum() + np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(ends))])
    k = min(np.searchsorted(sums, total, side="right"), ends.size - 1)
    amount = ends[k] if slope[k - 1] == 0 else ends[k - 1] + (total - sums[k - 1]) / slope[k - 1]
    return np.clip(theta + amount, lo, hi)


def snapped(theta, lo, hi):
    """theta, exactly on a bound where it misses it by round-off: such a point would be taken for in-bound."""
    near = SNAP * (hi - lo)
    theta = np.where(theta <= lo + near, lo, theta)
    return np.where(theta >= hi - near, hi, theta)
