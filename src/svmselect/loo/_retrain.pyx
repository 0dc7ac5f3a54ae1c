"""Leave-one-out by retraining: Algorithms 2 and 3 of Franc, Laskov and Mueller (2008).

Design. ``G`` is the dual without point r, a copy of the full solution with alpha_r spread over the in-bound
SVs. ``H`` is the dual of the primal with the extra constraint f(x_r) = 0. Substituting b = -<w, phi(x_r)>
removes the threshold and translates the features to phi(x) - phi(x_r); in signed variables this is the
ordinary dual in which theta_r is free, has no linear term, and balances the sum: a coordinate step on k0(x_i,
x_j) = k(x_i, x_j) - k(x_r, x_i) - k(x_r, x_j) + k(x_r, x_r) is a step of the pair (i, r). So H starts warm
from the full solution, without touching a column.

With F the primal objective at G's alpha and its best threshold b, ``F < H`` proves by Theorem 1 and weak
duality that the sign of f(x_r) at (alpha, b) is that of the optimum without r: the point is certified.
"""

from libc.stdlib cimport free, malloc

import numpy as np

from svmselect.solver._smo cimport MVP, REACHED, Dual
from svmselect.solver._state cimport vec_at, vec_dot, vec_hinge, vec_pair_curvature, vec_update_gain
from svmselect.solver import _active_set
from svmselect.solver._smo import RULES

# F < H has to hold by more than the round-off of both, relative to their parts
cdef double MARGIN = 1e-10
cdef int MAX_TANGENTS = 60
# Steps that SMO alone may take for one point: at least this many, or a multiple of the square of the rows.
cdef long long SMO_STEPS = 20_000
cdef long long SMO_STEPS_PER_SQUARE = 10
# Costs in rounds of `retrain_briefly`: copying a solution, and for each in-bound SV the spreading of alpha
# over them; paths, in all and per point; the rounds before the two can be compared; and what a point is given
# in each sweep.
cdef double ROUNDS_PER_COPY = 4, ROUNDS_PER_INBOUND = 0.2
cdef double ROUNDS_OF_PATHS = 1500, ROUNDS_PER_PATH = 8
cdef double FIRST_ROUNDS = 150
SWEEPS = (64, 512)


cdef bint loss_below(Dual G, double limit, double *b) noexcept nogil:
    """Whether the total hinge loss is below a limit for some threshold; *b holds a first guess, then that
    threshold.

    The loss is convex and piecewise linear in b, so its tangents bound it from below: the search ends when a
    value is below the limit, or when the tangents on both sides of the minimum meet above it, after finitely
    many passes.
    """
    cdef double left, right, at = b[0]
    cdef double value, slope, left_value = 0, right_value = 0, left_slope = 0, right_slope = 0, reach = 1e-3
    cdef bint has_left = False, has_right = False
    cdef int _
    left = right = at
    for _ in range(MAX_TANGENTS):
        value = vec_hinge(G.n, G.f, G.lo, G.hi, at, &slope)
        if value < limit:
            b[0] = at
            return True
        if slope == 0:
            return False
        if slope < 0:
            left, left_value, left_slope, has_left = at, value, slope, True
        else:
            right, right_value, right_slope, has_right = at, value, slope, True
        if has_left and has_right:
            at = right_value - left_value + left_slope * left - right_slope * right
            at /= left_slope - right_slope
            if left_value + left_slope * (at - left) >= limit or not left < at < right:
                return False
        else:
            at = at + reach if has_left else at - reach
            reach *= 4
    return False


cdef int leave_out(Dual G, Dual full, Py_ssize_t r, double kept, Py_ssize_t *active) except -1 nogil:
    """Make G the full solution without r, or with no more than `kept` of alpha_r. What theta_r loses is
    spread in equal parts over the in-bound SVs (AVG seeding of DeCoste and Wagstaff 2000), the rest over
    every point with room where the in-bound SVs have none left."""
    cdef Py_ssize_t t, k, count
    cdef double rest = full.theta[r] - min(max(full.theta[r], -kept), kept)
    cdef double share, d, tiny = 1e-15 * abs(full.theta[r])
    cdef bint any_movable = False, can_grow, can_shrink
    G.copy_from(full)
    if rest != 0:
        G.move(r, -rest)
    G.set_bounds(r, max(full.lo[r], -kept), min(full.hi[r], kept))
    while abs(rest) > tiny:
        count = 0
        for t in range(G.m):
            can_grow, can_shrink = G.theta[t] < G.hi[t], G.theta[t] > G.lo[t]
            if (can_grow and can_shrink) or (any_movable and (can_grow if rest > 0 else can_shrink)):
                active[count] = t
                count += 1
        if count == 0:
            if any_movable:
                break
            any_movable = True
            continue
        share = rest / count
        for k in range(count):
            t = active[k]
            d = min(max(share, G.lo[t] - G.theta[t]), G.hi[t] - G.theta[t])
            G.move(t, d)
            rest -= d
    G.select()
    return 0


