"""Estimates of the leave-one-out error, and the error itself: attributes computed on their first access."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from svmselect.bounds import SINGLE_FITS, Sphere, smallest_enclosing_sphere
from svmselect.errors import weighted_share
from svmselect.forks import cached_property
from svmselect.kernels import Kernel, Linear
from svmselect.sklearn.calibration import blocks_of
from svmselect.sklearn.kernels import gram_of
from svmselect.sklearn.one_vs_one import (
    Problem,
    checked_weight,
    decisions,
    margins,
    most_votes,
    pair_decision,
    right_values,
    winners,
)
from svmselect.sklearn.scoring import left_out_rows, left_out_score
from svmselect.svm import Solution

__all__ = ["ON_DEMAND", "Estimates", "Training", "combined", "training_of"]


@dataclass
class Training:
    """The results of `fit` from which estimates are computed."""

    X: np.ndarray | scipy.sparse.csr_array
    kernel: Kernel
    memory_mb: float
    problem: Problem
    value: float  # C or nu of `fit`
    solutions: list[Solution]  # one for each pair of classes
    exact: list[Solution] | None = None  # the solutions to round-off, once an estimate has needed them
    spheres: list[Sphere] | None = None  # the smallest spheres around the rows of each pair, likewise
    left_out: np.ndarray | None = None  # exact left-out decision values, shape (m, n_pairs), likewise

    @cached_property
    def gram(self):
        """The Gram matrix; that of `fit` is gone, with the memory of its columns."""
        return gram_of(self.X, self.kernel, self.memory_mb)


class Estimates:
    """Estimates as attributes, computed on their first access; fitting and displaying do not compute them.

    Each needs the training set, which a copy or a pickle does not hold. `loo_score` and `left_out_margins`
    compute `loo_decision_` unless it is known.
    """

    @cached_property
    def coef_(self):
        """Coefficients of the features, of a linear kernel: sums over the support vectors."""
        check_is_fitted(self)
        if not isinstance(self._kernel, Linear):
            raise AttributeError(f"coef_ is for kernel='linear', got {self.kernel!r}")
        weights = self._weights()
        return weights if len(self.classes_) == 2 else -weights

    @cached_property
    def loo_predictions_(self):
        """The class of each row by the classifier without it, shape (m,), by exact leave-one-out."""
        training_of(self, "loo_predictions_")
        return self.leave_one_out()

    @cached_property
    def loo_decision_(self):
        """Decision values of each row by the classifier without it; slower than `loo_predictions_`."""
        training_of(self, "loo_decision_")
        self.leave_one_out(decision_values=True)
        return self.__dict__["loo_decision_"]

    @cached_property
    def loo_error_(self):
        """Share of rows that the classifier without them misclassifies, from `loo_predictions_`."""
        codes = training_of(self, "loo_error_").problem.codes
        return float(np.mean(self.loo_predictions_ != self.classes_[codes]))

    @cached_property
    def weighted_loo_error_(self):
        """Share of the misclassified rows of `loo_predictions_` in the weight of all rows."""
        problem = training_of(self, "weighted_loo_error_").problem
        wrong = self.loo_predictions_ != self.classes_[problem.codes]
        return float(weighted_share(wrong, problem.weight))

    def __dir__(self):
        # scikit-learn's dir and its display evaluate every name: estimates are named once they are computed
        names = [name for name in object.__dir__(self) if name not in ON_DEMAND or name in self.__dict__]
        return [name for name in names if hasattr(self, name)]

    def loo_score(self, scoring, sample_weight=None):
        """Compute a score of the left-out rows, each predicted by the classifier trained without it.

        Parameters
        ----------
        scoring : str, callable, list, tuple, set or dict
            As for `LOOSearchCV`: a scorer is applied once to all left-out labels or decision values.
        sample_weight : array_like, shape (m,), optional
            Weights of the rows in the score.

        Returns
        -------
        float or dict from str to float
            A dict for several scores.

        Raises
        ------
        ValueError
            For an unknown name, or raised by the scorer.
        """
        training = training_of(self, "loo_score")
        codes, blocks = training.problem.codes, blocks_of(training.problem.codes)
        counts = checked_weight(sample_weight, codes.size)

        def view(values):
            return left_out_rows(self, self.classes_, codes, training.X, values, counts, blocks)

        def values():
            if training.left_out is None:
                self.leave_one_out(decision_values=True)
            return training.left_out

        right, y = right_values(codes, self.classes_.size), self.classes_[codes]
        return left_out_score(scoring, view, right, values, y, sample_weight)

    def left_out_margins(self):
        """Compute the margin of each row by the classifier without it, shape (m,), positive if it is right.

        Of two classes it is the decision value with the sign of the row's class. Of more it is the score of
        its class less the largest of the others; see `decision_function` with "ovr".
        """
        training, k = training_of(self, "left_out_margins"), len(self.classes_)
        if training.left_out is None:
            self.leave_one_out(decision_values=True)
        values, codes = decisions(training.left_out, k, "ovr"), training.problem.codes
        return margins(values, codes)

    def left_out(self, values, exact):
        """Set the results of leave-one-out: values of the pairs, shape (m, n_pairs), or their signs."""
        for name in ("loo_error_", "weighted_loo_error_"):
            self.__dict__.pop(name, None)
        k = len(self.classes_)
        self.loo_predictions_ = self.classes_[winners(values, k, self.break_ties)]
        if exact:
            self._training.left_out = values
            self.loo_decision_ = decisions(values, k, self.decision_function_shape)


def training_of(estimator, name):
    """Return the Training of a fitted estimator; raise an AttributeError where there is none."""
    check_is_fitted(estimator)
    training = estimator.__dict__.get("_training")
    if training is None:
        raise AttributeError(
            f"{name} needs the training set, which a copy or a pickle of {type(estimator).__name__} does not "
            "hold: ask for it before, or fit again"
        )
    return training


def combined(declared, gram, problem, solutions, spheres=None):
    """Return the estimate of the leave-one-out error of a one-vs-one classifier from those of its pairs.

    Where the estimate counts points, each pair tells which of its rows it would lose, and has the votes of
    all rows for rows of other classes; the votes then decide as in `predict`. One number for each pair
    becomes ``sum_p m_p bound_p / m``, with m_p of the m rows in a pair. Both are bounds where those of the
    pairs are: without a row a class can only lose votes by pairs that are counted, and a row that the votes
    get wrong is lost by some pair with its class.
    """
    pairs, trained = problem.pairs, problem.weight > 0
    spheres = [None] * len(pairs) if spheres is None else spheres
    estimates = [
        declared.evaluate(pair.gram(gram), pair.y, solution, sphere)
        for pair, solution, sphere in zip(pairs, solutions, spheres, strict=True)
    ]
    if declared.is_bound:
        bounds = [pair.rows.size * one.bound for pair, one in zip(pairs, estimates, strict=True)]
        return float(sum(bounds) / trained.sum())
    second_wins = problem.empty_values(gram.m) >= 0
    for pair, solution, one in zip(pairs, solutions, estimates, strict=True):
        rest = np.delete(np.arange(gram.m), pair.rows)
        second_wins[rest, pair.number] = pair_decision(gram, pair, solution, rest) >= 0
        second_wins[pair.rows, pair.number] = (pair.y > 0) != one.errors
    wrong = most_votes(second_wins, problem.classes.size) != problem.codes
    return float(wrong[trained].mean())


def _estimate_of(declared):
    """Return an estimate from one fit as an attribute that is computed on its first access."""
    name = f"{declared.key}_"

    def estimate(self):
        training = training_of(self, name)
        training.gram.check_definite()
        problem, grams = training.problem, [pair.gram(training.gram) for pair in training.problem.pairs]
        if training.exact is None:
            training.exact = [
                self.exact_solution(gram, pair, solution)
                for gram, pair, solution in zip(grams, problem.pairs, training.solutions, strict=True)
            ]
        if declared.needs_sphere and training.spheres is None:
            training.spheres = [smallest_enclosing_sphere(gram) for gram in grams]
        return combined(declared, training.gram, problem, training.exact, training.spheres)

    estimate.__doc__ = (
        f"""The {declared.name}, from the fit alone; see `svmselect.{declared.compute.__name__}`."""
    )
    attribute = cached_property(estimate)
    attribute.__set_name__(Estimates, name)
    return attribute


for _declared in SINGLE_FITS:
    setattr(Estimates, f"{_declared.key}_", _estimate_of(_declared))


ON_DEMAND = [name for name, value in vars(Estimates).items() if isinstance(value, cached_property)]
