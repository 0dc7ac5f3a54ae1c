"""What the searches over C and gamma share."""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted
from tqdm import tqdm

from svmselect.path import check_values
from svmselect.sklearn.base import step_limit, training_set, warn_not_converged
from svmselect.sklearn.kernels import gram_of, kernel_of, resolved_gamma
from svmselect.sklearn.precomputed import Precomputed
from svmselect.sklearn.problem import checked_weight
from svmselect.sklearn.svc import SVC

__all__ = ["Search", "default_grid", "progress_bar"]

# parameters that a grid may hold, and those that name a kernel
OF_KERNEL = ("kernel", "gamma", "degree", "coef0")
SEARCHED = ("C", *OF_KERNEL)
# of the default grid: 64 models around C = 1 and a little below gamma = "scale"
DEFAULT_C = tuple(2.0**e for e in range(-3, 12, 2))
DEFAULT_GAMMA = tuple(2.0**e for e in range(-10, 5, 2))


class Search(ClassifierMixin, BaseEstimator):
    """A search over C, the kernel and its parameters on shared Gram matrices.

    A subclass has a method ``_scorer(estimator, X, classes, codes, weight, options)``, which checks these and
    returns a function ``score(gram, Cs, progress)``: accuracies, shape (n_Cs, n_splits), for increasing
    values of C, and how many solves of each ran out of steps. `options` are `tol` and `max_iter` of solvers.
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
        rows, classes, codes = training_set(self, X, y)
        weight = checked_weight(sample_weight, codes.size)
        candidates = candidates_of(self.param_grid, template, rows)
        options = {"tol": template.tol, "max_iter": step_limit(template.max_iter)}
        score = self._scorer(template, rows, classes, codes, weight, options)
        begin = time.perf_counter()
        scores, n_not_converged = self._scores(score, template, candidates, rows)
        self.search_time_ = time.perf_counter() - begin
        warn_not_converged(int(n_not_converged.sum()), template)

        self.classes_ = classes
        self.cv_results_ = {
            **parameters(candidates),
            **(
                {f"split{h}_test_score": scores[:, h] for h in range(self.n_splits_)}
                if self._named_splits
                else {}
            ),
            **results(scores),
            "n_not_converged": n_not_converged,
        }
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.__dict__.pop("best_estimator_", None)
        if self.refit:
            begin = time.perf_counter()
            self.best_estimator_ = clone(template).set_params(**self.best_params_)
            self.best_estimator_.fit(X, y, sample_weight=sample_weight)
            self.refit_time_ = time.perf_counter() - begin
        return self

    def _scores(self, score, template, candidates, X):
        """Accuracies of the candidates, shape (n, n_splits), and solves that ran out of steps, shape (n,)."""
        groups = by_kernel(candidates, template, X)
        scores, n_not_converged = None, np.empty(len(candidates), dtype=np.intp)
        gram = None
        with progress_bar(len(groups), self.verbose) as report:
            for done, (kernel, numbers) in enumerate(groups):
                if gram is None or isinstance(kernel, Precomputed):
                    gram = gram_of(X, kernel, template.cache_size)
                else:
                    gram.set_kernel(kernel)
                # increasing, each value once
                Cs, places = np.unique(
                    [float(candidates[n].get("C", template.C)) for n in numbers], return_inverse=True
                )
                found, failed = score(gram, Cs.tolist(), lambda share, done=done: report(done + share))
                if scores is None:
                    scores = np.empty((len(candidates), found.shape[1]))
                scores[numbers], n_not_converged[numbers] = found[places], failed[places]
        return scores, n_not_converged

    def _best(self):
        check_is_fitted(self)
        if not self.refit:
            raise AttributeError(f"{type(self).__name__} has no best_estimator_ with refit=False")
        return self.best_estimator_

    def predict(self, X):
        """Labels by the best model; see `SVC.predict`."""
        return self._best().predict(X)

    def decision_function(self, X):
        """Decision values of the best model; see `SVC.decision_function`."""
        return self._best().decision_function(X)


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


def results(scores):
    """Columns of mean accuracies, their deviations over the splits, and ranks from 1."""
    mean = scores.mean(axis=1)
    # means that differ by round-off alone are one rank
    rank = rankdata(-np.round(mean, 12), method="min").astype(np.int32)
    return {"mean_test_score": mean, "std_test_score": scores.std(axis=1), "rank_test_score": rank}


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
