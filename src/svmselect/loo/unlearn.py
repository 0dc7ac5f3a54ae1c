"""Leave-one-out by unlearning."""

from __future__ import annotations

import numpy as np

from svmselect.unlearning.start import Start
from svmselect.unlearning.tableau import Tableau

__all__ = ["unlearn"]


def unlearn(full, y, points, kept, progress, stop=True):
    """Decision values of left-out points.

    Parameters
    ----------
    full : Dual
        The solved problem with all points.
    y : ndarray, shape (m,)
    points : ndarray of intp, shape (n,)
        A point may come more than once.
    kept : ndarray, shape (n,)
        The bound of alpha_r that is left when a point goes: 0, but where r stands for several identical
        points.
    progress : callable or None
        Called with the number of points decided since the last call.
    stop : bool
        Whether a path stops as soon as its sign is certain.

    Returns
    -------
    decision : ndarray, shape (n,)
        Decision value without the point where its path ended.
    outcome : ndarray of intp, shape (n,)
        See `Outcome`. UNDECIDED also where the end of a path does not bear out what it says.
    """
    theta, f, lo, hi = full.arrays()
    gap = max(full.gap_now(), 0.0)
    decision, outcome = np.empty(points.size), np.empty(points.size, dtype=np.intp)
    if points.size == 0:
        return decision, outcome
    inbound = np.flatnonzero((lo < theta) & (theta < hi))
    if inbound.size:
        b = full.state()[2]
        several = [(Tableau(full.gram, inbound), b, np.arange(points.size))]
    else:
        # b is an interval: at the end where another point may take over theta_r, that point enters
        several = []
        for sign in (-1, 1):
            can_take_over = np.flatnonzero(theta < hi if sign > 0 else theta > lo)
            first = can_take_over[np.argmin(sign * f[can_take_over])]
            several.append(
                (Tableau(full.gram, np.array([first])), -f[first], np.flatnonzero(y[points] == sign))
            )
    for tableau, b, these in several:
        start = Start(tableau, y, theta, f + b, lo, hi, gap)
        decision[these], outcome[these] = start.unlearn(points[these], kept[these], progress, stop)
    return decision, outcome
