"""Spans of in-bound support vectors with the box."""

from __future__ import annotations

import numpy as np

from svmselect import _active_set
from svmselect._smo import Dual

# sums of C, and squared distances of the largest kernel value, are round-off below
ROUND_OFF = 1e-12


def span_exists(y, C, inbound, bounded):
    """Whether ``Lambda_p`` of each in-bound SV is not empty (Sarafis et al. 2018, Lemma 1): bool."""
    sums = {}
    for label in (-1, 1):
        own = C[inbound][y[inbound] == label].sum()
        sums[label] = own + label * (y[bounded] @ C[bounded])
    rest = np.where(y[inbound] > 0, sums[1], sums[-1]) - C[inbound]
    return rest >= -ROUND_OFF * C[np.concatenate([inbound, bounded])].sum()


def squared_boxed_spans(gram, y, solution, inbound, exists, tol, max_iter):
    """``S_p^2`` of the in-bound SVs: minimise ``lambda'K lambda``, ``lambda_p = -1``, ``sum(lambda) = 0``,
    ``0 <= alpha_i + y_i y_p alpha_p lambda_i <= C_i`` (Sarafis et al. 2018, eq. 28-32).

    In the signed variables of _smo this is a dual without linear term, in the boxes ``lo_i <= theta_i +
    theta_p lambda_i <= hi_i``. It starts at the convex combination by which the authors prove their Lemma 1.

    Parameters
    ----------
    gram : Gram
    y : ndarray, shape (m,)
    solution : Solution
    inbound : ndarray of intp, shape (n,)
    exists : ndarray of bool, shape (n,)
        See `span_exists`.
    tol : float
        KKT gap relative to ``S_p^2``.
    max_iter : int
        Most steps for each.

    Returns
    -------
    squared_span : ndarray, shape (n,)
        NaN where there is none. That of a feasible combination, so never below the minimum.
    n_not_converged : int
        Those that ran out of steps.
    """
    squared_span, n_not_converged = np.full(inbound.size, np.nan), 0
    if not exists.any():
        return squared_span, n_not_converged
    part = gram.restricted(inbound).compute()
    dual = Dual(part, np.zeros(part.m))
    y, alpha, C = y[inbound], solution.alpha[inbound], solution.C[inbound]
    theta = y * alpha
    up, down = np.where(y > 0, C - alpha, alpha), np.where(y > 0, alpha, C - alpha)
    least = ROUND_OFF * part.diagonal.max()
    for p in np.flatnonzero(exists):
        lo, hi = (-down, up) if theta[p] > 0 else (-up, down)
        lo, hi = lo / alpha[p], hi / alpha[p]
        hi[p] = 0
        start = np.minimum(hi, hi / hi.sum())
        lo[p] = hi[p] = start[p] = -1
        dual.confine(lo, hi, start)
        value, gap, converged = 2 * dual.state()[3], np.inf, True
        # the minimum is known once it is found
        while converged and value > least and gap > tol * value:
            gap = tol * value / 2
            converged = _active_set.solve(dual, "wss2", gap, max_iter)
            value = 2 * dual.state()[3]
        squared_span[p] = max(value, 0.0)
        n_not_converged += not converged
    return squared_span, n_not_converged
