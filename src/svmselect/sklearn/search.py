"""Base of the searches over C and gamma: rounds of halving, the best model, and the columns of results."""

import math
import numbers
import time
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted, validate_data

from svmselect.sklearn.candidates import candidates_of, parameters
from svmselect.sklearn.choice import Choice, ends_of_lists, extended
from svmselect.sklearn.classifier import as_given, warn_not_converged
from svmselect.sklearn.evaluate import EvaluationRows, evaluate_candidates
from svmselect.sklearn.fitting import (
    ConstantModelWarning,
    EndOfListWarning,
    all_or_nothing,
    warn,
)
from svmselect.sklearn.kernels import is_precomputed
from svmselect.sklearn.one_vs_one import checked_weight
from svmselect.sklearn.progress import Watch, progress_bar
from svmselect.sklearn.scoring import Scoring, routing_enabled
from svmselect.sklearn.steps import Steps, numeric
from svmselect.sklearn.svc import SVC
from svmselect.sklearn.tasks import task_of

__all__ = ["Search", "nested_order", "rows_of_rounds"]

# Leave-one-out takes the place of this many splits when the rows of the first round are counted.
SPLITS = 5
LEAST_OF_A_CLASS = 2  # rows that the first round has of each class, and of each class in each split
MOST_EXTENSIONS = 8  # values that `extend` adds to a list
MOST_LOOKED_AT = 1_000  # rows that tell whether a model may be constant
HANDED_ON = ("leave_one_out", "left_out_margins", "loo_score")  # methods of the best model


def _has(name):
    """Return a check whether the models of a search have a method; see `available_if`."""

    def check(search):
        getattr(search._model(), name)  # its own error tells why it has none
        return True

    return check


