"""Blocked SMO: decomposition into blocks of rows, for problems of which no columns are to be stored.

Design. The state is that of _smo.pyx: signed variables theta and the gradient f of every row. A *round* takes
a block of rows, half of it the rows that violate most, the others from the round before (the decomposition of
Osuna et al. 1997; blocks of this kind in Wen et al. 2018, ThunderSVM). All variables outside are fixed, so
their share of f is a linear term, and the block is a problem of its own, with its own part of the kernel
matrix: SMO and the active-set method solve it to a fraction of the gap that the whole problem has now. Then f
of all rows follows from the rows that moved, by panels of kernel values that are used once and not kept. A
round thus costs one product of matrices, memory is that of the block and of a panel, and a step of SMO passes
over the block instead of over all rows.

Kernel values are computed again for a row that moves again. That is cheaper than to store them: most support
vectors are bounded and move once, and memory that is used for the first time is slow. In-bound ones move in
many rounds, and the block grows with their number. Where rows have so many features that a column takes
longer to compute than to write into such memory, the columns of rows that move are kept, aside from the Gram
matrix and until the problem is solved; those of rows that move again, once half of the room is taken.

When the gap comes down to the tolerance, f is computed afresh from theta, and the gap that counts is that of
the fresh one.
"""

import numpy as np

from svmselect.solver import _active_set
from svmselect.solver._smo import least

from svmselect.solver._smo cimport LIMIT, REACHED, STUCK, Dual

cdef double SHARE = 0.1     # a round leaves this share of the gap to the next one
# Blocks are solved to this share of the tolerance, since other rows still move.
cdef double CLOSER = 0.5
cdef Py_ssize_t LARGEST = 8         # a block grows to at most this many times its first size
# A round takes at most STEPS_PER_BLOCK steps, and STEPS_PER_ROW more for each row of its block.
cdef long long STEPS_PER_BLOCK = 20_000
cdef long long STEPS_PER_ROW = 10
cdef int ROUNDS_PER_LOOK = 50       # rounds between two looks whether they get anywhere
BLOCK = 1024                # rows of a block
KEPT_BYTES = 2**28          # limit for kept columns


cdef class BlockedDual(Dual):
    """A dual problem that is solved by blocks.

    Parameters
    ----------
    gram : Gram
    y : ndarray, shape (m,)
        As of `Dual`.

    Attributes
    ----------
    size : int
        Rows of a block, at least 2; `BLOCK` unless it is set.
    """

    cdef public Py_ssize_t size
    cdef Py_ssize_t room        # the number of columns that can still be kept
    cdef object moved           # whether each row has moved before; None where no columns are kept

    def __cinit__(self, gram, _):
        self.size = BLOCK
        if gram.dear:
            self.gram = gram.aside(KEPT_BYTES)
            self.columns = self.gram.columns
            self.room, self.moved = self.columns.capacity, np.zeros(self.m, dtype=bool)

    cdef int descend(self, int rule, double tol, long long last) except -1:
        """Rounds until the KKT gap of the running f is at most tol (REACHED), n_iter is `last` (LIMIT), or
        rounds get nowhere (STUCK)."""
        cdef long long rounds = 0
        cdef double rounding
        kept = np.empty(0, dtype=np.intp)
        while self.gap() > tol:
            if self.n_iter >= last:
                return LIMIT
            rounding = self.gap_bound() - self.gap()
            if self.gap() <= rounding:  # nobody can tell what is left of it
                if self.steps_since_refresh == 0:
                    return STUCK
                self.refresh()
                continue
            rows = self.choose(kept)
            aim = max(CLOSER * tol, SHARE * self.gap(), 0.5 * rounding)
            moved = self.solve_block(rows, aim, last - self.n_iter)
            kept = rows
            rounds += 1
            self.check_signals()
            if moved == 0 or rounds % ROUNDS_PER_LOOK == 0:
                if Dual.blurred(self, tol):
                    self.refresh()
                if self.stuck():
                    return STUCK
        return REACHED

    cdef bint blurred(self, double tol) noexcept nogil:
        """Whether f is not what theta says: here it is computed afresh whenever it has changed."""
        return self.steps_since_refresh > 0 or Dual.blurred(self, tol)

    cdef object choose(self, kept):
        """The rows of the next block, increasing: those that violate most, the maximal violating pair among
        them, are half of it, and all of it at first. Then come in-bound ones, for which the block grows, if
        they all fit; rows of the block before; and any others, the closest to the threshold first."""
        theta, f = self.view(self.theta), self.view(self.f)
        up, low = theta < self.view(self.hi), theta > self.view(self.lo)
        inside = up & low
        cdef Py_ssize_t n_inside = np.count_nonzero(inside), size
        cdef Py_ssize_t half = max(self.size // (4 if kept.size else 2), 1)
        if n_inside > LARGEST * self.size:
            # Where this many are in-bound, most are near their optimum and would gain little by moving.
            n_inside, inside = 0, np.zeros(self.m, dtype=bool)
        size = self.size + n_inside
        if size >= self.m:
            return np.arange(self.m)
        chosen = np.zeros(self.m, dtype=bool)
        chosen[least(f, np.flatnonzero(up & (f < self.pair.f_j)), half)] = True
        chosen[least(-f, np.flatnonzero(low & (f > self.pair.f_i) & ~chosen), half)] = True
        before = np.zeros(self.m, dtype=bool)
        before[kept] = True
        distance = np.abs(f - 0.5 * (self.pair.f_i + self.pair.f_j))
        for group in (inside, before, True):
            room = size - np.count_nonzero(chosen)
            if room > 0:
                chosen[least(distance, np.flatnonzero(group & ~chosen), room)] = True
        return np.flatnonzero(chosen)

    def solve_block(self, rows, double tol, long long most):
        """Solve for the thetas of some rows, increasing numbers, with all others fixed, in at most so many
        steps; the number of thetas that have changed."""
        cdef Dual part
        cdef Py_ssize_t t
        gram = self.gram.restricted(rows)
        theta, f = self.view(self.theta), self.view(self.f)
        before = theta[rows]
        own = np.flatnonzero(before)
        # the gradient is that of the block's own thetas and of a linear term
        part = Dual(gram, gram.product(own, before[own]) - f[rows])
        part.confine(self.view(self.lo)[rows], self.view(self.hi)[rows], before)
        most = min(most, STEPS_PER_BLOCK + STEPS_PER_ROW * part.m)
        _active_set.solve(part, "wss2", tol, most)
        self.n_iter += part.n_iter
        after = part.view(part.theta)
        moved = np.flatnonzero(after != before)
        change, at = after[moved] - before[moved], rows[moved]
        if self.moved is not None:
            wanted = at if 2 * self.room > self.columns.capacity else at[self.moved[at]]
            wanted = wanted[~self.columns.holds(wanted)][:self.room]
            self.columns.fetch(wanted)
            self.room -= wanted.size
            self.moved[at] = True
        f += self.gram.product(at, change)
        theta[at] = after[moved]
        for t, d in zip(at, change, strict=True):
            self.lose(t, self.theta[t] - d, d)
        self.steps_since_refresh += moved.size
        self.update_sets()
        self.select()
        return moved.size
