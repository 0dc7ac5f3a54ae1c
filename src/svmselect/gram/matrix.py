"""The Gram matrix that every estimator shares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse

from svmselect.gram._columns import MIN_COLUMNS
from svmselect.gram.budget import Budget, column_bytes, matrix_mb
from svmselect.gram.rows import Placed, adopted_rows, own_rows
from svmselect.gram.source import Source
from svmselect.gram.store import Counts, Store
from svmselect.gram.values import Values
from svmselect.gram.whole import complete, in_order, row_minima
from svmselect.kernels import Custom, Kernel

__all__ = ["Gram"]

LARGE = 4_000  # from this many rows on a matrix is not stored for its radius alone


def _check_dtype(dtype):
    """Return the type of a Gram matrix; raise a ValueError for another one."""
    try:
        numpy_dtype = None if dtype is None else np.dtype(dtype)
    except TypeError:
        numpy_dtype = None
    if numpy_dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
    return numpy_dtype


def _as_kernel(kernel):
    """Return a kernel, or the `Custom` kernel of a function; raise a ValueError for other values."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel)
    raise ValueError(f"kernel must be one of svmselect.kernels, as RBF(gamma), or a function, got {kernel!r}")


class Gram(Values):
    """The kernel matrix of one data set, computed once and shared by all fits on it.

    Columns are computed when a solver requests them, many at a time where possible, and stored within the
    memory budget; beyond it, they replace the least recently used ones. `compute` and `matrix` compute the
    whole matrix by blocks, the symmetric half once, on as many threads as BLAS may use.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (m, d)
        The rows. Sparse rows stay sparse: products follow the columns that rows share or, where that is more
        work, make at most 1,024 rows dense together, without empty columns.
    kernel : Kernel
    dtype : {"float64", "float32"}
        Type of the stored values. float32 halves the memory and is enough to train with an RBF kernel to a
        tolerance of 1e-3; leave-one-out, spans and linear kernels need float64.
    memory_mb : float
        Budget for the stored columns, in 2**20 bytes. Memory is taken as columns are written. Restrictions
        share the rest of the budget, or take a quarter more. With threads, see Notes.
    copy : bool
        Whether to copy ``X``. With False an array of float64 in C order, or a CSR matrix, is used without a
        copy unless its rows are moved, and becomes read-only. Its values must not be changed through other
        views while the object is in use.
    origin : array_like, shape (d,), optional
        The point from which rows are measured. By default it is 0 for sparse rows and for features near 0. A
        dense feature whose values lie far from 0, beside their range, is moved by a multiple of that range.
        See Notes.

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
        The store, for the calling thread.

    Raises
    ------
    ValueError
        If ``X`` is not a finite two-dimensional array, ``kernel`` is not a kernel, ``dtype`` is another type,
        a squared norm overflows it, or the budget does not hold eight columns.

    Notes
    -----
    *Origin.* Moving all rows alike changes no value of an RBF kernel. It changes values of the linear kernel,
    but no decision of an SVM with a threshold. Inner products of rows far from 0 lose the digits that tell
    the rows apart. So kernel values here are those of the moved rows, ``k(x - origin, z - origin)``, and the
    threshold of a solution with a linear kernel belongs to the moved rows, too.

    *Threads.* Any number of threads may use one object, and its restrictions, at the same time. Each gets the
    results that it gets alone: the same to the last bit on a matrix that was computed before, else up to the
    rounding of kernel values, which depends on the columns that are computed together. A matrix that fits the
    budget has one store for all threads. Otherwise each thread has its own store: the first thread has the
    whole budget, and every other one takes a quarter of it more, until it ends. A fit counts the columns and
    values that its thread requested and computed.

    `set_kernel` is the exception: no other thread may use the object, or a solver on it, meanwhile. Threads
    that need different kernels use `copies`.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> gram = Gram(X, RBF(0.5))
    >>> gram.m
    8
    >>> gram.block([0, 1]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    def __init__(
        self,
        X: ArrayLike | sparse.sparray,
        kernel: Kernel,
        dtype: DTypeLike = "float64",
        memory_mb: float = 2048,
        copy: bool = True,
        origin: ArrayLike | None = None,
    ):
        kernel, dtype = _as_kernel(kernel), _check_dtype(dtype)
        X = own_rows(X) if copy else adopted_rows(X)
        budget = Budget.for_matrix(memory_mb, dtype, X.shape[0])
        source = Source(Placed(X, kernel, dtype, origin), None, kernel, Counts())
        self._open(source, budget, budget.capacity(source.m))

    @classmethod
    def _with_source(cls, source, budget, capacity, memory=None):
        """Return the Gram matrix of a source."""
        gram = cls.__new__(cls)
        gram._open(source, budget, capacity, memory)
        return gram

    def _open(self, source, budget, capacity, memory=None):
        """Use a source, with an empty store in `memory` or in new memory."""
        super().__init__(source, Store(source, capacity, budget.dtype, memory))
        self._budget, self._squared_radius, self._restriction = budget, None, None

    @property
    def full(self) -> bool:
        """Whether the whole matrix fits the budget."""
        return self._store.full

    @property
    def has_columns(self) -> bool:
        """Whether any columns are stored, here or in the matrix that this one is a restriction of."""
        stores = [self._store, *(store for store, _ in self._source.above)]
        return any(store.columns.holds(slice(None)).any() for store in stores)

    def compute(self, progress: Callable[[int, int], object] | None = None) -> Gram:
        """Compute the absent columns if the whole matrix fits the budget; else do nothing.

        Stored columns keep their values. Different products of the same two rows may differ in the last bit,
        so the matrix is symmetric to the last bit only if all of it was computed in one call.

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
        if self.full:
            complete(self._source, self.columns, progress)
        return self

    def matrix(self) -> np.ndarray:
        """Return the whole matrix, with absent columns computed: read-only, shape (m, m).

        It is a view in Fortran order if the matrix was computed before any fit requested columns. Else
        columns lie in the order of requests, and the matrix is a copy. A MemoryError is raised if it does not
        fit the budget.
        """
        if not self.full:
            raise MemoryError(
                f"a Gram matrix of {self.m} rows takes {matrix_mb(self.m, self.dtype):.6g} MB, more than its "
                f"budget of {self._budget.n_bytes / 2**20:.6g} MB (memory_mb); ask for columns instead"
            )
        view = in_order(self.compute().columns)
        view.flags.writeable = False
        return view

    def set_kernel(self, kernel: Kernel) -> Gram:
        """Use another kernel on the same rows, in the same memory.

        All columns become absent, and the counters go on. Former solvers on the matrix must not be used any
        more, and other threads must not use the object meanwhile. A former `matrix` view shows new values.

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
        kernel = _as_kernel(kernel)
        former = self._source
        if former.numbers is not None:
            raise ValueError("set_kernel is for the Gram matrix of all rows, not for a restriction")
        source = Source(former.placed.suited(kernel), None, kernel, former.counts)
        source.diagonal  # noqa: B018  raises the error of a bad kernel before anything is changed
        self._open(source, self._budget, self._store.capacity, self._store.close())
        return self

    def copies(self, n: int) -> list[Gram]:
        """Return objects on the same rows with separate memory, for threads that use other kernels.

        Parameters
        ----------
        n : int
            The largest number of objects, including this one.

        Returns
        -------
        list of Gram
            This one first. There are at most as many as whole matrices fit its budget, and at least one. They
            share its counters.
        """
        former, n_bytes = self._source, self._budget.n_bytes
        room = int(n_bytes / 2**20 // matrix_mb(self.m, self.dtype))
        sources = [Source(former.placed, None, self.kernel, former.counts) for _ in range(min(n, room) - 1)]
        return [self, *(self._with_source(source, Budget(n_bytes, self.dtype), self.m) for source in sources)]

    def aside(self) -> Gram:
        """Return this matrix with a separate store, for columns that this one should not store.

        It may take the whole budget, but that of a restriction a quarter: several may be in use at a time.

        Returns
        -------
        Gram
            It shares the counters of this one.
        """
        former = self._source
        above = [(self._store, np.arange(self.m)), *former.above]
        source = Source(former.placed, former.numbers, self.kernel, former.counts, above)
        capacity = self._budget.capacity(self.m) // (1 if former.numbers is None else 4)
        capacity = min(max(capacity, MIN_COLUMNS), self.m)
        return self._with_source(source, Budget(self._budget.n_bytes, self.dtype), capacity)

    def _rest(self):
        """Return the budget of a restriction."""
        return self._budget.rest(self._store.memory.nbytes)

    def has_room(self, n: int) -> bool:
        """Return whether a restriction to n rows can store its columns at least as long as this matrix can.

        A restriction that drops columns and copies them again costs more than the rows that it saves.
        """
        return not self.full or n * column_bytes(n, self.dtype) <= self._rest().n_bytes

    def restricted(self, rows: np.ndarray, keep: bool = False) -> Gram:
        """Return the Gram matrix of some of the rows.

        Its columns are copied from this matrix if they are stored here, else computed on these rows alone. It
        shares the counters of this matrix. The next restriction uses its memory again once nothing refers to
        its columns.

        Parameters
        ----------
        rows : array_like of int, shape (n,)
            Row numbers, increasing.
        keep : bool
            Whether this matrix keeps the restriction: the same rows then give the same object, until another
            restriction is kept or the kernel changes.

        Returns
        -------
        Gram

        Raises
        ------
        ValueError
            If ``rows`` is empty, not increasing, or out of range.
        """
        restriction = self._restriction
        if keep and restriction is not None and np.array_equal(restriction[0], rows):
            return restriction[1]
        source = self._source.part(rows, self._store)
        budget = self._rest()
        capacity = min(source.m, max(budget.capacity(source.m), MIN_COLUMNS))
        memory = self._budget.lend(source, capacity * column_bytes(source.m, self.dtype))
        part = self._with_source(source, budget, capacity, memory)
        if keep:
            self._restriction = np.array(rows), part
        return part

    def squared_radius(self) -> float:
        """Return ``max over i, j of K_ii - K_ij``, or the kernel's bound over all rows where it has one.

        It is the R^2 of the third sufficiency check (Franc et al. 2008, Table 1; Joachims 2000), and 1 for
        the RBF kernel.
        """
        if self._squared_radius is None:
            if self.kernel.radius is not None:
                self._squared_radius = self.kernel.radius
            elif self.full and (self.m < LARGE or self.columns.holds(slice(None)).all()):
                columns = self.compute().columns
                least = columns.arena[:, : self.m].min(axis=1)[columns.places()].astype(np.float64)
                self._squared_radius = float((self.diagonal - least).max())
            else:
                self._squared_radius = float((self.diagonal - row_minima(self._source)).max())
        return self._squared_radius
