"""Machines with one set of variables: the base of regressions and one-class models, and the latter."""

import numbers
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from svmselect.errors import zero_within
from svmselect.forks import cached_property
from svmselect.gram import Gram
from svmselect.gram.rows import as_rows, measured_from
from svmselect.kernels import RBF, Kernel, Linear
from svmselect.kernels.panels import Rows
from svmselect.loo import leave_one_out_one_class
from svmselect.one_class import solve_one_class
from svmselect.sklearn.classifier import (
    KernelEstimator,
    canonical,
    rows_to_predict,
    step_limit,
    warn_not_converged,
)
from svmselect.sklearn.estimates import training_of
from svmselect.sklearn.fitting import all_or_nothing, warn_of_rounding, warn_of_scale
from svmselect.sklearn.kernels import Precomputed, gram_of, kernel_of
from svmselect.sklearn.one_vs_one import checked_weight
from svmselect.sklearn.scoring import LeftOutRows, left_out_score
from svmselect.sklearn.to_sklearn import machine_to_sklearn

__all__ = ["LeftOutOneClass", "Machine", "OneClassSVM", "one_class_rows"]

ROUND_OFF = 1e-12  # of a decision value, relative to the terms of its sum


@dataclass
class _MachineTraining:
    """The results of `fit` from which left-out values are computed; see `estimates.Training`."""

    X: np.ndarray | sparse.csr_array
    kernel: Kernel | Precomputed
    memory_mb: float
    z: np.ndarray | None  # targets; None of one class
    weight: np.ndarray
    solution: object  # RegressionSolution or Solution
    model: "Machine"  # an unfitted copy, with the parameters of `fit`
    origin: np.ndarray | None  # see `Gram`

    @cached_property
    def gram(self) -> Gram:
        """The Gram matrix; that of `fit` is gone, with the memory of its columns."""
        return gram_of(self.X, self.kernel, self.memory_mb, origin=self.origin)


class Machine(KernelEstimator):
    """A support vector machine with one set of variables and one threshold.

    A subclass has ``solution_on(gram, z, weight, former)``, which returns the solution, if possible from that
    of another model; ``_left_out(training, progress)``, which returns left-out values; `_formulation` and
    `_shared`, the parameter that a search goes along, and the one that models of that way share; and
    `_on_demand`, the attributes that are computed on their first access, the left-out values first.
    """

    _on_demand: ClassVar[tuple[str, ...]]
    _to_sklearn = staticmethod(machine_to_sklearn)

    def set_of(self, shared, value):
        """Return an unfitted copy with values of `_shared`, if there is one, and `_formulation`."""
        parameters = {} if self._shared is None else {self._shared: shared}
        return clone(self).set_params(**parameters, **{self._formulation: value})

    def _check_fit(self, X):
        """Raise an error for a bad parameter that no solver sees, or a sparse precomputed kernel."""
        for name in ("shrinking", "verbose"):
            if not isinstance(getattr(self, name), bool | np.bool_ | numbers.Integral):
                raise ValueError(f"{name} must be a bool, got {getattr(self, name)!r}")
        self._check_dense(X)

    def _fit(self, X, z, sample_weight, origin=None):
        """Train on checked rows and targets, measured from `origin`; return the solution."""
        weight = checked_weight(sample_weight, X.shape[0])
        if not weight.any():
            raise ValueError("sample_weight must not be zero at every row")
        # 1) the solution
        kernel = kernel_of(self.kernel, X, self.gamma, self.degree, self.coef0)
        if isinstance(kernel, RBF):
            warn_of_scale(X)
        if isinstance(kernel, Precomputed) or kernel.stationary:
            origin = None
        gram = gram_of(X, kernel, self.cache_size, origin=origin)
        solution = self.solution_on(gram, z, weight)
        theta = self.variables_of(solution)
        # 2) attributes
        for name in self._on_demand:
            self.__dict__.pop(name, None)
        self._training = _MachineTraining(
            X, kernel, self.cache_size, z, weight, solution, clone(self), origin
        )
        support = np.flatnonzero(theta)
        known = None if isinstance(kernel, Precomputed) else kernel
        rows = np.empty((0, 0)) if known is None else X[support]
        self._set_model(known, gram.origin, support, rows, theta[support], solution.b)
        self.shape_fit_ = X.shape
        self.fit_status_, self.n_iter_ = int(not solution.converged), solution.n_iter
        return solution

    def _set_model(self, kernel, origin, support, support_vectors, coef, b):
        """Set the fitted attributes that predicting needs; a kernel of None is precomputed."""
        self._kernel, self._origin, self._b = kernel, origin, b
        self.support_, self.n_support_ = support.astype(np.int32), np.array([support.size], dtype=np.int32)
        self.support_vectors_, self.dual_coef_ = support_vectors, coef[None]
        at_zero = b
        if isinstance(kernel, Linear) and origin is not None:
            at_zero -= (self._weights() @ origin).item()
        self.intercept_ = np.array([at_zero])

    def _weights(self):
        """Return the weight vector of a linear kernel, shape (1, d)."""
        return self.dual_coef_ @ measured_from(self.support_vectors_, self._origin)

    @property
    def coef_(self):
        """Coefficients of the features, of a linear kernel: shape (1, d)."""
        check_is_fitted(self)
        if not isinstance(self._kernel, Linear):
            raise AttributeError(f"coef_ is for kernel='linear', got {self.kernel!r}")
        return self._weights()

    def _values(self, X):
        """Compute the value of the model at each row, shape (n,)."""
        check_is_fitted(self)
        return self._sums(X, self.dual_coef_)[:, 0]

    def leave_one_out(self, progress=None):
        """Leave each training row out in turn; return `loo_predictions_`, or `loo_decision_` of one class.

        `progress` is called with the share of the work that is done.
        """
        report = progress and (lambda done, total: progress(done / total))
        values = self._left_out(training_of(self, "leave_one_out"), report)
        self.__dict__[self._on_demand[0]] = values
        return values


