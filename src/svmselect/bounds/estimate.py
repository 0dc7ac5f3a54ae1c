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
        CPU time, seconds, with that of Gram columns which were absent.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_csvc, sv_count
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> found = sv_count(gram, y, solution)
    >>> found.errors, round(found.error, 3)
    (array([ True, False,  True,  True,  True,  True, False,  True]), 0.75)
    """

    error: float
    errors: np.ndarray
    cpu_s: float


@dataclass(frozen=True)
class SingleFit:
    """The declaration of an estimate that needs no other fit: all that names or computes it reads this.

    Attributes
    ----------
    compute : callable
        ``compute(gram, y, solution)``, and ``sphere=`` if it `needs_sphere`. It returns an object with
        ``error`` and ``errors`` as `Estimate` has them, or with ``bound`` (float) if it `is_bound`.
    key : str
        What it is in files, and with a trailing underscore as an attribute of estimators.
    name, short : str
        For readers: in a line of a table, and above a column.
    assumption : str
        A sentence on when it is what it says it is.
    is_bound : bool
        Whether it is one number that may exceed 1, and does not say which points it counts.
    needs_sphere : bool
        Whether `smallest_enclosing_sphere` of the training points is a part of it.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_csvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> from svmselect.bounds.span_rule import SPAN_RULE
    >>> SPAN_RULE.name
    'Span rule'
    >>> round(SPAN_RULE.of(gram, y, solution).error, 3)
    0.75
    """

    compute: Callable[..., Any]
    key: str
    name: str
    short: str
    assumption: str
    is_bound: bool = False
    needs_sphere: bool = False

    def of(self, gram: Gram, y: ArrayLike, solution: Solution, sphere: Any = None) -> Any:
        """Return the estimate; a smallest sphere that is given is not computed again."""
        return self.compute(gram, y, solution, **({"sphere": sphere} if self.needs_sphere else {}))


def check_estimate(gram, y, solution):
    """Labels as float64 of shape (m,), or a ValueError for these, for the solution of another problem, or for
    a kernel that is not positive semi-definite."""
    y = check_solution(gram, y, solution)
    gram.check_definite()
    return y


def n_training(solution):
    """Number of training points: those with C_i > 0."""
    return np.count_nonzero(solution.C)


def counted(errors, solution):
    """The fields `error` and `errors` of an Estimate."""
    return {"error": float(np.count_nonzero(errors) / n_training(solution)), "errors": frozen(errors)}


def spread_over_points(values, support, m):
    """Values of the support vectors as a read-only array of shape (m,), NaN elsewhere."""
    everywhere = np.full(m, np.nan)
    everywhere[support] = values
    return frozen(everywhere)


def support_sets(solution):
    """Row numbers of the in-bound SVs and of the bounded ones."""
    alpha, C = solution.alpha, solution.C
    return np.flatnonzero((alpha > 0) & (alpha < C)), np.flatnonzero((alpha > 0) & (alpha == C))
