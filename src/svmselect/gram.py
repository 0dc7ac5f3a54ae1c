"""The Gram matrix that every estimator shares."""

from __future__ import annotations

import numbers

import numpy as np
from scipy import sparse

from svmselect._columns import MIN_COLUMNS, Columns, padded_length
from svmselect.kernels import RBF, Linear

__all__ = ["Gram"]

BLOCK_ROWS = 1024


def as_rows(X, name="X"):
    """Check a data matrix: a finite, non-empty, two-dimensional dense array or CSR matrix of numbers.

    Returns
    -------
    ndarray (C order) or csr_array, float64
    """
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64)
        values = X.data
    else:
        try:
            X = np.ascontiguousarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be an array of numbers: {error}") from None
        values = X
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions (rows, features), got shape {X.shape}")
    if 0 in X.shape:
        raise ValueError(f"{name} must have at least one row and one feature, got shape {X.shape}")
    if not np.isfinite(values).all():
        where = np.argwhere(~np.isfinite(X.toarray() if sparse.issparse(X) else X))[0]
        raise ValueError(
            f"{name} must be finite, got a NaN or infinity in row {where[0]}, feature {where[1]}"
        )
    return X


class Gram:
    """The kernel matrix of one data set, computed once and shared by all fits on it.

    Within the memory budget the whole matrix is computed by blocks at its first use, the symmetric half once;
    beyond it, the least recently used columns make room for new ones.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (m, d)
        The rows. Sparse input stays sparse and is made dense by panels of at most 1,024 rows.
    kernel : RBF or Linear
    dtype : {"float64", "float32"}
        Type of the stored values. float32 halves the memory and is enough to train with an RBF kernel to a
        tolerance of 1e-3; leave-one-out, spans and linear kernels want float64.
    memory_mb : float
        Budget for the stored columns, in 2**20 bytes.

    Attributes
    ----------
    m : int
        Number of rows.
    diagonal : ndarray, shape (m,)
        ``k(x_i, x_i)`` as stored, in float64.
    columns_requested : int
        Columns asked for by solvers so far, cached or not (what Franc et al. 2008 count in Table 3).
    kernel_values : int
        Kernel values computed so far (what a cache actually paid for).

    Raises
    ------
    ValueError
        If ``X`` is not a finite two-dimensional array, ``kernel`` is not a kernel, ``dtype`` is another type,
        or the budget does not hold eight columns.
    """

    def __init__(self, X, kernel, dtype="float64", memory_mb=2048):
        if not isinstance(kernel, (RBF, Linear)):
            raise ValueError(f"kernel must be RBF(gamma) or Linear(), got {kernel!r}")
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
        if not isinstance(memory_mb, numbers.Real) or not memory_mb > 0:
            raise ValueError(f"memory_mb must be a positive number, got {memory_mb!r}")
        self.X = as_rows(X)
        self.m = self.X.shape[0]
        self.kernel = kernel
        self.dtype = np.dtype(dtype)
        column_bytes = padded_length(self.m) * self.dtype.itemsize
        capacity = min(self.m, int(memory_mb * 2**20 // column_bytes))
        least = min(self.m, MIN_COLUMNS)
        if capacity < least:
            raise ValueError(
                f"memory_mb={memory_mb} holds {capacity} columns of {self.m} rows; "
                f"at least {least} are needed ({least * column_bytes / 2**20:.3g} MB)"
            )
        # stored values and products are of one type; rows are cast once
        self._rows = self.X.astype(self.dtype, copy=False)
        self.diagonal = kernel.diagonal(self._rows).astype(self.dtype).astype(np.float64)
        self.kernel_values = 0
        self.columns = Columns(self.m, capacity, self.dtype, self._load)
        self._squared_radius = None

    @property
    def columns_requested(self):
        return self.columns.requested

    @property
    def full(self):
        """Whether the whole matrix fits the budget."""
        return self.columns.full

    def compute(self):
        """Compute the whole matrix now if it fits the budget (else nothing); return the object itself."""
        self.columns.load_all()
        return self

    def matrix(self):
        """The whole matrix as a read-only view, shape (m, m), symmetric.

        Raises
        ------
        MemoryError
            If it does not fit the budget.
        """
        if not self.full:
            raise MemoryError(
                f"a Gram matrix of {self.m} rows does not fit memory_mb; ask for columns instead"
            )
        self.compute()
        view = self.columns.arena[:, : self.m]
        view.flags.writeable = False
        return view

    def cross(self, X, support):
        """Kernel values between new rows and some of the data's rows, float64.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
        support : ndarray of int, shape (s,)
            Row numbers.

        Returns
        -------
        ndarray, shape (n, s)

        Raises
        ------
        ValueError
            If ``X`` is not finite or has another number of features.
        """
        X = as_rows(X)
        if X.shape[1] != self.X.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, the Gram matrix was made from {self.X.shape[1]}")
        if sparse.issparse(X) != sparse.issparse(self.X):
            X = sparse.csr_array(X) if sparse.issparse(self.X) else X.toarray()
        return self.kernel.block(X, self.X[support])

    def squared_radius(self):
        """``max over i, j of K_ii - K_ij``: the R^2 of the third sufficiency check (Franc et al. 2008, Table
        1; Joachims 2000).

        1 for the RBF kernel (its bound over all inputs); computed over the rows for the linear kernel.
        """
        if self._squared_radius is None:
            if isinstance(self.kernel, RBF):
                self._squared_radius = 1.0
            else:
                self._squared_radius = max(
                    float((self.diagonal[rows] - block.min(axis=1)).max())
                    for rows, block in self._row_blocks()
                )
        return self._squared_radius

    def _row_blocks(self):
        """Pairs of a slice of rows and their kernel values against all rows."""
        for start in range(0, self.m, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, self.m))
            if self.full:
                yield rows, self.matrix()[rows]
            else:
                self.kernel_values += (rows.stop - rows.start) * self.m
                yield rows, self.kernel.block(self._rows[rows], self._rows)

    def _load(self, i, out):
        """Write column ``i``, or with ``None`` the whole matrix, into ``out`` (the callback of Columns)."""
        if i is not None:
            out[:] = self.kernel.block(self._rows, self._rows[i : i + 1])[:, 0]
            out[i] = self.diagonal[i]
            self.kernel_values += self.m
            return
        for start in range(0, self.m, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, self.m))
            for left in range(0, rows.stop, BLOCK_ROWS):
                columns = slice(left, min(left + BLOCK_ROWS, self.m))
                block = self.kernel.block(self._rows[rows], self._rows[columns])
                self.kernel_values += block.size
                out[rows, columns] = block
                if left < start:
                    out[columns, rows] = block.T
                else:
                    # a product of a block with itself may differ from its transpose in the last bit
                    lower = np.tril_indices(rows.stop - rows.start, -1)
                    out[rows, columns].T[lower] = block[lower]
        np.fill_diagonal(out, self.diagonal)


class _Part:
    def __init__(self, parent, rows):
        self.parent, self.rows = parent, rows
        self.m = rows.size
        self.diagonal = parent.diagonal[rows]
        dt = parent.columns.arena.dtype if hasattr(parent, "columns") else None
        self.columns = Columns(self.m, self.m, dt, self._load)

    def _load(self, i, out):
        P = self.parent
        P.columns.load_all()
        for k, r in enumerate(self.rows):
            np.take(P.columns.arena[r], self.rows, out=out[k])

    def restricted(self, rows):
        return _Part(self, rows)

    def product(self, rows, support, theta):
        self.columns.load_all()
        self.columns.requested += support.size
        if rows.size == 0: return np.zeros(0)
        return (theta @ self.columns.arena[support].astype(float))[rows]
Gram.restricted = _Part.restricted
Gram.product = _Part.product
def _sk(self, kernel):
    self.__init__(self.X, kernel)
Gram.set_kernel = _sk
