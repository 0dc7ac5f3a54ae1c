"""Stand-ins for the classifiers that rows were left out of: what scorers are given in the place of one."""

from __future__ import annotations

from sklearn.base import BaseEstimator, ClassifierMixin

from svmselect.sklearn.votes import decisions, most_votes

__all__ = ["LeftOut"]


class LeftOut(ClassifierMixin, BaseEstimator):
    """A fitted classifier as scorers see it, each of whose answers is by the classifier without that row.

    Parameters
    ----------
    estimator : SVC
        Its `decision_function_shape` is that of the answers.
    classes : ndarray, shape (k,)
    X : ndarray or CSR matrix, shape (n, d)
        The rows that it can be asked about, all at once.
    values : ndarray, shape (n, k (k - 1) / 2)
        Decision values of the pairs.

    Attributes
    ----------
    asked_for_values : bool
        Whether anybody has asked for more than labels.
    """

    def __init__(self, estimator, classes, X, values):
        self.estimator, self.classes, self.X, self.values = estimator, classes, X, values
        self.classes_ = classes
        self.n_features_in_ = X.shape[1]
        self.asked_for_values = False

    def __sklearn_is_fitted__(self):
        return True

    def _check_rows(self, X):
        if X is not self.X:
            raise ValueError("a scorer of a search may ask about the rows that it is given, all at once")

    def predict(self, X):
        """The labels, shape (n,)."""
        self._check_rows(X)
        return self.classes_[most_votes(self.values >= 0, self.classes_.size)]

    def decision_function(self, X):
        """The decision values; see `SVC.decision_function`."""
        self._check_rows(X)
        self.asked_for_values = True
        return decisions(self.values, self.classes_.size, self.estimator.decision_function_shape)
