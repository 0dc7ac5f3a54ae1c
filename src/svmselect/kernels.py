"""Kernels as blocks of the Gram matrix.

A kernel is a small frozen object with two methods: ``block(A, B)``, the matrix of ``k(a, b)`` for all rows of
``A`` and ``B``, and ``diagonal(A)``. Blocks are made of panels: a matrix product by BLAS, then one pass that
turns inner products into kernel values while they are in the cache.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from svmselect import _panels

__all__ = ["RBF", "Linear", "Rows"]

PANEL_ROWS = 1024  # most rows of a panel made dense
PANEL_BYTES = 2**24  # most memory of these
BLOCK_ROWS = 512  # rows and columns of a block of a whole matrix
PRODUCT_BYTES = 2**20  # inner products of a panel, which should stay in the cache
# below this share of non-zeros a sparse product is faster than making panels dense: 2.5 to 4 times at 10 %;
# at 30 % 1.5 to 2 times for 8 to 32 columns and between 0.9 and 1.5 times for 128
SPARSE_DENSITY = 0.25


class Rows:
    """Rows of a data set as kernels take them: of one dtype, with their squared norms.

    Parameters
    ----------
    X : ndarray (C order) or csr_array in canonical format, shape (n, d)
        float32 or float64. CSR rows stay so: products turn at most `PANEL_ROWS` of them dense at a time,
        fewer when these would exceed `PANEL_BYTES`.

    Attributes
    ----------
    X, n, d
    norms : ndarray, shape (n,), dtype of X
        ``|x|^2``, summed in long double and rounded once.

    Raises
    ------
    ValueError
        If a squared norm is so large that a squared distance may overflow.
    """

    def __init__(self, X, name="X"):
        self.X = X
        self.n, self.d = X.shape
        self.sparse = sparse.issparse(X)
        self._starts = X.indptr.astype(np.intp) if self.sparse else np.arange(self.n + 1) * self.d
        self.norms = _panels.squared_norms(X.data if self.sparse else X.reshape(-1), self._starts)
        # |x - z|^2 <= 2 |x|^2 + 2 |z|^2
        most = np.finfo(X.dtype).max / 4
        large = np.flatnonzero(~(self.norms <= most))
        if large.size:
            raise ValueError(
                f"{name} is too large for {X.dtype} arithmetic: "
                f"the squared norm of row {large[0]} exceeds {most:.3g}"
            )

    @cached_property
    def features(self):
        """Of the CSR values: int32."""
        return self.X.indices.astype(np.int32, copy=False)

    @cached_property
    def groups(self):
        """A number for each row, the same for identical rows, in order of appearance: intp, shape (n,)."""
        if np.unique(self.norms).size == self.n:
            return np.arange(self.n)
        if self.sparse:
            ends = zip(self._starts[:-1], self._starts[1:], strict=True)
            keys = [(self.X.indices[a:b].tobytes(), self.X.data[a:b].tobytes()) for a, b in ends]
        else:
            keys = [row.tobytes() for row in self.X + 0.0]  # -0.0 is 0.0
        numbers = {}
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)

    def take(self, rows):
        """Some of the rows, by a slice (which shares their values) or an array of row numbers."""
        taken = Rows.__new__(Rows)
        taken.X = self._csr(rows) if self.sparse and isinstance(rows, slice) else self.X[rows]
        taken.n, taken.d = taken.X.shape
        taken.sparse = self.sparse
        if self.sparse:
            taken._starts = taken.X.indptr.astype(np.intp)
        taken.norms = self.norms[rows]
        return taken

    @property
    def panel_rows(self):
        """Rows that may be made dense at a time."""
        if not self.sparse:
            return self.n
        return min(PANEL_ROWS, max(1, PANEL_BYTES // (self.d * self.X.dtype.itemsize)))

    def dense(self, rows):
        """A slice of the rows as a dense array."""
        if not self.sparse:
            return self.X[rows]
        out = np.empty((rows.stop - rows.start, self.d), dtype=self.X.dtype)
        _panels.densify(self.X.data, self.features, self._starts, rows.start, out)
        return out

    def _csr(self, rows):
        starts = self.X.indptr[rows.start : rows.stop + 1]
        inside = slice(starts[0], starts[-1])
        parts = self.X.data[inside], self.X.indices[inside], starts - starts[0]
        return sparse.csr_array(parts, shape=(rows.stop - rows.start, self.d))


def product_panels(A, B):
    """Inner products of the rows of A and B, by panels.

    Yields
    ------
    a, b : slice
        Rows of A and of B.
    products : ndarray, shape (len(a), len(b)), C order
        Reused for the next panel.
    """
    itemsize = A.X.dtype.itemsize
    # either may have no rows: a model without support vectors
    rows = max(1, min(A.n, A.panel_rows, BLOCK_ROWS))
    columns = max(1, min(B.n, max(PRODUCT_BYTES // (rows * itemsize), 64)))
    sparse_product = B.sparse and B.X.nnz < SPARSE_DENSITY * B.n * B.d
    if B.sparse and not sparse_product:
        columns = min(columns, B.panel_rows)
    scratch = np.empty(rows * columns, dtype=A.X.dtype)
    for a in slices(A.n, rows):
        left = A.dense(a)
        for b in slices(B.n, columns):
            shape = a.stop - a.start, b.stop - b.start
            products = scratch[: shape[0] * shape[1]].reshape(shape)
            if sparse_product:
                _panels.sparse_product(B.X.data, B.features, B._starts, b.start, left, products)
            else:
                np.matmul(left, B.dense(b).T, out=products)
            yield a, b, products


def slices(n, step):
    """Consecutive slices of `step` rows, and a shorter last one, that cover n rows."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


