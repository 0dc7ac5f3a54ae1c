"""The span bound."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from svmselect.bounds.boxed_span import span_exists, squared_boxed_spans
from svmselect.bounds.estimate import SingleFit, check_estimate, n_training, spread_over_points, support_sets
from svmselect.bounds.sphere import Sphere, check_sphere
from svmselect.checks import check_options
from svmselect.gram import Gram
from svmselect.svm import Solution
from svmselect.threads import one_blas_thread

__all__ = ["SPAN_BOUND", "SpanBound", "span_bound"]


@dataclass(frozen=True)
class SpanBound:
    """The span bound of the leave-one-out error.

    Attributes
    ----------
    bound : float
        It may exceed 1.
    squared_span : ndarray, shape (m,)
        ``S_p^2``, with the box, of every in-bound SV; NaN where ``Lambda_p`` is empty and for the rest.
    span : float
        S, the largest ``S_p``; 0 where there is none.
    diameter : float
        D, of the smallest sphere around the training points.
    n_empty : int
        k, in-bound SVs with an empty ``Lambda_p``.
    n_bounded : int
        Bounded SVs.
    n_not_converged : int
        Spans whose solver ran out of steps (they are then too large, and the bound holds), and the sphere.
    cpu_s : float
        CPU time, seconds, including Gram columns that were absent, and the sphere unless it was given.
    """

    bound: float
    squared_span: np.ndarray
    span: float
    diameter: float
    n_empty: int
    n_bounded: int
    n_not_converged: int
    cpu_s: float


@one_blas_thread()
def span_bound(
    gram: Gram,
    y: ArrayLike,
    solution: Solution,
    sphere: Sphere | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
) -> SpanBound:
    """Compute the span bound ``(S sum_p max(D, 1/sqrt(C_p)) alpha_p + k + n_bounded) / m``.

    The sum is over the in-bound SVs whose ``Lambda_p`` is not empty (Vapnik and Chapelle 2000; for weighted
    points Sarafis et al. 2018, Theorem 1). It is a bound of the leave-one-out error, for any C and any
    weights: an in-bound SV that is misclassified when left out has ``alpha_p S_p max(D, 1/sqrt(C_p)) >= 1``
    (Sarafis et al., Lemma 2), and all other SVs are counted.

    Parameters
    ----------
    gram, y, solution
        See `span_rule`.
    sphere : Sphere, optional
        See `radius_margin`.
    tol : float
        KKT gap to which spans are solved, relative to ``S_p^2``.
    max_iter : int, optional
        The largest number of SMO steps for one span; see `solve_csvc`.
    """
    begin = time.process_time()
    y = check_estimate(gram, y, solution)
    limit = check_options(tol, "wss2", max_iter, gram.m)
    sphere = check_sphere(gram, solution, sphere)
    inbound, bounded = support_sets(solution)
    alpha, C = solution.alpha, solution.C
    exists = span_exists(y, C, inbound, bounded)
    squared_span, n_not_converged = squared_boxed_spans(gram, y, solution, inbound, exists, tol, limit)
    span = float(np.sqrt(squared_span[exists].max(initial=0)))
    spanned, n_empty = inbound[exists], int(np.count_nonzero(~exists))
    total = span * (np.maximum(sphere.diameter, C[spanned] ** -0.5) @ alpha[spanned])
    return SpanBound(
        bound=float((total + n_empty + bounded.size) / n_training(solution)),
        squared_span=spread_over_points(squared_span, inbound, gram.m),
        span=span,
        diameter=sphere.diameter,
        n_empty=n_empty,
        n_bounded=int(bounded.size),
        n_not_converged=n_not_converged + (not sphere.converged),
        cpu_s=time.process_time() - begin,
    )


SPAN_BOUND = SingleFit(
    span_bound,
    key="span_bound",
    name="Span bound",
    short="Span b.",
    assumption="The span bound holds for any C.",
    is_bound=True,
    needs_sphere=True,
)
