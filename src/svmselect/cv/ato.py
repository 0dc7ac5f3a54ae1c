"""ATO: the variables move along the path on which the in-bound points stay optimal.

Design. All points that enter (T) head for their upper bound and all that leave (R) for zero, in step: ``d_T =
eta (C - alpha_T)``, ``d_R = -eta alpha_R``. The in-bound points of both training sets (M) follow so that f
stays equal on them and the sum stays 0: in signed variables ``[0 1'; 1 K_MM] [-dlevel; d_M] = -[1'; K_M,TR]
d_TR``. eta grows to the next *event*: a point of M reaches a bound and leaves M; a point of T comes to satisfy
its optimality condition and stays where it is, in M if it is in-bound; a point at a bound comes to violate its
condition and joins M.

Points within half the solver's tolerance of an event take part in it: that is how far from optimal the
solution is that the path starts from.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from svmselect.cv.transition import Seed, Transition

__all__ = ["ato"]

DIRECT = 1000  # unknowns up to which a system is factored
CG_TOLERANCE = 1e-6  # of the relative residual beyond
CG_MOST = 1000  # iterations per system
STEPS_PER_POINT = 4  # most steps, per point that leaves or enters


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
    Systems of up to 1,000 in-bound points are solved by Cholesky factors, singular ones by the pseudo-inverse
    (as the paper does), larger ones by conjugate gradients within the constraint, each from the step before,
    to a relative residual of 1e-6.
    """
    path = Path(change)
    most = STEPS_PER_POINT * (change.leaves.size + change.enters.size) + 100
    while path.steps < most and path.step():
        pass
    theta = path.theta
    theta[change.leaves] = 0
    return Seed(change.feasible(theta, change.enters), path.steps, path.cg_iterations, path.cg_residual)


class Path:
    """Variables, gradient and sets of points on the way."""

    def __init__(self, change):
        self.gram, self.y, self.slack = change.gram, change.y, change.tol / 2
        self.theta, self.f, self.level = change.theta.copy(), change.f.copy(), change.level
        self.lo, self.hi = np.where(self.y > 0, 0, -change.C), np.where(self.y > 0, change.C, 0)
        self.leaving = change.giving
        self.moving = np.zeros(self.y.size, dtype=bool)     # T
        self.moving[change.enters] = True
        self.shared = ~self.moving
        self.shared[change.leaves] = False
        self.tied = change.inbound & self.shared            # M
        self.barred = np.zeros(self.y.size, dtype=bool)     # left M without a step since
        self.d_tied = np.zeros(self.y.size)
        self.steps = self.cg_iterations = 0
        self.cg_residual = 0.0

    def step(self):
        """Go to the next event; whether there is anything left to do."""
        self.settle()
        if not self.moving.any() or not self.tied.any():
            return False
        direction, d_level = self.direction()
        support = np.flatnonzero(direction)
        d_f = self.gram.product(support, direction[support])
        eta = min(1.0, self.to_bound(direction).min(), self.to_level(d_f - d_level).min())
        self.theta += eta * direction
        np.clip(self.theta, self.lo, self.hi, out=self.theta)
        self.f += eta * d_f
        self.level += eta * d_level
        self.steps += 1
        self.update(direction, d_f - d_level, eta)
        return eta < 1

    def settle(self):
        """Points that enter and satisfy their condition stop: in M where they are in-bound."""
        done = self.moving & (self.y * (self.f - self.level) >= -self.slack)
        self.moving &= ~done
        self.shared |= done
        self.tied |= done & (self.theta > self.lo) & (self.theta < self.hi)

    def direction(self):
        """Signed variables per unit of eta, shape (m,), and that of the level."""
        d = np.zeros(self.y.size)
        target = np.where(self.y > 0, self.hi, self.lo)
        d[self.moving] = (target - self.theta)[self.moving]
        d[self.leaving] = -self.theta[self.leaving]
        tied, others = np.flatnonzero(self.tied), np.flatnonzero(d)
        pull = self.gram.product(others, d[others], tied)
        if tied.size <= DIRECT:
            K = self.gram.submatrix(tied, tied).astype(np.float64)
            d[tied], d_level = solve_bordered(K, pull, d.sum())
        else:
            d[tied], d_level, iterations, residual = constrained_cg(
                lambda v: self.gram.product(tied, v, tied), pull, d.sum(), self.d_tied[tied]
            )
            self.cg_iterations += iterations
            self.cg_residual = max(self.cg_residual, residual)
        self.d_tied = d
        return d, d_level

    def to_bound(self, direction):
        """eta at which each point of M reaches a bound."""
        d = direction[self.tied]
        room = np.where(d > 0, self.hi[self.tied] - self.theta[self.tied], self.theta[self.tied] - self.lo[self.tied])
        return np.divide(room, np.abs(d), out=np.full(d.size, np.inf), where=d != 0)

    def to_level(self, d_gap):
        """eta at which each point off M reaches the level: of T from where it violates its condition, of the
        shared ones at a bound from where it satisfies it."""
        gap, outside = self.f - self.level, self.shared & ~self.tied & ~self.barred
        # towards the level, from its side of it
        side = np.where(self.moving, -self.y, np.where(self.theta < self.hi, 1.0, -1.0))
        watched = (self.moving | outside) & (side * d_gap < 0)
        distance = np.maximum(side * gap, 0)[watched]
        return np.append(distance / np.abs(d_gap[watched]), np.inf)

    def update(self, direction, d_gap, eta):
        """Points of M that have reached a bound leave it; those at a bound that have come to violate their
        condition join."""
        size = np.maximum(np.abs(self.lo), np.abs(self.hi))
        at_lo = self.tied & (direction < 0) & (self.theta - self.lo <= 1e-12 * size)
        at_hi = self.tied & (direction > 0) & (self.hi - self.theta <= 1e-12 * size)
        self.theta[at_lo], self.theta[at_hi] = self.lo[at_lo], self.hi[at_hi]
        outside = self.shared & ~self.tied & ~self.barred
        side = np.where(self.theta < self.hi, 1.0, -1.0)
        joins = outside & (side * d_gap < 0) & (side * (self.f - self.level) <= 1e-12)
        if eta > 0:
            self.barred[:] = False
        self.barred |= at_lo | at_hi
        self.tied = (self.tied | joins) & ~(at_lo | at_hi)