class Kernel:
    """What kernels share: blocks are panels of inner products, finished one by one."""

    def block(self, A, B, out=None, slots=None):
        """Kernel values between rows.

        Parameters
        ----------
        A, B : Rows
            Of one dtype, both dense or both sparse.
        out : ndarray, optional
            Where to put the values; rows may lie apart, the values of a row not.
        slots : ndarray of intp, shape (A.n,), optional
            The row of `out` for each row of A; by default the same number.

        Returns
        -------
        ndarray
            `out`, by default new and of shape (A.n, B.n), with ``out[slots[r], c] = k(A_r, B_c)``.
        """
        if out is None:
            out = np.empty((A.n, B.n), dtype=A.X.dtype)
        if slots is None:
            slots = np.arange(A.n)
        for a, b, products in product_panels(A, B):
            self._finish(products, out[:, b], slots[a], A.norms[a], B.norms[b], A.d)
        return out


@dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel, ``k(x, z) = x'z``. Its rounding error is at most about ``d u |x| |z|``, with ``u``
    the unit round-off of the dtype and ``d`` the number of features."""

    name = "linear"

    def _finish(self, products, out, slots, norms, other_norms, d):
        out[slots] = products

    def diagonal(self, A):
        """``k(x, x)`` of each row: float64 of shape (n,)."""
        return A.norms.astype(np.float64)


@dataclass(frozen=True)
class RBF(Kernel):
    """The radial basis function kernel, ``k(x, z) = exp(-gamma |x - z|^2)``.

    Squared distances are computed as ``|x|^2 + |z|^2 - 2 x.z`` in the dtype of the rows, with norms that are
    rounded only once. With ``u`` the unit round-off of the dtype, ``d`` the number of features and ``S =
    |x|^2 + |z|^2``, and where nothing underflows, rounding adds at most about ``(d + 2) u S`` to the distance
    of close rows; distances up to ``(d + 3) u S`` cannot be told from zero and are set to zero, so identical
    rows have a kernel value of exactly 1. Altogether a squared distance is within ``(2 d + 5) u S`` of the
    true one, and a kernel value within ``gamma (2 d + 5) u S + 3 u``; values below 1e-37 (float32) or 1e-307
    (float64) are 0.

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

    def _finish(self, products, out, slots, norms, other_norms, d):
        clip = (d + 3) * np.finfo(products.dtype).eps / 2
        _panels.rbf(products, out, slots, norms, other_norms, self.gamma, clip)

    def diagonal(self, A):
        """``k(x, x) = 1`` of each row: float64 of shape (n,)."""
        return np.ones(A.n)
