"""What the searches over C and gamma share."""

from __future__ import annotations

import math
import numbers
import sys
import time
import warnings
from contextlib import suppress
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted
from tqdm import tqdm

from svmselect.cv.kfold import share_out
from svmselect.sklearn.base import training_set, warn_not_converged
from svmselect.sklearn.calibration import check_calibration
from svmselect.sklearn.candidates import by_kernel, candidates_of, default_grid, parameters
from svmselect.sklearn.halving import LEAST_OF_A_CLASS, merged, nested_order, rows_of_rounds
from svmselect.sklearn.judged import Found, JudgedRows
from svmselect.sklearn.kernels import gram_of
from svmselect.sklearn.left_out import LeftOut
from svmselect.sklearn.nu_svc import NuSVC
from svmselect.sklearn.precomputed import Precomputed
from svmselect.sklearn.problem import right_values
from svmselect.sklearn.routing import routing_enabled
from svmselect.sklearn.scoring import Scoring
from svmselect.sklearn.svc import SVC
from svmselect.threads import thread_count

__all__ = ["Search", "default_grid", "progress_bar"]

PASSES = 8  # judging a model takes at least this many passes over the Gram matrix
# Leave-one-out takes the place of this many splits when the rows of the first round are counted.
SPLITS = 5


def has_probabilities(search):
    """Whether the models of a search have probabilities."""
    return getattr(search.estimator, "calibration", None) is not None


