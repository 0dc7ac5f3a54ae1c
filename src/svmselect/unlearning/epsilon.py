"""The path of a regression along epsilon, to the model whose variables have a given sum.

Design. The sum of ``|theta|`` falls as epsilon grows, and nu-SVR is the epsilon-SVR with a given sum. Along
epsilon the optimal variables are piecewise linear (Wang, Yeung and Lochovsky 2008): with S the in-bound rows
and s their sides, ``[0 1'; 1 K_SS] [db; dtheta_S] = [0; -s]`` per unit of epsilon, until a row leaves S at 0
or at its bound, or a row outside comes to the edge of the tube. Without in-bound rows theta stays, and the
interval of b shrinks until the two rows at its ends enter S.

The path ends where the sum is reached. There one linear system, which knows both sums, gives the variables
again, and the gradient is computed from them: nothing of the path's round-off is left.
"""

from typing import NamedTuple

import numpy as np

from svmselect.solver._state import midpoint
from svmselect.solver.feasible import SNAP
from svmselect.unlearning._certify import SLACK, round_off

__all__ = ["NuEnd", "end_of", "path_to_sum"]

MOST_EVENTS = 2  # events of a path, at most, per row


class NuEnd(NamedTuple):
    """The end of a path along epsilon."""

    theta: np.ndarray  # variables, shape (m,)
    f: np.ndarray  # K theta - z of every row
    b: float
    epsilon: float
    gap: float  # the largest KKT gap that the end may have, round-off included


def path_to_sum(K, z, C, theta, f, b, epsilon, total):
    """Return the NuEnd at which ``sum(|theta|)`` is `total`; None if epsilon comes to 0, or rows depend.

    `K` is the Gram matrix, shape (m, m). The variables `theta`, with ``f = K theta - z`` and the threshold b,
    are optimal for an `epsilon` above 0 and the bounds `C`, which are 0 for rows that are not trained on.
    """
    theta, g, size = theta.copy(), f + b, np.abs(theta)
    away = 1.0 if size.sum() > total else -1.0  # whether epsilon grows
    inside = (size > 0) & (size < C)
    side = np.sign(theta)
    for _ in range(MOST_EVENTS * theta.size):
        excess = away * (size.sum() - total)
        if excess <= SNAP * total:
            return end_of(K, z, C, theta, total)
        S = np.flatnonzero(inside)
        if S.size == 0:
            # 1) without S, until the interval of b is a point: two rows enter
            step, b, rows, sides = _closing(g - b, C, size, side, epsilon, away)
            if step is None or (away < 0 and step >= epsilon):
                return None
            epsilon += away * step
            g = f + b
            inside[rows], side[rows] = True, sides
            continue
        # 2) rates of theta_S, b and g per unit of epsilon
        system = np.zeros((S.size + 1, S.size + 1))
        system[0, 1:] = system[1:, 0] = 1
        system[1:, 1:] = K[np.ix_(S, S)]
        try:
            rate = np.linalg.solve(system, np.append(0.0, -away * side[S]))
        except np.linalg.LinAlgError:
            return None
        moving = rate[1:]
        rate_g = moving @ K[S] + rate[0]
        # 3) the first event
        grows = side[S] * moving
        with np.errstate(divide="ignore", invalid="ignore"):
            to_zero = np.where(grows < 0, size[S] / -grows, np.inf)
            to_bound = np.where(grows > 0, (C[S] - size[S]) / grows, np.inf)
            # room to the edge of the tube, of rows at 0 on both sides, and of rows at a bound
            rest = (C > 0) & ~inside
            edges = []
            for sign in (1.0, -1.0):
                room, change = sign * g + epsilon, sign * rate_g + away
                closes, opens = rest & (size == 0) & (change < 0), rest & (theta == sign * C) & (change > 0)
                edges.append(np.where(closes, np.maximum(room, 0) / -change, np.inf))
                edges.append(np.where(opens, np.maximum(-room, 0) / change, np.inf))
        events = [to_zero, to_bound, *edges]
        firsts = [each.min(initial=np.inf) for each in events]
        kind = int(np.argmin(firsts))
        fall = -away * grows.sum()
        step = min(firsts[kind], excess / fall if fall > 0 else np.inf)
        if not np.isfinite(step) or (away < 0 and step >= epsilon):
            return None
        # 4) to the event
        theta[S] += step * moving
        size[S] = np.abs(theta[S])
        f = f + step * (rate_g - rate[0])
        b += step * rate[0]
        epsilon += away * step
        g = f + b
        if step < firsts[kind]:
            continue
        row = int(np.argmin(events[kind]))
        if kind < 2:
            row = S[row]
            theta[row] = side[row] * C[row] if kind == 1 else 0.0
            size[row] = abs(theta[row])
            inside[row] = False
        else:
            inside[row] = True
            side[row] = 1.0 if kind < 4 else -1.0
    return None


