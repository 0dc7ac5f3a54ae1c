"""Base of the classifiers: a problem per pair of classes, its solution, and predictions."""

import numbers
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from svmselect.csr import as_csr
from svmselect.gram.rows import measured_from
from svmselect.kernels import RBF, Linear
from svmselect.sklearn.calibration import Calibration, check_calibration
from svmselect.sklearn.estimates import ON_DEMAND, Estimates, Training, training_of
from svmselect.sklearn.fitting import (
    all_or_nothing,
    warn,
    warn_of_numbers,
    warn_of_rounding,
    warn_of_scale,
)
from svmselect.sklearn.kernels import Precomputed, gram_of, is_precomputed, kernel_of, values_at
from svmselect.sklearn.one_vs_one import (
    Problem,
    checked_weight,
    class_weights,
    decisions,
    encoded,
    left_out_tol,
    libsvm_coef,
    right_values,
    winners,
)
from svmselect.sklearn.scoring import LeftOut, Scoring, best_threshold
from svmselect.sklearn.to_sklearn import classifier_to_sklearn

__all__ = [
    "Classifier",
    "KernelEstimator",
    "as_given",
    "canonical",
    "checked_data",
    "rows_to_predict",
    "step_limit",
    "training_set",
    "warn_not_converged",
]

SHAPES = ("ovr", "ovo")


def _plain(X, y):
    """Return whether scikit-learn's checks, which take as long as a small fit, would change nothing."""
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and X.dtype == np.float64
        and (X.ndim, y.ndim) == (2, 1)
        and X.shape[0] == y.size
        and X.size > 0
        and bool(np.isfinite(X).all())
        and (y.dtype.kind != "f" or bool(np.isfinite(y).all()))
    )


def checked_data(estimator, X, y, kinds, copy=True, **options):
    """Return X as a float64 ndarray or canonical CSR matrix, and y, which is used as it is if of these kinds.

    X is a copy by default: estimates are computed later, even if the caller changes the array.
    """
    warn_of_rounding("X", X)
    if _plain(X, y) and y.dtype.kind in kinds:
        estimator.n_features_in_ = X.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        return np.array(X, order="C") if copy else np.ascontiguousarray(X), y
    options |= {"accept_sparse": "csr", "dtype": np.float64, "order": "C", "copy": copy}
    X, y = validate_data(estimator, canonical(X), y, **options)
    return canonical(X), y


def training_set(estimator, X, y, copy=True):
    """Return the X of `checked_data`, the classes, and the number of each row's class."""
    X, y = checked_data(estimator, X, y, "biufSU", copy)
    classes, codes = encoded(y)
    warn_of_numbers(classes, codes.size)
    return X, classes, codes


def as_given(X, y, rows, kernel):
    """Return rows and labels as scorers get them: as the user gave them, like those of GridSearchCV.

    Sparse matrices and kernel matrices are those of `training_set`.
    """
    X, y = indexable(X, y)
    return rows if is_precomputed(kernel) or sparse.issparse(X) else X, y


def rows_to_predict(estimator, X):
    """Return X as a float64 ndarray or CSR matrix with as many features as the training rows have."""
    X = validate_data(estimator, canonical(X), reset=False, accept_sparse="csr", dtype=np.float64)
    return canonical(X)


def canonical(X):
    """Return sparse input as checked CSR in canonical form, other input as it is.

    It is called before scikit-learn's conversions, which rely on the indices, and after them, since a
    DataFrame of sparse columns becomes sparse only there.
    """
    return as_csr(X) if sparse.issparse(X) else X


def step_limit(max_iter):
    """Return scikit-learn's `max_iter` as the solvers take it: None for -1."""
    if isinstance(max_iter, bool) or not isinstance(max_iter, numbers.Integral) or max_iter < -1:
        raise ValueError(f"max_iter must be -1 (no limit) or an integer >= 0, got {max_iter!r}")
    return None if max_iter == -1 else int(max_iter)