class Search(ClassifierMixin, BaseEstimator):
    """A search over C or nu, the kernel and its parameters, and class weights, on shared Gram matrices.

    A subclass has a method ``_judge(data, groups, **options)``, which returns a Judge; `groups` is what the
    user gave, `options` are those of Judge.
    """

    _named_splits = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kernel = getattr(self.estimator, "kernel", "rbf")
        tags.input_tags.pairwise = kernel == "precomputed"
        tags.input_tags.sparse = kernel != "precomputed"
        return tags

    # handed on by `get_metadata_routing`, and not asked for by the search itself
    __metadata_request__fit: ClassVar = {"sample_weight": UNUSED, "groups": UNUSED}
    __metadata_request__score: ClassVar = {"sample_weight": UNUSED}

    def get_metadata_routing(self):
        """Who is handed what is given to `fit` and `score`; see scikit-learn's guide to metadata routing.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        if self.scoring is None:
            mapping.add(caller="score", callee="score")
        router.add(estimator=self._template(), method_mapping=mapping)
        if self._named_splits:
            splitter = check_cv(self.cv, classifier=True)
            router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        if self.scoring is not None:
            mapping = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
            router.add(scorer=Scoring(self.scoring), method_mapping=mapping)
        return router

    def _template(self):
        """What all models have in common, or a ValueError."""
        template = SVC() if self.estimator is None else self.estimator
        if not isinstance(template, SVC | NuSVC):
            raise ValueError(
                f"estimator must be a svmselect.sklearn.SVC or NuSVC, got a {type(template).__name__}; in a "
                "Pipeline, the search is the last step"
            )
        return template

    def fit(self, X, y, sample_weight=None, groups=None, **metadata):
        """Score every model of the grid, and train the best one on all rows.

        Parameters
        ----------
        X, y
            See `SVC.fit`.
        sample_weight : array_like, shape (m,), optional
            Weights of the rows in training and in scores, see `SVC.fit`.
        groups : array_like, shape (m,), optional
            For a splitter that asks for them.
        **metadata : array_like, shape (m,)
            What else scorers or the splitter ask for, with scikit-learn's metadata routing. Who gets what,
            weights and groups included, is then what they request.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a bad parameter of the search, the grid or the estimator, as `SVC.fit`, and if no model can be
            trained.
        """
        template = self._template()
        check_calibration(template)
        self._check_parameters()
        rows, classes, codes = training_set(self, X, y)
        scoring = None if self.scoring is None else Scoring(self.scoring)
        given = {"sample_weight": sample_weight, "groups": groups, **metadata}
        given = {name: np.asarray(value) for name, value in given.items() if value is not None}
        routed = self._routed("fit", given)
        if scoring is not None and routing_enabled():
            scoring.route(handed_on(given, routed.scorer.score))
        weight = routed.estimator.fit.get("sample_weight")
        groups = routed.splitter.split.get("groups") if self._named_splits else groups
        data = JudgedRows(rows, classes, codes, weight, template.class_weight, given)
        rng = check_random_state(self.random_state)
        candidates = candidates_of(self.param_grid, template, data, self.n_candidates, rng)
        if scoring is not None:
            k = classes.size
            right = LeftOut(template, classes, rows, right_values(codes, k), lambda: np.eye(k)[codes])
            scoring.rehearse(right, data.y, given)
        by = self._refit_by(scoring)
        options = {
            "template": template,
            "scoring": scoring,
            "error_score": self.error_score,
            "return_train_score": self.return_train_score,
            "stop_early": self.stop_early,
        }
        self._check_shortcuts(by, template)
        begin = time.perf_counter()
        rounds = self._rounds(data, groups, candidates, by, options, rng)
        self.search_time_ = time.perf_counter() - begin

        self.classes_, self.n_rows_ = classes, codes.size
        self.multimetric_ = scoring is not None and scoring.several
        self.scoring_ = data.default_score if scoring is None else self.scoring
        self._scoring = scoring
        self.cv_results_ = merged(rounds)
        for name in [name for name in self.cv_results_ if name.startswith("mean_test_")]:
            score = name.removeprefix("mean_test_")
            self.cv_results_[f"rank_test_{score}"] = ranks(
                self.cv_results_[name], self.cv_results_.get("iter")
            )
        self._choose(by, self.cv_results_["params"])
        self.__dict__.pop("best_estimator_", None)
        if self.refit:
            begin = time.perf_counter()
            self.best_estimator_ = clone(template).set_params(**self.best_params_)
            self.best_estimator_.fit(X, y, sample_weight=weight)
            self.refit_time_ = time.perf_counter() - begin
        return self

    def _rounds(self, data, groups, candidates, by, options, rng):
        """The columns of the models, of each round; without `factor` there is one, of all rows."""
        judge = self._judge(data, groups, **options)
        if self.factor is None:
            return [self._columns(judge, candidates)]
        splits = judge.n_splits if self._named_splits else SPLITS
        least = LEAST_OF_A_CLASS * data.classes.size * splits
        sizes = rows_of_rounds(len(candidates), self.factor, data.codes.size, least)
        order, rounds = nested_order(data.codes, rng), []
        pairwise = isinstance(judge.template.kernel, str) and judge.template.kernel == "precomputed"
        for number, size in enumerate(sizes):
            if size < data.codes.size:
                rows = np.sort(order[:size])
                own = data.taken(rows, pairwise)
                judge = self._judge(own, None if groups is None else groups[rows], **options)
            else:
                judge = self._judge(data, groups, **options)
            columns = self._columns(judge, candidates)
            columns["iter"] = np.full(len(candidates), number)
            columns["n_resources"] = np.full(len(candidates), size)
            rounds.append(columns)
            kept = math.ceil(len(candidates) / self.factor)
            best = np.argsort(ranks(columns[f"mean_test_{by}"]), kind="stable")[:kept]
            candidates = [candidates[n] for n in np.sort(best)]
        return rounds

    def _columns(self, judge, candidates):
        """What is found of some models, as columns of `cv_results_`."""
        found = self._found(judge, candidates)
        warn_failed(found, self.error_score)
        exact = judge.exact and not self._named_splits
        tol = judge.template.left_out_tol(True) if exact else judge.template.tol
        warn_not_converged(int(found.n_not_converged.sum()), judge.template, tol)
        by_row = judge.scoring is None and not self._named_splits
        columns = parameters(candidates) | times(found)
        for kind, tables in (("test", found.test), ("train", found.train)):
            for name, scores in tables.items():
                if self._named_splits:
                    columns |= {f"split{h}_{kind}_{name}": scores[:, h] for h in range(found.n_splits)}
                columns |= means(scores, kind, name, judge.data.error_weight if by_row else None)
        return columns | found.columns | {"n_not_converged": found.n_not_converged}

    def _check_shortcuts(self, by, template):
        """A ValueError for a bad `factor` or `stop_early`."""
        if self.factor is not None:
            if not (isinstance(self.factor, numbers.Real) and self.factor > 1):
                raise ValueError(f"factor must be a number above 1, got {self.factor!r}")
            if not isinstance(by, str):
                raise ValueError(f"factor needs a score that chooses, got refit={self.refit!r}")
            cv = getattr(self, "cv", None)
            if not (cv is None or isinstance(cv, numbers.Integral) or hasattr(cv, "split")):
                raise ValueError("factor needs a number or a splitter as cv, got a list of splits")
        if self.stop_early:
            if self.scoring is not None:
                raise ValueError(f"stop_early is for the default score, got scoring={self.scoring!r}")
            if template.break_ties:
                raise ValueError("stop_early is for votes, got break_ties=True")

    def _check_parameters(self):
        """A ValueError for a bad parameter of the search itself."""
        score = self.error_score
        if not (isinstance(score, numbers.Real) or (isinstance(score, str) and score == "raise")):
            raise ValueError(f"error_score must be 'raise' or a number, got {score!r}")

    def _routed(self, method, given):
        """What the estimator, the splitter and the scorers are handed by `fit` or `score`."""
        if routing_enabled():
            return process_routing(self, method, **given)
        unknown = given.keys() - {"sample_weight", "groups"}
        if unknown:
            raise TypeError(
                f"{method}() got {sorted(unknown)[0]!r}, which is handed on with "
                "sklearn.set_config(enable_metadata_routing=True) only"
            )
        own = {name: {name: given[name]} for name in given}
        weight, groups = own.get("sample_weight", {}), own.get("groups", {})
        return Bunch(estimator=Bunch(fit=weight, score=weight), splitter=Bunch(split=groups))

    def _found(self, judge, candidates):
        """What the judge finds of all candidates."""
        template = judge.template
        groups = by_kernel(candidates, template, judge.data.X)
        jobs = min(effective_n_jobs(self.n_jobs), len(groups))
        if jobs > 1:
            parallel = Parallel(n_jobs=self.n_jobs, verbose=10 if self.verbose else 0)
            memory = template.cache_size / jobs
            results = parallel(
                delayed(judge.in_a_job)(kernel, parts, candidates, memory) for kernel, parts in groups
            )
        else:
            results = self._found_here(judge, candidates, groups)
        # one after another: what they find goes into the same arrays
        found = Found(len(candidates), judge.n_splits, judge.n_scores)
        for of_kernel in results:
            for numbers_of, part, places in of_kernel:
                found.take(part, numbers_of, places)
        return found

    def _found_here(self, judge, candidates, groups):
        """What the judge finds of each kernel's candidates, in this process: on threads, each with a Gram
        matrix of its own, where there are threads, memory and work for them, else kernel by kernel."""
        memory, results, grams = judge.template.cache_size, [], [None]
        if not any(isinstance(kernel, Precomputed) for kernel, _ in groups):
            # a kernel that is not for these rows fails alone, where its models are judged
            with suppress(ValueError):
                first = gram_of(judge.data.X, groups[0][0], memory)
                grams = first.copies(min(thread_count(), len(groups)))
        with progress_bar(len(groups), self.verbose) as report:
            if len(grams) > 1:

                def of_group(gram, group):
                    results.append(judge.of_kernel(*group, candidates, memory, gram)[0])

                work = PASSES * len(candidates) * first.m**2
                share_out(grams, of_group, groups, work, lambda done, _: report(done))
                return results
            gram = grams[0]
            for done, group in enumerate(groups):
                of_kernel, gram = judge.of_kernel(
                    *group, candidates, memory, gram, lambda share, done=done: report(done + share)
                )
                results.append(of_kernel)
                report(done + 1)
        return results

    def _refit_by(self, scoring):
        """The score that chooses the best model, None if none does, or a callable; or a ValueError."""
        if callable(self.refit):
            return self.refit
        if scoring is None or not scoring.several:
            if not isinstance(self.refit, bool | np.bool_):
                raise ValueError(f"refit must be a bool or a callable with one score, got {self.refit!r}")
            return "score"
        if isinstance(self.refit, bool | np.bool_) and not self.refit:
            return None
        if isinstance(self.refit, str) and self.refit in scoring.names:
            return self.refit
        raise ValueError(
            f"refit must name the score that chooses, one of {', '.join(scoring.names)}, or be a callable or "
            f"False, got {self.refit!r}"
        )

    def _choose(self, by, candidates):
        """Set what is best by a score, or by a callable of `cv_results_`; nothing for None."""
        for name in ("best_index_", "best_params_", "best_score_"):
            self.__dict__.pop(name, None)
        if by is None:
            return
        if callable(by):
            index = by(self.cv_results_)
            if not isinstance(index, numbers.Integral) or not 0 <= index < len(candidates):
                raise ValueError(
                    f"refit must return the number of a model, from 0 to {len(candidates) - 1}, got {index!r}"
                )
            self.best_index_ = int(index)
        else:
            self.best_index_ = int(self.cv_results_[f"rank_test_{by}"].argmin())
            self.best_score_ = float(self.cv_results_[f"mean_test_{by}"][self.best_index_])
        self.best_params_ = candidates[self.best_index_]

    def _best(self):
        check_is_fitted(self)
        if not self.refit:
            raise AttributeError(f"{type(self).__name__} has no best_estimator_ with refit=False")
        return self.best_estimator_

    def score(self, X, y, sample_weight=None, **metadata):
        """The score of the best model at new rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows as for `SVC.fit`. The weights count in an accuracy alone, or where metadata routing hands
            them to the scorer.
        **metadata : array_like, shape (n,)
            What else the scorer asks for, with metadata routing.

        Returns
        -------
        float
            By the scorer that chose the model; its accuracy without `scoring`.
        """
        best = self._best()
        given = {"sample_weight": sample_weight, **metadata}
        given = {key: np.asarray(value) for key, value in given.items() if value is not None}
        routed = self._routed("score", given)
        if self._scoring is None:
            return best.score(X, y, **routed.estimator.score)
        name = self.refit if isinstance(self.refit, str) else self._scoring.names[0]
        if not routing_enabled():
            return self._scoring.of_estimator(best, X, y, name)
        self._scoring.route(handed_on(given, routed.scorer.score))
        return self._scoring.of_estimator(best, X, y, name, given)

    def predict(self, X):
        """Labels by the best model; see `SVC.predict`."""
        return self._best().predict(X)

    def decision_function(self, X):
        """Decision values of the best model; see `SVC.decision_function`."""
        return self._best().decision_function(X)

    @available_if(has_probabilities)
    def predict_proba(self, X):
        """Probabilities by the best model; see `SVC.predict_proba`."""
        return self._best().predict_proba(X)

    @available_if(has_probabilities)
    def predict_log_proba(self, X):
        """Their logarithms."""
        return self._best().predict_log_proba(X)


def handed_on(given, routed):
    """What of all that is given is handed on, by the names that it was given."""
    return {name: value for name, value in given.items() if any(value is one for one in routed.values())}


def warn_failed(found, error_score):
    """A ValueError if no model has scores, a FitFailedWarning if some have not on some split."""
    if not found.failures:
        return
    failed = {model for model, _ in found.failures}
    reason = next(iter(found.failures.values()))
    message = f"{type(reason).__name__}: {reason}"
    if len(found.failures) == found.n * found.n_splits:
        raise ValueError(f"no model could be trained and scored: {message}") from reason
    warnings.warn(
        f"{len(failed)} of {found.n} models could not be trained and scored on some split, where their score "
        f"is {error_score}; the first because of {message}",
        FitFailedWarning,
        stacklevel=3,
    )


def times(found):
    """Columns of mean seconds over the splits, and their deviations."""
    columns = {}
    for name in ("fit_time", "score_time"):
        seconds = getattr(found, name)
        columns |= {f"mean_{name}": seconds.mean(axis=1), f"std_{name}": seconds.std(axis=1)}
    return columns


def means(scores, kind, name, weight=None):
    """Columns of mean scores over the splits, and their deviations."""
    mean = np.average(scores, axis=1, weights=weight)
    deviation = np.sqrt(np.average((scores - mean[:, None]) ** 2, axis=1, weights=weight))
    return {f"mean_{kind}_{name}": mean, f"std_{kind}_{name}": deviation}


def ranks(mean, rounds=None):
    """Ranks of mean scores from 1, of later rounds before those of earlier ones; no number is the worst."""
    rounds = np.zeros(mean.size) if rounds is None else rounds
    # means that differ by round-off alone are one rank
    worst_last = np.where(np.isnan(mean), np.inf, -np.round(mean, 12))
    found = np.empty(mean.size, dtype=np.int32)
    for number in np.unique(rounds):
        own = rounds == number
        found[own] = rankdata(worst_last[own], method="min") + np.count_nonzero(rounds > number)
    return found


class progress_bar:
    """A bar on standard error, on a terminal only; `report` takes how much of the total is done."""

    def __init__(self, total, visible):
        self.bar = tqdm(
            total=total,
            disable=None if visible else True,
            file=sys.stderr,
            leave=False,
            bar_format="{percentage:3.0f}%|{bar}| {elapsed} < {remaining}",
        )

    def __enter__(self):
        return self.report

    def report(self, done):
        self.bar.update(done - self.bar.n)

    def __exit__(self, *error):
        self.bar.close()
