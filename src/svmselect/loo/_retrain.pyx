"""Leave-one-out by retraining: Algorithms 2 and 3 of Franc, Laskov and Mueller (2008).

Design. ``G`` is the dual without point r, a copy of the full solution with alpha_r spread over the in-bound
SVs. ``H`` is the dual of the primal with the extra constraint f(x_r) = 0. Substituting b = -<w, phi(x_r)>
removes the threshold and translates the features to phi(x) - phi(x_r). In signed variables this is the
ordinary dual in which theta_r is free, has no linear term, and balances the sum. A coordinate step on k0(x_i,
x_j) = k(x_i, x_j) - k(x_r, x_i) - k(x_r, x_j) + k(x_r, x_r) is a step of the pair (i, r). So H starts at the
full solution, without touching a column.

With F the primal objective at G's alpha and its best threshold b, ``F < H`` proves by Theorem 1 and weak
duality that the sign of f(x_r) at (alpha, b) is that of the optimum without r: the point is certified.
"""

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
# Costs in rounds of `retrain_briefly`: of copying a solution, and per in-bound SV of spreading alpha over
# them; of paths, in all and per point; the rounds that are spent before the two are compared; and the most
# rounds of a point in each sweep.
cdef double ROUNDS_PER_COPY = 4, ROUNDS_PER_INBOUND = 0.2
cdef double ROUNDS_OF_PATHS = 1500, ROUNDS_PER_PATH = 8
cdef double FIRST_ROUNDS = 150
SWEEPS = (64, 512)


cdef bint loss_below(Dual G, double limit, double *b) noexcept nogil:
    """Return whether the total hinge loss is below a limit for some threshold.

    *b is a first guess, and then that threshold. The loss is convex and piecewise linear in b, so its
    tangents bound it from below. The search ends when a value is below the limit, or when the tangents on
    both sides of the minimum meet above it, after finitely many passes.
    """
    cdef double left, right, trial = b[0]
    cdef double value, slope, left_value = 0, right_value = 0, left_slope = 0, right_slope = 0, reach = 1e-3
    cdef bint has_left = False, has_right = False
    cdef int _
    left = right = trial
    for _ in range(MAX_TANGENTS):
        # value = sum(max(-hi * (f + trial), -lo * (f + trial))), and its slope
        value = vec_hinge(G.n, G.f, G.lo, G.hi, trial, &slope)
        if value < limit:
            b[0] = trial
            return True
        if slope == 0:
            return False
        if slope < 0:
            left, left_value, left_slope, has_left = trial, value, slope, True
        else:
            right, right_value, right_slope, has_right = trial, value, slope, True
        if has_left and has_right:
            # the crossing of the two tangents
            trial = right_value - left_value + left_slope * left - right_slope * right
            trial /= left_slope - right_slope
            if left_value + left_slope * (trial - left) >= limit or not left < trial < right:
                return False
        else:
            trial = trial + reach if has_left else trial - reach
            reach *= 4
    return False


cdef int leave_out(Dual G, Dual full, Py_ssize_t r, double bound_left,
                   Py_ssize_t *active) except -1 nogil:
    """Copy the full solution to G without r, or with at most `bound_left` of alpha_r.

    The part of theta_r that is taken away goes to other points: as published, to the rows in their order.
    """
    cdef double rest = full.theta[r] - min(max(full.theta[r], -bound_left), bound_left)
    G.copy_from(full)
    if rest != 0:
        G.move(r, -rest)
    G.set_bounds(r, max(full.lo[r], -bound_left), min(full.hi[r], bound_left))
    if G.as_published:
        hand_to_rows(G, rest)
    else:
        spread(G, rest, active)
    G.select()
    return 0


cdef int hand_to_rows(Dual G, double rest) except -1 nogil:
    """Add `rest` to the variables in their order, to each as much as its box allows."""
    cdef Py_ssize_t t
    cdef double d
    for t in range(G.m):
        d = min(max(rest, G.lo[t] - G.theta[t]), G.hi[t] - G.theta[t])
        if d != 0:
            G.move(t, d)
            rest -= d
        if rest == 0:
            break
    return 0


cdef int spread(Dual G, double rest, Py_ssize_t *active) except -1 nogil:
    """Add `rest` to the in-bound variables in equal parts (AVG seeding of DeCoste and Wagstaff 2000).

    What they cannot take goes to every variable that can move. `active` has room for m numbers.
    """
    cdef Py_ssize_t t, k, count
    cdef double share, d, tiny = 1e-15 * abs(rest)
    cdef bint any_movable = False, can_grow, can_shrink
    while abs(rest) > tiny:
        # the points that take part in this round
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
    return 0


