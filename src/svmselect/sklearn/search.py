"""What the searches over C and gamma share."""

from __future__ import annotations

import numbers
import sys
import time

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from tqdm import tqdm

from svmselect.path import check_values
from svmselect.sklearn.base import step_limit, training_set, warn_not_converged
from svmselect.sklearn.calibration import blocks_of, check_calibration
from svmselect.sklearn.judged import JudgedRows
from svmselect.sklearn.kernels import gram_of, kernel_of, resolved_gamma
from svmselect.sklearn.precomputed import Precomputed
from svmselect.sklearn.problem import checked_weight, right_values
from svmselect.sklearn.scoring import Scoring
from svmselect.sklearn.svc import SVC

__all__ = ["Search", "default_grid", "progress_bar"]

# parameters that a grid may hold, and those that name a kernel
OF_KERNEL = ("kernel", "gamma", "degree", "coef0")
SEARCHED = ("C", *OF_KERNEL)
# of the default grid: 64 models around C = 1 and a little below gamma = "scale"
DEFAULT_C = tuple(2.0**e for e in range(-3, 12, 2))
DEFAULT_GAMMA = tuple(2.0**e for e in range(-10, 5, 2))


def has_probabilities(search):
    """Whether the models of a search have probabilities."""
    return getattr(search.estimator, "calibration", None) is not None


class Search(ClassifierMixin, BaseEstimator):
    """A search over C, the kernel and its parameters on shared Gram matrices.

    A subclass has a method ``_judge(data, estimator, scoring, options)``, which checks these and returns a
    function ``judge(gram, Cs, progress)``: for increasing values of C a dict of scores by name, shape (n_Cs,
    n_splits) each, and a dict of further columns of `cv_results_`, shape (n_Cs,) each, with
    `n_not_converged`, the solves that ran out of steps. `data` is a JudgedRows, `scoring` a Scoring or None,
    `options` are `tol` and `max_iter` of solvers.
    """

    _named_splits = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kernel = getattr(self.estimator, "kernel", "rbf")
        tags.input_tags.pairwise = kernel == "precomputed"
        tags.input_tags.sparse = kernel != "precomputed"
        return tags

    def fit(self, X, y, sample_weight=None):
        """Score every model of the grid, and train the best one on all rows.

        Parameters
        ----------
        X, y, sample_weight
            See `SVC.fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a bad parameter of the search, the grid or the estimator, and as `SVC.fit`.
        """
        template = SVC() if self.estimator is None else self.estimator
        if not isinstance(template, SVC):
            raise ValueError(
                f"estimator must be a svmselect.sklearn.SVC, got a {type(template).__name__}; in a Pipeline, "
                "the search is the last step"
            )
        check_calibration(template)
        rows, classes, codes = training_set(self, X, y)
        weight = checked_weight(sample_weight, codes.size)
        candidates = candidates_of(self.param_grid, template, rows)
        options = {"tol": template.tol, "max_iter": step_limit(template.max_iter)}
        data = JudgedRows(rows, classes, codes, weight, sample_weight is not None, template)
        scoring = None if self.scoring is None else Scoring(self.scoring)
        if scoring is not None:
            right = data.left_out(right_values(codes, classes.size), blocks_of(codes))()
            scoring.rehearse(right, classes[codes], data.sample_weight)
        by = self._refit_by(scoring)
        judge = self._judge(data, template, scoring, options)
        begin = time.perf_counter()
        tables, columns = self._judged(judge, template, candidates, rows)
        self.search_time_ = time.perf_counter() - begin
        warn_not_converged(int(columns["n_not_converged"].sum()), template, self._tol_of(template, scoring))

        self.classes_ = classes
        self.multimetric_ = scoring is not None and scoring.several
        self.scoring_ = data.default_score if scoring is None else self.scoring
        self._scoring = scoring
        split_weight = data.error_weight if scoring is None and not self._named_splits else None
        self.cv_results_ = parameters(candidates)
        for name, scores in tables.items():
            if self._named_splits:
                self.cv_results_ |= {f"split{h}_test_{name}": scores[:, h] for h in range(self.n_splits_)}
            self.cv_results_ |= results(scores, name, split_weight)
        self.cv_results_ |= columns
        self._choose(by, candidates)
        self.__dict__.pop("best_estimator_", None)
        if self.refit:
            begin = time.perf_counter()
            self.best_estimator_ = clone(template).set_params(**self.best_params_)
            self.best_estimator_.fit(X, y, sample_weight=sample_weight)
            self.refit_time_ = time.perf_counter() - begin
        return self

    def _tol_of(self, template, scoring):
        """The KKT gap that the solves have to reach."""
        return template.tol

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

    def _judged(self, judge, template, candidates, X):
        """Scores of the candidates by name, shape (n, n_splits), and further columns, shape (n,)."""
        groups = by_kernel(candidates, template, X)
        tables, columns = {}, {}
        gram = None
        with progress_bar(len(groups), self.verbose) as report:
            for done, (kernel, which) in enumerate(groups):
                if gram is None or isinstance(kernel, Precomputed):
                    gram = gram_of(X, kernel, template.cache_size)
                else:
                    gram.set_kernel(kernel)
                # increasing, each value once
                Cs, places = np.unique(
                    [float(candidates[n].get("C", template.C)) for n in which], return_inverse=True
                )
                found = judge(gram, Cs.tolist(), lambda share, done=done: report(done + share))
                for target, arrays in zip((tables, columns), found, strict=True):
                    for name, array in arrays.items():
                        if name not in target:
                            target[name] = np.empty((len(candidates), *array.shape[1:]), array.dtype)
                        target[name][which] = array[places]
        return tables, columns

    def _best(self):
        check_is_fitted(self)
        if not self.refit:
            raise AttributeError(f"{type(self).__name__} has no best_estimator_ with refit=False")
        return self.best_estimator_

    def score(self, X, y, sample_weight=None):
        """The score of the best model at new rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows as for `SVC.fit`. The weights count in an accuracy alone.

        Returns
        -------
        float
            By the scorer that chose the model; its accuracy without `scoring`.
        """
        best = self._best()
        if self._scoring is None:
            return best.score(X, y, sample_weight)
        name = self.refit if isinstance(self.refit, str) else self._scoring.names[0]
        return self._scoring.of_estimator(best, X, y, name)

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