def warn_not_converged(n, solver, tol=None):
    """Warn if n solves of an estimator ran out of steps, short of `tol`, by default that of the estimator."""
    if n:
        tol = solver.tol if tol is None else tol
        most = "the most" if solver.max_iter == -1 else f"max_iter={solver.max_iter}"
        warn(f"{n} solves stopped after {most} steps, short of tol={tol}", ConvergenceWarning)


@dataclass(eq=False, repr=False)
class KernelEstimator(BaseEstimator):
    """An estimator with a kernel, whose support vectors are enough to predict."""

    _: KW_ONLY
    kernel: Any = "rbf"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    shrinking: bool = True
    tol: float = 1e-3
    cache_size: float = 2048
    verbose: bool | int = False
    max_iter: int = -1

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def __getstate__(self):
        # support vectors are enough to predict
        return {key: value for key, value in super().__getstate__().items() if key != "_training"}

    def __setstate__(self, state):
        super().__setstate__(state)
        if "support_vectors_" in state:  # compiled code follows the indices of sparse ones
            self.support_vectors_ = canonical(self.support_vectors_)

    def to_sklearn(self) -> BaseEstimator:
        """Return scikit-learn's own estimator of the same model, fitted.

        Programs that know scikit-learn's classes take it: skl2onnx, m2cgen, SHAP.

        Returns
        -------
        sklearn.svm.SVC, NuSVC, SVR, NuSVR or OneClassSVM
            The class of the same name, with the same predictions, and decision values up to round-off. Its
            gamma is the number that was used. With a linear kernel, support vectors of rows far from 0 are
            measured from another point.

        Raises
        ------
        ValueError
            The model has a kernel that scikit-learn has no name for, calibrated probabilities, or a threshold
            other than 0.
        """
        return self._to_sklearn(self)

    def _check_dense(self, X):
        """Raise an error for a sparse precomputed kernel."""
        if self.kernel == "precomputed" and sparse.issparse(X):
            raise TypeError("a precomputed kernel must be a dense matrix, got a sparse one")

    def _sums(self, X, coef):
        """Compute ``sum_i coef_pi k(x, s_i) + b_p`` at each row, shape (n, len(coef))."""
        X = rows_to_predict(self, X)
        if self._kernel is None:
            return X[:, self.support_] @ coef.T + self._b
        X, support_vectors = (measured_from(rows, self._origin) for rows in (X, self.support_vectors_))
        return values_at(X, self._kernel, support_vectors, coef) + self._b


