"""Evaluation of models by exact leave-one-out, and by estimates of it from one fit."""

import copy
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmselect.bounds import smallest_enclosing_sphere, span_estimate_svr
from svmselect.bounds.estimate import SingleFit
from svmselect.bounds.opper_winther import OPPER_WINTHER
from svmselect.bounds.radius_margin import RADIUS_MARGIN
from svmselect.bounds.span_rule import SPAN_RULE
from svmselect.bounds.xi_alpha import XI_ALPHA
from svmselect.sklearn.calibration import blocks_of
from svmselect.sklearn.classifier import step_limit
from svmselect.sklearn.estimates import combined
from svmselect.sklearn.evaluate import Evaluator
from svmselect.sklearn.kernels import gram_of
from svmselect.sklearn.machine import LeftOutOneClass
from svmselect.sklearn.one_vs_one import (
    LEFT_OUT_MODELS,
    LeftOutModel,
    Problem,
    class_weights,
    left_out_tol,
    winners,
)
from svmselect.sklearn.scoring import left_out_rows
from svmselect.sklearn.steps import numeric
from svmselect.sklearn.svr import LeftOutRegression

__all__ = [
    "CRITERIA",
    "ClassifierEstimates",
    "ClassifierEvaluator",
    "OneClassEvaluator",
    "RegressionEstimates",
    "RegressionEvaluator",
]

# estimates from one fit that may choose, by the name of the criterion
CRITERIA = {
    "span": SPAN_RULE,
    "opper_winther": OPPER_WINTHER,
    "xi_alpha": XI_ALPHA,
    "radius_margin": RADIUS_MARGIN,
}


class _LooEvaluator(Evaluator):
    """Evaluation of models of all rows; a scorer gets the left-out values of all rows together.

    A subclass has ``models(gram, class_weight, values, progress)``, which yields a LeftOutModel for each
    value, None for one that is given up, or an error; and ``view(values)``, the estimator that scorers see.
    """

    n_splits = n_scores = 1

    def parts(self, candidates):
        """Yield the parts with equal steps, which are fitted on all rows, without labels."""
        if not self.steps:
            yield from super().parts(candidates)
            return
        data = self.data
        for parameters, numbers, models in self.steps.groups(candidates):
            part = copy.copy(self)
            try:
                _, rows = self.steps.fitted_without_y(parameters, data.given_X, data.given_y, data.metadata)
                part.data = data.with_rows(numeric(rows))
            except ValueError as error:
                yield numbers, models, error
                continue
            yield numbers, models, part
            self.least = part.least

    def evaluate(self, gram, class_weight, values, progress):
        """Yield the scores of each C or nu, in increasing order."""
        models = self.models(gram, class_weight, values, progress)
        for _ in values:
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
        """Return the scores of a LeftOutModel."""
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

    def __post_init__(self):
        super().__post_init__()
        if self.scoring is None:
            self.n_scores, self.score_weight = self.data.codes.size, self.data.error_weight
        self.tol = left_out_tol(self.template._formulation, self.template.tol, self.exact)

    def models(self, gram, class_weight, values, progress):
        """Yield the LeftOutModel of each C or nu."""
        template = self.template
        hopeless = self.is_hopeless_by if self.stop_early else None
        options = {"decision_values": self.exact, "hopeless": hopeless}
        limit, leave_out = step_limit(template.max_iter), LEFT_OUT_MODELS[template._formulation]
        problem = self.problem(class_weight)
        return leave_out(gram, problem, values, template.tol, limit, progress=progress, **options)

    def problem(self, class_weight):
        """Return the Problem of all rows with these weights of classes."""
        data = self.data
        per_class = class_weights(class_weight, data.classes, data.codes)
        return Problem(data.classes, data.codes, data.weight * per_class[data.codes])

    def model_scores(self, model):
        """Return the scores of a LeftOutModel, whose error may be the least."""
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