def default_grid(kernel, X):
    """The grid where none is given: values of C, and of gamma for the kernels of distances that are named."""
    if not (isinstance(kernel, str) and kernel in ("rbf", "laplacian", "chi2")):
        return {"C": list(DEFAULT_C)}
    scale = resolved_gamma("scale", X)
    return {"C": list(DEFAULT_C), "gamma": [scale * factor for factor in DEFAULT_GAMMA]}


def candidates_of(param_grid, template, X):
    """The models of a grid as a list of dicts, in scikit-learn's order, or a ValueError."""
    candidates = list(ParameterGrid(default_grid(template.kernel, X) if param_grid is None else param_grid))
    unknown = {name for candidate in candidates for name in candidate} - set(SEARCHED)
    if unknown:
        raise ValueError(f"param_grid may hold {', '.join(SEARCHED)}, got {sorted(unknown)[0]!r}")
    check_values([candidate.get("C", template.C) for candidate in candidates], "C in param_grid")
    return candidates


def by_kernel(candidates, template, X):
    """Pairs of a kernel and the numbers of its candidates."""
    groups = {}
    for number, candidate in enumerate(candidates):
        own = {name: candidate.get(name, getattr(template, name)) for name in OF_KERNEL}
        given = isinstance(own["kernel"], str) and own["kernel"] == "precomputed"
        groups.setdefault("precomputed" if given else kernel_of(X=X, **own), []).append(number)
    return [(Precomputed(X) if key == "precomputed" else key, numbers) for key, numbers in groups.items()]


def parameters(candidates):
    """`params`, and a masked array of each parameter."""
    columns = {"params": candidates}
    for name in sorted({name for candidate in candidates for name in candidate}):
        values = [candidate.get(name) for candidate in candidates]
        given = [name in candidate for candidate in candidates]
        numeric = all(
            isinstance(v, float | int | np.number) for v, has in zip(values, given, strict=True) if has
        )
        column = np.ma.masked_all(len(candidates), dtype=np.float64 if numeric else object)
        for n in np.flatnonzero(given):
            column[n] = values[n]
        columns[f"param_{name}"] = column
    return columns


def results(scores, name, weight=None):
    """Columns of mean scores over the splits, their deviations, and ranks from 1; no number is the worst."""
    mean = np.average(scores, axis=1, weights=weight)
    deviation = np.sqrt(np.average((scores - mean[:, None]) ** 2, axis=1, weights=weight))
    # means that differ by round-off alone are one rank
    worst_last = np.where(np.isnan(mean), np.inf, -np.round(mean, 12))
    return {
        f"mean_test_{name}": mean,
        f"std_test_{name}": deviation,
        f"rank_test_{name}": rankdata(worst_last, method="min").astype(np.int32),
    }


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
