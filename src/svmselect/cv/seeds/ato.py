"""ATO: the variables move along the path on which the in-bound points stay optimal.

Design. All points that enter (T) head for their upper bound and all that leave (R) for zero, in step: ``d_T
= eta (C - alpha_T)``, ``d_R = -eta alpha_R``. The in-bound points of both training sets (M) follow so that f
stays equal on them and the sum stays 0: in signed variables ``[0 1'; 1 K_MM] [-d_level; d_M] = -[1'; K_M,TR]
d_TR``. Points within half the solver's tolerance of optimality count as optimal, because the starting
solution is no more accurate than that. The next step's system also corrects the drift of f on M and of the
sum.

While T has at most 150 points and M at most 1,000, a step goes to the next event: a point of M reaches a
bound and leaves M; a point of T comes to satisfy its optimality condition and stays where it is, in M if it
is in-bound; a shared point at a bound comes to violate its condition and joins M. More points have thousands
of events, and each costs the solution of a system and a product with all columns that move: there steps are
long.
"""

import numpy as np
from scipy import linalg

from svmselect.cv.seeds.transition import Seed, Transition
from svmselect.solver.feasible import SNAP

__all__ = ["Path", "ato", "constrained_cg", "solve_directly"]

# With at most this many points in T, and in M at the start, steps go from event to event and systems are
# factored.
MOST_ENTERING, MOST_TIED = 150, 1000
# The largest number of steps from event to event, per point that enters.
STEPS_PER_POINT = 10
# The largest number of long steps, which are taken where there are more points.
LONG_STEPS = 20
# Long steps end when this share of the entering points is left.
FEW = 0.05
RIDGE = 1e-2  # added to the diagonal of K_MM, relative to its mean
# Conjugate gradients stop at this residual, relative to the right-hand side.
CG_TOLERANCE = 1e-2
CG_MOST = 200  # iterations per system
BLOCK_BYTES = 2**30  # limit for a copy of K_MM


def ato(change: Transition):
    """Adjust alpha towards the optimum (Wen et al. 2017, eq. 7 to 11; Karasuyama and Takeuchi 2009).

    The path ends when every point that enters satisfies its optimality condition, or no in-bound point is
    left to keep the sum. Then the variables of the leaving points become 0, and the points that enter move by
    one amount until the equality constraint holds.

    Notes
    -----
    With more than 150 points in T or 1,000 in M this is not the paper's path to the letter:

    - A step goes over many events: it ends where a quarter of the points of T satisfy their condition by T's
      and R's movement alone. Variables are cut off at their bounds, and events are processed after the step.
    - It ends when 5 % of the points of T are left, or after 20 steps. Those are mostly on their way to the
      bound, which from event to event leads through most of the path: all the way, to the next solution.
    - Systems are solved by conjugate gradients within the constraint, to a residual of 1 % of the right
      side, with 1 % of the mean diagonal added: two in-bound copies of one row with different labels make the
      system inconsistent, and would move without bound.

    In effect the leaving points still have most of their alphas when the path ends, and the solver has more
    left to do. From event to event next to nothing is left.

    With fewer points systems are solved by a Cholesky factor; singular ones, for which the paper takes the
    pseudo-inverse, as above.
    """
    path = Path(change)
    most = STEPS_PER_POINT * (change.enters.size + 10) if path.exact else LONG_STEPS
    while path.steps < most and path.step():
        pass
    theta = path.theta
    theta[change.leaves] = 0
    return Seed(change.feasible(theta, change.enters), path.steps, path.cg_iterations, path.cg_residual)


