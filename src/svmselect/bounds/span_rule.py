"""The span rule."""

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

__all__ = ["SPAN_RULE", "SpanRule", "span_rule"]


@dataclass(frozen=True)
class SpanRule(Estimate):
    """The span rule's estimate of the leave-one-out error.

    Attributes
    ----------
    error, errors, cpu_s
        See `Estimate`.
    squared_span : ndarray, shape (m,)
        ``S_p^2`` of every support vector; infinite where there is no other in-bound SV; NaN for the rest.
    n_without_span : int
        Support vectors without any other in-bound SV: errors.
    n_dependent : int
        In-bound SVs that are affine combinations of other ones, as duplicates are: their span is 0 but for
        round-off.
    """

    squared_span: np.ndarray
    n_without_span: int
    n_dependent: int


@one_blas_thread()
def span_rule(gram: Gram, y: ArrayLike, solution: Solution) -> SpanRule:
    """Compute the span rule ``#{SVs p: alpha_p S_p^2 >= y_p f(x_p)} / m``.

    It equals the leave-one-out error if leaving out a support vector changes neither the set of in-bound SVs
    nor that of bounded ones (Chapelle and Vapnik 2000, Corollary 1; for weighted points Sarafis et al. 2018,
    Corollary 1): then ``y_p (f(x_p) - f^p(x_p)) = alpha_p S_p^2`` (Sarafis et al., eq. 35). No box then
    restricts ``Lambda_p``, the affine hull of the in-bound SVs other than p, whose distance from ``x_p`` is
    the span ``S_p``.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows, float64 where the estimate computes with it. Only the columns of in-bound
        SVs are used.
    y : array_like, shape (m,)
        Labels, -1 and +1.
    solution : Solution
        The result of `solve_csvc` or `solve_nusvc`, with one C or one per point.

    Notes
    -----
    With V the in-bound SVs, ``Kt = [[K_VV, 1], [1', 0]]`` and ``v = (K_Vp, 1)``, the squared span is ``1 /
    (Kt^-1)_pp`` for an in-bound SV p and ``k(x_p, x_p) - v' Kt^-1 v`` for a bounded one. Both come from one
    Cholesky factor, for all p. Where Kt is singular the distances are still those of the definition. No
    in-bound SV other than p leaves ``Lambda_p`` empty, and the span infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_csvc, span_rule
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> estimate = span_rule(gram, y, solve_csvc(gram, y, C=1))
    >>> estimate.errors, round(estimate.error, 3)
    (array([ True, False,  True,  True,  True,  True, False,  True]), 0.75)
    """
    begin = time.process_time()
    y = check_estimate(gram, y, solution)
    squared_span, fields = counted_by_distance(gram, y, solution, threshold=True)
    return SpanRule(
        **fields,
        squared_span=squared_span,
        n_without_span=int(np.count_nonzero(np.isinf(squared_span))),
        cpu_s=time.process_time() - begin,
    )


SPAN_RULE = SingleFit(
    span_rule,
    key="span_estimate",
    name="Span rule",
    short="Span rule",
    assumption="The span rule assumes that leaving a point out changes neither the set of in-bound "
    "nor that of bounded support vectors.",
)
