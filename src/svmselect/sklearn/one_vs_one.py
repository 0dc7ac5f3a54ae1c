"""One-vs-one: a problem for each pair of classes, the votes of their decision values, and leave-one-out.

Pairs are in the order (0, 1), (0, 2), ..., (k - 2, k - 1). `codes` are the numbers of rows' classes, intp of
shape (n,). `values` are decision values of the pairs, shape (n, k (k - 1) / 2), positive for the second class
of a pair.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from svmselect.errors import zero_within
from svmselect.loo import leave_one_out
from svmselect.loo.leave_one_out import EXACT
from svmselect.path import moved_along_C
from svmselect.svm import InfeasibleNu, solve_csvc, solve_nusvc
from svmselect.unlearning.points import GAP

__all__ = [
    "LEFT_OUT_MODELS",
    "LeftOutModel",
    "Problem",
    "checked_weight",
    "class_weights",
    "decisions",
    "encoded",
    "left_out_tol",
    "libsvm_coef",
    "loo_path",
    "margins",
    "most_votes",
    "pair_decision",
    "pairwise_coef",
    "retrained",
    "right_values",
    "two_values",
    "winners",
]

CLEAR = 1e-6  # larger decision values keep their sign, whatever round-off does


@dataclass(frozen=True)
class _Pair:
    """The problem of two classes."""

    number: int  # the place of the pair among all pairs of classes
    first: int  # number of a class
    second: int  # number of the other class, larger than `first`
    rows: np.ndarray  # their rows with a positive weight, increasing
    y: np.ndarray  # -1.0 for `first`, +1.0 for `second`

    def gram(self, gram):
        """Return the Gram matrix of the rows of the pair."""
        return gram if self.rows.size == gram.m else gram.restricted(self.rows)


class Problem:
    """A two-class problem for each pair of classes, of which two at least have rows of a positive weight.

    `weight` are factors of C, 0 for rows that are not trained on. `pairs` are the pairs to train, of classes
    that have other rows. `default` is the decision value of all other pairs, everywhere: -1 or 1 for the
    class that has rows, so that a class without a row to train on is never predicted.
    """

    def __init__(self, classes, codes, weight):
        self.classes, self.codes, self.weight = classes, codes, weight
        trained = weight > 0
        present = np.bincount(codes[trained], minlength=classes.size) > 0
        if np.count_nonzero(present) < 2:
            labels = classes[present].tolist()
            raise ValueError(
                f"two classes need rows of a weight above zero to train on, got those of {labels!r}"
            )
        both = list(combinations(range(classes.size), 2))
        self.n_pairs, self.pairs, self.default = len(both), [], np.zeros(len(both))
        for number, (first, second) in enumerate(both):
            if not (present[first] and present[second]):
                self.default[number] = -1.0 if present[first] else 1.0
                continue
            rows = np.flatnonzero(((codes == first) | (codes == second)) & trained)
            y = np.where(codes[rows] == second, 1.0, -1.0)
            self.pairs.append(_Pair(number, first, second, rows, y))

    def empty_values(self, n):
        """Return decision values of all pairs at n rows, shape (n, n_pairs): 0 for pairs that are trained."""
        return np.tile(self.default, (n, 1))


def right_values(codes, k):
    """Return values of the pairs of k classes that are right everywhere: 1, -1, and 0 for other classes."""
    return np.column_stack([1.0 * (codes == j) - (codes == i) for i, j in combinations(range(k), 2)])


def encoded(y):
    """Return the classes and the number of each row's class; raise a ValueError for a single class."""
    # these, and whole numbers, are classes; the check takes as long as a small fit
    if not (y.dtype.kind in "biuSU" or (y.dtype.kind == "f" and (y == np.floor(y)).all())):
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
    classes, codes = two_values(y) or np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise ValueError(f"y must hold at least two classes, got 1 class: {classes.tolist()[0]!r}")
    return classes, codes


def two_values(y):
    """Return the two values of labels that are numbers, and codes, without sorting; None for other labels."""
    if y.dtype.kind not in "biuf" or y.size == 0:
        return None
    low, high = y.min(), y.max()
    second = y == high
    if low == high or not (second | (y == low)).all():
        return None
    return np.array([low, high], dtype=y.dtype), second.astype(np.intp)


