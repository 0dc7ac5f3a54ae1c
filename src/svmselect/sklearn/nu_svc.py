"""The nu-SVC as a scikit-learn estimator."""

from __future__ import annotations

from functools import partial

from svmselect.sklearn.base import Classifier, step_limit, warn_not_converged
from svmselect.sklearn.estimates import training_of
from svmselect.sklearn.leave_one_out import retrained
from svmselect.svm import InfeasibleNu, solve_nusvc

__all__ = ["NuSVC"]


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
