"""The smallest sphere that encloses the training points in feature space."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import svmselect.solver._active_set as _active_set
from svmselect.checks import check_options, frozen
from svmselect.gram import Gram
from svmselect.solver._smo import Dual
from svmselect.threads import one_blas_thread

__all__ = ["Sphere", "check_points", "check_sphere", "smallest_enclosing_sphere"]

# Squared distances that differ by less than this, relative to the largest kernel value, are equal.
ROUND_OFF = 1e-15


@dataclass(frozen=True)
class Sphere:
    """A sphere around points in feature space.

    Attributes
    ----------
    squared_radius : float
        Squared distance of the centre from the farthest point: the sphere does enclose them all.
    weight : ndarray, shape (m,)
        The centre ``sum_i weight_i x_i``, ``weight >= 0``, ``sum(weight) = 1``.
    excess : float
        By how much `squared_radius` may at most exceed that of the smallest sphere.
    n_iter : int
        SMO steps and moves of the active-set method.
    converged : bool
        Whether the solver came to its tolerance.
    cpu_s : float
        CPU time, seconds, including Gram columns that were absent.
    """

    squared_radius: float
    weight: np.ndarray
    excess: float
    n_iter: int
    converged: bool
    cpu_s: float

    @property
    def diameter(self) -> float:
        """Twice the radius, D."""
        return 2 * self.squared_radius**0.5


@one_blas_thread()
def smallest_enclosing_sphere(
    gram: Gram, points: ArrayLike | None = None, tol: float = 1e-6, max_iter: int | None = None
) -> Sphere:
    """Compute the smallest sphere around points in feature space (Schoelkopf, Burges and Vapnik 1995).

    Its centre maximises ``sum_i beta_i K_ii - beta'K beta``, ``beta >= 0``, ``sum(beta) = 1``. For an example
    see `radius_margin`.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows.
    points : array_like of int, optional
        Row numbers of the points to enclose; all rows by default.
    tol : float
        Largest excess of the squared radius, relative to that of the smallest sphere.
    max_iter : int, optional
        The largest number of SMO steps; see `solve_csvc`.
    """
    begin = time.process_time()
    limit = check_options(tol, "wss2", max_iter, gram.m)
    points = check_points(gram, points)
    inside = np.zeros(gram.m)
    inside[points] = 1
    weight = np.zeros(gram.m)
    weight[points[0]] = 1
    dual = Dual(gram, gram.diagonal / 2)
    dual.confine(np.zeros(gram.m), inside, weight)
    # the farthest point from any one is at most a diameter away; the excess is at most twice the KKT gap
    radius = _squared_distances(dual, gram)[points].max() / 4
    gap = max(tol * radius / 2, ROUND_OFF * gram.diagonal.max())
    converged = _active_set.solve(dual, "wss2", gap, limit)
    weight, *_, n_iter = dual.state()
    distance = _squared_distances(dual, gram)
    squared_radius = max(float(distance[points].max()), 0.0)
    return Sphere(
        squared_radius=squared_radius,
        weight=frozen(weight),
        excess=max(squared_radius - float(weight @ distance), 0.0),
        n_iter=n_iter,
        converged=converged,
        cpu_s=time.process_time() - begin,
    )


def _squared_distances(dual, gram):
    """Return the squared distance of every row from the centre ``sum_i theta_i x_i``, shape (m,)."""
    theta, f, _, _ = dual.arrays()
    return theta @ (f + gram.diagonal / 2) - 2 * f


def check_points(gram, points):
    """Return row numbers as an array; raise a ValueError for others."""
    if points is None:
        return np.arange(gram.m)
    points = np.asarray(points)
    if points.ndim != 1 or points.size == 0 or not np.issubdtype(points.dtype, np.integer):
        raise ValueError(f"points must be row numbers, at least one, got {points.dtype} of {points.shape}")
    outside = points[(points < 0) | (points >= gram.m)]
    if outside.size:
        raise ValueError(f"points must be row numbers from 0 to {gram.m - 1}, got {outside[0]}")
    return points


def check_sphere(gram, solution, sphere):
    """Return the given sphere around the training points, by default the smallest one."""
    if sphere is None:
        return smallest_enclosing_sphere(gram, np.flatnonzero(solution.C))
    if not isinstance(sphere, Sphere) or sphere.weight.shape != (gram.m,):
        raise ValueError(f"sphere must be a Sphere of the {gram.m} rows of the Gram matrix, got {sphere!r}")
    return sphere
