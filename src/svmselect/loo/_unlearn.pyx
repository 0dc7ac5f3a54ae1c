"""Leave-one-out by unlearning: alpha_r is driven to 0 along the path of optimal solutions.

Design. Write ``g = f + b`` (see _smo), so that ``g_t = 0`` at the in-bound points S. While theta_r moves and every other
theta stays optimal, theta_S, b and all g move linearly, until a point reaches a bound (leaves S) or an index of the rest
reaches ``g_t = 0`` (enters S): Cauwenberghs and Poggio (2000), backwards. All these paths start at one solution, and most of
them meet few events, so the linear algebra of that solution is shared: column t of its *tableau* (the principal pivot
transform of the bordered Gram matrix on b and S) holds what moves when theta_t (t not in S) or g_t (t in S) is pushed by one
unit:

    T_BB = R = inverse of [0 1'; 1 K_SS],   T_NB = A R,   T_BN = -R A',   T_NN = K_NN - A R A',   A = [1 K_NS].

In-bound points that depend linearly on S (duplicates, more points than dimensions) stay outside S with theta fixed; their g is
and stays 0 until a point of S leaves that they depend on: then they enter at once.

A path that has met the events E (points that have entered or left) pushes the columns of E so that their own counterparts
(g of those that entered, theta of those that left) stay where they are: a system of the size of E. No matrix is copied or
updated.
"""

from libc.math cimport fabs, INFINITY
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from scipy.linalg.cython_blas cimport daxpy, dgemv
from scipy.linalg.cython_lapack cimport dgesv, dpotrs

cdef enum:
    MAX_EVENTS = 64     # of one path that are open at once: the size of its system
SLACK = 1e-10   # round-off allowed to g, and to theta relative to its box, in the ratio test

cpdef enum Outcome:     # how a path ended
    UNDECIDED = 0
    REACHED = 1
    CERTAIN = 2


cdef class Tableau:
    """Columns of the tableau of one solution, computed when a path first meets their point.

    Parameters
    ----------
    gram : Gram
    support : ndarray of intp, shape (s,)
        S: the in-bound SVs, linearly independent ones.
    rows : ndarray, shape (s, m)
        Their rows of the Gram matrix.
    factor : ndarray, shape (s, s), Fortran order
        Lower Cholesky factor of ``M = K_SS + shift``: the shift, along the direction that the fixed sum forbids, makes M
        definite where K_SS is so on the rest.
    ones : ndarray, shape (s,)
        ``M^-1 1``.
    shift : float
    """

    cdef readonly Py_ssize_t m, s
    cdef object gram
    cdef double[:, ::1] rows
    cdef double[::1, :] factor
    cdef double[::1] ones       # (K_SS + shift)^-1 1
    cdef double sigma, shift
    cdef readonly object support_array
    cdef Py_ssize_t[::1] support
    cdef Py_ssize_t[::1] place  # of a point in support, -1 elsewhere
    cdef double **columns

    def __cinit__(self, gram, support, rows, factor, ones, double shift):
        cdef Py_ssize_t k
        self.gram = gram
        self.m, self.s = gram.m, support.size
        self.rows, self.factor, self.shift = rows, factor, shift
        self.support_array = support
        self.support, self.ones, self.sigma = support, ones, ones.sum()
        place = np.full(self.m, -1, dtype=np.intp)
        place[support] = np.arange(self.s)
        self.place = place
        self.columns = <double **> malloc(self.m * sizeof(double *))
        if self.columns == NULL:
            raise MemoryError
        for k in range(self.m):
            self.columns[k] = NULL

    def __dealloc__(self):
        cdef Py_ssize_t k
        if self.columns != NULL:
            for k in range(self.m):
                free(self.columns[k])
            free(self.columns)

    def keep(self, points, columns):
        """Take over columns that were computed together, shape (n, m)."""
        cdef double[:, ::1] values = columns
        cdef Py_ssize_t[::1] at = points
        cdef Py_ssize_t k
        for k in range(at.shape[0]):
            memcpy(self.room_for(at[k]), &values[k, 0], self.m * sizeof(double))

    cdef double *room_for(self, Py_ssize_t t) except NULL nogil:
        self.columns[t] = <double *> realloc(self.columns[t], self.m * sizeof(double))
        if self.columns[t] == NULL:
            with gil:
                raise MemoryError
        return self.columns[t]

    cdef double *column(self, Py_ssize_t t) except NULL nogil:
        """Column t of the tableau."""
        cdef double *T = self.columns[t]
        if T == NULL:
            T = self.room_for(t)
            with gil:
                self.compute(t, column_of(self.gram, t), T)
        return T

    cdef int compute(self, Py_ssize_t t, const double[::1] K_t, double *T) except -1:
        cdef int m = <int> self.m, s = <int> self.s, one = 1, info
        cdef double b = 0, sign, plus = 1
        cdef Py_ssize_t j
        cdef bint inside = self.place[t] >= 0
        cdef double *x = <double *> malloc(s * sizeof(double))
        if x == NULL:
            raise MemoryError
        for j in range(s):
            x[j] = (j == self.place[t]) if inside else self.rows[j, t]
        dpotrs("L", &s, &one, &self.factor[0, 0], &s, x, &s, &info)
        for j in range(s):
            b += x[j]
        b = (b - (0 if inside else 1)) / self.sigma
        for j in range(s):
            x[j] -= b * self.ones[j]
        if inside:
            for j in range(self.m):
                T[j] = b
        else:
            b += self.shift
            for j in range(self.m):
                T[j] = K_t[j] - b
        sign = 1 if inside else -1
        dgemv("N", &m, &s, &sign, &self.rows[0, 0], &m, x, &one, &plus, T, &one)
        for j in range(s):
            T[self.support[j]] = sign * x[j]
        free(x)
        return 0


