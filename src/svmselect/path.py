"""Fits on the same rows along a path of C and gamma."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from svmselect.checks import as_numbers, check_labels
from svmselect.gram import Gram
from svmselect.kernels import RBF
from svmselect.solver.feasible import balanced
from svmselect.svm import Solution, solve_csvc

__all__ = ["PathPoint", "check_values", "moved_along_C", "solve_path"]

FAR = 1e100  # bounds
WARM_STARTS = ("none", "C", "gamma")


class PathPoint(NamedTuple):
    """One model of a path.

    Attributes
    ----------
    gamma : float or None
        None on a path without gammas.
    C : float
    solution : Solution
    """

    gamma: float | None
    C: float
    solution: Solution


def solve_path(
    gram: Gram,
    y: ArrayLike,
    Cs: ArrayLike,
    gammas: ArrayLike | None = None,
    warm_start: str | None = "C",
    tol: float = 1e-3,
    working_set: str | None = None,
) -> Iterator[PathPoint]:
    """Train a C-SVC for every C, and for every gamma if there are any, on the same Gram matrix.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows. With `gammas` it gets an RBF kernel of each gamma in turn, in the same
        memory, and keeps the last one.
    y : array_like, shape (m,)
        Labels, -1 and +1.
    Cs : array_like, shape (n,)
        Values of C, solved in this order; increasing is the usual one.
    gammas : array_like, optional
        Values of gamma, the outer loop.
    warm_start : {"none", "C", "gamma"}
        The start of each fit: zero; the solution of the previous C, moved towards the next one
        (`moved_along_C`); or the solution of the same C and the previous gamma.
    tol, working_set
        See `solve_csvc`. By default fits of several C share stored columns if the matrix fits its budget.

    Yields
    ------
    PathPoint
        ``(gamma, C, solution)``, as each is solved.

    Raises
    ------
    ValueError
        For an empty path, values that are not positive numbers, another `warm_start`, or "gamma" without
        gammas.

    Notes
    -----
    Up to `tol` the solutions do not depend on the start; their cost does. ``benchmarks/warm_starts.py``
    measures what each start saves.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_path
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> [point.solution.n_sv for point in solve_path(gram, y, [0.1, 1, 10])]
    [8, 6, 4]
    """
    y = check_labels(gram, y)
    Cs = check_values(Cs, "Cs")
    gammas = None if gammas is None else check_values(gammas, "gammas")
    if warm_start not in WARM_STARTS:
        raise ValueError(f"warm_start must be one of {list(WARM_STARTS)}, got {warm_start!r}")
    if warm_start == "gamma" and gammas is None:
        raise ValueError("warm_start='gamma' needs gammas, got None")
    if working_set is None and gram.full and len(Cs) > 1:
        working_set = "wss2"
    return _walk(gram, y, Cs, gammas, warm_start, tol, working_set)


def _walk(gram, y, Cs, gammas, warm_start, tol, working_set):
    """Yield the models of `solve_path`, whose arguments have been checked."""
    at_C = {}
    for gamma in [None] if gammas is None else gammas:
        if gamma is not None:
            gram.set_kernel(RBF(gamma))
        before = None
        for C in Cs:
            start = None
            if warm_start == "C" and before is not None:
                start = moved_along_C(y, before, np.full(gram.m, C)) * y
            elif warm_start == "gamma" and C in at_C:
                start = at_C[C].alpha
            before = at_C[C] = solve_csvc(gram, y, C, tol=tol, working_set=working_set, start=start)
            yield PathPoint(gamma, C, before)


def moved_along_C(y, solution, C):
    """Return feasible signed variables for other bounds ``C``, the solution's moved towards the new optimum.

    Bounded variables grow with their bounds. If most are bounded the in-bound ones grow in proportion, which
    is exact while no point changes its role and the threshold stays. If few are bounded the in-bound ones
    move by one amount that keeps the sum. Without bounded variables the solution is optimal for a larger C.
    For smaller bounds all variables shrink in proportion. Towards bounds above `FAR`, or that many times
    larger, none grows: few alphas would follow, and sums would overflow.
    """
    bound = solution.C
    if C.max() > FAR * min(1.0, bound.max()) and (bound <= C).all():
        return solution.alpha * y
    growth = np.divide(C, bound, out=np.ones(C.size), where=bound > 0)
    bounded = (bound > 0) & (solution.alpha == bound)
    if (growth < 1).any() or 2 * np.count_nonzero(bounded) > solution.n_sv:
        return np.minimum(solution.alpha * growth, C) * y
    if not bounded.any():
        return solution.alpha * y
    theta = np.where(bounded, C, solution.alpha) * y
    inbound = np.flatnonzero((solution.alpha > 0) & ~bounded)
    return balanced(theta, np.where(y > 0, 0, -C), np.where(y > 0, C, 0), inbound)


def check_values(values, name):
    """Return positive finite numbers as a list of floats; raise a ValueError for other values."""
    values = as_numbers(values, name)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} must be a list of at least one number, got shape {values.shape}")
    bad = values[~(np.isfinite(values) & (values > 0))]
    if bad.size:
        raise ValueError(f"{name} must be positive finite numbers, got {bad[0]}")
    return values.tolist()
