"""The C-SVC and the nu-SVC as scikit-learn estimators."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from svmselect.checks import check_options
from svmselect.path import check_values, moved_along_C
from svmselect.sklearn.classifier import Classifier, step_limit
from svmselect.sklearn.kernels import gram_of, single_rounding
from svmselect.sklearn.one_vs_one import loo_path, pair_decision, retrained
from svmselect.svm import InfeasibleNu, solve_csvc, solve_nusvc

__all__ = ["SVC", "NuSVC"]

# KKT gap of the solution from which the estimates are computed
EXACT = 1e-9
# Several classes of at least this many rows are trained with float32 kernel values, if these move decision
# values by at most this share of `tol`, at this many rows of each pair.
SINGLE_ROWS, SINGLE_SHARE, SINGLE_CHECKED = 1_000, 0.25, 64


@dataclass(eq=False, repr=False)
class SVC(Classifier):
    """Support vector classifier that knows its leave-one-out error.

    Parameters and attributes are those of scikit-learn's SVC, and so is the classifier, but for
    probabilities. More than two classes are one problem for each pair (one-vs-one).

    Parameters
    ----------
    C : float
        Penalty of training errors, > 0.
    kernel : str, Kernel or callable
        "rbf", "linear", "poly", "sigmoid", "laplacian", "chi2" or "precomputed". A kernel of
        `svmselect.kernels` has its own parameters; for a function of two arrays of rows see
        `svmselect.Custom`. "sigmoid" can be trained with, and cross-validated, but has no estimates.
        "precomputed": `fit` gets the kernel matrix of the training rows, `predict` kernel values between new
        and training rows. It has to be positive semi-definite.
    degree : int
        The degree of "poly".
    gamma : {"scale", "auto"} or float
        For all named kernels but the linear one: "scale" is ``1 / (d var(X))``, "auto" is ``1 / d``.
    coef0 : float
        For "poly", where it must not be negative, and "sigmoid".
    shrinking, random_state
        Parameters of scikit-learn's SVC that change nothing.
    probability : bool
        A parameter of scikit-learn's SVC that must be False: see `calibration`.
    class_weight : dict, "balanced" or None
        Factors of C by label; "balanced" is ``m / (k m_c)`` for a class of m_c rows.
    tol : float
        KKT gap at which training stops, as in LIBSVM. Leave-one-out errors do not depend on it.
    cache_size : float
        Memory budget for kernel values in 2**20 bytes.
    verbose : bool or int
        Whether to print a line for each pair of classes that is trained.
    max_iter : int
        The largest number of steps of the solver; -1 for a hundred thousand per row, and at least a million.
    decision_function_shape : {"ovr", "ovo"}
        With more than two classes: a value for each class, or for each pair.
    break_ties : bool
        With more than two classes: whether the values of "ovr" decide between classes of equally many votes.
        Else the first of them is predicted. Single-fit estimates do not break ties.
    calibration : {None, "loo"}
        "loo": `fit` leaves each row out, and `predict_proba` has probabilities calibrated by the exact
        left-out decision values. No further model is trained. Rows count by their sample weights.
    calibration_method : {"sigmoid", "isotonic"}
        Platt's sigmoid, or a monotone step function, which needs more rows.
    threshold : str or callable, optional
        A score of labels as for `LOOSearchCV`, of two classes: `fit` leaves each row out, and `predict`
        predicts the second class from `threshold_` on, where this score of the left-out rows is largest. By
        default from 0 on.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, class_weight_, \
    fit_status_, n_iter_, n_features_in_, feature_names_in_, shape_fit_
        As in scikit-learn's SVC.
    threshold_ : float
        The decision value from which on `predict` predicts the second of two classes.
    loo_error_ : float
        Exact leave-one-out error: the share of rows that the classifier trained without them misclassifies.
        Here, and in all attributes that follow, the threshold is 0, and gamma and class weights stay those of
        all rows. It is computed on its first access, as all attributes below.
    weighted_loo_error_ : float
        The leave-one-out error with each row counted by its sample weight times the weight of its class.
    loo_predictions_ : ndarray, shape (m,)
        The prediction for each row by the classifier trained without it.
    loo_decision_ : ndarray, shape (m,) or (m, k) or (m, k (k - 1) / 2)
        Its decision value there, exact up to round-off; see `decision_function`.
    span_estimate_ : float
        Span rule, an estimate of the leave-one-out error from one fit. With more than two classes the votes
        of the pairs decide, here and below.
    opper_winther_estimate_ : float
        Opper and Winther's estimate of it.
    span_bound_, xi_alpha_bound_, sv_count_bound_, jaakkola_haussler_bound_, radius_margin_bound_, \
    rescaled_radius_margin_bound_ : float
        Bounds of it, which may exceed 1; see `svmselect.bounds` for where they hold.

    Notes
    -----
    Without a row, all support vectors may be bounded, and any threshold of an interval is optimal.
    Leave-one-out takes its midpoint, as retraining does here and in LIBSVM.

    A pickle, or a copy, does not hold the training set: estimates that were not computed before are an
    AttributeError there.

    Three or more classes of 1,000 rows or more are trained with float32 values of an RBF kernel if these are
    sure to move decision values by at most a quarter of `tol`.

    `fit` calls `_train`, `_solve`, `svmselect.solve_csvc` and, compiled, ``solver._active_set.solve`` and
    ``Dual.solve``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmselect.sklearn import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> round(model.loo_error_, 4)
    0.0267
    >>> model.predict(X[:2])
    array([0, 0])
    """

    C: float = 1.0

    _formulation = "C"

    def _solve(self, gram, y, weight, max_iter):
        (C,) = check_values([self.C], "C")
        return solve_csvc(gram, y, C * weight, tol=self.tol, max_iter=max_iter)

    def _solve_pairs(self, gram, X, problem, max_iter):
        """Return the solution of each pair of classes, by float32 kernel values where these are enough.

        They are tried where the usual rounding of as many values as rows, with random signs and the largest
        alphas, stays below `tol`. Then some decision values of each pair are computed again in float64. A
        pair in which they differ is trained on with float64 values.
        """
        (C,) = check_values([self.C], "C")
        check_options(self.tol, "wss2", None, gram.m)
        largest = SINGLE_SHARE * self.tol
        few = problem.classes.size < 3 or gram.m < SINGLE_ROWS
        if few or C * problem.weight.max() * np.sqrt(gram.m) * single_rounding(gram.kernel, X) > largest:
            return super()._solve_pairs(gram, X, problem, max_iter)
        single = gram_of(X, gram.kernel, self.cache_size, "float32")
        solutions = []
        for pair in problem.pairs:
            weight = problem.weight[pair.rows]
            solution = self._solve(pair.gram(single), pair.y, weight, max_iter)
            places = np.linspace(0, pair.rows.size - 1, SINGLE_CHECKED).astype(np.intp)
            values = pair_decision(gram, pair, solution, pair.rows[places])
            if not np.abs(values - solution.decision[places]).max() <= largest:
                steps = solution.n_iter
                solution = solve_csvc(
                    pair.gram(gram), pair.y, C * weight, tol=self.tol, max_iter=max_iter, start=solution.alpha
                )
                solution = replace(solution, n_iter=steps + solution.n_iter)
            solutions.append(solution)
        return solutions

    def path(self, gram, y, weight, Cs, exact=False):
        """Yield the Solution of two classes for each C, in increasing order, each from the one before.

        With `exact` they are solved to round-off.
        """
        options = {"tol": self.tol, "max_iter": step_limit(self.max_iter), "working_set": "wss2"}
        if exact:
            options |= {"tol": min(self.tol, EXACT), "working_set": None}
        start = solution = None
        for C in Cs:
            bound = C * weight
            if solution is not None:
                start = moved_along_C(y, solution, bound) * y
            solution = solve_csvc(gram, y, bound, start=start, **options)
            yield solution

    def exact_solution(self, gram, pair, solution):
        """Return the solution of two classes to round-off, from that of training."""
        return solve_csvc(gram, pair.y, solution.C, tol=min(self.tol, EXACT), start=solution.alpha)

    def leave_one_out(self, progress: Any = None, decision_values: bool = False) -> np.ndarray:
        """Leave each training row out in turn; return `loo_predictions_`.

        `progress` is called as ``progress(share)`` with the share of the work that is done. With
        `decision_values`, `loo_decision_` is computed, too, for which every path goes to its end.
        """
        return self._leave_out(progress, decision_values)

    def _left_out_model(self, training, progress, decision_values):
        starts, limit = [solution.alpha for solution in training.solutions], step_limit(self.max_iter)
        parts = training.gram, training.problem, [float(training.value)], self.tol, limit
        return next(loo_path(*parts, starts, progress, decision_values))


@dataclass(eq=False, repr=False)
class NuSVC(Classifier):
    """Support vector classifier with nu in the place of C.

    Parameters
    ----------
    nu : float
        In (0, 1]: a lower bound on the share of support vectors, an upper bound on the share of margin
        errors. At most twice the share of the smaller class, in each pair of classes.
    tol : float
        KKT gap at which training stops, on the scale of alphas up to 1, as in LIBSVM: it has to be less than
        half the distance between the two margins' levels there.
    kernel, degree, gamma, coef0, shrinking, probability, class_weight, cache_size, verbose, max_iter, \
    decision_function_shape, break_ties, random_state, calibration, calibration_method, threshold
        See `SVC`. Weights are the largest alphas, as in Chang and Lin's nu-SVC.

    Attributes
    ----------
    loo_error_, weighted_loo_error_, loo_predictions_, loo_decision_
        See `SVC`; computed by training without each row to `tol`. The C that stands for nu is another without
        it, so that no row can be skipped.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, class_weight_, \
    fit_status_, n_iter_, threshold_, n_features_in_, feature_names_in_, shape_fit_, span_estimate_, \
    opper_winther_estimate_, span_bound_, xi_alpha_bound_, sv_count_bound_, jaakkola_haussler_bound_, \
    radius_margin_bound_, rescaled_radius_margin_bound_
        See `SVC`; the single-fit estimates are those of the C-SVC with the same classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmselect.sklearn import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    nu: float = 0.5
    _: KW_ONLY
    tol: float = 1e-5

    _formulation = "nu"

    def _solve(self, gram, y, weight, max_iter, nu=None):
        nu = self.nu if nu is None else nu
        return solve_nusvc(gram, y, nu, weight=weight, tol=self.tol, max_iter=max_iter)

    def path(self, gram, y, weight, nus, exact=False):
        """Yield the Solution of two classes for each nu, or the error of one that is infeasible.

        They are solved to `tol`, with `exact` or without.
        """
        for nu in nus:
            try:
                yield self._solve(gram, y, weight, step_limit(self.max_iter), nu)
            except InfeasibleNu as error:
                yield error

    def exact_solution(self, gram, pair, solution):
        """Return the solution as it was trained."""
        return solution

    def leave_one_out(self, progress: Any = None, decision_values: bool = True) -> np.ndarray:
        """Leave each training row out in turn.

        Parameters
        ----------
        progress, decision_values
            See `SVC.leave_one_out`; training without each row gives both at once.

        Returns
        -------
        ndarray, shape (m,)
            `loo_predictions_`: the prediction for each row by the classifier trained without it.

        Raises
        ------
        ValueError
            If nu is infeasible without a row, or leaves no margin.
        """
        return self._leave_out(progress, decision_values)

    def _left_out_model(self, training, progress, decision_values):
        parts = training.gram, training.problem, training.value, training.solutions
        return retrained(*parts, self.tol, step_limit(self.max_iter), progress)
