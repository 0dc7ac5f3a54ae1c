"""The SMO loop, for C-SVC and nu-SVC.

Design. A step moves a pair (i, j) of a `State` along the line that keeps the sum. One pass over memory
updates ``f`` and finds the maximal violating pair of the result; with the second-order rule (``WSS2``)
another pass picks j for that i. The loop stops when the KKT gap is at most the tolerance.

Shrinking copies the rows that can still move into a problem of their own (``descend_on``), which may shrink
again.

Nu-SVC. In signed variables the nu-SVC of Chang and Lin (2001) maximises ``-1/2 theta'K theta`` with the sum
of each class fixed at plus or minus ``nu m / 2`` and ``|theta_t| <= 1``. It is a C-SVC without linear term
whose pairs lie within one class. The index sets of the two classes take turns in the pass, and the step is in
the class that violates more.
"""

from cpython.exc cimport PyErr_CheckSignals
import numpy as np

from svmselect.checks import WORKING_SETS
from svmselect.threads import check_interrupted

from libc.stdint cimport uint64_t

from svmselect.solver._state cimport (
    VEC_OUT, State, midpoint, vec_at, vec_pair, vec_second_order, vec_update_gain, vec_update_pair)

cdef double EPS = 2.0 ** -52
cdef double INFINITE = float("inf")
cdef double WORK_PER_CHECK = 1e8   # elements passed over between two looks at Ctrl-C
# A pair's curvature below FLAT * EPS * (K_ii + K_jj) is round-off alone.
cdef double FLAT = 4
# SMO is stuck if this many steps, and more in proportion to the rows, bring no lower gap and no higher value.
cdef long long STEPS_PER_LOOK = 20_000

# Variables of a regression at 0 choose their side after this many steps.
cdef long long STEPS_PER_SIDE = 32
cdef long long STEPS_PER_SHRINK = 1000
# If at most this share of the rows can still move, a copy of their part of the matrix is worth its price.
cdef double SHRINK = 0.7
# The shrunk problem is solved to this share of the current gap only, so that rows that were wrongly removed
# return early.
cdef double GAP_PER_SHRINK = 0.1
# A matrix with at most this many values is computed as a whole.
SMALL_VALUES = 2_000_000
# For larger matrices, this many columns (or this many values, if columns are short) are computed at a time.
# Fewer are computed at the start, when it is not yet clear which points will move, and where they replace
# stored columns.
FETCH_COLUMNS = 32
FETCH_VALUES = 500_000
FIRST_VALUES = 250_000
FETCH_SHARE = 32

RULES = dict(zip(WORKING_SETS, (MVP, WSS2)))


