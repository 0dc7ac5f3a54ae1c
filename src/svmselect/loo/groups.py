"""Groups of identical rows, of which a solver sees one row whose bound is the sum of theirs."""

import numpy as np

__all__ = ["bounds_without", "identical_rows"]


def identical_rows(gram, z, trained):
    """Return the first of each group of identical rows and targets, and the group of each trained row."""
    numbers = gram.row_groups
    if numbers[-1] == gram.m - 1:  # all rows differ
        return trained, np.arange(trained.size)
    keys = np.stack([numbers[trained].astype(np.float64), z[trained]], axis=1)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return trained[first[order]], np.argsort(order)[group.reshape(-1)]


def bounds_without(C, group):
    """Return the bound that the group of each row has without that row: shape (n,), 0 where it is alone.

    `C` are the bounds of the rows, and `group` the group of each. It is a sum of the others' bounds: the
    difference of the group's bound and the row's would lose the digits of small ones.
    """
    sizes = np.bincount(group)
    if (C[0] == C).all():
        return (sizes - 1)[group] * C[0]
    left = np.zeros(C.size)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(sizes)
    for number in np.flatnonzero(sizes > 1):
        rows = order[ends[number] - sizes[number] : ends[number]]
        # sums of the rows before and after each
        left[rows[1:]] = np.cumsum(C[rows[:-1]])
        left[rows[:-1]] += np.cumsum(C[rows[:0:-1]])[::-1]
    return left