def _closing(f, C, size, side, epsilon, away):
    """Return how far epsilon can go until the interval of b is a point, that b, and the two rows there.

    Rows at 0 allow ``|f + b| <= epsilon``, rows at a bound lie outside of the tube on their side.
    """
    zero, bounded = (C > 0) & (size == 0), (C > 0) & (size > 0)
    # upper ends of b and their rates, with the side on which the row enters; lower ends
    uppers = ((zero, epsilon - f, away, -1.0), (bounded & (side > 0), -epsilon - f, -away, 1.0))
    lowers = ((zero, -epsilon - f, -away, 1.0), (bounded & (side < 0), epsilon - f, away, -1.0))
    best = None, 0.0, None, None
    for rows, upper, rate, side_of_upper in uppers:
        if not rows.any():
            continue
        i = int(np.where(rows, upper, np.inf).argmin())
        for other_rows, lower, other_rate, side_of_lower in lowers:
            if not other_rows.any() or rate >= other_rate:
                continue
            j = int(np.where(other_rows, lower, -np.inf).argmax())
            step = max(upper[i] - lower[j], 0.0) / (other_rate - rate)
            if i != j and (best[0] is None or step < best[0]):
                best = step, upper[i] + step * rate, [i, j], [side_of_upper, side_of_lower]
    return best


def _at_ends(theta, C):
    """Return the variables, exactly 0 or at a bound where they are as close to it as a path is exact."""
    size, near = np.abs(theta), SLACK * np.minimum(C, np.abs(theta).max())
    return np.where(size <= near, 0.0, np.where(size >= C - near, np.sign(theta) * C, theta))


def end_of(K, z, C, theta, total):
    """Return the NuEnd with the in-bound rows of nearly optimal variables; None where they are no solution.

    The variables of S come anew from one system, and the gradient from the variables. For arguments see
    `path_to_sum`.
    """
    # 1) a variable that comes to 0 or its bound where the sum is reached is there
    theta = _at_ends(theta, C)
    side = np.sign(theta)
    S = np.flatnonzero((theta != 0) & (np.abs(theta) < C))
    # 2) theta_S, the thresholds of both sides: [0 both; both' K_SS] [t; theta_S] = [sums; z_S - K_S,rest
    # theta]
    both = np.stack([side[S] > 0, side[S] < 0]).astype(np.float64)
    both = both[both.any(axis=1)]
    rest = theta.copy()
    rest[S] = 0
    sums = np.array([total / 2 - rest[rest > 0].sum(), -total / 2 - rest[rest < 0].sum()])
    sums = sums[[(side[S] == sign).any() for sign in (1, -1)]]
    n = len(both)
    if S.size:
        system = np.zeros((S.size + n, S.size + n))
        system[:n, n:], system[n:, :n] = both, both.T
        system[n:, n:] = K[np.ix_(S, S)]
        right = np.concatenate([sums, z[S] - rest @ K[:, S]])
        try:
            solved = np.linalg.solve(system, right)[n:]
        except np.linalg.LinAlgError:
            return None
        if not ((side[S] * solved >= 0) & (np.abs(solved) <= C[S] * (1 + SLACK))).all():
            return None
        theta = rest
        theta[S] = solved
        theta = _at_ends(theta, C)
    # 3) the gradient, the thresholds and the gap
    f = theta @ K - z
    (level, gap), (other_level, other_gap) = _levels_of(theta, f, C)
    noise = 2 * float(round_off(theta, K.diagonal(), 1.0).max())
    return NuEnd(
        theta, f, -0.5 * (level + other_level), 0.5 * (other_level - level), max(gap, other_gap) + noise
    )


def _levels_of(theta, f, C):
    """Return the level of f and the KKT gap of the positive and of the negative side; see `NuRegression`."""
    result = []
    for sign in (1.0, -1.0):
        size = sign * theta
        # a variable of one side is at 0 on the other, where it could grow
        grows, shrinks = size < C, size > 0
        least, most = (sign * f)[grows].min(initial=np.inf), (sign * f)[shrinks].max(initial=-np.inf)
        inside = grows & shrinks
        level = f[inside].mean() if inside.any() else sign * midpoint(least, most)
        result.append((float(level), max(float(most - least), 0.0)))
    return result
