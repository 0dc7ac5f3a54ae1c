"""The nu-SVC as a scikit-learn estimator."""

from __future__ import annotations

from svmselect.sklearn.base import Classifier, step_limit, warn_not_converged
from svmselect.sklearn.estimates import training_of
from svmselect.sklearn.leave_one_out import retrained
from svmselect.svm import solve_nusvc

__all__ = ["NuSVC"]


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
    kernel, gamma, class_weight, cache_size, max_iter, decision_function_shape
        See `SVC`. Weights are those of Chang and Lin's nu-SVC, whose largest alphas they are.

    Attributes
    ----------
    loo_error_, weighted_loo_error_, loo_predictions_, loo_decision_
        As those of `SVC`, but by training without each row to `tol`: the C that stands for nu is another
        without it, so that no row can be skipped.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, class_weight_, \
    fit_status_, n_iter_, n_features_in_, feature_names_in_, shape_fit_, span_estimate_, span_bound_, \
    xi_alpha_bound_, sv_count_bound_, radius_margin_bound_
        As those of `SVC`; the single-fit estimates are those of the C-SVC with the same classifier.
    """

    def __init__(
        self,
        nu=0.5,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        class_weight=None,
        tol=1e-5,
        cache_size=2048,
        max_iter=-1,
        decision_function_shape="ovr",
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape

    _formulation = "nu"

    def _solve(self, gram, y, weight, max_iter):
        return solve_nusvc(gram, y, self.nu, weight=weight, tol=self.tol, max_iter=max_iter)

    def exact_solution(self, gram, pair, training):
        """The solution as it was trained."""
        (solution,) = training.solutions
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
        options = {"tol": self.tol, "max_iter": step_limit(self.max_iter)}

        def solve(gram, y, weight):
            return solve_nusvc(gram, y, training.value, weight=weight, **options)

        values, n_not_converged = retrained(
            training.gram, training.problem, training.solutions, solve, progress
        )
        warn_not_converged(n_not_converged, self)
        self.left_out(values, decision_values)
        return self.loo_predictions_