cdef class ConstrainedDual(Dual):
    """H: the dual of the primal with f(x_r) = 0, for one left-out point r at a time."""

    cdef object _weights
    cdef double *weight     # 1 / k0(x_t, x_t)
    cdef Py_ssize_t r
    cdef Py_ssize_t next    # coordinate of the next step, -1 at the optimum
    cdef double level       # (K theta)_r

    def __cinit__(self, gram, y):
        cdef double[::1] weights = np.zeros(self.n)
        self._weights = weights
        self.weight = &weights[0]

    cdef int start(self, Dual full, Py_ssize_t r) except -1 nogil:
        cdef const void *Kr = self.columns.again(r)
        cdef bint single = self.columns.single
        self.copy_from(full)
        # theta_r is free but never chosen by itself: it balances every step
        self.lo[r] = 0
        self.hi[r] = 0
        self.exclude(r)
        self.r = r
        self.level = self.f[r] + self.p[r]
        vec_pair_curvature(single, self.n, self.weight, self.diagonal[r], Kr, self.diagonal,
                           self.least_curvature)
        self.next = vec_update_gain(single, self.n, self.f, 0, Kr, Kr, self.level, self.weight, self.up,
                                    self.low)
        return 0

    cdef int coordinate_step(self) except -1 nogil:
        """One step at the coordinate with the largest gain before clipping."""
        cdef Py_ssize_t t = self.next, r = self.r
        cdef bint single = self.columns.single
        cdef const void *Kt
        cdef const void *Kr
        cdef double d
        if t < 0:
            return 0
        Kt = self.columns.get(t)
        Kr = self.columns.again(r)
        d = (self.level - self.f[t]) * self.weight[t]
        d = min(max(d, self.lo[t] - self.theta[t]), self.hi[t] - self.theta[t])
        self.set_theta(t, self.theta[t] + d)
        self.theta[r] = self.theta[r] - d
        self.level += d * (vec_at(single, Kt, r) - self.diagonal[r])
        self.next = vec_update_gain(single, self.n, self.f, d, Kt, Kr, self.level, self.weight, self.up,
                                    self.low)
        return 0

    cdef double bound(self) noexcept nogil:
        """H(beta): theta_r has no linear term."""
        return self.value() - self.p[self.r] * self.theta[self.r]


cdef bint sign_is_certain(Dual G, ConstrainedDual H, double kept, double *b) noexcept nogil:
    """Whether F < H; then *b is the threshold that F was taken at. Both have `kept` times the hinge loss of
    r, which is 1 where f(x_r) = 0."""
    cdef double bound = H.bound() + kept, value = G.value(), quadratic
    if bound <= value:   # F is never below G's dual value
        return False
    quadratic = 0.5 * (vec_dot(G.n, G.theta, G.f) + vec_dot(G.n, G.theta, G.p))
    b[0] = -0.5 * (G.pair.f_i + G.pair.f_j)
    return loss_below(G, bound - quadratic - MARGIN * (abs(bound) + abs(value) + abs(quadratic)), b)


cdef int certify(Dual G, ConstrainedDual H, double kept, int rule, double tol, long long max_iter,
                 double *b) except -1 nogil:
    """Algorithm 3 from a seeded G and a started H: 2 certified, 1 at the KKT tolerance, 0 out of steps.

    F < H is looked at on rounds that grow by an eighth, so that the looks cost a fixed share and at most an
    eighth of the rounds is wasted.
    """
    cdef long long rounds = 0, next_look = 1
    while G.gap() > tol:
        if rounds >= max_iter:
            return 0
        if rounds > 0 and rounds % G.wait() == 0:
            with gil:
                G.refresh()
            if G.stuck():
                return 0
        G.step(rule)
        H.coordinate_step()
        rounds += 1
        if rounds == next_look:
            next_look += 1 + rounds // 8
            if sign_is_certain(G, H, kept, b):
                return 2
    return 1


cdef long long most_alone(Py_ssize_t m, long long max_iter) noexcept nogil:
    """Steps of SMO alone before it is taken to creep."""
    return min(max_iter, SMO_STEPS + SMO_STEPS_PER_SQUARE * m * m)


def solve_in_turn(Dual dual, str working_set, double tol, long long max_iter):
    """Solve a dual by SMO alone and, where that creeps, with the active-set method."""
    cdef long long alone = most_alone(dual.m, max_iter)
    if not dual.solve(working_set, tol, alone):
        _active_set.solve(dual, working_set, tol, max_iter - alone)