def checked_weight(sample_weight, m):
    """Return weights of the rows as float64 of shape (m,); raise a ValueError for bad ones."""
    if sample_weight is None:
        return np.ones(m)
    weight = np.array(sample_weight, dtype=np.float64)
    if weight.shape != (m,):
        raise ValueError(f"sample_weight must have shape ({m},) to match X, got {weight.shape}")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weight[bad[0]]} at row {bad[0]}"
        )
    return weight


def class_weights(class_weight, classes, codes):
    """Return the factor of each class: 1, that of a dict, or, "balanced", m over k times its rows."""
    if class_weight is None:  # scikit-learn's takes as long as a small fit
        return np.ones(classes.size)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return codes.size / (classes.size * np.bincount(codes, minlength=classes.size))
    from sklearn.utils.class_weight import compute_class_weight

    return compute_class_weight(class_weight, classes=classes, y=classes[codes])


def _votes(second_wins, k):
    """Return the votes of each of k classes, shape (..., k), given which pairs their second class wins."""
    out = np.zeros((*second_wins.shape[:-1], k), dtype=np.intp)
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        out[..., second] += second_wins[..., p]
        out[..., first] += ~second_wins[..., p]
    return out


def most_votes(second_wins, k):
    """Return the class with most votes; of several, the first, as in LIBSVM."""
    return _votes(second_wins, k).argmax(axis=-1)


def winners(values, k, break_ties=False, threshold=0.0):
    """Return the class that `predict` finds for each row.

    A pair votes for its second class from `threshold` on. Signs of `values` are enough unless `break_ties`
    makes the values decide between classes of equally many votes; else the first of these wins.
    """
    if break_ties and k > 2:
        return _scores(values, k).argmax(axis=1)
    return most_votes(values >= threshold, k)


def decisions(values, k, shape):
    """Return decision values in the shape of `decision_function`, "ovr" or "ovo"; (n,) of two classes."""
    if k == 2:
        return values[:, 0]
    return -values if shape == "ovo" else _scores(values, k)


def _scores(values, k):
    """Return the score of each class: its votes, and less than half a vote for its decision values.

    As in scikit-learn's "ovr" it is the votes plus ``s / (3 (|s| + 1))``, with s the sum of the values of the
    class in its pairs.
    """
    total = np.zeros((len(values), k))
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        total[:, second] += values[:, p]
        total[:, first] -= values[:, p]
    return _votes(values >= 0, k) + total / (3 * (np.abs(total) + 1))


def margins(values, codes):
    """Return by how much the class of each row is ahead of the others, or the value of two classes signed."""
    if values.ndim == 1:
        return np.where(codes == 1, values, -values)
    true_class = np.arange(codes.size), codes
    without_true = values.copy()
    without_true[true_class] = -np.inf
    return values[true_class] - without_true.max(axis=1)


def libsvm_coef(coef, codes):
    """Return the coefficients of support vectors in LIBSVM's layout, shape (k - 1, n_SV).

    `coef` are ``y alpha`` of each pair, 0 for support vectors of other classes. In the result, for a support
    vector of class c, row o is the problem of c and the o-th other class, positive for the first class of a
    pair.
    """
    k = (1 + math.isqrt(1 + 8 * len(coef))) // 2
    out = np.zeros((k - 1, codes.size))
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        out[second - 1, codes == first] = -coef[p, codes == first]
        out[first, codes == second] = -coef[p, codes == second]
    return out


def pairwise_coef(coef, codes):
    """Return coefficients of the pairs, shape (k (k - 1) / 2, n_SV), from LIBSVM's layout."""
    k = len(coef) + 1
    out = np.zeros((k * (k - 1) // 2, codes.size))
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        out[p, codes == first] = -coef[second - 1, codes == first]
        out[p, codes == second] = -coef[first, codes == second]
    return out


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
            rest_values = zero_within(pair_decision(gram, pair, loo.solution, rest), GAP)
            values[rest, column] = trained[rest, column] = rest_values
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
