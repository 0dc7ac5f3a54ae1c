"""The nu-SVC as a scikit-learn estimator."""

from __future__ import annotations

from svmselect.sklearn.base import Classifier
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
    As those of `SVC`, but for `loo_error_` and `loo_predictions_`: without a row, the C that stands for nu is
    another. The single-fit estimates are those of the C-SVC with the same classifier.
    """

    def __init__(
        self,
        nu=0.5,
        *,
        kernel="rbf",
        gamma="scale",
        class_weight=None,
        tol=1e-5,
        cache_size=2048,
        max_iter=-1,
        decision_function_shape="ovr",
    ):
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape

    def _solve(self, gram, y, weight, max_iter):
        return solve_nusvc(gram, y, self.nu, weight=weight, tol=self.tol, max_iter=max_iter)

    def exact_solution(self, gram, pair, training):
        """The solution as it was trained."""
        (solution,) = training.solutions
        return solution

    def leave_one_out(self, progress=None):
        """An AttributeError."""
        raise AttributeError(
            "loo_error_ and loo_predictions_ are those of a fixed C, and a NuSVC has another C without each "
            "row: use SVC"
        )
