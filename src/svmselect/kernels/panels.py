"""Rows of a data set in one type, and the panels from which blocks of kernel values are computed."""

import platform

import numpy as np
from scipy import sparse

import svmselect.kernels._panels as _panels
from svmselect.forks import cached_property

__all__ = [
    "BLOCK_ROWS",
    "FEW_FEATURES",
    "PART_ROWS",
    "Rows",
    "dense_panels",
    "panel_shape",
    "product_panels",
    "rarely_meet",
    "slices",
    "weighted_panels",
]

# The largest number of rows, and of bytes, of sparse rows that are made dense together.
PANEL_ROWS = 1024
PANEL_BYTES = 2**24
BLOCK_ROWS = 512  # rows and columns of a block of a whole matrix
PART_ROWS = 1024  # rows of a part that a thread takes at a time
PRODUCT_BYTES = 2**20  # a panel's inner products should stay in the cache
# Below this share of non-zeros a sparse product is faster than a dense one: 2.5 to 4 times at 10 %; at 30 %
# 1.5 to 2 times for 8 to 32 columns, and between 0.9 and 1.5 times for 128.
SPARSE_DENSITY = 0.25
# Nanoseconds of two sparse values that meet, of a sparse value times a dense one, and of making a value
# dense: the kind of a product follows from their sums.
PAIR_NS, VALUE_NS, DENSE_NS = 1.5, 0.1, 1.0
# Up to this many features a pass over the rows is as fast as BLAS, whose first call takes milliseconds.
FEW_FEATURES = 8
# Rows of a panel of sums: its products stay in the cache's first levels.
SPARSE_ROWS = 64
# NumPy multiplies rows by themselves with ssyrk. In OpenBLAS 0.3.31 to 0.3.33 it is wrong on processors with
# SME, such as Apple's M4: it reads the memory that it is to write, and sets floating-point flags.
ON_ARM = platform.machine() in ("aarch64", "arm64")


def _packed(*matrices):
    """Return CSR matrices without the columns that are empty in all, and the numbers of the other columns.

    The matrices are in canonical format, with the same number of columns; the results share their values. At
    least one column is left.
    """
    d = matrices[0].shape[1]
    indices = np.concatenate([X.indices for X in matrices])
    if d <= 8 * indices.size:  # counting takes less time than sorting
        occurs = np.zeros(d, dtype=bool)
        occurs[indices] = True
        columns, places = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[indices]
    else:
        columns, places = np.unique(indices, return_inverse=True)
    columns = columns.astype(np.intp) if columns.size else np.zeros(1, dtype=np.intp)
    ends = np.cumsum([X.indices.size for X in matrices])
    narrow = [
        sparse.csr_array((X.data, part, X.indptr), shape=(X.shape[0], columns.size))
        for X, part in zip(matrices, np.split(places.astype(np.int32), ends[:-1]), strict=True)
    ]
    return narrow, columns


