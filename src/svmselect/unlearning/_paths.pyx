"""Paths of optimal solutions along which one point, or all points of a fold, lose their alpha.

Design. Write ``g = f + b`` (see solver/_state), so that ``g_t = 0`` at the in-bound points S. While theta_r
moves, or theta of several points in proportion to what it was, and every other theta stays optimal, theta_S,
b and all g move linearly, until a point reaches a bound (leaves S) or an index of the rest reaches ``g_t =
0`` (enters S): Cauwenberghs and Poggio (2000), backwards. All these paths start at one solution, and most of
them meet few events, so they share the linear algebra of that solution. Column t of its *tableau* (the
principal pivot transform of the bordered Gram matrix on b and S) holds the rates of all points per unit of
theta_t (t not in S) or of g_t (t in S):

    T_BB = R = inverse of [0 1'; 1 K_SS],   T_NB = A R,   T_BN = -R A',   T_NN = K_NN - A R A',
    A = [1 K_NS].

In-bound points that depend linearly on S (duplicates, more points than dimensions) stay outside S with theta
fixed. Their g stays 0 until a point of S on which they depend leaves: then they enter at once.

Where r stands for several identical points and only one is left out, theta_r is driven to the bound of the
remaining ones. The path ends there, since y_r g_r only falls on the way.

A path that has met the events E (points that have entered or left) adds multiples of the columns of E, chosen
so that g of the points that entered and theta of the points that left stay where they are: a linear system of
the size of E (`System`). Driven points of S leave at the beginning, and their theta moves as it is driven. No
matrix of the size of S is copied or updated.

Of an epsilon-SVR, g is that of the side of each row (see solver/_state). A row with theta_t = 0 has g between
0, where it enters S on its side, and the tube's width away from 0, where it turns and enters on the other
side.

Round-off grows along a path, so its end is checked. The end of a single point's path goes into an `Ends`,
which _certify compares with the Gram matrix. The variables at the end of a fold's path are the start of a
solver, whose gradient is computed from the Gram matrix.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs, frexp, ldexp
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from svmselect.solver._state cimport VEC_OUT, vec_axpy
from svmselect.unlearning._system cimport System

from svmselect.threads import check_interrupted
from svmselect.unlearning._certify import SLACK

cdef extern from "solver/_vec.h" nogil:
    Py_ssize_t vec_first_hit(Py_ssize_t, const double *, const double *, const double *, const double *,
                             const double *, double *)

MAX_OPEN = 64   # open events of one left-out point, at most: the size of its system
# This many columns of the tableau are computed together, or more while they are short.
BATCH_COLUMNS = 32
BATCH_VALUES = 20_000
cdef Py_ssize_t BETWEEN_SIGNALS = 2**22  # kernel values of the problems between two looks for Ctrl-C
# A remaining length of a path, or an imbalance, below this share of what is driven counts as 0.
cdef double NOTHING = SLACK
# Relative to the largest theta, the sum of theta may be off by this at the end of a path.
cdef double UNNOTICED = 1e-3 * SLACK

cpdef enum Outcome:     # how a path ended
    UNDECIDED = 0
    REACHED = 1
    CERTAIN = 2


cdef class TableauColumns:
    """Columns of a tableau, computed when a path first meets their point.

    Points that the solution has close to an event are likely to be met first.
    """

    cdef object tableau
    cdef Py_ssize_t m, s
    cdef double **columns       # NULL until a path first meets their point
    cdef Py_ssize_t n_columns
    cdef object nearest         # points, those likely to be met first

    def __cinit__(self, tableau, theta, g, lo, hi, *_, **__):
        self.tableau = tableau
        self.m, self.s = theta.size, tableau.s
        self.columns = <double **> calloc(self.m, sizeof(double *))
        if self.columns == NULL:
            raise MemoryError
        to_bound = np.minimum(theta - lo, hi - theta) / np.maximum(hi - lo, 1e-300)
        self.nearest = np.argsort(np.where(np.arange(self.m) < self.s, to_bound, np.abs(g)))

    def __dealloc__(self):
        if self.columns != NULL:
            self.drop_columns()
            free(self.columns)

    cpdef void drop_columns(self) noexcept:
        """Free the memory of all columns."""
        cdef Py_ssize_t t
        for t in range(self.m):
            free(self.columns[t])
            self.columns[t] = NULL
        self.n_columns = 0

    def keep(self, const Py_ssize_t[::1] points, const double[:, ::1] values):
        """Copy columns of the tableau, shape (n, m), to the store."""
        cdef Py_ssize_t k, t
        for k in range(points.shape[0]):
            t = points[k]
            if self.columns[t] == NULL:
                self.columns[t] = <double *> malloc(self.m * sizeof(double))
                if self.columns[t] == NULL:
                    raise MemoryError
                self.n_columns += 1
            memcpy(self.columns[t], &values[k, 0], self.m * sizeof(double))

    cdef const double *column(self, Py_ssize_t t) except NULL nogil:
        """Return column t of the tableau."""
        if self.columns[t] == NULL:
            with gil:
                self.compute(t)
        return self.columns[t]

    cdef int compute(self, Py_ssize_t t) except -1:
        """Compute column t and those of points that are likely to be met next."""
        missing = [u for u in self.nearest.tolist() if self.columns[<Py_ssize_t> u] == NULL]
        # paths that have met few points get a small batch
        count = min(self.n_columns, max(BATCH_COLUMNS, BATCH_VALUES // self.m))
        points = np.unique([t, *missing[:count]])
        self.nearest = np.array(missing[count:])
        x, b, _ = self.tableau.response(points)
        self.keep(points, self.tableau.columns(points, x, b))
        return 0


cdef class Path(TableauColumns):
    """The current path of optimal solutions; every path starts at the same solution.

    The solution, whose g = ``f + b`` paths take for 0 in S, and the boxes are in the tableau's order.
    `g_slack` is the round-off allowed to g, and a path has at most `most_open` open events.
    """

    cdef readonly double[::1] theta_slack
    cdef double[::1] theta, lo, hi, g_slack
    # For every point: the coordinate z that moves (theta in S, g outside), its bounds, the round-off allowed
    # to it, its rate, and theta of the points outside S. start_* have the values at the solution.
    cdef double[::1] start_z, start_least, start_most, start_slack
    cdef double[::1] ignored_g      # g of the solution within its gap, which paths take for 0
    cdef double[::1] z, least, most, slack, rate, fixed_theta
    # The root of a typical kernel value, a power of two: the units of a path's system.
    cdef double root
    # How far theta_r could go on, and what was left of alpha_r, where the last path ended; see Ends.
    cdef double reach, remaining
    # The driven points, the rate of their theta, and the rate of every point while no event is open.
    # Of regressions: the width of the tube, and the rows that are not on the side where they started.
    cdef double tube
    cdef char[::1] turned
    cdef bint any_turned
    cdef char[::1] driven
    cdef double[::1] driven_rate, start_rate
    cdef System system
    cdef Py_ssize_t[::1] events     # the open ones
    cdef Py_ssize_t n_open
    cdef char[::1] start_inside, inside     # in S
    cdef readonly long long n_events

    def __cinit__(self, tableau, theta, g, lo, hi, g_slack, Py_ssize_t most_open=MAX_OPEN, *_):
        cdef int exponent
        self.theta, self.lo, self.hi = theta, lo, hi
        inside = np.arange(self.m) < self.s
        self.theta_slack = SLACK * np.minimum(hi - lo, np.abs(theta).max())
        self.g_slack = g_slack
        # root = 2^(e // 2) for a largest K_tt between 2^(e - 1) and 2^e
        frexp(max(tableau.diagonal.max(), 1e-300), &exponent)
        self.root = ldexp(1, exponent >> 1)
        self.start_inside = inside.astype(np.int8)
        # g <= 0 where theta cannot grow, g >= 0 where it cannot shrink
        self.start_least = np.where(inside, lo, np.where(theta < hi, 0, -VEC_OUT))
        self.start_most = np.where(inside, hi, np.where(theta > lo, 0, VEC_OUT))
        # A g on the wrong side of 0, by less than the gap of the solution, is no event.
        self.start_z = np.clip(np.where(inside, theta, g), self.start_least, self.start_most)
        self.ignored_g = np.where(inside, g, g - self.start_z)
        self.start_slack = np.where(inside, self.theta_slack, g_slack)
        self.z, self.least, self.most, self.slack, self.rate, self.fixed_theta = np.empty((6, self.m))
        self.inside = np.empty(self.m, dtype=np.int8)
        self.driven = np.zeros(self.m, dtype=np.int8)
        self.driven_rate, self.start_rate = np.zeros((2, self.m))
        self.system = System(most_open)
        self.events = np.empty(most_open, dtype=np.intp)
        self.n_events = 0
        self.tube, self.any_turned = VEC_OUT, False

    def open_tube(self, double tube):
        """Let g of rows with theta_t = 0 lie within a tube; of a regression, called before the first path."""
        cdef Py_ssize_t t
        self.tube = tube
        # rows that turn exchange their bounds, which are the caller's
        self.lo, self.hi = np.array(self.lo), np.array(self.hi)
        self.turned = np.zeros(self.m, dtype=np.int8)
        for t in range(self.m):
            if not self.start_inside[t] and self.theta[t] == 0 and self.lo[t] < self.hi[t]:
                if self.hi[t] > 0:
                    self.start_most[t] = tube
                else:
                    self.start_least[t] = -tube
                value = self.start_z[t] + self.ignored_g[t]
                self.start_z[t] = min(max(value, self.start_least[t]), self.start_most[t])
                self.ignored_g[t] = value - self.start_z[t]

    cdef void turn(self, Py_ssize_t t) noexcept nogil:
        """Turn a row with theta_t = 0, whose g has crossed the tube, to the other side."""
        self.lo[t], self.hi[t] = 0.0 - self.hi[t], 0.0 - self.lo[t]
        self.turned[t] = not self.turned[t]
        self.any_turned = True

    cdef double turned_by(self, Py_ssize_t t) noexcept nogil:
        """Return what to add to g of row t, so that it is that of the side on which the row started."""
        if not self.any_turned or not self.turned[t]:
            return 0
        return -self.tube if self.hi[t] > 0 else self.tube

    cdef void copy_theta(self, double *theta) noexcept nogil:
        """Copy the variables at the end of the path."""
        cdef Py_ssize_t t
        # theta = clip(where(inside, z, fixed_theta), lo, hi)
        for t in range(self.m):
            theta[t] = min(max(self.z[t] if self.inside[t] else self.fixed_theta[t], self.lo[t]), self.hi[t])

    cdef void begin(self) noexcept nogil:
        """Return to the solution, with no point driven and no event open."""
        cdef size_t size = self.m * sizeof(double)
        memcpy(&self.z[0], &self.start_z[0], size)
        memcpy(&self.least[0], &self.start_least[0], size)
        memcpy(&self.most[0], &self.start_most[0], size)
        memcpy(&self.slack[0], &self.start_slack[0], size)
        memcpy(&self.inside[0], &self.start_inside[0], self.m)
        memcpy(&self.fixed_theta[0], &self.theta[0], size)
        memset(&self.driven_rate[0], 0, size)
        memset(&self.driven[0], 0, self.m)
        self.n_open = 0
        self.system.clear()
        cdef Py_ssize_t t
        if self.any_turned:
            for t in range(self.m):
                if self.turned[t]:
                    self.turn(t)
            self.any_turned = False

    cdef int release(self, Py_ssize_t n, const Py_ssize_t *points) except -1 nogil:
        """Take the driven points out of S, their g without bounds; return whether the system has room."""
        cdef Py_ssize_t k, t
        for k in range(n):
            t = points[k]
            self.least[t], self.most[t] = -VEC_OUT, VEC_OUT
            if self.inside[t]:
                self.z[t] = 0
                self.inside[t] = 0
                if not self.open(t, n == 1):
                    return False
        return True

    cdef int open(self, Py_ssize_t t, bint update) except -1 nogil:
        """Add the event of point t to the system; return whether there was room for it."""
        cdef Py_ssize_t i, n = self.n_open
        cdef const double *T
        cdef double unit, sign
        if n == self.events.shape[0]:
            return False
        T = self.column(t)
        self.events[n] = t
        unit = self.unit(t)
        # the new row: T[events, t], in units of the system, rows of points that entered negated
        for i in range(n + 1):
            sign = 1 if self.start_inside[self.events[i]] else -1
            self.system.right[i] = sign * unit * self.unit(self.events[i]) * T[self.events[i]]
        self.system.add(update)
        self.n_open += 1
        return True

    cdef double unit(self, Py_ssize_t t) noexcept nogil:
        """Return the unit of t's row of the system, in which g is of the size of 1 where theta is."""
        return self.root if self.start_inside[t] else 1 / self.root

    cdef int follow(self, Py_ssize_t r, double y_r, double remaining, double least, Py_ssize_t most_events,
                    bint stop) except -1 nogil:
        """Follow the path until at most `least` of the length `remaining` is left; return its Outcome.

        r and y_r are those of a lone driven point, whose sign may be certain earlier; see `PointPaths.walk`.
        """
        cdef double step, total = 0, size = 0
        cdef Py_ssize_t n_inside = 0, t, n = 0
        # the size of S, and the rate of the sum of theta that S has to balance
        for t in range(self.m):
            n_inside += self.inside[t]
            if self.driven[t]:
                total += self.driven_rate[t]
                size += fabs(self.driven_rate[t])
        self.reach = self.remaining = 0
        while n < most_events:
            if remaining <= least:
                return REACHED
            if n_inside == 0:
                # S is empty: b moves until a point enters
                if fabs(total) <= NOTHING * size:
                    # The driven points balance each other, and the rates of b and g are not known.
                    return REACHED
                t = self.jump(total < 0)
                if t < 0:
                    return UNDECIDED
                if stop and 1 + y_r * self.z[r] < -self.g_slack[r]:
                    self.remaining = remaining
                    return CERTAIN
            else:
                # the rates of all points, and the first one to reach a bound, after `step`
                if not self.direction():
                    return UNDECIDED
                step = remaining
                t = vec_first_hit(self.m, &self.z[0], &self.rate[0], &self.least[0], &self.most[0],
                                  &self.slack[0], &step)
                if stop and self.sign_is_certain(r, y_r, step, remaining):
                    return CERTAIN
                # z += step * rate
                vec_axpy(False, self.m, &self.z[0], step, &self.rate[0])
                if t < 0:
                    return REACHED
                remaining -= step
            n += 1
            self.n_events += 1
            if not self.change_events(t):
                return UNDECIDED
            n_inside += -1 if self.inside[t] else 1
            self.toggle(t)
        return UNDECIDED

    cdef bint sign_is_certain(self, Py_ssize_t r, double y_r, double step, double remaining) noexcept nogil:
        """Return whether the sign of r without itself is certain; if so, set `reach` and `remaining`."""
        cdef double bend = max(-y_r * self.rate[r], 0), margin = 1 + y_r * self.z[r], reach
        # y_r f(x_r) falls until the end of the path: it is negative there if it is at the end of this step.
        if margin - bend * step < -self.g_slack[r]:
            # z += step * rate
            vec_axpy(False, self.m, &self.z[0], step, &self.rate[0])
            self.remaining = remaining - step
            return True
        # It does not fall below margin - reach^2 bend / (2 (reach - remaining)); see docs/how_it_works.md.
        reach = min(self.reach_inside(), 2 * remaining)
        if reach > remaining and margin - reach * reach * bend / (2 * (reach - remaining)) > self.g_slack[r]:
            self.reach, self.remaining = reach, remaining
            return True
        return False

    cdef int change_events(self, Py_ssize_t t) except -1 nogil:
        """Close the event of point t if it is open, else open it; return whether the system has room."""
        cdef Py_ssize_t k
        for k in range(self.n_open):
            if self.events[k] == t:
                self.n_open -= 1
                self.events[k] = self.events[self.n_open]
                self.system.remove(k)
                return True
        return self.open(t, True)

    cdef Py_ssize_t jump(self, bint grow) noexcept nogil:
        """Move b, with S empty, until a point may balance the driven ones; return that point, -1 if none."""
        cdef Py_ssize_t t, chosen = -1
        cdef double shift = VEC_OUT, theta, value
        # the least g of the points that can grow, or the largest of those that can shrink
        for t in range(self.m):
            theta = self.fixed_theta[t]
            value = self.z[t] if grow else -self.z[t]
            if self.tube < VEC_OUT and theta == 0 and (theta >= self.hi[t] if grow else theta <= self.lo[t]):
                # the row would turn
                value += self.tube
                if self.driven[t] or self.lo[t] == self.hi[t]:
                    continue
            elif self.driven[t] or not (theta < self.hi[t] if grow else theta > self.lo[t]):
                continue
            if value < shift:
                shift = value
                chosen = t
        self.shift_threshold(0 if chosen < 0 else (-shift if grow else shift))
        return chosen

    cdef void shift_threshold(self, double b) noexcept nogil:
        """Add b to g of all points outside S."""
        cdef Py_ssize_t t
        for t in range(self.m):
            if not self.inside[t]:
                self.z[t] += b

    cdef void toggle(self, Py_ssize_t t) noexcept nogil:
        """Move t from S to the bound that it has reached, or into S."""
        cdef bint at_hi = self.rate[t] > 0
        cdef double width
        if self.inside[t]:
            # z is g from now on, of the sign that the bound asks for
            self.inside[t] = 0
            self.fixed_theta[t] = self.hi[t] if at_hi else self.lo[t]
            self.z[t] = 0
            width = self.tube if self.fixed_theta[t] == 0 else VEC_OUT
            self.least[t], self.most[t] = -width if at_hi else 0, 0 if at_hi else width
            self.slack[t] = self.g_slack[t]
        else:
            if self.tube < VEC_OUT and self.fixed_theta[t] == 0 and fabs(self.z[t]) > 0.5 * self.tube:
                self.turn(t)
            # z is theta from now on, within its box
            self.inside[t] = 1
            self.z[t] = self.fixed_theta[t]
            self.least[t], self.most[t] = self.lo[t], self.hi[t]
            self.slack[t] = self.theta_slack[t]

    cdef int direction(self) except -1 nogil:
        """Compute the rates of all points while the driven ones move; return False for a singular system."""
        cdef Py_ssize_t n = self.n_open, j, e
        cdef double push, scale
        memcpy(&self.rate[0], &self.start_rate[0], self.m * sizeof(double))
        if n == 0:
            return True
        # right = driven_rate[events] - rate[events]: what the columns of the events have to add
        for j in range(n):
            e = self.events[j]
            push = self.unit(e) * (self.driven_rate[e] - self.rate[e])
            self.system.right[j] = push if self.start_inside[e] else -push
        # x = T[events, events]^-1 right
        if not self.system.solve():
            return False
        for j in range(n):
            e = self.events[j]
            push = self.system.x[j] = self.system.x[j] * self.unit(e)
            scale = self.root * self.root if self.start_inside[e] else 1
            if not fabs(push) / scale < 1e12:
                return False
        # rate += T[:, events] @ x
        for j in range(n):
            vec_axpy(False, self.m, &self.rate[0], self.system.x[j], self.column(self.events[j]))
        # the rate of an event's own coordinate: g of a point that left, theta of a point that entered
        for j in range(n):
            self.rate[self.events[j]] = self.system.x[j]
        return True

    cdef double reach_inside(self) noexcept nogil:
        """Return how far theta_r can move before an in-bound point leaves its box, less round-off.

        A point that was just at its bound after the whole move would leave the threshold an interval.
        """
        cdef double reach = VEC_OUT
        cdef Py_ssize_t k
        for k in range(self.s):
            reach = min(reach, self.reach_of(k))
        for k in range(self.n_open):
            reach = min(reach, self.reach_of(self.events[k]))
        return reach

    cdef double reach_of(self, Py_ssize_t t) noexcept nogil:
        """Return how far theta_r can move before the in-bound point t leaves its box, less round-off."""
        cdef double w = self.rate[t]
        if not self.inside[t] or w == 0:
            return VEC_OUT
        return ((self.most[t] - self.z[t] if w > 0 else self.z[t] - self.least[t]) - self.slack[t]) / fabs(w)