@dataclass(eq=False, repr=False)
class Search(MetaEstimatorMixin, BaseEstimator):
    """A search over C or nu, the kernel and its parameters, and class weights, on shared Gram matrices.

    A subclass has a method ``_evaluator(data, groups, steps, task, scoring)``, which returns an Evaluator;
    `groups` is what the user gave.
    """

    estimator: Any = None
    param_grid: Any = None
    _: KW_ONLY
    scoring: Any = None
    refit: Any = True
    n_candidates: int | None = None
    factor: float | None = None
    stop_early: bool = False
    extend: bool = False
    time_budget: float | None = None
    n_jobs: int | None = None
    error_score: Any = np.nan
    return_train_score: bool = False
    verbose: bool = False
    random_state: Any = None

    _named_splits = True
    _labels_for_steps = True  # whether the steps of a pipeline see them

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._given_estimator())
        tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags.pairwise, tags.input_tags.sparse = inner.input_tags.pairwise, inner.input_tags.sparse
        return tags

    def _given_estimator(self):
        return SVC() if self.estimator is None else self.estimator

    # passed on by `get_metadata_routing`, and not used by the search itself
    __metadata_request__fit: ClassVar = {"sample_weight": UNUSED, "groups": UNUSED}
    __metadata_request__score: ClassVar = {"sample_weight": UNUSED}

    def get_metadata_routing(self):
        """Return the router of metadata of `fit` and `score`; see scikit-learn's guide."""
        router = MetadataRouter(owner=self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        if self.scoring is None:
            mapping.add(caller="score", callee="score")
        router.add(estimator=self._given_estimator(), method_mapping=mapping)
        if self._named_splits:
            splitter = check_cv(self.cv, classifier=task_of(Steps(self._given_estimator()).model).stratified)
            router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if self.scoring is not None:
            mapping = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
            router.add(scorer=Scoring(self.scoring), method_mapping=mapping)
        return router

    @all_or_nothing
    def fit(self, X, y=None, sample_weight=None, groups=None, **metadata):
        """Score every model of the grid, and train the best one on all rows.

        Parameters
        ----------
        X, y
            See `SVC.fit`; of a pipeline, what its first step takes. For one class only scorers need `y`, 1
            for rows to accept and -1 for outliers.
        sample_weight : array_like, shape (m,), optional
            Weights of the rows in training and in scores, see `SVC.fit`.
        groups : array_like, shape (m,), optional
            For a splitter that needs them.
        **metadata : array_like, shape (m,)
            Other arrays for scorers, steps or the splitter, with scikit-learn's metadata routing. Each of
            them then gets the arrays that it requests, weights and groups included.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a bad parameter of the search, the grid or the estimator, as `SVC.fit`, and if no model can be
            trained.
        """
        # 1) parameters, rows and metadata
        steps = Steps(self._given_estimator())
        task = task_of(steps.model)
        task.check(steps.model)
        self._check_options(steps)
        scored = task.scoring if self.scoring is None else self.scoring
        scoring = None if scored is None else Scoring(scored)
        given = {"sample_weight": sample_weight, "groups": groups, **metadata}
        given = {name: np.asarray(value) for name, value in given.items() if value is not None}
        routed = self._routed("fit", given)
        if self.scoring is not None and routing_enabled():
            scoring.route(_handed_on(given, routed.scorer.score))
        data = self._rows(task, steps, X, y, given, routed.estimator.fit)
        groups = routed.splitter.split.get("groups") if self._named_splits else groups
        # 2) the models, and a rehearsal of the scores
        rng = check_random_state(self.random_state)
        candidates = candidates_of(
            self.param_grid, steps, self._rows_of_grid(data, steps), self.n_candidates, rng
        )
        if scoring is not None:
            scoring.rehearse(task.right(data, steps.model), data.given_y, given)
        choice = Choice(self.refit, scoring)
        self._check_shortcuts(choice, scoring, steps)
        # 3) the search
        begin = time.perf_counter()
        evaluator_of = partial(self._evaluator, steps=steps, task=task, scoring=scoring)
        results = self._searched(data, groups, candidates, choice.by, evaluator_of, rng)
        self.search_time_ = time.perf_counter() - begin
        # 4) results, and the best model trained on all rows
        self.n_rows_ = data.codes.size
        self.__dict__.pop("classes_", None)
        if data.classes.size > 1:
            self.classes_ = data.classes
        self.multimetric_ = scoring is not None and scoring.several
        self.scoring_ = self._score_name(task, data) if self.scoring is None else scored
        self._scoring = scoring
        self.cv_results_ = results
        for name in ("best_index_", "best_params_", "best_score_", "best_estimator_"):
            self.__dict__.pop(name, None)
        n_rows = data.codes.size if scoring is None and data.classes.size > 1 else None
        names = {name: name.removeprefix(steps.prefix) for name in results["params"][0]}
        self.__dict__.update(choice.applied_to(results, n_rows, names))
        if self.n_candidates is None:
            self._warn_of_ends(choice.by)
        if self.refit:
            begin = time.perf_counter()
            self.best_estimator_ = steps.trained(
                self.best_params_, X, y, routed.estimator.fit, self._labels_for_steps
            )
            self.refit_time_ = time.perf_counter() - begin
            self._warn_if_constant(data)
        return self

    def _score_name(self, task, data):
        """Return the name of the score by default."""
        return task.default_score(data)

    def _check_options(self, steps):
        """Raise a ValueError for a bad option of the search."""
        if not (isinstance(self.error_score, numbers.Real) or str(self.error_score) == "raise"):
            raise ValueError(f"error_score must be 'raise' or a number, got {self.error_score!r}")
        budget = self.time_budget
        if budget is not None and not (isinstance(budget, numbers.Real) and budget > 0):
            raise ValueError(f"time_budget must be a positive number of seconds or None, got {budget!r}")
        if self.extend and (self.n_candidates is not None or self.factor is not None):
            raise ValueError("extend=True is for whole grids, without n_candidates and factor")
        if steps and is_precomputed(steps.model.kernel):
            raise ValueError("a kernel matrix has no steps before it: kernel='precomputed' is the only step")
        if steps:
            for name, step in steps.estimator.steps:
                if hasattr(step, "fit_resample"):
                    raise ValueError(f"step {name!r} changes the number of rows, which a search cannot do")

    def _rows(self, task, steps, X, y, given, fit_metadata):
        """Return the EvaluationRows of `fit`."""
        if steps:
            validate_data(self, X, skip_check_array=True)
            m = _num_samples(X)
            check_consistent_length(X, y)
            # labels alone are checked: what the steps make of the rows is checked where it is made
            _, classes, codes, labels = task.rows(steps.model.__class__(), np.zeros((m, 1)), y)
            rows, (given_X, given_y) = None, indexable(X, y)
        else:
            rows, classes, codes, labels = task.rows(self, X, y)
            given_X, given_y = as_given(X, y, rows, steps.model.kernel)
        weight = steps.weight_of(fit_metadata)
        if weight is not None and classes.size == 1 and not np.any(weight):
            raise ValueError("sample_weight must not be zero at every row")
        weight = checked_weight(weight, codes.size)
        class_weight = getattr(steps.model, "class_weight", None)
        return EvaluationRows(rows, classes, codes, labels, weight, class_weight, given, given_X, given_y)

    def _rows_of_grid(self, data, steps):
        """Return the rows for the default grid, as the steps transform all of them."""
        if not steps or self.param_grid is not None:
            return data
        y = data.given_y if self._labels_for_steps else None
        return data.with_rows(numeric(steps.fitted({}, data.given_X, y, data.metadata)[1]))

    def _searched(self, data, groups, candidates, by, evaluator_of, rng):
        """Return `cv_results_`."""
        deadline = None if self.time_budget is None else time.time() + self.time_budget
        # one evaluator, so that models of longer lists have the splits of the others
        evaluator = evaluator_of(data, groups)
        rounds = self._rounds(evaluator, groups, candidates, by, evaluator_of, rng, deadline)
        results = _ranked(rounds)
        if not self.extend or not isinstance(by, str):
            return results
        for _ in range(MOST_EXTENSIONS):
            best = int(results[f"rank_test_{by}"].argmin())
            added = extended(results["params"], results["params"][best], ends_of_lists(results, best, by))
            if not added or (deadline is not None and time.time() > deadline):
                break
            rounds += self._rounds(evaluator, groups, added, by, evaluator_of, rng, deadline)
            results = _ranked(rounds)
        return results

    def _rounds(self, evaluator, groups, candidates, by, evaluator_of, rng, deadline):
        """Return the columns of the models of each round; without `factor` there is one, of all rows.

        The `evaluator` is that of all rows.
        """
        data, sizes, rounds = evaluator.data, [evaluator.data.codes.size], []
        if self.factor is not None:
            splits = evaluator.n_splits if self._named_splits else SPLITS
            least = LEAST_OF_A_CLASS * data.classes.size * splits
            sizes = rows_of_rounds(len(candidates), self.factor, data.codes.size, least)
            order = nested_order(data.codes, rng)
        for number, size in enumerate(sizes):
            # 1) rows of this round
            if size < data.codes.size:
                rows = np.sort(order[:size])
                sample = data.taken(rows, is_precomputed(evaluator.template.kernel))
                evaluator = evaluator_of(sample, None if groups is None else groups[rows])
            elif self.factor is not None:
                evaluator = evaluator_of(data, groups)
            # 2) scores of its models
            with progress_bar(len(candidates), self.verbose) as bar:
                watch = Watch(len(candidates), bar, deadline)
                models = evaluate_candidates(
                    evaluator, candidates, watch, "score" if callable(by) else by, self.n_jobs, self.verbose
                )
            if all(model.stopped for model in models) and not rounds:
                raise ValueError(f"no model was evaluated within time_budget={self.time_budget}")
            _warn_failed(models, self.error_score)
            n_not_converged = sum(model.n_not_converged for model in models)
            warn_not_converged(n_not_converged, evaluator.template, evaluator.tol)
            columns = _columns_of(models, candidates, self._named_splits, evaluator.score_weight)
            if self.stop_early or self.time_budget is not None:
                columns["stopped"] = np.array([model.stopped for model in models])
            _check_scores(models, {name: columns[f"mean_test_{name}"] for name in evaluator.names}, by)
            # 3) the best of them go on to the next round
            if self.factor is not None:
                columns["iter"] = np.full(len(candidates), number)
                columns["n_resources"] = np.full(len(candidates), size)
                n_remaining = math.ceil(len(candidates) / self.factor)
                best = np.argsort(_ranks(columns[f"mean_test_{by}"]), kind="stable")[:n_remaining]
                candidates = [candidates[n] for n in np.sort(best)]
            rounds.append(columns)
        return rounds

    def _check_shortcuts(self, choice, scoring, steps):
        """Raise a ValueError for a bad `factor` or `stop_early`."""
        if self.factor is not None:
            if not (isinstance(self.factor, numbers.Real) and self.factor > 1):
                raise ValueError(f"factor must be a number above 1, got {self.factor!r}")
            if not isinstance(choice.by, str):
                raise ValueError(f"factor needs a score that chooses, got refit={self.refit!r}")
            cv = getattr(self, "cv", None)
            if not (cv is None or isinstance(cv, numbers.Integral) or hasattr(cv, "split")):
                raise ValueError("factor needs a number or a splitter as cv, got a list of splits")
        if self.stop_early:
            if scoring is not None or not hasattr(steps.model, "break_ties"):
                raise ValueError(f"stop_early is for the default score, got scoring={self.scoring!r}")
            if steps.model.break_ties:
                raise ValueError("stop_early is for votes, got break_ties=True")
            if steps and self._named_splits:
                raise ValueError("stop_early is for an estimator without steps before it")

    def _warn_of_ends(self, by):
        """Warn if the best model has a number at the end of its list."""
        if not isinstance(by, str) or "best_index_" not in vars(self):
            return
        ends = ends_of_lists(self.cv_results_, self.best_index_, by)
        if ends:
            said = "; ".join(
                f"{name}={value:.6g}, next {' and '.join(f'{v:.6g}' for v in following)}"
                for name, (value, following) in ends.items()
            )
            warn(
                f"the best model is at the end of a list: {said}. extend=True goes on until it is inside",
                EndOfListWarning,
            )

    def _warn_if_constant(self, data):
        """Warn if the best classifier predicts one class for all rows that it was trained on."""
        if data.classes.size < 2:
            return
        few = np.unique(np.linspace(0, data.codes.size - 1, MOST_LOOKED_AT).astype(np.intp))
        for rows in (few, np.arange(data.codes.size)):
            X = data.taken(rows).given_X if not is_precomputed(self._model().kernel) else data.X[rows]
            predicted = np.unique(self.best_estimator_.predict(X))
            if predicted.size > 1:
                return
        warn(
            f"the best model is constant: it predicts {predicted.tolist()[0]!r} for every row",
            ConstantModelWarning,
        )

    def _routed(self, method, given):
        """Return the metadata that `fit` or `score` passes to the estimator, the splitter and the scorers."""
        if routing_enabled():
            return process_routing(self, method, **given)
        unknown = given.keys() - {"sample_weight", "groups"}
        if unknown:
            raise TypeError(
                f"{method}() got {sorted(unknown)[0]!r}, which is handed on with "
                "sklearn.set_config(enable_metadata_routing=True) only"
            )
        requests = {name: {name: given[name]} for name in given}
        weight, groups = requests.get("sample_weight", {}), requests.get("groups", {})
        return Bunch(estimator=Bunch(fit=weight, score=weight), splitter=Bunch(split=groups))

    def _best(self):
        check_is_fitted(self)
        if not self.refit:
            raise AttributeError(f"{type(self).__name__} has no best_estimator_ with refit=False")
        return self.best_estimator_

    def _model(self):
        """Return the best model without its steps, or before `fit` the one whose parameters all share."""
        return Steps(vars(self).get("best_estimator_", self._given_estimator())).model

    def __getattr__(self, name):
        # what a search itself does not have, its best model may: results end in an underscore
        is_result = name.endswith("_") and not name.startswith("_")
        if (is_result or name in HANDED_ON) and "best_estimator_" in vars(self):
            return getattr(self._model(), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @available_if(_has("to_sklearn"))
    def to_sklearn(self):
        """Return scikit-learn's own estimator of the best model, with its steps; see `SVC.to_sklearn`."""
        best, model = self._best(), self._model().to_sklearn()
        return model if best is self._model() else Pipeline([*best.steps[:-1], (best.steps[-1][0], model)])

    @available_if(lambda search: search.scoring is not None or hasattr(search._model(), "score"))
    def score(self, X, y=None, sample_weight=None, **metadata):
        """Compute the score of the best model at new rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows as for `fit`. A scorer that takes no weights is a TypeError with them; with metadata routing
            it gets what it requests.
        **metadata : array_like, shape (n,)
            Other arrays for the scorer, with metadata routing.

        Returns
        -------
        float
            By the scorer that chose the model; without `scoring` its accuracy, of regressions r2.
        """
        best = self._best()
        given = {"sample_weight": sample_weight, **metadata}
        given = {key: np.asarray(value) for key, value in given.items() if value is not None}
        routed = self._routed("score", given)
        if self._scoring is None:
            return best.score(X, y, **routed.estimator.score)
        several = self._scoring.several
        name = self.refit if several and isinstance(self.refit, str) else self._scoring.names[0]
        if routing_enabled() and self.scoring is not None:
            self._scoring.route(_handed_on(given, routed.scorer.score))
        return self._scoring.score_estimator(best, X, y, name, given)

    @available_if(_has("predict"))
    def predict(self, X):
        """Predict labels, or targets, by the best model; see `SVC.predict`."""
        return self._best().predict(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X):
        """Compute decision values of the best model; see `SVC.decision_function`."""
        return self._best().decision_function(X)

    @available_if(_has("score_samples"))
    def score_samples(self, X):
        """Compute decision values plus the offset by the best model; see `OneClassSVM.score_samples`."""
        return self._best().score_samples(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X):
        """Compute probabilities by the best model; see `SVC.predict_proba`."""
        return self._best().predict_proba(X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X):
        """Return logarithms of `predict_proba`."""
        return self._best().predict_log_proba(X)

    @available_if(_has("predict_interval"))
    def predict_interval(self, X, alpha=0.1):
        """Predict intervals of targets by the best model; see `SVR.predict_interval`."""
        best = self._best()
        return self._model().predict_interval(X if best is self._model() else best[:-1].transform(X), alpha)


def _handed_on(given, routed):
    """Return the metadata that routing passes on, under the caller's names."""
    return {name: value for name, value in given.items() if any(value is one for one in routed.values())}


def rows_of_rounds(n_models, factor, m, least):
    """Return the number of rows of each round, from at least `least` to all m.

    The rows grow by `factor` from one round to the next; its inverse is the share of the models that goes on.
    """
    n_possible = math.floor(math.log(n_models, factor) + 1e-9)
    possible = math.floor(math.log(max(m / least, 1), factor) + 1e-9)
    n = min(n_possible, possible)
    return [round(m / factor ** (n - r)) for r in range(n + 1)]


def nested_order(codes, rng):
    """Draw an order of rows whose beginnings have the shares of the classes, and a few rows of each."""
    order = rng.permutation(codes.size)
    place = np.empty(codes.size)
    for code in np.unique(codes):
        rows_of_class = order[codes[order] == code]
        place[rows_of_class] = (np.arange(rows_of_class.size) + 0.5) / rows_of_class.size
        place[rows_of_class[:LEAST_OF_A_CLASS]] = -1
    return order[np.argsort(place[order], kind="stable")]


def _columns_of(models, candidates, named_splits, weight=None):
    """Return the scores and times of some models as columns of `cv_results_`.

    Each split has columns of its own if `named_splits`. `weight` is what each of a model's scores counts in
    their mean; all count the same by default.
    """
    columns = parameters(candidates)
    for name in ("fit_time", "score_time"):
        seconds = np.array([getattr(model, name) for model in models])
        columns |= {f"mean_{name}": seconds.mean(axis=1), f"std_{name}": seconds.std(axis=1)}
    for kind in ("test", "train"):
        for name in getattr(models[0], kind):
            scores = np.array([getattr(model, kind)[name] for model in models])
            if named_splits:
                columns |= {f"split{h}_{kind}_{name}": values for h, values in enumerate(scores.T)}
            mean = np.average(scores, axis=1, weights=weight)
            with np.errstate(invalid="ignore"):  # of infinite scores
                deviation = np.sqrt(np.average((scores - mean[:, None]) ** 2, axis=1, weights=weight))
            columns |= {f"mean_{kind}_{name}": mean, f"std_{kind}_{name}": deviation}
    columns |= {name: np.array([model.columns[name] for model in models]) for name in models[0].columns}
    return columns | {"n_not_converged": np.array([model.n_not_converged for model in models], dtype=np.intp)}


def _ranked(rounds):
    """Return the columns of all rounds as one table, with the ranks of the models by each score.

    Columns that a round lacks are NaN there.
    """
    table = rounds[0] if len(rounds) == 1 else {}
    for name in dict.fromkeys(name for columns in rounds for name in columns if len(rounds) > 1):
        parts = [columns.get(name, np.full(len(columns["params"]), np.nan)) for columns in rounds]
        if name == "params":
            table[name] = [model for part in parts for model in part]
        elif isinstance(parts[0], np.ma.MaskedArray):
            table[name] = np.ma.concatenate(parts)
        else:
            table[name] = np.concatenate(parts)
    for name in [name for name in table if name.startswith("mean_test_")]:
        table[name.replace("mean", "rank", 1)] = _ranks(table[name], table.get("iter"))
    return table


def _warn_failed(models, error_score):
    """Warn of models without a score on some split; raise a ValueError if no model has a score anywhere."""
    failures = [(n, error) for n, model in enumerate(models) for error in model.failures.values()]
    if not failures:
        return
    reason = failures[0][1]
    message = f"{type(reason).__name__}: {reason}"
    if len(failures) == sum(model.fit_time.size for model in models):
        raise ValueError(f"no model could be trained and scored: {message}") from reason
    warn(
        f"{len({n for n, _ in failures})} of {len(models)} models could not be trained and scored on some "
        f"split, where their score is {error_score}; the first because of {message}",
        FitFailedWarning,
    )


def _check_scores(models, mean, by):
    """Raise a ValueError if no model has a score that chooses, and warn of models without some score.

    `mean` has the mean scores by name. Models that were given up, or could not be trained, have none, and are
    not warned of here.
    """
    ordinary = np.array([not (model.failures or model.stopped) for model in models])
    if not ordinary.any():
        return
    for name, scores in mean.items():
        if np.isnan(scores).all() and (name == by or all(np.isnan(one).all() for one in mean.values())):
            raise ValueError(
                f"{name} is NaN for every model, so that none is the best: a score may need several rows, or "
                "several classes, in each fold"
            )
        n = np.count_nonzero(~np.isfinite(scores) & ordinary)
        if n:
            warn(f"{name} of {n} of {len(models)} models is not finite; NaN ranks last")


def _ranks(mean, rounds=None):
    """Return ranks of mean scores from 1, of later rounds before those of earlier ones; NaN ranks last."""
    rounds = np.zeros(mean.size) if rounds is None else rounds
    # means that differ by round-off alone are one rank
    worst_last = np.where(np.isnan(mean), np.inf, -np.round(mean, 12))
    ranks = np.empty(mean.size, dtype=np.int32)
    for number in np.unique(rounds):
        in_round = rounds == number
        ranks[in_round] = rankdata(worst_last[in_round], method="min") + np.count_nonzero(rounds > number)
    return ranks
