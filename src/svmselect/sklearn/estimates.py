"""Attributes that are computed when they are first asked for: leave-one-out errors and their estimates."""

from __future__ import annotations

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
from svmselect.sklearn.left_out import left_out_rows
from svmselect.sklearn.problem import Problem, checked_weight, right_values
from svmselect.sklearn.scoring import Scoring
from svmselect.sklearn.single_fit import combined
from svmselect.sklearn.votes import decisions, margins, winners
from svmselect.svm import Solution

__all__ = ["Estimates", "Training", "training_of"]


@dataclass
class Training:
    """The results of `fit` from which estimates are computed.

    Attributes
    ----------
    X : ndarray or CSR matrix, shape (m, d)
    kernel : Kernel
    memory_mb : float
    problem : Problem
    value : float
        C or nu of `fit`.
    solutions : list of Solution
        One for each pair of classes.
    exact : list of Solution or None
        The solutions to round-off, once an estimate has needed them.
    spheres : list of Sphere or None
        The smallest spheres around the rows of each pair, likewise.
    left_out : ndarray, shape (m, n_pairs), or None
        Exact left-out decision values of the pairs, once they are known.
    """

    X: np.ndarray | scipy.sparse.csr_array
    kernel: Kernel
    memory_mb: float
    problem: Problem
    value: float
    solutions: list[Solution]
    exact: list[Solution] | None = None
    spheres: list[Sphere] | None = None
    left_out: np.ndarray | None = None

    @cached_property
    def gram(self):
        """The Gram matrix; that of `fit` is gone, with the memory of its columns."""
        return gram_of(self.X, self.kernel, self.memory_mb)


class Estimates:
    """Attributes that appear when they are asked for; fitting and displaying do not compute them."""

    def __getattr__(self, name):
        if name not in ON_DEMAND:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = ON_DEMAND[name](self, name)
        setattr(self, name, value)
        return value

    def loo_score(self, scoring, sample_weight=None):
        """The score of the left-out rows: each is judged by the classifier trained without it.

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
            For an unknown name, or what the scorer raises.
        """
        scoring = Scoring(scoring)
        training = training_of(self, "loo_score")
        problem = training.problem
        y, codes, blocks = self.classes_[problem.codes], problem.codes, blocks_of(problem.codes)
        counts = checked_weight(sample_weight, y.size)
        metadata = {} if sample_weight is None else {"sample_weight": counts}

        def left_out(values):
            return left_out_rows(self, self.classes_, codes, training.X, values, counts, blocks)

        scoring.rehearse(left_out(right_values(codes, self.classes_.size)), y, metadata)
        if training.left_out is None:
            self.leave_one_out(decision_values=True)
        scores = scoring(left_out(training.left_out), y, metadata)
        return scores if scoring.several else scores["score"]

    def left_out_margins(self):
        """The margin of each row by the classifier without it, positive where it is right, shape (m,): its
        decision value with the sign of its class; with more than two classes the score of its class less the
        largest of the others, see `decision_function` with "ovr"."""
        training, k = training_of(self, "left_out_margins"), len(self.classes_)
        if training.left_out is None:
            self.leave_one_out(decision_values=True)
        values, codes = decisions(training.left_out, k, "ovr"), training.problem.codes
        return margins(values, codes)

    def drop_estimates(self):
        """Drop the estimates of a former fit."""
        for name in ON_DEMAND:
            self.__dict__.pop(name, None)

    def left_out(self, values, exact):
        """Set what leave-one-out has found: decision values of the pairs, shape (m, n_pairs), or their signs
        alone."""
        for name in ("loo_error_", "weighted_loo_error_"):
            self.__dict__.pop(name, None)
        k = len(self.classes_)
        self.loo_predictions_ = self.classes_[winners(values, k, self.break_ties)]
        if exact:
            self._training.left_out = values
            self.loo_decision_ = decisions(values, k, self.decision_function_shape)


def training_of(estimator, name):
    """The Training of a fitted estimator, or an AttributeError."""
    check_is_fitted(estimator)
    training = estimator.__dict__.get("_training")
    if training is None:
        raise AttributeError(
            f"{name} needs the training set, which a copy or a pickle of {type(estimator).__name__} does not "
            "hold: ask for it before, or fit again"
        )
    return training


def _coef(estimator, name):
    check_is_fitted(estimator)
    if not isinstance(estimator._kernel, Linear):
        raise AttributeError(f"{name} is for kernel='linear', got {estimator.kernel!r}")
    weights = estimator._weights()
    return weights if len(estimator.classes_) == 2 else -weights


def _loo_predictions(estimator, name):
    training_of(estimator, name)
    return estimator.leave_one_out()


def _loo_decision(estimator, name):
    training_of(estimator, name)
    estimator.leave_one_out(decision_values=True)
    return estimator.loo_decision_


def _loo_error(estimator, name):
    codes = training_of(estimator, name).problem.codes
    return float(np.mean(estimator.loo_predictions_ != estimator.classes_[codes]))


def _weighted_loo_error(estimator, name):
    problem = training_of(estimator, name).problem
    wrong = estimator.loo_predictions_ != estimator.classes_[problem.codes]
    return float(weighted_share(wrong, problem.weight))


def _from_one_fit(declared):
    """A single-fit estimate that is computed when it is asked for."""

    def compute(estimator, name):
        training = training_of(estimator, name)
        training.gram.check_definite()
        problem, grams = training.problem, [pair.gram(training.gram) for pair in training.problem.pairs]
        if training.exact is None:
            training.exact = [
                estimator.exact_solution(gram, pair, solution)
                for gram, pair, solution in zip(grams, problem.pairs, training.solutions, strict=True)
            ]
        if declared.needs_sphere and training.spheres is None:
            training.spheres = [smallest_enclosing_sphere(gram) for gram in grams]
        return combined(declared, training.gram, problem, training.exact, training.spheres)

    return compute


ON_DEMAND = {
    "coef_": _coef,
    "loo_predictions_": _loo_predictions,
    "loo_decision_": _loo_decision,
    "loo_error_": _loo_error,
    "weighted_loo_error_": _weighted_loo_error,
    **{f"{declared.key}_": _from_one_fit(declared) for declared in SINGLE_FITS},
}
