"""Exact leave-one-out decision values of one-vs-one classifiers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from svmselect.loo import leave_one_out
from svmselect.loo.leave_one_out import EXACT
from svmselect.path import moved_along_C
from svmselect.sklearn.one_vs_one import right_values
from svmselect.svm import InfeasibleNu, solve_csvc, solve_nusvc
from svmselect.unlearning.points import GAP

__all__ = [
    "LEFT_OUT_MODELS",
    "LeftOutModel",
    "left_out_tol",
    "loo_path",
    "pair_decision",
    "retrained",
    "values_of",
]

CLEAR = 1e-6  # larger decision values keep their sign, whatever round-off does


class LeftOutModel(NamedTuple):
    """Values by one model: decision values of the pairs, shape (m, n_pairs), or one for each row."""

    values: np.ndarray  # by the classifier without the row
    trained: np.ndarray  # by the one with all rows
    n_not_converged: int  # solves that ran out of steps
    columns: Mapping = MappingProxyType({})  # further columns of `cv_results_`
    score: float = np.nan  # where rows do not have scores of their own


def left_out_tol(formulation, tol, decision_values):
    """Return the KKT gap to which left-out rows are solved for signs, or for decision values."""
    return min(tol, GAP) if decision_values and formulation == "C" else tol


def loo_path(
    gram, problem, Cs, tol, max_iter, starts=None, progress=None, decision_values=False, hopeless=None
):
    """Yield the LeftOutModel of each C, in increasing order; None for a C that is given up.

    Leaving out a row of a class changes the problems of the pairs with this class: their values are those of
    the pairs' leave-one-out. The other pairs have the values of all rows. Weights stay those of all rows.
    Each solution starts the next, the first one at `starts`, feasible alphas of each pair.

    `progress` is called with the share of all work that is done. `hopeless` is called now and then with
    decision values of the pairs, by which no row has fewer votes for its class than left out, and gives the
    model up by returning True. For other parameters see `svmselect.leave_one_out`.
    """
    pairs = problem.pairs
    starts = [None] * len(pairs) if starts is None else starts
    n_parts = len(pairs) * len(Cs)
    # models share kernel values; a lone one may need few of them
    if n_parts > 1 or hopeless is not None:
        gram.compute()
    gram.check_definite()
    for c, C in enumerate(Cs):
        bounds = [C * problem.weight[pair.rows] for pair in pairs]
        values, trained = problem.empty_values(gram.m), problem.empty_values(gram.m)
        solutions, n_not_converged, given_up = [None] * len(pairs), 0, False
        # the most votes that rows can have left out, by the solutions of all pairs with all rows
        if hopeless is not None:
            solutions = [
                solve_csvc(
                    pair.gram(gram), pair.y, bound, tol=min(tol, EXACT), max_iter=max_iter, start=start
                )
                for pair, bound, start in zip(pairs, bounds, starts, strict=True)
            ]
            starts = [solution.alpha for solution in solutions]
            most = _most_votes_left(gram, problem, solutions)
        # leave-one-out of each pair; its decision values with all rows at the rows of other classes
        for p, (pair, bound) in enumerate(zip(pairs, bounds, strict=True)):
            base = (c * len(pairs) + p) / n_parts
            loo = leave_one_out(
                pair.gram(gram),
                pair.y,
                bound,
                tol=tol,
                max_iter=max_iter,
                start=starts[p],
                progress=progress and (lambda k, n, base=base: progress(base + k / n / n_parts)),
                decision_values=decision_values,
                give_up=hopeless
                and (lambda errors, most=most, pair=pair: hopeless(_without(most, pair, errors))),
            )
            solutions[p], given_up = loo.solution, loo.given_up
            if given_up:
                break
            rest, column = np.delete(np.arange(gram.m), pair.rows), pair.number
            values[pair.rows, column], trained[pair.rows, column] = loo.decision, loo.solution.decision
            values[rest, column] = trained[rest, column] = pair_decision(gram, pair, loo.solution, rest)
            n_not_converged += loo.n_not_converged
            if hopeless is not None:
                most = _without(most, pair, loo.errors)
            if progress is not None:
                progress(base + 1 / n_parts)
        yield None if given_up else LeftOutModel(values, trained, n_not_converged)
        # the solutions moved along the path to the next C
        if c + 1 < len(Cs):
            starts = [
                moved_along_C(pair.y, solution, Cs[c + 1] * problem.weight[pair.rows]) * pair.y
                for pair, solution in zip(pairs, solutions, strict=True)
            ]


def _loo_by_training(gram, problem, nus, tol, max_iter, progress=None, decision_values=True, hopeless=None):
    """Yield the LeftOutModel of each nu, None for one that is given up, or the InfeasibleNu that it raises.

    Training without each row gives signs and decision values at once, whatever `decision_values` is. For
    other parameters see `loo_path`.
    """
    for number, nu in enumerate(nus):
        try:
            solutions = [
                solve_nusvc(
                    pair.gram(gram), pair.y, nu, weight=problem.weight[pair.rows], tol=tol, max_iter=max_iter
                )
                for pair in problem.pairs
            ]
            report = progress and (lambda share, number=number: progress((number + share) / len(nus)))
            yield retrained(gram, problem, nu, solutions, tol, max_iter, report, hopeless)
        except InfeasibleNu as error:
            yield error


LEFT_OUT_MODELS = {"C": loo_path, "nu": _loo_by_training}


def _most_votes_left(gram, problem, solutions):
    """Return values of the pairs, shape (m, n_pairs), by which no row has fewer votes than left out.

    Leaving a row out only lowers its own decision value towards its class. Where a value may have another
    sign by round-off, all pairs are right.
    """
    values = values_of(gram, problem, solutions)
    doubtful = (np.abs(values) <= CLEAR).any(axis=1)
    values[doubtful] = right_values(problem.codes[doubtful], problem.classes.size)
    return values


def values_of(gram, problem, solutions):
    """Return the decision values of all pairs at all rows, by the solutions of the pairs that are trained."""
    values = problem.empty_values(gram.m)
    for pair, solution in zip(problem.pairs, solutions, strict=True):
        rest = np.delete(np.arange(gram.m), pair.rows)
        values[pair.rows, pair.number] = solution.decision
        values[rest, pair.number] = pair_decision(gram, pair, solution, rest)
    return values


def _without(values, pair, errors):
    """Return values of pairs in which this pair misclassifies the rows in `errors`."""
    values = values.copy()
    values[pair.rows[errors], pair.number] = -pair.y[errors]
    return values


def retrained(gram, problem, nu, solutions, tol, max_iter, progress=None, hopeless=None):
    """Return the LeftOutModel of one nu by training without each row; None if it is given up.

    `solutions` are those with all rows, of each pair; for other arguments see `loo_path`. Raise an
    InfeasibleNu if nu is infeasible without a row, or leaves no margin.
    """
    gram.compute()
    trained = values_of(gram, problem, solutions)
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
                without = solve_nusvc(part, pair.y, nu, weight=weight, tol=tol, max_iter=max_iter)
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


def pair_decision(gram, pair, solution, rows):
    """Return decision values of a pair at rows that it was not trained on."""
    theta = solution.alpha * pair.y
    support = np.flatnonzero(theta)
    return gram.product(pair.rows[support], theta[support], rows) + solution.b
