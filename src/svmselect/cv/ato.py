"""ATO: the variables move along the path on which the in-bound points stay optimal.

Design. All points that enter (T) head for their upper bound and all that leave (R) for zero, in step: ``d_T
= eta (C - alpha_T)``, ``d_R = -eta alpha_R``. The in-bound points of both training sets (M) follow so that f
stays equal on them and the sum stays 0: in signed variables ``[0 1'; 1 K_MM] [-d_level; d_M] = -[1'; K_M,TR]
d_TR``. eta grows to the next *event*: a point of M reaches a bound and leaves M; a point of T comes to
satisfy its optimality condition and stays where it is, in M if it is in-bound; a point at a bound comes to
violate its condition and joins M. What is within half the solver's tolerance counts as optimal: so far from
it is the solution that the path starts from.

Every event costs the solution of a system and a product with all moving columns, and there are several per
point that enters. Where these and M are many, a step goes over a number of events, up to a twentieth of the
fewer of them: what has passed its event is cut off, and Newton steps on M take out what that has done to f
and the sum. A step after which they cannot is taken back and goes over half as many. The path leads along
optimal solutions, to that of the next problem where eta reaches 1.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from svmselect.cv.transition import SNAP, Seed, Transition

__all__ = ["ato"]

SHARE = 20  # a step goes over one more event for so many points
STEPS_PER_POINT = 10  # most steps, per point that enters
DIRECT = 1000  # unknowns up to which a system is factored
CG_TOLERANCE = 1e-4  # of the residual of larger ones, relative to the right-hand side
CG_MOST = 500  # iterations per system
BLOCK_BYTES = 2**30  # most memory for a copy of K_MM


def ato(change: Transition):
    """Adjusting alpha towards the optimum (Wen et al. 2017, eq. 7 to 11; Karasuyama and Takeuchi 2009).

    Ends when every point that enters satisfies its optimality condition, or no in-bound point is left to keep
    the sum; what the leaving points have not given up by then is taken from them, and the points that enter
    move by one amount until the equality constraint holds.

    Parameters
    ----------
    change : Transition

    Returns
    -------
    Seed

    Notes
    -----
    Systems of up to 1,000 in-bound points are solved by a Cholesky factor; larger ones, and singular ones,
    for which the paper takes the pseudo-inverse, by conjugate gradients within the constraint, started from
    the step before.
    """
    path = Path(change)
    most = STEPS_PER_POINT * (change.enters.size + 10)
    while path.steps < most and path.step():
        pass
    theta = path.theta
    theta[change.leaves] = 0
    return Seed(change.feasible(theta, change.enters), path.steps, path.cg_iterations, path.cg_residual)


class Path:
    """Variables, gradient and sets of points on the way.

    Attributes
    ----------
    theta, f : ndarray, shape (m,)
    level : float
        Value of f on M.
    moving, shared, tied : ndarray of bool, shape (m,)
        T; the points of both training sets, with those that have come from T; M.
    barred : ndarray of bool, shape (m,)
        Points that have left M since eta last grew: they do not join it before it grows again.
    skipped : int
        Events that the last step went over, apart from the one it ended at.
    """

    def __init__(self, change):
        self.gram, self.y, self.slack = change.gram, change.y, change.tol / 2
        self.theta, self.f, self.level = change.theta.copy(), change.f.copy(), change.level
        self.lo, self.hi = np.where(self.y > 0, 0, -change.C), np.where(self.y > 0, change.C, 0)
        self.leaving = change.giving
        self.moving = np.zeros(self.y.size, dtype=bool)
        self.moving[change.enters] = True
        self.shared = ~self.moving
        self.shared[change.leaves] = False
        self.tied = change.inbound & self.shared
        self.barred = np.zeros(self.y.size, dtype=bool)
        self.before = np.zeros(self.y.size)  # the last direction
        self.skipped = self.gram.m
        self.settle()
        self.steps = self.cg_iterations = 0
        self.cg_residual = 0.0

    def step(self):
        """Go over the next events; whether there is anything left to do."""
        if not self.moving.any() or not self.tied.any():
            return False
        direction = np.zeros(self.y.size)
        target = np.where(self.y > 0, self.hi, self.lo)
        direction[self.moving] = (target - self.theta)[self.moving]
        direction[self.leaving] = -self.theta[self.leaving]
        others = np.flatnonzero(direction)
        tied = np.flatnonzero(self.tied)
        pull = self.gram.product(others, direction[others], tied)
        direction[tied], d_level = self.follow(tied, pull, direction.sum(), self.before[tied])
        self.before = direction
        support = np.flatnonzero(direction)
        d_f = self.gram.product(support, direction[support])
        events = np.concatenate([self.to_bound(direction), self.to_level(d_f - d_level)])
        self.skipped = min(2 * self.skipped + 1, np.count_nonzero(self.moving) // SHARE, tied.size // SHARE)
        while True:
            before = self.theta, self.f, self.level, self.moving, self.shared, self.tied, self.barred
            eta = min(1.0, np.partition(events, self.skipped)[self.skipped])
            self.f = self.f + eta * d_f
            self.level += eta * d_level
            self.move(eta * direction, support)
            self.regroup(direction, d_f - d_level)
            self.settle()
            if self.skipped == 0 or self.correct():
                break
            self.theta, self.f, self.level, self.moving, self.shared, self.tied, self.barred = before
            self.skipped //= 2
        self.barred = self.barred & (eta == 0)
        self.steps += 1
        return eta < 1

    def move(self, change, support):
        """Change the variables of some points, cut off at the bounds; f has the uncut change already."""
        wanted = self.theta + change
        self.theta = np.clip(wanted, self.lo, self.hi)
        cut = (self.theta - wanted)[support]
        over = np.abs(cut) > SNAP * (self.hi - self.lo)[support]
        if over.any():
            self.f = self.f + self.gram.product(support[over], cut[over])

    def settle(self):
        """Points that enter and satisfy their condition stop: in M where they are in-bound."""
        done = self.moving & (self.y * (self.f - self.level) >= -self.slack)
        self.moving = self.moving & ~done
        self.shared = self.shared | done
        self.tied = self.tied | done & (self.theta > self.lo) & (self.theta < self.hi)

    def follow(self, tied, pull, total, start):
        """The change d of the variables of M, and d_level, with ``K_MM d - d_level = -pull`` and ``sum(d) =
        -total``."""
        small = tied.size**2 * self.gram.dtype.itemsize <= BLOCK_BYTES
        K = self.gram.submatrix(tied, tied) if small else None
        if tied.size <= DIRECT:
            solution = solve_directly(K.astype(np.float64), pull, total)
            if solution is not None:
                return solution

        def product(v):
            if small:
                return (K @ v.astype(K.dtype)).astype(np.float64)
            return self.gram.product(tied, v)[tied]

        d, d_level, iterations, residual = constrained_cg(product, pull, total, start)
        self.cg_iterations += iterations
        self.cg_residual = max(self.cg_residual, residual)
        return d, d_level

    def to_bound(self, direction):
        """eta at which each point of M reaches a bound."""
        d, theta = direction[self.tied], self.theta[self.tied]
        room = np.where(d > 0, self.hi[self.tied] - theta, theta - self.lo[self.tied])
        return np.divide(room, np.abs(d), out=np.full(d.size, np.inf), where=d != 0)

    def to_level(self, d_gap):
        """eta at which each point off M reaches the level: of T from where it violates its condition, of the
        shared ones at a bound from where it satisfies it."""
        side = np.where(self.moving, -self.y, self.side())
        watched = (self.moving | self.outside()) & (side * d_gap < 0)
        distance = np.maximum(side * (self.f - self.level), 0)[watched]
        return distance / np.abs(d_gap[watched])

    def side(self):
        """The sign that ``f - level`` has to have at a bound."""
        return np.where(self.theta < self.hi, 1.0, -1.0)

    def outside(self):
        return self.shared & ~self.tied & ~self.barred

    def regroup(self, direction, d_gap):
        """Points of M that have reached a bound leave it; those at a bound that have come to violate their
        condition join."""
        joins = self.outside() & (self.side() * d_gap < 0) & (self.side() * (self.f - self.level) <= 0)
        self.tied = self.tied | joins
        self.release(np.where(joins, 0.0, direction))

    def release(self, direction):
        """Points of M at the bound that they were heading for leave it."""
        near = SNAP * (self.hi - self.lo)
        at_lo = self.tied & (direction < 0) & (self.theta <= self.lo + near)
        at_hi = self.tied & (direction > 0) & (self.theta >= self.hi - near)
        self.theta = np.where(at_lo, self.lo, np.where(at_hi, self.hi, self.theta))
        self.barred = self.barred | at_lo | at_hi
        self.tied = self.tied & ~(at_lo | at_hi)

    def correct(self):
        """Bring f on M back to the level, and the sum back to 0, by at most four Newton steps; points that
        come to violate their condition meanwhile join M. Whether that has worked."""
        for steps in range(5):
            self.settle()
            gap, total = self.f - self.level, self.theta.sum()
            violated = self.shared & ~self.tied & (self.side() * gap < -2 * self.slack)
            self.tied = self.tied | violated
            tied = np.flatnonzero(self.tied)
            if tied.size == 0:
                return False
            if np.abs(gap[tied]).max() <= 2 * self.slack and abs(total) <= 1e-9 * np.abs(self.theta).sum():
                return True
            if steps < 4:
                change = np.zeros(self.y.size)
                change[tied], d_level = self.follow(tied, gap[tied], total, np.zeros(tied.size))
                self.f = self.f + self.gram.product(tied, change[tied])
                self.level += d_level
                self.move(change, tied)
                self.release(change)
        return False


def solve_directly(K, pull, total):
    """The solution (d, d_level) of ``K d - d_level = -pull``, ``sum(d) = -total``; None if it is singular.

    As the sum is fixed, K may be replaced by ``K + c 11'``, which is positive definite where the bordered
    matrix is non-singular.
    """
    n, c = pull.size, max(K.diagonal().mean(), 1e-300)
    noise = n * np.finfo(np.float32).eps * (K.diagonal().max() + c)
    factor, failed = linalg.lapack.dpotrf(K + c, lower=True, clean=False)
    if failed or factor.diagonal().min() ** 2 <= noise:
        return None
    solutions = linalg.lapack.dpotrs(factor, np.column_stack([pull, np.ones(n)]), lower=True)[0]
    level = (solutions[:, 0].sum() - total) / solutions[:, 1].sum()
    return level * solutions[:, 1] - solutions[:, 0], level + c * total


def constrained_cg(product, pull, total, start):
    """The same by conjugate gradients on the vectors of one sum, from `start` moved to that sum.

    Parameters
    ----------
    product : callable
        ``K @ v``.

    Returns
    -------
    d : ndarray, shape (n,)
    d_level : float
    iterations : int
    residual : float
        Relative to the right-hand side.
    """
    d = start - (start.sum() + total) / start.size
    force = -pull - product(d)
    r = force - force.mean()
    scale = max(np.linalg.norm(pull), abs(total), 1e-300)
    p, rr, iterations = r, r @ r, 0
    while np.sqrt(rr) > CG_TOLERANCE * scale and iterations < CG_MOST:
        Kp = product(p)
        curvature = p @ Kp
        if curvature <= 0:
            break
        d = d + rr / curvature * p
        force = force - rr / curvature * Kp
        r = force - force.mean()
        rr, before = r @ r, rr
        p = r + rr / before * p
        iterations += 1
    return d, -force.mean(), iterations, np.sqrt(rr) / scale
