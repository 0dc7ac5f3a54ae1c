"""The estimate of Opper and Winther."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from svmselect.bounds.estimate import (
    Estimate,
    SingleFit,
    check_estimate,
    counted,
    spread_over_points,
    support_sets,
)
from svmselect.bounds.hull import squared_distances
from svmselect.gram import Gram
from svmselect.svm import Solution
from svmselect.threads import one_blas_thread

__all__ = ["OPPER_WINTHER", "OpperWinther", "opper_winther"]


@dataclass(frozen=True)
class OpperWinther(Estimate):
    """The estimate of Opper and Winther.

    Attributes
    ----------
    error, errors, cpu_s
        See `Estimate`.
    squared_distance : ndarray, shape (m,)
        ``1 / (K_VV^-1)_pp`` of the in-bound SVs V, ``k(x_p, x_p) - K_Vp' K_VV^-1 K_Vp`` of the bounded ones:
        from the linear hull of the in-bound SVs other than p; NaN for the rest.
    n_dependent : int
        In-bound SVs that are linear combinations of other ones, as duplicates are: their distance is 0 but
        for round-off.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, opper_winther, solve_csvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> opper_winther(gram, y, solution).errors
    array([False, False,  True,  True,  True,  True, False, False])
    """

    squared_distance: np.ndarray
    n_dependent: int


@one_blas_thread()
def opper_winther(gram: Gram, y: ArrayLike, solution: Solution) -> OpperWinther:
    """Estimate ``(1/m) #{SVs p: alpha_p / (K_SV^-1)_pp >= 1}`` (Opper and Winther 2000; Sarafis et al. 2018,
    section 3).

    It equals the leave-one-out error of an SVM without threshold if leaving out a support vector changes
    neither the set of in-bound SVs nor that of bounded ones. The formula is that of a hard margin, where
    every SV is in-bound and has ``y_p f(x_p) = 1``. For a soft margin the same argument makes ``K_SV`` the
    Gram matrix of the in-bound SVs, gives bounded SVs the distance that they have from the hull of these, and
    compares ``alpha_p`` times the squared distance with ``y_p f(x_p)``.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows, float64. Only the columns of in-bound SVs are asked for. A linear kernel
        without a threshold depends on the point from which rows are measured: `Gram.origin`.
    y : array_like, shape (m,)
        Labels, -1 and +1.
    solution : Solution
        What `solve_csvc` or `solve_nusvc` returned, with one C or one per point.

    Returns
    -------
    OpperWinther

    Raises
    ------
    ValueError
        For labels other than -1 and +1, or a solution of another number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, opper_winther, solve_csvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> round(opper_winther(gram, y, solution).error, 3)
    0.5
    """
    begin = time.process_time()
    y = check_estimate(gram, y, solution)
    inbound, bounded = support_sets(solution)
    support = np.concatenate([inbound, bounded])
    squared_distance, n_dependent = squared_distances(gram, inbound, bounded, threshold=False)
    errors = np.zeros(gram.m, dtype=bool)
    errors[support] = solution.alpha[support] * squared_distance >= (y * solution.decision)[support]
    return OpperWinther(
        **counted(errors, solution),
        squared_distance=spread_over_points(squared_distance, support, gram.m),
        n_dependent=n_dependent,
        cpu_s=time.process_time() - begin,
    )


OPPER_WINTHER = SingleFit(
    opper_winther,
    key="opper_winther_estimate",
    name="Opper-Winther",
    short="O.-W.",
    assumption="Opper-Winther assumes an SVM without threshold, in which leaving a point out changes "
    "neither the set of in-bound nor that of bounded support vectors.",
)
