"""Blocked SMO: decomposition into blocks of rows, for problems without stored columns.

Design. The state is the signed variables theta and the gradient f of every row, as in _smo.pyx. A *round*
takes a block of rows, half of them the worst violators, half from the round before (the decomposition of
Osuna et al. 1997; blocks of this kind in Wen et al. 2018, ThunderSVM). All variables outside are fixed, so
their share of f is a linear term, and the block is a problem with its part of the kernel matrix. SMO and the
active-set method solve it to a fraction of the present gap of the whole problem. Then f of all rows follows
from the rows that moved, by panels of kernel values that are used once and not stored. A round thus costs one
product of matrices, memory for the block and a panel, and a step of SMO passes over the block instead of over
all rows.

Kernel values are computed again for a row that moves again. That is cheaper than to store them: most support
vectors are bounded and move once, and memory that is used for the first time is slow. In-bound ones move in
many rounds, and the block grows with their number. Where rows have so many features that a column takes
longer to compute than to write into such memory, the columns of rows that move are stored, aside from the
Gram matrix and until the problem is solved. Once half of that memory is taken, only columns of rows that move
again are stored.

When the gap comes down to the tolerance, f is computed again from theta, and the fresh gap counts.
"""

import numpy as np

from svmselect.solver import _active_set
from svmselect.solver._smo import smallest

from svmselect.solver._smo cimport LIMIT, REACHED, STUCK, Dual

cdef double SHARE = 0.1     # a round leaves this share of the gap to the next one
# Blocks are solved to this share of the tolerance, since the rows outside still move.
cdef double CLOSER = 0.5
# A round takes at most STEPS_PER_BLOCK steps, and STEPS_PER_ROW more for each row of its block.
cdef long long STEPS_PER_BLOCK = 20_000
cdef long long STEPS_PER_ROW = 10
cdef int ROUNDS_PER_LOOK = 50       # rounds between two checks of whether they bring a gain


cdef class BlockedDual(Dual):
    """A dual problem that is solved by blocks; see `Dual`, and `Blocks` for its sizes, to be set before."""

    cdef public Py_ssize_t size, most_inbound
    cdef Py_ssize_t free        # the number of columns that can still be stored
    cdef object moved           # whether each row has moved before; None where no columns are stored

    def __cinit__(self, gram, _):
        self.size, self.most_inbound = 2, 0
        if gram.dear:
            self.gram = gram.aside()
            self.columns = self.gram.columns
            self.free, self.moved = self.columns.capacity, np.zeros(self.m, dtype=bool)

    cdef int descend(self, int rule, double tol, long long last) except -1:
        """Solve blocks until the KKT gap of the running f is at most tol (REACHED), n_iter is `last` (LIMIT),
        or rounds bring no gain (STUCK)."""
        cdef long long rounds = 0
        cdef double rounding
        rows = np.empty(0, dtype=np.intp)
        while self.gap() > tol:
            if self.n_iter >= last:
                return LIMIT
            rounding = self.gap_bound() - self.gap()
            if self.gap() <= rounding:  # the gap may be all round-off
                if self.steps_since_refresh == 0:
                    return STUCK
                self.refresh()
                continue
            rows = self.choose(rows)
            aim = max(CLOSER * tol, SHARE * self.gap(), 0.5 * rounding)
            moved = self.solve_block(rows, aim, last - self.n_iter)
            rounds += 1
            self.check_signals()
            if moved == 0 or rounds % ROUNDS_PER_LOOK == 0:
                if Dual.blurred(self, tol):
                    self.refresh()
                if self.stuck():
                    return STUCK
        return REACHED

    cdef bint blurred(self, double tol) noexcept nogil:
        """Return whether f has changed since it was computed from theta: no other f is the result here."""
        return self.steps_since_refresh > 0 or Dual.blurred(self, tol)

    cdef object choose(self, former):
        """Return the rows of the next block, increasing, given those of the former one.

        Half of the block, or all of the first one, are the worst violators, with the maximal violating pair.
        Then come the in-bound rows, for which the block grows, unless they are too many; rows of the former
        block; and all other rows, the closest to the threshold first.
        """
        theta, f = self.view(self.theta), self.view(self.f)
        up, low = theta < self.view(self.hi), theta > self.view(self.lo)
        inside = up & low
        cdef Py_ssize_t n_inside = np.count_nonzero(inside), size
        cdef Py_ssize_t half = max(self.size // (4 if former.size else 2), 1)
        if n_inside > self.most_inbound:
            # With this many in-bound rows most are near their optimum and would gain little by moving.
            n_inside, inside = 0, np.zeros(self.m, dtype=bool)
        size = self.size + n_inside
        if size >= self.m:
            return np.arange(self.m)
        chosen = np.zeros(self.m, dtype=bool)
        chosen[smallest(f, np.flatnonzero(up & (f < self.pair.f_j)), half)] = True
        chosen[smallest(-f, np.flatnonzero(low & (f > self.pair.f_i) & ~chosen), half)] = True
        before = np.zeros(self.m, dtype=bool)
        before[former] = True
        distance = np.abs(f - 0.5 * (self.pair.f_i + self.pair.f_j))
        for group in (inside, before, True):
            room = size - np.count_nonzero(chosen)
            if room > 0:
                chosen[smallest(distance, np.flatnonzero(group & ~chosen), room)] = True
        return np.flatnonzero(chosen)

    def solve_block(self, rows, double tol, long long most):
        """Solve for theta of some rows, increasing numbers, with all other theta fixed.

        It takes at most `most` steps, and returns the number of thetas that have changed.
        """
        cdef Dual part
        cdef Py_ssize_t t
        gram = self.gram.restricted(rows)
        theta, f = self.view(self.theta), self.view(self.f)
        # 1) the block as a problem with the linear term p = K[rows, rows] @ theta[rows] - f[rows]
        before = theta[rows]
        support = np.flatnonzero(before)
        linear = gram.product(support, before[support]) - f[rows]
        part = Dual(gram, linear)
        part.take_sides(self, rows)
        if self.sided:
            part._targets += linear - self.view(self.p)[rows]
        part.confine(self.view(self.lo)[rows], self.view(self.hi)[rows], before)
        most = min(most, STEPS_PER_BLOCK + STEPS_PER_ROW * part.m)
        _active_set.solve(part, "wss2", tol, most)
        self.n_iter += part.n_iter
        after = part.view(part.theta)
        moved = np.flatnonzero(after != before)
        change, moved_rows = after[moved] - before[moved], rows[moved]
        # 2) columns to store: of the rows that moved, or only of those that moved before
        if self.moved is not None:
            half_free = 2 * self.free > self.columns.capacity
            absent = moved_rows if half_free else moved_rows[self.moved[moved_rows]]
            absent = absent[~self.columns.holds(absent)][:self.free]
            self.columns.fetch(absent)
            self.free -= absent.size
            self.moved[moved_rows] = True
        # 3) f += K[:, moved_rows] @ change
        f += self.gram.product(moved_rows, change)
        theta[moved_rows] = after[moved]
        if self.sided:
            self._buffer[3:5, rows] = part._buffer[3:5, :part.m]
            p = self._targets[rows] - np.where(part.view(part.hi) > 0, 0.5, -0.5) * self.tube
            f[rows] -= p - self.view(self.p)[rows]
            self._buffer[2, rows] = p
        for t, d in zip(moved_rows, change, strict=True):
            self.add_rounding(t, self.theta[t] - d, d)
        self.steps_since_refresh += moved.size
        self.update_sets()
        self.select()
        return moved.size
