"""Scores of the models of a search, kernel by kernel: in joblib's processes, on threads, or in turn.

The evaluators of leave-one-out are here; that of folds is in `seeded_cv`.
"""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from svmselect.sklearn.calibration import blocks_of
from svmselect.sklearn.candidates import by_kernel, value_of
from svmselect.sklearn.classifier import step_limit
from svmselect.sklearn.kernels import Precomputed, gram_of
from svmselect.sklearn.machine import LeftOutOneClass
from svmselect.sklearn.one_vs_one import (
    LEFT_OUT_MODELS,
    LeftOutModel,
    Problem,
    checked_weight,
    class_weights,
    left_out_tol,
    winners,
)
from svmselect.sklearn.progress import progress_bar
from svmselect.sklearn.scoring import left_out_rows
from svmselect.sklearn.svr import LeftOutRegression
from svmselect.threads import share_out, thread_count

__all__ = [
    "ClassifierEvaluator",
    "EvaluationRows",
    "Evaluator",
    "OneClassEvaluator",
    "RegressionEvaluator",
    "evaluate_candidates",
]

TIE = 1e-9  # difference of errors that may be round-off
PASSES = 8  # evaluating a model takes at least this many passes over the Gram matrix


class EvaluationRows:
    """Rows, labels and weights on which the models of a search are trained and scored.

    `codes` are the numbers of the rows' classes, `y` labels, or targets of a regression, whose rows are of
    one class. Scorers and splitters get `given_X`, `given_y` and `metadata` as the user gave them. `weight`
    counts in training; in the default score, `error_weight`, which has the weights of classes as a factor.
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
        given = self.metadata_of(rows), X if pairwise else given_X, given_y
        labels = self.classes, self.codes[rows], self.weight[rows], self._class_weight
        part = EvaluationRows(X, *labels, *given)
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
    """The scores of one model, its times, and the reasons where it has no score."""

    test: dict[str, np.ndarray]  # scores by their names, shape (n_scores,) each
    train: dict[str, np.ndarray]  # the same, empty unless train scores are requested
    fit_time: np.ndarray  # wall-clock seconds, shape (n_splits,)
    score_time: np.ndarray
    n_not_converged: int = 0  # solves that ran out of steps
    columns: dict[str, float] = field(default_factory=dict)  # further columns of `cv_results_`
    # the errors by which the model has no score, by split
    failures: dict[int, Exception] = field(default_factory=dict)


class Evaluator:
    """Evaluation of models that share a kernel, by folds or by leave-one-out.

    A subclass has `n_splits`, `n_scores` and a generator ``evaluate(gram, class_weight, values, progress)``,
    which yields the _ModelScores of each C or nu of `values`, which increase. The `template` has the
    parameters that all models have in common. Decision values have to be `exact`, or only their signs, with
    models solved to the KKT gap `tol`. With `stop_early` a model is given up as soon as its error cannot be
    the `least` of all models any more.
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

    def evaluate_kernel(self, gram, group, progress=None, *, candidates, memory_mb):
        """Return the _ModelScores of the candidates of a kernel, by their numbers.

        For the `group` see `by_kernel`. The memory of `gram` is used; without one a Gram matrix has the
        budget `memory_mb`. `progress` is called with the share of the work that is done.
        """
        kernel, parts = group
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
        """Return the scores of a LeftOut by name, and the error of a scorer or None."""
        try:
            return self.scoring(left_out, y, metadata), None
        except Exception as error:
            self.check_failure(error)
            return dict.fromkeys(self.names, self.error_score), error


