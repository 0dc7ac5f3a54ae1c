"""Exact leave-one-out predictions of one-vs-one classifiers."""

from __future__ import annotations

import numpy as np

from svmselect.loo import leave_one_out
from svmselect.sklearn.precomputed import Precomputed
from svmselect.sklearn.votes import most_votes

__all__ = ["loo_path"]


def loo_path(gram, problem, Cs, tol, max_iter, starts=None, progress=None):
    """What the classifier trained without a row predicts for it, for every row and every C.

    Leaving out a row of a class changes the problems of the pairs with this class, whose votes are those of
    their own leave-one-out errors; the other pairs vote as they do with all rows. Only signs count, and these
    are exact. Weights stay those of all rows.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows.
    problem : Problem
    Cs : sequence of float
        Increasing: each solution starts the next.
    tol, max_iter
        See `svmselect.leave_one_out`.
    starts : list of ndarray, optional
        Feasible alphas of each pair for the first C; zeros by default.
    progress : callable, optional
        Called as ``progress(done)``, with the share of all work that is done.

    Returns
    -------
    predicted : ndarray of intp, shape (n_Cs, m)
        Numbers of classes.
    n_not_converged : ndarray of intp, shape (n_Cs,)
        Solves that ran out of steps.

    Raises
    ------
    ValueError
        If a precomputed kernel is not positive semi-definite.
    """
    check_kernel(gram)
    gram.compute()
    n_pairs = len(problem.pairs)
    second_wins = np.empty((len(Cs), gram.m, n_pairs), dtype=bool)
    n_not_converged = np.zeros(len(Cs), dtype=np.intp)
    for p, pair in enumerate(problem.pairs):
        part, weight = pair.gram(gram), problem.weight[pair.rows]
        others = np.delete(np.arange(gram.m), pair.rows)
        start, solution = None if starts is None else starts[p], None
        for c, C in enumerate(Cs):
            base = (p * len(Cs) + c) / (n_pairs * len(Cs))
            bound = C * weight
            if solution is not None:
                start = np.minimum(solution.alpha * (C / Cs[c - 1]), bound)
            loo = leave_one_out(
                part,
                pair.y,
                bound,
                tol=tol,
                max_iter=max_iter,
                start=start,
                progress=progress and inner(progress, base, n_pairs * len(Cs)),
            )
            solution = loo.solution
            second_wins[c, pair.rows, p] = (pair.y > 0) != loo.errors
            theta = solution.alpha * pair.y
            support = np.flatnonzero(theta)
            values = gram.product(pair.rows[support], theta[support], others) + solution.b
            second_wins[c, others, p] = values >= 0
            n_not_converged[c] += loo.n_not_converged
            if progress is not None:
                progress(base + 1 / (n_pairs * len(Cs)))
    return most_votes(second_wins, problem.classes.size), n_not_converged


def check_kernel(gram):
    """A ValueError unless the kernel is positive semi-definite."""
    if isinstance(gram.kernel, Precomputed):
        gram.kernel.check_definite()


def inner(progress, base, parts):
    """A callback ``(done, total)`` of one of so many equal parts of the work."""
    return lambda done, total: progress(base + done / total / parts)