cdef class ConstrainedDual(Dual):
    """H: the dual of the primal with f(x_r) = 0, for one left-out point r at a time."""

    cdef object _weights
    cdef double *weight     # 1 / k0(x_t, x_t)
    cdef Py_ssize_t r
    cdef Py_ssize_t next    # the coordinate of the next step, -1 at the optimum
    cdef double level       # (K theta)_r

    def __cinit__(self, gram, y):
        cdef double[::1] weights = np.zeros(self.n)
        self._weights = weights
        self.weight = &weights[0]

    cdef int start(self, Dual full, Py_ssize_t r) except -1 nogil:
        """Start from the full solution, for the left-out point r."""
        cdef const void *Kr = self.columns.again(r)
        cdef bint single = self.columns.single
        self.copy_from(full)
        # theta_r is free but never chosen by itself, since it balances every step
        self.lo[r] = 0
        self.hi[r] = 0
        self.exclude(r)
        self.r = r
        self.level = self.f[r] + self.p[r]
        # weight = 1 / (diagonal + K[r, r] - 2 K[r]);  next = argmax((level - f)^2 * weight)
        vec_pair_curvature(single, self.n, self.weight, self.diagonal[r], Kr, self.diagonal,
                           self.least_curvature)
        self.next = vec_update_gain(single, self.n, self.f, 0, Kr, Kr, self.level, self.weight, self.up,
                                    self.low)
        return 0

    cdef int coordinate_step(self) except -1 nogil:
        """Take one step at the coordinate with the largest gain before clipping."""
        cdef Py_ssize_t t = self.next, r = self.r
        cdef bint single = self.columns.single
        cdef const void *Kt
        cdef const void *Kr
        cdef double d
        if t < 0:
            return 0
        Kt = self.columns.get(t)
        Kr = self.columns.again(r)
        # d = (level - f[t]) / k0(x_t, x_t), clipped to the box;  theta[t] += d, theta[r] -= d
        d = (self.level - self.f[t]) * self.weight[t]
        d = min(max(d, self.lo[t] - self.theta[t]), self.hi[t] - self.theta[t])
        self.set_theta(t, self.theta[t] + d)
        self.theta[r] = self.theta[r] - d
        # level += d * (K[t, r] - K[r, r]);  f += d * (K[t] - K[r]), and the next coordinate
        self.level += d * (vec_at(single, Kt, r) - self.diagonal[r])
        self.next = vec_update_gain(single, self.n, self.f, d, Kt, Kr, self.level, self.weight, self.up,
                                    self.low)
        return 0

    cdef double bound(self) noexcept nogil:
        """Return the dual value H(beta), in which theta_r has no linear term."""
        return self.value() - self.p[self.r] * self.theta[self.r]


cdef bint sign_is_certain(Dual G, ConstrainedDual H, double bound_left, double *b) noexcept nogil:
    """Return whether F < H; then *b is the threshold of F.

    Both contain `bound_left` times the hinge loss of r, which is 1 where f(x_r) = 0.
    """
    cdef double bound = H.bound() + bound_left, value = G.value(), quadratic
    if bound <= value:   # F is never below G's dual value
        return False
    # quadratic = 0.5 * theta @ K @ theta, since K @ theta = f + p
    quadratic = 0.5 * (vec_dot(G.n, G.theta, G.f) + vec_dot(G.n, G.theta, G.p))
    b[0] = -0.5 * (G.pair.f_i + G.pair.f_j)
    return loss_below(G, bound - quadratic - MARGIN * (abs(bound) + abs(value) + abs(quadratic)), b)