class _LooEvaluator(Evaluator):
    """Evaluation by leave-one-out; a scorer gets the left-out values of all rows together.

    A subclass has `evaluate`, and ``view(values)``, the estimator that scorers see.
    """

    n_splits = n_scores = 1

    def scored_models(self, models, n):
        """Yield the _ModelScores of the next n models: a LeftOutModel each, None if given up, or an error."""
        for _ in range(n):
            begin = time.perf_counter()
            model = next(models)
            seconds = time.perf_counter() - begin
            if model is None:
                scores = self.stopped()
            elif isinstance(model, Exception):
                scores = self.failed(model)
            else:
                scores = self.model_scores(model)
            scores.fit_time[:] = seconds
            yield scores

    def model_scores(self, model):
        """Return the _ModelScores of a LeftOutModel."""
        begin = time.perf_counter()
        scores = self.unscored(np.nan, {})
        scores.columns |= model.columns
        scores.n_not_converged = model.n_not_converged
        scores.test, error = self.scores_of(model, model.values)
        scores.score_time[:] = time.perf_counter() - begin
        if self.return_train_score:
            scores.train, train_error = self.scores_of(model, model.trained)
            error = train_error or error
        if error is not None:
            scores.failures[0] = error
        return scores

    def scores_of(self, model, values):
        """Return the scores by name of a model with these values, and the error of a scorer."""
        if self.scoring is None:
            return {"score": self.default_scores(model, values)}, None
        scores, error = self.scored(self.view(values), self.data.given_y, self.data.metadata)
        return {name: np.array([score]) for name, score in scores.items()}, error

    def default_scores(self, model, values):
        """Return the scores of a model with these values without a scorer."""
        return np.array([model.score])


class ClassifierEvaluator(_LooEvaluator):
    """Evaluation of classifiers by leave-one-out: by default each row has a score."""

    columns: ClassVar[dict] = {"loo_error": np.nan}

    def __init__(self, data, template, scoring, **options):
        super().__init__(data, template, scoring, **options)
        self.n_scores = data.codes.size if self.scoring is None else 1
        self.tol = left_out_tol(template._formulation, template.tol, self.exact)

    def evaluate(self, gram, class_weight, values, progress):
        """Yield the _ModelScores of each C or nu, in increasing order, by leave-one-out."""
        data, template = self.data, self.template
        per_class = class_weights(class_weight, data.classes, data.codes)
        problem = Problem(data.classes, data.codes, data.weight * per_class[data.codes])
        hopeless = self.is_hopeless_by if self.stop_early else None
        options = {"decision_values": self.exact, "hopeless": hopeless}
        limit, leave_out = step_limit(template.max_iter), LEFT_OUT_MODELS[template._formulation]
        models = leave_out(gram, problem, values, template.tol, limit, progress=progress, **options)
        yield from self.scored_models(models, len(values))

    def model_scores(self, model):
        """Return the _ModelScores of a LeftOutModel, whose error may be the least."""
        wrong = ~self.are_right(model.values)
        if self.stop_early:
            self.least = min(self.least, self.error_of(wrong))
        return super().model_scores(model._replace(columns={"loo_error": np.mean(wrong)}))

    def are_right(self, values):
        """Return whether decision values of the pairs classify each row correctly."""
        return winners(values, self.data.classes.size, self.template.break_ties) == self.data.codes

    def error_of(self, wrong):
        """Return the share of the misclassified rows in the weight of all rows."""
        return np.average(wrong, weights=self.data.error_weight)

    def is_hopeless_by(self, values):
        """Return whether the model is hopeless even if every undecided row counts as correct."""
        wrong = winners(values, self.data.classes.size) != self.data.codes
        return self.is_hopeless(self.error_of(wrong))

    def default_scores(self, model, values):
        """Return 1 for each row that is right, else 0."""
        return self.are_right(values).astype(np.float64)

    def view(self, values):
        """Return the LeftOut of all rows."""
        data = self.data
        rows = data.codes, data.given_X, values, data.weight, blocks_of(data.codes)
        return left_out_rows(self.template, data.classes, *rows)


