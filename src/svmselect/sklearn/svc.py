"""The C-SVC and the nu-SVC as scikit-learn estimators."""

from __future__ import annotations

from functools import partial

from svmselect.path import check_values, moved_along_C
from svmselect.sklearn.classifier import Classifier, step_limit, warn_not_converged
from svmselect.sklearn.estimates import training_of
from svmselect.sklearn.leave_one_out import loo_path, retrained
from svmselect.svm import InfeasibleNu, solve_csvc, solve_nusvc
from svmselect.unlearning.points import GAP

__all__ = ["SVC", "NuSVC"]

# KKT gap of the solution that the estimates are made from
EXACT = 1e-9


class SVC(Classifier):
    """Support vector classifier that knows its leave-one-out error.

    Parameters and attributes are those of scikit-learn's SVC, whose classifier it finds, but for
    probabilities; more than two classes are one problem for each pair (one-vs-one).

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
        The degree of "poly".
    gamma : {"scale", "auto"} or float
        For all named kernels but the linear one: "scale" is ``1 / (d var(X))``, "auto" is ``1 / d``.
    coef0 : float
        For "poly", where it must not be negative, and "sigmoid".
    shrinking : bool
        A parameter of scikit-learn's SVC that changes nothing: the solver leaves out rows while they do not
        matter.
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
        Else the first one is found. Single-fit estimates do not break ties.
    random_state : int, RandomState or None
        A parameter of scikit-learn's SVC that changes nothing: nothing is drawn at random.
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
        What scikit-learn's estimators keep of the training rows.
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
        Span rule, an estimate of the leave-one-out error from one fit. With more than two classes the votes
        of the pairs decide, here and below; see `svmselect.sklearn.estimates.combined`.
    opper_winther_estimate_ : float
        Opper and Winther's estimate of it.
    span_bound_, xi_alpha_bound_, sv_count_bound_, jaakkola_haussler_bound_, radius_margin_bound_, \
    rescaled_radius_margin_bound_ : float
        Bounds of it, which may exceed 1; see `svmselect.bounds` for where they hold.

    Notes
    -----
    Without a row, all support vectors may be bounded, and any threshold of an interval is optimal.
    Leave-one-out takes its midpoint, as retraining does here and in LIBSVM.

    A pickle, or a copy, does not hold the training set: estimates that were not asked for before are an
    AttributeError there.

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

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=False,
        class_weight=None,
        tol=1e-3,
        cache_size=2048,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        calibration=None,
        calibration_method="sigmoid",
        threshold=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.calibration = calibration
        self.calibration_method = calibration_method
        self.threshold = threshold

    _formulation = "C"

    def _solve(self, gram, y, weight, max_iter):
        (C,) = check_values([self.C], "C")
        return solve_csvc(gram, y, C * weight, tol=self.tol, max_iter=max_iter)

    def exact_solution(self, gram, pair, solution):
        """The solution of two classes to round-off, from that of training."""
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
        starts = [solution.alpha for solution in training.solutions]
        decision_values = decision_values or (self.break_ties and len(self.classes_) > 2)
        (model,) = self.left_out_models(
            training.gram, training.problem, [float(training.value)], decision_values, progress, starts
        )
        warn_not_converged(model.n_not_converged, self, self.left_out_tol(decision_values))
        self.left_out(model.values, decision_values)
        return self.loo_predictions_

    def left_out_tol(self, decision_values):
        """The KKT gap to which left-out rows are solved."""
        return min(self.tol, GAP) if decision_values else self.tol

    def left_out_models(self, gram, problem, Cs, decision_values, progress=None, starts=None, hopeless=None):
        """The LeftOutModel of each C, in increasing order; see `loo_path`."""
        limit = step_limit(self.max_iter)
        return loo_path(gram, problem, Cs, self.tol, limit, starts, progress, decision_values, hopeless)

    def fits(self, gram, y, weight, Cs):
        """The Solution of two classes for each C, in increasing order, each from the one before."""
        solution = None
        for C in Cs:
            bound = C * weight
            start = None if solution is None else moved_along_C(y, solution, bound) * y
            solution = solve_csvc(
                gram,
                y,
                bound,
                tol=self.tol,
                max_iter=step_limit(self.max_iter),
                working_set="wss2",
                start=start,
            )
            yield solution


def _share(progress, number, parts, done):
    """Report the share `done` of one of so many equal parts."""
    progress((number + done) / parts)


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
        See `SVC`. Weights are those of Chang and Lin's nu-SVC, whose largest alphas they are.

    Attributes
    ----------
    loo_error_, weighted_loo_error_, loo_predictions_, loo_decision_
        As those of `SVC`, but by training without each row to `tol`: the C that stands for nu is another
        without it, so that no row can be skipped.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, class_weight_, \
    fit_status_, n_iter_, threshold_, n_features_in_, feature_names_in_, shape_fit_, span_estimate_, \
    opper_winther_estimate_, span_bound_, xi_alpha_bound_, sv_count_bound_, jaakkola_haussler_bound_, \
    radius_margin_bound_, rescaled_radius_margin_bound_
        As those of `SVC`; the single-fit estimates are those of the C-SVC with the same classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmselect.sklearn import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    def __init__(
        self,
        nu=0.5,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=False,
        class_weight=None,
        tol=1e-5,
        cache_size=2048,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        calibration=None,
        calibration_method="sigmoid",
        threshold=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.calibration = calibration
        self.calibration_method = calibration_method
        self.threshold = threshold

    _formulation = "nu"

    def _solve(self, gram, y, weight, max_iter):
        return self._solution(gram, y, self.nu, weight, max_iter)

    def _solution(self, gram, y, nu, weight, max_iter):
        return solve_nusvc(gram, y, nu, weight=weight, tol=self.tol, max_iter=max_iter)

    def exact_solution(self, gram, pair, solution):
        """The solution as it was trained."""
        return solution

    def leave_one_out(self, progress=None, decision_values=True):
        """Leave each training row out in turn.

        Parameters
        ----------
        progress, decision_values
            See `SVC.leave_one_out`; training without each row finds both at once.

        Returns
        -------
        ndarray, shape (m,)
            What the classifier trained without a row predicts for it: `loo_predictions_`.

        Raises
        ------
        ValueError
            If nu is infeasible without a row, or leaves no margin.
        """
        training = training_of(self, "leave_one_out")
        model = self._without_each_row(
            training.gram, training.problem, training.value, training.solutions, progress
        )
        warn_not_converged(model.n_not_converged, self)
        self.left_out(model.values, decision_values)
        return self.loo_predictions_

    def _without_each_row(self, gram, problem, nu, solutions, progress, hopeless=None):
        def solve(gram, y, weight):
            return self._solution(gram, y, nu, weight, step_limit(self.max_iter))

        return retrained(gram, problem, solutions, solve, progress, hopeless)

    def left_out_tol(self, decision_values):
        """The KKT gap to which left-out rows are solved."""
        return self.tol

    def left_out_models(self, gram, problem, nus, decision_values, progress=None, hopeless=None):
        """The LeftOutModel of each nu, None or the InfeasibleNu that it is; see `retrained`."""
        limit = step_limit(self.max_iter)
        for number, nu in enumerate(nus):
            part = progress and partial(_share, progress, number, len(nus))
            try:
                solutions = [
                    self._solution(pair.gram(gram), pair.y, nu, problem.weight[pair.rows], limit)
                    for pair in problem.pairs
                ]
                yield self._without_each_row(gram, problem, nu, solutions, part, hopeless)
            except InfeasibleNu as error:
                yield error

    def fits(self, gram, y, weight, nus):
        """The Solution of two classes for each nu, or the InfeasibleNu that it is."""
        for nu in nus:
            try:
                yield self._solution(gram, y, nu, weight, step_limit(self.max_iter))
            except InfeasibleNu as error:
                yield error