def column_of(gram, t):
    """Column t of the Gram matrix as float64."""
    return np.ascontiguousarray(gram.columns.column(t), dtype=np.float64)


cdef class Paths:
    """Unlearning of one point after another from the same solution.

    Parameters
    ----------
    tableau : Tableau
    theta, g, lo, hi : ndarray, shape (m,)
        The solution, ``f + b``, and the boxes.
    scale : float
        Size of Gram matrix entries.
    """

    cdef Tableau tableau
    cdef Py_ssize_t m
    cdef double[::1] theta, lo, hi, theta_slack
    # of every point: the quantity that moves (theta of points in S, g of the others), its bounds, the round-off they allow, its
    # rate, theta where it is fixed; start_* at the solution
    cdef double[::1] start_z, start_least, start_most, start_slack
    cdef double[::1] z, least, most, slack, rate, parked
    cdef double g_slack
    cdef char[::1] start_inside, inside     # in S
    cdef readonly long long n_events

    def __cinit__(self, Tableau tableau, theta, g, lo, hi, double g_slack):
        self.tableau = tableau
        self.m = tableau.m
        self.theta, self.lo, self.hi = theta, lo, hi
        inside = np.zeros(self.m, dtype=bool)
        inside[tableau.support_array] = True
        self.theta_slack = SLACK * (hi - lo)
        self.g_slack = g_slack
        self.start_inside = inside.astype(np.int8)
        self.start_z = np.where(inside, theta, g)
        # g <= 0 where theta cannot grow, g >= 0 where it cannot shrink
        self.start_least = np.where(inside, lo, np.where(theta < hi, 0, -np.inf))
        self.start_most = np.where(inside, hi, np.where(theta > lo, 0, np.inf))
        self.start_slack = np.where(inside, self.theta_slack, g_slack)
        self.z, self.least, self.most, self.slack, self.rate, self.parked = np.empty((6, self.m))
        self.inside = np.empty(self.m, dtype=np.int8)
        self.n_events = 0

    def walk(self, Py_ssize_t[::1] points, double[::1] y, progress):
        """Unlearn each of some points.

        Returns
        -------
        f : ndarray, shape (n,)
            Decision value of the left-out point where its path ended.
        outcome : ndarray of intp, shape (n,)
            REACHED: alpha_r is 0, f is the leave-one-out decision value; CERTAIN: its sign is; UNDECIDED: degenerate.
        """
        cdef Py_ssize_t n = points.shape[0], k
        f_array, outcome_array = np.empty(n), np.empty(n, dtype=np.intp)
        cdef double[::1] f = f_array
        cdef Py_ssize_t[::1] outcome = outcome_array
        cdef bint report = progress is not None
        with nogil:
            for k in range(n):
                outcome[k] = self.unlearn(points[k], y[points[k]])
                f[k] = self.z[points[k]] + y[points[k]]
                if report:
                    with gil:
                        progress(k + 1)
        return f_array, outcome_array

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
        self.least[r], self.most[r] = -INFINITY, INFINITY

    cdef int unlearn(self, Py_ssize_t r, double y_r) except -1 nogil:
        cdef double left = fabs(self.theta[r]), step, bend, margin, room
        cdef Py_ssize_t events[MAX_EVENTS]
        cdef Py_ssize_t n_open = 0, n_inside = self.tableau.s, t, k, n = 0
        cdef bint was_inside = self.start_inside[r]
        self.begin(r)
        if was_inside:
            events[0], n_open, n_inside = r, 1, n_inside - 1
        while n < 300 + 2 * self.tableau.s:
            if n_inside == 0:
                t = self.jump(r, y_r > 0)
                if t < 0:
                    return UNDECIDED
                if 1 + y_r * self.z[r] < -self.g_slack:
                    return CERTAIN
            else:
                if not self.direction(r, -y_r, was_inside, events, n_open):
                    return UNDECIDED
                bend = max(-y_r * self.rate[r], 0)
                margin = 1 + y_r * self.z[r]
                t = self.first_event(left, &step)
                # y_r f(x_r) falls until the end ...
                if margin - bend * step < -self.g_slack:
                    self.z[r] += step * self.rate[r]
                    return CERTAIN
                # ... and not below this (see `leave_one_out`)
                room = min(self.room_inside(events, n_open), 2 * left)
                if room > left and margin - room * room * bend / (2 * (room - left)) > self.g_slack:
                    return CERTAIN
                move(self.m, step, &self.rate[0], &self.z[0])
                left -= step
                if t < 0:
                    self.settle(r)
                    return REACHED
            n += 1
            self.n_events += 1
            for k in range(n_open):
                if events[k] == t:
                    n_open -= 1
                    events[k] = events[n_open]
                    break
            else:
                if n_open == MAX_EVENTS:
                    return UNDECIDED
                events[n_open] = t
                n_open += 1
            n_inside += -1 if self.inside[t] else 1
            self.toggle(t)
        return UNDECIDED

    cdef Py_ssize_t jump(self, Py_ssize_t r, bint grow) noexcept nogil:
        """With S empty b is free: it moves until a point other than r may take over theta_r; that point, -1 if there is none."""
        cdef Py_ssize_t t, chosen = -1
        cdef double shift = INFINITY
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

    cdef void settle(self, Py_ssize_t r) noexcept nogil:
        """Where every point of S ended on its bound, b is an interval: take its midpoint, as a solver would."""
        cdef Py_ssize_t t
        cdef double least = -INFINITY, most = INFINITY, slack, g, theta
        for t in range(self.m):
            if t == r:
                continue
            g, theta, slack = self.z[t], self.parked[t], 10 * self.theta_slack[t]
            if self.inside[t]:
                g, theta = 0, self.z[t]
            if self.lo[t] + slack < theta < self.hi[t] - slack:
                return
            if theta < self.hi[t] - slack:
                least = max(least, -g)
            else:
                most = min(most, -g)
        if least > -INFINITY and most < INFINITY:
            self.shift_threshold(0.5 * (least + most))

    cdef void toggle(self, Py_ssize_t t) noexcept nogil:
        """Let t leave or enter S."""
        cdef bint at_hi = self.rate[t] > 0
        if self.inside[t]:
            self.inside[t] = 0
            self.parked[t] = self.hi[t] if at_hi else self.lo[t]
            self.z[t] = 0
            self.least[t], self.most[t] = -INFINITY if at_hi else 0, 0 if at_hi else INFINITY
            self.slack[t] = self.g_slack
        else:
            self.inside[t] = 1
            self.z[t] = self.parked[t]
            self.least[t], self.most[t] = self.lo[t], self.hi[t]
            self.slack[t] = self.theta_slack[t]

    cdef int direction(self, Py_ssize_t r, double sign, bint was_inside, Py_ssize_t *events,
                       Py_ssize_t n_open) except -1 nogil:
        """Rates of all points while theta_r moves by `sign` per unit; 0 if the system is singular."""
        cdef double system[MAX_EVENTS * MAX_EVENTS]
        cdef double push[MAX_EVENTS]
        cdef int pivots[MAX_EVENTS]
        cdef int n = <int> n_open, one = 1, info = 0, m = <int> self.m
        cdef double *T
        cdef double *T_r = NULL
        cdef double largest = 0
        cdef Py_ssize_t i, j
        if was_inside:
            memset(&self.rate[0], 0, self.m * sizeof(double))
        else:
            T_r = self.tableau.column(r)
            for i in range(self.m):
                self.rate[i] = sign * T_r[i]
        if n == 0:
            return 1
        for j in range(n):
            T = self.tableau.column(events[j])
            for i in range(n):
                system[j * n + i] = T[events[i]]
            push[j] = (sign if events[j] == r else 0) if was_inside else -self.rate[events[j]]
        dgesv(&n, &one, system, &n, pivots, push, &n, &info)
        if info != 0:
            return 0
        for j in range(n):
            largest = max(largest, fabs(push[j]))
        if not largest < 1e12:
            return 0
        for j in range(n):
            daxpy(&m, &push[j], self.tableau.column(events[j]), &one, &self.rate[0], &one)
        for j in range(n):
            self.rate[events[j]] = push[j]
        return 1

    cdef Py_ssize_t first_event(self, double left, double *step) noexcept nogil:
        """The point that ends the linear piece, -1 if theta_r reaches 0 first, and the length of the piece.

        Harris's ratio test: of the points that reach their bound within the round-off of the first, the one that moves most.
        """
        cdef Py_ssize_t t, chosen = -1
        cdef double limit = left, ratio, w, weight, heaviest = 0
        for t in range(self.m):
            w = self.rate[t]
            if w == 0:
                continue
            ratio = ((self.most[t] + self.slack[t] if w > 0 else self.least[t] - self.slack[t]) - self.z[t]) / w
            if ratio < limit:
                limit = ratio
        if limit == left:
            step[0] = left
            return -1
        step[0] = 0
        for t in range(self.m):
            w = self.rate[t]
            if w == 0:
                continue
            ratio = ((self.most[t] if w > 0 else self.least[t]) - self.z[t]) / w
            weight = fabs(w) / self.slack[t]
            if ratio <= limit and weight > heaviest:
                heaviest, chosen, step[0] = weight, t, max(ratio, 0)
        return chosen

    cdef double room_inside(self, Py_ssize_t *events, Py_ssize_t n_open) noexcept nogil:
        """How far theta_r can move on before an in-bound point leaves its box."""
        cdef double room = INFINITY
        cdef Py_ssize_t k
        for k in range(self.tableau.s):
            room = min(room, self.room_of(self.tableau.support[k]))
        for k in range(n_open):
            room = min(room, self.room_of(events[k]))
        return room

    cdef double room_of(self, Py_ssize_t t) noexcept nogil:
        cdef double w = self.rate[t]
        if not self.inside[t] or w == 0:
            return INFINITY
        return ((self.most[t] if w > 0 else self.least[t]) - self.z[t]) / w


cdef void move(Py_ssize_t n, double a, const double *x, double *y) noexcept nogil:
    cdef Py_ssize_t t
    for t in range(n):
        y[t] += a * x[t]
