"""The state of a dual problem that solvers move: variables, gradient, boxes and index sets.

Design. The dual is kept in signed variables ``theta_t = y_t alpha_t``: maximise ``p'theta - 1/2 theta'K
theta`` over ``lo <= theta <= hi`` and a fixed sum. For a C-SVC ``p = y`` and ``[lo, hi] = [0, C_t]`` for
``y_t = +1`` and ``[-C_t, 0]`` for ``y_t = -1``. The gradient ``f = K theta - p`` equals ``y_t G_t`` in
LIBSVM's notation. It is kept up to date for *every* row, also for those whose box is ``[0, 0]``: a left-out
point has its decision value ``f_t + p_t + b`` for free.

``up`` and ``low`` are LIBSVM's index sets as bit masks. The KKT gap is ``M+ - M- = max over low of f - min
over up of f`` (Keerthi et al. 2001; LIBSVM's scale of tol).

Steps leave round-off in ``f`` (``drift``). It comes from their products, and from moving a variable by less
than ``f`` was told, when it is rounded or put on its bound. Once that round-off is no longer small beside the
tolerance, ``f`` is computed again from theta, and the fresh gap counts. The round-off of a fresh ``f``
follows from theta and the diagonal (``widest``). No constant here depends on the units of the kernel: K s
with theta / s takes the same steps.

Regressions. The dual of an epsilon-SVR has two variables per row, in ``[0, C_t]`` with ``p = z_t - epsilon``
and in ``[-C_t, 0]`` with ``p = z_t + epsilon``, and at the optimum one of them is 0. So a row has one
variable here, with the box and p of its *side*, and one column. A variable at 0 can move on either side;
`choose_sides` gives it the side where it violates the KKT conditions more, before each pair is selected anew.
Then no pair of the whole problem violates more than the selected one, and solvers need not know of sides.
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
# Round-off of this much of the gap, relative to the margin, is always accepted.
cdef double TOLD = 1e-6
# A sum of theta_s K_st loses this many EPS, for terms of random signs.
cdef double ROUNDING = 16
MOST_IDLE = 3


cpdef double midpoint(double least, double most) noexcept nogil:
    """Return -b where no in-bound SV fixes it: the middle of its interval, as in LIBSVM.

    The whole library uses this rule for such a threshold. `least` is the least f of the points whose theta
    can grow, `most` the largest f of those whose theta can shrink; VEC_OUT or infinity, negated for `most`,
    without any. With one end missing it is the other end; without both, 0.
    """
    if least >= VEC_OUT:
        return 0 if most <= -VEC_OUT else most
    return least if most <= -VEC_OUT else 0.5 * (least + most)


cdef class State:
    """State of one dual problem: variables, gradient, boxes and index sets.

    `y` is the linear term p: of a C-SVC its labels, -1.0 and +1.0.
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
        self.sided, self.tube = False, 0

    cdef void copy_from(self, State other) noexcept nogil:
        """Copy another state of the same problem, whose p and diagonal are the same already."""
        # theta and f, lo and hi, up and low lie together
        memcpy(self.theta, other.theta, 2 * self.n * sizeof(double))
        memcpy(self.lo, other.lo, 2 * self.n * sizeof(double))
        memcpy(self.up, other.up, 2 * self.n // 8)
        self.pair = other.pair
        self.copy_rounding(other)
        self.best_gap, self.best_value, self.idle = INFINITE, -INFINITE, 0
        self.n_iter = 0

    cdef void copy_rounding(self, State other) noexcept nogil:
        """Copy the bound of the round-off in another state's f."""
        self.rounding_of_steps, self.steps_since_refresh = other.rounding_of_steps, other.steps_since_refresh
        self.rounding_before = other.rounding_before

    cdef void set_bounds(self, Py_ssize_t t, double lo, double hi) noexcept nogil:
        """Assign the box of theta_t, and bring the index sets in line with it."""
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
        # up[t] = value < hi;  low[t] = value > lo
        cdef uint64_t bit = (<uint64_t> 1) << (t & 63)
        self.up[t >> 6] = self.up[t >> 6] | bit if value < hi else self.up[t >> 6] & ~bit
        self.low[t >> 6] = self.low[t >> 6] | bit if value > lo else self.low[t >> 6] & ~bit

    cdef void exclude(self, Py_ssize_t t) noexcept nogil:
        """Take t out of both index sets until its theta is set again."""
        cdef uint64_t bit = (<uint64_t> 1) << (t & 63)
        self.up[t >> 6] &= ~bit
        self.low[t >> 6] &= ~bit

    cdef int move(self, Py_ssize_t t, double d) except -1 nogil:
        """Add d to theta_t and its share to f; the pair is out of date until the next select()."""
        cdef double before = self.theta[t]
        # f += d * K[t]
        vec_axpy(self.columns.single, self.n, self.f, d, self.columns.get(t))
        self.set_theta(t, before + d)
        self.add_rounding(t, before, d)
        self.steps_since_refresh += 1
        return 0

    cdef void add_rounding(self, Py_ssize_t t, double before, double d) noexcept nogil:
        """Add the round-off of a step in which f moved by d, and theta_t from `before` by nearly d."""
        self.rounding_of_steps += (EPS * fabs(d) + fabs(self.theta[t] - before - d)) * sqrt(self.diagonal[t])

    cdef void select(self) noexcept nogil:
        """Select the maximal violating pair of the present f."""
        if self.sided:
            self.choose_sides()
        # f += 0 * diagonal: columns that are multiplied by 0 may be any n doubles
        self.update(0, self.diagonal, 0, self.diagonal, False)

    cdef void update(self, double d_i, const void *K_i, double d_j, const void *K_j,
                     bint single) noexcept nogil:
        """Add d_i K_i + d_j K_j to f, and select the pair to move next."""
        # f += d_i * K[i] + d_j * K[j];  pair = argmin(f[up]), argmax(f[low])
        self.pair = vec_update_pair(single, self.n, self.f, d_i, K_i, d_j, K_j, self.up, self.low)
        self.partners = self.low

    cdef void choose_sides(self) noexcept nogil:
        """Give variables at 0 the side where they violate the KKT conditions more."""
        cdef double middle = self.middle(), half = 0.5 * self.tube
        cdef Py_ssize_t t
        cdef bint positive, any_turned = False
        for t in range(self.m):
            if self.theta[t] == 0 and self.lo[t] < self.hi[t]:
                positive = self.hi[t] > 0
                if ((self.f[t] - half if positive else self.f[t] + half) < middle) != positive:
                    self.turn(t)
                    any_turned = True
        # each f may have lost the round-off of one more sum
        self.steps_since_refresh += any_turned

    cdef void turn(self, Py_ssize_t t) noexcept nogil:
        """Turn a variable at 0 to the other side."""
        cdef double p
        self.lo[t], self.hi[t] = 0.0 - self.hi[t], 0.0 - self.lo[t]
        # p = z - side * epsilon
        p = self.targets[t] - (0.5 if self.hi[t] > 0 else -0.5) * self.tube
        self.f[t] -= p - self.p[t]
        self.p[t] = p
        self.set_theta(t, 0)

    cdef vec_pair extremes(self) noexcept nogil:
        """Return the least f of variables that can grow, and the largest of those that can shrink.

        Variables at 0 count on both sides.
        """
        cdef vec_pair pair
        cdef Py_ssize_t t
        cdef bint turns
        pair.i = pair.j = -1
        pair.f_i, pair.f_j = VEC_OUT, -VEC_OUT
        for t in range(self.m):
            turns = self.theta[t] == 0 and self.lo[t] < self.hi[t]
            if self.theta[t] < self.hi[t]:
                pair.f_i = min(pair.f_i, self.f[t])
                if turns:
                    pair.f_j = max(pair.f_j, self.f[t] - self.tube)
            if self.theta[t] > self.lo[t]:
                pair.f_j = max(pair.f_j, self.f[t])
                if turns:
                    pair.f_i = min(pair.f_i, self.f[t] + self.tube)
        return pair

    cdef double middle(self) noexcept nogil:
        """Return the level of ``K theta - z`` below which a variable at 0 is to be on the positive side."""
        cdef vec_pair pair = self.extremes()
        return midpoint(pair.f_i, pair.f_j)

    cdef double gap(self) noexcept nogil:
        """Return M+ - M-, which is below any tolerance where up or low is empty."""
        return self.pair.f_j - self.pair.f_i

    cdef double drift(self) noexcept nogil:
        """Return a bound of the round-off that steps have left in f since it was computed from theta.

        It has three parts: of each step's two products, of adding them to f, and of adding the step to theta.
        """
        cdef Py_ssize_t t
        cdef double most = 0
        if self.steps_since_refresh == 0:
            return self.rounding_before
        # rounding_before + rounding_of_steps * sqrt(largest) + EPS * steps * max(|f|)
        for t in range(self.m):
            most = max(most, fabs(self.f[t]))
        most *= EPS * self.steps_since_refresh
        return self.rounding_before + self.rounding_of_steps * sqrt(self.largest) + most

    cdef double widest(self, const uint64_t *up, const uint64_t *low) noexcept nogil:
        """Return the largest M+ - M- that an exact f may have, given the round-off of f and of its steps.

        An error of u |theta_s|, of the variable itself or of its part in the sum f_t, moves f_t by less than
        u |theta_s| sqrt(K_ss K_tt). The errors are independent, so their squares add up.
        """
        cdef Py_ssize_t t
        cdef double drift = self.drift(), size = 0, noise, least = VEC_OUT, most = -VEC_OUT
        cdef bint turns
        # size = sqrt(sum(theta^2 K_tt))
        for t in range(self.m):
            size += self.theta[t] * self.theta[t] * self.diagonal[t]
        size = sqrt(size)
        # max(f + noise over low) - min(f - noise over up)
        for t in range(self.m):
            noise = ROUNDING * EPS * (size * sqrt(self.diagonal[t]) + fabs(self.p[t])) + drift
            turns = self.tube > 0 and self.theta[t] == 0
            if up[t >> 6] >> (t & 63) & 1:
                least = min(least, self.f[t] - noise)
                if turns:
                    most = max(most, self.f[t] - self.tube + noise)
            if low[t >> 6] >> (t & 63) & 1:
                most = max(most, self.f[t] + noise)
                if turns:
                    least = min(least, self.f[t] + self.tube - noise)
        return most - least

    cdef double gap_bound(self) noexcept nogil:
        """Return the largest KKT gap that theta may have, given the round-off in f."""
        return self.widest(self.up, self.low)

    cdef bint solved_to(self, double tol) noexcept nogil:
        """Return whether the KKT gap is at most tol, with round-off of at most another tol.

        Where tol is below a millionth of the margin, round-off of that much is accepted.
        """
        return self.gap() <= tol and self.gap_bound() <= tol + max(tol, TOLD * self.margin())

    cdef double margin(self) noexcept nogil:
        """Return the size of the linear term or, without one, the largest kernel value."""
        cdef Py_ssize_t t
        cdef double margin = 0
        for t in range(self.m):
            margin = max(margin, fabs(self.p[t]))
        return margin if margin > 0 else self.largest

    cdef bint blurred(self, double tol) noexcept nogil:
        """Return whether steps have left too much round-off for a result, in f or in the sum of theta."""
        cdef Py_ssize_t t
        cdef double total = 0, size = 0
        if 2 * self.drift() > min(FRESH * tol, FRESH_OF_MARGIN * self.margin()):
            return True
        for t in range(self.m):
            total += self.theta[t]
            size += fabs(self.theta[t])
        return fabs(total - self.total) > ROUNDING * EPS * size

    cdef bint stuck(self) noexcept nogil:
        """Return whether neither the gap nor the dual value has improved in the last MOST_IDLE calls.

        Each call needs a fresh f. The value has to rise by more than its round-off. It does not count once
        the gap may be all round-off: steps could then raise it for ever, by the last bits of f.
        """
        cdef double gap = self.gap(), value = self.value(), noise = 0
        cdef Py_ssize_t t
        # noise = |theta| @ (|p| + |f|), the size of the value's terms
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
        """Return the threshold b."""
        return -self.level(self.up, self.low, self.extremes() if self.sided else self.pair)

    cdef double value(self) noexcept nogil:
        """Return the dual value p'theta - 1/2 theta'K theta."""
        # 0.5 * (theta @ p - theta @ f), since K @ theta = f + p
        return 0.5 * (vec_dot(self.n, self.theta, self.p) - vec_dot(self.n, self.theta, self.f))

    def boxes(self, y, C, theta=None):
        """Set the boxes of a C-SVC from labels and upper bounds, shape (m,) each, and start from theta, or 0.

        The sum of theta is to be 0; what a start lacks of it is round-off.
        """
        self._set_boxes(np.where(y > 0, 0, -C), np.where(y > 0, C, 0), 0.0)
        self.seed(np.zeros(self.m) if theta is None else theta)

    def confine(self, lo, hi, theta):
        """Set any boxes, shape (m,) each, and start from variables inside them, whose sum is to stay."""
        self._set_boxes(lo, hi, fsum(theta[theta != 0]))
        self.seed(theta)

    def regress(self, C, double epsilon, theta=None, known=None):
        """Set the boxes and the linear term of an epsilon-SVR with targets y, and start from theta, or 0.

        `C` are its upper bounds, shape (m,), and the sum of theta is to be 0. `known` is `known_product` of
        another problem with the same kernel; see `seed`.
        """
        theta = np.zeros(self.m) if theta is None else theta
        side = np.where(theta < 0, -1.0, 1.0)
        self._targets = np.array(self.y, dtype=np.float64)
        cdef double[::1] targets = self._targets
        self.targets = &targets[0]
        self.sided, self.tube = epsilon > 0, 2 * epsilon
        self._buffer[2, :self.m] = self._targets - side * epsilon
        if self.sided:
            self._set_boxes(np.where(side > 0, 0, -C), np.where(side > 0, C, 0), 0.0)
        else:
            self._set_boxes(-C, C, 0.0)
        if known is not None:
            known = known[0], known[1] - self._buffer[2, :self.m], known[2]
        self.seed(theta, known)

    def _set_boxes(self, lo, hi, total):
        self._buffer[3, :self.m] = lo
        self._buffer[4, :self.m] = hi
        self.totals, self.total = [(slice(None), total)], total

    def seed(self, theta, solved=None):
        """Start from signed variables, shape (m,), inside their boxes.

        `solved` is (theta, f, round-off of f) of a problem with the same kernel and linear term, whatever its
        boxes. Then f is computed from the variables that differ, if these are fewer than all that are not 0.
        """
        origin, f, self.rounding_before = 0.0, -self._buffer[2, :self.m], 0
        self.rounding_of_steps = self.steps_since_refresh = 0
        if solved is not None and np.count_nonzero(theta != solved[0]) < np.count_nonzero(theta):
            origin, f, self.rounding_before = solved
        # f = f_origin + K @ (theta - origin)
        change = theta - origin
        moved = np.flatnonzero(change)
        self._buffer[0, :self.m] = theta
        self._buffer[1, :self.m] = f
        if moved.size:
            self._buffer[1, :self.m] += self.gram.product(moved, change[moved])
        self.update_sets()
        self.select()

    cdef int refresh(self) except -1:
        """Compute f again from theta, and correct the sum of theta for the round-off of steps.

        The variable with most room takes the correction. If it misses its bound by just as much, it goes
        there. Otherwise it would pass for in-bound, and fix a threshold that is an interval.
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
        """Return one of the arrays as an ndarray of shape (m,), which shares its memory."""
        return np.asarray(<double[:self.m]> values)

    cdef void update_sets(self) noexcept nogil:
        """Bring the index sets in line with theta."""
        cdef Py_ssize_t t
        for t in range(self.m):
            self.set_theta(t, self.theta[t])

    def gap_now(self):
        """Return M+ - M-, or 0 where one of the two sets is empty."""
        return self.gap() if self.pair.i >= 0 and self.pair.j >= 0 else 0.0

    def rounding(self):
        """Return by how much rounding may have made the KKT gap too small."""
        return self.gap_bound() - self.gap()

    def reached(self, double tol):
        """Return whether the KKT gap is at most tol, with little round-off; see `solved_to`."""
        return self.solved_to(tol)

    def known(self):
        """Return (theta, f, round-off of f) for `seed`; arrays are copies of shape (m,)."""
        return *self._buffer[:2, :self.m].copy(), self.drift()

    def known_product(self):
        """Return (theta, K theta, its round-off) for `regress`; arrays are of shape (m,)."""
        return self._buffer[0, :self.m].copy(), self._buffer[1:3, :self.m].sum(axis=0), self.drift()

    def arrays(self):
        """Return (theta, f, lo, hi), copies of shape (m,)."""
        return self._buffer[[0, 1, 3, 4], :self.m]

    def linear_term(self):
        """Return p, shape (m,): f + p is K theta."""
        return self._buffer[2, :self.m].copy()

    def state(self):
        """Return (theta, f, b, objective, KKT gap, iterations); arrays are copies of shape (m,)."""
        theta, f = self._buffer[:2, :self.m].copy()
        return theta, f, self.threshold(), -self.value(), max(self.gap_now(), 0.0), self.n_iter