class Rows:
    """Rows of a data set of one dtype, with their squared norms: the arguments of kernels.

    Sparse rows are stored without the columns that are empty, so work and memory follow from the number of
    values. Products make at most `PANEL_ROWS` of them, and `PANEL_BYTES`, dense together. For CSR rows that
    have lost their empty columns, `columns` are the numbers of the columns that they have, and `d` is the
    number of features. `X` are the rows with all columns, `packed` those for products, shape (n, width).
    Raise a ValueError if a squared norm is so large that a squared distance may overflow.
    """

    def __init__(self, X, name="X", columns=None, d=None):
        self.d = X.shape[1] if d is None else d
        self.sparse = sparse.issparse(X)
        if self.sparse and columns is None:
            (X,), columns = _packed(X)
        self._hold(X, columns)
        starts = self._starts if self.sparse else np.arange(self.n + 1) * self.width
        self.norms = _panels.squared_norms(X.data if self.sparse else X.reshape(-1), starts)
        # |x - z|^2 <= 2 |x|^2 + 2 |z|^2
        most = np.finfo(X.dtype).max / 4
        large = np.flatnonzero(~(self.norms <= most))
        if large.size:
            raise ValueError(
                f"{name} is too large for {X.dtype} arithmetic: "
                f"the squared norm of row {large[0]} exceeds {most:.3g}"
            )

    @classmethod
    def pair(cls, X, Z):
        """Return the Rows of two matrices, both dense or both sparse, over the same columns."""
        if not sparse.issparse(X):
            return cls(X), cls(Z)
        narrow, columns = _packed(X, Z)
        return tuple(cls(part, columns=columns, d=X.shape[1]) for part in narrow)

    def _hold(self, X, columns):
        self.packed, self.columns, self.dtype = X, columns, X.dtype
        self.n, self.width = X.shape
        if self.sparse:
            self._starts = X.indptr.astype(np.intp)
            self.features = X.indices.astype(np.int32, copy=False)

    @property
    def X(self):
        """The rows with all columns."""
        if not self.sparse:
            return self.packed
        parts = self.packed.data, self.columns[self.packed.indices], self.packed.indptr
        return sparse.csr_array(parts, shape=(self.n, self.d))

    @cached_property
    def groups(self):
        """Return a number for each row, the same for identical rows: intp, shape (n,)."""
        if np.unique(self.norms).size == self.n:
            return np.arange(self.n)
        if self.sparse:
            ends = zip(self._starts[:-1], self._starts[1:], strict=True)
            keys = [(self.features[a:b].tobytes(), self.packed.data[a:b].tobytes()) for a, b in ends]
        else:
            keys = [row.tobytes() for row in self.packed + 0.0]  # -0.0 is 0.0
        numbers = {}
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)

    def take(self, rows):
        """Return some of the rows, by a slice (which shares their values) or an array of row numbers."""
        taken = Rows.__new__(Rows)
        taken.d, taken.sparse, taken.norms = self.d, self.sparse, self.norms[rows]
        by_slice = self.sparse and isinstance(rows, slice)
        taken._hold(self._csr(rows) if by_slice else self.packed[rows], self.columns)
        return taken

    def scaled(self, factors):
        """Return the rows with each feature times its factor, shape (d,), rounded to the type of the rows."""
        factors = factors.astype(self.dtype)
        if not self.sparse:
            return Rows(self.packed * factors)
        values = self.packed.data * factors[self.columns][self.features]
        parts = values, self.packed.indices, self.packed.indptr
        return Rows(sparse.csr_array(parts, shape=self.packed.shape), columns=self.columns, d=self.d)

    @property
    def panel_rows(self):
        """The number of rows that may be made dense together."""
        if not self.sparse:
            return self.n
        return min(PANEL_ROWS, max(1, PANEL_BYTES // (self.width * self.dtype.itemsize)))

    def dense(self, rows):
        """Return a slice of the rows as a dense array, shape (n_rows, width)."""
        if not self.sparse:
            return self.packed[rows]
        out = np.empty((rows.stop - rows.start, self.width), dtype=self.dtype)
        _panels.densify(self.packed.data, self.features, self._starts, rows.start, out)
        return out

    @property
    def values_per_row(self):
        """The mean number of stored values."""
        return self.packed.nnz / self.n if self.sparse else self.width

    @property
    def is_thin(self):
        """Whether a sparse product is faster than a dense one."""
        return self.sparse and self.packed.nnz < SPARSE_DENSITY * self.n * self.width

    @cached_property
    def counts(self):
        """The number of stored values of each column of sparse rows: shape (width,)."""
        return np.bincount(self.features, minlength=self.width)

    @cached_property
    def by_columns(self):
        """The values of sparse rows by columns: where columns start, row numbers, values."""
        columns = self.packed.tocsc()
        return columns.indptr.astype(np.intp), columns.indices.astype(np.int32, copy=False), columns.data

    def _csr(self, rows):
        starts = self.packed.indptr[rows.start : rows.stop + 1]
        inside = slice(starts[0], starts[-1])
        parts = self.packed.data[inside], self.packed.indices[inside], starts - starts[0]
        return sparse.csr_array(parts, shape=(rows.stop - rows.start, self.width))


def _multiply(left, right, products):
    """Write ``left @ right.T`` to the products."""
    if ON_ARM and left.dtype == np.float32 and left.ctypes.data == right.ctypes.data:
        half = len(right) // 2
        for part in (slice(half), slice(half, None)):
            np.matmul(left, right[part].T, out=products[:, part])
    else:
        np.matmul(left, right.T, out=products)


def _multiply_few(left, right, scratch):
    """Return ``left @ right.T`` of rows with few features, in `scratch` with room for padded rows."""
    n, d = left.shape
    turned = _panels.turned(right)
    products = scratch[: n * turned.shape[1]].reshape(n, turned.shape[1])
    features = np.tile(np.arange(d, dtype=np.int32), n)
    _panels.sparse_rows(left.reshape(-1), features, np.arange(n + 1) * d, 0, turned, products)
    return products[:, : len(right)]


def _check_columns(A, B):
    """Raise a ValueError unless two Rows have the same columns: compiled code follows their numbers."""
    if A.columns is not B.columns or A.width != B.width:
        raise ValueError("rows of two matrices must be made by Rows.pair, got different columns")


def rarely_meet(A, B):
    """Return whether rows share so few columns that pairs of values are less work than dense rows."""
    if not B.is_thin:
        return False
    pairs = float(A.counts @ B.counts)
    dense = VALUE_NS * A.n * B.packed.nnz + DENSE_NS * A.n * A.width
    return PAIR_NS * pairs + B.packed.nnz + B.width < dense


def _overlaps(A, B):
    """Yield inner products of sparse rows by the columns that they share, as `product_panels`."""
    _check_columns(A, B)
    rows = max(1, min(A.n, PRODUCT_BYTES // (max(B.n, 1) * A.dtype.itemsize)))
    scratch = np.empty((rows, B.n), dtype=A.dtype)
    for a in slices(A.n, rows):
        products = scratch[: a.stop - a.start]
        _panels.overlaps(A.packed.data, A.features, A._starts, a.start, *B.by_columns, products)
        yield a, slice(0, B.n), products


def panel_shape(A, B):
    """Return how many rows of A and of B a panel of their products has; either may have none."""
    _check_columns(A, B)
    rows = max(1, min(A.n, A.panel_rows, BLOCK_ROWS))
    return rows, max(1, min(B.n, max(PRODUCT_BYTES // (rows * A.dtype.itemsize), 64)))


def product_panels(A, B):
    """Yield inner products of the rows of A and B, panel by panel: slices a and b of both, and the products.

    The values of a row of the products, shape (len(a), len(b)), lie together. The array is reused for the
    next panel.
    """
    if rarely_meet(A, B):
        yield from _overlaps(A, B)
        return
    # 1) the size of a panel; a model without support vectors has no rows
    rows, columns = panel_shape(A, B)
    thin, few = B.is_thin, A.width <= FEW_FEATURES
    if B.sparse and not thin:
        columns = min(columns, B.panel_rows)
    # 2) products = A[a] @ B[b].T, by a sparse product, a pass over the rows or BLAS
    scratch = np.empty(rows * (columns + _panels.WIDTH), dtype=A.dtype)
    for a in slices(A.n, rows):
        left = A.dense(a)
        for b in slices(B.n, columns):
            shape = a.stop - a.start, b.stop - b.start
            products = scratch[: shape[0] * shape[1]].reshape(shape)
            if thin:
                _panels.sparse_product(B.packed.data, B.features, B._starts, b.start, left, products)
            elif few:
                products = _multiply_few(left, B.dense(b), scratch)
            else:
                _multiply(left, B.dense(b), products)
            yield a, b, products


def dense_panels(A, B):
    """Yield the rows of A and B as dense arrays, panel by panel: slices a and b of both, and the rows."""
    _check_columns(A, B)
    rows = max(1, min(A.n, A.panel_rows, BLOCK_ROWS))
    in_cache = max(PRODUCT_BYTES // (max(rows, B.width) * B.dtype.itemsize), 64)
    columns = max(1, min(B.n, B.panel_rows, in_cache))
    for a in slices(A.n, rows):
        left = A.dense(a)
        for b in slices(B.n, columns):
            yield a, b, left, B.dense(b)


def weighted_panels(A, B):
    """Yield inner products as `product_panels`, for sums over the rows of A.

    Sparse rows of A are multiplied by a few rows of B made dense, so that no product is transposed.
    """
    if not A.is_thin or rarely_meet(A, B):
        yield from product_panels(A, B)
        return
    _check_columns(A, B)
    rows, columns = max(1, min(A.n, SPARSE_ROWS)), max(1, min(B.n, B.panel_rows, BLOCK_ROWS))
    for b in slices(B.n, columns):
        right = _panels.turned(B.dense(b))
        scratch = np.empty((rows, right.shape[1]), dtype=right.dtype)
        for a in slices(A.n, rows):
            products = scratch[: a.stop - a.start]
            _panels.sparse_rows(A.packed.data, A.features, A._starts, a.start, right, products)
            yield a, b, products[:, : b.stop - b.start]


def slices(n, step):
    """Return consecutive slices of `step` rows, and a shorter last one, that cover n rows."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
