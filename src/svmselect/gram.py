"""The Gram matrix that every estimator shares."""

from __future__ import annotations

import numbers
import threading
import weakref
from functools import cached_property

import numpy as np
from scipy import sparse

from svmselect import _panels
from svmselect._columns import MIN_COLUMNS, Columns, allocate, padded_length
from svmselect.csr import as_csr
from svmselect.kernels import Custom, Kernel, Linear
from svmselect.kernels.rows import BLOCK_ROWS, Rows, slices
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


def own_rows(X):
    """The rows of `as_rows`, which share no memory with X."""
    rows = as_rows(X)
    if isinstance(X, np.ndarray) and not np.may_share_memory(rows, X):
        return rows
    return rows.copy()


def adopted_rows(X):
    """The rows of `as_rows`; they are made read-only, and so is X where it shares memory with them."""
    rows = as_rows(X)
    for array in arrays_of(rows):
        for given in arrays_of(X):
            if np.may_share_memory(array, given):
                given.flags.writeable = False
        array.flags.writeable = False
    return rows


def far_origin(X):
    """The point from which to measure dense rows whose features lie far from 0, beside the range of their
    values: float64, shape (d,); None where none does, and for sparse rows.

    Each coordinate is a multiple of a power of two no smaller than the range, so that subtracting it rounds
    nothing, and rows near 0 stay where they are. A feature that is constant becomes 0.
    """
    if sparse.issparse(X):
        return None
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore"):
        step = np.ldexp(1.0, np.frexp(high - low)[1])
    middle = 0.5 * low + 0.5 * high
    with np.errstate(over="ignore", invalid="ignore"):
        origin = np.where(high > low, np.trunc(middle / step) * step, low)
    origin[~np.isfinite(origin)] = 0
    return origin if origin.any() else None


def checked_origin(X, origin):
    """A point that rows may be measured from, or a ValueError; None for 0."""
    point = np.asarray(origin, dtype=np.float64)
    if point.shape != (X.shape[1],) or not np.isfinite(point).all():
        raise ValueError(f"origin must be {X.shape[1]} finite numbers, got {origin!r}")
    if not point.any():
        return None
    if sparse.issparse(X):
        raise ValueError("origin must be 0 for sparse rows")
    return point


def measured_from(X, origin):
    """Rows moved so that `origin` becomes 0; unmoved, X itself, for None."""
    if origin is None:
        return X
    return (X.toarray() if sparse.issparse(X) else X) - origin


def arrays_of(X):
    """The arrays that hold a data matrix, none where it is neither an array nor a CSR matrix."""
    if sparse.issparse(X):
        return (X.data, X.indices, X.indptr) if X.format == "csr" else ()
    return (X,) if isinstance(X, np.ndarray) else ()


def check_dtype(dtype):
    """The type of a Gram matrix, or a ValueError."""
    try:
        found = None if dtype is None else np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float32, np.float64):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
    return found