@dataclass(eq=False, repr=False)
class Classifier(Estimates, ClassifierMixin, KernelEstimator):
    """A support vector classifier: two classes, or one problem for each pair of classes (one-vs-one).

    A subclass has `_formulation`, the name of its parameter ("C" or "nu"), ``_solve(gram, y, weight,
    max_iter)``, which returns the Solution of two classes, and ``_left_out_model(training, progress,
    decision_values)``, which returns the LeftOutModel.
    """

    _: KW_ONLY
    probability: bool = False
    class_weight: Any = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    random_state: Any = None
    calibration: str | None = None
    calibration_method: str = "sigmoid"
    threshold: Any = None

    _to_sklearn = staticmethod(classifier_to_sklearn)

    @all_or_nothing
    def fit(self, X, y, sample_weight=None):
        """Train; then leave each row out, where a calibration or a threshold needs it.

        Parameters
        ----------
        X : array_like, DataFrame or sparse matrix, shape (m, d)
            Training rows of any numeric type; computed with in float64. With ``kernel="precomputed"`` their
            kernel matrix, shape (m, m).
        y : array_like, shape (m,)
            Labels of any type.
        sample_weight : array_like, shape (m,), optional
            Factors of C; 1 by default. A row of weight 0 is not trained on. A class whose rows all have
            weight 0 stays in `classes_` and is never predicted; two classes at least must have some weight.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a bad parameter, values that are not finite numbers, one class only, or shapes that differ.
        """
        check_calibration(self)
        scoring = None if self.threshold is None else Scoring(self.threshold)
        if scoring is not None and scoring.several:
            raise ValueError(f"threshold is tuned by one score, got {self.threshold!r}")
        self._train(X, y, sample_weight)
        k = len(self.classes_)
        self.threshold_ = 0.0
        vars(self).pop("_calibration", None)  # of another fit, or of a file
        if self.calibration is None and scoring is None:
            return self
        if scoring is not None and k > 2:
            raise ValueError(f"threshold is for two classes, y had {k}")
        self.leave_one_out(decision_values=True)
        training = self._training
        codes = training.problem.codes
        values = decisions(training.left_out, k, "ovr")
        weight = checked_weight(sample_weight, codes.size)
        if self.calibration is not None:
            self._calibration = Calibration(values, codes, k, weight, self.calibration_method)
        if scoring is not None:
            given = {} if sample_weight is None else {"sample_weight": weight}
            X, y = as_given(X, y, training.X, self.kernel)
            right = LeftOut(self, self.classes_, X, right_values(codes, k))
            scoring.rehearse(right, y, given)
            if scoring.needs_values:
                raise ValueError(f"threshold is tuned by a score of labels, {self.threshold!r} wants values")
            self.threshold_ = best_threshold(self, self.classes_, X, y, values, codes, given, scoring)
        return self

    def _check_switches(self):
        """Raise a ValueError for a bad parameter that has only a few values."""
        shape = self.decision_function_shape
        if shape not in SHAPES:
            raise ValueError(f"decision_function_shape must be one of {list(SHAPES)}, got {shape!r}")
        for name in ("shrinking", "break_ties"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be a bool, got {value!r}")
        if not isinstance(self.verbose, bool | np.bool_ | numbers.Integral):
            raise ValueError(f"verbose must be a bool or an integer, got {self.verbose!r}")
        if self.probability and self.probability != "deprecated":
            raise ValueError(
                f"probability must be False, got {self.probability!r}: calibration='loo' has probabilities, "
                "without another fit"
            )

    def _train(self, X, y, sample_weight):
        """Solve the problem of each pair, and set the fitted attributes."""
        self._check_switches()
        self._check_dense(X)
        limit = step_limit(self.max_iter)
        X, classes, codes = training_set(self, X, y)
        weight = checked_weight(sample_weight, codes.size)
        per_class = class_weights(self.class_weight, classes, codes)
        problem = Problem(classes, codes, weight * per_class[codes])
        kernel = kernel_of(self.kernel, X, self.gamma, self.degree, self.coef0)
        if isinstance(kernel, RBF):
            warn_of_scale(X)
        gram = gram_of(X, kernel, self.cache_size)
        solutions = self._solve_pairs(gram, X, problem, limit)

        for name in ON_DEMAND:  # of a former fit
            self.__dict__.pop(name, None)
        value = getattr(self, self._formulation)
        self._training = Training(X, kernel, self.cache_size, problem, value, solutions)
        self._kernel = None if isinstance(kernel, Precomputed) else kernel
        self._origin = gram.origin
        self.classes_, self.class_weight_ = classes, per_class
        self.shape_fit_ = X.shape
        self._keep(X, problem, solutions)
        n_not_converged = sum(not solution.converged for solution in solutions)
        self.fit_status_ = int(n_not_converged > 0)
        self.n_iter_ = np.zeros(problem.n_pairs, dtype=np.int64)
        self.n_iter_[[pair.number for pair in problem.pairs]] = [solution.n_iter for solution in solutions]
        if self.verbose:
            self._report(problem, solutions)
        warn_not_converged(n_not_converged, self)

    def _solve_pairs(self, gram, X, problem, max_iter):
        """Return the solution of each pair of classes."""
        return [
            self._solve(pair.gram(gram), pair.y, problem.weight[pair.rows], max_iter)
            for pair in problem.pairs
        ]

    def _leave_out(self, progress, decision_values):
        """Leave each training row out; set the results, and return `loo_predictions_`."""
        training = training_of(self, "leave_one_out")
        decision_values = decision_values or (self.break_ties and len(self.classes_) > 2)
        model = self._left_out_model(training, progress, decision_values)
        tol = left_out_tol(self._formulation, self.tol, decision_values)
        warn_not_converged(model.n_not_converged, self, tol)
        self.left_out(model.values, decision_values)
        return self.loo_predictions_

    def _report(self, problem, solutions):
        """Print a line for each pair of classes."""
        names = self.classes_.tolist()
        for pair, solution in zip(problem.pairs, solutions, strict=True):
            print(
                f"[svmselect] {names[pair.first]!r} and {names[pair.second]!r}: {pair.rows.size} rows, "
                f"{solution.n_iter} steps, KKT gap {solution.kkt_gap:.2g}, dual objective "
                f"{solution.objective:.6g}, {solution.n_sv} support vectors, {solution.n_inbound} in-bound"
            )

    def _keep(self, X, problem, solutions):
        """Set the support vectors, class by class, and their coefficients in each pair."""
        codes, pairs = problem.codes, problem.pairs
        coef, self._b = np.zeros((problem.n_pairs, codes.size)), problem.default.copy()
        for pair, solution in zip(pairs, solutions, strict=True):
            coef[pair.number, pair.rows], self._b[pair.number] = solution.alpha * pair.y, solution.b
        support = np.flatnonzero(coef.any(axis=0))
        support = support[np.argsort(codes[support], kind="stable")]
        self._coef = np.ascontiguousarray(coef[:, support])
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if self._kernel is None else X[support]
        self._describe(codes[support])

    def _describe(self, codes):
        """Set what follows from support vectors, of classes with these numbers, and coefficients."""
        self.n_support_ = np.bincount(codes, minlength=self.classes_.size).astype(np.int32)
        # The intercept is for rows as they are: coef_ @ x + intercept_.
        at_zero = self._b
        if isinstance(self._kernel, Linear) and self._origin is not None:
            at_zero = self._b - self._weights() @ self._origin
        two = self.classes_.size == 2
        self.intercept_ = at_zero if two else -at_zero
        self.dual_coef_ = self._coef if two else libsvm_coef(self._coef, codes)

    def _pair_values(self, X):
        """Return the decision value of each pair, positive for its second class: shape (n, n_pairs)."""
        check_is_fitted(self)
        return self._sums(X, self._coef)

    def _weights(self):
        """Return the weight vector of each pair, of a linear kernel: shape (n_pairs, d)."""
        return self._coef @ measured_from(self.support_vectors_, self._origin)

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute decision values of rows X, shape (n,), (n, k) or (n, k (k - 1) / 2).

        With ``kernel="precomputed"`` X has kernel values with the training rows, shape (n, m). Of two classes
        values are positive for ``classes_[1]``, which a value of 0 counts as. Of more, with
        ``decision_function_shape="ovr"``, they are the votes of each class, and less than half a vote for the
        sum of its decision values; with "ovo" the value of each pair, positive for its first class.
        """
        return decisions(self._pair_values(X), len(self.classes_), self.decision_function_shape)

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array_like, DataFrame or sparse matrix, shape (n, d)
            As for `decision_function`.

        Returns
        -------
        ndarray, shape (n,)
            Of two classes the second from `threshold_` on. Of more the one with most votes; of several the
            first, or with ``break_ties=True`` that with the largest value of "ovr".
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        values = self._pair_values(X)
        return self.classes_[winners(values, len(self.classes_), self.break_ties, self.threshold_)]

    def _has_probabilities(self):
        return self.calibration is not None or "_calibration" in vars(self)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Compute probabilities of the classes, with ``calibration="loo"`` or by LIBSVM's file of a model.

        Parameters
        ----------
        X : array_like, DataFrame or sparse matrix, shape (n, d)
            As for `decision_function`.

        Returns
        -------
        ndarray, shape (n, k)
            In the order of `classes_`; the most probable class need not be the predicted one.
        """
        values = self._pair_values(X)
        return self._calibration(decisions(values, len(self.classes_), self._calibration.shape))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return logarithms of `predict_proba`, shape (n, k)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
