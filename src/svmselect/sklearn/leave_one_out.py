"""Exact leave-one-out decision values of one-vs-one classifiers."""

from __future__ import annotations

import numpy as np

from svmselect.loo import leave_one_out
from svmselect.path import moved_along_C

__all__ = ["loo_path", "retrained"]


def loo_path(gram, problem, Cs, tol, max_iter, starts=None, progress=None, decision_values=False):
    """What the classifiers of all pairs, trained without a row, say of it, for every row and every C.

    Leaving out a row of a class changes the problems of the pairs with this class, whose values are those of
    their own leave-one-out; the other pairs say what they do with all rows. Weights stay those of all rows.

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
    decision_values : bool
        Whether the values are exact; else their signs are.

    Returns
    -------
    values : ndarray, shape (n_Cs, m, n_pairs)
        Decision values of the pairs; see `votes`.
    n_not_converged : ndarray of intp, shape (n_Cs,)
        Solves that ran out of steps.

    Raises
    ------
    ValueError
        If a precomputed kernel is not positive semi-definite.
    """
    gram.kernel.check_definite()
    gram.compute()
    n_pairs = len(problem.pairs)
    values = np.empty((len(Cs), gram.m, n_pairs))
    n_not_converged = np.zeros(len(Cs), dtype=np.intp)
    for p, pair in enumerate(problem.pairs):
        part, weight = pair.gram(gram), problem.weight[pair.rows]
        others = np.delete(np.arange(gram.m), pair.rows)
        start, solution = None if starts is None else starts[p], None
        for c, C in enumerate(Cs):
            base = (p * len(Cs) + c) / (n_pairs * len(Cs))
            bound = C * weight
            if solution is not None:
                start = moved_along_C(pair.y, solution, bound) * pair.y
            loo = leave_one_out(
                part,
                pair.y,
                bound,
                tol=tol,
                max_iter=max_iter,
                start=start,
                progress=progress and inner(progress, base, n_pairs * len(Cs)),
                decision_values=decision_values,
            )
            solution = loo.solution
            values[c, pair.rows, p] = loo.decision
            values[c, others, p] = values_at(gram, pair, solution, others)
            n_not_converged[c] += loo.n_not_converged
            if progress is not None:
                progress(base + 1 / (n_pairs * len(Cs)))
    return values, n_not_converged


def retrained(gram, problem, solutions, solve, progress=None):
    """As `loo_path` for one model of any kind, by training without each row.

    Parameters
    ----------
    gram : Gram
    problem : Problem
    solutions : list of Solution
        With all rows, of each pair.
    solve : callable
        ``solve(gram, y, weight)``: the Solution of a pair; a row of weight 0 is left out.
    progress : callable, optional
        See `loo_path`.

    Returns
    -------
    values : ndarray, shape (m, n_pairs)
    n_not_converged : int
    """
    gram.compute()
    values = np.empty((gram.m, len(problem.pairs)))
    n_not_converged = done = 0
    total = sum(pair.rows.size for pair in problem.pairs)
    for p, (pair, solution) in enumerate(zip(problem.pairs, solutions, strict=True)):
        part = pair.gram(gram)
        others = np.delete(np.arange(gram.m), pair.rows)
        values[others, p] = values_at(gram, pair, solution, others)
        for k, row in enumerate(pair.rows):
            weight = problem.weight[pair.rows]
            weight[k] = 0
            if (pair.y[weight > 0] == pair.y[k]).any():
                without = solve(part, pair.y, weight)
                values[row, p] = without.decision[k]
                n_not_converged += not without.converged
            else:  # nothing but the other class is left
                values[row, p] = -pair.y[k]
            done += 1
            if progress is not None:
                progress(done / total)
    return values, n_not_converged


def values_at(gram, pair, solution, rows):
    """Decision values of a pair at rows that it was not trained on."""
    theta = solution.alpha * pair.y
    support = np.flatnonzero(theta)
    return gram.product(pair.rows[support], theta[support], rows) + solution.b


def inner(progress, base, parts):
    """A callback ``(done, total)`` of one of so many equal parts of the work."""
    return lambda done, total: progress(base + done / total / parts)
