"""Feasible points of the dual in signed variables: within their boxes, and of the sum 0."""

from __future__ import annotations

from math import fsum

import numpy as np

__all__ = ["SNAP", "balanced", "give_excess", "snapped"]

SNAP = 1e-12  # this close to a bound, relative to the width of the box, is on it


def balanced(theta, lo, hi, first):
    """Variables within their boxes that sum to 0.

    Parameters
    ----------
    theta, lo, hi : ndarray, shape (m,)
        ``lo <= 0 <= hi``. Variables outside are put on the bound first, and so are those that miss it by
        round-off, before and after.
    first : ndarray of int
        The points to move: all by one amount, each as far as its box lets it. Where that is not enough all
        others follow in the same way.

    Returns
    -------
    ndarray, shape (m,)
        Its sum is 0 to the round-off of one variable, or of all where every one is on a bound.
    """
    theta = snapped(theta, lo, hi)
    rest = np.ones(theta.size, dtype=bool)
    rest[first] = False
    for points in (first, np.flatnonzero(rest)):
        excess = fsum(theta)
        if excess == 0:
            break
        target = theta[points].sum() - excess
        moved = _moved(theta[points], lo[points], hi[points], target)
        theta[points] = snapped(moved, lo[points], hi[points])
    return give_excess(theta, lo, hi)


def give_excess(theta, lo, hi):
    """Return theta with the round-off of its sum taken by the variable that has most room for it.

    Where every variable is on a bound they stay there: one that missed its bound by round-off would pass for
    in-bound, and fix a threshold that is an interval.
    """
    room = np.minimum(theta - lo, hi - theta)
    t = room.argmax()
    theta[t] = np.clip(theta[t] - min(max(fsum(theta), -room[t]), room[t]), lo[t], hi[t])
    return theta


def _moved(theta, lo, hi, total):
    """All variables moved by one amount, each as far as its box lets it, so that they sum to `total`, or come
    as close to it as the boxes allow."""
    if theta.size == 0 or total <= lo.sum():
        return lo
    if total >= hi.sum():
        return hi
    # the sum is a piecewise linear function of the amount: a variable moves between its two ends
    ends = np.concatenate([lo - theta, hi - theta])
    order = np.argsort(ends, kind="stable")
    ends = ends[order]
    slope = np.cumsum(np.where(order < theta.size, 1, -1))
    sums = lo.sum() + np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(ends))])
    k = min(np.searchsorted(sums, total, side="right"), ends.size - 1)
    amount = ends[k] if slope[k - 1] == 0 else ends[k - 1] + (total - sums[k - 1]) / slope[k - 1]
    return np.clip(theta + amount, lo, hi)


def snapped(theta, lo, hi):
    """Return theta within its boxes, exactly on a bound where it misses it by round-off: such a point would
    pass for in-bound."""
    near = SNAP * (hi - lo)
    theta = np.where(theta <= lo + near, lo, theta)
    return np.where(theta >= hi - near, hi, theta)
