"""The Gram matrix that every estimator shares."""

from __future__ import annotations

import numbers
import weakref
from functools import cached_property

import numpy as np
from scipy import sparse

from svmselect import _panels
from svmselect._columns import MIN_COLUMNS, Columns, allocate, padded_length
from svmselect.csr import as_csr
from svmselect.kernels import BLOCK_ROWS, RBF, Linear, Rows, product_panels, slices
from svmselect.threads import run

__all__ = ["Gram", "matrix_mb"]

MOST_FEATURES = 2**31 - 1  # of sparse rows: compiled code numbers them with 32 bits


def as_rows(X, name="X"):
    """Check a data matrix: a finite, non-empty, two-dimensional dense array or sparse matrix of numbers.

    Returns
    -------
    ndarray (C order) or csr_array, float64
    """
    if np.iscomplexobj(X):
        raise ValueError(f"{name} must be an array of real numbers, got complex ones")
    if sparse.issparse(X):
        X = sparse.csr_array(as_csr(X, name), dtype=np.float64)
        if X.shape[1] > MOST_FEATURES:
            raise ValueError(f"{name} must have at most {MOST_FEATURES} features, got {X.shape[1]}")
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
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
        if sparse.issparse(X):
            first = np.flatnonzero(~np.isfinite(values))[0]
            where = np.searchsorted(X.indptr, first, side="right") - 1, X.indices[first]
        else:
            where = np.argwhere(~np.isfinite(X))[0]
        raise ValueError(
            f"{name} must be finite, got a NaN or infinity in row {where[0]}, feature {where[1]}"
        )
    return X


def check_dtype(dtype):
    """The type of a Gram matrix, or a ValueError."""
    try:
        found = None if dtype is None else np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float32, np.float64):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
    return found


def check_kernel(kernel):
    """A ValueError unless `kernel` is one."""
    if not isinstance(kernel, (RBF, Linear)):
        raise ValueError(f"kernel must be RBF(gamma) or Linear(), got {kernel!r}")


