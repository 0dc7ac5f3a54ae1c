"""The share of support vectors."""

from __future__ import annotations

import time

from numpy.typing import ArrayLike

from svmselect.bounds.estimate import Estimate, SingleFit, check_estimate, counted
from svmselect.gram import Gram
from svmselect.svm import Solution

__all__ = ["SV_COUNT", "sv_count"]


def sv_count(gram: Gram, y: ArrayLike, solution: Solution) -> Estimate:
    """Share of support vectors, ``n/m`` (Vapnik 1998; Sarafis et al. 2018, eq. 20).

    A bound of the leave-one-out error, for any C and any weights: the solution without a point whose alpha is
    0 is the same, and has the point on the right side of the margin.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows.
    y : array_like, shape (m,)
        Labels, -1 and +1.
    solution : Solution
        What `solve_csvc` or `solve_nusvc` returned, with one C or one per point.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        For labels other than -1 and +1, or a solution of another number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_csvc, sv_count
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> round(sv_count(gram, y, solution).error, 3)
    0.75
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