def one_class_rows(estimator, X):
    """Return X as a float64 ndarray or canonical CSR matrix, a copy."""
    warn_of_rounding("X", X)
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


@dataclass(eq=False, repr=False)
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
        KKT gap at which training stops, in units of the decision values; see `solve_one_class`. Left-out
        values do not depend on it.
    verbose : bool
        A parameter of scikit-learn's OneClassSVM that changes nothing.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, offset_, coef_, fit_status_, n_iter_, \
    shape_fit_, n_features_in_, feature_names_in_
        As in scikit-learn's OneClassSVM.
    loo_decision_ : ndarray, shape (m,)
        The decision value of each row by the model trained without it, exact up to round-off, and 0 where
        round-off allows 0. It is computed on its first access.
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

    _: KW_ONLY
    nu: float = 0.5

    @staticmethod
    def variables_of(solution):
        """Return the variables of a solution."""
        return solution.alpha

    def solution_on(self, gram, z, weight, former=None):
        """Return the Solution on a Gram matrix; see `Machine`."""
        return solve_one_class(gram, self.nu, weight, tol=self.tol, max_iter=step_limit(self.max_iter))

    @all_or_nothing
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

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute decision values, not negative where a row is accepted: shape (n,).

        Values that may be 0, but for round-off, are 0. With ``kernel="precomputed"`` X holds kernel values
        with the training rows, shape (n, m).
        """
        return zero_within(self._values(X), ROUND_OFF * self._size_of_terms(X))

    def score_samples(self, X: Any) -> np.ndarray:
        """Compute decision values plus `offset_`, shape (n,)."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Predict 1 for rows that are accepted and -1 for others, shape (n,)."""
        return _labels_of(self.decision_function(X))

    def _size_of_terms(self, X):
        """Return the size of the terms whose sum is the value of a row."""
        size = np.abs(self.dual_coef_[0])
        if self._kernel is None:
            return np.abs(rows_to_predict(self, X)[:, self.support_]) @ size
        if not size.size:  # no variable differs from 0
            return 0.0
        support_vectors = as_rows(measured_from(self.support_vectors_, self._origin))
        return float(size @ np.abs(self._kernel.diagonal(Rows.pair(support_vectors, support_vectors)[0])))

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
        loo = training.model.left_out_on(training.gram, training.weight, progress)
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
        y = np.asarray(y)
        view = partial(LeftOutOneClass, training_of(self, "loo_score").X)
        right = np.where(y == 1, 1.0, -1.0)
        return left_out_score(scoring, view, right, lambda: self.loo_decision_, y, sample_weight)
