"""Exact leave-one-out decision values of one-vs-one classifiers."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from svmselect.loo import leave_one_out
from svmselect.loo.leave_one_out import EXACT
from svmselect.path import moved_along_C
from svmselect.sklearn.one_vs_one import right_values
from svmselect.svm import solve_csvc

__all__ = ["LeftOutModel", "loo_path", "retrained", "values_at"]

CLEAR = 1e-6  # larger decision values keep their sign, whatever round-off does


class LeftOutModel(NamedTuple):
    """Decision values of the pairs of classes by one model; see `votes`.

    Attributes
    ----------
    values : ndarray, shape (m, n_pairs)
        By the classifier without the row.
    trained : ndarray, shape (m, n_pairs)
        By the one with all rows.
    n_not_converged : int
        Solves that ran out of steps.
    """

    values: np.ndarray
    trained: np.ndarray
    n_not_converged: int


def loo_path(
    gram, problem, Cs, tol, max_iter, starts=None, progress=None, decision_values=False, hopeless=None
):
    """Yield left-out decision values of every row for each pair of classes, one model for each C.

    Leaving out a row of a class changes the problems of the pairs with this class, whose values are those of
    their own leave-one-out; the other pairs have the values of all rows. Weights stay those of all rows.

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
    hopeless : callable, optional
        Asked now and then, as ``hopeless(values)``, whether a model can be given up: no left-out row has more
        votes for its class than by these values of the pairs, shape (m, n_pairs).

    Yields
    ------
    LeftOutModel
        Of each C; None for one that was given up.

    Raises
    ------
    ValueError
        If the kernel is not positive semi-definite.
    """
    gram.compute()
    gram.check_definite()
    n_pairs = len(problem.pairs)
    starts = list(starts) if starts is not None else [None] * n_pairs
    for c, C in enumerate(Cs):
        bounds = [C * problem.weight[pair.rows] for pair in problem.pairs]
        values, trained = problem.empty_values(gram.m), problem.empty_values(gram.m)
        solutions, n_not_converged, given_up = [None] * n_pairs, 0, False
        if hopeless is not None:
            solutions = [
                solve_csvc(
                    pair.gram(gram), pair.y, bound, tol=min(tol, EXACT), max_iter=max_iter, start=start
                )
                for pair, bound, start in zip(problem.pairs, bounds, starts, strict=True)
            ]
            starts = [solution.alpha for solution in solutions]
            most = _most_votes_left(gram, problem, solutions)
        for p, (pair, bound) in enumerate(zip(problem.pairs, bounds, strict=True)):
            base = (c * n_pairs + p) / (n_pairs * len(Cs))
            loo = leave_one_out(
                pair.gram(gram),
                pair.y,
                bound,
                tol=tol,
                max_iter=max_iter,
                start=starts[p],
                progress=progress and _inner(progress, base, n_pairs * len(Cs)),
                decision_values=decision_values,
                give_up=hopeless and partial(_hopeless_without, hopeless, most, pair),
            )
            solutions[p], given_up = loo.solution, loo.given_up
            if given_up:
                break
            rest, column = np.delete(np.arange(gram.m), pair.rows), pair.number
            values[pair.rows, column], trained[pair.rows, column] = loo.decision, loo.solution.decision
            values[rest, column] = trained[rest, column] = values_at(gram, pair, loo.solution, rest)
            n_not_converged += loo.n_not_converged
            if hopeless is not None:
                most = _without(most, pair, loo.errors)
            if progress is not None:
                progress(base + 1 / (n_pairs * len(Cs)))
        yield None if given_up else LeftOutModel(values, trained, n_not_converged)
        if c + 1 < len(Cs):
            starts = [
                moved_along_C(pair.y, solution, Cs[c + 1] * problem.weight[pair.rows]) * pair.y
                for pair, solution in zip(problem.pairs, solutions, strict=True)
            ]


def _most_votes_left(gram, problem, solutions):
    """Values of the pairs, shape (m, n_pairs), by which no row has fewer votes for its class than left out.

    Leaving a row out only lowers its own decision value towards its class. Where a value may have another
    sign by round-off, all pairs are right.
    """
    values = _values_of(gram, problem, solutions)
    doubtful = (np.abs(values) <= CLEAR).any(axis=1)
    values[doubtful] = right_values(problem.codes[doubtful], problem.classes.size)
    return values


def _values_of(gram, problem, solutions):
    """Return the decision values of all pairs at all rows, by the solutions of the pairs that are trained."""
    values = problem.empty_values(gram.m)
    for pair, solution in zip(problem.pairs, solutions, strict=True):
        rest = np.delete(np.arange(gram.m), pair.rows)
        values[pair.rows, pair.number] = solution.decision
        values[rest, pair.number] = values_at(gram, pair, solution, rest)
    return values


def _without(values, pair, errors):
    """Return the values of pairs where this one is known to lose some of its rows."""
    values = values.copy()
    values[pair.rows[errors], pair.number] = -pair.y[errors]
    return values


def _hopeless_without(hopeless, values, pair, errors):
    """Return whether a model can be given up of which a pair is known to lose some of its rows."""
    return hopeless(_without(values, pair, errors))


def retrained(gram, problem, solutions, solve, progress=None, hopeless=None):
    """Return left-out decision values for one model of any kind, by training without each row.

    Parameters
    ----------
    gram : Gram
    problem : Problem
    solutions : list of Solution
        With all rows, of each pair.
    solve : callable
        ``solve(gram, y, weight)``: the Solution of a pair; a row of weight 0 is left out.
    progress, hopeless : callable, optional
        See `loo_path`.

    Returns
    -------
    LeftOutModel
        None for a model that was given up.
    """
    gram.compute()
    trained = _values_of(gram, problem, solutions)
    values = trained.copy()
    for pair in problem.pairs:
        values[pair.rows, pair.number] = pair.y  # a row that was not yet left out may still be right
    n_not_converged = done = 0
    total = sum(pair.rows.size for pair in problem.pairs)
    for pair in problem.pairs:
        part, p = pair.gram(gram), pair.number
        for k, row in enumerate(pair.rows):
            weight = problem.weight[pair.rows]
            weight[k] = 0
            if (pair.y[weight > 0] == pair.y[k]).any():
                without = solve(part, pair.y, weight)
                values[row, p] = without.decision[k]
                n_not_converged += not without.converged
            else:  # nothing but the other class is left
                values[row, p] = -pair.y[k]
            if hopeless is not None and (values[row, p] >= 0) != (pair.y[k] > 0) and hopeless(values):
                return None
            done += 1
            if progress is not None:
                progress(done / total)
    return LeftOutModel(values, trained, n_not_converged)


def values_at(gram, pair, solution, rows):
    """Decision values of a pair at rows that it was not trained on."""
    theta = solution.alpha * pair.y
    support = np.flatnonzero(theta)
    return gram.product(pair.rows[support], theta[support], rows) + solution.b


def _inner(progress, base, parts):
    """A callback ``(done, total)`` of one of so many equal parts of the work."""
    return lambda done, total: progress(base + done / total / parts)