cdef int certify(Dual G, ConstrainedDual H, double bound_left, int rule, double tol, long long max_iter,
                 double *b) except -1 nogil:
    """Run Algorithm 3 on a seeded G and a started H; return 2 if the sign is certified, 1 at the KKT
    tolerance, 0 out of steps.

    F < H is checked after numbers of rounds that grow by an eighth, so that the checks cost a fixed share and
    at most an eighth of the rounds is wasted.
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
            if sign_is_certain(G, H, bound_left, b):
                return 2
    return 1


cdef long long most_alone(Py_ssize_t m, long long max_iter) noexcept nogil:
    """Return the number of steps after which SMO alone counts as creeping."""
    return min(max_iter, SMO_STEPS + SMO_STEPS_PER_SQUARE * m * m)


def solve_in_turn(Dual dual, str working_set, double tol, long long max_iter):
    """Solve a dual problem by SMO alone and, if that creeps, with the active-set method."""
    cdef long long alone = most_alone(dual.m, max_iter)
    if not dual.solve(working_set, tol, alone):
        _active_set.solve(dual, working_set, tol, max_iter - alone)


def retrain_briefly(Dual full, const Py_ssize_t[::1] points, const double[::1] bounds_left, double tol,
                    Py_ssize_t inbound):
    """Compute decision values of the left-out points that few rounds of Algorithm 3 decide.

    If it decides nearly all points, it costs a small part of the start of paths. It is not tried with many
    in-bound SVs, nor where the Gram matrix is not stored in float64: the proof needs a kernel matrix that is
    positive semi-definite.

    `full` is the solved problem with all points, which has `inbound` in-bound SVs; for `bounds_left` see
    `unlearn_points`. A point counts as solved at a KKT gap of `tol`, about that of `full`. The outcome is 2
    for a certified point, 1 for one that is solved to the tolerance, 0 for neither. The third result is the
    number of steps.
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
                # a few rounds of Algorithm 3 on the problem without r
                r = points[k]
                leave_out(G, full, r, bounds_left[k], &active[0])
                H.start(full, r)
                outcome[k] = certify(G, H, bounds_left[k], MVP, tol, rounds, &b)
                n_iter += G.n_iter
                spent += lead + G.n_iter
                if outcome[k] == 1:
                    b = G.threshold()
                    outcome[k] = G.solved_to(tol) and not G.blurred(tol)
                # each decided point pays for more rounds
                if outcome[k] != 0:
                    decision[k] = G.f[r] + G.p[r] + b
                    decided += 1
                    allowed = max(allowed, worth * decided)
        if spent > allowed:
            break
        allowed = worth * n
    return decision_array, outcome_array, n_iter


def retrain(Dual full, Py_ssize_t[::1] points, str working_set, double tol, long long max_iter, bint proposed,
            Py_ssize_t efficiency_test, progress):
    """Compute decision values of left-out points by retraining; see `retrain_briefly` for the results.

    Where `full` is solved as published, so are they. Else the active-set method takes over where SMO creeps.
    Each point takes at most `max_iter` steps, and has the outcome 0 if they run out. Algorithm 3 takes the
    place of Algorithm 2 if `proposed`, unless after `efficiency_test` points it has certified less than half
    of them. `progress` is called with 1 after each point.
    """
    cdef Py_ssize_t n = points.shape[0], k, r, certified = 0
    cdef int rule = RULES[working_set]
    cdef long long n_iter = 0
    cdef double b
    cdef bint report = progress is not None
    cdef bint as_published = full.as_published
    cdef long long alone = max_iter if as_published else most_alone(full.m, max_iter)
    decision_array = np.empty(n)
    outcome_array = np.empty(n, dtype=np.intp)
    cdef double[::1] decision = decision_array
    cdef Py_ssize_t[::1] outcome = outcome_array
    cdef Dual G = Dual(full.gram, full.y)
    cdef ConstrainedDual H = ConstrainedDual(full.gram, full.y)
    cdef Py_ssize_t[::1] active = np.empty(full.m, dtype=np.intp)
    G.as_published = as_published
    with nogil:
        for k in range(n):
            # 1) the problem without r, from the full solution; Algorithm 3 stays if it certifies enough
            r = points[k]
            leave_out(G, full, r, 0, &active[0])
            if proposed and k == efficiency_test and 2 * certified < k:
                proposed = False
            # 2) Algorithm 3, which may certify the sign, or Algorithm 2, SMO to the tolerance
            if proposed:
                H.start(full, r)
                outcome[k] = certify(G, H, 0, rule, tol, alone, &b)
                certified += outcome[k] == 2
            else:
                outcome[k] = G.run_on(rule, tol, alone) == REACHED
            # 3) the active-set method where SMO has not finished, then the threshold at the optimum
            if outcome[k] != 2:
                if as_published:
                    outcome[k] = G.solved_to(tol)
                elif not outcome[k] or G.blurred(tol) or not G.solved_to(tol):
                    # steps creep, or round-off hides the gap
                    with gil:
                        G.refresh()
                        outcome[k] = _active_set.solve(G, working_set, tol, max_iter - G.n_iter)
                b = G.threshold()
            decision[k] = G.f[r] + G.p[r] + b
            n_iter += G.n_iter
            if report:
                with gil:
                    progress(1)
    return decision_array, outcome_array, n_iter
