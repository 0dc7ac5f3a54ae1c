"""MIR: the variables of the points that enter, by least squares."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from svmselect.cv.transition import Seed, Transition

__all__ = ["mir"]


def mir(change: Transition):
    """Multiple instance replacement (Wen et al. 2017, eq. 15 to 18).

    The points of both training sets keep their variables. Those that enter get the least-squares solution,
    of least norm, of ``K_XT theta_T = df + K_XR theta_R`` over all points X of the former training set, with
    ``df = b' - f`` at its in-bound points and 0 elsewhere, and ``sum(theta_T) = sum(theta_R)`` as one more
    equation. They are clipped to their boxes and moved by one amount until the equality constraint holds.

    Parameters
    ----------
    change : Transition

    Returns
    -------
    Seed

    Notes
    -----
    In signed variables the signs of the paper's Q cancel. The normal equations, which the paper forms, square
    the condition number; here the system is reduced by Householder transformations to a triangular one.
    """
    gram, enters, giving = change.gram, change.enters, change.giving
    former = np.setdiff1d(np.arange(gram.m), enters, assume_unique=True)
    target = np.where(change.inbound, change.level - change.f, 0.0)[former]
    target += gram.product(giving, change.theta[giving], former)
    A = gram.submatrix(former, enters)
    # where the kernel is very narrow, most equations are without unknowns
    rows = A.any(axis=1)
    system = np.ones((np.count_nonzero(rows) + 1, enters.size + 1), order="F")
    system[:-1, :-1], system[:-1, -1] = A[rows], target[rows]
    system[-1, -1] = change.theta[giving].sum()
    noise = np.finfo(gram.dtype).eps * np.sqrt(max(system.shape))
    theta = change.without_leaving()
    theta[enters] = least_squares(system, noise)
    return Seed(change.feasible(theta, enters))


def least_squares(system, noise):
    """The x of least norm that minimises ``|A x - b|``, from ``system = [A b]``, which is overwritten;
    singular values below `noise` times the largest count as 0."""
    triangle = linalg.qr(system, mode="r", overwrite_a=True, check_finite=False)[0][: system.shape[1] - 1]
    return linalg.lstsq(
        triangle[:, :-1], triangle[:, -1], cond=noise, lapack_driver="gelsy", check_finite=False
    )[0]
