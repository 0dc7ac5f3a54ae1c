"""The memory that the columns of a Gram matrix may take."""

from __future__ import annotations

import numbers
import threading
import weakref

import numpy as np
from numpy.typing import DTypeLike

from svmselect.forks import renew_after_fork, renewed
from svmselect.gram._columns import MIN_COLUMNS, allocate, padded_length

__all__ = ["Budget", "column_bytes", "matrix_mb"]


def column_bytes(m, dtype):
    """The memory of a stored column."""
    return padded_length(m) * np.dtype(dtype).itemsize


def matrix_mb(m: int, dtype: DTypeLike = "float64") -> float:
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
    return m * column_bytes(m, dtype) / 2**20


class Budget:
    """Memory for the stored columns of a matrix, and for those of its restrictions.

    Parameters
    ----------
    n_bytes : int
    dtype : numpy dtype
        Type of the stored values.
    """

    def __init__(self, n_bytes, dtype):
        self.n_bytes, self.dtype = n_bytes, dtype
        # what restrictions have, each with a weak reference to the Source of the last one in it
        self._lent, self._lock = [], threading.Lock()
        renew_after_fork(self)

    def renew(self):
        """Free the lock in a forked process."""
        self._lock = renewed(self._lock)

    @classmethod
    def for_matrix(cls, memory_mb, dtype, m):
        """The budget that a user asks for, for a matrix of m rows; or a ValueError."""
        if not isinstance(memory_mb, numbers.Real) or not 0 < memory_mb < np.inf:
            raise ValueError(f"memory_mb must be a positive finite number, got {memory_mb!r}")
        budget = cls(int(memory_mb * 2**20), dtype)
        capacity, least = budget.capacity(m), min(m, MIN_COLUMNS)
        if capacity < least:
            raise ValueError(
                f"memory_mb={memory_mb} holds {capacity} columns of {m} rows; at least {least} are needed "
                f"({least * column_bytes(m, dtype) / 2**20:.3g} MB)"
            )
        return budget

    def capacity(self, m):
        """Return how many columns of m rows the budget holds."""
        return self.n_bytes // column_bytes(m, self.dtype)

    def rest(self, taken):
        """The budget of a restriction of a matrix that takes so many bytes: what these leave, a quarter at
        least."""
        return Budget(max(self.n_bytes - taken, self.n_bytes // 4), self.dtype)

    def lend(self, source, n_bytes):
        """Memory for a restriction with this source: some that none uses any more, else new."""
        with self._lock:
            lent, unused = None, []
            for memory, user in self._lent:
                if user() is None and memory.nbytes >= n_bytes and lent is None:
                    lent = memory
                elif user() is not None or memory.nbytes >= n_bytes:
                    unused.append((memory, user))
            # Idle memory that is too small is given back before more is asked for.
            self._lent, memory = unused, None
            if lent is None:
                lent = allocate(n_bytes)
            unused.append((lent, weakref.ref(source)))
            return lent
