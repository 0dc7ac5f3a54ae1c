"""Kernels and Gram matrices from the parameters of an estimator, or from given kernel values."""

import numbers

import numpy as np
from scipy import sparse

from svmselect.forks import cached_property
from svmselect.gram import Gram
from svmselect.gram.definite import is_definite
from svmselect.gram.rows import as_rows
from svmselect.kernels import RBF, ChiSquared, Custom, Kernel, Laplacian, Linear, Polynomial, Rows, Sigmoid
from svmselect.kernels.panels import slices
from svmselect.threads import run

__all__ = [
    "Precomputed",
    "gram_of",
    "is_precomputed",
    "kernel_of",
    "resolved_gamma",
    "single_rounding",
    "values_at",
]

# by scikit-learn's names: the kernel of some gamma, degree and coef0
KERNELS = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "rbf": lambda gamma, degree, coef0: RBF(gamma),
    "poly": lambda gamma, degree, coef0: Polynomial(degree, gamma, coef0),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma, coef0),
    "laplacian": lambda gamma, degree, coef0: Laplacian(gamma),
    "chi2": lambda gamma, degree, coef0: ChiSquared(gamma),
}
CROSS_VALUES = 2**18  # kernel values between new rows and support vectors at once: they stay in the cache
# The two halves may differ by this, relative to the largest value: that is round-off, also of float32 values.
ASYMMETRY = 1e-5
# Eigenvalues may fall this far below 0, relative to the largest value, for the same reason.
INDEFINITE = 1e-6


def _variance(X):
    """Return the variance of all values of X, zeros included; CSR rows are in canonical form."""
    if not sparse.issparse(X):
        return float(X.var())
    size = X.shape[0] * X.shape[1]
    mean = X.data.sum() / size
    # about the mean, as for dense rows: a difference of two sums would lose the digits of values far from 0
    return float((((X.data - mean) ** 2).sum() + (size - X.nnz) * mean**2) / size)


def resolved_gamma(gamma, X):
    """Return gamma as a number: "scale" is ``1 / (d var(X))``, or 1 without variance, "auto" is ``1 / d``."""
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1 / X.shape[1]
        if gamma == "scale":
            with np.errstate(over="ignore", invalid="ignore"):
                spread = _variance(X)
            if not np.isfinite(spread):
                raise ValueError("X is too large for gamma='scale': its variance overflows float64")
            return 1 / (X.shape[1] * spread) if spread > 0 else 1.0
    elif isinstance(gamma, numbers.Real):
        return gamma
    raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}")


def kernel_of(kernel, X, gamma="scale", degree=3, coef0=0.0):
    """Return the kernel that an estimator's parameters name; raise a ValueError for bad ones.

    X are the training rows, or the kernel matrix if `kernel` is "precomputed"; `gamma`, `degree` and `coef0`
    are for named kernels.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel)
    if is_precomputed(kernel):
        return Precomputed(X)
    if not (isinstance(kernel, str) and kernel in KERNELS):
        names = [*KERNELS, "precomputed"]
        raise ValueError(f"kernel must be one of {names}, a Kernel or a function, got {kernel!r}")
    return KERNELS[kernel](1.0 if kernel == "linear" else resolved_gamma(gamma, X), degree, coef0)


def is_precomputed(kernel):
    """Return whether the parameter `kernel` says that rows are those of a kernel matrix."""
    return isinstance(kernel, str) and kernel == "precomputed"


def gram_of(X, kernel, memory_mb, dtype="float64", origin=None):
    """Return the Gram matrix of an estimator's training rows, which become read-only; `origin` as of Gram."""
    if isinstance(kernel, Precomputed):
        return Gram(np.arange(len(kernel.K), dtype=np.float64)[:, None], kernel, memory_mb=2.0**40)
    return Gram(X, kernel, dtype=dtype, memory_mb=memory_mb, copy=False, origin=origin)


def single_rounding(kernel, X):
    """Return the usual rounding of float32 kernel values of the rows X; infinity if it is not known.

    Of an RBF kernel it is ``2**-24 * (1 + gamma * |x|**2)``, by the largest norm of a row.
    """
    if not isinstance(kernel, RBF):
        return np.inf
    with np.errstate(over="ignore"):
        largest = (X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)).max()
    # squares and gamma far inside the range of float32
    if not 1e-30 < largest < 1e30:
        return np.inf
    return 2.0**-24 * (1 + kernel.gamma * largest)


def values_at(X, kernel, support_vectors, coef):
    """Return ``sum_i coef_pi k(x, s_i)`` at rows x, shape (n, n_pairs), on as many threads as BLAS may use.

    X is made dense or sparse as the support vectors are.
    """
    if sparse.issparse(X) != sparse.issparse(support_vectors):
        X = sparse.csr_array(X) if sparse.issparse(support_vectors) else X.toarray()
    if not support_vectors.shape[0]:  # fits that rounding stopped before their first step
        return np.zeros((X.shape[0], len(coef)))
    rows, support = Rows.pair(as_rows(X), as_rows(support_vectors))
    kernel.check(rows)
    if isinstance(kernel, Linear):
        return rows.packed @ (coef @ support.packed).T
    out = np.empty((rows.n, len(coef)))

    def panel(part):
        np.matmul(kernel.block(rows.take(part), support), coef.T, out=out[part])

    run(panel, slices(rows.n, max(1, CROSS_VALUES // support.n)), rows.n * support.n * support.width)
    return out


class Precomputed(Kernel):
    """A kernel whose values are given; its rows are row numbers of the matrix K, shape (m, m).

    K has to be symmetric, and positive semi-definite for all but training. Raise a ValueError if it is not
    square, or not symmetric beyond round-off.
    """

    name = "precomputed"

    def __init__(self, K):
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix, got shape {K.shape}")
        difference = np.abs(K - K.T)
        i, j = np.unravel_index(difference.argmax(), K.shape)
        if difference[i, j] > ASYMMETRY * np.abs(K).max():
            raise ValueError(
                f"a precomputed kernel must be symmetric, got {K[i, j]} at ({i}, {j}) and {K[j, i]} across"
            )
        self.K = K

    @cached_property
    def _is_definite(self):
        return is_definite(self.K, INDEFINITE)

    def is_definite(self):
        """Return whether the matrix is positive semi-definite up to round-off."""
        return self._is_definite

    def check_definite(self):
        """Raise a ValueError unless the matrix is positive semi-definite."""
        if not self.is_definite():
            raise ValueError("leave-one-out errors need a positive semi-definite kernel matrix")

    def block(self, A, B, out=None, slots=None):
        """Return the values of two sets of row numbers; see `Kernel.block`."""
        a, b = (rows.X[:, 0].astype(np.intp) for rows in (A, B))
        values = self.K[a[:, None], b]
        if out is None:
            return values
        out[slice(None) if slots is None else slots] = values
        return out

    def diagonal(self, A):
        """Return the value of each row number with itself."""
        a = A.X[:, 0].astype(np.intp)
        return self.K[a, a]
