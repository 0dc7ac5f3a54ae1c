"""The epsilon-SVR and the nu-SVR as scikit-learn estimators."""

import numbers
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from svmselect.bounds import span_estimate_svr
from svmselect.forks import cached_property
from svmselect.gram.rows import measured_from
from svmselect.kernels.panels import slices
from svmselect.loo import leave_one_out_nusvr, leave_one_out_svr
from svmselect.path import check_values
from svmselect.sklearn.classifier import checked_data, rows_to_predict, step_limit, warn_not_converged
from svmselect.sklearn.estimates import training_of
from svmselect.sklearn.fitting import all_or_nothing, warn_of_rounding
from svmselect.sklearn.kernels import values_at
from svmselect.sklearn.machine import Machine
from svmselect.sklearn.scoring import LeftOutRows, left_out_score
from svmselect.svr import moved_to_bounds, solve_nusvr, solve_svr, spread_of

__all__ = ["SVR", "LeftOutRegression", "NuSVR", "Regressor", "regression_rows"]

BLOCK_VALUES = 2**22  # left-out predictions of new rows at once
SPAN_TOL = 1e-10  # KKT gap of fits whose spans are taken, relative to the range of the targets


def regression_rows(estimator, X, y):
    """Return X as a float64 ndarray or canonical CSR matrix, a copy, and targets as float64."""
    warn_of_rounding("y", y)
    X, z = checked_data(estimator, X, y, "fiu", y_numeric=True)
    return X, np.array(z, dtype=np.float64)


class LeftOutRegression(RegressorMixin, LeftOutRows):
    """A fitted regression as scorers see it; see `LeftOutRows`."""

    def predict(self, X):
        """Return the predictions, shape (n,)."""
        return self.values_of(X)


