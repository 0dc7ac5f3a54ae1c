"""The whole of a Gram matrix at once, by blocks."""

from __future__ import annotations

import numpy as np

from svmselect.kernels import _panels
from svmselect.kernels.rows import BLOCK_ROWS, slices
from svmselect.threads import run

__all__ = ["complete", "in_order", "row_minima"]


def complete(source, columns, progress):
    """Store the columns of a matrix that are absent; see `Gram.compute`."""
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
    """Compute the whole matrix by blocks, and store the columns that are `absent`, most of them."""
    kernel, rows, m = source.kernel, source.rows, source.m
    arena = columns.arena[:, :m]
    parts = slices(m, BLOCK_ROWS)
    pairs = [(part, left) for i, part in enumerate(parts) for left in parts[: i + 1]]
    places = columns.places(absent)
    new = np.zeros(m, dtype=bool)
    new[absent] = True

    def block(pair):
        down, right = pair
        kernel.block(rows.take(down), rows.take(right), out=arena[down, right])
        if down == right:
            _panels.mirror(arena[down, right])
        else:
            _panels.transpose(arena[down, right], arena[right, down])

    def block_around(pair):
        """Compute a block beside columns that are stored already, wherever, and perhaps in use."""
        down, right = pair
        values = kernel.block(rows.take(down), rows.take(right))
        if down == right:
            _panels.mirror(values)
        arena[places[down][new[down]], right] = values[new[down]]
        if down != right:
            arena[places[right][new[right]], down] = values[:, new[right]].T

    in_place = absent.size == m and np.array_equal(places, absent)
    run(block if in_place else block_around, pairs, m**2 // 2 * rows.width, progress)
    present, slots = np.flatnonzero(~new), places[absent]
    if present.size:
        arena[np.ix_(slots, present)] = arena[np.ix_(places[present], absent)].T
    arena[slots, absent] = source.diagonal[absent]
    source.counts.calling_thread[1] += sum((p.stop - p.start) * (q.stop - q.start) for p, q in pairs)
    columns.publish(absent, slots)


def in_order(columns):
    """The whole matrix, all of whose columns are stored: a view, or a copy where they lie in another
    order."""
    places = columns.places()
    view = columns.arena[:, : places.size].T  # a slot holds a column
    return view if np.array_equal(places, np.arange(places.size)) else view[:, places]


def row_minima(source):
    """Least value of each row of the matrix, float64, with nothing kept."""
    parts = slices(source.m, BLOCK_ROWS)
    least = source.diagonal.copy()
    for a in parts:
        some = source.rows.take(a)
        for b in parts:
            np.minimum(least[a], source.kernel.block(some, source.rows.take(b)).min(axis=1), out=least[a])
    source.counts.calling_thread[1] += source.m**2
    return least