cdef class PointPaths(Path):
    """Paths along which single points lose their alpha."""

    cdef const double[::1] threshold_column     # None until a path needs it

    def __cinit__(self, *_, **__):
        self.threshold_column = None

    def walk(self, const Py_ssize_t[::1] points, const double[::1] bounds_left, const double[::1] y,
             bint stop, ends):
        """Follow the paths of some points, write their ends to an `Ends`, and return their outcomes.

        Arguments are those of `unlearn_points`. REACHED: alpha_r has come to its end. CERTAIN: the sign is
        certain. UNDECIDED: the path was degenerate, and its end says nothing.
        """
        cdef Py_ssize_t n = points.shape[0], k, t, r
        cdef Py_ssize_t paths = 1 + BETWEEN_SIGNALS // (self.m * self.m)
        outcome_array = np.empty(n, dtype=np.intp)
        cdef Py_ssize_t[::1] outcome = outcome_array
        cdef double[:, ::1] theta = ends.theta, direction = ends.direction, g = ends.g, rate = ends.rate
        cdef double[::1] reach = ends.reach, remaining = ends.remaining
        cdef char[::1] moved = ends.moved
        with nogil:
            for k in range(n):
                if k % paths == 0:
                    with gil:
                        PyErr_CheckSignals()
                        check_interrupted()
                r = points[k]
                outcome[k] = self.walk_one(r, y[r], bounds_left[k], stop)
                reach[k], remaining[k] = self.reach, self.remaining
                # the end: theta, with what is left of theta_r, and g
                self.copy_theta(&theta[k, 0])
                for t in range(self.m):
                    g[k, t] = self.ignored_g[t] + (0 if self.inside[t] else self.z[t])
                if self.any_turned:
                    for t in range(self.m):
                        g[k, t] += self.turned_by(t)
                theta[k, r] = y[r] * min(fabs(self.theta[r]), bounds_left[k] + self.remaining)
                for t in range(self.m):
                    moved[t] |= theta[k, t] != self.theta[t]
                # where the sign follows from how the path would go on: the rates of theta and of g
                if self.reach > 0:
                    for t in range(self.m):
                        direction[k, t] = self.rate[t] if self.inside[t] else 0
                        rate[k, t] = 0 if self.inside[t] else self.rate[t]
                    direction[k, r] = -y[r]
                    for t in range(self.m):
                        moved[t] |= direction[k, t] != 0
        return outcome_array

    cdef int walk_one(self, Py_ssize_t r, double y_r, double bound_left, bint stop) except -1 nogil:
        """Follow the path along which alpha_r falls to `bound_left`; return its Outcome."""
        cdef Py_ssize_t i
        cdef int outcome
        cdef const double *T
        self.begin()
        self.driven[r], self.driven_rate[r] = True, -y_r
        if self.inside[r]:
            # nothing moves until r leaves S, in `release`
            memset(&self.start_rate[0], 0, self.m * sizeof(double))
        else:
            # start_rate = -y_r * T[:, r]
            T = self.column(r)
            for i in range(self.m):
                self.start_rate[i] = -y_r * T[i]
        if not self.release(1, &r):
            return UNDECIDED
        outcome = self.follow(r, y_r, max(fabs(self.theta[r]) - bound_left, 0), self.theta_slack[r],
                              300 + 2 * self.s, stop)
        if outcome != REACHED or stop or self.balance(r, y_r * min(fabs(self.theta[r]), bound_left)):
            return outcome
        return UNDECIDED

    cdef int balance(self, Py_ssize_t r, double theta_r) except -1 nogil:
        """Give S what round-off has taken from the sum of theta; return whether that could be computed.

        A column of the tableau sums up to its exact value only relative to its largest entry, and columns of
        nearly dependent points nearly cancel.
        """
        cdef double missing = self.theta[r] - theta_r, largest = 0
        cdef Py_ssize_t t, n_inside = 0
        # missing = sum(theta at the start) - sum(theta now)
        for t in range(self.m):
            n_inside += self.inside[t]
            largest = max(largest, fabs(self.theta[t]))
            if t != r:
                missing += self.theta[t] - (self.z[t] if self.inside[t] else self.fixed_theta[t])
        if fabs(missing) <= UNNOTICED * largest or n_inside == 0:
            return True
        if self.threshold_column is None:
            with gil:
                self.threshold_column = self.tableau.threshold_column
        # the rates per unit of the sum of theta, with the present events
        for t in range(self.m):
            self.start_rate[t] = missing * self.threshold_column[t]
        self.driven_rate[r] = 0
        if not self.direction():
            return False
        # z += rate
        vec_axpy(False, self.m, &self.z[0], 1, &self.rate[0])
        return True


