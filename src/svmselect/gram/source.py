"""Sources of the columns of a Gram matrix."""

from __future__ import annotations

import numpy as np

from svmselect.forks import cached_property
from svmselect.kernels.rows import BLOCK_ROWS, slices
from svmselect.threads import run

__all__ = ["Source"]


def _checked_diagonal(kernel, rows):
    """``k(x, x)`` of the Rows, or a ValueError if the kernel is not for them."""
    kernel.check(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        diagonal = kernel.diagonal(rows)
    # No value of a positive semi-definite kernel is larger than the largest on the diagonal.
    bad = np.flatnonzero(~(diagonal <= np.finfo(rows.dtype).max))
    if bad.size:
        raise ValueError(
            f"X is too large for {rows.dtype} values of {kernel!r}: that of row {bad[0]} overflows"
        )
    return diagonal


class Source:
    """The source of a Gram matrix's columns: matrices of more rows that store them, else the kernel.

    Parameters
    ----------
    placed : Placed
    numbers : ndarray of intp or None
        The rows of `placed` that the matrix is about; all of them by default.
    kernel : Kernel
    counts : Counts
    above : list of (Store, ndarray of intp)
        Stores to look in first, and the numbers that the matrix' rows have there.
    """

    def __init__(self, placed, numbers, kernel, counts, above=()):
        self.placed, self.numbers, self.kernel, self.counts, self.above = (
            placed,
            numbers,
            kernel,
            counts,
            above,
        )
        self.m = placed.data.n if numbers is None else numbers.size

    @cached_property
    def rows(self):
        data = self.placed.data
        return data if self.numbers is None else data.take(self.numbers)

    @cached_property
    def parts(self):
        """The rows in parts, for the threads: pairs of a slice and its Rows."""
        step = max(8 * BLOCK_ROWS, -(-self.m // 16))
        return [(part, self.rows.take(part)) for part in slices(self.m, step)]

    @cached_property
    def diagonal(self):
        diagonal = _checked_diagonal(self.kernel, self.placed.data)
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
                places, rows = part
                self.kernel.block(chosen, rows, out=out[:, places], slots=slots)

            run(panel, self.parts, indices.size * self.m * chosen.width)
            out[slots, indices] = self.diagonal[indices]
            self.counts.calling_thread[1] += indices.size * self.m

    def part(self, rows, store):
        """The source of the matrix of some rows, which looks first in the store of this one; or a
        ValueError."""
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
        above = [(store, rows), *((other, places[rows]) for other, places in self.above)]
        numbers = rows if self.numbers is None else self.numbers[rows]
        return Source(self.placed, numbers, self.kernel, self.counts, above)

    def beside(self, X, support):
        """Return kernel values of new rows and some of the matrix' rows, as `Placed.beside`."""
        return self.placed.beside(X, self.kernel, support if self.numbers is None else self.numbers[support])
