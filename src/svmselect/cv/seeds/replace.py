"""SIR, TOP and AVG: the variables of leaving points go to similar points, or in equal parts to all."""

import numpy as np

from svmselect.cv.seeds.transition import Seed, Transition

__all__ = ["avg", "sir", "top"]

PANEL = 512  # columns looked at together


def _columns_of(gram, rows, points):
    """Yield ``K[rows, p]`` for each p of `points`."""
    for start in range(0, points.size, PANEL):
        yield from gram.submatrix(rows, points[start : start + PANEL]).T


def sir(change: Transition):
    """Replace single instances (Wen et al. 2017).

    The alpha of each support vector that leaves is taken over by the most similar point of its class that
    enters and has not been used; by any unused one, drawn at random, where none of its class is left. Then
    the points that enter are moved by one amount until the equality constraint holds.
    """
    y, enters = change.y, change.enters
    theta = change.without_leaving()
    unmatched = []
    for label in (-1, 1):
        same = enters[y[enters] == label]
        giving = change.giving[y[change.giving] == label]
        unmatched.extend(giving[same.size :])
        giving = giving[: same.size]
        free = np.ones(same.size, dtype=bool)
        for p, similarity in zip(giving, _columns_of(change.gram, same, giving), strict=True):
            t = np.where(free, similarity, -np.inf).argmax()
            free[t] = False
            theta[same[t]] = change.theta[p]
    assert change.rng is not None
    unused = change.rng.permutation(enters[theta[enters] == 0])
    for p, t in zip(unmatched, unused, strict=False):
        theta[t] = y[t] * abs(change.theta[p])
    return Seed(change.feasible(theta, enters))


def top(change: Transition):
    """Give the variable of each leaving support vector to the most similar points (TOP, Lee et al. 2004).

    The most similar point of the next training set takes as much as its box allows (alpha of the same class
    grows, of the other class shrinks), the next one the rest, and so on.
    """
    (lo, hi), giving = change.box, change.giving
    theta = change.without_leaving()
    can_grow, can_shrink = theta < hi, theta > lo
    for p, similarity in zip(giving, _columns_of(change.gram, np.arange(theta.size), giving), strict=True):
        rest = change.theta[p]
        bound, can_take = (hi, can_grow) if rest > 0 else (lo, can_shrink)
        similarity = np.where(can_take, similarity, -np.inf)
        while rest != 0 and similarity[t := similarity.argmax()] > -np.inf:
            room = bound[t] - theta[t]
            part = room if abs(room) < abs(rest) else rest
            theta[t] = bound[t] if part == room else theta[t] + part
            rest -= part
            similarity[t] = -np.inf
            can_grow[t], can_shrink[t] = theta[t] < hi[t], theta[t] > lo[t]
    return Seed(change.feasible(theta, np.flatnonzero(change.inbound)))


def avg(change: Transition):
    """Spread the variables of leaving points equally over the in-bound points (DeCoste and Wagstaff 2000).

    All in-bound points move by one amount within their boxes. The part that a box cuts off is spread over the
    others, and over all points where no in-bound one has room. If several points leave, their sum is spread.
    """
    inbound = change.inbound.copy()
    inbound[change.leaves] = False
    return Seed(change.feasible(change.without_leaving(), np.flatnonzero(inbound)))
