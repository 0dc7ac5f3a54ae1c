"""The rows that a search judges its models at."""

from __future__ import annotations

import numpy as np

from svmselect.sklearn.left_out import left_out_rows
from svmselect.sklearn.problem import class_weights

__all__ = ["JudgedRows"]


class JudgedRows:
    """Rows with what they count in training and in scores.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (m, d)
    classes : ndarray, shape (k,)
    codes : ndarray of intp, shape (m,)
        The number of each row's class.
    weight : ndarray, shape (m,)
        Factor of C at each row.
    weighted : bool
        Whether the user gave it.
    estimator : SVC

    Attributes
    ----------
    sample_weight : ndarray, shape (m,), or None
        The weights where the user gave them, for scorers.
    error_weight : ndarray, shape (m,)
        What a row counts in the default score: its weight times that of its class.
    default_score : str
        "accuracy", or "weighted_accuracy" where the weights of the classes differ.
    """

    def __init__(self, X, classes, codes, weight, weighted, estimator):
        self.X, self.classes, self.codes, self.weight = X, classes, codes, weight
        self.sample_weight = weight if weighted else None
        per_class = class_weights(estimator.class_weight, classes, codes)
        self.error_weight = weight * per_class[codes]
        self.default_score = "weighted_accuracy" if np.ptp(per_class) else "accuracy"
        self._estimator = estimator

    def left_out(self, values, folds):
        """See `left_out_rows`, for the decision values of a model at all rows."""
        own = self._estimator, self.classes, self.codes, self.X
        return left_out_rows(*own, values, self.weight, folds)
