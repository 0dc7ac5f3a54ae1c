"""The whole Gram matrix, computed by blocks."""

import numpy as np

from svmselect.kernels import _panels
from svmselect.kernels.panels import BLOCK_ROWS, slices
from svmselect.threads import run

__all__ = ["complete", "in_order", "row_minima"]


def complete(source, columns, progress):
    """Compute and store the absent columns of a matrix; see `Gram.compute`."""
    m = source.m
    with columns.lock:
        absent = np.flatnonzero(~columns.holds(slice(None)))
        if absent.size == 0:
            return
        if m - absent.size <= m // 4 and not source.stored_above(absent).any():
            _compute_blocks(source, columns, absent, progress)
            return
        panels = slices(absent.size, BLOCK_ROWS)
        for done, panel in enumerate(panels, 1):
            columns.fetch(absent[panel])
            if progress is not None:
                progress(done, len(panels))


def _compute_blocks(source, columns, absent, progress):
    """Compute the whole matrix by blocks, and store the absent columns, which are most of them."""
    # 1) pairs of slices, of which the second is not behind the first: the symmetric half
    kernel, rows, m = source.kernel, source.rows, source.m
    arena = columns.arena[:, :m]
    parts = slices(m, BLOCK_ROWS)
    pairs = [(part, left) for i, part in enumerate(parts) for left in parts[: i + 1]]
    taken = {part.start: rows.take(part) for part in parts}
    places = columns.places(absent)
    new = np.zeros(m, dtype=bool)
    new[absent] = True

    def block(pair):
        """Compute a block and its mirror image where all columns are absent."""
        down, right = pair
        kernel.block(taken[down.start], taken[right.start], out=arena[down, right])
        if down == right:
            _panels.mirror(arena[down, right])
        else:
            _panels.transpose(arena[down, right], arena[right, down])

    def block_around(pair):
        """Compute a block, and write it to the absent columns alone: others may be in use."""
        down, right = pair
        values = kernel.block(taken[down.start], taken[right.start])
        if down == right:
            _panels.mirror(values)
        arena[places[down][new[down]], right] = values[new[down]]
        if down != right:
            arena[places[right][new[right]], down] = values[:, new[right]].T

    # 2) the blocks; then the absent columns at the rows of stored ones, and the exact diagonal
    in_place = absent.size == m and np.array_equal(places, absent)
    run(block if in_place else block_around, pairs, m**2 // 2 * rows.width, progress)
    present, slots = np.flatnonzero(~new), places[absent]
    if present.size:
        arena[np.ix_(slots, present)] = arena[np.ix_(places[present], absent)].T
    arena[slots, absent] = source.diagonal[absent]
    source.counts.calling_thread[1] += sum((p.stop - p.start) * (q.stop - q.start) for p, q in pairs)
    columns.publish(absent, slots)


def in_order(columns):
    """Return the matrix of a full store: a view, or a copy if columns do not lie in order."""
    places = columns.places()
    view = columns.arena[:, : places.size].T  # a slot holds a column
    return view if np.array_equal(places, np.arange(places.size)) else view[:, places]


def row_minima(source):
    """Return the least value of each row of the matrix, float64, without storing columns."""
    parts = slices(source.m, BLOCK_ROWS)
    least = source.diagonal.copy()
    for a in parts:
        some = source.rows.take(a)
        for b in parts:
            np.minimum(least[a], source.kernel.block(some, source.rows.take(b)).min(axis=1), out=least[a])
    source.counts.calling_thread[1] += source.m**2
    return least
