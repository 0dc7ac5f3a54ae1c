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
    """xi-alpha bound ``(1/m) #{SVs p: 2 alpha_p R^2 + xi_p >= 1}`` (Joachims 2000; for weighted points Yang
    et al. 2015; Sarafis et al. 2018, eq. 21).

    A bound of the leave-one-out error where the solution is stable: some in-bound SV fixes its threshold, and
    goes on doing so when p is left out (see `svmselect.loo.sufficiency_checks`).

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows. R^2 is its `squared_radius`: 1 for the RBF kernel.
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
    >>> from svmselect import RBF, Gram, solve_csvc, xi_alpha
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> round(xi_alpha(gram, y, solution).error, 3)
    0.75
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