cdef class Dual(State):
    """A dual problem that SMO solves; see `State` for the parameters."""

    cdef int step(self, int rule) except -1 nogil:
        """Move the selected pair, which has to be violating, to its optimum; select the next pair."""
        cdef Py_ssize_t i = self.pair.i, j = self.pair.j
        cdef const void *Ki = self.column(i)
        cdef const void *Kj
        cdef double eta, d, room_i, room_j, before_i, before_j
        cdef bint single = self.columns.single
        # 1) j = argmax((f[t] - f[i])^2 / (K[i, i] + K[t, t] - 2 K[i, t])) over low
        if rule == WSS2:
            j = vec_second_order(single, self.n, self.f, self.pair.f_i, self.pair.f_j, self.diagonal[i], Ki,
                                 self.diagonal, self.least_curvature, self.partners)
            if j < 0:   # every gain underflows
                j = self.pair.j
        Kj = self.column(j)
        # 2) d = (f[j] - f[i]) / (K[i, i] + K[j, j] - 2 K[i, j])
        eta = self.diagonal[i] + self.diagonal[j] - 2 * vec_at(single, Ki, j)
        if eta <= FLAT * EPS * (self.diagonal[i] + self.diagonal[j]):
            d = VEC_OUT   # the rows are the same: one of the two goes to its bound
        else:
            d = (self.f[j] - self.f[i]) / max(eta, self.least_curvature)
        # 3) theta[i] += d, theta[j] -= d, up to the first bound
        before_i, before_j = self.theta[i], self.theta[j]
        room_i = self.hi[i] - before_i
        room_j = before_j - self.lo[j]
        # the variable that reaches its bound goes exactly there
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
        # 4) f += d * (K[i] - K[j]), and the next pair
        if self.as_published:
            # as one product, whose round-off leaves ties of points that two products break; gains are unused
            vec_update_gain(single, self.n, self.f, d, Ki, Kj, 0, self.diagonal, self.up, self.low)
            self.select()
        else:
            self.update(d, Ki, -d, Kj, single)
        self.add_rounding(i, before_i, d)
        self.add_rounding(j, before_j, -d)
        self.steps_since_refresh += 1
        self.n_iter += 1
        self.work += self.n
        if self.sided and self.n_iter % STEPS_PER_SIDE == 0:
            self.select()
        if self.work > WORK_PER_CHECK:
            self.check_signals()
        return 0

    cdef int run(self, int rule, double tol, long long max_iter) except -1 nogil:
        """Take steps until the KKT gap is at most tol (return 1) or max_iter steps are done (return 0)."""
        cdef long long last = self.n_iter + max_iter
        while self.gap() > tol or (self.sided and self.gap_of_sides() > tol):
            if self.n_iter >= last:
                return 0
            self.step(rule)
        return 1

    cdef double gap_of_sides(self) noexcept nogil:
        """Choose the sides of variables at 0; return the KKT gap."""
        self.select()
        return self.gap()

    cdef int run_on(self, int rule, double tol, long long max_iter) except -1 nogil:
        """Take steps until the KKT gap is at most tol (REACHED), max_iter steps are done (LIMIT), or steps
        bring no gain (STUCK)."""
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
        """Return the number of steps between two checks of whether they bring a gain."""
        return STEPS_PER_LOOK + 10 * self.m

    cdef int check_signals(self) except -1 nogil:
        """Raise KeyboardInterrupt after Ctrl-C, or after a request to stop this thread."""
        self.work = 0
        with gil:
            PyErr_CheckSignals()
            check_interrupted()
        return 0

    def solve(self, str working_set, double tol, long long max_iter):
        """Run SMO until the KKT gap is at most tol, max_iter steps are done, or steps bring no gain.

        At the end the steps' round-off in f is at most a hundredth of tol, and a billionth of the margin.
        Returns whether the gap is at most tol.
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
        return self.solved_to(tol)

    cdef int descend(self, int rule, double tol, long long last) except -1:
        """Run SMO with shrinking until the KKT gap of the running f is at most tol (REACHED), n_iter is
        `last` (LIMIT), or steps bring no gain (STUCK).

        Every STEPS_PER_SHRINK steps the rows are counted that a violating pair can contain. Where they are
        few, and there is memory for it, they become a problem of their own, with a copy of their part of the
        matrix. Its solution is copied back, f of the other rows follows, and the whole problem goes on from
        there: a row that was wrongly left out costs time, never the tolerance.
        """
        cdef int done
        cdef long long look = last if self.shrunk else self.n_iter + self.wait()
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
            if self.as_published:
                continue
            rows = self.candidates()
            if rows.size < SHRINK * self.m and self.gram.has_room(rows.size):
                self.descend_on(rows, rule, max(tol, GAP_PER_SHRINK * self.gap()), min(last, look))

    cdef object candidates(self):
        """Return the rows that can be in a violating pair, given the present extremes of f."""
        theta, f = self.view(self.theta), self.view(self.f)
        up, low = theta < self.view(self.hi), theta > self.view(self.lo)
        chosen = (up & (f <= self.pair.f_j)) | (low & (f >= self.pair.f_i))
        if self.sided:
            turns = theta == 0
            chosen |= turns & up & (f - self.tube >= self.pair.f_i)
            chosen |= turns & low & (f + self.tube <= self.pair.f_j)
        return np.flatnonzero(chosen)

    cdef int descend_on(self, rows, int rule, double tol, long long last) except -1:
        """Descend on some rows with all other thetas fixed.

        f of the part contains the share of the other rows, so the part cannot compute it again. Only the
        whole problem can, and `last` is at most the step at which it does so.
        """
        # 1) the part, from where the whole problem is
        cdef Dual part = type(self)(self.gram.restricted(rows), self.y[rows])
        part.shrunk = True
        part._buffer[:5, :part.m] = self._buffer[:5, rows]
        part.take_sides(self, rows)
        part.n_iter = self.n_iter
        part.copy_rounding(self)
        part.update_sets()
        part.select()
        part.descend(rule, tol, last)
        self.n_iter = part.n_iter
        self.rounding_of_steps, self.steps_since_refresh = part.rounding_of_steps, part.steps_since_refresh
        # 2) theta and f of these rows are copied back; f[rest] += K[rest, moved] @ change[moved]
        theta = self.view(self.theta)
        change = part.view(part.theta) - theta[rows]
        moved = np.flatnonzero(change)
        theta[rows] = part.view(part.theta)
        f = self.view(self.f)
        f[rows] = part.view(part.f)
        if self.sided:
            self._buffer[2:5, rows] = part._buffer[2:5, :part.m]
        rest = np.setdiff1d(np.arange(self.m), rows, assume_unique=True)
        f[rest] += self.gram.product(rows[moved], change[moved], rest)
        self.update_sets()
        self.select()
        return 0

    cdef int take_sides(self, Dual whole, rows) except -1:
        """Let variables at 0 turn as they do in the whole problem, of which these are some rows."""
        cdef double[::1] targets
        self.sided, self.tube = whole.sided, whole.tube
        if self.sided:
            self._targets = targets = whole._targets[rows]
            self.targets = &targets[0]
        return 0

    cdef const void *column(self, Py_ssize_t t) except NULL nogil:
        """Return column t, counted as requested; an absent one is computed with others of likely use."""
        if not self.columns.has(t):
            with gil:
                self.fetch(t)
        return self.columns.get(t)

    cdef int fetch(self, Py_ssize_t t) except -1:
        """Compute column t and the columns of the points that violate most."""
        if self.columns.full and self.m * self.m <= SMALL_VALUES:
            self.gram.compute()
            return 0
        # how many columns of each side: fewer while few are stored, and where they replace stored ones
        theta, f, absent = self.view(self.theta), self.view(self.f), ~self.columns.holds(slice(None))
        n_stored = self.m - np.count_nonzero(absent)
        count = min(
            max(FETCH_COLUMNS, FETCH_VALUES // self.m),
            max(n_stored // FETCH_SHARE, FIRST_VALUES // self.m, 2),
            max(self.columns.capacity - n_stored, 4),
        ) // 2
        # the points of up with the least f, and of low with the largest
        middle = 0.5 * (self.pair.f_i + self.pair.f_j)
        up = np.flatnonzero(absent & (theta < self.view(self.hi)) & (f < middle))
        low = np.flatnonzero(absent & (theta > self.view(self.lo)) & (f > middle))
        self.columns.fetch(np.concatenate([[t], smallest(f, up, count), smallest(-f, low, count)]))
        return 0


cdef class NuDual(Dual):
    """A nu-SVC dual problem, with labels y, that SMO solves."""

    cdef object _class_sets
    cdef uint64_t *positive         # points of class +1
    cdef uint64_t *class_up[2]      # up and low of class +1, of class -1
    cdef uint64_t *class_low[2]
    cdef vec_pair class_pair[2]

    def __cinit__(self, gram, y):
        cdef uint64_t[:, ::1] sets
        cdef Py_ssize_t k
        self._buffer[1:3] = 0
        self._class_sets = np.zeros((5, self.n // 64), dtype=np.uint64)
        sets = self._class_sets
        self.positive = &sets[0, 0]
        for k in range(2):
            self.class_up[k], self.class_low[k] = &sets[1 + k, 0], &sets[3 + k, 0]
        for k in np.flatnonzero(y > 0):
            sets[0, k >> 6] |= (<uint64_t> 1) << (k & 63)

    cdef void update(self, double d_i, const void *K_i, double d_j, const void *K_j,
                     bint single) noexcept nogil:
        """Add d_i K_i + d_j K_j to f, and select the pair of the class that violates more."""
        cdef Py_ssize_t w, k
        cdef uint64_t positive
        # the index sets of each class
        for w in range(self.n // 64):
            positive = self.positive[w]
            self.class_up[0][w], self.class_up[1][w] = self.up[w] & positive, self.up[w] & ~positive
            self.class_low[0][w], self.class_low[1][w] = self.low[w] & positive, self.low[w] & ~positive
        # f += d_i * K[i] + d_j * K[j] and the pair of class +1; f += 0 and the pair of class -1
        self.class_pair[0] = vec_update_pair(single, self.n, self.f, d_i, K_i, d_j, K_j, self.class_up[0],
                                             self.class_low[0])
        self.class_pair[1] = vec_update_pair(0, self.n, self.f, 0, self.diagonal, 0, self.diagonal,
                                             self.class_up[1], self.class_low[1])
        k = self.violation(1) > self.violation(0)
        self.pair = self.class_pair[k]
        self.partners = self.class_low[k]

    cdef double violation(self, Py_ssize_t k) noexcept nogil:
        """Return M+ - M- of class k."""
        return self.class_pair[k].f_j - self.class_pair[k].f_i

    cdef double gap_bound(self) noexcept nogil:
        """Return the largest KKT gap within a class that theta may have, given the round-off in f."""
        return max(self.widest(self.class_up[0], self.class_low[0]),
                   self.widest(self.class_up[1], self.class_low[1]))

    cdef double class_level(self, Py_ssize_t k) noexcept nogil:
        """Return the level of f of class k: of its in-bound points or, without any, the `midpoint`."""
        return self.level(self.class_up[k], self.class_low[k], self.class_pair[k])

    cdef double threshold(self) noexcept nogil:
        """Return b, midway between the levels of the two classes."""
        return -0.5 * (self.class_level(0) + self.class_level(1))

    def rho(self):
        """Return rho, half the distance between the levels of f of the two classes."""
        return 0.5 * (self.class_level(0) - self.class_level(1))

    cdef object candidates(self):
        """Return the rows that can be in a violating pair of their class."""
        theta, f = self.view(self.theta), self.view(self.f)
        up, low = theta < self.view(self.hi), theta > self.view(self.lo)
        k = np.where(self.y > 0, 0, 1)
        f_j = np.array([self.class_pair[0].f_j, self.class_pair[1].f_j])[k]
        f_i = np.array([self.class_pair[0].f_i, self.class_pair[1].f_i])[k]
        return np.flatnonzero((up & (f <= f_j)) | (low & (f >= f_i)))


cdef class NuRegression(NuDual):
    """A nu-SVR dual problem (Schoelkopf et al. 2000), with targets y, that SMO solves.

    The sums of positive and of negative variables are fixed, so pairs lie on one side; a variable at 0 has
    the side where it violates the KKT conditions more.
    """

    cdef double _side_total     # the sum of the positive variables

    def start(self, C, theta):
        """Set the boxes, and start from variables whose sums on both sides are to stay, shape (m,) each."""
        self._targets = np.array(self.y, dtype=np.float64)
        cdef double[::1] targets = self._targets
        self.targets, self.sided = &targets[0], True
        self._buffer[2, :self.m] = self._targets
        self._set_boxes(np.where(theta < 0, -C, 0), np.where(theta < 0, 0, C), 0.0)
        self._side_total = theta[theta > 0].sum()
        self.seed(theta)

    cdef void turn(self, Py_ssize_t t) noexcept nogil:
        """Turn a variable at 0 to the other side, and to the pairs of that side."""
        State.turn(self, t)
        self.mark(t)

    cdef void mark(self, Py_ssize_t t) noexcept nogil:
        """Write down the side of a variable."""
        cdef uint64_t bit = (<uint64_t> 1) << (t & 63)
        if self.hi[t] > 0:
            self.positive[t >> 6] |= bit
        else:
            self.positive[t >> 6] &= ~bit

    cdef void update_sets(self) noexcept nogil:
        """Bring the index sets in line with theta and its boxes."""
        cdef Py_ssize_t t
        State.update_sets(self)
        for t in range(self.m):
            self.mark(t)

    cdef double middle(self) noexcept nogil:
        """Return the level of f below which a variable at 0 is to be on the positive side."""
        cdef Py_ssize_t t
        cdef double least = VEC_OUT, most = -VEC_OUT
        for t in range(self.m):
            if self.theta[t] > 0:
                most = max(most, self.f[t])
            elif self.theta[t] < 0:
                least = min(least, self.f[t])
        return midpoint(least, most)

    cdef double class_level(self, Py_ssize_t k) noexcept nogil:
        """Return the level of f of the positive side (k = 0) or the negative one; see `NuDual.class_level`.

        A variable of one side is at 0 on the other, where it could grow.
        """
        cdef double sign = 1 if k == 0 else -1, theta, least = VEC_OUT, most = -VEC_OUT, total = 0
        cdef Py_ssize_t t, count = 0
        for t in range(self.m):
            theta = sign * self.theta[t]
            if theta < max(self.hi[t], -self.lo[t]):
                least = min(least, sign * self.f[t])
                if theta > 0:
                    total += self.f[t]
                    count += 1
            if theta > 0:
                most = max(most, sign * self.f[t])
        return total / count if count > 0 else sign * midpoint(least, most)

    cdef object candidates(self):
        """Return the rows that can be in a violating pair of either side."""
        theta, f = self.view(self.theta), self.view(self.f)
        size = np.maximum(self.view(self.hi), -self.view(self.lo))
        chosen = (theta >= 0) & (theta < size) & (f <= self.class_pair[0].f_j)
        chosen |= (theta > 0) & (f >= self.class_pair[0].f_i)
        chosen |= (theta <= 0) & (theta > -size) & (f >= self.class_pair[1].f_i)
        chosen |= (theta < 0) & (f <= self.class_pair[1].f_j)
        return np.flatnonzero(chosen)

    cdef int refresh(self) except -1:
        """Compute f again from theta, and correct the sums of both sides for the round-off of steps."""
        theta = self.view(self.theta)
        total = self._side_total
        self.totals = [(np.flatnonzero(theta > 0), total), (np.flatnonzero(theta < 0), -total)]
        return State.refresh(self)


def smallest(values, rows, count):
    """Return those of the rows with the smallest values, at most `count`."""
    if rows.size <= count:
        return rows
    return rows[np.argpartition(values[rows], count)[:count]]
