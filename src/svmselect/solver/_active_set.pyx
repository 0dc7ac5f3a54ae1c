"""The active-set phase: finishes on the in-bound support vectors what SMO only creeps towards.

Design. With an ill-conditioned kernel matrix (linear kernel and large C, RBF with a tiny gamma) SMO zigzags
along flat directions of the objective that a linear solve takes in one step. The dual is that of _smo.pyx:
minimise ``1/2 theta'K theta - p'theta`` over ``lo <= theta <= hi`` and a fixed sum, gradient ``f = K theta -
p``. The phase goes in *rounds*. A round chooses a few hundred rows, all in-bound ones and the worst
violators, copies their block of K, solves the sub-problem of these rows by a primal active-set method in
cache, and then passes the changes on to ``f`` of every row, one column per changed variable (the
decomposition of Osuna et al. 1997 with in-bound points always in the working set). Rounds end when the KKT
gap over all rows is at most ``tol`` on a gradient computed afresh.

The sub-problem is solved on a `Basis` of in-bound rows (_basis.pyx). A round that gains nothing ends the
phase, and SMO goes on from a better point.
"""

import numpy as np

from libc.math cimport fabs

from scipy.linalg.lapack import dpstrf

from svmselect.solver._basis cimport BARRED, BASIC, INSIDE, STUCK, Basis
from svmselect.solver._smo cimport Dual
from svmselect.solver._state cimport MOST_IDLE

cdef double EPS = 2.0 ** -52
cdef double EPS_SINGLE = 2.0 ** -23
cdef double INF = 1e300
cdef double WORK_PER_CHECK = 1e8   # elements passed over between two looks at Ctrl-C
# Rows of a round, at most: the basis leaves room for MIN_ROWS / 2, or the phase ends.
cdef Py_ssize_t MAX_ROWS = 3000
cdef Py_ssize_t MIN_ROWS = 300
cdef Py_ssize_t SHARE = 4          # a round takes one row in SHARE, or more if the basis is large
cdef double LOOSE = 0.3            # a round is solved to this part of the gap it starts with
cdef double WORK_PER_STEP = 4      # elements passed over by one SMO step, per row
# SMO takes STEPS_PER_ROW steps per row, and STEPS more, before the first switch: in a small problem, starting
# a round takes as long.
cdef double STEPS_PER_ROW = 0.5
cdef long long STEPS = 1000
# Where the tolerance is far smaller: once the gap is NEAR, in units of the linear term, SMO has STEPS_ON
# steps left, because a round takes as long as these.
cdef double NEAR = 1e-3
cdef long long STEPS_ON = 500
cdef int MOST_LEVEL = 50           # rounds without a lower gap, or a higher value and a gap beyond doubt
cdef Py_ssize_t SAMPLE = 200       # in-bound rows that tell whether many depend on few


