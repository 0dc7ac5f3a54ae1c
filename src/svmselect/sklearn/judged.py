"""The rows that a search judges its models at, and what it finds of them."""

from __future__ import annotations

import numpy as np
from sklearn.utils import _safe_indexing

from svmselect.sklearn.problem import checked_weight, class_weights

__all__ = ["Found", "JudgedRows"]


class JudgedRows:
    """Rows with what they count in training and in scores.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (m, d)
    classes : ndarray, shape (k,)
    codes : ndarray of intp, shape (m,)
        The number of each row's class.
    sample_weight : array_like, shape (m,), or None
        Factor of C at each row, in training; 1 by default.
    class_weight : dict, "balanced" or None
        That of the estimator.
    metadata : dict from str to array, shape (m,)
        What scorers may ask for.
    given_X : array_like, DataFrame or CSR matrix, shape (m, d)
    given_y : array_like or Series, shape (m,)
        Rows and labels as the user gave them, for scorers and splitters.

    Attributes
    ----------
    y : ndarray, shape (m,)
    weight : ndarray, shape (m,)
        The weights of training.
    error_weight : ndarray, shape (m,)
        What a row counts in the default score: its weight times that of its class.
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
        """Some of the rows, of a kernel matrix if it is `pairwise`."""
        X = self.X[np.ix_(rows, rows)] if pairwise else self.X[rows]
        given_X, given_y = self.given(rows)
        return JudgedRows(
            X,
            self.classes,
            self.codes[rows],
            self.weight[rows],
            self._class_weight,
            self.metadata_of(rows),
            X if pairwise else given_X,
            given_y,
        )

    def given(self, rows):
        """Return some of the rows and labels as the user gave them, and with their index."""
        return _safe_indexing(self.given_X, rows), _safe_indexing(self.given_y, rows)

    def metadata_of(self, rows):
        """That of some rows."""
        return {name: values[rows] for name, values in self.metadata.items()}


class Found:
    """Scores, times and failures of n models.

    Parameters
    ----------
    n, n_splits : int
    n_scores : int, optional
        Numbers of which a score is the mean; by default one for each split.

    Attributes
    ----------
    test, train : dict from str to ndarray, shape (n, n_scores)
        Scores by their names; NaN where there is none.
    fit_time, score_time : ndarray, shape (n, n_splits)
        Wall-clock seconds.
    n_not_converged : ndarray of intp, shape (n,)
        Solves that ran out of steps.
    columns : dict from str to ndarray, shape (n,)
        Others of `cv_results_`.
    failures : dict from (int, int) to Exception
        Why a model has no score on a split.
    done : ndarray of bool, shape (n,)
        Whether a model has scores, or is known to fail.
    """

    def __init__(self, n, n_splits, n_scores=None):
        self.n, self.n_splits, self.n_scores = n, n_splits, n_splits if n_scores is None else n_scores
        self.test, self.train, self.columns, self.failures = {}, {}, {}, {}
        self.fit_time, self.score_time = np.zeros((2, n, n_splits))
        self.n_not_converged = np.zeros(n, dtype=np.intp)
        self.done = np.zeros(n, dtype=bool)

    def put(self, table, model, values):
        """Scores of a model by name: numbers, or shape (n_scores,) each."""
        for name, row in values.items():
            table.setdefault(name, np.full((self.n, self.n_scores), np.nan))[model] = row
        self.done[model] = True

    def take(self, other, numbers, places):
        """What another has found of its models `places` is what there is of `numbers`."""
        for own, tables in (
            (self.test, other.test),
            (self.train, other.train),
            (self.columns, other.columns),
        ):
            for name, array in tables.items():
                if name not in own:
                    empty = np.nan if array.dtype.kind == "f" else 0
                    own[name] = np.full((self.n, *array.shape[1:]), empty, dtype=array.dtype)
                own[name][numbers] = array[places]
        for name in ("fit_time", "score_time", "n_not_converged"):
            getattr(self, name)[numbers] = getattr(other, name)[places]
        for number, place in zip(numbers, places, strict=True):
            for (model, split), error in other.failures.items():
                if model == place:
                    self.failures[number, split] = error