def solve_bordered(K, pull, total):
    """The solution of ``K d - d_level = -pull``, ``sum(d) = -total``; of least norm where it is not unique.

    As the sum is fixed, K may be replaced by ``K + c 11'``, which is positive definite where the bordered
    matrix is non-singular.
    """
    n, c = pull.size, max(K.diagonal().mean(), 1e-300)
    factor, failed = linalg.lapack.dpotrf(K + c, lower=True, clean=False)
    noise = n * np.finfo(np.float64).eps
    if not failed and factor.diagonal().min() ** 2 > noise * (K.diagonal().max() + c):
        solutions = linalg.lapack.dpotrs(factor, np.column_stack([pull, np.ones(n)]), lower=True)[0]
        level = (solutions[:, 0].sum() - total) / solutions[:, 1].sum()
        return level * solutions[:, 1] - solutions[:, 0], level + c * total
    bordered = np.ones((n + 1, n + 1))
    bordered[0, 0], bordered[1:, 1:] = 0, K
    x = linalg.lstsq(bordered, -np.append(total, pull), cond=noise, lapack_driver="gelsd")[0]
    return x[1:], -x[0]


def constrained_cg(product, pull, total, start):
    """The same by conjugate gradients on the vectors of sum 0, from `start` moved to the right sum.

    Returns
    -------
    d : ndarray, shape (n,)
    d_level : float
    iterations : int
    residual : float
        Relative to the pull.
    """
    d = start - (start.sum() + total) / start.size
    force = -pull - product(d)
    r = force - force.mean()
    end = CG_TOLERANCE * np.linalg.norm(pull - pull.mean())
    p, rr, iterations = r, r @ r, 0
    while np.sqrt(rr) > end and iterations < CG_MOST:
        Kp = product(p)
        curvature = p @ Kp
        if curvature <= 0:
            break
        step = rr / curvature
        d = d + step * p
        force = force - step * Kp
        r = force - force.mean()
        rr, before = r @ r, rr
        p = r + rr / before * p
        iterations += 1
    return d, -force.mean(), iterations, np.sqrt(rr) / max(np.linalg.norm(pull), 1e-300)
