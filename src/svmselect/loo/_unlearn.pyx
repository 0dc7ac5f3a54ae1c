"""Leave-one-out by unlearning: alpha_r is driven to 0 along the path of optimal solutions.

Design. Write ``g = f + b`` (see _smo), so that ``g_t = 0`` at the in-bound points S. While theta_r moves and
every other theta stays optimal, theta_S, b and all g move linearly, until a point reaches a bound (leaves S)
or an index of the rest reaches ``g_t = 0`` (enters S): Cauwenberghs and Poggio (2000), backwards. All these
paths start at one solution, and most of them meet few events, so the linear algebra of that solution is
shared: column t of its *tableau* (the principal pivot transform of the bordered Gram matrix on b and S) holds
what moves when theta_t (t not in S) or g_t (t in S) is pushed by one unit:

    T_BB = R = inverse of [0 1'; 1 K_SS],   T_NB = A R,   T_BN = -R A',   T_NN = K_NN - A R A',
    A = [1 K_NS].

In-bound points that depend linearly on S (duplicates, more points than dimensions) stay outside S with theta
fixed; their g is and stays 0 until a point of S leaves that they depend on: then they enter at once.

Where r stands for several identical points and only one is left out, theta_r is driven to the bound that the
others keep; there they stay, since y_r g_r only falls on the way.

A path that has met the events E (points that have entered or left) pushes the columns of E so that their own
counterparts (g of those that entered, theta of those that left) stay where they are: a system of the size of
E. No matrix is copied or updated.

What a path says is not taken at its word, since round-off grows along it: each leaves its variables and g in
an `Ends`, which is held against the Gram matrix itself (see _ends).
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs, frexp, ldexp
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from scipy.linalg.cython_lapack cimport dgesv

from svmselect._columns cimport Columns
from svmselect._smo cimport VEC_OUT, vec_axpy
from svmselect.threads import check_interrupted

cdef extern from "_vec.h" nogil:
    Py_ssize_t vec_first_hit(Py_ssize_t, const double *, const double *, const double *, const double *,
                             const double *, double *)

cdef enum:
    MAX_OPEN = 64     # of one path that are open at once: the size of its system
# columns of the tableau computed at once: so many, or more while they are short
BATCH_COLUMNS = 32
BATCH_VALUES = 20_000
cdef Py_ssize_t BETWEEN_SIGNALS = 2**22  # kernel values of the problems between two looks for Ctrl-C
# allowed in the ratio test to theta, relative to its box or, in a wide one, to the largest, and at least to g
SLACK = 1e-10
# of EPS: what rounding does to a sum of theta_s K_st, for terms of random signs
cdef double ROUNDING = 16
cdef double EPS = 2.0 ** -52
# of EPS: the residual of a solve by Cholesky's factor, relative to the largest kernel value and the sum of
# |x|
cdef double RESIDUAL = 8

cpdef enum Outcome:     # how a path ended
    UNDECIDED = 0
    REACHED = 1
    CERTAIN = 2


def round_off(theta, diagonal, unit):
    """What rounding may do to each g_t: that of theta_s, or of its part in the sum, is at most u |theta_s|
    sqrt(K_ss K_tt), and the errors are independent; `unit` is the size of the linear term. An array of the
    shape of both."""
    return ROUNDING * EPS * (np.sqrt((theta**2 @ diagonal) * diagonal) + unit)


def rows_of(gram, Py_ssize_t[::1] points, Py_ssize_t[::1] order):
    """The Gram matrix at some points and, in this order, others: float64, shape (n, len(order))."""
    cdef Columns columns = gram.columns
    cdef Py_ssize_t k, j
    cdef const void *column
    cdef bint single = columns.single
    if not columns.full:
        columns.fetch(points)
    array = np.empty((points.shape[0], order.shape[0]))
    cdef double[:, ::1] rows = array
    with nogil:
        for k in range(points.shape[0]):
            column = columns.get(points[k])
            if single:
                for j in range(order.shape[0]):
                    rows[k, j] = (<const float *> column)[order[j]]
            else:
                for j in range(order.shape[0]):
                    rows[k, j] = (<const double *> column)[order[j]]
    return array


def mirror(double[:, ::1] upper):
    """Make a matrix symmetric whose upper triangle is given, in blocks that stay in the cache."""
    cdef Py_ssize_t n = upper.shape[0], top, left, i, j
    with nogil:
        for top in range(0, n, 32):
            for left in range(0, top + 1, 32):
                for i in range(top, min(top + 32, n)):
                    for j in range(left, min(left + 32, i)):
                        upper[i, j] = upper[j, i]


def certain_at_once(const Py_ssize_t[::1] points, const double[::1] kept, const double[:, ::1] x,
                    const double[::1] bend, const double[::1] y, const double[::1] theta, const double[::1] g,
                    const double[::1] lo, const double[::1] hi, const double[::1] g_slack, double largest,
                    double defect):
    """Whether the sign of each left-out point is certain before its path begins: bool, shape (n,).

    Arguments are those of `unlearn` in the tableau's order, and the points' responses; `largest` is the
    largest kernel value, `defect` what the dual value at the start may lack of the optimum.
    """
    cdef Py_ssize_t n = points.shape[0], s = x.shape[1], k, i, r
    cdef double left, room, reach, scale, rate, margin, size, curvature, slack = SLACK
    array = np.zeros(n, dtype=bool)
    cdef char[::1] certain = array.view(np.int8)
    with nogil:
        for k in range(n):
            r = points[k]
            left = fabs(theta[r]) - kept[k]
            room = 2 * left
            # of theta_S per unit of theta_r; a lone point of S has no bend, and is never certain
            scale = -y[r] * bend[k] if r < s else -y[r]
            size = 1
            for i in range(s):
                if room <= left:
                    break
                rate = scale * x[k, i]
                size += fabs(rate)
                if i != r and rate != 0:
                    reach = hi[i] - theta[i] if rate > 0 else theta[i] - lo[i]
                    room = min(room, (reach - slack * (hi[i] - lo[i])) / fabs(rate))
            margin = 1 + y[r] * g[r] - g_slack[r]
            curvature = bend[k] + RESIDUAL * EPS * largest * size * size
            certain[k] = room > left and margin * (room - left) > 0.5 * room * room * curvature + defect
    return array


cdef class Paths:
    """Unlearning of one point after another from the same solution.

    Parameters
    ----------
    tableau : Tableau of unlearn.py
    theta, g, lo, hi : ndarray, shape (m,)
        The solution, ``f + b``, which paths take for 0 in S, and the boxes; as everywhere here, in the
        tableau's order.
    g_slack : ndarray, shape (m,)
        Round-off allowed to g.
    """

    cdef object tableau
    cdef Py_ssize_t m, s
    cdef double **columns       # of the tableau, NULL until a path first meets their point
    cdef object nearest         # points, those likely to be met first
    cdef readonly double[::1] theta_slack
    cdef double[::1] theta, g, lo, hi, g_slack
    # of every point: the quantity that moves (theta of points in S, g of the others), its bounds, the
    # round-off they allow, its rate, theta where it is fixed; start_* at the solution
    cdef double[::1] start_z, start_least, start_most, start_slack
    cdef double[::1] z, least, most, slack, rate, parked
    cdef double root            # of a typical kernel value, a power of two: the units of a path's system
    cdef double room            # see Ends, of the path that has just ended
    cdef double left
    cdef char[::1] start_inside, inside     # in S
    cdef readonly long long n_events

    def __cinit__(self, tableau, theta, g, lo, hi, g_slack):
        cdef int exponent
        self.tableau = tableau
        self.m, self.s = theta.size, tableau.s
        self.columns = <double **> calloc(self.m, sizeof(double *))
        if self.columns == NULL:
            raise MemoryError
        self.theta, self.g, self.lo, self.hi = theta, g, lo, hi
        inside = np.arange(self.m) < self.s
        to_bound = np.minimum(theta - lo, hi - theta) / (hi - lo)
        self.nearest = np.argsort(np.where(inside, to_bound, np.abs(g)))
        self.theta_slack = SLACK * np.minimum(hi - lo, np.abs(theta).max())
        self.g_slack = g_slack
        frexp(max(tableau.diagonal.max(), 1e-300), &exponent)
        self.root = ldexp(1, exponent >> 1)
        self.start_inside = inside.astype(np.int8)
        self.start_z = np.where(inside, theta, g)
        # g <= 0 where theta cannot grow, g >= 0 where it cannot shrink
        self.start_least = np.where(inside, lo, np.where(theta < hi, 0, -VEC_OUT))
        self.start_most = np.where(inside, hi, np.where(theta > lo, 0, VEC_OUT))
        self.start_slack = np.where(inside, self.theta_slack, g_slack)
        self.z, self.least, self.most, self.slack, self.rate, self.parked = np.empty((6, self.m))
        self.inside = np.empty(self.m, dtype=np.int8)
        self.n_events = 0

    def __dealloc__(self):
        if self.columns != NULL:
            self.forget()
            free(self.columns)

    cpdef void forget(self) noexcept:
        """Drop all columns."""
        cdef Py_ssize_t t
        for t in range(self.m):
            free(self.columns[t])
            self.columns[t] = NULL

    def keep(self, const Py_ssize_t[::1] points, const double[:, ::1] values):
        """Take over columns of the tableau, shape (n, m)."""
        cdef Py_ssize_t k, t
        for k in range(points.shape[0]):
            t = points[k]
            if self.columns[t] == NULL:
                self.columns[t] = <double *> malloc(self.m * sizeof(double))
                if self.columns[t] == NULL:
                    raise MemoryError
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
        count = max(BATCH_COLUMNS, BATCH_VALUES // self.m)
        points = np.unique([t, *missing[:count]])
        self.nearest = np.array(missing[count:])
        x, b, _ = self.tableau.response(points)
        self.keep(points, self.tableau.columns(points, x, b))
        return 0

    def walk(self, const Py_ssize_t[::1] points, const double[::1] kept, const double[::1] y, bint stop,
             ends):
        """Unlearn each of some points.

        Parameters are those of `unlearn`, and the `Ends` that are filled.

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
                outcome[k] = self.unlearn(r, y[r], kept[k], stop)
                room[k], left[k] = self.room, self.left
                for t in range(self.m):
                    theta[k, t] = self.z[t] if self.inside[t] else self.parked[t]
                    theta[k, t] = min(max(theta[k, t], self.lo[t]), self.hi[t])
                    g[k, t] = 0 if self.inside[t] else self.z[t]
                    if t < self.s:
                        g[k, t] += self.g[t]
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

    cdef void begin(self, Py_ssize_t r) noexcept nogil:
        cdef size_t size = self.m * sizeof(double)
        memcpy(&self.z[0], &self.start_z[0], size)
        memcpy(&self.least[0], &self.start_least[0], size)
        memcpy(&self.most[0], &self.start_most[0], size)
        memcpy(&self.slack[0], &self.start_slack[0], size)
        memcpy(&self.inside[0], &self.start_inside[0], self.m)
        memcpy(&self.parked[0], &self.theta[0], size)
        # theta_r is driven, and g_r follows without bounds
        if self.inside[r]:
            self.z[r] = 0
            self.inside[r] = 0
        self.least[r], self.most[r] = -VEC_OUT, VEC_OUT

    cdef int unlearn(self, Py_ssize_t r, double y_r, double kept, bint stop) except -1 nogil:
        cdef double left = max(fabs(self.theta[r]) - kept, 0), step, bend, margin, room
        cdef Py_ssize_t events[MAX_OPEN]
        cdef Py_ssize_t n_open = 0, n_inside = self.s, t, k, n = 0
        cdef bint was_inside = self.start_inside[r]
        self.begin(r)
        self.room = self.left = 0
        if was_inside:
            events[0], n_open, n_inside = r, 1, n_inside - 1
        while n < 300 + 2 * self.s:
            if left <= self.theta_slack[r]:
                return REACHED
            if n_inside == 0:
                t = self.jump(r, y_r > 0)
                if t < 0:
                    return UNDECIDED
                if stop and 1 + y_r * self.z[r] < -self.g_slack[r]:
                    self.left = left
                    return CERTAIN
            else:
                if not self.direction(r, -y_r, was_inside, events, n_open):
                    return UNDECIDED
                bend = max(-y_r * self.rate[r], 0)
                margin = 1 + y_r * self.z[r]
                step = left
                t = vec_first_hit(self.m, &self.z[0], &self.rate[0], &self.least[0], &self.most[0],
                                  &self.slack[0], &step)
                # y_r f(x_r) falls until the end ...
                if stop and margin - bend * step < -self.g_slack[r]:
                    vec_axpy(False, self.m, &self.z[0], step, &self.rate[0])
                    self.left = left - step
                    return CERTAIN
                # ... and not below this (see `leave_one_out`)
                room = min(self.room_inside(events, n_open), 2 * left) if stop else 0
                if room > left and margin - room * room * bend / (2 * (room - left)) > self.g_slack[r]:
                    self.room, self.left = room, left
                    return CERTAIN
                vec_axpy(False, self.m, &self.z[0], step, &self.rate[0])
                if t < 0:
                    return REACHED
                left -= step
            n += 1
            self.n_events += 1
            for k in range(n_open):
                if events[k] == t:
                    n_open -= 1
                    events[k] = events[n_open]
                    break
            else:
                if n_open == MAX_OPEN:
                    return UNDECIDED
                events[n_open] = t
                n_open += 1
            n_inside += -1 if self.inside[t] else 1
            self.toggle(t)
        return UNDECIDED

    cdef Py_ssize_t jump(self, Py_ssize_t r, bint grow) noexcept nogil:
        """With S empty b moves until a point other than r may take over theta_r: that point, -1 if none."""
        cdef Py_ssize_t t, chosen = -1
        cdef double shift = VEC_OUT
        for t in range(self.m):
            if t != r and (self.parked[t] < self.hi[t] if grow else self.parked[t] > self.lo[t]):
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

    cdef int direction(self, Py_ssize_t r, double sign, bint was_inside, Py_ssize_t *events,
                       Py_ssize_t n_open) except -1 nogil:
        """Rates of all points while theta_r moves by `sign` per unit; 0 if the system is singular."""
        cdef double system[MAX_OPEN * MAX_OPEN]
        cdef double push[MAX_OPEN]
        cdef double unit[MAX_OPEN]
        cdef int pivots[MAX_OPEN]
        cdef int n = <int> n_open, one = 1, info = 0
        cdef const double *T
        cdef double largest = 0, scale
        cdef Py_ssize_t i, j
        if was_inside:
            memset(&self.rate[0], 0, self.m * sizeof(double))
        else:
            T = self.column(r)
            for i in range(self.m):
                self.rate[i] = sign * T[i]
        if n == 0:
            return 1
        # in units of a typical kernel value, g is of the size of 1 where theta is
        for j in range(n):
            unit[j] = self.root if self.start_inside[events[j]] else 1 / self.root
            push[j] = unit[j] * ((sign if events[j] == r else 0) if was_inside else -self.rate[events[j]])
        for j in range(n):
            T = self.column(events[j])
            for i in range(n):
                system[j * n + i] = unit[i] * unit[j] * T[events[i]]
        dgesv(&n, &one, system, &n, pivots, push, &n, &info)
        if info != 0:
            return 0
        for j in range(n):
            push[j] *= unit[j]
            scale = self.root * self.root if self.start_inside[events[j]] else 1
            largest = max(largest, fabs(push[j]) / scale)
        if not largest < 1e12:
            return 0
        for j in range(n):
            vec_axpy(False, self.m, &self.rate[0], push[j], self.column(events[j]))
        for j in range(n):
            self.rate[events[j]] = push[j]
        return 1

    cdef double room_inside(self, Py_ssize_t *events, Py_ssize_t n_open) noexcept nogil:
        """How far theta_r can move on before an in-bound point leaves its box, round-off allowed for: at 0 a
        point that is then just at its bound leaves the threshold an interval."""
        cdef double room = VEC_OUT
        cdef Py_ssize_t k
        for k in range(self.s):
            room = min(room, self.room_of(k))
        for k in range(n_open):
            room = min(room, self.room_of(events[k]))
        return room

    cdef double room_of(self, Py_ssize_t t) noexcept nogil:
        cdef double w = self.rate[t]
        if not self.inside[t] or w == 0:
            return VEC_OUT
        return ((self.most[t] - self.z[t] if w > 0 else self.z[t] - self.least[t]) - self.slack[t]) / fabs(w)