cdef class ActiveSet(Basis):
    """The rounds of the active-set phase on one dual problem; see `Basis`."""

    cdef bint minimise(self, double tol, double budget, long long max_moves) except -1 nogil:
        """Solve the sub-problem of the block to a KKT gap of tol; whether it got there within the limits."""
        cdef Py_ssize_t t, i, j
        cdef double level, least, most, up, low, residual, end = self.work + budget
        cdef long long last_move = self.moves + min(20 * self.w, max_moves)
        cdef bint at_round_off = False
        cdef int outcome
        self.start_basis(last_move)
        while self.work < end and self.moves < last_move:
            if self.work - self.unchecked > WORK_PER_CHECK:
                self.unchecked = self.work
                self.dual.check_signals()
            if self.s == 1 and not self.inside(self.basis[0]):
                self.remove(0)
            if self.s > 1 and not at_round_off:
                residual = self.residual()
                if residual > 0.1 * tol:
                    outcome = self.newton()
                    if outcome == STUCK:
                        self.rebuild()
                        outcome = self.newton()
                    # a full step that leaves more than half of the residual is at round-off
                    at_round_off = outcome == STUCK or (
                        outcome == INSIDE and self.residual() > 0.5 * residual)
                    if outcome == STUCK:
                        self.sweep(BARRED)
                    continue
            level = self.level() if self.s > 0 else 0
            i = j = -1
            up = least = INF
            low = most = -INF
            for t in range(self.w):
                if self.theta[t] < self.hi[t]:
                    least = min(least, self.f[t])
                    if self.role[t] == 0 and self.f[t] < up:
                        up, i = self.f[t], t
                if self.theta[t] > self.lo[t]:
                    most = max(most, self.f[t])
                    if self.role[t] == 0 and self.f[t] > low:
                        low, j = self.f[t], t
            self.work += self.w
            if most - least <= tol:
                return True
            if self.s == 0:
                if i < 0 or j < 0 or low - up <= tol:
                    return False
                self.enter(i, False)
                self.enter(j, False)
            elif max(level - up, low - level) <= 0.25 * tol:
                return False
            else:
                self.enter(i if level - up > low - level else j, False)
            at_round_off = False
        return False

    def load(self, rows):
        """Start a round on these rows, increasing numbers with all of the basis among them."""
        cdef Py_ssize_t[::1] index = rows
        cdef Py_ssize_t[::1] place
        cdef Py_ssize_t w = len(rows), a
        cdef double[:, ::1] block
        cdef Dual dual = self.dual
        place = np.searchsorted(rows, self.rows[self.members()])
        if dual.columns.full:
            # whole columns: another round will want them too
            dual.columns.fetch(rows)
        self._block = dual.gram.block(rows).astype(np.float64, copy=False)
        block = self._block
        self.K, self.w, self.rows = &block[0, 0], w, rows
        for a in range(w):
            self.theta[a], self.f[a] = dual.theta[index[a]], dual.f[index[a]]
            self.lo[a], self.hi[a] = dual.lo[index[a]], dual.hi[index[a]]
            self.role[a] = 0
        for a in range(self.s):
            self.basis[a] = place[a]
            self.role[place[a]] = BASIC
        self.work += 4.0 * w * w
        self.sweep(0)

    def members(self):
        """Positions of the basis in the block."""
        return np.asarray(<Py_ssize_t[:self.capacity]> self.basis)[:self.s]

    def gain(self):
        """(decrease of the objective since load, its round-off)."""
        cdef Py_ssize_t a
        cdef double d, f, total = 0, noise = 0, level = self.level() if self.s > 0 else 0
        cdef Py_ssize_t[::1] index = self.rows
        for a in range(self.w):
            d = self.theta[a] - self.dual.theta[index[a]]
            f = self.f[a] + self.dual.f[index[a]] - 2 * level
            total -= 0.5 * d * f
            noise += EPS * fabs(d) * (fabs(f) + fabs(level))
        return total, noise

    def store(self):
        """Pass the changes since load on to the dual."""
        cdef Py_ssize_t a
        cdef Py_ssize_t[::1] index = self.rows
        cdef Dual dual = self.dual
        before = dual.view(dual.theta)[self.rows]
        for a in range(self.w):
            dual.set_theta(index[a], self.theta[a])
        change = dual.view(dual.theta)[self.rows] - before
        moved = np.flatnonzero(change)
        f = dual.view(dual.f)
        f += dual.gram.product(self.rows[moved], change[moved])
        self.work += 2.0 * len(moved) * dual.n
        dual.select()

    def choose(self, double tol):
        """Rows of the next round: the basis, the other in-bound rows, the worst violators."""
        cdef Dual dual = self.dual
        cdef Py_ssize_t room = min(self.capacity - 1, max(MIN_ROWS, dual.m // SHARE, 3 * self.s))
        theta, f = dual.view(dual.theta), dual.view(dual.f)
        can_grow, can_shrink = theta < dual.view(dual.hi), theta > dual.view(dual.lo)
        basis = self.rows[self.members()]
        level = f[basis].mean() if self.s else 0.5 * (dual.pair.f_i + dual.pair.f_j)
        excess = np.where(can_grow, level - f, -INF)
        np.maximum(excess, f - level, where=can_shrink, out=excess)
        chosen = np.zeros(dual.m, dtype=bool)
        chosen[basis] = True
        # the maximal violating pair makes sure of a gain
        chosen[[dual.pair.i, dual.pair.j]] = True
        room -= np.count_nonzero(chosen)
        inside = worst(np.flatnonzero(can_grow & can_shrink & ~chosen), excess, room)
        chosen[inside] = True
        others = worst(np.flatnonzero((excess > 0.25 * tol) & ~chosen), excess, room - len(inside))
        chosen[others] = True
        return np.flatnonzero(chosen)


def worst(rows, excess, count):
    """The rows of largest excess, at most `count` of them."""
    if len(rows) <= count:
        return rows
    return rows[np.argpartition(-excess[rows], count)[:count]]


cdef bint finish(Dual dual, double tol, double budget, long long last) except -1:
    """Solve a dual by the active-set method from its present variables, until `budget` elements are passed
    over or n_iter is `last`.

    Returns whether there is nothing more to gain: the KKT gap of a fresh gradient is at most tol, or no
    larger than rounding can make it while the last round has gained nothing. In any case f is fresh, and
    theta is feasible and no worse than before.
    """
    cdef ActiveSet block = ActiveSet(dual, min(dual.m, MAX_ROWS))
    cdef int idle = 0, n_level = 0
    cdef double gap, value, best_gap = INF, best_value = -INF
    while block.work <= budget and dual.n_iter < last and idle <= 3 and n_level <= MOST_LEVEL:
        if block.capacity <= dual.m and block.s > block.capacity - MIN_ROWS // 2:
            break
        gap = dual.gap()
        if gap <= tol:
            dual.refresh()
            block.work += 2.0 * dual.n * dual.m
            if dual.gap() <= tol:
                return True
            gap = dual.gap()
        block.load(block.choose(tol))
        block.minimise(max(0.5 * tol, LOOSE * gap), budget - block.work, last - dual.n_iter)
        gain, noise = block.gain()
        if gain >= -noise:
            block.store()
        idle = 0 if gain > noise else idle + 1
        # Once rounding can have made all of the gap, a gain may be round-off, too: the gap has to fall. Gains
        # that are may lead to and fro between points of which one has a gap beyond doubt
        value = dual.value()
        if gap < 0.9 * best_gap or (value > best_value and 2 * gap > dual.gap_bound()):
            n_level = 0
        else:
            n_level += 1
        best_gap, best_value = min(best_gap, gap), max(best_value, value)
        dual.n_iter += block.moves
        block.moves = 0
    dual.refresh()
    return dual.gap() <= tol or (idle > 0 and 2 * dual.gap() <= dual.gap_bound())


cdef double crash_work(Dual dual, double limit) except -1:
    """Estimated work of finding a first basis among the in-bound rows; at least whether it is beyond a
    limit."""
    theta = dual.view(dual.theta)
    inside = np.flatnonzero((dual.view(dual.lo) < theta) & (theta < dual.view(dual.hi)))
    cdef double n = len(inside), size = n
    # With a linear kernel few rows are independent, however many are in-bound.
    if 0.5 * n ** 3 > limit and n > SAMPLE and <double> SAMPLE ** 3 <= limit:
        sample = inside[np.arange(SAMPLE) * len(inside) // SAMPLE]
        block = dual.gram.block(sample).astype(np.float64, copy=False)
        scale = dual.view(dual.diagonal).max()
        unit = EPS_SINGLE if dual.columns.single else EPS
        _, _, rank, _ = dpstrf(block + scale, tol=32 * unit * scale)
        if rank < SAMPLE:
            size = rank
    return 0.5 * n * size ** 2


def solve(Dual dual, str working_set, double tol, long long max_iter, long long taken=0):
    """Solve a dual by SMO and the active-set method in turns, from its present variables.

    SMO reaches the tolerance of most well-conditioned problems within the steps that it has at first. Then
    the active-set method may do as much work as SMO has done, then SMO the same amount, and so on: at worst
    it doubles the cost of SMO. It is not tried while its first basis alone would cost more than all of SMO's
    steps.

    Parameters
    ----------
    dual : Dual
    working_set : str
        Rule of the SMO steps.
    tol : float
        Largest KKT gap.
    max_iter : int
        The largest number of SMO steps and moves of the active-set method.
    taken : int
        SMO steps that have been taken before on this problem, to no end.

    Returns
    -------
    bool
        Whether the KKT gap is at most tol. Where it is not, steps ran out, or neither method gets any
        further.
    """
    cdef long long first = dual.n_iter, last = first + max_iter
    cdef long long steps = <long long> (STEPS_PER_ROW * dual.m) + STEPS, most
    cdef double work = 0
    cdef double best_gap = INF, best_value = -INF
    cdef int idle = 0
    while True:
        most, taken = max(steps - taken, 0), 0
        if dual.n_iter == first and tol < 0.01 * NEAR * dual.margin():
            near = dual.solve(working_set, NEAR * dual.margin(), min(most, max_iter))
            most -= dual.n_iter - first
            if near:
                most = min(most, STEPS_ON)
        if dual.solve(working_set, tol, min(most, last - dual.n_iter)) or dual.n_iter >= last:
            break
        if dual.gap() <= tol:   # and rounding leaves no more to be known
            break
        work += WORK_PER_STEP * steps * dual.n
        if crash_work(dual, work) <= work:
            if finish(dual, tol, work, last):
                break
            dual.best_gap, dual.best_value, dual.idle = best_gap, best_value, idle
            if dual.stuck():
                break
            best_gap, best_value, idle = dual.best_gap, dual.best_value, dual.idle
        elif dual.idle >= MOST_IDLE:
            break
        steps = min(2 * steps, max_iter)
    return dual.at(tol)