class Path:
    """The state along the path: variables, gradient and sets of points.

    `level` is the value of f on M. `moving` are the points of T, `shared` those of both training sets, and
    that have come from T, `tied` those of M. `barred` points have left M since T and R last moved, and do not
    join it before these move again. If `exact`, steps go from event to event, until `few` points of T are
    left.
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
        self.exact = change.enters.size <= MOST_ENTERING and np.count_nonzero(self.tied) <= MOST_TIED
        self.few = 0 if self.exact else FEW * change.enters.size
        self.steps = self.cg_iterations = 0
        self.cg_residual = 0.0
        self.stop_entering()

    def step(self):
        """Go to the next event, or over many events; return whether any movement is left."""
        if not self.tied.any() or np.count_nonzero(self.moving) <= self.few:
            return False
        aim = np.where(self.y > 0, self.hi, self.lo)
        direction = np.where(self.moving, aim - self.theta, 0.0)
        direction[self.leaving] = -self.theta[self.leaving]
        driven, tied = np.flatnonzero(direction), np.flatnonzero(self.tied)
        d_f = self.gram.product(driven, direction[driven])
        eta = 1.0
        if not self.exact:
            eta = self.long_step(d_f)
            direction, d_f = eta * direction, eta * d_f
        # The same system also corrects the drift of f on M and of the sum.
        pull = d_f[tied] + self.f[tied] - self.level
        direction[tied], d_level = self.follow(tied, pull, direction.sum() + self.theta.sum())
        d_f += self.gram.product(tied, direction[tied])
        if self.exact:
            eta = min(eta, self.to_bound(direction), self.to_level(d_f - d_level))
            direction, d_f, d_level = eta * direction, eta * d_f, eta * d_level
        self.level += d_level
        self.move(direction, d_f)
        self.barred &= eta == 0
        self.regroup(direction)
        self.steps += 1
        return eta < 1

    def long_step(self, d_f):
        """Return the eta at which a quarter of T satisfy their condition, if M and the level stay."""
        gap, rate = (self.y * (self.f - self.level))[self.moving], (self.y * d_f)[self.moving]
        events = np.divide(-gap, rate, out=np.full(gap.size, np.inf), where=rate > 0)
        k = events.size // 4
        return min(1.0, np.partition(events, k)[k])

    def move(self, change, d_f):
        """Change the variables, cut off at their bounds, and f; `d_f` belongs to the uncut change."""
        target = self.theta + change
        self.theta = np.clip(target, self.lo, self.hi)
        cut = self.theta - target
        over = np.flatnonzero(np.abs(cut) > SNAP * (self.hi - self.lo))
        self.f = self.f + d_f + self.gram.product(over, cut[over])

    def follow(self, tied, pull, total):
        """Return the change d of M, and d_level: ``K_MM d - d_level = -pull`` and ``sum(d) = -total``."""
        if self.exact:
            solution = solve_directly(self.gram.submatrix(tied, tied).astype(np.float64), pull, total)
            if solution is not None:
                return solution
        ridge = RIDGE * self.gram.diagonal[tied].mean()
        if tied.size**2 * self.gram.dtype.itemsize <= BLOCK_BYTES:
            K = self.gram.submatrix(tied, tied)

            def product(v):
                return K @ v.astype(K.dtype) + ridge * v
        else:

            def product(v):
                return self.gram.product(tied, v)[tied] + ridge * v

        unit = self.gram.diagonal.mean()
        d, d_level, iterations, residual = constrained_cg(product, pull, total, unit)
        self.cg_iterations += iterations
        self.cg_residual = max(self.cg_residual, residual)
        return d, d_level

    def to_bound(self, direction):
        """Return the eta at which the first point of M reaches a bound."""
        d, theta = direction[self.tied], self.theta[self.tied]
        room = np.where(d > 0, self.hi[self.tied] - theta, theta - self.lo[self.tied])
        with np.errstate(over="ignore"):
            return np.divide(room, np.abs(d), out=np.full(d.size, np.inf), where=d != 0).min()

    def to_level(self, d_gap):
        """Return the eta at which a point of T satisfies its condition, or a shared one violates its own."""
        gap = self.f - self.level
        side = np.where(self.moving, -self.y, self.side())
        margin = side * gap + np.where(self.moving, 0, self.slack)
        watched = (self.moving | self.outside()) & (side * d_gap < 0)
        with np.errstate(over="ignore"):  # a rate may be as small as a float can be
            return np.min(np.maximum(margin, 0)[watched] / np.abs(d_gap[watched]), initial=np.inf)

    def side(self):
        """Return the sign that ``f - level`` has to have at a bound."""
        return np.where(self.theta < self.hi, 1.0, -1.0)

    def outside(self):
        """Return which shared points at a bound may join M."""
        return self.shared & ~self.tied & ~self.barred

    def regroup(self, direction):
        """Update T, M and the shared points after a step."""
        near = SNAP * (self.hi - self.lo)
        at_lo = self.tied & (direction < 0) & (self.theta <= self.lo + near)
        at_hi = self.tied & (direction > 0) & (self.theta >= self.hi - near)
        self.theta = np.where(at_lo, self.lo, np.where(at_hi, self.hi, self.theta))
        self.tied &= ~(at_lo | at_hi)
        self.barred |= at_lo | at_hi
        self.tied |= self.outside() & (self.side() * (self.f - self.level) <= -self.slack * (1 - 1e-6))
        self.stop_entering()

    def stop_entering(self):
        """Stop the points that enter and satisfy their condition: in M where they are in-bound."""
        done = self.moving & (self.y * (self.f - self.level) >= -self.slack)
        self.moving &= ~done
        self.shared |= done
        self.tied |= done & (self.theta > self.lo) & (self.theta < self.hi)


def solve_directly(K, pull, total):
    """Return the solution (d, d_level) of ``K d - d_level = -pull``, ``sum(d) = -total``; None if singular.

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


def constrained_cg(product, pull, total, unit):
    """Solve the system by conjugate gradients on the vectors of one sum, from equal variables.

    ``product(v)`` is ``K @ v``, and `unit` a typical kernel value, which makes the sum comparable with the
    gradient. Return d, d_level, the number of iterations, and the residual relative to the right-hand side.
    """
    d = np.full(pull.size, -total / pull.size)
    force = -pull - product(d)
    r = force - force.mean()
    scale = max(np.linalg.norm(pull), abs(total) * unit, 1e-300)
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
