"""Rows of a data set as kernels take them, and the panels that blocks of kernel values are made of."""

from __future__ import annotations

import platform

import numpy as np
from scipy import sparse

import svmselect.kernels._panels as _panels
from svmselect.forks import cached_property

__all__ = ["BLOCK_ROWS", "Rows", "dense_panels", "product_panels", "slices", "weighted_panels"]

# A panel that is made dense has at most this many rows and bytes.
PANEL_ROWS = 1024
PANEL_BYTES = 2**24
BLOCK_ROWS = 512  # rows and columns of a block of a whole matrix
PRODUCT_BYTES = 2**20  # a panel's inner products should stay in the cache
# Below this share of non-zeros a sparse product is faster than making panels dense: 2.5 to 4 times at 10 %;
# at 30 % 1.5 to 2 times for 8 to 32 columns and between 0.9 and 1.5 times for 128
SPARSE_DENSITY = 0.25
# Rows of a panel of sums: its products stay in the cache's first levels.
SPARSE_ROWS = 64
# NumPy multiplies rows by themselves with ssyrk, which OpenBLAS 0.3.31 to 0.3.33 has wrong for processors
# with SME, such as Apple's M4: it reads the memory that it is to write, and sets floating-point flags.
ON_ARM = platform.machine() in ("aarch64", "arm64")


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
        """The features of the CSR values: int32."""
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


def _multiply(left, right, products):
    """Write ``left @ right.T`` to the products."""
    if ON_ARM and left.dtype == np.float32 and left.ctypes.data == right.ctypes.data:
        half = len(right) // 2
        for part in (slice(half), slice(half, None)):
            np.matmul(left, right[part].T, out=products[:, part])
    else:
        np.matmul(left, right.T, out=products)


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
                right = B.dense(b)
                _multiply(left, right, products)
            yield a, b, products


def dense_panels(A, B):
    """The rows of A and B as dense arrays, by panels.

    Yields
    ------
    a, b : slice
        Rows of A and of B.
    left, right : ndarray, shape (len(a), d) and (len(b), d), C order
    """
    rows = max(1, min(A.n, A.panel_rows, BLOCK_ROWS))
    columns = max(1, min(B.n, B.panel_rows, max(PRODUCT_BYTES // (max(rows, B.d) * B.X.dtype.itemsize), 64)))
    for a in slices(A.n, rows):
        left = A.dense(a)
        for b in slices(B.n, columns):
            yield a, b, left, B.dense(b)


def weighted_panels(A, B):
    """The same for sums over the rows of A, many for each row of B: sparse rows of A times few rows of B made
    dense, without turning products round."""
    if not (A.sparse and A.X.nnz < SPARSE_DENSITY * A.n * A.d):
        yield from product_panels(A, B)
        return
    rows, columns = max(1, min(A.n, SPARSE_ROWS)), max(1, min(B.n, B.panel_rows, BLOCK_ROWS))
    for b in slices(B.n, columns):
        right = _panels.turned(B.dense(b))
        scratch = np.empty((rows, right.shape[1]), dtype=right.dtype)
        for a in slices(A.n, rows):
            products = scratch[: a.stop - a.start]
            _panels.sparse_rows(A.X.data, A.features, A._starts, a.start, right, products)
            yield a, b, products[:, : b.stop - b.start]


def slices(n, step):
    """Consecutive slices of `step` rows, and a shorter last one, that cover n rows."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
