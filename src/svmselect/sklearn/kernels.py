"""From an estimator's parameters to a Gram matrix."""

from __future__ import annotations

import numbers

import numpy as np
from scipy import sparse

from svmselect.gram import Gram, as_rows
from svmselect.kernels import RBF, Linear, Rows
from svmselect.sklearn.precomputed import Precomputed, precomputed_gram

__all__ = ["gram_of", "kernel_of", "resolved_gamma"]

KERNELS = ("linear", "rbf", "precomputed")
CROSS_VALUES = 2**23  # kernel values between new rows and support vectors that are held at once


def variance(X):
    """Of all values of X, zeros included."""
    if not sparse.issparse(X):
        return float(X.var())
    size = X.shape[0] * X.shape[1]
    return float((X.data**2).sum() / size - (X.data.sum() / size) ** 2)


def resolved_gamma(gamma, X):
    """gamma as a number: "scale" is ``1 / (d var(X))``, 1 where the variance is 0; "auto" is ``1 / d``."""
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1 / X.shape[1]
        if gamma == "scale":
            with np.errstate(over="ignore", invalid="ignore"):
                spread = variance(X)
            if not np.isfinite(spread):
                raise ValueError("X is too large for gamma='scale': its variance overflows float64")
            return 1 / (X.shape[1] * spread) if spread > 0 else 1.0
    elif isinstance(gamma, numbers.Real):
        return gamma
    raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}")


def kernel_of(name, gamma, X):
    """The kernel that an estimator's parameters name, or a ValueError.

    Parameters
    ----------
    name : {"linear", "rbf", "precomputed"}
    gamma : {"scale", "auto"} or float
    X : ndarray or CSR matrix, shape (m, d)
        The training rows, or the kernel matrix if `name` is "precomputed".

    Returns
    -------
    Linear, RBF or Precomputed
    """
    if name == "linear":
        return Linear()
    if name == "rbf":
        return RBF(resolved_gamma(gamma, X))
    if isinstance(name, str) and name == "precomputed":
        return Precomputed(X)
    raise ValueError(f"kernel must be one of {list(KERNELS)}, got {name!r}")


def gram_of(X, kernel, memory_mb):
    """The Gram matrix of an estimator's own training rows, which become read-only."""
    if isinstance(kernel, Precomputed):
        return precomputed_gram(kernel)
    return Gram(X, kernel, memory_mb=memory_mb, copy=False)


def values_at(X, kernel, support_vectors, coef):
    """``sum_i coef_pi k(x, s_i)`` at rows x.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (n, d)
    kernel : Linear or RBF
    support_vectors : ndarray or CSR matrix, shape (s, d)
        X is made dense or sparse as they are.
    coef : ndarray, shape (n_pairs, s)

    Returns
    -------
    ndarray, shape (n, n_pairs)
    """
    if sparse.issparse(X) != sparse.issparse(support_vectors):
        X = sparse.csr_array(X) if sparse.issparse(support_vectors) else X.toarray()
    if isinstance(kernel, Linear):
        return X @ (coef @ support_vectors).T
    if not support_vectors.shape[0]:  # fits that rounding stopped before their first step
        return np.zeros((X.shape[0], len(coef)))
    rows, support = Rows(as_rows(X)), Rows(as_rows(support_vectors))
    out = np.empty((rows.n, len(coef)))
    step = max(1, CROSS_VALUES // support.n)
    for begin in range(0, rows.n, step):
        part = slice(begin, min(begin + step, rows.n))
        np.matmul(kernel.block(rows.take(part), support), coef.T, out=out[part])
    return out
