"""Kernel values of a Gram matrix: from stored columns where there are, else computed, and kept or not."""

from __future__ import annotations

import numpy as np

from svmselect.kernels import Linear, _panels
from svmselect.kernels.rows import BLOCK_ROWS, slices
from svmselect.threads import run

__all__ = ["compute_blocks", "product", "row_minima", "submatrix"]


def compute_blocks(source, columns, absent, progress):
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
        """The same beside columns that are stored already, wherever, and perhaps in use."""
        down, right = pair
        values = kernel.block(rows.take(down), rows.take(right))
        if down == right:
            _panels.mirror(values)
        arena[places[down][new[down]], right] = values[new[down]]
        if down != right:
            arena[places[right][new[right]], down] = values[:, new[right]].T

    in_place = absent.size == m and np.array_equal(places, absent)
    run(block if in_place else block_around, pairs, m**2 // 2 * rows.d, progress)
    kept, slots = np.flatnonzero(~new), places[absent]
    if kept.size:
        arena[np.ix_(slots, kept)] = arena[np.ix_(places[kept], absent)].T
    arena[slots, absent] = source.diagonal[absent]
    source.counts.own[1] += sum((p.stop - p.start) * (q.stop - q.start) for p, q in pairs)
    columns.publish(absent, slots)


def submatrix(source, store, rows, columns):
    """``K[rows][:, columns]``, Fortran order, for numbers that are rows'."""
    out = np.empty((columns.size, rows.size), dtype=store.dtype)
    source.counts.own[0] += columns.size
    places = np.arange(columns.size)
    above = [(other, there[columns], there[rows]) for other, there in source.above]
    for where, wanted, at in [(store, columns, rows), *above]:
        kept = where.columns
        stored = kept.holds(wanted[places])
        kept.gather(wanted[places[stored]], at, out, places[stored])
        places = places[~stored]
    if places.size and rows.size:
        chosen = source.rows.take(columns[places])

        def panel(part):
            source.kernel.block(chosen, source.rows.take(rows[part]), out=out[:, part], slots=places)

        run(panel, slices(rows.size, 8 * BLOCK_ROWS), places.size * rows.size * chosen.d)
        source.counts.own[1] += places.size * rows.size
    return out.T


def product(source, store, support, theta, places):
    """``K[places][:, support] @ theta``, float64; of all rows for None."""
    out = np.zeros(source.m if places is None else places.size)
    if out.size == 0:
        return out
    source.counts.own[0] += support.size
    if isinstance(source.kernel, Linear) and store.dtype == np.float64 and support.size > source.rows.d:
        at = source.rows if places is None else source.rows.take(places)
        return at.X @ (theta @ source.rows.take(support).X)
    columns = store.columns
    stored = columns.holds(support)
    columns.add(support[stored], theta[stored], places, out)
    support, theta = support[~stored], theta[~stored]
    rows = np.arange(source.m) if places is None else places
    for other, there in source.above:
        columns = other.columns
        stored = columns.holds(there[support])
        columns.add(there[support[stored]], theta[stored], there[rows], out)
        support, theta = support[~stored], theta[~stored]
    if support.size == 0:
        return out
    chosen = source.rows.take(support)

    def part(b):
        at = source.rows.take(b if places is None else places[b])
        out[b] += source.kernel.weighted(chosen, theta, at)

    run(part, slices(out.size, 8 * BLOCK_ROWS), support.size * out.size * source.rows.d)
    source.counts.own[1] += support.size * out.size
    return out


def row_minima(source):
    """Least value of each row of the matrix, float64, with nothing kept."""
    parts = slices(source.m, BLOCK_ROWS)
    least = source.diagonal.copy()
    for a in parts:
        some = source.rows.take(a)
        for b in parts:
            np.minimum(least[a], source.kernel.block(some, source.rows.take(b)).min(axis=1), out=least[a])
    source.counts.own[1] += source.m**2
    return least
