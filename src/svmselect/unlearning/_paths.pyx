"""Unlearning: the alpha of one point, or of all points of a fold, is driven to 0 along the path of optimal
solutions.

Design. Write ``g = f + b`` (see solver/_state), so that ``g_t = 0`` at the in-bound points S. While theta_r
moves, or theta of several points in proportion to what it was, and every other theta stays optimal, theta_S,
b and all g move linearly, until a point reaches a bound (leaves S) or an index of the rest reaches ``g_t =
0`` (enters S): Cauwenberghs and Poggio (2000), backwards. All these paths start at one solution, and most of
them meet few events, so the linear algebra of that solution is shared: column t of its *tableau* (the
principal pivot transform of the bordered Gram matrix on b and S) holds what moves when theta_t (t not in S)
or g_t (t in S) is pushed by one unit:

    T_BB = R = inverse of [0 1'; 1 K_SS],   T_NB = A R,   T_BN = -R A',   T_NN = K_NN - A R A',
    A = [1 K_NS].

In-bound points that depend linearly on S (duplicates, more points than dimensions) stay outside S with theta
fixed; their g is and stays 0 until a point of S leaves that they depend on: then they enter at once.

Where r stands for several identical points and only one is left out, theta_r is driven to the bound that the
others keep; there they stay, since y_r g_r only falls on the way.

A path that has met the events E (points that have entered or left) pushes the columns of E so that their own
counterparts (g of those that entered, theta of those that left) stay where they are: a system of the size of
E (`System`). Driven points of S have left from the beginning, and their theta moves as it is driven. No
matrix of the size of S is copied or updated.

What a path says is not taken at its word, since round-off grows along it. One that leaves a point out leaves
its variables and g in an `Ends`, which is held against the Gram matrix itself (see _ends); the variables that
one of a fold ends at are where a solver starts, whose gradient is of the Gram matrix.
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

MAX_OPEN = 64   # events of one left-out point that are open at once: the size of its system
# This many columns of the tableau are computed at once, or more while they are short.
BATCH_COLUMNS = 32
BATCH_VALUES = 20_000
cdef Py_ssize_t BETWEEN_SIGNALS = 2**22  # kernel values of the problems between two looks for Ctrl-C
# A share of what drives a path that counts as nothing, where it is left at the end or out of balance.
cdef double NOTHING = SLACK
# Relative to the largest theta, the sum of theta may be off by this at the end of a path.
cdef double UNNOTICED = 1e-3 * SLACK

cpdef enum Outcome:     # how a path ended
    UNDECIDED = 0
    REACHED = 1
    CERTAIN = 2


cdef class KeptColumns:
    """Columns of a tableau, kept once they have been met.

    Parameters
    ----------
    tableau : Tableau
    theta, g, lo, hi : ndarray, shape (m,)
        As of `Path`: the points that are likely to be met first are those nearest to an event.
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
        to_bound = np.minimum(theta - lo, hi - theta) / (hi - lo)
        self.nearest = np.argsort(np.where(np.arange(self.m) < self.s, to_bound, np.abs(g)))

    def __dealloc__(self):
        if self.columns != NULL:
            self.drop_columns()
            free(self.columns)

    cpdef void drop_columns(self) noexcept:
        """Drop all columns."""
        cdef Py_ssize_t t
        for t in range(self.m):
            free(self.columns[t])
            self.columns[t] = NULL
        self.n_columns = 0

    def keep(self, const Py_ssize_t[::1] points, const double[:, ::1] values):
        """Take over columns of the tableau, shape (n, m)."""
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
        """Column t of the tableau."""
        if self.columns[t] == NULL:
            with gil:
                self.compute(t)
        return self.columns[t]

    cdef int compute(self, Py_ssize_t t) except -1:
        """Have column t, and others that are likely to be met, computed."""
        missing = [u for u in self.nearest.tolist() if self.columns[<Py_ssize_t> u] == NULL]
        # few paths meet few points
        count = min(self.n_columns, max(BATCH_COLUMNS, BATCH_VALUES // self.m))
        points = np.unique([t, *missing[:count]])
        self.nearest = np.array(missing[count:])
        x, b, _ = self.tableau.response(points)
        self.keep(points, self.tableau.columns(points, x, b))
        return 0


cdef class Path(KeptColumns):
    """A path of optimal solutions, followed from the one that all paths start at; one after another.

    Parameters
    ----------
    tableau : Tableau
    theta, g, lo, hi : ndarray, shape (m,)
        The solution, ``f + b``, which paths take for 0 in S, and the boxes; as everywhere here, in the
        tableau's order.
    g_slack : ndarray, shape (m,)
        Round-off allowed to g.
    most_open : int
        Events of one path that are open at once.
    """

    cdef readonly double[::1] theta_slack
    cdef double[::1] theta, lo, hi, g_slack
    # For every point: the quantity that moves (theta of points in S, g of the others), its bounds, the
    # round-off that they allow, its rate, and theta where it is fixed. start_* have them at the solution.
    cdef double[::1] start_z, start_least, start_most, start_slack
    cdef double[::1] offset     # the part of g that a path leaves out
    cdef double[::1] z, least, most, slack, rate, parked
    # The root of a typical kernel value, a power of two: the units of a path's system.
    cdef double root
    cdef double room            # see Ends, of the path that has just ended
    cdef double left
    # For a path: the driven points, what their theta does while the path is gone, and the rate of every point
    # outside S that this alone causes.
    cdef char[::1] driven
    cdef double[::1] pull, base
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
        frexp(max(tableau.diagonal.max(), 1e-300), &exponent)
        self.root = ldexp(1, exponent >> 1)
        self.start_inside = inside.astype(np.int8)
        # g <= 0 where theta cannot grow, g >= 0 where it cannot shrink
        self.start_least = np.where(inside, lo, np.where(theta < hi, 0, -VEC_OUT))
        self.start_most = np.where(inside, hi, np.where(theta > lo, 0, VEC_OUT))
        # The gap of the solution lets g miss 0 by so little that this is no event.
        self.start_z = np.clip(np.where(inside, theta, g), self.start_least, self.start_most)
        self.offset = np.where(inside, g, g - self.start_z)
        self.start_slack = np.where(inside, self.theta_slack, g_slack)
        self.z, self.least, self.most, self.slack, self.rate, self.parked = np.empty((6, self.m))
        self.inside = np.empty(self.m, dtype=np.int8)
        self.driven = np.zeros(self.m, dtype=np.int8)
        self.pull, self.base = np.zeros((2, self.m))
        self.system = System(most_open)
        self.events = np.empty(most_open, dtype=np.intp)
        self.n_events = 0

    cdef void copy_theta(self, double *theta) noexcept nogil:
        """The variables where a path ended."""
        cdef Py_ssize_t t
        for t in range(self.m):
            theta[t] = min(max(self.z[t] if self.inside[t] else self.parked[t], self.lo[t]), self.hi[t])

    cdef void begin(self) noexcept nogil:
        cdef size_t size = self.m * sizeof(double)
        memcpy(&self.z[0], &self.start_z[0], size)
        memcpy(&self.least[0], &self.start_least[0], size)
        memcpy(&self.most[0], &self.start_most[0], size)
        memcpy(&self.slack[0], &self.start_slack[0], size)
        memcpy(&self.inside[0], &self.start_inside[0], self.m)
        memcpy(&self.parked[0], &self.theta[0], size)
        memset(&self.pull[0], 0, size)
        memset(&self.driven[0], 0, self.m)
        self.n_open = 0
        self.system.clear()

    cdef int release(self, Py_ssize_t n, const Py_ssize_t *points) except -1 nogil:
        """Take the driven points out of S; whether the system has room for them. Their g follows without
        bounds."""
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
        """Take an event into the system, if there is room for it."""
        cdef Py_ssize_t i, n = self.n_open
        cdef const double *T
        cdef double unit, sign
        if n == self.events.shape[0]:
            return False
        T = self.column(t)
        self.events[n] = t
        unit = self.unit(t)
        for i in range(n + 1):
            sign = 1 if self.start_inside[self.events[i]] else -1
            self.system.right[i] = sign * unit * self.unit(self.events[i]) * T[self.events[i]]
        self.system.add(update)
        self.n_open += 1
        return True

    cdef double unit(self, Py_ssize_t t) noexcept nogil:
        """In units of a typical kernel value, g is of the size of 1 where theta is."""
        return self.root if self.start_inside[t] else 1 / self.root

    cdef int follow(self, Py_ssize_t r, double y_r, double left, double least, Py_ssize_t most_events,
                    bint stop) except -1 nogil:
        """Go along a path, by `left`, until no more than `least` of that is.

        r and y_r are those of a lone driven point, whose sign may be certain earlier; see `PointPaths.walk`.
        """
        cdef double step, bend, margin, room, total = 0, size = 0
        cdef Py_ssize_t n_inside = 0, t, k, n = 0
        for t in range(self.m):
            n_inside += self.inside[t]
            if self.driven[t]:
                total += self.pull[t]
                size += fabs(self.pull[t])
        self.room = self.left = 0
        while n < most_events:
            if left <= least:
                return REACHED
            if n_inside == 0:
                if fabs(total) <= NOTHING * size:
                    # No point has to take over, and what happens to b and g is not known.
                    return REACHED
                t = self.jump(total < 0)
                if t < 0:
                    return UNDECIDED
                if stop and 1 + y_r * self.z[r] < -self.g_slack[r]:
                    self.left = left
                    return CERTAIN
            else:
                if not self.direction():
                    return UNDECIDED
                step = left
                t = vec_first_hit(self.m, &self.z[0], &self.rate[0], &self.least[0], &self.most[0],
                                  &self.slack[0], &step)
                if stop:
                    bend = max(-y_r * self.rate[r], 0)
                    margin = 1 + y_r * self.z[r]
                    # y_r f(x_r) falls until the end ...
                    if margin - bend * step < -self.g_slack[r]:
                        vec_axpy(False, self.m, &self.z[0], step, &self.rate[0])
                        self.left = left - step
                        return CERTAIN
                    # ... and not below this (see `leave_one_out`)
                    room = min(self.room_inside(), 2 * left)
                    if room > left and margin - room * room * bend / (2 * (room - left)) > self.g_slack[r]:
                        self.room, self.left = room, left
                        return CERTAIN
                vec_axpy(False, self.m, &self.z[0], step, &self.rate[0])
                if t < 0:
                    return REACHED
                left -= step
            n += 1
            self.n_events += 1
            for k in range(self.n_open):
                if self.events[k] == t:
                    self.n_open -= 1
                    self.events[k] = self.events[self.n_open]
                    self.system.remove(k)
                    break
            else:
                if not self.open(t, True):
                    return UNDECIDED
            n_inside += -1 if self.inside[t] else 1
            self.toggle(t)
        return UNDECIDED

    cdef Py_ssize_t jump(self, bint grow) noexcept nogil:
        """With S empty b moves until a point may take over from the driven ones: that point, -1 if none."""
        cdef Py_ssize_t t, chosen = -1
        cdef double shift = VEC_OUT
        for t in range(self.m):
            if not self.driven[t] and (self.parked[t] < self.hi[t] if grow else self.parked[t] > self.lo[t]):
                if (self.z[t] if grow else -self.z[t]) < shift:
                    shift = self.z[t] if grow else -self.z[t]
                    chosen = t
        self.shift_threshold(0 if chosen < 0 else (-shift if grow else shift))
        return chosen

    cdef void shift_threshold(self, double b) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(self.m):
            if not self.inside[t]:
                self.z[t] += b

    cdef void toggle(self, Py_ssize_t t) noexcept nogil:
        """Let t leave or enter S."""
        cdef bint at_hi = self.rate[t] > 0
        if self.inside[t]:
            self.inside[t] = 0
            self.parked[t] = self.hi[t] if at_hi else self.lo[t]
            self.z[t] = 0
            self.least[t], self.most[t] = -VEC_OUT if at_hi else 0, 0 if at_hi else VEC_OUT
            self.slack[t] = self.g_slack[t]
        else:
            self.inside[t] = 1
            self.z[t] = self.parked[t]
            self.least[t], self.most[t] = self.lo[t], self.hi[t]
            self.slack[t] = self.theta_slack[t]

    cdef int direction(self) except -1 nogil:
        """Rates of all points while the driven ones move; False if the system is singular."""
        cdef Py_ssize_t n = self.n_open, j, e
        cdef double push, scale
        memcpy(&self.rate[0], &self.base[0], self.m * sizeof(double))
        if n == 0:
            return True
        for j in range(n):
            e = self.events[j]
            push = self.unit(e) * (self.pull[e] - self.rate[e])
            self.system.right[j] = push if self.start_inside[e] else -push
        if not self.system.solve():
            return False
        for j in range(n):
            e = self.events[j]
            push = self.system.x[j] = self.system.x[j] * self.unit(e)
            scale = self.root * self.root if self.start_inside[e] else 1
            if not fabs(push) / scale < 1e12:
                return False
        for j in range(n):
            vec_axpy(False, self.m, &self.rate[0], self.system.x[j], self.column(self.events[j]))
        for j in range(n):
            self.rate[self.events[j]] = self.system.x[j]
        return True

    cdef double room_inside(self) noexcept nogil:
        """How far theta_r can move on before an in-bound point leaves its box, round-off allowed for: at 0 a
        point that is then just at its bound leaves the threshold an interval."""
        cdef double room = VEC_OUT
        cdef Py_ssize_t k
        for k in range(self.s):
            room = min(room, self.room_of(k))
        for k in range(self.n_open):
            room = min(room, self.room_of(self.events[k]))
        return room

    cdef double room_of(self, Py_ssize_t t) noexcept nogil:
        cdef double w = self.rate[t]
        if not self.inside[t] or w == 0:
            return VEC_OUT
        return ((self.most[t] - self.z[t] if w > 0 else self.z[t] - self.least[t]) - self.slack[t]) / fabs(w)


cdef class PointPaths(Path):
    """Paths along which single points leave."""

    cdef const double[::1] threshold_column     # None until a path needs it

    def __cinit__(self, *_, **__):
        self.threshold_column = None

    def walk(self, const Py_ssize_t[::1] points, const double[::1] kept, const double[::1] y, bint stop,
             ends):
        """Unlearn each of some points.

        Parameters are those of `unlearn_points`, and the `Ends` that are filled.

        Returns
        -------
        outcome : ndarray of intp, shape (n,)
            REACHED: alpha_r has come to its end; CERTAIN: the sign is; UNDECIDED: degenerate, the end says
            nothing.
        """
        cdef Py_ssize_t n = points.shape[0], k, t, r
        cdef Py_ssize_t paths = 1 + BETWEEN_SIGNALS // (self.m * self.m)
        outcome_array = np.empty(n, dtype=np.intp)
        cdef Py_ssize_t[::1] outcome = outcome_array
        cdef double[:, ::1] theta = ends.theta, direction = ends.direction, g = ends.g, rate = ends.rate
        cdef double[::1] room = ends.room, left = ends.left
        cdef char[::1] moved = ends.moved
        with nogil:
            for k in range(n):
                if k % paths == 0:
                    with gil:
                        PyErr_CheckSignals()
                        check_interrupted()
                r = points[k]
                outcome[k] = self.walk_one(r, y[r], kept[k], stop)
                room[k], left[k] = self.room, self.left
                self.copy_theta(&theta[k, 0])
                for t in range(self.m):
                    g[k, t] = self.offset[t] + (0 if self.inside[t] else self.z[t])
                theta[k, r] = y[r] * min(fabs(self.theta[r]), kept[k] + self.left)
                for t in range(self.m):
                    moved[t] |= theta[k, t] != self.theta[t]
                if self.room > 0:
                    for t in range(self.m):
                        direction[k, t] = self.rate[t] if self.inside[t] else 0
                        rate[k, t] = 0 if self.inside[t] else self.rate[t]
                    direction[k, r] = -y[r]
                    for t in range(self.m):
                        moved[t] |= direction[k, t] != 0
        return outcome_array

    cdef int walk_one(self, Py_ssize_t r, double y_r, double kept, bint stop) except -1 nogil:
        cdef Py_ssize_t i
        cdef int outcome
        cdef const double *T
        self.begin()
        self.driven[r], self.pull[r] = True, -y_r
        if self.inside[r]:
            memset(&self.base[0], 0, self.m * sizeof(double))
        else:
            T = self.column(r)
            for i in range(self.m):
                self.base[i] = -y_r * T[i]
        if not self.release(1, &r):
            return UNDECIDED
        outcome = self.follow(r, y_r, max(fabs(self.theta[r]) - kept, 0), self.theta_slack[r],
                              300 + 2 * self.s, stop)
        if outcome == REACHED and not stop and not self.balance(r, y_r * min(fabs(self.theta[r]), kept)):
            return UNDECIDED
        return outcome

    cdef int balance(self, Py_ssize_t r, double theta_r) except -1 nogil:
        """Give S what round-off has taken from the sum of theta, as the threshold's column has it; whether
        that can be told.

        Columns of the tableau sum up to what they should relative to their own size alone, and those of
        nearly dependent points nearly cancel.
        """
        cdef double missing = self.theta[r] - theta_r, largest = 0
        cdef Py_ssize_t t, n_inside = 0
        for t in range(self.m):
            n_inside += self.inside[t]
            largest = max(largest, fabs(self.theta[t]))
            if t != r:
                missing += self.theta[t] - (self.z[t] if self.inside[t] else self.parked[t])
        if fabs(missing) <= UNNOTICED * largest or n_inside == 0:
            return True
        if self.threshold_column is None:
            with gil:
                self.threshold_column = self.tableau.threshold_column
        for t in range(self.m):
            self.base[t] = missing * self.threshold_column[t]
        self.pull[r] = 0
        if not self.direction():
            return False
        vec_axpy(False, self.m, &self.z[0], 1, &self.rate[0])
        return True


cdef class FoldPaths(Path):
    """Paths along which the points of a fold leave, all at once.

    Parameters
    ----------
    tableau, theta, g, lo, hi, g_slack, most_open
        As of `Path`.
    most_kept : int
        Values of the tableau's columns that are kept for the next path.
    """

    cdef Py_ssize_t most_kept

    def __cinit__(self, tableau, theta, g, lo, hi, g_slack, most_open, Py_ssize_t most_kept):
        self.most_kept = most_kept

    def leave(self, const Py_ssize_t[::1] points, const double[::1] pull, const double[::1] base,
              double[::1] theta):
        """Unlearn all of some points at once: their theta goes to 0 in proportion.

        Parameters
        ----------
        points : ndarray of intp, shape (n,)
        pull : ndarray, shape (n,)
            ``-theta`` of them, over the largest absolute value.
        base : ndarray, shape (m,)
            What this does to theta of S and to the other g, by those of the points that are outside S.
        theta : ndarray, shape (m,)
            Filled with the variables at the end, 0 at the points.

        Returns
        -------
        outcome : int
            REACHED or UNDECIDED.
        n_events : int
            Met on the way.
        """
        cdef Py_ssize_t n = points.shape[0], k, t, n_moving = 0
        cdef int outcome
        cdef double left = 0
        cdef long long before = self.n_events
        PyErr_CheckSignals()
        check_interrupted()
        if self.n_columns * self.m > self.most_kept:
            self.drop_columns()
        with nogil:
            self.begin()
            for k in range(n):
                t = points[k]
                self.driven[t], self.pull[t] = True, pull[k]
                left = max(left, fabs(self.theta[t]))
                n_moving += pull[k] != 0
            memcpy(&self.base[0], &base[0], self.m * sizeof(double))
            outcome = UNDECIDED
            if self.release(n, &points[0]):
                outcome = self.follow(-1, 0, left, NOTHING * left, 50 + 10 * n_moving, False)
            self.copy_theta(&theta[0])
            for k in range(n):
                t = points[k]
                theta[t] = 0
        return outcome, self.n_events - before
