"""Feasible points of the dual: signed variables within their boxes, with a fixed sum."""

from math import fsum

import numpy as np

__all__ = ["SNAP", "balanced", "filled", "give_excess", "snapped"]

SNAP = 1e-12  # this close to a bound, relative to the box and to the largest variable, is on it


def filled(bound, total):
    """Return shares of a total, each up to its bound, the first points first; round-off is no share."""
    share = np.clip(total - (np.cumsum(bound) - bound), 0, bound)
    return snapped(share, np.zeros_like(share), bound)


def balanced(theta, lo, hi, first, total=0.0):
    """Return variables within their boxes that sum to `total`, moved from theta as little as possible.

    Variables outside their boxes, which contain 0, and those that miss a bound or 0 by round-off, go there.
    Then the points `first` move, all by one amount, each as far as its box allows, and if that is not enough
    all others. The sum is `total` up to the round-off of one variable or, if all are on bounds, of all.
    """
    near = _round_off(theta, lo, hi)
    theta = _snapped(theta, lo, hi, near)
    rest = np.ones(theta.size, dtype=bool)
    rest[first] = False
    for points in (first, np.flatnonzero(rest)):
        excess = fsum(theta) - total
        if excess == 0:
            break
        target = theta[points].sum() - excess
        moved = _moved(theta[points], lo[points], hi[points], target)
        theta[points] = _snapped(moved, lo[points], hi[points], near[points])
    return give_excess(theta, lo, hi, total)


def give_excess(theta, lo, hi, total=0.0):
    """Subtract the round-off of theta's sum, beside `total`, from the variable with most room; return theta.

    If every variable is on a bound or at 0 they stay there: one that missed it by round-off would pass for
    in-bound, and fix a threshold that is an interval.
    """
    room = np.minimum(np.minimum(theta - lo, hi - theta), np.abs(theta))
    t = room.argmax()
    theta[t] = np.clip(theta[t] - min(max(fsum(theta) - total, -room[t]), room[t]), lo[t], hi[t])
    return theta


def _moved(theta, lo, hi, total):
    """Return the variables moved by one amount, within their boxes, so that they sum to `total`.

    If the boxes do not allow that sum they come as close to it as possible.
    """
    if theta.size == 0 or total <= lo.sum():
        return lo
    if total >= hi.sum():
        return hi
    # The sum is a piecewise linear function of the amount, with a kink where a variable reaches a bound.
    ends = np.concatenate([lo - theta, hi - theta])
    order = np.argsort(ends, kind="stable")
    ends = ends[order]
    slope = np.cumsum(np.where(order < theta.size, 1, -1))
    sums = lo.sum() + np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(ends))])
    k = min(np.searchsorted(sums, total, side="right"), ends.size - 1)
    amount = ends[k] if slope[k - 1] == 0 else ends[k - 1] + (total - sums[k - 1]) / slope[k - 1]
    return np.clip(theta + amount, lo, hi)


def snapped(theta, lo, hi):
    """Return theta within its boxes, exactly on a bound, or at 0, that it misses by round-off.

    Off the bound such a point would pass for in-bound. 0 is a bound of every box but those of a regression,
    where it is the kink between the two sides of the tube.
    """
    return _snapped(theta, lo, hi, _round_off(theta, lo, hi))


def _round_off(theta, lo, hi):
    """Return by how much each variable may miss a bound by round-off."""
    return SNAP * np.minimum(hi - lo, np.abs(theta).max(initial=0.0))


def _snapped(theta, lo, hi, near):
    theta = np.where(theta <= lo + near, lo, theta)
    theta = np.where(theta >= hi - near, hi, theta)
    return np.where(np.abs(theta) <= near, 0.0, theta)
