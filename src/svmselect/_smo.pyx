"""The SMO loop.

Design. The dual is kept in signed variables ``theta_t = y_t alpha_t``: maximise ``p'theta - 1/2 theta'K
theta`` over ``lo <= theta <= hi`` and a fixed sum. For a C-SVC ``p = y`` and ``[lo, hi] = [0, C_t]`` for
``y_t = +1`` and ``[-C_t, 0]`` for ``y_t = -1``. The gradient ``f = K theta - p`` equals ``y_t G_t`` in
LIBSVM's notation and is maintained for *every* row, also for those whose box is ``[0, 0]``: a left-out point
keeps an up-to-date decision value ``f_t + p_t + b`` for free.

``up`` and ``low`` are LIBSVM's index sets as bit masks. A step moves a pair (i, j); one pass over memory
updates ``f`` and finds the maximal violating pair of the result, and with the second-order rule (``WSS2``)
another one picks j for that i. Stop: ``M+ - M- = max over low of f - min over up of f <= tol`` (Keerthi et
al. 2001; LIBSVM's scale of tol).

Shrinking copies the rows that still matter into a problem of their own (``descend_on``), which may shrink
again.

Steps leave round-off in ``f`` (``drift``): that of their products, and what a variable was rounded by, or put
on its bound by, and ``f`` was not told. Where that is no longer small beside the tolerance, ``f`` is computed
again from theta, and the gap that counts is the fresh one. What rounding leaves in a fresh ``f`` follows from
theta and the diagonal (``widest``). No constant here depends on the units of the kernel: K s with theta / s
takes the same steps.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs, sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from math import fsum

import numpy as np

from svmselect.threads import check_interrupted

SNAP = 1e-12
cdef double EPS = 2.0 ** -52
cdef double INFINITE = float("inf")
cdef double WORK_PER_CHECK = 1e8   # elements passed over between two looks at Ctrl-C
# the round-off of steps that f may have: of the tolerance, and of the margin
cdef double FRESH = 0.01
cdef double FRESH_OF_MARGIN = 1e-9
cdef double FLAT = 4            # of EPS and K_ii + K_jj: the curvature of a pair that is round-off alone
cdef double TOLD = 1e-6         # of the margin: what rounding may always leave of the gap
cdef double ROUNDING = 16       # of EPS: what a sum of theta_s K_st loses, for terms of random signs
# without a lower gap or a higher value in so many steps, and more in proportion to the rows, SMO is stuck
cdef long long STEPS_PER_LOOK = 20_000
cdef int MOST_IDLE = 3          # looks in a row

cdef long long STEPS_PER_SHRINK = 1000
cdef double SHRINK = 0.7        # of the rows or less: worth a copy
cdef double GAP_PER_SHRINK = 0.1   # of the gap is left to a copy's solver: what else it left out shows early
# A matrix of at most so many values is computed whole.
SMALL_VALUES = 2_000_000
# Of a larger one so many columns are computed at once, or so many values while columns are short; fewer while
# little is known about which points matter, and where they replace others.
FETCH_COLUMNS = 32
FETCH_VALUES = 500_000
FIRST_VALUES = 250_000
FETCH_SHARE = 32

RULES = {"mvp": MVP, "wss2": WSS2}


cdef class Dual:
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
        self.work = 0
        self.largest = gram.diagonal.max()
        # a kernel that is zero everywhere has no scale: steps then go to the next bound
        self.least_curvature = VEC_MIN_CURVATURE * self.largest if self.largest > 0 else 1e-300
        self.lost = self.stale = self.inherited = 0
        self.best_gap, self.best_value, self.idle = INFINITE, -INFINITE, 0
        self.totals = [(slice(None), 0.0)]

    cdef void copy_from(self, Dual other) noexcept nogil:
        """Become a copy of another state of the same problem (p and the diagonal are the same already)."""
        memcpy(self.theta, other.theta, 2 * self.n * sizeof(double))
        memcpy(self.lo, other.lo, 2 * self.n * sizeof(double))
        memcpy(self.up, other.up, 2 * self.n // 8)
        self.pair = other.pair
        self.lost, self.stale, self.inherited = other.lost, other.stale, other.inherited
        self.best_gap, self.best_value, self.idle = INFINITE, -INFINITE, 0
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
        self.stale += 1
        return 0

    cdef void lose(self, Py_ssize_t t, double before, double d) noexcept nogil:
        """Count what rounding takes when f moves by d and theta_t by as much of it as it can."""
        self.lost += (EPS * fabs(d) + fabs(self.theta[t] - before - d)) * sqrt(self.diagonal[t])

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
        if self.stale == 0:
            return self.inherited
        for t in range(self.m):
            most = max(most, fabs(self.f[t]))
        return self.inherited + self.lost * sqrt(self.largest) + EPS * self.stale * most

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
        """To be asked of a fresh f now and then: whether the gap and the dual value, beyond its round-off,
        have been no better the last few times."""
        cdef double gap = self.gap(), value = self.value(), noise = 0
        cdef Py_ssize_t t
        for t in range(self.m):
            noise += fabs(self.theta[t]) * (fabs(self.p[t]) + fabs(self.f[t]))
        if gap < 0.99 * self.best_gap or value > self.best_value + 4 * EPS * noise:
            self.idle = 0
        else:
            self.idle += 1
        self.best_gap, self.best_value = min(self.best_gap, gap), max(self.best_value, value)
        return self.idle >= MOST_IDLE

    cdef int step(self, int rule) except -1 nogil:
        """One SMO step from the selected pair, which has to be violating; selects the next pair."""
        cdef Py_ssize_t i = self.pair.i, j = self.pair.j
        cdef const void *Ki = self.column(i)
        cdef const void *Kj
        cdef double eta, d, room_i, room_j, before_i, before_j
        cdef bint single = self.columns.single
        if rule == WSS2:
            j = vec_second_order(single, self.n, self.f, self.pair.f_i, self.pair.f_j, self.diagonal[i], Ki,
                                 self.diagonal, self.least_curvature, self.partners)
            if j < 0:   # every gain underflows
                j = self.pair.j
        Kj = self.column(j)
        eta = self.diagonal[i] + self.diagonal[j] - 2 * vec_at(single, Ki, j)
        if eta <= FLAT * EPS * (self.diagonal[i] + self.diagonal[j]):
            d = VEC_OUT   # the rows are the same: one of the two goes to its bound
        else:
            d = (self.f[j] - self.f[i]) / max(eta, self.least_curvature)
        before_i, before_j = self.theta[i], self.theta[j]
        room_i = self.hi[i] - before_i
        room_j = before_j - self.lo[j]
        # the variable that reaches its bound is put exactly on it
        if d >= room_i and room_i <= room_j:
            d = room_i
            self.set_theta(i, self.hi[i])
            self.set_theta(j, before_j - d)
        elif d >= room_j:
            d = room_j
            self.set_theta(j, self.lo[j])
            self.set_theta(i, before_i + d)
        else:
            self.set_theta(i, before_i + d)
            self.set_theta(j, before_j - d)
        self.update(d, Ki, -d, Kj, single)
        self.lose(i, before_i, d)
        self.lose(j, before_j, -d)
        self.stale += 1
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

    cdef int run_on(self, int rule, double tol, long long max_iter) except -1 nogil:
        """The same, and an end where steps get nowhere (STUCK)."""
        cdef long long last = self.n_iter + max_iter, wait = self.wait()
        while not self.run(rule, tol, min(wait, last - self.n_iter)):
            if self.n_iter >= last:
                return LIMIT
            with gil:
                self.refresh()
            if self.stuck():
                return STUCK
        return REACHED

    cdef long long wait(self) noexcept nogil:
        """Steps between two looks whether they get anywhere."""
        return STEPS_PER_LOOK + 10 * self.m

    cdef int breathe(self) except -1 nogil:
        """Let Ctrl-C through: Python's in the main thread, requests to stop in others."""
        self.work = 0
        with gil:
            PyErr_CheckSignals()
            check_interrupted()
        return 0

    cdef double level(self, const uint64_t *up, const uint64_t *low, vec_pair pair) noexcept nogil:
        """Value of f at the in-bound SVs, their mean; without any, the midpoint of the interval that the
        other points leave (LIBSVM's choice), or its only end when one class is left."""
        cdef Py_ssize_t t, count = 0
        cdef double total = 0
        for t in range(self.m):
            if (up[t >> 6] & low[t >> 6]) >> (t & 63) & 1:
                total += self.f[t]
                count += 1
        if count > 0:
            return total / count
        if pair.i < 0:
            return pair.f_j if pair.j >= 0 else 0
        if pair.j < 0:
            return pair.f_i
        return 0.5 * (pair.f_i + pair.f_j)

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
        origin, f, self.inherited = 0.0, -self._buffer[2, :self.m], 0
        self.lost = self.stale = 0
        if known is not None and np.count_nonzero(theta != known[0]) < np.count_nonzero(theta):
            origin, f, self.inherited = known
        change = theta - origin
        moved = np.flatnonzero(change)
        self._buffer[0, :self.m] = theta
        self._buffer[1, :self.m] = f
        if moved.size:
            self._buffer[1, :self.m] += self.gram.product(moved, change[moved])
        self.member()
        self.select()

    cdef int refresh(self) except -1:
        """Compute f again from theta, and take the round-off of the steps out of theta's sum."""
        theta, lo, hi = self.view(self.theta).copy(), self.view(self.lo), self.view(self.hi)
        for rows, total in self.totals:
            part = theta[rows]
            drift = total - fsum(part[part != 0])
            room = np.minimum(hi[rows] - part, part - lo[rows])
            t = room.argmax()
            if abs(drift) < room[t]:
                part[t] += drift
                theta[rows] = part
        self.seed(theta)
        return 0

    def solve(self, str working_set, double tol, long long max_iter):
        """Run SMO until the KKT gap is at most tol, max_iter steps are done, or steps get nowhere; whether
        the gap is at most tol.

        The steps' round-off in f is then at most a hundredth of tol, and a billionth of the margin.
        """
        cdef long long last = self.n_iter + max_iter
        cdef int end
        self.best_gap, self.best_value, self.idle = INFINITE, -INFINITE, 0
        while True:
            end = self.descend(RULES[working_set], tol, last)
            if not self.blurred(tol):
                break
            self.refresh()
            if end != REACHED or self.gap() <= tol or self.stuck():
                break
        return self.at(tol)

    cdef int descend(self, int rule, double tol, long long last) except -1:
        """SMO with shrinking until the KKT gap of the running f is at most tol (REACHED), n_iter is `last`
        (LIMIT), or steps get nowhere (STUCK).

        Every so many steps the rows that no violating pair can contain are counted. Where they are many, and
        there is room for it, the others become a problem of their own, with their part of the matrix copied
        together. Its solution is brought back with f of the rows left out, and the whole problem goes on from
        there: what is wrongly left out costs time, never the tolerance.
        """
        cdef int done
        cdef long long look = self.n_iter + self.wait()
        while True:
            with nogil:
                done = self.run(rule, tol, min(STEPS_PER_SHRINK, last - self.n_iter))
            if done:
                return REACHED
            if self.n_iter >= last:
                return LIMIT
            if self.n_iter >= look:
                look = self.n_iter + self.wait()
                self.refresh()
                if self.stuck():
                    return STUCK
            rows = self.candidates()
            if rows.size < SHRINK * self.m and self.gram.has_room(rows.size):
                self.descend_on(rows, rule, max(tol, GAP_PER_SHRINK * self.gap()), min(last, look))

    cdef object view(self, double *values):
        """One of the arrays as an ndarray of shape (m,)."""
        return np.asarray(<double[:self.m]> values)

    cdef object candidates(self):
        """Rows that can be in a violating pair: in-bound ones, and those at a bound that f draws off it."""
        theta, f = self.view(self.theta), self.view(self.f)
        up, low = theta < self.view(self.hi), theta > self.view(self.lo)
        return np.flatnonzero((up & (f <= self.pair.f_j)) | (low & (f >= self.pair.f_i)))

    cdef int descend_on(self, rows, int rule, double tol, long long last) except -1:
        """Descend with all other thetas fixed. Their share is in the part's f alone, which it cannot compute
        again: `last` is at most where the whole problem does so."""
        cdef Dual part = type(self)(self.gram.restricted(rows), self.y[rows])
        part._buffer[:5, :part.m] = self._buffer[:5, rows]
        part.n_iter = self.n_iter
        part.lost, part.stale, part.inherited = self.lost, self.stale, self.inherited
        part.member()
        part.select()
        part.descend(rule, tol, last)
        self.n_iter = part.n_iter
        self.lost, self.stale = part.lost, part.stale
        # f elsewhere follows from the thetas that changed
        theta = self.view(self.theta)
        change = part.view(part.theta) - theta[rows]
        moved = np.flatnonzero(change)
        theta[rows] = part.view(part.theta)
        f = self.view(self.f)
        f[rows] = part.view(part.f)
        rest = np.setdiff1d(np.arange(self.m), rows, assume_unique=True)
        f[rest] += self.gram.product(rows[moved], change[moved], rest)
        self.member()
        self.select()
        return 0

    cdef void member(self) noexcept nogil:
        """Bring the index sets in line with theta."""
        cdef Py_ssize_t t
        for t in range(self.m):
            self.set_theta(t, self.theta[t])

    cdef const void *column(self, Py_ssize_t t) except NULL nogil:
        """Column t, counted as requested; one that is absent comes with those most likely asked for next."""
        if not self.columns.has(t):
            with gil:
                self.fetch(t)
        return self.columns.get(t)

    cdef int fetch(self, Py_ssize_t t) except -1:
        """Have column t computed, and those of the points that are on the wrong side most."""
        if self.columns.full and self.m * self.m <= SMALL_VALUES:
            self.gram.compute()
            return 0
        theta, f, absent = self.view(self.theta), self.view(self.f), ~self.columns.holds(slice(None))
        held = self.m - np.count_nonzero(absent)
        count = min(
            max(FETCH_COLUMNS, FETCH_VALUES // self.m),
            max(held // FETCH_SHARE, FIRST_VALUES // self.m, 2),
            max(self.columns.capacity - held, 4),
        ) // 2
        middle = 0.5 * (self.pair.f_i + self.pair.f_j)
        up = np.flatnonzero(absent & (theta < self.view(self.hi)) & (f < middle))
        low = np.flatnonzero(absent & (theta > self.view(self.lo)) & (f > middle))
        self.columns.fetch(np.concatenate([[t], least(f, up, count), least(-f, low, count)]))
        return 0

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


def least(values, rows, count):
    """The rows of the smallest values among some."""
    if rows.size <= count:
        return rows
    return rows[np.argpartition(values[rows], count)[:count]]