def retrain_briefly(Dual full, const Py_ssize_t[::1] points, const double[::1] kept, double tol,
                    Py_ssize_t inbound):
    """Decision values of left-out points that few rounds of Algorithm 3 decide.

    It takes a small part of what the start of paths takes, where it decides all points, or nearly all. It is
    not tried where they are many, or the Gram matrix is not stored in float64: the proof is of a kernel that
    is positive semi-definite.

    Parameters
    ----------
    full : Dual
        The solved problem with all points.
    points : ndarray of intp, shape (n,)
    kept : ndarray, shape (n,)
        The bound of alpha_r that is left when a point goes; see `unlearn`.
    tol : float
        The KKT gap to which a point counts as solved: that of `full`, or so.
    inbound : int
        In-bound SVs of `full`.

    Returns
    -------
    decision : ndarray, shape (n,)
    outcome : ndarray of intp, shape (n,)
        2 certified, 1 solved to the tolerance, 0 neither.
    n_iter : int
    """
    cdef Py_ssize_t n = points.shape[0], k, r, decided = 0
    cdef long long n_iter = 0, rounds
    cdef double b, spent = 0, lead = ROUNDS_PER_COPY + ROUNDS_PER_INBOUND * inbound
    cdef double worth = ROUNDS_OF_PATHS / max(n, 1) + ROUNDS_PER_PATH, allowed = FIRST_ROUNDS
    decision_array, outcome_array = np.empty(n), np.zeros(n, dtype=np.intp)
    cdef double[::1] decision = decision_array
    cdef Py_ssize_t[::1] outcome = outcome_array
    if n == 0 or lead > worth or not full.columns.full or full.columns.single:
        return decision_array, outcome_array, 0
    cdef Dual G = Dual(full.gram, full.y)
    cdef ConstrainedDual H = ConstrainedDual(full.gram, full.y)
    cdef Py_ssize_t[::1] active = np.empty(full.m, dtype=np.intp)
    for rounds in SWEEPS:
        with nogil:
            for k in range(n):
                if outcome[k] != 0:
                    continue
                if spent > allowed:
                    break
                r = points[k]
                leave_out(G, full, r, kept[k], &active[0])
                H.start(full, r)
                outcome[k] = certify(G, H, kept[k], MVP, tol, rounds, &b)
                n_iter += G.n_iter
                spent += lead + G.n_iter
                if outcome[k] == 1:
                    b = G.threshold()
                    outcome[k] = G.at(tol) and not G.blurred(tol)
                if outcome[k] != 0:
                    decision[k] = G.f[r] + G.p[r] + b
                    decided += 1
                    allowed = max(allowed, worth * decided)
        if spent > allowed:
            break
        allowed = worth * n
    return decision_array, outcome_array, n_iter


def retrain(Dual full, Py_ssize_t[::1] points, str working_set, double tol, long long max_iter, bint proposed,
            Py_ssize_t efficiency_test, progress, bint active_set=True):
    """Decision values of left-out points.

    Parameters
    ----------
    full : Dual
        The solved problem with all points.
    points : ndarray of intp, shape (n,)
    working_set : str
    tol : float
    max_iter : int
        The largest number of steps per point.
    proposed : bool
        Algorithm 3 instead of Algorithm 2.
    efficiency_test : int
        After this many points, go on with Algorithm 2 if Algorithm 3 certified less than half of them.
    progress : callable or None
        Called with 1 after each point.
    active_set : bool
        Whether the active-set method takes over where SMO creeps.

    Returns
    -------
    decision : ndarray, shape (n,)
    outcome : ndarray of intp, shape (n,)
        2 certified, 1 solved to the tolerance, 0 out of steps.
    n_iter : int
    """
    cdef Py_ssize_t n = points.shape[0], k, r, certified = 0
    cdef int rule = RULES[working_set]
    cdef long long n_iter = 0
    cdef double b
    cdef bint report = progress is not None
    cdef long long alone = most_alone(full.m, max_iter) if active_set else max_iter
    decision_array = np.empty(n)
    outcome_array = np.empty(n, dtype=np.intp)
    cdef double[::1] decision = decision_array
    cdef Py_ssize_t[::1] outcome = outcome_array
    cdef Dual G = Dual(full.gram, full.y)
    cdef ConstrainedDual H = ConstrainedDual(full.gram, full.y)
    cdef Py_ssize_t *active = <Py_ssize_t *> malloc(full.m * sizeof(Py_ssize_t))
    if active == NULL:
        raise MemoryError
    try:
        with nogil:
            for k in range(n):
                r = points[k]
                leave_out(G, full, r, 0, active)
                if proposed and k == efficiency_test and 2 * certified < k:
                    proposed = False
                if proposed:
                    H.start(full, r)
                    outcome[k] = certify(G, H, 0, rule, tol, alone, &b)
                    certified += outcome[k] == 2
                else:
                    outcome[k] = G.run_on(rule, tol, alone) == REACHED
                if outcome[k] != 2:
                    if not active_set:
                        outcome[k] = G.at(tol)
                    elif not outcome[k] or G.blurred(tol) or not G.at(tol):
                        # steps creep, or their round-off hides the gap, or all of float64 does
                        with gil:
                            G.refresh()
                            outcome[k] = _active_set.solve(G, working_set, tol, max_iter - G.n_iter)
                    b = G.threshold()
                decision[k] = G.f[r] + G.p[r] + b
                n_iter += G.n_iter
                if report:
                    with gil:
                        progress(1)
    finally:
        free(active)
    return decision_array, outcome_array, n_iter
