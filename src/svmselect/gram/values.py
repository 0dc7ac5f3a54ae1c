"""Kernel values of a matrix, read from stored columns or computed without being stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from svmselect.gram.definite import is_definite_on_rows
from svmselect.kernels import Linear
from svmselect.kernels.panels import PART_ROWS, slices
from svmselect.threads import run

__all__ = ["Values"]

DEAR_FROM = 250  # from this many values per row on, a column is expensive to compute


class Values:
    """The read-only interface of a kernel matrix, independent of how its columns are stored.

    Parameters
    ----------
    source : Source
    store : Store
    """

    def __init__(self, source, store):
        self._source, self._store = source, store
        self.m, self.kernel, self.dtype = source.m, source.kernel, store.dtype
        self.origin, self.diagonal = source.placed.origin, source.diagonal

    @property
    def columns_requested(self) -> int:
        """Columns requested by solvers so far, stored or not, in all threads (Franc et al. 2008, Table 3)."""
        return int(self._source.counts.total[0])

    @property
    def kernel_values(self) -> int:
        """Kernel values computed so far, in all threads."""
        return int(self._source.counts.total[1])

    @property
    def thread_counts(self) -> tuple[int, int]:
        """`columns_requested` and `kernel_values` of the calling thread alone: (int, int)."""
        return tuple(self._source.counts.calling_thread.tolist())

    @property
    def row_groups(self) -> np.ndarray:
        """A number for each row, the same for identical rows, in order of appearance: intp, shape (m,)."""
        return self._source.rows.groups

    @property
    def columns(self) -> Any:
        """The store, for the calling thread."""
        return self._store.columns

    @property
    def width(self) -> int:
        """The number of features, without columns that are empty in sparse rows."""
        return self._source.placed.data.width

    @property
    def dear(self) -> bool:
        """Whether a column takes longer to compute than to write; a linear kernel needs none."""
        return self._source.placed.data.values_per_row >= DEAR_FROM and not isinstance(self.kernel, Linear)

    def is_definite(self) -> bool:
        """Return whether the kernel is positive semi-definite; a user's function is tried on some rows."""
        return self.kernel.is_definite() and (not self.kernel.has_function or is_definite_on_rows(self))

    def check_definite(self) -> None:
        """Raise a ValueError unless the kernel is positive semi-definite, see `is_definite`."""
        self.kernel.check_definite()
        if not self.is_definite():
            raise ValueError(
                "leave-one-out and estimates need a positive semi-definite kernel, and the kernel function "
                "is none on these rows: use k-fold cross-validation"
            )

    def block(self, rows: np.ndarray) -> np.ndarray:
        """Return ``K[rows][:, rows]``, from stored columns, else computed and not stored.

        Parameters
        ----------
        rows : array_like of int, shape (n,)
            Row numbers, increasing.

        Returns
        -------
        ndarray, shape (n, n)
            Values of the matrix' dtype.

        Raises
        ------
        ValueError
            If ``rows`` is empty, not increasing, or out of range.
        """
        source = self._source.part(rows, self._store)
        everything = np.arange(source.m)
        out = np.empty((source.m, source.m), dtype=self.dtype)
        source.load(everything, out, everything)
        return out

    def submatrix(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return ``K[rows][:, columns]``, from stored columns, else computed and not stored.

        Parameters
        ----------
        rows, columns : array_like of int, shape (n,) and (s,)
            Row numbers, in any order.

        Returns
        -------
        ndarray, shape (n, s), Fortran order
            Values of the matrix' dtype.

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
        # 1) columns that are stored here or in a larger matrix
        source = self._source
        out = np.empty((columns.size, rows.size), dtype=self.dtype)
        source.counts.calling_thread[0] += columns.size
        places = np.arange(columns.size)
        above = [(larger, positions[columns], positions[rows]) for larger, positions in source.above]
        for store, requested, positions in [(self._store, columns, rows), *above]:
            stored_columns = store.columns
            stored = stored_columns.holds(requested[places])
            stored_columns.gather(requested[places[stored]], positions, out, places[stored])
            places = places[~stored]
        # 2) the other columns, computed at the rows alone
        if places.size and rows.size:
            chosen = source.rows.take(columns[places])

            def panel(part):
                source.kernel.block(chosen, source.rows.take(rows[part]), out=out[:, part], slots=places)

            run(panel, slices(rows.size, PART_ROWS), places.size * rows.size * chosen.width)
            source.counts.calling_thread[1] += places.size * rows.size
        return out.T

    def product(self, support: np.ndarray, theta: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Return ``K[rows][:, support] @ theta``.

        A linear kernel uses the weight vector where that is less work. Other sums use stored columns, and
        panels of kernel values that are not stored.

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
        source = self._source
        out = np.zeros(source.m if places is None else places.size)
        if out.size == 0:
            return out
        source.counts.calling_thread[0] += support.size
        # 1) a linear kernel: X @ (theta @ X[support])
        weight_vector = isinstance(source.kernel, Linear) and self.dtype == np.float64
        if weight_vector and support.size > source.rows.values_per_row:
            right = source.rows if places is None else source.rows.take(places)
            return right.packed @ (theta @ source.rows.take(support).packed)
        # 2) columns that are stored here, then those of larger matrices
        columns = self.columns
        stored = columns.holds(support)
        columns.add(support[stored], theta[stored], places, out)
        support, theta = support[~stored], theta[~stored]
        rows = np.arange(source.m) if places is None else places
        for store, positions in source.above:
            columns = store.columns
            stored = columns.holds(positions[support])
            columns.add(positions[support[stored]], theta[stored], positions[rows], out)
            support, theta = support[~stored], theta[~stored]
        if support.size == 0:
            return out
        # 3) the rest, by panels
        chosen = source.rows.take(support)

        def add(part):
            b, right = part
            right = source.rows.take(places[b]) if right is None else right
            out[b] += source.kernel.weighted(chosen, theta, right)

        parts = source.parts if places is None else [(b, None) for b in slices(out.size, PART_ROWS)]
        run(add, parts, support.size * out.size * source.rows.width)
        source.counts.calling_thread[1] += support.size * out.size
        return out

    def cross(self, X: ArrayLike | sparse.sparray, support: np.ndarray) -> np.ndarray:
        """Compute kernel values between new rows and some of the data's rows, float64.

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
        rows, data_rows = self._source.beside(X, support)
        return self.kernel.block(rows, data_rows)

    def weighted(self, X: ArrayLike | sparse.sparray, support: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Compute weighted sums of kernel values between new rows and some of the data's rows.

        Panels of kernel values are not stored, and are computed on as many threads as BLAS may use.

        Parameters
        ----------
        X, support
            See `cross`.
        theta : ndarray, shape (s,)
            The weights of the support.

        Returns
        -------
        ndarray, shape (n,)
            ``sum over s of theta_s k(x_s, x)``. Kernel values are in float64, whatever the matrix' dtype.
        """
        rows, data_rows = self._source.beside(X, support)
        if isinstance(self.kernel, Linear):  # X @ (theta @ X[support])
            return rows.packed @ (theta @ data_rows.packed)
        out = np.empty(rows.n)

        def part(b):
            out[b] = self.kernel.weighted(data_rows, theta, rows.take(b))

        run(part, slices(rows.n, PART_ROWS), rows.n * data_rows.n * rows.width)
        return out
