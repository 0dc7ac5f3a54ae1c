"""What the alphas of any peer are worth, recomputed in float64 by blocks of the kernel matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from svmselect import Linear

__all__ = ["Quality", "assess", "disagreement"]

BLOCK_VALUES = 2**23  # kernel values at a time
BOUND = 1e-12  # of C: a nearer alpha is on the bound, as in the library
VIOLATION = 1e-3  # an alpha that breaks the constraints by more solves another problem
ACCURACY = 0.005  # models of one objective may differ at the points with |f| of about tol


class Quality(NamedTuple):
    """Dual objective, KKT gap, violation of the constraints, share of rows classified as labelled.

    `violation` is the larger of ``|y'alpha| / sum(alpha)`` and the distance of an alpha from [0, C] over C.
    """

    objective: float
    kkt_gap: float
    violation: float
    train_accuracy: float
    test_accuracy: float


def assess(problem, kernel, C, alpha, b) -> Quality:
    """Recompute a model's quality, independently of the solver and the kernel code of svmselect.

    Parameters
    ----------
    problem : Problem
    kernel : RBF or Linear
    C : float
    alpha : ndarray, shape (m,)
    b : float
        The peer's own threshold; only the accuracies depend on it.

    Returns
    -------
    Quality
        The objective is ``1/2 alpha'Q alpha - sum(alpha)``; the gap is ``M+ - M-`` of LIBSVM's stopping rule,
        with alphas within 1e-12 C of a bound on it.
    """
    y = problem.y
    support = np.flatnonzero(alpha)
    theta = alpha[support] * y[support]
    f = weighted_kernel(problem.X[support], theta, problem.X, kernel)
    up = np.where(y > 0, alpha < C * (1 - BOUND), alpha > C * BOUND)
    low = np.where(y > 0, alpha > C * BOUND, alpha < C * (1 - BOUND))
    residual = y - f  # -y_i times the gradient
    outside = max(-alpha.min(), alpha.max() - C, 0) / C
    f_test = weighted_kernel(problem.X[support], theta, problem.X_test, kernel)
    return Quality(
        objective=float(0.5 * theta @ f[support] - alpha.sum()),
        kkt_gap=float(residual[up].max() - residual[low].min()),
        violation=float(max(abs(theta.sum()) / alpha.sum(), outside)),
        train_accuracy=accuracy(f + b, y),
        test_accuracy=accuracy(f_test + b, problem.y_test),
    )


def weighted_kernel(support, theta, X, kernel):
    """``sum_j theta_j k(x_j, x)`` for each row x of X: float64, shape (n,)."""
    support = dense(support)
    step = max(1, BLOCK_VALUES // len(support))
    out = np.empty(X.shape[0])
    for start in range(0, X.shape[0], step):
        rows = dense(X[start : start + step])
        if isinstance(kernel, Linear):
            block = linear_kernel(rows, support)
        else:
            block = rbf_kernel(rows, support, gamma=kernel.gamma)
        out[start : start + step] = block @ theta
    return out


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def accuracy(decision, y):
    return float(np.mean(np.where(decision >= 0, 1, -1) == y))


def disagreement(rows, tol):
    """What is wrong with some peers' solutions of one problem, by comparison.

    With a KKT gap of at most tol the objective is off by at most a share of about 2 tol: the dual is concave,
    so an objective D is within ``gap |alpha* - alpha|_1 / 2 <= gap (sum alpha + sum alpha*) / 2`` of the best
    D*, and ``D* >= sum alpha* / 2``.

    Parameters
    ----------
    rows : list of dict
        With the keys of `Quality`.
    tol : float
        The solvers' tolerance.

    Returns
    -------
    list of str
        For each row "", or in what it differs from the row of the lowest objective among those that keep the
        constraints.
    """
    feasible = [row for row in rows if row["violation"] <= VIOLATION]
    best = min(feasible, key=lambda row: row["objective"], default=None)
    found = []
    for row in rows:
        wrong = []
        if not row["violation"] <= VIOLATION:  # NaN is wrong too
            wrong.append(f"constraints broken by {row['violation']:.1e}")
        if best is not None:
            excess = abs(row["objective"] - best["objective"]) / abs(best["objective"])
            if not excess <= 2 * tol:
                wrong.append(f"objective off by {excess:.1e}")
            for part in ("train_accuracy", "test_accuracy"):
                if not abs(row[part] - best[part]) <= ACCURACY:
                    wrong.append(f"{part.replace('_', ' ')} {row[part]:.4f} against {best[part]:.4f}")
        found.append("; ".join(wrong))
    return found
