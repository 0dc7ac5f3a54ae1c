"""Base of the searches over C and gamma: rounds of halving, the best model, and the columns of results."""

import math
import numbers
import time
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from svmselect.sklearn.calibration import check_calibration
from svmselect.sklearn.candidates import candidates_of, parameters
from svmselect.sklearn.classifier import as_given, training_set, warn_not_converged
from svmselect.sklearn.evaluate import EvaluationRows, evaluate_candidates
from svmselect.sklearn.fitting import all_or_nothing, warn
from svmselect.sklearn.kernels import is_precomputed
from svmselect.sklearn.machine import LeftOutOneClass, OneClassSVM, one_class_rows
from svmselect.sklearn.one_vs_one import right_values
from svmselect.sklearn.scoring import LeftOut, Scoring, routing_enabled
from svmselect.sklearn.svc import SVC, NuSVC
from svmselect.sklearn.svr import LeftOutRegression, Regressor, regression_rows

__all__ = ["Search", "nested_order", "rows_of_rounds"]

# Leave-one-out takes the place of this many splits when the rows of the first round are counted.
SPLITS = 5
LEAST_OF_A_CLASS = 2  # rows that the first round has of each class, and of each class in each split


def _has_probabilities(search):
    """Return whether the models of a search have probabilities."""
    return getattr(search.estimator, "calibration", None) is not None


