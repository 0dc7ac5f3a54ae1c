"""The C-SVC as a scikit-learn estimator."""

from __future__ import annotations

import numpy as np
from sklearn.utils.metaestimators import available_if

from svmselect.loo.unlearn import GAP
from svmselect.path import check_values
from svmselect.sklearn.base import Classifier, step_limit, warn_not_converged
from svmselect.sklearn.calibration import Calibration, check_calibration
from svmselect.sklearn.estimates import training_of
from svmselect.sklearn.leave_one_out import loo_path
from svmselect.sklearn.left_out import LeftOut
from svmselect.sklearn.problem import checked_weight, right_values
from svmselect.sklearn.scoring import Scoring
from svmselect.sklearn.threshold import best_threshold
from svmselect.sklearn.votes import decisions, most_votes
from svmselect.svm import solve_csvc

__all__ = ["SVC"]

# KKT gap of the solution that the estimates are made from
EXACT = 1e-9


class SVC(Classifier):
    """Support vector classifier that knows its leave-one-out error.

    Parameters and attributes are those of scikit-learn's SVC, whose classifier it finds; more than two
    classes are one problem for each pair (one-vs-one).

    Parameters
    ----------
    C : float
        Penalty of training errors, > 0.
    kernel : str, Kernel or callable
        "rbf", "linear", "poly", "sigmoid", "laplacian", "chi2" or "precomputed".
        A kernel of `svmselect.kernels` has its own parameters; for a function of two arrays of rows see
        `svmselect.Custom`. "sigmoid" can be trained with, and cross-validated, but has no estimates.
        "precomputed": `fit` gets the kernel matrix of the training rows, `predict` kernel values between new
        and training rows. It has to be positive semi-definite.
    degree : int
        Of "poly".
    gamma : {"scale", "auto"} or float
        Of all named kernels but the linear one: "scale" is ``1 / (d var(X))``, "auto" is ``1 / d``.
    coef0 : float
        Of "poly", where it must not be negative, and "sigmoid".
    class_weight : dict, "balanced" or None
        Factors of C by label; "balanced" is ``m / (k m_c)`` for a class of m_c rows.
    tol : float
        KKT gap at which training stops, as in LIBSVM. Leave-one-out errors do not depend on it.
    cache_size : float
        Memory budget for kernel values in 2**20 bytes.
    max_iter : int
        Most steps of the solver; -1 for a hundred thousand per row, and at least a million.
    decision_function_shape : {"ovr", "ovo"}
        With more than two classes: a value for each class, or for each pair.
    calibration : {None, "loo"}
        "loo": `fit` leaves each row out, and `predict_proba` has probabilities that the exact left-out
        decision values calibrate. No further model is trained. Rows count by their sample weights.
    calibration_method : {"sigmoid", "isotonic"}
        Platt's sigmoid, or a monotone step function, which wants more rows.
    threshold : str or callable, optional
        A score of labels as for `LOOSearchCV`, of two classes: `fit` leaves each row out, and `predict` finds
        the second class from `threshold_` on, where this score of the left-out rows is largest. By default
        from 0 on.

    Attributes
    ----------
    classes_ : ndarray, shape (k,)
        Labels, sorted.
    support_ : ndarray of int32, shape (n_SV,)
        Rows of the support vectors, class by class.
    support_vectors_ : ndarray or CSR matrix, shape (n_SV, d)
    n_support_ : ndarray of int32, shape (k,)
    dual_coef_ : ndarray, shape (k - 1, n_SV)
        ``y alpha``, in LIBSVM's layout.
    intercept_ : ndarray, shape (k (k - 1) / 2,)
    coef_ : ndarray, shape (k (k - 1) / 2, d)
        Linear kernel only.
    class_weight_ : ndarray, shape (k,)
    fit_status_ : int
        0, or 1 if training ran out of steps.
    n_iter_ : ndarray of int, shape (k (k - 1) / 2,)
    n_features_in_, feature_names_in_, shape_fit_
        Of the training rows.
    threshold_ : float
        The decision value from which on `predict` finds the second of two classes.
    loo_error_ : float
        Exact leave-one-out error: the share of rows that the classifier trained without them misclassifies.
        Here, and in all that follows, the threshold is 0.
        gamma and class weights stay those of all rows. Computed when it is first asked for, as all below.
    weighted_loo_error_ : float
        The same with each row counted by its sample weight times the weight of its class.
    loo_predictions_ : ndarray, shape (m,)
        What the classifier trained without a row predicts for it.
    loo_decision_ : ndarray, shape (m,) or (m, k) or (m, k (k - 1) / 2)
        Its decision value there, exact up to round-off; see `decision_function`.
    span_estimate_ : float
        Span rule, an estimate of the leave-one-out error from one fit. Two classes only, as all below.
    span_bound_, xi_alpha_bound_, sv_count_bound_, radius_margin_bound_ : float
        Bounds of it, which may exceed 1; see `svmselect.bounds` for where they hold.

    Notes
    -----
    Without a row, all support vectors may be bounded, and any threshold of an interval is optimal: retraining
    takes its midpoint, while the sufficiency checks of Franc et al. count the row as correct where its alpha
    is 0.

    A pickle, or a copy, does not hold the training set: estimates that were not asked for before are an
    AttributeError there.
    """

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        class_weight=None,
        tol=1e-3,
        cache_size=2048,
        max_iter=-1,
        decision_function_shape="ovr",
        calibration=None,
        calibration_method="sigmoid",
        threshold=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.calibration = calibration
        self.calibration_method = calibration_method
        self.threshold = threshold

    _formulation = "C"

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
            Factors of C; 1 by default. A row of weight 0 is not trained on.

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
        super().fit(X, y, sample_weight)
        k = len(self.classes_)
        self.threshold_ = 0.0
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
            given = None if sample_weight is None else weight
            right = LeftOut(self, self.classes_, training.X, right_values(codes, k))
            scoring.rehearse(right, self.classes_[codes], given)
            if scoring.needs_values:
                raise ValueError(f"threshold is tuned by a score of labels, {self.threshold!r} wants values")
            self.threshold_ = best_threshold(self, self.classes_, training.X, values, codes, given, scoring)
        return self

    def predict(self, X):
        """Labels.

        Parameters
        ----------
        X : array_like, DataFrame or sparse matrix, shape (n, d)
            As for `decision_function`.

        Returns
        -------
        ndarray, shape (n,)
            Of two classes the second from `threshold_` on. Of more the one with most votes; of several, the
            first.
        """
        values = self._pair_values(X)
        return self.classes_[most_votes(values >= self.threshold_, len(self.classes_))]

    @available_if(lambda self: self.calibration is not None)
    def predict_proba(self, X):
        """Probabilities of the classes, with ``calibration="loo"``.

        Parameters
        ----------
        X : array_like, DataFrame or sparse matrix, shape (n, d)
            As for `decision_function`.

        Returns
        -------
        ndarray, shape (n, k)
            In the order of `classes_`; the most probable class need not be that of `predict`.
        """
        values = self._pair_values(X)
        return self._calibration(decisions(values, len(self.classes_), "ovr"))

    @available_if(lambda self: self.calibration is not None)
    def predict_log_proba(self, X):
        """Their logarithms, shape (n, k); see `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _solve(self, gram, y, weight, max_iter):
        (C,) = check_values([self.C], "C")
        return solve_csvc(gram, y, C * weight, tol=self.tol, max_iter=max_iter)

    def exact_solution(self, gram, pair, training):
        """The solution of two classes to round-off."""
        (solution,) = training.solutions
        return solve_csvc(gram, pair.y, solution.C, tol=min(self.tol, EXACT), start=solution.alpha)

    def leave_one_out(self, progress=None, decision_values=False):
        """Leave each training row out in turn.

        Parameters
        ----------
        progress : callable, optional
            Called as ``progress(share)`` with the share of the work that is done.
        decision_values : bool
            Whether to find `loo_decision_`, too, for which every path goes to its end.

        Returns
        -------
        ndarray, shape (m,)
            What the classifier trained without a row predicts for it: `loo_predictions_`.
        """
        training = training_of(self, "leave_one_out")
        (values,), (n_not_converged,) = loo_path(
            training.gram,
            training.problem,
            [float(training.value)],
            self.tol,
            step_limit(self.max_iter),
            [solution.alpha for solution in training.solutions],
            progress,
            decision_values,
        )
        warn_not_converged(n_not_converged, self, min(self.tol, GAP) if decision_values else None)
        self.left_out(values, decision_values)
        return self.loo_predictions_
