"""Estimates from one fit, of any number of classes."""

from __future__ import annotations

import numpy as np

from svmselect.sklearn.leave_one_out import values_at
from svmselect.sklearn.votes import most_votes

__all__ = ["combined"]


def combined(declared, gram, problem, solutions, spheres=None):
    """The estimate of a one-vs-one classifier's leave-one-out error, from those of its pairs of classes.

    Where the estimate counts points, each pair says of its own rows whether it would lose them, and of rows
    of other classes what it says with all rows: leaving such a row out does not change it. The votes then
    decide as they do in `predict`. Without the row a class can only lose votes by pairs that are counted: so
    bounds of the pairs make a bound.

    One number for each pair is ``sum_p m_p bound_p / m``, with m_p of the m rows in a pair. A row that the
    votes get wrong is lost by some pair with its class, so that this, too, is a bound where those are.

    Parameters
    ----------
    declared : SingleFit
    gram : Gram
        Kernel matrix of the m rows.
    problem : Problem
    solutions : list of Solution
        One for each pair.
    spheres : list of Sphere, optional
        Likewise, if the estimate needs them.

    Returns
    -------
    float
        Share of the rows with a positive weight.
    """
    pairs, trained = problem.pairs, problem.weight > 0
    spheres = [None] * len(pairs) if spheres is None else spheres
    estimates = [
        declared.of(pair.gram(gram), pair.y, solution, sphere)
        for pair, solution, sphere in zip(pairs, solutions, spheres, strict=True)
    ]
    if declared.is_bound:
        bounds = [pair.rows.size * one.bound for pair, one in zip(pairs, estimates, strict=True)]
        return float(sum(bounds) / trained.sum())
    second_wins = problem.empty_values(gram.m) >= 0
    for pair, solution, one in zip(pairs, solutions, estimates, strict=True):
        rest = np.delete(np.arange(gram.m), pair.rows)
        second_wins[rest, pair.number] = values_at(gram, pair, solution, rest) >= 0
        second_wins[pair.rows, pair.number] = (pair.y > 0) != one.errors
    wrong = most_votes(second_wins, problem.classes.size) != problem.codes
    return float(wrong[trained].mean())
