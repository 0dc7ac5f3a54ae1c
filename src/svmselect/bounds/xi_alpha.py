"""The xi-alpha bound."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from svmselect.bounds.estimate import Estimate, SingleFit, check_estimate, counted
from svmselect.gram import Gram
from svmselect.svm import Solution

__all__ = ["XI_ALPHA", "xi_alpha"]


def xi_alpha(gram: Gram, y: ArrayLike, solution: Solution) -> Estimate:
    """Compute the xi-alpha bound ``#{SVs p: 2 alpha_p R^2 + xi_p >= 1} / m`` (Joachims 2000).

    It is a bound of the leave-one-out error where the solution is stable: some in-bound SV fixes its
    threshold, and goes on doing so when p is left out (see `svmselect.loo.sufficiency_checks`). For weighted
    points see Yang et al. (2015) and Sarafis et al. (2018, eq. 21). R^2 is the `squared_radius` of the Gram
    matrix: 1 for the RBF kernel. For the arguments see `span_rule`.
    """
    begin = time.process_time()
    y = check_estimate(gram, y, solution)
    slack = np.maximum(0, 1 - y * solution.decision)
    errors = (solution.alpha > 0) & (2 * solution.alpha * gram.squared_radius() + slack >= 1)
    return Estimate(**counted(errors, solution), cpu_s=time.process_time() - begin)


XI_ALPHA = SingleFit(
    xi_alpha,
    key="xi_alpha_bound",
    name="xi-alpha bound",
    short="xi-alpha",
    assumption="The xi-alpha bound assumes that some in-bound support vector fixes the threshold "
    "without the point that is left out, too.",
)
