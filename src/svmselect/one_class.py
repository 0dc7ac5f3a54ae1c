"""One-class models: a problem in, a Solution out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from svmselect.checks import check_amounts, check_options, check_sums, frozen
from svmselect.gram import Gram
from svmselect.solver.blocks import blocks_by_rows, dual_of
from svmselect.solver.feasible import filled
from svmselect.svm import Solution, solution_of
from svmselect.svr import check_share
from svmselect.threads import one_blas_thread

__all__ = ["check_nu", "solve_one_class"]

TINY = float(np.finfo(np.float64).tiny)


def check_nu(gram, nu, weight):
    """Return nu as a float, and the upper bounds of alpha, shape (m,); raise a ValueError for bad ones."""
    nu = check_share(nu)
    if gram.origin is not None and not gram.kernel.stationary:
        raise ValueError(
            f"gram must measure rows from 0 for one class with {gram.kernel!r}, by origin=np.zeros(d), "
            f"got origin={gram.origin}"
        )
    weight = check_amounts(gram, 1.0 if weight is None else weight, "weight")
    check_sums(gram, weight, "a one-class model")
    return nu, weight


@one_blas_thread()
def solve_one_class(
    gram: Gram,
    nu: float = 0.5,
    weight: ArrayLike | None = None,
    tol: float = 1e-3,
    working_set: str | None = None,
    active_set: bool = True,
    max_iter: int | None = None,
) -> Solution:
    """Train a one-class model: minimise ``1/2 a'K a`` in variables with ``0 <= a_i <= weight_i``.

    They sum to ``nu sum(weight)``. See Schoelkopf et al. (2001), *Estimating the support of a
    high-dimensional distribution*.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows.
    nu : float
        In (0, 1]: an upper bound on the share of training rows that are rejected, a lower bound on the share
        of support vectors.
    weight : array_like, shape (m,), optional
        Upper bounds of alpha; 1 by default, as in LIBSVM. A row of weight 0 is left out of the training set.
    tol : float
        Stop when ``M+ - M- <= tol u`` (LIBSVM's stopping rule). The unit u is the gap at the start, but at
        most ``max_i w_i k(x_i, x_i)``: with a small nu all values may be smaller than an absolute tolerance.
    working_set, active_set, max_iter
        See `solve_csvc`, also for the problems that are solved by blocks.

    Returns
    -------
    Solution
        Its objective is ``1/2 alpha'K alpha``. A row is rejected where ``decision < 0``, and `b` is LIBSVM's
        ``-rho``, but for up to the KKT gap: no row below its upper bound is rejected, so that the weight of
        rejected rows is at most ``nu sum(weight)`` (Schoelkopf et al. 2001, Proposition 3).
        `decision_function` has None for `y`.

    Raises
    ------
    ValueError
        For a bad nu, weight, tol or working set, and for a linear kernel whose rows are measured from another
        point than 0: without that point, the model is another one.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_one_class
    >>> X = np.append(np.arange(8.0), 20.0).reshape(-1, 1)
    >>> solution = solve_one_class(Gram(X, RBF(0.1)), nu=0.2)
    >>> solution.n_sv, solution.alpha.sum().round(6).item()
    (5, 1.8)
    """
    nu, weight = check_nu(gram, nu, weight)
    rule = "wss2" if working_set is None else working_set
    max_iter = check_options(tol, rule, max_iter, gram.m)
    active_set = active_set and gram.kernel.definite
    counts = gram.thread_counts
    blocks = blocks_by_rows(gram) if working_set is None and active_set else None
    dual, solve = dual_of(gram, np.zeros(gram.m), blocks, active_set)
    dual.confine(np.zeros(gram.m), weight, filled(weight, nu * weight.sum()))
    largest = float((weight * dual.gram.diagonal).max())
    start = dual.gap_now()
    unit = min(start, largest) if start > 0 else largest
    converged = solve(dual, rule, max(tol * unit, TINY), max_iter)
    solution = solution_of(dual, dual.gram, 1.0, weight, converged, *counts)
    # the least value of rows below their bounds is 0 at least
    lack = min(float(solution.decision[solution.alpha < weight].min(initial=0)), 0.0)
    return replace(
        solution,
        b=solution.b - lack,
        decision=frozen(solution.decision - lack),
        # the variables do not sum to 0, on which `solution_of` relies
        objective=dual.state()[3],
    )
