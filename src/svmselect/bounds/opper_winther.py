"""The estimate of Opper and Winther."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from svmselect.bounds.estimate import Estimate, SingleFit, check_estimate
from svmselect.bounds.hull import counted_by_distance
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
        Squared distance of a support vector p from the linear hull of the in-bound SVs V other than p: ``1 /
        (K_VV^-1)_pp`` for an in-bound p, ``k(x_p, x_p) - K_Vp' K_VV^-1 K_Vp`` for a bounded one; NaN for the
        rest.
    n_dependent : int
        In-bound SVs that are linear combinations of other ones, as duplicates are. Their distance is 0 but
        for round-off.
    """

    squared_distance: np.ndarray
    n_dependent: int


@one_blas_thread()
def opper_winther(gram: Gram, y: ArrayLike, solution: Solution) -> OpperWinther:
    """Compute the estimate ``#{SVs p: alpha_p / (K_SV^-1)_pp >= 1} / m`` of Opper and Winther.

    It equals the leave-one-out error of an SVM without threshold if leaving out a support vector changes
    neither the set of in-bound SVs nor that of bounded ones (2000; Sarafis et al. 2018, section 3). The
    formula is for a hard margin, where every SV is in-bound and has ``y_p f(x_p) = 1``. For a soft margin the
    same argument makes ``K_SV`` the Gram matrix of the in-bound SVs, gives bounded SVs their distance from
    the hull of these, and compares ``alpha_p`` times the squared distance with ``y_p f(x_p)``. Only the
    columns of in-bound SVs are used. A linear kernel without a threshold depends on the point from which rows
    are measured: `Gram.origin`. For the arguments see `span_rule`.
    """
    begin = time.process_time()
    y = check_estimate(gram, y, solution)
    squared_distance, fields = counted_by_distance(gram, y, solution, threshold=False)
    cpu_s = time.process_time() - begin
    return OpperWinther(**fields, squared_distance=squared_distance, cpu_s=cpu_s)


OPPER_WINTHER = SingleFit(
    opper_winther,
    key="opper_winther_estimate",
    name="Opper-Winther",
    short="O.-W.",
    assumption="Opper-Winther assumes an SVM without threshold, in which leaving a point out changes "
    "neither the set of in-bound nor that of bounded support vectors.",
)
