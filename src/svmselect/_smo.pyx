"""The SMO loop.

Design. The dual is kept in signed variables ``theta_t = y_t alpha_t``: maximise ``y'theta - 1/2 theta'K
theta`` over ``lo <= theta <= hi`` and a fixed sum, with ``[lo, hi] = [0, C_t]`` for ``y_t = +1`` and ``[-C_t,
0]`` for ``y_t = -1``. Its gradient ``f = K theta - y`` equals ``y_t G_t`` in LIBSVM's notation and is
maintained for *every* row, also for those whose box is ``[0, 0]``: a left-out point keeps an up-to-date
decision value ``f_t + y_t + b`` for free.

``up`` and ``low`` are LIBSVM's index sets as biases (see _vec.h). One step moves a pair (i, j), and one pass
over memory updates ``f`` and finds the maximal violating pair of the result; the second-order rule (``WSS2``)
then replaces j. Stop: ``M+ - M- = max over low of f - min over up of f <= tol`` (Keerthi et al. 2001;
LIBSVM's scale of tol).
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcpy

import numpy as np

cdef double MIN_CURVATURE = 1e-12
# a theta this close to a bound, relative to the values it was computed from, is on it
cdef double SNAP = 1e-12
cdef double WORK_PER_CHECK = 1e8   # elements passed over between two looks at Ctrl-C

RULES = {"mvp": MVP, "wss2": WSS2}


cdef class Dual:
    """State of one C-SVC dual problem: variables, gradient, box and index sets.

    Parameters
    ----------
    columns : Columns
    diagonal : ndarray, shape (m,)
        Diagonal of the Gram matrix.
    y : ndarray, shape (m,)
        Labels, -1.0 and +1.0.
    """

    def __cinit__(self, Columns columns, diagonal, y):
        cdef Py_ssize_t m = columns.m, n = columns.ld
        cdef double[:, ::1] buffer
        self.columns = columns
        self.m = m
        self.n = n
        # rows of one buffer; the padding is zero and in no index set
        self._buffer = np.zeros((8, n))
        buffer = self._buffer
        self.theta, self.f, self.y, self.lo = &buffer[0, 0], &buffer[1, 0], &buffer[2, 0], &buffer[3, 0]
        self.hi, self.up, self.low, self.diagonal = &buffer[4, 0], &buffer[5, 0], &buffer[6, 0], &buffer[7, 0]
        self._buffer[1, :m] = -y
        self._buffer[2, :m] = y
        self._buffer[5] = VEC_OUT
        self._buffer[6] = -VEC_OUT
        self._buffer[7, :m] = diagonal
        self.n_iter = 0
        self.work = 0

    cdef void copy_from(self, Dual other) noexcept nogil:
        """Become a copy of another state of the same problem (y and the diagonal are the same already)."""
        memcpy(self.theta, other.theta, 2 * self.n * sizeof(double))
        memcpy(self.lo, other.lo, 4 * self.n * sizeof(double))
        self.pair = other.pair
        self.n_iter = 0

    cdef void set_bounds(self, Py_ssize_t t, double lo, double hi) noexcept nogil:
        self.lo[t] = lo
        self.hi[t] = hi
        self.set_theta(t, self.theta[t])

    cdef void set_theta(self, Py_ssize_t t, double value) noexcept nogil:
        """Assign theta_t, snapped to a bound it misses by round-off; f is left to the caller."""
        cdef double lo = self.lo[t], hi = self.hi[t], snap = SNAP * max(abs(value), abs(self.theta[t]))
        if value >= hi - snap:
            value = hi
        elif value <= lo + snap:
            value = lo
        self.theta[t] = value
        self.up[t] = 0 if value < hi else VEC_OUT
        self.low[t] = 0 if value > lo else -VEC_OUT

    cdef int move(self, Py_ssize_t t, double d) except -1 nogil:
        """Add d to theta_t and its share to f; the pair is stale until the next select()."""
        vec_axpy(self.columns.single, self.n, self.f, d, self.columns.get(t))
        self.set_theta(t, self.theta[t] + d)
        return 0

    cdef void select(self) noexcept nogil:
        """Maximal violating pair of the present f."""
        # columns are read but multiplied by zero: any n doubles will do
        self.pair = vec_update_pair(0, self.n, self.f, 0, self.diagonal, 0, self.diagonal, self.up, self.low)

    cdef double gap(self) noexcept nogil:
        """M+ - M-; below any tolerance where up or low is empty."""
        return self.pair.f_j - self.pair.f_i

    cdef int step(self, int rule) except -1 nogil:
        """One SMO step from the selected pair, which has to be violating; selects the next pair."""
        cdef Py_ssize_t i = self.pair.i, j = self.pair.j
        cdef const void *Ki = self.columns.get(i)
        cdef const void *Kj
        cdef double eta, d, room_i, room_j
        cdef bint single = self.columns.single
        if rule == WSS2:
            j = vec_second_order(single, self.n, self.f, self.pair.f_i, self.diagonal[i], Ki, self.diagonal,
                                 self.low)
        Kj = self.columns.get(j)
        eta = self.diagonal[i] + self.diagonal[j] - 2 * vec_at(single, Ki, j)
        d = (self.f[j] - self.f[i]) / (eta if eta > MIN_CURVATURE else MIN_CURVATURE)
        room_i = self.hi[i] - self.theta[i]
        room_j = self.theta[j] - self.lo[j]
        # the variable that reaches its bound is put exactly on it
        if d >= room_i and room_i <= room_j:
            d = room_i
            self.set_theta(i, self.hi[i])
            self.set_theta(j, self.theta[j] - d)
        elif d >= room_j:
            d = room_j
            self.set_theta(j, self.lo[j])
            self.set_theta(i, self.theta[i] + d)
        else:
            self.set_theta(i, self.theta[i] + d)
            self.set_theta(j, self.theta[j] - d)
        self.pair = vec_update_pair(single, self.n, self.f, d, Ki, -d, Kj, self.up, self.low)
        self.n_iter += 1
        self.work += self.n
        if self.work > WORK_PER_CHECK:
            self.breathe()
        return 0

    cdef int run(self, int rule, double tol, long long max_iter) except -1 nogil:
        """Steps until the KKT gap is at most tol (returns 1) or max_iter steps are done (returns 0)."""
        cdef long long last = self.n_iter + max_iter
        while self.gap() > tol:
            if self.n_iter >= last:
                return 0
            self.step(rule)
        return 1

    cdef int breathe(self) except -1 nogil:
        """Let Ctrl-C through."""
        self.work = 0
        with gil:
            PyErr_CheckSignals()
        return 0

    cdef double threshold(self) noexcept nogil:
        """b: mean of -f over the in-bound SVs; without any, the midpoint of its interval (LIBSVM's choice),
        or the interval's only end when one class is left."""
        cdef Py_ssize_t t, count = 0
        cdef double total = 0
        for t in range(self.m):
            if self.up[t] == 0 and self.low[t] == 0:
                total -= self.f[t]
                count += 1
        if count > 0:
            return total / count
        if self.pair.i < 0:
            return -self.pair.f_j if self.pair.j >= 0 else 0
        if self.pair.j < 0:
            return -self.pair.f_i
        return -0.5 * (self.pair.f_i + self.pair.f_j)

    cdef double value(self) noexcept nogil:
        """Dual objective y'theta - 1/2 theta'K theta = 1/2 theta'(y - f)."""
        return 0.5 * (vec_dot(self.n, self.theta, self.y) - vec_dot(self.n, self.theta, self.f))

    def boxes(self, C):
        """Set the boxes from one upper bound per point, shape (m,); theta becomes 0."""
        cdef double[::1] bound = C
        cdef Py_ssize_t t
        for t in range(self.m):
            self.theta[t] = 0
            self.set_bounds(t, 0 if self.y[t] > 0 else -bound[t], bound[t] if self.y[t] > 0 else 0)
        self.select()

    def seed(self, theta):
        """Start from signed variables, shape (m,), inside their boxes: brings f up to date."""
        cdef double[::1] values = theta
        cdef Py_ssize_t t
        with nogil:
            for t in range(self.m):
                if values[t] != 0:
                    self.move(t, values[t])
            self.select()

    def solve(self, str working_set, double tol, long long max_iter):
        """Run SMO to the tolerance; whether it got there."""
        cdef int rule = RULES[working_set], done
        with nogil:
            done = self.run(rule, tol, max_iter)
        return done == 1

    def state(self):
        """(theta, f, b, objective, KKT gap, iterations); arrays are copies of shape (m,)."""
        gap = self.gap() if self.pair.i >= 0 and self.pair.j >= 0 else 0.0
        theta, f = self._buffer[:2, :self.m].copy()
        return theta, f, self.threshold(), -self.value(), max(gap, 0.0), self.n_iter