@dataclass
class ClassifierEstimates(ClassifierEvaluator):
    """Evaluation of classifiers by an estimate of the leave-one-out error, or a bound, from one fit."""

    criterion: SingleFit | None = None

    columns: ClassVar[dict] = {}

    def __post_init__(self):
        super().__post_init__()
        self.n_scores, self.tol = 1, self.template.tol
        self.score_weight = None

    def models(self, gram, class_weight, values, progress):
        """Yield a LeftOutModel with the score of each C or nu, 1 - the estimate, or an error."""
        gram.check_definite()
        problem, declared = self.problem(class_weight), self.criterion
        if declared is RADIUS_MARGIN and len(values) > 1:
            raise ValueError(
                f"criterion='radius_margin' chooses a width for one C, got {values[0]:.4g}, {values[1]:.4g}"
            )
        grams = [pair.gram(gram) for pair in problem.pairs]
        spheres = [smallest_enclosing_sphere(one) for one in grams] if declared.needs_sphere else None
        weights = [problem.weight[pair.rows] for pair in problem.pairs]
        paths = [
            self.template.path(one, pair.y, weight, values, exact=True)
            for one, pair, weight in zip(grams, problem.pairs, weights, strict=True)
        ]
        for number, solutions in enumerate(zip(*paths, strict=True)):
            progress((number + 1) / len(values))
            error = next((one for one in solutions if isinstance(one, Exception)), None)
            if error is None and declared is RADIUS_MARGIN:
                error = _soft_margin(solutions)
            if error is not None:
                yield error
                continue
            estimate = combined(declared, gram, problem, solutions, spheres)
            n_not_converged = sum(not solution.converged for solution in solutions)
            yield LeftOutModel(None, None, n_not_converged, {declared.key: estimate}, 1 - estimate)

    def model_scores(self, model):
        """Return the scores of a LeftOutModel."""
        return _LooEvaluator.model_scores(self, model)

    def default_scores(self, model, values):
        """Return 1 - the estimate."""
        return np.array([model.score])


def _soft_margin(solutions):
    """Return an error if some support vector is bounded: the radius-margin bound is for a hard margin."""
    n = sum(int(np.count_nonzero((one.alpha > 0) & (one.alpha == one.C))) for one in solutions)
    if not n:
        return None
    return ValueError(
        f"criterion='radius_margin' is for hard margins, and {n} support vectors are at their bound C: a "
        "larger C may separate the rows"
    )


class OneClassEvaluator(_LooEvaluator):
    """Evaluation of one-class models by leave-one-out: by consistency, or by scores of labels."""

    columns: ClassVar[dict] = {"loo_rejection_rate": np.nan, "consistent": False}

    def models(self, gram, shared, values, progress):
        """Yield the LeftOutModel of each nu.

        Its score is gamma if it is consistent, else minus the standard errors that it rejects too much.
        """
        data, template = self.data, self.template
        if gram.origin is not None and not gram.kernel.stationary:
            gram = gram_of(data.X, gram.kernel, template.cache_size, origin=np.zeros(data.X.shape[1]))
        weight = data.weight
        for number, nu in enumerate(values):
            loo = template.set_of(None, nu).left_out_on(gram, weight)
            rate = loo.rejection_rate
            # rows count by their weights, so that there are sum(w)^2 / sum(w^2) of them
            deviation = np.sqrt(nu * (1 - nu) * (weight @ weight)) / weight.sum()
            consistent = bool(rate <= nu + 2 * deviation)
            score = getattr(gram.kernel, "gamma", 1.0) if consistent else (nu - rate) / deviation
            columns = {"loo_rejection_rate": rate, "consistent": consistent}
            progress((number + 1) / len(values))
            n_not_converged = loo.not_converged.size
            yield LeftOutModel(loo.decision, loo.solution.decision, n_not_converged, columns, score)

    def view(self, values):
        """Return the values as scorers see them."""
        return LeftOutOneClass(self.data.given_X, values)


class RegressionEvaluator(_LooEvaluator):
    """Evaluation of regressions by leave-one-out."""

    def models(self, gram, shared, values, progress):
        """Yield the LeftOutModel of each C or nu, from one value to the next."""
        data = self.data
        for number, (model, solution) in enumerate(self.solutions(gram, shared, values)):
            left_out, n_not_converged = model.left_out_on(gram, data.y, data.weight, solution)
            n_not_converged += not solution.converged
            progress((number + 1) / len(values))
            yield LeftOutModel(left_out, solution.prediction, n_not_converged)

    def solutions(self, gram, shared, values):
        """Yield the model of each C or nu, and its solution, which starts at the one before."""
        data, solution = self.data, None
        for value in values:
            model = self.template.set_of(shared, value)
            solution = model.solution_on(gram, data.y, data.weight, solution)
            yield model, solution

    def view(self, values):
        """Return the values as scorers see them."""
        return LeftOutRegression(self.data.given_X, values)


@dataclass
class RegressionEstimates(RegressionEvaluator):
    """Evaluation of epsilon-SVRs by the mean absolute left-out residual as spans of one fit estimate it."""

    criterion: SingleFit | None = None

    columns: ClassVar[dict] = {SPAN_RULE.key: np.nan}

    def models(self, gram, shared, values, progress):
        """Yield a LeftOutModel with the score of each C, minus the estimate."""
        for number, (model, solution) in enumerate(self.solutions(gram, shared, values)):
            exact = model.exact_solution(gram, self.data.y, solution)
            estimate = span_estimate_svr(gram, self.data.y, exact).mean_absolute_error
            progress((number + 1) / len(values))
            yield LeftOutModel(None, None, int(not exact.converged), {SPAN_RULE.key: estimate}, -estimate)