def as_kernel(kernel):
    """A kernel, also from a function of two arrays, or a ValueError."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel)
    raise ValueError(f"kernel must be one of svmselect.kernels, as RBF(gamma), or a function, got {kernel!r}")


def checked_diagonal(kernel, rows):
    """``k(x, x)`` of the Rows, or a ValueError if the kernel is not for them."""
    kernel.check(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        diagonal = kernel.diagonal(rows)
    # of a positive semi-definite kernel no value is larger than the largest here
    bad = np.flatnonzero(~(diagonal <= np.finfo(rows.X.dtype).max))
    if bad.size:
        raise ValueError(
            f"X is too large for {rows.X.dtype} values of {kernel!r}: that of row {bad[0]} overflows"
        )
    return diagonal


class Counts:
    """Columns requested and kernel values computed, counted by each thread for itself."""

    def __init__(self):
        self._local, self._lock = threading.local(), threading.Lock()
        self._threads, self._ended = [], np.zeros(2, dtype=np.int64)

    @property
    def own(self):
        """Those of the calling thread: int64, shape (2,), to be added to."""
        try:
            return self._local.counts
        except AttributeError:
            self._local.counts = counts = np.zeros(2, dtype=np.int64)
        with self._lock:
            for thread, of_thread in self._threads:
                if not thread.is_alive():
                    self._ended += of_thread
            self._threads = [pair for pair in self._threads if pair[0].is_alive()]
            self._threads.append((threading.current_thread(), counts))
        return counts

    @property
    def total(self):
        """Those of all threads."""
        with self._lock:
            return sum((counts for _, counts in self._threads), self._ended.copy())


class Store:
    """Where the columns of a matrix are kept, and what each thread sees of it.

    The whole matrix, where it fits, is stored once for all threads. Fewer columns are replaced as they are
    used, so there each thread has a store of its own. The first thread that asks has the whole capacity, and
    another one has it after that thread has ended. Any other has a quarter as much, in memory that goes with
    the thread.

    Parameters
    ----------
    source : Source
    capacity : int
        Columns that fit the budget.
    dtype : numpy dtype
    memory : ndarray of uint8, optional
        Where to put the columns, from `allocate`; fresh memory by default.

    Attributes
    ----------
    full : bool
        Whether the whole matrix fits.
    capacity : int
    memory : ndarray of uint8
    """

    def __init__(self, source, capacity, dtype, memory=None):
        self.source, self.dtype = source, dtype
        self.capacity = min(capacity, source.m)
        self.full = self.capacity == source.m
        n_bytes = self.capacity * padded_length(source.m) * dtype.itemsize
        self.memory = allocate(n_bytes) if memory is None else memory[:n_bytes]
        self._first, self._owner = None, None
        self._local, self._lock = threading.local(), threading.Lock()

    @property
    def columns(self):
        """The Columns of the calling thread."""
        try:
            return self._local.columns
        except AttributeError:
            self._local.columns = columns = self._open(self.source.counts.own[:1])
        return columns

    def _open(self, counter):
        with self._lock:
            if self.full and self._first is not None:
                return self._first.handle(counter)
            capacity, memory = self.capacity, self.memory
            if self._owner is None or not self._owner.is_alive():
                self._owner = threading.current_thread()
            else:
                capacity, memory = max(capacity // 4, MIN_COLUMNS), None
            columns = Columns(self.source.m, capacity, self.dtype, self.source.load, counter, memory)
            if memory is not None:
                self._first = columns
            return columns

    def close(self):
        """Give the memory away: asking for a column that was kept there is an error from now on."""
        with self._lock:
            if self._first is not None:
                self._first.close()
        return self.memory


class Source:
    """Where the columns of one Gram matrix come from: matrices of more rows that store them, else the kernel.

    Parameters
    ----------
    data : Rows
    numbers : ndarray of intp or None
        The rows of `data` that the matrix is about; all of them by default.
    kernel : Kernel
    counts : Counts
    above : list of (Store, ndarray of intp)
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
        diagonal = checked_diagonal(self.kernel, self.data)
        return diagonal if self.numbers is None else diagonal[self.numbers]

    def stored_above(self, indices):
        """Whether some other store has each column."""
        stored = np.zeros(indices.size, dtype=bool)
        for store, places in self.above:
            stored |= store.columns.holds(places[indices])
        return stored

    def load(self, indices, out, slots):
        """Write column ``indices[k]`` into ``out[slots[k], :m]`` and count what is computed."""
        for store, places in self.above:
            columns = store.columns
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
            self.counts.own[1] += indices.size * self.m


