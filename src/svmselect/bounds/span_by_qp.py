"""The squared span of one support vector by its definition: the slow and obvious way, for comparisons."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import svmselect.solver._active_set as _active_set
from svmselect.bounds.sphere import check_points
from svmselect.checks import check_options
from svmselect.gram import Gram
from svmselect.solver._smo import Dual
from svmselect.threads import one_blas_thread

__all__ = ["span_by_qp"]

FAR = 1e6  # bounds of the coefficients, which restrict nothing


@one_blas_thread()
def span_by_qp(
    gram: Gram, p: int, inbound: ArrayLike, tol: float = 1e-6, max_iter: int | None = None
) -> float:
    """Compute the squared span of row p by a quadratic program (Chapelle and Vapnik 1999, eq. 6).

    It is the squared distance of row p, in feature space, from the sums ``sum_i lambda_i x_i`` with
    ``sum(lambda) = 1`` over the in-bound support vectors other than p. `span_rule` has the spans of all rows
    from one factorisation.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows.
    p : int
        Row number of the support vector.
    inbound : array_like of int
        Row numbers of the in-bound support vectors; p may be among them.
    tol : float
        KKT gap at which the solver stops, in the units of the kernel.
    max_iter : int, optional
        The largest number of steps; see `solve_csvc`.
    """
    limit = check_options(tol, "wss2", max_iter, gram.m)
    check_points(gram, np.atleast_1d(p))
    rest = np.setdiff1d(check_points(gram, inbound), p)
    if not rest.size:
        raise ValueError(f"the span of row {p} needs an in-bound support vector other than it, got none")
    part = gram.restricted(np.union1d(rest, p)).compute()
    place = int(np.searchsorted(rest, p))
    dual = Dual(part, np.zeros(part.m))
    start, high = np.full(part.m, 1 / rest.size), np.full(part.m, FAR)
    low = -high
    low[place] = high[place] = start[place] = -1
    dual.confine(low, high, start)
    _active_set.solve(dual, "wss2", tol, limit)
    return 2 * dual.state()[3]
