"""Exact leave-one-out predictions of one-vs-one classifiers."""

from __future__ import annotations

import numpy as np

from svmselect.loo import leave_one_out
from svmselect.path import moved_along_C
from svmselect.sklearn.votes import most_votes

__all__ = ["loo_path", "retrained"]


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
    gram.kernel.check_definite()
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
                start = moved_along_C(pair.y, solution, bound) * pair.y
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
            second_wins[c, others, p] = wins(gram, pair, solution, others)
            n_not_converged[c] += loo.n_not_converged
            if progress is not None:
                progress(base + 1 / (n_pairs * len(Cs)))
    return most_votes(second_wins, problem.classes.size), n_not_converged


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
    predicted : ndarray of intp, shape (m,)
    n_not_converged : int
    """
    gram.compute()
    second_wins = np.empty((gram.m, len(problem.pairs)), dtype=bool)
    n_not_converged = done = 0
    total = sum(pair.rows.size for pair in problem.pairs)
    for p, (pair, solution) in enumerate(zip(problem.pairs, solutions, strict=True)):
        part = pair.gram(gram)
        others = np.delete(np.arange(gram.m), pair.rows)
        second_wins[others, p] = wins(gram, pair, solution, others)
        for k, row in enumerate(pair.rows):
            weight = problem.weight[pair.rows]
            weight[k] = 0
            if (pair.y[weight > 0] == pair.y[k]).any():
                without = solve(part, pair.y, weight)
                second_wins[row, p] = without.decision[k] >= 0
                n_not_converged += not without.converged
            else:  # nothing but the other class is left
                second_wins[row, p] = pair.y[k] < 0
            done += 1
            if progress is not None:
                progress(done / total)
    return most_votes(second_wins, problem.classes.size), n_not_converged


def wins(gram, pair, solution, rows):
    """Whether the classifier of a pair gives rows, which it was not trained on, to its second class."""
    theta = solution.alpha * pair.y
    support = np.flatnonzero(theta)
    return gram.product(pair.rows[support], theta[support], rows) + solution.b >= 0


def inner(progress, base, parts):
    """A callback ``(done, total)`` of one of so many equal parts of the work."""
    return lambda done, total: progress(base + done / total / parts)
