"""The one-class model as a scikit-learn estimator."""

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from svmselect.forks import cached_property
from svmselect.loo import leave_one_out_one_class
from svmselect.one_class import solve_one_class
from svmselect.sklearn.classifier import canonical, step_limit, warn_not_converged
from svmselect.sklearn.estimates import training_of
from svmselect.sklearn.machine import Machine
from svmselect.sklearn.scoring import LeftOutRows

__all__ = ["LeftOutOneClass", "OneClassSVM", "one_class_rows"]


def one_class_rows(estimator, X):
    """Return X as a float64 ndarray or canonical CSR matrix, a copy."""
    options = dict(accept_sparse="csr", dtype=np.float64, order="C", copy=True)
    return canonical(validate_data(estimator, canonical(X), **options))


def _labels_of(values):
    """Return 1 for rows that a model accepts and -1 for others, shape (n,)."""
    return np.where(values >= 0, 1, -1)


class LeftOutOneClass(OutlierMixin, LeftOutRows):
    """A fitted one-class model as scorers see it; see `LeftOutRows`."""

    def predict(self, X):
        """Return 1 for accepted rows and -1 for others, shape (n,)."""
        return _labels_of(self.values_of(X))

    def decision_function(self, X):
        """Return the decision values, shape (n,)."""
        return self.values_of(X)


class OneClassSVM(OutlierMixin, Machine):
    """One-class support vector machine that knows which of its rows the model of the others rejects.

    Parameters and attributes are those of scikit-learn's OneClassSVM, and so is the model.

    Parameters
    ----------
    nu : float
        In (0, 1]: an upper bound on the share of training rows that are rejected, a lower bound on the share
        of support vectors.
    kernel, degree, gamma, coef0, shrinking, cache_size, max_iter
        See `SVC`.
    tol : float
        KKT gap at which training stops, in units of the kernel. Left-out values do not depend on it.
    verbose : bool
        A parameter of scikit-learn's OneClassSVM that changes nothing.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, offset_, coef_, fit_status_, n_iter_, \
    shape_fit_, n_features_in_, feature_names_in_
        As in scikit-learn's OneClassSVM.
    loo_decision_ : ndarray, shape (m,)
        The decision value of each row by the model trained without it, exact up to round-off. It is computed
        on its first access.
    loo_predictions_ : ndarray of int, shape (m,)
        1 where `loo_decision_` accepts the row, else -1.
    loo_rejection_rate_ : float
        The share of the training rows, by weight, that the model of the others rejects.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect.sklearn import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> [OneClassSVM(nu=0.1, gamma=gamma).fit(X).loo_rejection_rate_ for gamma in (0.1, 1, 10)]
    [0.11, 0.22, 0.675]
    """

    _formulation, _shared = "nu", None
    _on_demand = ("loo_decision_",)

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
        shrinking=True,
        cache_size=2048,
        verbose=False,
        max_iter=-1,
    ):
        self.kernel, self.degree, self.gamma, self.coef0 = kernel, degree, gamma, coef0
        self.tol, self.nu, self.shrinking = tol, nu, shrinking
        self.cache_size, self.verbose, self.max_iter = cache_size, verbose, max_iter

    @staticmethod
    def variables_of(solution):
        """Return the variables of a solution."""
        return solution.alpha

    def solution_on(self, gram, z, weight, former=None):
        """Return the Solution on a Gram matrix; see `Machine`."""
        return solve_one_class(gram, self.nu, weight, tol=self.tol, max_iter=step_limit(self.max_iter))

    def fit(self, X, y=None, sample_weight=None):
        """Train; `y` is not used.

        `sample_weight`, shape (m,), are the upper bounds of the variables, 1 by default. A row of weight 0 is
        not trained on. For the rows X see `SVC.fit`.
        """
        self._check_fit(X)
        X = one_class_rows(self, X)
        # without the origin of the features a linear model would be another one
        self._fit(X, None, sample_weight, origin=np.zeros(X.shape[1]))
        warn_not_converged(self.fit_status_, self)
        return self

    @property
    def offset_(self):
        """The threshold of `score_samples`: minus `intercept_`, shape (1,)."""
        check_is_fitted(self)
        return -self.intercept_

    def decision_function(self, X):
        """Compute decision values, positive where a row is accepted: shape (n,).

        With ``kernel="precomputed"`` X holds kernel values with the training rows, shape (n, m).
        """
        return self._values(X)

    def score_samples(self, X):
        """Compute decision values plus `offset_`, shape (n,)."""
        return self._values(X) + self.offset_

    def predict(self, X):
        """Predict 1 for rows that are accepted and -1 for others, shape (n,)."""
        return _labels_of(self._values(X))

    @cached_property
    def loo_decision_(self):
        """The decision value of each row by the model trained without it, shape (m,)."""
        return self._left_out(training_of(self, "loo_decision_"))

    @property
    def loo_predictions_(self):
        """1 where the model of the others accepts a row, else -1, shape (m,)."""
        return _labels_of(self.loo_decision_)

    @property
    def loo_rejection_rate_(self):
        """The share of the training rows, by weight, that the model of the others rejects."""
        weight = training_of(self, "loo_rejection_rate_").weight
        return float(weight @ (self.loo_decision_ < 0) / weight.sum())

    def _left_out(self, training, progress=None):
        """Return the left-out decision values of the training rows."""
        loo = self.left_out_on(training.gram, training.weight, progress)
        warn_not_converged(loo.not_converged.size, self)
        return loo.decision

    def left_out_on(self, gram, weight, progress=None):
        """Return the LeaveOneOutOneClass on a Gram matrix."""
        limit = step_limit(self.max_iter)
        return leave_one_out_one_class(gram, self.nu, weight, max_iter=limit, progress=progress)

    def loo_score(self, scoring, y, sample_weight=None):
        """Compute a score, such as "roc_auc", of the left-out decision values; see `SVC.loo_score`.

        `y` are labels: 1 for rows that are to be accepted, -1 for outliers.
        """
        training, y = training_of(self, "loo_score"), np.asarray(y)
        values = np.where(y == 1, 1.0, -1.0), self.loo_decision_
        right, left_out = (LeftOutOneClass(training.X, each) for each in values)
        return self._score_of(scoring, left_out, right, y, sample_weight)