cdef class FoldPaths(Path):
    """Paths along which all points of a fold lose their alpha together; see `Path`.

    At most `most_values` values of the tableau's columns stay stored for the next path.
    """

    cdef Py_ssize_t most_values

    def __cinit__(self, tableau, theta, g, lo, hi, g_slack, most_open, Py_ssize_t most_values):
        self.most_values = most_values

    def leave(self, const Py_ssize_t[::1] points, const double[::1] driven_rate, const double[::1] start_rate,
              double[::1] theta):
        """Follow the path along which theta of some points goes to 0 in proportion.

        `driven_rate` is ``-theta`` of the points, over the largest absolute value. `start_rate` are the rates
        of all points that those outside S cause, while no event is open. `theta` is filled with the variables
        at the end, 0 at the points. Returns REACHED or UNDECIDED, and the number of events met on the way.
        """
        cdef Py_ssize_t n = points.shape[0], k, t, n_moving = 0
        cdef int outcome
        cdef double length = 0
        cdef long long before = self.n_events
        PyErr_CheckSignals()
        check_interrupted()
        if self.n_columns * self.m > self.most_values:
            self.drop_columns()
        with nogil:
            self.begin()
            # length = max(|theta[points]|)
            for k in range(n):
                t = points[k]
                self.driven[t], self.driven_rate[t] = True, driven_rate[k]
                length = max(length, fabs(self.theta[t]))
                n_moving += driven_rate[k] != 0
            memcpy(&self.start_rate[0], &start_rate[0], self.m * sizeof(double))
            outcome = UNDECIDED
            if self.release(n, &points[0]):
                outcome = self.follow(-1, 0, length, NOTHING * length, 50 + 10 * n_moving, False)
            self.copy_theta(&theta[0])
            for k in range(n):
                t = points[k]
                theta[t] = 0
        return outcome, self.n_events - before
