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
    """Return the memory of a stored column, in bytes."""
    return padded_length(m) * np.dtype(dtype).itemsize


def matrix_mb(m: int, dtype: DTypeLike = "float64") -> float:
    """Return the memory of a whole Gram matrix, in 2**20 bytes: the least ``memory_mb`` that holds it.

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
    """Memory for the stored columns of a matrix, and for those of its restrictions."""

    def __init__(self, n_bytes, dtype):
        self.n_bytes, self.dtype = n_bytes, dtype
        # memory that restrictions use, each with a weak reference to the Source of the last one in it
        self._lent, self._lock = [], threading.Lock()
        renew_after_fork(self)

    def renew(self):
        """Free the lock in a forked process."""
        self._lock = renewed(self._lock)

    @classmethod
    def for_matrix(cls, memory_mb, dtype, m):
        """Return the budget of a user's `memory_mb`; raise a ValueError if it is too small for m rows."""
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
        """Return the budget of a restriction: what is left beside `taken` bytes, and at least a quarter."""
        return Budget(max(self.n_bytes - taken, self.n_bytes // 4), self.dtype)

    def lend(self, source, n_bytes):
        """Return memory for a restriction with this source: unused memory of a former one, else new."""
        with self._lock:
            lent, unused = None, []
            for memory, user in self._lent:
                if user() is None and memory.nbytes >= n_bytes and lent is None:
                    lent = memory
                elif user() is not None or memory.nbytes >= n_bytes:
                    unused.append((memory, user))
            # Unused memory that is too small is freed before new memory is allocated.
            self._lent, memory = unused, None
            if lent is None:
                lent = allocate(n_bytes)
            unused.append((lent, weakref.ref(source)))
            return lent
