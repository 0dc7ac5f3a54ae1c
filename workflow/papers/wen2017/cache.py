"""A model of LIBSVM's cache that counts its kernel values without computing them."""

import numpy as np
from svmselect.columns import MIN_COLUMNS, Columns, padded_length


class OneByOne(Columns):
    """Columns, none of which is loaded before it is asked for."""

    def fetch(self, indices):
        super().fetch(indices[:1])


class Cached:
    """A Gram matrix to solvers and seeds, with a cache of columns of `memory_mb`, at least eight: they are
    copied from `whole`, a computed matrix, and counted as if they had been computed.

    The cache keeps the most recently used columns. As in LIBSVM, the columns of a problem that has been
    shrunk have its `rows` only, which are increasing, and those that were kept before stay usable (`above`:
    of which matrix, and the numbers there of the rows); the shrunk problem's cache is beside that of the
    whole, and its `counts` of columns requested and kernel values go on. Kernel values outside the cache that
    seeds ask for, and those that a gradient is made of, count as well.
    """

    full = False

    def __init__(self, whole, memory_mb, rows=None, counts=None, above=None):
        self.whole, self.memory_mb, self.above = whole, memory_mb, above
        self.rows = np.arange(whole.m) if rows is None else rows
        self.counts = np.zeros(2, dtype=np.int64) if counts is None else counts
        self.m, self.dtype = self.rows.size, whole.dtype
        self.diagonal = whole.diagonal[self.rows]
        capacity = int(memory_mb * 2**20) // (padded_length(self.m) * self.dtype.itemsize)
        capacity = min(self.m, max(capacity, MIN_COLUMNS))
        self.columns = OneByOne(self.m, capacity, self.dtype, self._load, self.counts[:1])

    @property
    def row_groups(self):
        """Groups of equal rows, as `Gram.row_groups`."""
        return self.whole.row_groups[self.rows]

    @property
    def thread_counts(self):
        """Counts of the calling thread, as `Gram.thread_counts`; a cache is for one thread."""
        return tuple(self.counts.tolist())

    @property
    def columns_requested(self):
        return int(self.counts[0])

    @property
    def kernel_values(self):
        return int(self.counts[1])

    def _load(self, indices, out, slots):
        self.whole.columns.gather(self.rows[indices], self.rows, out, slots)
        self._count(indices, self.m)

    def _count(self, columns, n):
        """Count n values of each of some columns that are not stored."""
        absent = ~self.columns.holds(columns)
        if self.above is not None:
            above, numbers = self.above
            absent &= ~above.columns.holds(numbers[columns])
        self.counts[1] += n * np.count_nonzero(absent)

    def empty(self):
        """Forget every column."""
        self.columns.clear()

    def compute(self):
        """Return the cache as it is: small matrices, which solvers compute at once, are not computed here."""
        return self

    def has_room(self, n):
        """Return True: LIBSVM's cache holds what it can of a problem that has been shrunk."""
        return True

    def restricted(self, rows):
        """Return the matrix of some rows, as `Gram.restricted`."""
        return Cached(self.whole, self.memory_mb, self.rows[rows], self.counts, (self, rows))

    def product(self, support, theta, rows=None):
        """Return the product of kernel columns with theta, as `Gram.product`."""
        rows = np.arange(self.m) if rows is None else np.asarray(rows)
        support = np.asarray(support)
        self.counts[0] += support.size
        self._count(support, rows.size)
        return self.whole.product(self.rows[support], theta, self.rows[rows])

    def submatrix(self, rows, columns):
        """Return a block of the matrix, as `Gram.submatrix`."""
        rows, columns = np.asarray(rows), np.asarray(columns)
        self.counts[0] += columns.size
        self._count(columns, rows.size)
        return self.whole.submatrix(self.rows[rows], self.rows[columns])
