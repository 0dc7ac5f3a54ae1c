"""The bound of Jaakkola and Haussler."""

from __future__ import annotations

import time

from numpy.typing import ArrayLike

from svmselect.bounds.estimate import Estimate, SingleFit, check_estimate, counted
from svmselect.gram import Gram
from svmselect.svm import Solution

__all__ = ["JAAKKOLA_HAUSSLER", "jaakkola_haussler"]


def jaakkola_haussler(gram: Gram, y: ArrayLike, solution: Solution) -> Estimate:
    """Bound ``(1/m) #{SVs p: alpha_p k(x_p, x_p) >= y_p f(x_p)}`` (Jaakkola and Haussler 1999; Sarafis et al.
    2018, section 3).

    A bound of the leave-one-out error of an SVM without threshold; with one it is a heuristic.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows. A linear kernel without a threshold depends on the point from which rows
        are measured: `Gram.origin`.
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
    >>> from svmselect import RBF, Gram, jaakkola_haussler, solve_csvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> jaakkola_haussler(gram, y, solution).errors
    array([False, False,  True,  True,  True,  True, False, False])
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
