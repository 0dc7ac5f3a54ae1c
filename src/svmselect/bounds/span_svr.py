"""The span estimate of the left-out predictions of a regression."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from svmselect.bounds.estimate import spread_over_points
from svmselect.bounds.hull import squared_distances
from svmselect.checks import check_match, check_targets, frozen
from svmselect.gram import Gram
from svmselect.svr import RegressionSolution
from svmselect.threads import one_blas_thread

__all__ = ["SpanRegression", "span_estimate_svr"]


@dataclass(frozen=True)
class SpanRegression:
    """The span estimate of the left-out predictions of a regression.

    Attributes
    ----------
    predictions, residuals : ndarray, shape (m,)
        Estimated prediction of each row by the model without it, and targets minus these; infinite where
        there is no other in-bound SV.
    mean_absolute_error : float
        Mean of the absolute residuals of the rows that were trained on.
    bound : float
        The same with epsilon as the residual of every row inside the tube: at least `mean_absolute_error`.
    squared_span : ndarray, shape (m,)
        ``S_p^2`` of every support vector; infinite where there is no other in-bound SV; NaN for the rest.
    n_without_span, n_dependent
        See `SpanRule`.
    cpu_s : float
        CPU seconds.
    """

    predictions: np.ndarray
    residuals: np.ndarray
    mean_absolute_error: float
    bound: float
    squared_span: np.ndarray
    n_without_span: int
    n_dependent: int
    cpu_s: float


@one_blas_thread()
def span_estimate_svr(gram: Gram, z: ArrayLike, solution: RegressionSolution) -> SpanRegression:
    """Estimate the left-out predictions of an epsilon-SVR by the spans of its support vectors.

    The estimate ``f(x_p) - theta_p S_p^2`` is exact if leaving out row p changes neither the set of in-bound
    support vectors nor that of bounded ones (Chang and Lin 2005, *Leave-one-out bounds for support vector
    regression model selection*; see `span_rule` for the span ``S_p``). Rows without a variable have their
    prediction, exactly.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows, float64. Only the columns of in-bound SVs are used.
    z : array_like, shape (m,)
        Targets.
    solution : RegressionSolution
        The result of `solve_svr`, to a tolerance well below epsilon.
    """
    # 1) arguments
    begin = time.process_time()
    z = check_targets(gram, z)
    check_match(gram, solution, RegressionSolution)
    gram.check_definite()
    # 2) spans of in-bound and bounded support vectors
    theta, size = solution.theta, np.abs(solution.theta)
    inbound = np.flatnonzero((size > 0) & (size < solution.C))
    bounded = np.flatnonzero((size > 0) & (size == solution.C))
    support = np.concatenate([inbound, bounded])
    squared_span, n_dependent = squared_distances(gram, inbound, bounded, threshold=True)
    # 3) predictions, and the means of their residuals
    predictions = solution.prediction.copy()
    predictions[support] -= theta[support] * squared_span
    absolute, trained = np.abs(z - predictions), solution.C > 0
    bound = np.where(theta != 0, absolute, solution.epsilon)
    return SpanRegression(
        predictions=frozen(predictions),
        residuals=frozen(z - predictions),
        mean_absolute_error=float(absolute[trained].mean()),
        bound=float(bound[trained].mean()),
        squared_span=spread_over_points(squared_span, support, gram.m),
        n_without_span=int(np.count_nonzero(np.isinf(squared_span))),
        n_dependent=n_dependent,
        cpu_s=time.process_time() - begin,
    )