@dataclass(eq=False, repr=False)
class Search(ClassifierMixin, BaseEstimator):
    """A search over C or nu, the kernel and its parameters, and class weights, on shared Gram matrices.

    A subclass has a method ``_evaluator(data, groups, template, scoring)``, which returns an Evaluator;
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
    n_jobs: int | None = None
    error_score: Any = np.nan
    return_train_score: bool = False
    verbose: bool = False
    random_state: Any = None

    _named_splits = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self._is_regression():
            tags.estimator_type, tags.classifier_tags = "regressor", None
            tags.regressor_tags = self.estimator.__sklearn_tags__().regressor_tags
        elif self._is_one_class():
            tags.estimator_type, tags.classifier_tags = "outlier_detector", None
            tags.target_tags.required = False
        kernel = getattr(self.estimator, "kernel", "rbf")
        tags.input_tags.pairwise = kernel == "precomputed"
        tags.input_tags.sparse = kernel != "precomputed"
        return tags

    def _is_regression(self):
        """Return whether the models are regressions."""
        return isinstance(self.estimator, Regressor)

    def _is_one_class(self):
        """Return whether the models are one-class models."""
        return isinstance(self.estimator, OneClassSVM)

    # passed on by `get_metadata_routing`, and not used by the search itself
    __metadata_request__fit: ClassVar = {"sample_weight": UNUSED, "groups": UNUSED}
    __metadata_request__score: ClassVar = {"sample_weight": UNUSED}

    def get_metadata_routing(self):
        """Return the router of metadata of `fit` and `score`; see scikit-learn's guide."""
        router = MetadataRouter(owner=self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        if self.scoring is None:
            mapping.add(caller="score", callee="score")
        router.add(estimator=self._template(), method_mapping=mapping)
        if self._named_splits:
            splitter = check_cv(self.cv, classifier=not self._is_regression())
            router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if self.scoring is not None:
            mapping = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
            router.add(scorer=Scoring(self.scoring), method_mapping=mapping)
        return router

    def _template(self):
        """Return the estimator whose parameters all models share; raise a ValueError for another kind."""
        template = SVC() if self.estimator is None else self.estimator
        if not isinstance(template, SVC | NuSVC | Regressor | OneClassSVM):
            raise ValueError(
                "estimator must be a svmselect.sklearn.SVC, NuSVC, SVR, NuSVR or OneClassSVM, got a "
                f"{type(template).__name__}; in a Pipeline, the search is the last step"
            )
        return template

    @all_or_nothing
    def fit(self, X, y=None, sample_weight=None, groups=None, **metadata):
        """Score every model of the grid, and train the best one on all rows.

        Parameters
        ----------
        X, y
            See `SVC.fit`. For one class only scorers need `y`, 1 for rows to accept and -1 for outliers.
        sample_weight : array_like, shape (m,), optional
            Weights of the rows in training and in scores, see `SVC.fit`.
        groups : array_like, shape (m,), optional
            For a splitter that needs them.
        **metadata : array_like, shape (m,)
            Other arrays for scorers or the splitter, with scikit-learn's metadata routing. Each of them then
            gets the arrays that it requests, weights and groups included.

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
        template = self._template()
        regression, one_class = self._is_regression(), self._is_one_class()
        if not (regression or one_class):
            check_calibration(template)
        if not (isinstance(self.error_score, numbers.Real) or str(self.error_score) == "raise"):
            raise ValueError(f"error_score must be 'raise' or a number, got {self.error_score!r}")
        if regression:  # rows of one class, which have targets
            rows, z = regression_rows(self, X, y)
            classes, codes = np.zeros(1), np.zeros(z.size, dtype=np.intp)
        elif one_class:
            rows = one_class_rows(self, X)
            classes, codes = np.zeros(1), np.zeros(rows.shape[0], dtype=np.intp)
        else:
            rows, classes, codes = training_set(self, X, y)
        scored = "r2" if regression and self.scoring is None else self.scoring
        scoring = None if scored is None else Scoring(scored)
        given = {"sample_weight": sample_weight, "groups": groups, **metadata}
        given = {name: np.asarray(value) for name, value in given.items() if value is not None}
        routed = self._routed("fit", given)
        if scoring is not None and routing_enabled():
            scoring.route(_handed_on(given, routed.scorer.score))
        weight = routed.estimator.fit.get("sample_weight")
        if weight is not None and (regression or one_class) and not np.any(weight):
            raise ValueError("sample_weight must not be zero at every row")
        groups = routed.splitter.split.get("groups") if self._named_splits else groups
        given_X, given_y = as_given(X, y, rows, template.kernel)
        class_weight = getattr(template, "class_weight", None)
        data = EvaluationRows(rows, classes, codes, weight, class_weight, given, given_X, given_y)
        if regression:
            data.y = z
        # 2) the models, and a rehearsal of the scores
        rng = check_random_state(self.random_state)
        candidates = candidates_of(self.param_grid, template, data, self.n_candidates, rng)
        if scoring is not None:
            if regression:
                right = LeftOutRegression(given_X, z)
            elif one_class:
                right = LeftOutOneClass(given_X, np.where(np.asarray(given_y) == 1, 1.0, -1.0))
            else:
                k = classes.size
                right = LeftOut(template, classes, given_X, right_values(codes, k), lambda: np.eye(k)[codes])
            scoring.rehearse(right, given_y, given)
        choice = _Choice(self.refit, scoring)
        # 3) the search
        self._check_shortcuts(choice.by, template)
        begin = time.perf_counter()
        rounds = self._rounds(data, groups, candidates, choice.by, template, scoring, rng)
        self.search_time_ = time.perf_counter() - begin
        # 4) results, and the best model trained on all rows
        self.n_rows_ = codes.size
        if not (regression or one_class):
            self.classes_ = classes
        self.multimetric_ = scoring is not None and scoring.several
        default = "consistency" if one_class else data.default_score
        self.scoring_ = default if scored is None else scored
        self._scoring = scoring
        self.cv_results_ = _ranked(rounds)
        for name in ("best_index_", "best_params_", "best_score_", "best_estimator_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(choice.applied_to(self.cv_results_))
        if self.refit:
            begin = time.perf_counter()
            self.best_estimator_ = clone(template).set_params(**self.best_params_)
            self.best_estimator_.fit(X, y, sample_weight=weight)
            self.refit_time_ = time.perf_counter() - begin
        return self

    def _rounds(self, data, groups, candidates, by, template, scoring, rng):
        """Return the columns of the models of each round; without `factor` there is one, of all rows."""
        evaluator = self._evaluator(data, groups, template, scoring)
        sizes, rounds = [data.codes.size], []
        if self.factor is not None:
            splits = evaluator.n_splits if self._named_splits else SPLITS
            least = LEAST_OF_A_CLASS * data.classes.size * splits
            sizes = rows_of_rounds(len(candidates), self.factor, data.codes.size, least)
            order = nested_order(data.codes, rng)
        for number, size in enumerate(sizes):
            # 1) rows of this round
            if size < data.codes.size:
                rows = np.sort(order[:size])
                sample = data.taken(rows, is_precomputed(template.kernel))
                sample_groups = None if groups is None else groups[rows]
                evaluator = self._evaluator(sample, sample_groups, template, scoring)
            elif self.factor is not None:
                evaluator = self._evaluator(data, groups, template, scoring)
            # 2) scores of its models
            models = evaluate_candidates(evaluator, candidates, self.n_jobs, self.verbose)
            _warn_failed(models, self.error_score)
            n_not_converged = sum(model.n_not_converged for model in models)
            warn_not_converged(n_not_converged, evaluator.template, evaluator.tol)
            by_row = evaluator.scoring is None and not (self._named_splits or self._is_one_class())
            weight = evaluator.data.error_weight if by_row else None
            columns = _columns_of(models, candidates, self._named_splits, weight)
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

    def _check_shortcuts(self, by, template):
        """Raise a ValueError for a bad `factor` or `stop_early`."""
        if self.factor is not None:
            if not (isinstance(self.factor, numbers.Real) and self.factor > 1):
                raise ValueError(f"factor must be a number above 1, got {self.factor!r}")
            if not isinstance(by, str):
                raise ValueError(f"factor needs a score that chooses, got refit={self.refit!r}")
            cv = getattr(self, "cv", None)
            if not (cv is None or isinstance(cv, numbers.Integral) or hasattr(cv, "split")):
                raise ValueError("factor needs a number or a splitter as cv, got a list of splits")
        if self.stop_early:
            if self.scoring is not None or self._is_regression() or self._is_one_class():
                raise ValueError(f"stop_early is for the default score, got scoring={self.scoring!r}")
            if template.break_ties:
                raise ValueError("stop_early is for votes, got break_ties=True")

    def _options(self):
        """Return the parameters that are those of an Evaluator."""
        return {name: getattr(self, name) for name in ("error_score", "return_train_score", "stop_early")}

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

    @available_if(lambda search: search.scoring is not None or not search._is_one_class())
    def score(self, X, y=None, sample_weight=None, **metadata):
        """Compute the score of the best model at new rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows as for `SVC.fit`. A scorer that takes no weights is a TypeError with them; with metadata
            routing it gets what it requests.
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
        name = self.refit if isinstance(self.refit, str) else self._scoring.names[0]
        if routing_enabled():
            self._scoring.route(_handed_on(given, routed.scorer.score))
        return self._scoring.score_estimator(best, X, y, name, given)

    def predict(self, X):
        """Predict labels, or targets, by the best model; see `SVC.predict`."""
        return self._best().predict(X)

    @available_if(lambda search: not search._is_regression())
    def decision_function(self, X):
        """Compute decision values of the best model; see `SVC.decision_function`."""
        return self._best().decision_function(X)

    @available_if(lambda search: search._is_one_class())
    def score_samples(self, X):
        """Compute decision values plus the offset by the best model; see `OneClassSVM.score_samples`."""
        return self._best().score_samples(X)

    @property
    def offset_(self):
        """The threshold of `score_samples`, of one-class models."""
        return self._best().offset_

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Compute probabilities by the best model; see `SVC.predict_proba`."""
        return self._best().predict_proba(X)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """Return logarithms of `predict_proba`."""
        return self._best().predict_log_proba(X)


def _handed_on(given, routed):
    """Return the metadata that routing passes on, under the caller's names."""
    return {name: value for name, value in given.items() if any(value is one for one in routed.values())}


class _Choice:
    """The choice of the best model; raise a ValueError for a bad `refit`.

    `by` is the score that chooses, or a function of `cv_results_`; None if no model is the best.
    """

    def __init__(self, refit, scoring):
        several = scoring is not None and scoring.several
        on_or_off = isinstance(refit, bool | np.bool_)
        if not (callable(refit) or several or on_or_off):
            raise ValueError(f"refit must be a bool or a callable with one score, got {refit!r}")
        if callable(refit):
            self.by = refit
        elif not several:
            self.by = "score"
        elif on_or_off and not refit:
            self.by = None
        elif isinstance(refit, str) and refit in scoring.names:
            self.by = refit
        else:
            raise ValueError(
                f"refit must name the score that chooses, one of {', '.join(scoring.names)}, or be a "
                f"callable or False, got {refit!r}"
            )

    def applied_to(self, results):
        """Return the best model of `results` and its score as attributes of the search."""
        if self.by is None:
            return {}
        models = results["params"]
        if not callable(self.by):
            index = int(results[f"rank_test_{self.by}"].argmin())
            score = float(results[f"mean_test_{self.by}"][index])
            return {"best_index_": index, "best_params_": models[index], "best_score_": score}
        index = self.by(results)
        if not isinstance(index, numbers.Integral) or not 0 <= index < len(models):
            raise ValueError(
                f"refit must return the number of a model, from 0 to {len(models) - 1}, got {index!r}"
            )
        return {"best_index_": int(index), "best_params_": models[int(index)]}


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
    ordinary = np.array([not (model.failures or model.columns.get("stopped")) for model in models])
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
