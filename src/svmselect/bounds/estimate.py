"""Base of the estimates that count training points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmselect.checks import frozen
from svmselect.gram import Gram
from svmselect.svm import Solution, check_solution

__all__ = [
    "Estimate",
    "SingleFit",
    "check_estimate",
    "counted",
    "n_training",
    "spread_over_points",
    "support_sets",
]


@dataclass(frozen=True)
class Estimate:
    """An estimate, or a bound, of the leave-one-out error that counts points.

    Attributes
    ----------
    error : float
        Share of the training points that are counted, in [0, 1].
    errors : ndarray of bool, shape (m,)
        The points that are counted.
    cpu_s : float
        CPU time, seconds, including Gram columns that were absent.
    """

    error: float
    errors: np.ndarray
    cpu_s: float


@dataclass(frozen=True)
class SingleFit:
    """The declaration of an estimate that needs no other fit.

    Commands, estimators and tables read names and functions of all estimates from these declarations.

    Attributes
    ----------
    compute : callable
        ``compute(gram, y, solution)``, and ``sphere=`` if it `needs_sphere`. It returns an object with
        ``error`` and ``errors`` as `Estimate` has them, or with ``bound`` (float) if it `is_bound`.
    key : str
        The name in files, and with a trailing underscore that of an attribute of estimators.
    name, short : str
        The names for readers: in a line of a table, and above a column.
    assumption : str
        A sentence on when the estimate holds.
    is_bound : bool
        Whether it is one number that may exceed 1, and does not say which points it counts.
    needs_sphere : bool
        Whether it uses the `smallest_enclosing_sphere` of the training points.
    """

    compute: Callable[..., Any]
    key: str
    name: str
    short: str
    assumption: str
    is_bound: bool = False
    needs_sphere: bool = False

    def evaluate(self, gram: Gram, y: ArrayLike, solution: Solution, sphere: Any = None) -> Any:
        """Return the estimate; a smallest sphere that is given is not computed again."""
        return self.compute(gram, y, solution, **({"sphere": sphere} if self.needs_sphere else {}))


def check_estimate(gram, y, solution):
    """Return labels as float64; raise a ValueError for bad ones, and for another solution or kernel."""
    y = check_solution(gram, y, solution)
    gram.check_definite()
    return y


def n_training(solution):
    """Return the number of training points: those with C_i > 0."""
    return np.count_nonzero(solution.C)


def counted(errors, solution):
    """Return the fields `error` and `errors` of an Estimate."""
    return {"error": float(np.count_nonzero(errors) / n_training(solution)), "errors": frozen(errors)}


def spread_over_points(values, support, m):
    """Return values of the support vectors as a read-only array of shape (m,), NaN elsewhere."""
    everywhere = np.full(m, np.nan)
    everywhere[support] = values
    return frozen(everywhere)


def support_sets(solution):
    """Return the row numbers of the in-bound SVs and of the bounded ones."""
    alpha, C = solution.alpha, solution.C
    return np.flatnonzero((alpha > 0) & (alpha < C)), np.flatnonzero((alpha > 0) & (alpha == C))
