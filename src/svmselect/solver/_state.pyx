"""The state of a dual problem that solvers move: variables, gradient, boxes and index sets.

Design. The dual is kept in signed variables ``theta_t = y_t alpha_t``: maximise ``p'theta - 1/2 theta'K
theta`` over ``lo <= theta <= hi`` and a fixed sum. For a C-SVC ``p = y`` and ``[lo, hi] = [0, C_t]`` for
``y_t = +1`` and ``[-C_t, 0]`` for ``y_t = -1``. The gradient ``f = K theta - p`` equals ``y_t G_t`` in
LIBSVM's notation and is maintained for *every* row, also for those whose box is ``[0, 0]``: a left-out point
keeps an up-to-date decision value ``f_t + p_t + b`` for free.

``up`` and ``low`` are LIBSVM's index sets as bit masks. The KKT gap is ``M+ - M- = max over low of f - min
over up of f`` (Keerthi et al. 2001; LIBSVM's scale of tol).

Steps leave round-off in ``f`` (``drift``): that of their products, and what a variable was rounded by, or put
on its bound by, and ``f`` was not told. Where that is no longer small beside the tolerance, ``f`` is computed
again from theta, and the gap that counts is the fresh one. What rounding leaves in a fresh ``f`` follows from
theta and the diagonal (``widest``). No constant here depends on the units of the kernel: K s with theta / s
takes the same steps.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from math import fsum

import numpy as np

SNAP = 1e-12
cdef double EPS = 2.0 ** -52
cdef double INFINITE = float("inf")
# The steps may leave this much round-off in f: a share of the tolerance, and of the margin.
cdef double FRESH = 0.01
cdef double FRESH_OF_MARGIN = 1e-9
# Rounding may always leave this much of the gap, relative to the margin.
cdef double TOLD = 1e-6
# A sum of theta_s K_st loses this many EPS, for terms of random signs.
cdef double ROUNDING = 16
MOST_IDLE = 3


cpdef double midpoint(double least, double most) noexcept nogil:
    """Return -b where no in-bound SV fixes it: LIBSVM's choice, the middle of the interval that is left.

    Every rule of the library for such a threshold is this one.

    Parameters
    ----------
    least : float
        Least f of the points whose theta can grow; VEC_OUT or infinity without any.
    most : float
        Largest f of those whose theta can shrink; -VEC_OUT or -infinity without any.

    Returns
    -------
    float
        The only end where the other is missing, and 0 without both.
    """
    if least >= VEC_OUT:
        return 0 if most <= -VEC_OUT else most
    return least if most <= -VEC_OUT else 0.5 * (least + most)


cdef class State:
    """State of one dual problem: variables, gradient, boxes and index sets.

    Parameters
    ----------
    gram : Gram
    y : ndarray, shape (m,)
        The linear term p: of a C-SVC its labels, -1.0 and +1.0.
    """

    def __cinit__(self, gram, y):
        cdef Py_ssize_t m = gram.m, n = gram.columns.ld
        cdef double[:, ::1] buffer
        cdef uint64_t[:, ::1] sets
        self.gram = gram
        self.y = y
        self.columns = gram.columns
        self.m = m
        self.n = n
        # rows of one buffer; the padding is zero and in no index set
        self._buffer = np.zeros((6, n))
        buffer = self._buffer
        self.theta, self.f, self.p = &buffer[0, 0], &buffer[1, 0], &buffer[2, 0]
        self.lo, self.hi, self.diagonal = &buffer[3, 0], &buffer[4, 0], &buffer[5, 0]
        self._buffer[1, :m] = -y
        self._buffer[2, :m] = y
        self._buffer[5, :m] = gram.diagonal
        self._sets = np.zeros((2, n // 64), dtype=np.uint64)
        sets = self._sets
        self.up, self.low = &sets[0, 0], &sets[1, 0]
        self.n_iter = 0
        self.largest = gram.diagonal.max()
        # a kernel that is zero everywhere has no scale: steps then go to the next bound
        self.least_curvature = VEC_MIN_CURVATURE * self.largest if self.largest > 0 else 1e-300
        self.rounding_of_steps = self.steps_since_refresh = self.rounding_before = 0
        self.best_gap, self.best_value, self.idle = INFINITE, -INFINITE, 0
        self.totals = [(slice(None), 0.0)]

    cdef void copy_from(self, State other) noexcept nogil:
        """Become a copy of another state of the same problem (p and the diagonal are the same already)."""
        memcpy(self.theta, other.theta, 2 * self.n * sizeof(double))
        memcpy(self.lo, other.lo, 2 * self.n * sizeof(double))
        memcpy(self.up, other.up, 2 * self.n // 8)
        self.pair = other.pair
        self.copy_rounding(other)
        self.best_gap, self.best_value, self.idle = INFINITE, -INFINITE, 0
        self.n_iter = 0

    cdef void copy_rounding(self, State other) noexcept nogil:
        """Take over what rounding may have done to another state's f."""
        self.rounding_of_steps, self.steps_since_refresh = other.rounding_of_steps, other.steps_since_refresh
        self.rounding_before = other.rounding_before

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
        cdef uint64_t bit = (<uint64_t> 1) << (t & 63)
        self.up[t >> 6] = self.up[t >> 6] | bit if value < hi else self.up[t >> 6] & ~bit
        self.low[t >> 6] = self.low[t >> 6] | bit if value > lo else self.low[t >> 6] & ~bit

    cdef void exclude(self, Py_ssize_t t) noexcept nogil:
        """Take t out of both index sets until its theta is set again."""
        cdef uint64_t bit = (<uint64_t> 1) << (t & 63)
        self.up[t >> 6] &= ~bit
        self.low[t >> 6] &= ~bit

    cdef int move(self, Py_ssize_t t, double d) except -1 nogil:
        """Add d to theta_t and its share to f; the pair is stale until the next select()."""
        cdef double before = self.theta[t]
        vec_axpy(self.columns.single, self.n, self.f, d, self.columns.get(t))
        self.set_theta(t, before + d)
        self.lose(t, before, d)
        self.steps_since_refresh += 1
        return 0

    cdef void lose(self, Py_ssize_t t, double before, double d) noexcept nogil:
        """Count what rounding takes when f moves by d and theta_t by as much of it as it can."""
        self.rounding_of_steps += (EPS * fabs(d) + fabs(self.theta[t] - before - d)) * sqrt(self.diagonal[t])

    cdef void select(self) noexcept nogil:
        """Maximal violating pair of the present f."""
        # columns are read but multiplied by zero: any n doubles will do
        self.update(0, self.diagonal, 0, self.diagonal, False)

    cdef void update(self, double d_i, const void *K_i, double d_j, const void *K_j,
                     bint single) noexcept nogil:
        """f += d_i K_i + d_j K_j, and the pair to move next."""
        self.pair = vec_update_pair(single, self.n, self.f, d_i, K_i, d_j, K_j, self.up, self.low)
        self.partners = self.low

    cdef double gap(self) noexcept nogil:
        """M+ - M-; below any tolerance where up or low is empty."""
        return self.pair.f_j - self.pair.f_i

    cdef double drift(self) noexcept nogil:
        """Round-off that may have come into f since it was computed from theta: that of each step's two
        products, of adding them, and of adding the step to theta."""
        cdef Py_ssize_t t
        cdef double most = 0
        if self.steps_since_refresh == 0:
            return self.rounding_before
        for t in range(self.m):
            most = max(most, fabs(self.f[t]))
        most *= EPS * self.steps_since_refresh
        return self.rounding_before + self.rounding_of_steps * sqrt(self.largest) + most

    cdef double widest(self, const uint64_t *up, const uint64_t *low) noexcept nogil:
        """The largest M+ - M- that f may have without its round-off: that of the last steps, and that of f
        itself.

        An error of u |theta_s|, of the variable itself or of its part in the sum f_t, moves f_t by less than
        u |theta_s| sqrt(K_ss K_tt); the errors are independent, so their squares add up.
        """
        cdef Py_ssize_t t
        cdef double drift = self.drift(), size = 0, noise, least = VEC_OUT, most = -VEC_OUT
        for t in range(self.m):
            size += self.theta[t] * self.theta[t] * self.diagonal[t]
        size = sqrt(size)
        for t in range(self.m):
            noise = ROUNDING * EPS * (size * sqrt(self.diagonal[t]) + fabs(self.p[t])) + drift
            if up[t >> 6] >> (t & 63) & 1:
                least = min(least, self.f[t] - noise)
            if low[t >> 6] >> (t & 63) & 1:
                most = max(most, self.f[t] + noise)
        return most - least

    cdef double gap_bound(self) noexcept nogil:
        """The largest KKT gap that theta may have, whatever rounding did to f."""
        return self.widest(self.up, self.low)

    cdef bint at(self, double tol) noexcept nogil:
        """Whether the KKT gap is at most tol, and float64 can tell: to within another tol, or, where tol is
        smaller than is of any use, a millionth of the margin."""
        return self.gap() <= tol and self.gap_bound() <= tol + max(tol, TOLD * self.margin())

    cdef double margin(self) noexcept nogil:
        """The size of the linear term; without one, f is in units of the kernel."""
        cdef Py_ssize_t t
        cdef double margin = 0
        for t in range(self.m):
            margin = max(margin, fabs(self.p[t]))
        return margin if margin > 0 else self.largest

    cdef bint blurred(self, double tol) noexcept nogil:
        """Whether steps have left more round-off in f than one wants in a result, or in the sum of theta."""
        cdef Py_ssize_t t
        cdef double total = 0, size = 0
        if 2 * self.drift() > min(FRESH * tol, FRESH_OF_MARGIN * self.margin()):
            return True
        for t in range(self.m):
            total += self.theta[t]
            size += fabs(self.theta[t])
        return fabs(total - self.total) > ROUNDING * EPS * size

    cdef bint stuck(self) noexcept nogil:
        """Return whether neither the gap nor the dual value has been better the last few times that this was
        asked, each time of a fresh f.

        The value has to rise by more than its round-off. It does not count once round-off can have made all
        of the gap: steps may then raise it for ever, by the last bits of f.
        """
        cdef double gap = self.gap(), value = self.value(), noise = 0
        cdef Py_ssize_t t
        for t in range(self.m):
            noise += fabs(self.theta[t]) * (fabs(self.p[t]) + fabs(self.f[t]))
        if gap < 0.99 * self.best_gap:
            self.idle = 0
        elif value > self.best_value + 4 * EPS * noise and 2 * gap > self.gap_bound():
            self.idle = 0
        else:
            self.idle += 1
        self.best_gap, self.best_value = min(self.best_gap, gap), max(self.best_value, value)
        return self.idle >= MOST_IDLE

    cdef double level(self, const uint64_t *up, const uint64_t *low, vec_pair pair) noexcept nogil:
        """Return -b: the mean f of the in-bound SVs, or without any the `midpoint`."""
        cdef Py_ssize_t t, count = 0
        cdef double total = 0
        for t in range(self.m):
            if (up[t >> 6] & low[t >> 6]) >> (t & 63) & 1:
                total += self.f[t]
                count += 1
        return total / count if count > 0 else midpoint(pair.f_i, pair.f_j)

    cdef double threshold(self) noexcept nogil:
        """b"""
        return -self.level(self.up, self.low, self.pair)

    cdef double value(self) noexcept nogil:
        """Dual objective p'theta - 1/2 theta'K theta = 1/2 theta'(p - f)."""
        return 0.5 * (vec_dot(self.n, self.theta, self.p) - vec_dot(self.n, self.theta, self.f))

    def boxes(self, y, C):
        """Set the boxes of a C-SVC from labels and one upper bound per point, shape (m,); theta becomes 0."""
        self.confine(np.where(y > 0, 0, -C), np.where(y > 0, C, 0), np.zeros(self.m))

    def confine(self, lo, hi, theta):
        """Set any boxes, shape (m,) each, and start from signed variables inside them, whose sum is to
        stay."""
        self.totals = [(slice(None), fsum(theta[theta != 0]))]
        self.total = self.totals[0][1]
        self._buffer[3, :self.m] = lo
        self._buffer[4, :self.m] = hi
        self.seed(theta)

    def seed(self, theta, known=None):
        """Start from signed variables, shape (m,), inside their boxes.

        `known` is (theta, f, round-off of f) of this problem's kernel and linear term, whatever its boxes: f
        is then computed from where the variables differ, if that is less work than from all of them.
        """
        origin, f, self.rounding_before = 0.0, -self._buffer[2, :self.m], 0
        self.rounding_of_steps = self.steps_since_refresh = 0
        if known is not None and np.count_nonzero(theta != known[0]) < np.count_nonzero(theta):
            origin, f, self.rounding_before = known
        change = theta - origin
        moved = np.flatnonzero(change)
        self._buffer[0, :self.m] = theta
        self._buffer[1, :self.m] = f
        if moved.size:
            self._buffer[1, :self.m] += self.gram.product(moved, change[moved])
        self.update_sets()
        self.select()

    cdef int refresh(self) except -1:
        """Compute f again from theta, and take the round-off of the steps out of theta's sum.

        The variable with most room takes it. If it misses its bound by just as much, it goes there: it would
        pass for in-bound, and fix a threshold that is an interval.
        """
        theta, lo, hi = self.view(self.theta).copy(), self.view(self.lo), self.view(self.hi)
        for rows, total in self.totals:
            part, least, most = theta[rows], lo[rows], hi[rows]
            drift = total - fsum(part[part != 0])
            room = np.minimum(most - part, part - least)
            t = room.argmax()
            if room[t] > 0 and abs(drift) <= room[t] + SNAP * (most[t] - least[t]):
                part[t] = min(max(part[t] + drift, least[t]), most[t])
                theta[rows] = part
        self.seed(theta)
        return 0

    cdef object view(self, double *values):
        """One of the arrays as an ndarray of shape (m,)."""
        return np.asarray(<double[:self.m]> values)

    cdef void update_sets(self) noexcept nogil:
        """Bring the index sets in line with theta."""
        cdef Py_ssize_t t
        for t in range(self.m):
            self.set_theta(t, self.theta[t])

    def gap_now(self):
        """M+ - M-; 0 where one of the two sets is empty."""
        return self.gap() if self.pair.i >= 0 and self.pair.j >= 0 else 0.0

    def rounding(self):
        """By how much rounding may have made the KKT gap too small."""
        return self.gap_bound() - self.gap()

    def reached(self, double tol):
        """See `at`."""
        return self.at(tol)

    def known(self):
        """(theta, f, round-off of f) for `seed`; arrays are copies of shape (m,)."""
        return *self._buffer[:2, :self.m].copy(), self.drift()

    def arrays(self):
        """(theta, f, lo, hi), copies of shape (m,)."""
        return self._buffer[[0, 1, 3, 4], :self.m]

    def linear_term(self):
        """p, shape (m,): f + p is K theta."""
        return self._buffer[2, :self.m].copy()

    def state(self):
        """(theta, f, b, objective, KKT gap, iterations); arrays are copies of shape (m,)."""
        theta, f = self._buffer[:2, :self.m].copy()
        return theta, f, self.threshold(), -self.value(), max(self.gap_now(), 0.0), self.n_iter
