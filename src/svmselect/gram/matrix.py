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


def _check_dtype(dtype):
    """The type of a Gram matrix, or a ValueError."""
    try:
        numpy_dtype = None if dtype is None else np.dtype(dtype)
    except TypeError:
        numpy_dtype = None
    if numpy_dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
    return numpy_dtype


def _as_kernel(kernel):
    """A kernel, also from a function of two arrays, or a ValueError."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel)
    raise ValueError(f"kernel must be one of svmselect.kernels, as RBF(gamma), or a function, got {kernel!r}")


class Gram(Values):
    """The kernel matrix of one data set, computed once and shared by all fits on it.

    Columns are computed when they are asked for, many at a time where the caller knows them, and kept within
    the memory budget; beyond it, the least recently used ones make room. `compute` and `matrix` compute the
    whole matrix by blocks, the symmetric half once, on as many threads as BLAS may use.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (m, d)
        The rows. Sparse input stays sparse and is made dense by panels of at most 1,024 rows, without its
        empty columns.
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
        """The Gram matrix of a source."""
        gram = cls.__new__(cls)
        gram._open(source, budget, capacity, memory)
        return gram

    def _open(self, source, budget, capacity, memory=None):
        super().__init__(source, Store(source, capacity, budget.dtype, memory))
        self._budget, self._squared_radius, self._kept = budget, None, None

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
        if self.full:
            complete(self._source, self.columns, progress)
        return self

    def matrix(self) -> np.ndarray:
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
                f"budget of {self._budget.n_bytes / 2**20:.6g} MB (memory_mb); ask for columns instead"
            )
        view = in_order(self.compute().columns)
        view.flags.writeable = False
        return view

    def set_kernel(self, kernel: Kernel) -> Gram:
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
        kernel = _as_kernel(kernel)
        former = self._source
        if former.numbers is not None:
            raise ValueError("set_kernel is for the Gram matrix of all rows, not for a restriction")
        source = Source(former.placed.suited(kernel), None, kernel, former.counts)
        source.diagonal  # noqa: B018  it says no before anything is changed
        self._open(source, self._budget, self._store.capacity, self._store.close())
        return self

    def copies(self, n: int) -> list[Gram]:
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
        former, n_bytes = self._source, self._budget.n_bytes
        room = int(n_bytes / 2**20 // matrix_mb(self.m, self.dtype))
        sources = [Source(former.placed, None, self.kernel, former.counts) for _ in range(min(n, room) - 1)]
        return [self, *(self._with_source(source, Budget(n_bytes, self.dtype), self.m) for source in sources)]

    def aside(self, n_bytes: int) -> Gram:
        """Return this matrix with another store, for columns that are not to be stored in this one.

        Parameters
        ----------
        n_bytes : int
            The largest size of the store, which takes at most a quarter of the budget.

        Returns
        -------
        Gram
            It counts together with this one.
        """
        former = self._source
        above = [(self._store, np.arange(self.m)), *former.above]
        source = Source(former.placed, former.numbers, self.kernel, former.counts, above)
        n_bytes = min(n_bytes, self._budget.n_bytes // 4)
        capacity = max(n_bytes // column_bytes(self.m, self.dtype), MIN_COLUMNS)
        return self._with_source(source, Budget(self._budget.n_bytes, self.dtype), capacity)

    def _rest(self):
        """The budget of a restriction."""
        return self._budget.rest(self._store.memory.nbytes)

    def has_room(self, n: int) -> bool:
        """Whether a restriction to n rows can hold its columns as long as this matrix can: one that drops and
        copies columns again costs more than the rows that it saves."""
        return not self.full or n * column_bytes(n, self.dtype) <= self._rest().n_bytes

    def restricted(self, rows: np.ndarray, keep: bool = False) -> Gram:
        """The Gram matrix of some of the rows.

        Its columns are copied from this matrix where they are stored, else computed on these rows alone. It
        shares the counters of this matrix, and its memory is used again by the next restriction once nothing
        refers to its columns.

        Parameters
        ----------
        rows : array_like of int, shape (n,)
            Row numbers, increasing.
        keep : bool
            Whether this matrix refers to the restriction. The same rows then give the same object, until
            others are kept or the kernel is another one.

        Returns
        -------
        Gram
            The numbers of n rows.

        Raises
        ------
        ValueError
            If ``rows`` is empty, not increasing, or out of range.
        """
        restriction = self._kept
        if keep and restriction is not None and np.array_equal(restriction[0], rows):
            return restriction[1]
        source = self._source.part(rows, self._store)
        budget = self._rest()
        capacity = min(source.m, max(budget.capacity(source.m), MIN_COLUMNS))
        memory = self._budget.lend(source, capacity * column_bytes(source.m, self.dtype))
        part = self._with_source(source, budget, capacity, memory)
        if keep:
            self._kept = np.array(rows), part
        return part

    def squared_radius(self) -> float:
        """``max over i, j of K_ii - K_ij``: the R^2 of the third sufficiency check (Franc et al. 2008, Table
        1; Joachims 2000).

        The kernel's bound over all inputs where it has one, 1 for the RBF kernel; else computed over the
        rows."""
        if self._squared_radius is None:
            if self.kernel.radius is not None:
                self._squared_radius = self.kernel.radius
            elif self.full:
                columns = self.compute().columns
                least = columns.arena[:, : self.m].min(axis=1)[columns.places()].astype(np.float64)
                self._squared_radius = float((self.diagonal - least).max())
            else:
                self._squared_radius = float((self.diagonal - row_minima(self._source)).max())
        return self._squared_radius
