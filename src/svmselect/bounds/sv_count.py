"""The share of support vectors."""

from __future__ import annotations

import time

from numpy.typing import ArrayLike

from svmselect.bounds.estimate import Estimate, SingleFit, check_estimate, counted
from svmselect.gram import Gram
from svmselect.svm import Solution

__all__ = ["SV_COUNT", "sv_count"]


def sv_count(gram: Gram, y: ArrayLike, solution: Solution) -> Estimate:
    """Compute the share of support vectors (Vapnik 1998; Sarafis et al. 2018, eq. 20).

    It is a bound of the leave-one-out error, for any C and any weights: the solution without a point whose
    alpha is 0 is the same, and has the point on the right side of the margin. For the arguments see
    `span_rule`.
    """
    begin = time.process_time()
    check_estimate(gram, y, solution)
    return Estimate(**counted(solution.alpha > 0, solution), cpu_s=time.process_time() - begin)


SV_COUNT = SingleFit(
    sv_count,
    key="sv_count_bound",
    name="Share of support vectors",
    short="SVs",
    assumption="The share of support vectors is a bound for any C.",
)
