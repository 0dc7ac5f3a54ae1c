"""Sources of the columns of a Gram matrix."""

import numpy as np

from svmselect.forks import cached_property
from svmselect.kernels.panels import PART_ROWS, slices
from svmselect.threads import run

__all__ = ["Source"]


def _checked_diagonal(kernel, rows):
    """Return ``k(x, x)`` of the Rows; raise a ValueError if the kernel does not accept them."""
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

    `numbers` are the numbers of the matrix' rows in `placed`, or None for all of them. `above` has pairs: the
    Store of a larger matrix, and the numbers of the matrix' rows there.
    """

    def __init__(self, placed, numbers, kernel, counts, above=()):
        self.placed, self.numbers, self.kernel = placed, numbers, kernel
        self.counts, self.above = counts, above
        self.m = placed.data.n if numbers is None else numbers.size

    @cached_property
    def rows(self):
        """Return the matrix' rows as Rows."""
        data = self.placed.data
        return data if self.numbers is None else data.take(self.numbers)

    @cached_property
    def parts(self):
        """Return the rows in parts for threads: pairs of a slice and its Rows."""
        step = max(PART_ROWS, -(-self.m // 16))
        return [(part, self.rows.take(part)) for part in slices(self.m, step)]

    @cached_property
    def diagonal(self):
        """Return ``k(x, x)`` of the matrix' rows."""
        diagonal = _checked_diagonal(self.kernel, self.placed.data)
        return diagonal if self.numbers is None else diagonal[self.numbers]

    def stored_above(self, indices):
        """Return whether each column is in a store of a larger matrix."""
        stored = np.zeros(indices.size, dtype=bool)
        for store, places in self.above:
            stored |= store.columns.holds(places[indices])
        return stored

    def load(self, indices, out, slots):
        """Write column ``indices[k]`` into ``out[slots[k], :m]`` and count what is computed."""
        # columns of larger matrices are copied
        for store, places in self.above:
            columns = store.columns
            stored = columns.holds(places[indices])
            columns.gather(places[indices[stored]], places, out, slots[stored])
            indices, slots = indices[~stored], slots[~stored]
        # the rest is computed, and gets the exact diagonal
        if indices.size:
            chosen = self.rows.take(indices)

            def panel(part):
                places, rows = part
                self.kernel.block(chosen, rows, out=out[:, places], slots=slots)

            run(panel, self.parts, indices.size * self.m * chosen.width)
            out[slots, indices] = self.diagonal[indices]
            self.counts.calling_thread[1] += indices.size * self.m

    def part(self, rows, store):
        """Return the source of a restriction to increasing row numbers, which copies from `store` first."""
        rows = np.array(rows)
        integers = rows.ndim == 1 and rows.size > 0 and rows.dtype.kind in "iu"
        if not integers or rows[0] < 0 or rows[-1] >= self.m or (np.diff(rows) <= 0).any():
            raise ValueError(f"rows must be increasing row numbers from 0 to {self.m - 1}, at least one")
        rows = rows.astype(np.intp)
        above = [(store, rows), *((larger, places[rows]) for larger, places in self.above)]
        numbers = rows if self.numbers is None else self.numbers[rows]
        return Source(self.placed, numbers, self.kernel, self.counts, above)

    def beside(self, X, support):
        """Return new rows and some of the matrix' rows as a pair of Rows, measured from the same point."""
        return self.placed.beside(X, self.kernel, support if self.numbers is None else self.numbers[support])
