"""Storage of the columns of a Gram matrix, and counts of requests and kernel values."""

import threading

import numpy as np

from svmselect.forks import renew_after_fork, renewed
from svmselect.gram._columns import MIN_COLUMNS, Columns, allocate, padded_length

__all__ = ["Counts", "Store"]


class Counts:
    """Counts of columns requested and kernel values computed, one pair for each thread."""

    def __init__(self):
        self._local, self._lock = threading.local(), threading.Lock()
        self._threads, self._ended = [], np.zeros(2, dtype=np.int64)
        renew_after_fork(self)

    def renew(self):
        """Free the lock in a forked process."""
        self._lock = renewed(self._lock)

    @property
    def calling_thread(self):
        """The counts of the calling thread: int64, shape (2,), which callers add to."""
        try:
            return self._local.counts
        except AttributeError:
            self._local.counts = counts = np.zeros(2, dtype=np.int64)
        with self._lock:
            for thread, last_counts in self._threads:
                if not thread.is_alive():
                    self._ended += last_counts
            self._threads = [pair for pair in self._threads if pair[0].is_alive()]
            self._threads.append((threading.current_thread(), counts))
        return counts

    @property
    def total(self):
        """The counts of all threads."""
        with self._lock:
            return sum((counts for _, counts in self._threads), self._ended.copy())


class Store:
    """Storage of the columns of a matrix, one for all threads or one for each.

    A matrix that fits as a whole is stored once for all threads, and the store is `full`. Else columns are
    replaced as they are used, and each thread has its own store: the first one has the whole capacity, until
    it ends and the next one gets it, and every other one a quarter as much.
    """

    def __init__(self, source, capacity, dtype, memory=None):
        self.source, self.dtype = source, dtype
        self.capacity = min(capacity, source.m)
        self.full = self.capacity == source.m
        n_bytes = self.capacity * padded_length(source.m) * dtype.itemsize
        self.memory = allocate(n_bytes) if memory is None else memory[:n_bytes]
        self._first, self._owner = None, None
        self._local, self._lock = threading.local(), threading.Lock()
        renew_after_fork(self)

    def renew(self):
        """Free the locks in a forked process."""
        self._lock = renewed(self._lock)
        if self._first is not None:
            self._first.renew()

    @property
    def columns(self):
        """The Columns of the calling thread."""
        try:
            return self._local.columns
        except AttributeError:
            self._local.columns = columns = self._open(self.source.counts.calling_thread[:1])
        return columns

    def _open(self, counter):
        """Return the Columns of a new thread, which count their requests in `counter`."""
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
        """Return the memory for another use; requests for columns of this store are errors from now on."""
        with self._lock:
            if self._first is not None:
                self._first.close()
        return self.memory
