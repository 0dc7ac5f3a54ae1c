"""Stand-ins for the classifiers that rows were left out of: what scorers are given in the place of one."""

from __future__ import annotations

from functools import cache

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_features

from svmselect.sklearn.calibration import left_out_probabilities
from svmselect.sklearn.votes import decisions, winners

__all__ = ["LeftOut", "left_out_rows"]


def left_out_rows(estimator, classes, codes, X, values, weight, folds):
    """Return the LeftOut of all rows of a model.

    Parameters
    ----------
    estimator : SVC or NuSVC
    classes : ndarray, shape (k,)
    codes : ndarray of intp, shape (m,)
        The number of each row's class.
    X : array_like, DataFrame or CSR matrix, shape (m, d)
        The rows as scorers get them.
    values : ndarray, shape (m, k (k - 1) / 2)
        Decision values of the pairs, by a classifier without the row.
    weight : ndarray, shape (m,)
        What rows count in a calibration.
    folds : ndarray of intp, shape (m,)
        The probabilities of each fold's rows are calibrated by the others.
    """

    @cache
    def probabilities():
        by_class, k = decisions(values, classes.size, "ovr"), classes.size
        return left_out_probabilities(by_class, codes, k, weight, estimator.calibration_method, folds)

    return LeftOut(estimator, classes, X, values, probabilities)


class LeftOut(ClassifierMixin, BaseEstimator):
    """A fitted classifier as scorers see it, each of whose answers is by the classifier without that row.

    Parameters
    ----------
    estimator : SVC
        Its `decision_function_shape` is that of the answers.
    classes : ndarray, shape (k,)
    X : array_like, DataFrame or CSR matrix, shape (n, d)
        The rows that it can be asked about, all at once.
    values : ndarray, shape (n, k (k - 1) / 2)
        Decision values of the pairs.
    probabilities : callable, optional
        ``probabilities()``: those of the classes, shape (n, k).

    Attributes
    ----------
    asked_for_values : bool
        Whether anybody has asked for more than labels.
    """

    def __init__(self, estimator, classes, X, values, probabilities=None):
        self.estimator, self.classes, self.X, self.values = estimator, classes, X, values
        self.probabilities = probabilities
        self.classes_ = classes
        self.n_features_in_ = _num_features(X)
        self.asked_for_values = False

    def __sklearn_is_fitted__(self):
        return True

    def _check_rows(self, X):
        if X is not self.X:
            raise ValueError("a scorer of a search may ask about the rows that it is given, all at once")

    def predict(self, X):
        """The labels, shape (n,)."""
        self._check_rows(X)
        return self.classes_[winners(self.values, self.classes_.size, self.estimator.break_ties)]

    def decision_function(self, X):
        """The decision values; see `SVC.decision_function`."""
        self._check_rows(X)
        self.asked_for_values = True
        return decisions(self.values, self.classes_.size, self.estimator.decision_function_shape)

    def predict_proba(self, X):
        """Probabilities of the classes, shape (n, k), by the calibration of the estimator."""
        self._check_rows(X)
        self.asked_for_values = True
        if getattr(self.estimator, "calibration", None) is None:
            raise ValueError("scoring asks for probabilities, which the estimator has with calibration='loo'")
        return self.probabilities()
