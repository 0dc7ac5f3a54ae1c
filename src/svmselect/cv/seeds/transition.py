"""From one training set to the next: the solution from which a seed starts, and feasible variables.

Seeds work in the solver's signed variables ``theta_i = y_i alpha_i``. The box of theta_i is ``[0, C_i]`` for
class +1 and ``[-C_i, 0]`` for class -1, the equality constraint is ``sum(theta) = 0``, and the gradient
``f = K theta - y`` is the optimality indicator of Wen et al. (2017), eq. 2. "To be most similar" is to have
the largest kernel value.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from svmselect.forks import cached_property
from svmselect.gram import Gram
from svmselect.solver.feasible import balanced

__all__ = ["Seed", "Transition"]


class Seed(NamedTuple):
    """Variables from which a fit starts, and the work of computing them."""

    theta: np.ndarray  # feasible signed variables, shape (m,)
    steps: int = 0  # moves of ATO from one event to the next
    cg_iterations: int = 0  # conjugate-gradient iterations of ATO in all of its moves
    cg_residual: float = 0.0  # the largest relative residual that one of these was left with


@dataclass(frozen=True)
class Transition:
    """A solved training set, and the points that leave it and enter it."""

    gram: Gram
    y: np.ndarray
    C: np.ndarray  # the upper bound of each point while it is in the training set
    theta: np.ndarray  # signed variables of the solution
    f: np.ndarray  # its gradient at every row
    level: float  # ``b' = -b``, the value of f at the in-bound support vectors
    leaves: np.ndarray  # R of the paper
    enters: np.ndarray  # T of the paper; every other point is in both training sets
    tol: float  # KKT tolerance of the fits
    rng: np.random.Generator | None = None  # for seeds that draw

    @cached_property
    def box(self):
        """The bounds (lo, hi) of the next problem, each of shape (m,): 0 and 0 at the points that leave."""
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
        """Return theta with 0 at the points that leave."""
        theta = self.theta.copy()
        theta[self.leaves] = 0
        return theta

    def feasible(self, theta, first):
        """Return `theta` moved into the box of the next problem, with the sum 0.

        The points `first` move by one amount, each as far as its box lets it; the others only where that is
        not enough.
        """
        return balanced(theta, *self.box, first)
