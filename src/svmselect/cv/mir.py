"""MIR: the variables of the points that enter, by least squares."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from svmselect.cv.transition import Seed, Transition
from svmselect.kernels import slices

__all__ = ["mir"]

PANEL = 2048  # equations taken into the normal equations together
# of the normal equations' reciprocal condition: the relative error of their solution is then below about 1e-7
WELL_CONDITIONED = 1e-9


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
    In signed variables the signs of the paper's Q cancel. In the solution of least norm, identical points
    share equally: n of them are one unknown, whose column is sqrt(n) times theirs.
    """
    gram, enters, giving = change.gram, change.enters, change.giving
    former = np.setdiff1d(np.arange(gram.m), enters, assume_unique=True)
    target = np.where(change.inbound, change.level - change.f, 0.0)[former]
    target += gram.product(giving, change.theta[giving], former)
    _, first, group, count = np.unique(
        gram.row_groups[enters], return_index=True, return_inverse=True, return_counts=True
    )
    A = gram.submatrix(former, enters[first])
    # where the kernel is very narrow, most equations are without unknowns
    rows = np.flatnonzero(A.any(axis=1))
    noise = np.finfo(gram.dtype).eps * np.sqrt(max(A.shape))
    share = least_squares(A[rows], target[rows], change.theta[giving].sum(), np.sqrt(count), noise)
    theta = change.without_leaving()
    theta[enters] = (share / np.sqrt(count))[group]
    return Seed(change.feasible(theta, enters))


def least_squares(A, b, total, weight, noise):
    """The x of least norm that minimises ``|A diag(weight) x - b|^2 + (weight'x - total)^2``.

    By the normal equations, as in the paper, where they are well conditioned; where they would lose accuracy
    by Householder transformations, and singular values below `noise` times the largest count as 0.
    """
    n = weight.size
    normal, right = np.ones((n, n), order="F"), np.full(n, float(total))
    for part in slices(b.size, PANEL):
        panel = A[part].astype(np.float64)
        normal = linalg.blas.dsyrk(1.0, panel, beta=1.0, c=normal, trans=True, lower=True, overwrite_c=True)
        right += b[part] @ panel
    normal *= np.outer(weight, weight)
    below = np.abs(np.tril(normal))
    size = (below.sum(axis=0) + below.sum(axis=1) - below.diagonal()).max()
    factor, failed = linalg.lapack.dpotrf(normal, lower=True, overwrite_a=True, clean=False)
    if not failed and linalg.lapack.dpocon(factor, size, uplo="L")[0] > WELL_CONDITIONED:
        return linalg.lapack.dpotrs(factor, right * weight, lower=True)[0]
    system = np.empty((b.size + 1, n + 1), order="F")
    system[:-1, :-1], system[-1, :-1] = A, 1
    system[:, :-1] *= weight
    system[:-1, -1], system[-1, -1] = b, total
    # "raw" leaves the reflectors in place and copies the triangle alone
    _, triangle = linalg.qr(system, mode="raw", overwrite_a=True, check_finite=False)
    triangle = triangle[:n]
    return linalg.lstsq(
        triangle[:, :-1], triangle[:, -1], cond=noise, lapack_driver="gelsy", check_finite=False
    )[0]
