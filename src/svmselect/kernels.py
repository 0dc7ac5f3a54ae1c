"""Kernels as blocks of the Gram matrix.

A kernel is a small frozen object with two methods: ``block(X, Z)``, the matrix of ``k(x, z)`` for all rows of
``X`` and ``Z``, and ``diagonal(X)``. Blocks are computed by matrix products; sparse input is turned dense
only one panel at a time.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass

import numpy as np
from scipy import sparse

__all__ = ["RBF", "Linear"]


def inner_products(X, Z):
    """Matrix of ``x . z`` for the rows of two dense arrays or two CSR matrices, as a dense array of shape
    (len(X), len(Z))."""
    if sparse.issparse(X):
        return np.ascontiguousarray(X @ Z.toarray().T)
    return X @ Z.T


def squared_norms(X):
    """``|x|^2`` of each row of a dense array or CSR matrix, float64 of shape (n,)."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


@dataclass(frozen=True)
class Linear:
    """The linear kernel, ``k(x, z) = x . z``."""

    name = "linear"

    def block(self, X, Z):
        """Kernel values between rows.

        Parameters
        ----------
        X, Z : ndarray or csr_matrix, shapes (n, d) and (p, d)

        Returns
        -------
        ndarray, shape (n, p), dtype of the input
        """
        return inner_products(X, Z)

    def diagonal(self, X):
        """``k(x, x)`` of each row: float64 of shape (n,)."""
        return squared_norms(X)


@dataclass(frozen=True)
class RBF:
    """The radial basis function kernel, ``k(x, z) = exp(-gamma |x - z|^2)``.

    Squared distances are computed as ``|x|^2 + |z|^2 - 2 x.z``. The rounding error of that form is at most
    about ``(d + 3) u (|x|^2 + |z|^2)``, with ``u`` the unit round-off of the input's dtype and ``d`` the
    number of features; distances under this bound cannot be told from zero and are set to zero, so identical
    rows have a kernel value of exactly 1.

    Parameters
    ----------
    gamma : float
        Inverse squared width, > 0 and finite.

    Raises
    ------
    ValueError
        If ``gamma`` is not a positive finite number.
    """

    gamma: float

    name = "rbf"

    def __post_init__(self):
        if not (isinstance(self.gamma, numbers.Real) and np.isfinite(self.gamma) and self.gamma > 0):
            raise ValueError(f"gamma must be a positive finite number, got {self.gamma!r}")

    def block(self, X, Z):
        """Kernel values between rows.

        Parameters
        ----------
        X, Z : ndarray or csr_matrix, shapes (n, d) and (p, d)

        Returns
        -------
        ndarray, shape (n, p), dtype of the input
        """
        norms = np.add.outer(squared_norms(X), squared_norms(Z)).astype(X.dtype, copy=False)
        values = inner_products(X, Z)
        values *= -2
        values += norms
        norms *= (X.shape[1] + 3) * np.finfo(X.dtype).eps / 2
        values[values <= norms] = 0
        values *= -X.dtype.type(self.gamma)
        return np.exp(values, out=values)

    def diagonal(self, X):
        """``k(x, x) = 1`` of each row: float64 of shape (n,)."""
        return np.ones(X.shape[0])
