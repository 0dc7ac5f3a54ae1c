"""Scores of the models of a search, kernel by kernel: in joblib's processes, on threads, or in turn."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from svmselect.sklearn.candidates import by_kernel, value_of
from svmselect.sklearn.kernels import Precomputed, gram_of
from svmselect.sklearn.one_vs_one import checked_weight, class_weights
from svmselect.sklearn.progress import progress_bar
from svmselect.threads import share_out, thread_count

__all__ = ["EvaluationRows", "Evaluator", "evaluate_candidates"]

TIE = 1e-9  # difference of errors that may be round-off
PASSES = 8  # evaluating a model takes at least this many passes over the Gram matrix


class EvaluationRows:
    """Rows, labels and weights on which the models of a search are trained and scored.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (m, d)
    classes : ndarray, shape (k,)
    codes : ndarray of intp, shape (m,)
        The number of each row's class.
    sample_weight : array_like, shape (m,), or None
        Factor of C at each row, in training; 1 by default.
    class_weight : dict, "balanced" or None
        The parameter of the estimator.
    metadata : dict from str to array, shape (m,)
        Arrays for scorers.
    given_X : array_like, DataFrame or CSR matrix, shape (m, d)
    given_y : array_like or Series, shape (m,)
        Rows and labels as the user gave them, for scorers and splitters.

    Attributes
    ----------
    y : ndarray, shape (m,)
        Labels, or targets of a regression, whose rows are of one class.
    weight : ndarray, shape (m,)
        The weights of training.
    error_weight : ndarray, shape (m,)
        The weight of a row in the default score: its weight times that of its class.
    default_score : str
        "accuracy", or "weighted_accuracy" where the weights of the classes differ.
    """

    def __init__(self, X, classes, codes, sample_weight, class_weight, metadata, given_X, given_y):
        self.X, self.classes, self.codes, self.metadata = X, classes, codes, metadata
        self.given_X, self.given_y = given_X, given_y
        self._class_weight = class_weight
        self.y, self.weight = classes[codes], checked_weight(sample_weight, codes.size)
        per_class = class_weights(class_weight, classes, codes)
        self.error_weight = self.weight * per_class[codes]
        self.default_score = "weighted_accuracy" if np.ptp(per_class) else "accuracy"

    def taken(self, rows, pairwise):
        """Return some of the rows as another EvaluationRows; a `pairwise` X is a kernel matrix."""
        X = self.X[np.ix_(rows, rows)] if pairwise else self.X[rows]
        given_X, given_y = self.given(rows)
        part = EvaluationRows(
            X,
            self.classes,
            self.codes[rows],
            self.weight[rows],
            self._class_weight,
            self.metadata_of(rows),
            X if pairwise else given_X,
            given_y,
        )
        part.y = self.y[rows]
        return part

    def given(self, rows):
        """Return some of the rows and labels as the user gave them, and with their index."""
        labels = None if self.given_y is None else _safe_indexing(self.given_y, rows)
        return _safe_indexing(self.given_X, rows), labels

    def metadata_of(self, rows):
        """Return the metadata of some rows."""
        return {name: values[rows] for name, values in self.metadata.items()}


@dataclass
class _ModelScores:
    """The scores of one model, its times, and the reasons where it has no score.

    Attributes
    ----------
    test, train : dict from str to ndarray, shape (n_scores,)
        Scores by their names; `train` is empty unless train scores are requested.
    fit_time, score_time : ndarray, shape (n_splits,)
        Wall-clock seconds.
    n_not_converged : int
        Solves that ran out of steps.
    columns : dict from str to number
        Further columns of `cv_results_`.
    failures : dict from int to Exception
        The error by which the model has no score on a split.
    """

    test: dict[str, np.ndarray]
    train: dict[str, np.ndarray]
    fit_time: np.ndarray
    score_time: np.ndarray
    n_not_converged: int = 0
    columns: dict[str, float] = field(default_factory=dict)
    failures: dict[int, Exception] = field(default_factory=dict)


class Evaluator:
    """Evaluation of models that share a kernel, by folds or by leave-one-out.

    A subclass has `n_splits`, `n_scores` and a generator ``evaluate(gram, class_weight, values, progress)``,
    which yields the _ModelScores of each C or nu of `values`, which increase.

    Parameters
    ----------
    data : EvaluationRows
    template : SVC or NuSVC
        Has the parameters that all models have in common.
    scoring : Scoring or None
        None for the default score.
    error_score : "raise" or float
        Stands for the score of a model that cannot be trained, or scored.
    return_train_score : bool
    stop_early : bool
        Whether a model is given up as soon as its error cannot be the least any more.

    Attributes
    ----------
    exact : bool
        Whether decision values have to be exact; else their signs are.
    tol : float
        KKT gap to which the models are solved.
    least : float
        The least error of all models that are done.
    """

    columns: ClassVar[dict] = {}  # further columns of results, with their values for a model without scores

    def __init__(self, data, template, scoring, error_score, return_train_score, stop_early=False):
        self.stop_early, self.least = stop_early, np.inf
        self.data, self.template, self.scoring = data, template, scoring
        self.error_score, self.return_train_score = error_score, return_train_score
        by_values = data.classes.size > 2 and template.break_ties
        self.exact = by_values or (scoring is not None and scoring.needs_values)
        self.tol = template.tol

    @property
    def names(self):
        """The names of the scores."""
        return ["score"] if self.scoring is None else self.scoring.names

    def evaluate_kernel(self, kernel, parts, candidates, memory_mb, gram=None, progress=None):
        """Return the _ModelScores of the candidates of a kernel.

        Parameters
        ----------
        kernel : Kernel
        parts : list of (class_weight, numbers)
            See `by_kernel`.
        candidates : list of dict
        memory_mb : float
            Budget for a new Gram matrix.
        gram : Gram, optional
            One whose memory may be used.
        progress : callable, optional
            Called with the share of the work that is done.

        Returns
        -------
        dict from int to _ModelScores
            By the numbers of the candidates.
        """
        scores = {}
        for number, (class_weight, numbers) in enumerate(parts):
            values = [float(value_of(candidates[n], self.template)) for n in numbers]
            # increasing, each value once
            values, places = np.unique(values, return_inverse=True)
            report = progress and (lambda share, number=number: progress((number + share) / len(parts)))
            models = []
            try:
                if gram is None or isinstance(kernel, Precomputed):
                    gram = gram_of(self.data.X, kernel, memory_mb)
                elif gram.kernel is not kernel:
                    gram.set_kernel(kernel)
                for model in self.evaluate(gram, class_weight, values.tolist(), report):
                    models.append(model)
            except Exception as error:
                models += [self.failed(error) for _ in range(len(models), values.size)]
            scores |= {n: models[place] for n, place in zip(numbers, places, strict=True)}
        return scores

    def failed(self, error):
        """Return the _ModelScores of a model without a score on any split, or raise its error."""
        self.check_failure(error)
        return self.unscored(self.error_score, dict.fromkeys(range(self.n_splits), error))

    def stopped(self):
        """Return the _ModelScores of a model that is given up: its score is not known, and not the best."""
        return self.unscored(np.nan, {}, stopped=True)

    def unscored(self, score, failures, stopped=False):
        """Return the _ModelScores of a model that has `score` for each of its scores."""
        return _ModelScores(
            test={name: np.full(self.n_scores, score) for name in self.names},
            train={name: np.full(self.n_scores, np.nan) for name in self.names if self.return_train_score},
            fit_time=np.zeros(self.n_splits),
            score_time=np.zeros(self.n_splits),
            columns=({"stopped": stopped} if self.stop_early else {}) | self.columns,
            failures=failures,
        )

    def check_failure(self, error):
        """Raise the error of a model unless a number stands for the score that it lacks."""
        if isinstance(self.error_score, str):
            raise error

    def is_hopeless(self, error):
        """Return whether a model with at least this error can neither be the best nor tie with it."""
        return error > self.least + TIE

    def scored(self, left_out, y, metadata):
        """Return the scores by name of a LeftOut, and the error of a scorer or None.

        `y` and `metadata` are those of its rows.
        """
        try:
            return self.scoring(left_out, y, metadata), None
        except Exception as error:
            self.check_failure(error)
            return dict.fromkeys(self.names, self.error_score), error


def evaluate_candidates(evaluator, candidates, n_jobs, verbose):
    """Return the _ModelScores of each candidate.

    Parameters
    ----------
    evaluator : Evaluator
    candidates : list of dict
    n_jobs : int or None
        Kernels that are worked on at once, by joblib. Of one job, kernels are evaluated on threads, each with
        a Gram matrix of its own, where there are threads, memory and work for them; else in turn.
    verbose : bool
        Whether to show progress on standard error.
    """
    X, memory = evaluator.data.X, evaluator.template.cache_size
    groups = by_kernel(candidates, evaluator.template, X)
    jobs = min(effective_n_jobs(n_jobs), len(groups))
    if jobs > 1:
        evaluate = partial(evaluator.evaluate_kernel, candidates=candidates, memory_mb=memory / jobs)
        parallel = Parallel(n_jobs=n_jobs, verbose=10 if verbose else 0)
        return _in_order(parallel(delayed(evaluate)(*group) for group in groups))
    # 1) Gram matrices: one, or one for each thread
    results, grams = [], [None]
    if not any(isinstance(kernel, Precomputed) for kernel, _ in groups):
        # a kernel that is not for these rows fails alone, where its models are evaluated
        with suppress(ValueError):
            first = gram_of(X, groups[0][0], memory)
            grams = first.copies(min(thread_count(), len(groups)))

    def evaluate_on(gram, group, progress=None):
        results.append(evaluator.evaluate_kernel(*group, candidates, memory, gram, progress))

    # 2) kernels on threads, each on the Gram matrix that is idle, or in turn on the same one
    with progress_bar(len(groups), verbose) as report:
        if len(grams) > 1:
            work = PASSES * len(candidates) * first.m**2
            share_out(grams, evaluate_on, groups, work, lambda done, _: report(done))
        else:
            for done, group in enumerate(groups):
                evaluate_on(grams[0], group, lambda share, done=done: report(done + share))
                report(done + 1)
    return _in_order(results)


def _in_order(results):
    """Return the _ModelScores of all kernels in the order of the candidates."""
    scores = {number: model for result in results for number, model in result.items()}
    return [scores[number] for number in range(len(scores))]