class Regressor(RegressorMixin, Machine):
    """A support vector regression.

    A subclass has ``left_out_on(gram, z, weight, solution, progress, models)``, which returns the left-out
    predictions, and how many of them are not known to the tolerance. For the rest see `Machine`.
    """

    _on_demand: ClassVar[tuple[str, ...]] = ("loo_predictions_", "_left_out_models")

    @staticmethod
    def variables_of(solution):
        """Return the variables of a solution."""
        return solution.theta

    def _options(self, z, weight):
        """Return the tolerance of a solver, in units of the targets, and its limit of steps."""
        return dict(tol=self.tol * spread_of(z, weight), max_iter=step_limit(self.max_iter))

    @all_or_nothing
    def fit(self, X, y, sample_weight=None):
        """Train.

        Parameters
        ----------
        X : array_like, DataFrame or sparse matrix, shape (m, d)
            See `SVC.fit`.
        y : array_like, shape (m,)
            Targets.
        sample_weight : array_like, shape (m,), optional
            Factors of C; 1 by default. A row of weight 0 is not trained on.

        Returns
        -------
        self
        """
        self._check_fit(X)
        self.epsilon_ = self._fit(*regression_rows(self, X, y), sample_weight).epsilon
        warn_not_converged(self.fit_status_, self)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array_like, DataFrame or sparse matrix, shape (n, d)
            With ``kernel="precomputed"`` kernel values with the training rows, shape (n, m).

        Returns
        -------
        ndarray, shape (n,)
        """
        return self._values(X)

    @cached_property
    def loo_predictions_(self):
        """The prediction of each row by the model trained without it, shape (m,)."""
        return self._left_out(training_of(self, "loo_predictions_"))

    @property
    def loo_residuals_(self):
        """Targets minus `loo_predictions_`, shape (m,)."""
        return training_of(self, "loo_residuals_").z - self.loo_predictions_

    @cached_property
    def _left_out_models(self):
        """The models without each of n rows, s of them support vectors, and the absolute left-out residuals.

        They are the numbers and the rows of the support vectors, shape (s,) and (s, d), variables, shape
        (n, s), thresholds and absolute residuals, shape (n,). A file or a pickle of the model holds them.
        """
        training = training_of(self, "predict_interval")
        theta, b = np.zeros((training.z.size, training.z.size)), np.zeros(training.z.size)
        self.__dict__["loo_predictions_"] = self._left_out(training, models=(theta, b))
        rows = np.flatnonzero(training.weight > 0)
        support = np.flatnonzero(theta[rows].any(axis=0))
        vectors = np.empty((0, 0)) if self._kernel is None else training.X[support]
        return support, vectors, theta[np.ix_(rows, support)], b[rows], np.abs(self.loo_residuals_)[rows]

    def _left_out(self, training, progress=None, models=None):
        """Return the left-out predictions of the training rows."""
        data = training.gram, training.z, training.weight, training.solution
        predictions, n = training.model.left_out_on(*data, progress, models)
        warn_not_converged(n, self)
        return predictions

    def loo_score(self, scoring, sample_weight=None):
        """Compute a score of the left-out predictions.

        Parameters
        ----------
        scoring : str, callable, list, tuple, set or dict
            As for `LOOSearchCV`, such as "neg_mean_absolute_error".
        sample_weight : array_like, shape (m,), optional
            Weights of the rows in the score.

        Returns
        -------
        float or dict from str to float
            A dict for several scores.
        """
        training = training_of(self, "loo_score")
        view, z = partial(LeftOutRegression, training.X), training.z
        return left_out_score(scoring, view, z, lambda: self.loo_predictions_, z, sample_weight)

    def predict_interval(self, X: Any, alpha: float = 0.1) -> np.ndarray:
        """Predict intervals of targets by the jackknife+ (Barber, Candes, Ramdas and Tibshirani 2021).

        If rows are exchangeable, an interval has the target of a new row with probability ``1 - 2 alpha`` at
        least, and usually about ``1 - alpha``. The result, shape (n, 2), are lower and upper ends, infinite
        where there are fewer than ``1 / alpha - 1`` training rows. The models without each row come from the
        paths of leave-one-out, and take up to ``8 m^2`` bytes; a model that is saved after a first call has
        them.
        """
        if not (isinstance(alpha, numbers.Real) and 0 < alpha < 1):
            raise ValueError(f"alpha must be a number in (0, 1), got {alpha!r}")
        check_is_fitted(self)
        X = rows_to_predict(self, X)
        support, vectors, theta, b, size = self._left_out_models
        n = size.size
        # the ends are the k-th largest of n values above, and the k-th least below
        k = int(np.floor(alpha * (n + 1) * (1 + 1e-12)))
        ends = np.tile([-np.inf, np.inf], (X.shape[0], 1))
        if k == 0:
            return ends
        for part in slices(X.shape[0], max(1, BLOCK_VALUES // n)):
            if self._kernel is None:
                predictions = X[part][:, support] @ theta.T + b
            else:
                rows, centred = (measured_from(each, self._origin) for each in (X[part], vectors))
                predictions = values_at(rows, self._kernel, centred, theta) + b
            ends[part, 0] = np.partition(predictions - size, k - 1, axis=1)[:, k - 1]
            ends[part, 1] = np.partition(predictions + size, n - k, axis=1)[:, n - k]
        return ends


@dataclass(eq=False, repr=False)
class SVR(Regressor):
    """Epsilon support vector regression that knows its left-out predictions.

    Parameters and attributes are those of scikit-learn's SVR, and so is the model.

    Parameters
    ----------
    kernel, degree, gamma, coef0, shrinking, cache_size, max_iter
        See `SVC`.
    tol : float
        KKT gap at which training stops, relative to the standard deviation of the targets. Left-out
        predictions do not depend on it.
    C : float
        Penalty of errors outside the tube, > 0.
    epsilon : float
        Half the width of the tube in which errors do not count, >= 0.
    verbose : bool
        A parameter of scikit-learn's SVR that changes nothing.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_, shape_fit_, \
    n_features_in_, feature_names_in_
        As in scikit-learn's SVR.
    epsilon_ : float
        The epsilon of the model.
    loo_predictions_ : ndarray, shape (m,)
        The prediction of each row by the model trained without it, exact up to round-off. It is computed on
        its first access.
    loo_residuals_ : ndarray, shape (m,)
        Targets minus `loo_predictions_`.
    span_estimate_ : float
        The mean absolute left-out residual as the spans of one fit estimate it; see `span_estimate_svr`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from svmselect.sklearn import SVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SVR(C=100, epsilon=10).fit(X, y)
    >>> round(model.loo_score("neg_mean_absolute_error"), 1)
    -43.8
    >>> model.predict_interval(X[:2], alpha=0.1).round()
    array([[134., 326.],
           [-20., 172.]])
    """

    _formulation, _shared = "C", "epsilon"
    _on_demand = (*Regressor._on_demand, "span_estimate_")

    _: KW_ONLY
    C: float = 1.0
    epsilon: float = 0.1

    def solution_on(self, gram, z, weight, former=None):
        """Return the RegressionSolution on a Gram matrix; see `Regressor`."""
        (C,) = check_values([self.C], "C")
        start = None if former is None else moved_to_bounds(former, C * weight)
        return solve_svr(gram, z, C * weight, self.epsilon, start=start, **self._options(z, weight))

    @cached_property
    def span_estimate_(self):
        """The mean absolute left-out residual as the spans of one fit estimate it."""
        training = training_of(self, "span_estimate_")
        solution = self.exact_solution(training.gram, training.z, training.solution)
        return span_estimate_svr(training.gram, training.z, solution).mean_absolute_error

    def exact_solution(self, gram, z, solution):
        """Return the solution to round-off, from that of training."""
        tol = max(SPAN_TOL * np.ptp(z), np.finfo(float).tiny)
        return solve_svr(gram, z, solution.C, solution.epsilon, tol=tol, start=solution.theta)

    def left_out_on(self, gram, z, weight, solution, progress=None, models=None):
        """Return the left-out predictions on a Gram matrix; see `Regressor`."""
        limit, start = step_limit(self.max_iter), solution.theta
        loo = leave_one_out_svr(
            gram, z, solution.C, self.epsilon, start=start, max_iter=limit, progress=progress, models=models
        )
        return loo.predictions, loo.n_not_converged


@dataclass(eq=False, repr=False)
class NuSVR(Regressor):
    """Nu support vector regression: epsilon follows from the share of rows outside the tube.

    Parameters
    ----------
    nu : float
        In (0, 1]: a lower bound on the share of support vectors, an upper bound on the share of rows outside
        the tube.
    C, kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter
        See `SVR`.

    Attributes
    ----------
    loo_predictions_, loo_residuals_
        See `SVR`. Without a row epsilon is another one, too.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, epsilon_, fit_status_, n_iter_, \
    shape_fit_, n_features_in_, feature_names_in_
        See `SVR`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from svmselect.sklearn import NuSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NuSVR(nu=0.5, C=100).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.66
    """

    _formulation, _shared = "nu", "C"

    _: KW_ONLY
    nu: float = 0.5
    C: float = 1.0

    def solution_on(self, gram, z, weight, former=None):
        """Return the RegressionSolution on a Gram matrix; see `Regressor`."""
        (C,) = check_values([self.C], "C")
        return solve_nusvr(gram, z, C * weight, self.nu, **self._options(z, weight))

    def left_out_on(self, gram, z, weight, solution, progress=None, models=None):
        """Return the left-out predictions on a Gram matrix; see `Regressor`."""
        limit = step_limit(self.max_iter)
        loo = leave_one_out_nusvr(
            gram, z, solution.C, self.nu, max_iter=limit, progress=progress, models=models
        )
        return loo.predictions, loo.n_not_converged