class Source:
    """Where the columns of one Gram matrix come from: matrices of more rows that store them, else the kernel.

    Parameters
    ----------
    data : Rows
    numbers : ndarray of intp or None
        The rows of `data` that the matrix is about; all of them by default.
    kernel : RBF or Linear
    counts : ndarray of int64, shape (2,)
        Columns requested and kernel values computed.
    above : list of (Columns, ndarray of intp)
        Stores to look in first, and the numbers that the matrix' rows have there.
    """

    def __init__(self, data, numbers, kernel, counts, above=()):
        self.data, self.numbers, self.kernel, self.counts, self.above = data, numbers, kernel, counts, above
        self.m = data.n if numbers is None else numbers.size

    @cached_property
    def rows(self):
        return self.data if self.numbers is None else self.data.take(self.numbers)

    @cached_property
    def parts(self):
        """The rows in parts, for the threads: pairs of a slice and its Rows."""
        step = max(8 * BLOCK_ROWS, -(-self.m // 16))
        return [(part, self.rows.take(part)) for part in slices(self.m, step)]

    @cached_property
    def diagonal(self):
        diagonal = self.kernel.diagonal(self.data)
        return diagonal if self.numbers is None else diagonal[self.numbers]

    def stored_above(self, indices):
        """Whether some other store has each column."""
        stored = np.zeros(indices.size, dtype=bool)
        for columns, places in self.above:
            stored |= columns.holds(places[indices])
        return stored

    def load(self, indices, out, slots):
        """Write column ``indices[k]`` into ``out[slots[k], :m]`` and count what is computed."""
        for columns, places in self.above:
            stored = columns.holds(places[indices])
            columns.gather(places[indices[stored]], places, out, slots[stored])
            indices, slots = indices[~stored], slots[~stored]
        if indices.size:
            chosen = self.rows.take(indices)

            def panel(part):
                at, rows = part
                self.kernel.block(chosen, rows, out=out[:, at], slots=slots)

            run(panel, self.parts, indices.size * self.m * chosen.d)
            out[slots, indices] = self.diagonal[indices]
            self.counts[1] += indices.size * self.m


class Gram:
    """The kernel matrix of one data set, computed once and shared by all fits on it.

    Columns are computed when they are asked for, many at a time where the caller knows them, and kept within
    the memory budget; beyond it, the least recently used ones make room. `compute` and `matrix` compute the
    whole matrix by blocks, the symmetric half once, on as many threads as BLAS may use.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (m, d)
        The rows. Sparse input stays sparse and is made dense by panels of at most 1,024 rows.
    kernel : RBF or Linear
    dtype : {"float64", "float32"}
        Type of the stored values. float32 halves the memory and is enough to train with an RBF kernel to a
        tolerance of 1e-3; leave-one-out, spans and linear kernels want float64.
    memory_mb : float
        Budget for the stored columns, in 2**20 bytes. Memory is taken as columns are written. Restrictions
        share what the whole matrix leaves of it, or take a quarter more.

    Attributes
    ----------
    m : int
        Number of rows.
    kernel : RBF or Linear
    diagonal : ndarray, shape (m,)
        ``k(x_i, x_i)`` as stored, in float64.
    columns : Columns
        The store.
    columns_requested : int
        Columns asked for by solvers so far, cached or not (what Franc et al. 2008 count in Table 3).
    kernel_values : int
        Kernel values computed so far (what a cache actually paid for).

    Raises
    ------
    ValueError
        If ``X`` is not a finite two-dimensional array, ``kernel`` is not a kernel, ``dtype`` is another type,
        a squared norm overflows it, or the budget does not hold eight columns.
    """

    def __init__(self, X, kernel, dtype="float64", memory_mb=2048):
        check_kernel(kernel)
        self.dtype = check_dtype(dtype)
        if not isinstance(memory_mb, numbers.Real) or not 0 < memory_mb < np.inf:
            raise ValueError(f"memory_mb must be a positive finite number, got {memory_mb!r}")
        self._X = as_rows(X)
        # stored values and products are of one type; rows are cast once
        with np.errstate(over="ignore"):
            rows = Rows(self._X.astype(self.dtype, copy=False))
        self._budget = int(memory_mb * 2**20)
        column_bytes = padded_length(rows.n) * self.dtype.itemsize
        capacity, least = self._budget // column_bytes, min(rows.n, MIN_COLUMNS)
        if capacity < least:
            raise ValueError(
                f"memory_mb={memory_mb} holds {capacity} columns of {rows.n} rows; "
                f"at least {least} are needed ({least * column_bytes / 2**20:.3g} MB)"
            )
        self._open(Source(rows, None, kernel, np.zeros(2, dtype=np.int64)), capacity, None)

    def _open(self, source, capacity, memory):
        self._source = source
        self.m = source.m
        self.kernel = source.kernel
        self.diagonal = source.diagonal
        self.columns = Columns(self.m, capacity, self.dtype, source.load, source.counts[:1], memory)
        self._squared_radius = None
        self._scratch, self._tenant = None, None

    @property
    def columns_requested(self):
        return int(self._source.counts[0])

    @property
    def kernel_values(self):
        return int(self._source.counts[1])

    @property
    def row_groups(self):
        """A number for each row, the same for identical rows, in order of appearance: intp, shape (m,)."""
        return self._source.rows.groups

    @property
    def full(self):
        """Whether the whole matrix fits the budget."""
        return self.columns.full

    def compute(self, progress=None):
        """Compute what is missing of the whole matrix if it fits the budget (else nothing).

        Stored columns keep their values. Different products of the same two rows may differ in the last bit,
        so the matrix is symmetric to the last bit only if all of it was computed at once.

        Parameters
        ----------
        progress : callable, optional
            Called as ``progress(done, total)`` after each block.

        Returns
        -------
        Gram
            The object itself.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, between blocks; columns that were stored before stay so.
        """
        columns, source = self.columns, self._source
        if not columns.full:
            return self
        stored = columns.holds(slice(None))
        kept, absent = np.flatnonzero(stored), np.flatnonzero(~stored)
        if kept.size <= self.m // 4 and not source.stored_above(absent).any():
            self._compute_blocks(kept, progress)
        else:
            panels = slices(absent.size, BLOCK_ROWS)
            for done, panel in enumerate(panels, 1):
                columns.fetch(absent[panel])
                if progress is not None:
                    progress(done, len(panels))
            columns.arrange()
        return self

    def _compute_blocks(self, kept, progress):
        """Compute the whole matrix by blocks; the stored columns `kept` keep their values."""
        source = self._source
        rows, arena = source.rows, self.columns.arena[:, : self.m]
        parts = slices(self.m, BLOCK_ROWS)
        pairs = [(part, left) for i, part in enumerate(parts) for left in parts[: i + 1]]
        values = np.empty((kept.size, self.m), dtype=self.dtype)
        self.columns.gather(kept, np.arange(self.m), values, np.arange(kept.size))
        self.columns.forget()

        def block(pair):
            down, right = pair
            self.kernel.block(rows.take(down), rows.take(right), out=arena[down, right])
            if down == right:
                _panels.mirror(arena[down, right])
            else:
                _panels.transpose(arena[down, right], arena[right, down])

        try:
            run(block, pairs, self.m**2 // 2 * rows.d, progress)
        finally:
            arena[:, kept] = values.T
            arena[kept] = values
            self.columns.settle(kept)
        np.fill_diagonal(arena, self.diagonal)
        source.counts[1] += sum(arena[pair].size for pair in pairs)
        self.columns.settle(np.arange(self.m))

    def matrix(self):
        """The whole matrix as a read-only view, shape (m, m), Fortran order; see `compute`.

        Raises
        ------
        MemoryError
            If it does not fit the budget.
        """
        if not self.full:
            raise MemoryError(
                f"a Gram matrix of {self.m} rows takes {matrix_mb(self.m, self.dtype):.6g} MB, more than its "
                f"budget of {self._budget / 2**20:.6g} MB (memory_mb); ask for columns instead"
            )
        self.compute()
        view = self.columns.arena[:, : self.m].T  # a slot holds a column
        view.flags.writeable = False
        return view

    def set_kernel(self, kernel):
        """Put another kernel on the same rows, in the same memory.

        All columns become absent, and the counters go on. Solver states made before must not be used any
        more; a `matrix` view shows what is written over it.

        Parameters
        ----------
        kernel : RBF or Linear

        Returns
        -------
        Gram
            The object itself.

        Raises
        ------
        ValueError
            If ``kernel`` is not a kernel, or the object is a restriction.
        """
        check_kernel(kernel)
        former = self._source
        if former.numbers is not None:
            raise ValueError("set_kernel is for the Gram matrix of all rows, not for a restriction")
        scratch, tenant = self._scratch, self._tenant
        memory = self.columns.close()
        self._open(Source(former.data, None, kernel, former.counts), self.columns.capacity, memory)
        self._scratch, self._tenant = scratch, tenant
        return self

    def shared(self, former=None):
        """Another object on the values stored here, for another thread: the whole matrix, computed where it
        is not yet, is theirs together; counters and the memory of restrictions are its own.

        Parameters
        ----------
        former : Gram, optional
            Such an object made before this one got its present kernel. Its counters and memory go on.

        Returns
        -------
        Gram

        Raises
        ------
        MemoryError
            If it does not fit the budget.
        ValueError
            If the object is a restriction.
        """
        source = self._source
        if source.numbers is not None:
            raise ValueError("shared is for the Gram matrix of all rows, not for a restriction")
        self.matrix()
        other = Gram.__new__(Gram)
        other._X, other.dtype, other._budget = self._X, self.dtype, self._budget
        counts = np.zeros(2, dtype=np.int64) if former is None else former._source.counts
        memory = self.columns.arena.reshape(-1).view(np.uint8)
        other._open(Source(source.data, None, self.kernel, counts), self.m, memory)
        other.columns.settle(np.arange(self.m))
        if former is not None:
            other._scratch, other._tenant = former._scratch, former._tenant
        return other

    def copies(self, n):
        """Objects on the same rows with memory of their own, for threads that use other kernels.

        Parameters
        ----------
        n : int
            How many are wanted, with this one.

        Returns
        -------
        list of Gram
            This one first; as many as the budget of this one holds whole matrices of, at least one.
        """
        room = int(self._budget / 2**20 // matrix_mb(self.m, self.dtype))
        return [self, *(self._copy() for _ in range(min(n, room) - 1))]

    def _copy(self):
        other = Gram.__new__(Gram)
        other._X, other.dtype, other._budget = self._X, self.dtype, self._budget
        other._open(Source(self._source.data, None, self.kernel, np.zeros(2, dtype=np.int64)), self.m, None)
        return other

    def add_counts(self, others):
        """Take the counts of objects made by `shared` or `copies` into the counters of this one."""
        for other in others:
            self._source.counts += other._source.counts
            other._source.counts[:] = 0

    @property
    def _part_budget(self):
        """Memory of a restriction, bytes: what this matrix leaves of its budget, a quarter at least."""
        return max(self._budget - self.columns.arena.nbytes, self._budget // 4)

    def has_room(self, n):
        """Whether a restriction to n rows can hold its columns as long as this matrix can: one that drops and
        copies columns again costs more than the rows that it saves."""
        return not self.full or n * padded_length(n) * self.dtype.itemsize <= self._part_budget

    def restricted(self, rows):
        """The Gram matrix of some of the rows.

        Its columns are copied from this matrix where they are stored, else computed on these rows alone. It
        shares the counters of this matrix, and its memory is used again by the next restriction once nothing
        refers to its columns.

        Parameters
        ----------
        rows : array_like of int, shape (n,)
            Row numbers, increasing.

        Returns
        -------
        Gram
            Of n rows.

        Raises
        ------
        ValueError
            If ``rows`` is empty, not increasing, or out of range.
        """
        source = self._part(rows)
        part = Gram.__new__(Gram)
        part._X, part.dtype = self._X, self.dtype
        part._budget = self._part_budget
        column_bytes = padded_length(source.m) * self.dtype.itemsize
        capacity = min(source.m, max(part._budget // column_bytes, MIN_COLUMNS))
        in_use = self._tenant is not None and self._tenant() is not None
        if in_use or self._scratch is None or self._scratch.nbytes < capacity * column_bytes:
            self._scratch = None  # before more is asked for
            self._scratch = allocate(capacity * column_bytes)
        part._open(source, capacity, self._scratch)
        self._tenant = weakref.ref(part.columns)
        return part

    def block(self, rows):
        """``K[rows][:, rows]``, from stored columns where there are, else computed and not kept.

        Parameters
        ----------
        rows : array_like of int, shape (n,)
            Row numbers, increasing.

        Returns
        -------
        ndarray, shape (n, n)
            Of the matrix' dtype.

        Raises
        ------
        ValueError
            As `restricted`.
        """
        source = self._part(rows)
        everything = np.arange(source.m)
        out = np.empty((source.m, source.m), dtype=self.dtype)
        source.load(everything, out, everything)
        return out

    def submatrix(self, rows, columns):
        """``K[rows][:, columns]``, from stored columns where there are, else computed and not kept.

        Parameters
        ----------
        rows, columns : array_like of int, shape (n,) and (s,)
            Row numbers, in any order.

        Returns
        -------
        ndarray, shape (n, s), Fortran order
            Of the matrix' dtype.

        Raises
        ------
        IndexError
            For a number that is not a row's.
        """
        rows, columns = np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)
        numbers = np.concatenate([rows, columns])
        outside = numbers[(numbers < 0) | (numbers >= self.m)]
        if outside.size:
            raise IndexError(f"there is no row {outside[0]} in a matrix of {self.m} rows")
        out = np.empty((columns.size, rows.size), dtype=self.dtype)
        source = self._source
        source.counts[0] += columns.size
        places = np.arange(columns.size)
        above = [(store, there[columns], there[rows]) for store, there in source.above]
        for store, wanted, at in [(self.columns, columns, rows), *above]:
            stored = store.holds(wanted[places])
            store.gather(wanted[places[stored]], at, out, places[stored])
            places = places[~stored]
        if places.size and rows.size:
            chosen = source.rows.take(columns[places])

            def panel(part):
                self.kernel.block(chosen, source.rows.take(rows[part]), out=out[:, part], slots=places)

            run(panel, slices(rows.size, 8 * BLOCK_ROWS), places.size * rows.size * chosen.d)
            source.counts[1] += places.size * rows.size
        return out.T

    def _part(self, rows):
        """The source of the matrix of some rows, or a ValueError."""
        rows = np.array(rows)
        if (
            rows.ndim != 1
            or rows.size == 0
            or rows.dtype.kind not in "iu"
            or rows[0] < 0
            or rows[-1] >= self.m
            or (np.diff(rows) <= 0).any()
        ):
            raise ValueError(f"rows must be increasing row numbers from 0 to {self.m - 1}, at least one")
        rows = rows.astype(np.intp)
        source = self._source
        above = [(self.columns, rows), *((columns, there[rows]) for columns, there in source.above)]
        numbers = rows if source.numbers is None else source.numbers[rows]
        return Source(source.data, numbers, self.kernel, source.counts, above)

    def product(self, support, theta, rows=None):
        """``K[rows][:, support] @ theta``: through the weight vector where the kernel is linear and that is
        less work, else from stored columns where there are, and by panels, not kept, where not.

        Parameters
        ----------
        support : array_like of int, shape (s,)
        theta : array_like, shape (s,)
        rows : array_like of int, shape (n,), optional
            All of them by default.

        Returns
        -------
        ndarray, shape (n,)
            float64. Kernel values are of the matrix' dtype, sums are in float64.
        """
        support, theta = np.asarray(support, dtype=np.intp), np.asarray(theta, dtype=np.float64)
        places = None if rows is None else np.asarray(rows, dtype=np.intp)
        out = np.zeros(self.m if rows is None else places.size)
        if out.size == 0:
            return out
        source = self._source
        source.counts[0] += support.size
        if isinstance(self.kernel, Linear) and self.dtype == np.float64 and support.size > source.rows.d:
            at = source.rows if rows is None else source.rows.take(places)
            return at.X @ (theta @ source.rows.take(support).X)
        stored = self.columns.holds(support)
        self.columns.add(support[stored], theta[stored], places, out)
        support, theta = support[~stored], theta[~stored]
        rows = np.arange(self.m) if rows is None else places
        for columns, there in source.above:
            stored = columns.holds(there[support])
            columns.add(there[support[stored]], theta[stored], there[rows], out)
            support, theta = support[~stored], theta[~stored]
        if support.size == 0:
            return out
        panels = [(source.rows.take(support[a]), theta[a]) for a in slices(support.size, BLOCK_ROWS)]

        def part(b):
            chosen = source.rows.take(rows[b])
            for panel, weights in panels:
                out[b] += weights @ self.kernel.block(panel, chosen)

        run(part, slices(rows.size, BLOCK_ROWS), support.size * rows.size * source.rows.d)
        source.counts[1] += support.size * rows.size
        return out

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
        data, numbers = self._X, self._source.numbers
        if X.shape[1] != data.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, the Gram matrix was made from {data.shape[1]}")
        if sparse.issparse(X) != sparse.issparse(data):
            X = sparse.csr_array(X) if sparse.issparse(data) else X.toarray()
        chosen = data[support if numbers is None else numbers[support]]
        return self.kernel.block(Rows(X), Rows(chosen))

    def squared_radius(self):
        """``max over i, j of K_ii - K_ij``: the R^2 of the third sufficiency check (Franc et al. 2008, Table
        1; Joachims 2000).

        1 for the RBF kernel (its bound over all inputs); computed over the rows for the linear kernel.
        """
        if self._squared_radius is None:
            if isinstance(self.kernel, RBF):
                self._squared_radius = 1.0
            else:
                self._squared_radius = float((self.diagonal - self._row_minima()).max())
        return self._squared_radius

    def _row_minima(self):
        """Least value of each row of a linear kernel's matrix, float64."""
        if self.full:
            return self.matrix().min(axis=0).astype(np.float64)
        rows = self._source.rows
        least = self.diagonal.copy()
        for a, _, products in product_panels(rows, rows):
            np.minimum(least[a], products.min(axis=1), out=least[a])
        self._source.counts[1] += self.m**2
        return least


def matrix_mb(m, dtype="float64"):
    """The memory of a whole Gram matrix, in 2**20 bytes: the least ``memory_mb`` that holds it.

    Parameters
    ----------
    m : int
        Number of rows.
    dtype : {"float64", "float32"}

    Returns
    -------
    float
    """
    return m * padded_length(m) * np.dtype(dtype).itemsize / 2**20
