"""MIR: the variables of the points that enter, by least squares."""

import numpy as np
from scipy import linalg

from svmselect.cv.seeds.transition import Seed, Transition
from svmselect.kernels.panels import slices

__all__ = ["least_squares", "mir"]

PANEL = 2048  # equations taken together
BLOCK = 64  # reflectors applied together
# With a reciprocal condition above this, the solution of the normal equations has a relative error below
# about 1e-7.
WELL_CONDITIONED = 1e-9
# Smaller eigenvalues of normal equations, relative to the largest, cannot be relied on in float64.
RELIABLE = 1e-11


def mir(change: Transition):
    """Replace multiple instances at once (Wen et al. 2017, eq. 15 to 18).

    The points of both training sets keep their variables. Those that enter get the least-squares solution,
    of least norm, of ``K_XT theta_T = df + K_XR theta_R`` over all points X of the former training set, with
    ``df = b' - f`` at its in-bound points and 0 elsewhere, and ``sum(theta_T) = sum(theta_R)`` as one more
    equation. They are clipped to their boxes and moved by one amount until the equality constraint holds.

    Notes
    -----
    The equation of the sum counts as much as one of a typical kernel value, so that the units of the kernel
    do not matter; with an RBF kernel it is the paper's.

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
    noise = np.finfo(gram.dtype).eps * np.sqrt(max(A.shape))
    unit = gram.diagonal.mean()
    share = least_squares(A, target, change.theta[giving].sum(), np.sqrt(count), noise, unit)
    theta = change.without_leaving()
    theta[enters] = (share / np.sqrt(count))[group]
    return Seed(change.feasible(theta, enters))


def least_squares(A, b, total, weight, noise, unit=1.0):
    """Return the x of least norm that minimises ``|A diag(weight) x - b|^2 + unit^2 (weight'x - total)^2``.

    Singular values below `noise` times the largest count as 0. By the normal equations, as in the paper,
    where they are well conditioned or, as with a float32 matrix, accurate enough to tell those values; else
    by Householder transformations.
    """
    n = weight.size
    normal, right = np.zeros((n, n), order="F"), np.zeros(n)
    for panel, values in _equations(A, b, total, unit):
        normal = linalg.blas.dsyrk(1.0, panel, beta=1.0, c=normal, trans=True, lower=True, overwrite_c=True)
        right += values @ panel
    normal *= np.outer(weight, weight)
    right *= weight
    below = np.abs(np.tril(normal))
    size = (below.sum(axis=0) + below.sum(axis=1) - below.diagonal()).max()
    factor, failed = linalg.lapack.dpotrf(normal, lower=True, clean=False)
    if not failed and linalg.lapack.dpocon(factor, size, uplo="L")[0] > WELL_CONDITIONED:
        return linalg.lapack.dpotrs(factor, right, lower=True)[0]
    if noise**2 > RELIABLE:
        return _singular_solution(normal, right, noise**2 * size)
    triangle = np.zeros((n + 1, n + 1), order="F")
    for panel, values in _equations(A, b, total, unit):
        system = np.vstack([panel.T * weight[:, None], values]).T
        triangle = linalg.lapack.dtpqrt(
            0, min(BLOCK, n + 1), triangle, system, overwrite_a=True, overwrite_b=True
        )[0]
    return linalg.lstsq(
        triangle[:n, :n], triangle[:n, n], cond=noise, lapack_driver="gelsy", check_finite=False
    )[0]


def _singular_solution(normal, right, noise):
    """Return the x of least norm of normal equations, given by their lower triangle.

    Cholesky's factor with pivots ends where no remaining diagonal value exceeds `noise`.
    """
    factor, order, rank, _ = linalg.lapack.dpstrf(normal, tol=noise, lower=True, overwrite_a=True)
    order = order - 1
    factor = np.tril(factor[:, :rank])
    y = linalg.solve_triangular(factor[:rank], right[order[:rank]], lower=True, check_finite=False)
    Q, R = linalg.qr(factor, mode="economic", overwrite_a=True, check_finite=False)
    x = np.empty(right.size)
    x[order] = Q @ linalg.solve_triangular(R, y, trans="T", check_finite=False)
    return x


def _equations(A, b, total, unit):
    """Yield the rows of A and b by panels, and last the sum of the unknowns.

    Rows of zeros are left out: where the kernel is very narrow, most rows are zero.
    """
    for part in slices(b.size, PANEL):
        rows = A[part].any(axis=1)
        if rows.any():
            yield A[part][rows].astype(np.float64), b[part][rows]
    yield np.full((1, A.shape[1]), unit), np.array([unit * total])