class Gram:
    """The kernel matrix of one data set, computed once and shared by all fits on it.

    Columns are computed when they are asked for, many at a time where the caller knows them, and kept within
    the memory budget; beyond it, the least recently used ones make room. `compute` and `matrix` compute the
    whole matrix by blocks, the symmetric half once, on as many threads as BLAS may use.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (m, d)
        The rows. Sparse input stays sparse and is made dense by panels of at most 1,024 rows.
    kernel : Kernel
    dtype : {"float64", "float32"}
        Type of the stored values. float32 halves the memory and is enough to train with an RBF kernel to a
        tolerance of 1e-3; leave-one-out, spans and linear kernels want float64.
    memory_mb : float
        Budget for the stored columns, in 2**20 bytes. Memory is taken as columns are written. Restrictions
        share what the whole matrix leaves of it, or take a quarter more. With threads, see Notes.
    copy : bool
        Whether to copy ``X``. False takes an array as it is where its type and order allow it (float64, C
        order; CSR), without memory for a second one unless they are moved, and makes it read-only. Nor must
        its values be changed through other views of it as long as the object is in use.
    origin : array_like, shape (d,), optional
        The point from which rows are measured. By default it is 0 for sparse rows and for features near 0; a
        dense feature that lies far from 0, beside the range of its values, is moved by a multiple of that
        range. See Notes.

    Attributes
    ----------
    m : int
        Number of rows.
    kernel : Kernel
    origin : ndarray, shape (d,), or None
        The point from which rows are measured; None for 0.
    diagonal : ndarray, shape (m,)
        ``k(x_i, x_i)`` as stored, in float64.
    columns : Columns
        The store, as the calling thread sees it.
    columns_requested : int
        Columns asked for by solvers so far, cached or not (what Franc et al. 2008 count in Table 3), in all
        threads.
    kernel_values : int
        Kernel values computed so far (what a cache actually paid for), in all threads.

    Raises
    ------
    ValueError
        If ``X`` is not a finite two-dimensional array, ``kernel`` is not a kernel, ``dtype`` is another type,
        a squared norm overflows it, or the budget does not hold eight columns.

    Notes
    -----
    *Origin.* Moving all rows alike changes no value of an RBF kernel, and those of the linear kernel in a way
    that no SVM with a threshold notices; but inner products of rows far from 0 lose the digits that tell them
    apart. So kernel values here are those of the moved rows, ``k(x - origin, z - origin)``, and so is the
    threshold of a solution with a linear kernel.

    *Threads.* Any number of threads may use one object, and its restrictions, at once: fit, leave points out,
    cross-validate, estimate. Each gets the results that it gets alone: the same to the last bit on a matrix
    that was computed before, else up to the rounding of kernel values, which depends on the columns that are
    computed together. Where the whole matrix fits the budget there is one store for all, and each value is
    computed once, by the thread that needs it first; meanwhile others wait if they need new columns too.
    Where it does not fit, each thread has a store of its own. The first thread has the whole budget, and
    every other one takes a quarter of it more, until it ends. A fit counts the columns and values that its
    thread asked for and computed.

    `set_kernel` is the exception: no other thread may use the object, or a state made from it, while it is
    called. Threads that want different kernels take `copies`.
    """

    def __init__(self, X, kernel, dtype="float64", memory_mb=2048, copy=True, origin=None):
        kernel = as_kernel(kernel)
        self.dtype = check_dtype(dtype)
        if not isinstance(memory_mb, numbers.Real) or not 0 < memory_mb < np.inf:
            raise ValueError(f"memory_mb must be a positive finite number, got {memory_mb!r}")
        rows = own_rows(X) if copy else adopted_rows(X)
        rows = self._placed(rows, kernel, origin)
        self._budget = int(memory_mb * 2**20)
        column_bytes = padded_length(rows.n) * self.dtype.itemsize
        capacity, least = self._budget // column_bytes, min(rows.n, MIN_COLUMNS)
        if capacity < least:
            raise ValueError(
                f"memory_mb={memory_mb} holds {capacity} columns of {rows.n} rows; "
                f"at least {least} are needed ({least * column_bytes / 2**20:.3g} MB)"
            )
        self._open(Source(rows, None, kernel, Counts()), capacity, None)

    def _placed(self, X, kernel, origin=None):
        """The data as Rows, measured from `origin`; by default from where the kernel's values keep most
        digits."""
        if origin is None:
            self.origin = far_origin(X) if kernel.moves else None
        else:
            self.origin = checked_origin(X, origin)
            if self.origin is not None and not kernel.moves:
                raise ValueError(f"origin must be 0 for {kernel!r}, whose SVM changes when all rows move")
        self._X = measured_from(X, self.origin)
        # stored values and products are of one type; rows are cast once
        with np.errstate(over="ignore"):
            return Rows(self._X.astype(self.dtype, copy=False))

    def _open(self, source, capacity, memory):
        self._source = source
        self.m = source.m
        self.kernel = source.kernel
        self.diagonal = source.diagonal
        self._store = Store(source, capacity, self.dtype, memory)
        self._squared_radius = None
        # memory of restrictions, and a weak reference to the Source of the last one in it
        self._scratch, self._lock = [], threading.Lock()

    @property
    def columns(self):
        return self._store.columns

    @property
    def columns_requested(self):
        return int(self._source.counts.total[0])

    @property
    def kernel_values(self):
        return int(self._source.counts.total[1])

    @property
    def thread_counts(self):
        """`columns_requested` and `kernel_values` of the calling thread alone: (int, int)."""
        return tuple(self._source.counts.own.tolist())

    @property
    def row_groups(self):
        """A number for each row, the same for identical rows, in order of appearance: intp, shape (m,)."""
        return self._source.rows.groups

    @property
    def full(self):
        """Whether the whole matrix fits the budget."""
        return self._store.full

    @property
    def has_columns(self):
        """Whether any columns are stored, here or in the matrix that this one is a restriction of."""
        stores = [self._store, *(store for store, _ in self._source.above)]
        return any(store.columns.holds(slice(None)).any() for store in stores)

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
        if not self.full:
            return self
        columns, source = self.columns, self._source
        with columns.lock:
            absent = np.flatnonzero(~columns.holds(slice(None)))
            if absent.size == 0:
                return self
            if self.m - absent.size <= self.m // 4 and not source.stored_above(absent).any():
                self._compute_blocks(absent, progress)
                return self
            panels = slices(absent.size, BLOCK_ROWS)
            for done, panel in enumerate(panels, 1):
                columns.fetch(absent[panel])
                if progress is not None:
                    progress(done, len(panels))
        return self

    def _compute_blocks(self, absent, progress):
        """Compute the whole matrix by blocks, and store the columns that are `absent`, most of them."""
        source, columns = self._source, self.columns
        rows, arena = source.rows, columns.arena[:, : self.m]
        parts = slices(self.m, BLOCK_ROWS)
        pairs = [(part, left) for i, part in enumerate(parts) for left in parts[: i + 1]]
        places = columns.places(absent)
        new = np.zeros(self.m, dtype=bool)
        new[absent] = True

        def block(pair):
            down, right = pair
            self.kernel.block(rows.take(down), rows.take(right), out=arena[down, right])
            if down == right:
                _panels.mirror(arena[down, right])
            else:
                _panels.transpose(arena[down, right], arena[right, down])

        def block_around(pair):
            """The same beside columns that are stored already, wherever, and perhaps in use."""
            down, right = pair
            values = self.kernel.block(rows.take(down), rows.take(right))
            if down == right:
                _panels.mirror(values)
            arena[places[down][new[down]], right] = values[new[down]]
            if down != right:
                arena[places[right][new[right]], down] = values[:, new[right]].T

        in_place = absent.size == self.m and np.array_equal(places, absent)
        run(block if in_place else block_around, pairs, self.m**2 // 2 * rows.d, progress)
        kept, slots = np.flatnonzero(~new), places[absent]
        if kept.size:
            arena[np.ix_(slots, kept)] = arena[np.ix_(places[kept], absent)].T
        arena[slots, absent] = self.diagonal[absent]
        source.counts.own[1] += sum((p.stop - p.start) * (q.stop - q.start) for p, q in pairs)
        columns.publish(absent, slots)

    def matrix(self):
        """The whole matrix, computed where it is not yet: read-only, shape (m, m).

        A view in Fortran order where the matrix was computed before any fit asked for columns; else columns
        lie in the order of demand, and the matrix is a copy.

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
        columns = self.compute().columns
        places = columns.places()
        view = columns.arena[:, : self.m].T  # a slot holds a column
        if not np.array_equal(places, np.arange(self.m)):
            view = view[:, places]
        view.flags.writeable = False
        return view

    def set_kernel(self, kernel):
        """Put another kernel on the same rows, in the same memory.

        All columns become absent, and the counters go on. Solver states made before must not be used any
        more, nor may other threads use the object meanwhile; a `matrix` view shows what is written over it.

        Parameters
        ----------
        kernel : Kernel

        Returns
        -------
        Gram
            The object itself.

        Raises
        ------
        ValueError
            If ``kernel`` is not a kernel, or the object is a restriction.
        """
        kernel = as_kernel(kernel)
        former = self._source
        if former.numbers is not None:
            raise ValueError("set_kernel is for the Gram matrix of all rows, not for a restriction")
        rows, X, origin = former.data, self._X, self.origin
        if kernel.moves != self.kernel.moves:
            # moving rows to and fro rounds nothing, see far_origin
            rows = self._placed(X if origin is None else X + origin, kernel)
        source = Source(rows, None, kernel, former.counts)
        try:
            source.diagonal  # noqa: B018  it says no before anything is changed
        except ValueError:
            self._X, self.origin = X, origin
            raise
        scratch = self._scratch
        self._open(source, self._store.capacity, self._store.close())
        self._scratch = scratch
        return self

    def copies(self, n):
        """Objects on the same rows with memory of their own, for threads that use other kernels. They count
        together.

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
        other.origin = self.origin
        other._open(Source(self._source.data, None, self.kernel, self._source.counts), self.m, None)
        return other

    @property
    def _part_budget(self):
        """Memory of a restriction, bytes: what this matrix leaves of its budget, a quarter at least."""
        return max(self._budget - self._store.memory.nbytes, self._budget // 4)

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
        part._X, part.dtype, part.origin = self._X, self.dtype, self.origin
        part._budget = self._part_budget
        column_bytes = padded_length(source.m) * self.dtype.itemsize
        capacity = min(source.m, max(part._budget // column_bytes, MIN_COLUMNS))
        part._open(source, capacity, self._scratch_for(source, capacity * column_bytes))
        return part

    def _scratch_for(self, source, n_bytes):
        """Memory for a restriction with this source: some that none uses any more, else new."""
        with self._lock:
            found, kept = None, []
            for memory, user in self._scratch:
                if user() is None and memory.nbytes >= n_bytes and found is None:
                    found = memory
                elif user() is not None or memory.nbytes >= n_bytes:
                    kept.append((memory, user))
            # what is idle and too small goes before more is asked for
            self._scratch, memory = kept, None
            if found is None:
                found = allocate(n_bytes)
            kept.append((found, weakref.ref(source)))
            return found

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
        source.counts.own[0] += columns.size
        places = np.arange(columns.size)
        above = [(store, there[columns], there[rows]) for store, there in source.above]
        for store, wanted, at in [(self._store, columns, rows), *above]:
            kept = store.columns
            stored = kept.holds(wanted[places])
            kept.gather(wanted[places[stored]], at, out, places[stored])
            places = places[~stored]
        if places.size and rows.size:
            chosen = source.rows.take(columns[places])

            def panel(part):
                self.kernel.block(chosen, source.rows.take(rows[part]), out=out[:, part], slots=places)

            run(panel, slices(rows.size, 8 * BLOCK_ROWS), places.size * rows.size * chosen.d)
            source.counts.own[1] += places.size * rows.size
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
        above = [(self._store, rows), *((store, there[rows]) for store, there in source.above)]
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
        source.counts.own[0] += support.size
        if isinstance(self.kernel, Linear) and self.dtype == np.float64 and support.size > source.rows.d:
            at = source.rows if rows is None else source.rows.take(places)
            return at.X @ (theta @ source.rows.take(support).X)
        columns = self.columns
        stored = columns.holds(support)
        columns.add(support[stored], theta[stored], places, out)
        support, theta = support[~stored], theta[~stored]
        rows = np.arange(self.m) if rows is None else places
        for store, there in source.above:
            columns = store.columns
            stored = columns.holds(there[support])
            columns.add(there[support[stored]], theta[stored], there[rows], out)
            support, theta = support[~stored], theta[~stored]
        if support.size == 0:
            return out
        chosen = source.rows.take(support)

        def part(b):
            at = source.rows.take(b if places is None else places[b])
            out[b] += self.kernel.weighted(chosen, theta, at)

        run(part, slices(out.size, 8 * BLOCK_ROWS), support.size * out.size * source.rows.d)
        source.counts.own[1] += support.size * out.size
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
        rows, data_rows = self._beside(X, support)
        return self.kernel.block(rows, data_rows)

    def weighted(self, X, support, theta):
        """Sums of kernel values between new rows and some of the data's rows, by panels that are not kept, on
        as many threads as BLAS may use.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
        support : ndarray of int, shape (s,)
            Row numbers.
        theta : ndarray, shape (s,)
            Their weights.

        Returns
        -------
        ndarray, shape (n,)
            ``sum over s of theta_s k(x_s, x)``. Kernel values are in float64, whatever the matrix' dtype.

        Raises
        ------
        ValueError
            As `cross`.
        """
        rows, data_rows = self._beside(X, support)
        out = np.empty(rows.n)

        def part(b):
            out[b] = self.kernel.weighted(data_rows, theta, rows.take(b))

        run(part, slices(rows.n, 8 * BLOCK_ROWS), rows.n * data_rows.n * rows.d)
        return out

    def _beside(self, X, support):
        """New rows and some of the data's, measured from the same point: a pair of Rows; or a ValueError."""
        X = as_rows(X)
        data, numbers = self._X, self._source.numbers
        if X.shape[1] != data.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, the Gram matrix was made from {data.shape[1]}")
        if sparse.issparse(X) != sparse.issparse(data):
            X = sparse.csr_array(X) if sparse.issparse(data) else X.toarray()
        new = Rows(measured_from(X, self.origin))
        self.kernel.check(new)
        chosen = data[support if numbers is None else numbers[support]]
        return new, Rows(chosen)

    def squared_radius(self):
        """``max over i, j of K_ii - K_ij``: the R^2 of the third sufficiency check (Franc et al. 2008, Table
        1; Joachims 2000).

        The kernel's bound over all inputs where it has one, 1 for the RBF kernel; else computed over the
        rows."""
        if self._squared_radius is None:
            radius = self.kernel.radius
            self._squared_radius = (
                float((self.diagonal - self._row_minima()).max()) if radius is None else radius
            )
        return self._squared_radius

    def _row_minima(self):
        """Least value of each row of the matrix, float64."""
        if self.full:
            columns = self.compute().columns
            return columns.arena[:, : self.m].min(axis=1)[columns.places()].astype(np.float64)
        rows = self._source.rows
        parts = slices(self.m, BLOCK_ROWS)
        least = self.diagonal.copy()
        for a in parts:
            some = rows.take(a)
            for b in parts:
                np.minimum(least[a], self.kernel.block(some, rows.take(b)).min(axis=1), out=least[a])
        self._source.counts.own[1] += self.m**2
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
