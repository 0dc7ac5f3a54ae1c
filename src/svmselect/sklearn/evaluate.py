"""Scores of the models of a search, kernel by kernel: in joblib's processes, on threads, or in turn.

The evaluators of leave-one-out are in `loo_evaluators`, those of folds in `fold_evaluators`.
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from svmselect.sklearn.candidates import by_kernel, value_of
from svmselect.sklearn.kernels import Precomputed, gram_of
from svmselect.sklearn.one_vs_one import class_weights
from svmselect.sklearn.progress import OutOfTime, Watch
from svmselect.threads import share_out, thread_count

__all__ = ["EvaluationRows", "Evaluator", "evaluate_candidates"]

TIE = 1e-9  # difference of errors that may be round-off
PASSES = 8  # evaluating a model takes at least this many passes over the Gram matrix


@dataclass(frozen=True)
class EvaluationRows:
    """Rows, labels and weights on which the models of a search are trained and scored.

    `codes` are the numbers of the rows' classes, `y` labels, or targets of a regression, whose rows are of
    one class. Scorers, splitters and steps of a pipeline get `given_X`, `given_y` and `metadata` as the user
    gave them; X are the numbers that the models get, None before such steps. `weight` counts in training; in
    the default score, `error_weight`, which has the weights of classes as a factor.
    """

    X: np.ndarray | sparse.csr_array | None
    classes: np.ndarray
    codes: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    class_weight: Any
    metadata: dict[str, np.ndarray]
    given_X: Any
    given_y: Any

    @cached_property
    def per_class(self):
        """The weight of each class in the default score."""
        return class_weights(self.class_weight, self.classes, self.codes)

    @property
    def error_weight(self):
        """The weight of each row in the default score."""
        return self.weight * self.per_class[self.codes]

    def taken(self, rows, pairwise=False):
        """Return some of the rows as another EvaluationRows; a `pairwise` X is a kernel matrix."""
        X = None
        if self.X is not None:
            X = self.X[np.ix_(rows, rows)] if pairwise else self.X[rows]
        given_X, given_y = self.given(rows)
        return replace(
            self,
            X=X,
            codes=self.codes[rows],
            y=self.y[rows],
            weight=self.weight[rows],
            metadata=self.metadata_of(rows),
            given_X=X if pairwise else given_X,
            given_y=given_y,
        )

    def with_rows(self, X):
        """Return the same with X, which the models get."""
        return replace(self, X=X)

    def given(self, rows):
        """Return some of the rows and labels as the user gave them, and with their index."""
        labels = None if self.given_y is None else _safe_indexing(self.given_y, rows)
        return _safe_indexing(self.given_X, rows), labels

    def metadata_of(self, rows):
        """Return the metadata of some rows."""
        return {name: values[rows] for name, values in self.metadata.items()}


@dataclass
class _ModelScores:
    """The scores of one model, its times, and the reasons where it has no score."""

    test: dict[str, np.ndarray]  # scores by their names, shape (n_scores,) each
    train: dict[str, np.ndarray]  # the same, empty unless train scores are requested
    fit_time: np.ndarray  # wall-clock seconds, shape (n_splits,)
    score_time: np.ndarray
    n_not_converged: int = 0  # solves that ran out of steps
    columns: dict[str, float] = field(default_factory=dict)  # further columns of `cv_results_`
    # the errors by which the model has no score, by split
    failures: dict[int, Exception] = field(default_factory=dict)
    stopped: bool = False  # whether it was given up, or not begun


@dataclass
class Evaluator:
    """Evaluation of models that share a kernel, by folds or by leave-one-out.

    A subclass has `n_splits`, `n_scores` and a generator ``evaluate(gram, class_weight, values, progress)``,
    which yields the _ModelScores of each C or nu of `values`, which increase. If `steps` precede the models,
    ``parts(candidates)`` yields the evaluators of their rows. Decision values have to be `exact`, or only
    their signs, with models solved to the KKT gap `tol`. With `stop_early` a model is given up as soon as its
    error cannot be the `least` of all models any more.
    """

    data: EvaluationRows
    steps: Any
    scoring: Any
    error_score: Any
    return_train_score: bool = False
    stop_early: bool = False

    columns: ClassVar[dict] = {}  # further columns of results, with their values for a model without scores
    n_parts = 1  # in how many parts of the work a candidate is
    score_weight = None  # what each of a model's scores counts in their mean; by default all the same

    def __post_init__(self):
        self.template, self.least = self.steps.model, np.inf
        by_values = self.data.classes.size > 2 and self.template.break_ties
        self.exact = by_values or (self.scoring is not None and self.scoring.needs_values)
        self.tol = self.template.tol

    @property
    def names(self):
        """The names of the scores."""
        return ["score"] if self.scoring is None else self.scoring.names

    @property
    def rows_of_gamma(self):
        """The rows by which "scale" and "auto" are numbers."""
        return self.data.X

    def parts(self, candidates, early=False):
        """Yield ``(numbers, parameters of the models, evaluator)`` of parts of the work.

        Every candidate is in as many parts as `joined` puts together; with `early` some are soon in all of
        theirs.
        """
        yield range(len(candidates)), [self.steps.split(candidate)[1] for candidate in candidates], self

    def joined(self, scores):
        """Return the _ModelScores of a candidate from the results of its parts."""
        return scores[0]

    def failed_part(self, error):
        """Return the result of a part for a candidate where the steps before the model failed."""
        return self.failed(error)

    def evaluate_kernel(self, gram, group, progress, finished, *, candidates, memory_mb):
        """Call ``finished(number, _ModelScores)`` for each candidate of a kernel, as soon as it is evaluated.

        For the `group` see `by_kernel`. The memory of `gram` is used; without one a Gram matrix has the
        budget `memory_mb`. `progress` is called with the share of the work that is done.
        """
        kernel, parts = group
        for part, (class_weight, numbers) in enumerate(parts):
            values = [float(value_of(candidates[n], self.template)) for n in numbers]
            # increasing, each value once
            values, places = np.unique(values, return_inverse=True)
            report = progress and (lambda share, part=part: progress((part + share) / len(parts)))
            done = 0
            try:
                if gram is None or isinstance(kernel, Precomputed):
                    gram = gram_of(self.data.X, kernel, memory_mb)
                elif gram.kernel is not kernel:
                    gram.set_kernel(kernel)
                for scores in self.evaluate(gram, class_weight, values.tolist(), report):
                    for n, place in zip(numbers, places, strict=True):
                        if place == done:
                            finished(n, scores)
                    done += 1
            except OutOfTime:
                return
            except Exception as error:
                failed = self.failed(error)
                for n, place in zip(numbers, places, strict=True):
                    if place >= done:
                        finished(n, failed)

    def failed(self, error):
        """Return the _ModelScores of a model without a score on any split, or raise its error."""
        self.check_failure(error)
        return self.unscored(self.error_score, dict.fromkeys(range(self.n_splits), error))

    def stopped(self):
        """Return the _ModelScores of a model that is given up: its score is not known, and not the best."""
        return replace(self.unscored(np.nan, {}), stopped=True)

    def unscored(self, score, failures):
        """Return the _ModelScores of a model that has `score` for each of its scores."""
        return _ModelScores(
            test={name: np.full(self.n_scores, score) for name in self.names},
            train={name: np.full(self.n_scores, np.nan) for name in self.names if self.return_train_score},
            fit_time=np.zeros(self.n_splits),
            score_time=np.zeros(self.n_splits),
            columns=dict(self.columns),
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
        """Return the scores of a LeftOut by name, and the error of a scorer or None."""
        try:
            return self.scoring(left_out, y, metadata), None
        except Exception as error:
            self.check_failure(error)
            return dict.fromkeys(self.names, self.error_score), error


def evaluate_candidates(evaluator, candidates, watch, by="score", n_jobs=None, verbose=False):
    """Return the _ModelScores of each candidate; those that the `watch` has no time for are not begun.

    `n_jobs` kernels are worked on at once, by joblib. Of one job, kernels are evaluated on threads, each with
    a Gram matrix of its own, where there are threads, memory and work for them; else in turn. An interrupt
    keeps the models that are done if the watch has a deadline. The watch shows the scores named `by`.
    """
    results = {number: [] for number in range(len(candidates))}
    n_parts = evaluator.n_parts

    def finished(numbers, n, scores):
        number = numbers[n]
        results[number].append(scores)
        if len(results[number]) == n_parts:
            joined = evaluator.joined(results[number])
            results[number] = joined
            test = joined.test.get(by)
            watch.finished(number, candidates[number], np.nan if test is None else np.mean(test))

    try:
        for numbers, models, part in evaluator.parts(candidates, early=watch.deadline is not None):
            watch.check()
            if isinstance(part, Exception):
                failed = evaluator.failed_part(part)
                for n in range(len(models)):
                    finished(numbers, n, failed)
            else:
                _evaluate_part(part, models, partial(finished, numbers), watch, n_parts, n_jobs, verbose)
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        if watch.deadline is None:
            raise
    left = evaluator.stopped()
    return [scores if isinstance(scores, _ModelScores) else left for scores in results.values()]


def _evaluate_part(evaluator, models, finished, watch, n_parts, n_jobs, verbose):
    """Evaluate the models of one part; for the arguments see `evaluate_candidates`."""
    memory = evaluator.template.cache_size
    groups = by_kernel(models, evaluator.template, evaluator.rows_of_gamma)
    jobs = min(effective_n_jobs(n_jobs), len(groups))
    # 1) Gram matrices: one, or one for each thread
    grams = [None]
    if jobs == 1 and not any(isinstance(kernel, Precomputed) for kernel, _ in groups):
        # a kernel that is not for these rows fails alone, where its models are evaluated
        with suppress(ValueError):
            first = gram_of(evaluator.data.X, groups[0][0], memory)
            grams = first.copies(min(thread_count(), len(groups)))
    options = {"candidates": models, "memory_mb": memory / jobs}
    # 2) kernels in jobs
    if jobs > 1:
        parallel = Parallel(n_jobs=n_jobs, verbose=10 if verbose else 0, return_as="generator_unordered")
        job = partial(_kernel_of_a_job, evaluator, deadline=watch.deadline, **options)
        for scores in parallel(delayed(job)(group) for group in groups):
            for n, model in scores:
                finished(n, model)
        return

    # 3) kernels on threads, each on the Gram matrix that is idle, or in turn on the same one
    def evaluate(gram, group):
        size = sum(len(numbers) for _, numbers in group[1]) / n_parts
        reported = 0.0

        def progress(share):
            nonlocal reported
            watch.worked((share - reported) * size)
            reported = share
            watch.check()

        with suppress(OutOfTime):
            watch.check()
            evaluator.evaluate_kernel(gram, group, progress, finished, **options)
            watch.worked((1 - reported) * size)

    if len(grams) > 1:
        share_out(grams, evaluate, groups, PASSES * len(models) * first.m**2)
    else:
        for group in groups:
            evaluate(grams[0], group)


def _kernel_of_a_job(evaluator, group, deadline, **options):
    """Return ``(number, _ModelScores)`` of the candidates of a kernel that there is time for."""
    scores, watch = [], Watch(len(options["candidates"]), deadline=deadline)
    evaluator.evaluate_kernel(
        None, group, lambda share: watch.check(), lambda n, model: scores.append((n, model)), **options
    )
    return scores