class OneClassEvaluator(_LooEvaluator):
    """Evaluation of one-class models by leave-one-out: by consistency, or by scores of labels."""

    columns: ClassVar[dict] = {"loo_rejection_rate": np.nan, "consistent": False}

    def evaluate(self, gram, shared, values, progress):
        """Yield the _ModelScores of each nu by leave-one-out."""
        if gram.origin is not None and not gram.kernel.stationary:
            origin = np.zeros(self.data.X.shape[1])
            gram = gram_of(self.data.X, gram.kernel, self.template.cache_size, origin=origin)
        yield from self.scored_models(self.models(gram, values, progress), len(values))

    def models(self, gram, values, progress):
        """Yield the LeftOutModel of each nu.

        Its score is gamma if it is consistent, else minus the standard errors that it rejects too much.
        """
        weight = self.data.weight
        for number, nu in enumerate(values):
            loo = self.template.set_of(None, nu).left_out_on(gram, weight)
            rate = loo.rejection_rate
            # rows count by their weights, so that there are sum(w)^2 / sum(w^2) of them
            deviation = np.sqrt(nu * (1 - nu) * (weight @ weight)) / weight.sum()
            consistent = bool(rate <= nu + 2 * deviation)
            score = getattr(gram.kernel, "gamma", 1.0) if consistent else (nu - rate) / deviation
            columns = {"loo_rejection_rate": rate, "consistent": consistent}
            if progress is not None:
                progress((number + 1) / len(values))
            n_not_converged = loo.not_converged.size
            yield LeftOutModel(loo.decision, loo.solution.decision, n_not_converged, columns, score)

    def view(self, values):
        """Return the values as scorers see them."""
        return LeftOutOneClass(self.data.given_X, values)


class RegressionEvaluator(_LooEvaluator):
    """Evaluation of regressions by leave-one-out."""

    def evaluate(self, gram, shared, values, progress):
        """Yield the _ModelScores of each C or nu by leave-one-out."""
        yield from self.scored_models(self.models(gram, shared, values, progress), len(values))

    def models(self, gram, shared, values, progress):
        """Yield the LeftOutModel of each C or nu, from one value to the next."""
        data, solution = self.data, None
        for number, value in enumerate(values):
            model = self.template.set_of(shared, value)
            solution = model.solution_on(gram, data.y, data.weight, solution)
            left_out, n_not_converged = model.left_out_on(gram, data.y, data.weight, solution)
            n_not_converged += not solution.converged
            if progress is not None:
                progress((number + 1) / len(values))
            yield LeftOutModel(left_out, solution.prediction, n_not_converged)

    def view(self, values):
        """Return the values as scorers see them."""
        return LeftOutRegression(self.data.given_X, values)


def evaluate_candidates(evaluator, candidates, n_jobs, verbose):
    """Return the _ModelScores of each candidate; with `verbose`, progress is shown on standard error.

    `n_jobs` kernels are worked on at once, by joblib. Of one job, kernels are evaluated on threads, each with
    a Gram matrix of its own, where there are threads, memory and work for them; else in turn.
    """
    X, memory = evaluator.data.X, evaluator.template.cache_size
    groups = by_kernel(candidates, evaluator.template, X)
    jobs = min(effective_n_jobs(n_jobs), len(groups))
    # 1) Gram matrices: one, or one for each thread
    grams = [None]
    if jobs == 1 and not any(isinstance(kernel, Precomputed) for kernel, _ in groups):
        # a kernel that is not for these rows fails alone, where its models are evaluated
        with suppress(ValueError):
            first = gram_of(X, groups[0][0], memory)
            grams = first.copies(min(thread_count(), len(groups)))
    # 2) kernels in jobs, on threads, each on the Gram matrix that is idle, or in turn on the same one
    evaluate = partial(evaluator.evaluate_kernel, candidates=candidates, memory_mb=memory / jobs)
    if jobs > 1:
        parallel = Parallel(n_jobs=n_jobs, verbose=10 if verbose else 0)
        results = parallel(delayed(evaluate)(None, group) for group in groups)
    else:
        with progress_bar(len(groups), verbose) as report:
            if len(grams) > 1:
                work = PASSES * len(candidates) * first.m**2
                results = share_out(grams, evaluate, groups, work, lambda done, _: report(done))
            else:
                results = []
                for done, group in enumerate(groups):
                    results.append(evaluate(grams[0], group, lambda share, done=done: report(done + share)))
                    report(done + 1)
    scores = {number: model for result in results for number, model in result.items()}
    return [scores[number] for number in range(len(scores))]
