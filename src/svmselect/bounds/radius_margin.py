"""The radius-margin bound, plain and rescaled."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from svmselect.bounds.estimate import SingleFit, check_estimate, n_training
from svmselect.bounds.sphere import Sphere, check_sphere
from svmselect.gram import Gram
from svmselect.svm import Solution
from svmselect.threads import one_blas_thread

__all__ = [
    "RADIUS_MARGIN",
    "RESCALED_RADIUS_MARGIN",
    "RadiusMargin",
    "RescaledRadiusMargin",
    "radius_margin",
    "rescaled_radius_margin",
]


@dataclass(frozen=True)
class RadiusMargin:
    """The radius-margin bound.

    Attributes
    ----------
    bound : float
        ``R^2 |w|^2 / m``; it may exceed 1.
    squared_radius : float
        ``R^2``.
    squared_norm : float
        ``|w|^2``, the inverse of the squared margin.
    n_not_converged : int
        1 if the solver of the sphere ran out of steps.
    cpu_s : float
        CPU time, seconds, including Gram columns that were absent, and the sphere unless it was given.
    """

    bound: float
    squared_radius: float
    squared_norm: float
    n_not_converged: int
    cpu_s: float


def radius_margin(gram: Gram, y: ArrayLike, solution: Solution, sphere: Sphere | None = None) -> RadiusMargin:
    """Compute the radius-margin bound ``R^2 |w|^2 / m`` (Vapnik 1998; Sarafis et al. 2018, section 3).

    It is a bound of the leave-one-out error of a hard margin without threshold: points are separable, and C
    is so large that no SV is bounded. With a threshold, four times this value is a bound (Vapnik and Chapelle
    2000). Elsewhere it is a functional to minimise (Chapelle and Vapnik 2000, eq. 1).

    Parameters
    ----------
    gram, y, solution
        See `span_rule`.
    sphere : Sphere, optional
        `smallest_enclosing_sphere` of the training points, which all solutions on one Gram matrix share;
        computed by default.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, radius_margin, smallest_enclosing_sphere, solve_csvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> sphere = smallest_enclosing_sphere(gram)
    >>> round(float(sphere.squared_radius), 3)
    0.631
    >>> round(float(radius_margin(gram, y, solve_csvc(gram, y, C=1), sphere).bound), 3)
    0.186
    """
    begin = time.process_time()
    y = check_estimate(gram, y, solution)
    sphere = check_sphere(gram, solution, sphere)
    squared_norm = max(float((y * solution.alpha) @ (solution.decision - solution.b)), 0.0)
    return RadiusMargin(
        bound=sphere.squared_radius * squared_norm / n_training(solution),
        squared_radius=sphere.squared_radius,
        squared_norm=squared_norm,
        n_not_converged=int(not sphere.converged),
        cpu_s=time.process_time() - begin,
    )


@dataclass(frozen=True)
class RescaledRadiusMargin:
    """The rescaled radius-margin bound.

    Attributes
    ----------
    bound : float
        It may exceed 1.
    rescaled : float
        The value that takes the place of ``R^2 |w|^2``: m times the bound.
    rank : int
        Dimensions of the centred training points in feature space.
    cpu_s : float
        CPU time, seconds, including Gram columns that were absent.
    """

    bound: float
    rescaled: float
    rank: int
    cpu_s: float


@one_blas_thread()
def rescaled_radius_margin(gram: Gram, y: ArrayLike, solution: Solution) -> RescaledRadiusMargin:
    """Compute the radius-margin bound in a rescaled feature space (Chapelle and Vapnik 2000, section 4).

    Along each principal direction the training points are scaled into a box of side 2, whose half-side stands
    for the radius: ``R^2 |w|^2`` becomes ``sum_k lambda_k^2 max_i A_ik^2 (sum_i A_ik alpha_i y_i)^2``, with
    the eigenvectors A and eigenvalues lambda of the centred Gram matrix. A heuristic for the hard margin, as
    the authors say; no theorem makes it a bound. Where eigenvalues coincide (a narrow RBF kernel, K close to
    I) the principal directions, and with them the value, are not unique: they are LAPACK's. They take O(m^3)
    operations. For the arguments see `span_rule`.
    """
    begin = time.process_time()
    y = check_estimate(gram, y, solution)
    points = np.flatnonzero(solution.C)
    K = gram.block(points).astype(np.float64, copy=False)
    means = K.mean(axis=0)
    K = K - means - means[:, None] + means.mean()
    values, vectors = eigh(K, overwrite_a=True)
    significant = values > points.size * np.finfo(np.float64).eps * values[-1]
    values, vectors = values[significant], vectors[:, significant]
    theta = (y * solution.alpha)[points]
    rescaled = float((values**2 * (vectors**2).max(axis=0, initial=0)) @ (theta @ vectors) ** 2)
    return RescaledRadiusMargin(
        bound=rescaled / points.size,
        rescaled=rescaled,
        rank=int(np.count_nonzero(significant)),
        cpu_s=time.process_time() - begin,
    )


RADIUS_MARGIN = SingleFit(
    radius_margin,
    key="radius_margin_bound",
    name="Radius-margin",
    short="R.-m.",
    assumption="The radius-margin bound assumes a hard margin without threshold.",
    is_bound=True,
    needs_sphere=True,
)

RESCALED_RADIUS_MARGIN = SingleFit(
    rescaled_radius_margin,
    key="rescaled_radius_margin_bound",
    name="Rescaled radius-margin",
    short="Resc. r.-m.",
    assumption="The rescaled radius-margin bound is a heuristic for a hard margin, no theorem.",
    is_bound=True,
)
