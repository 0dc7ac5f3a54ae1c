"""The bound of Jaakkola and Haussler."""

from __future__ import annotations

import time

from numpy.typing import ArrayLike

from svmselect.bounds.estimate import Estimate, SingleFit, check_estimate, counted
from svmselect.gram import Gram
from svmselect.svm import Solution

__all__ = ["JAAKKOLA_HAUSSLER", "jaakkola_haussler"]


def jaakkola_haussler(gram: Gram, y: ArrayLike, solution: Solution) -> Estimate:
    """Compute the bound ``#{SVs p: alpha_p k(x_p, x_p) >= y_p f(x_p)} / m`` of Jaakkola and Haussler.

    It is a bound of the leave-one-out error of an SVM without threshold, and a heuristic with one (1999;
    Sarafis et al. 2018, section 3). A linear kernel without a threshold depends on the point from which rows
    are measured: `Gram.origin`. For the arguments see `span_rule`.
    """
    begin = time.process_time()
    y = check_estimate(gram, y, solution)
    errors = (solution.alpha > 0) & (solution.alpha * gram.diagonal >= y * solution.decision)
    return Estimate(**counted(errors, solution), cpu_s=time.process_time() - begin)


JAAKKOLA_HAUSSLER = SingleFit(
    jaakkola_haussler,
    key="jaakkola_haussler_bound",
    name="Jaakkola-Haussler",
    short="J.-H.",
    assumption="Jaakkola-Haussler assumes an SVM without threshold, which ours has.",
)
