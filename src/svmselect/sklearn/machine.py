"""Machines with one set of variables: what regressions and one-class models share as estimators."""

import numbers
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from svmselect.forks import cached_property
from svmselect.gram import Gram
from svmselect.gram.rows import measured_from
from svmselect.kernels import Kernel, Linear
from svmselect.sklearn.classifier import KernelEstimator
from svmselect.sklearn.estimates import training_of
from svmselect.sklearn.kernels import Precomputed, gram_of, kernel_of
from svmselect.sklearn.one_vs_one import checked_weight
from svmselect.sklearn.scoring import Scoring

__all__ = ["Machine"]


@dataclass
class _MachineTraining:
    """The results of `fit` from which left-out values are computed; see `estimates.Training`."""

    X: np.ndarray | sparse.csr_array
    kernel: Kernel | Precomputed
    memory_mb: float
    z: np.ndarray | None  # targets; None of one class
    weight: np.ndarray
    solution: object  # RegressionSolution or Solution
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

    _on_demand: tuple[str, ...]

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
        if isinstance(kernel, Precomputed) or kernel.stationary:
            origin = None
        gram = gram_of(X, kernel, self.cache_size, origin=origin)
        solution = self.solution_on(gram, z, weight)
        theta = self.variables_of(solution)
        # 2) attributes
        for name in self._on_demand:
            self.__dict__.pop(name, None)
        self._training = _MachineTraining(X, kernel, self.cache_size, z, weight, solution, origin)
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

    def _score_of(self, scoring, left_out, right, y, sample_weight):
        """Return scores of a `LeftOutRows`; `right` is one whose answers are right, for a rehearsal."""
        scoring, given = Scoring(scoring), {}
        if sample_weight is not None:
            given["sample_weight"] = checked_weight(sample_weight, left_out.values.size)
        scoring.rehearse(right, y, given)
        scores = scoring(left_out, y, given)
        return scores if scoring.several else scores["score"]
