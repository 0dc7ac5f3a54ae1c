"""The active-set phase, which takes over where SMO creeps.

Design. With an ill-conditioned kernel matrix (linear kernel and large C, RBF with a tiny gamma) SMO zigzags
along flat directions of the objective that a linear solve takes in one step. The dual is that of _smo.pyx:
minimise ``1/2 theta'K theta - p'theta`` over ``lo <= theta <= hi`` and a fixed sum, gradient ``f = K theta -
p``. The phase goes in *rounds*. A round chooses a few hundred rows, all in-bound ones and the worst
violators, copies their block of K, solves the sub-problem of these rows by a primal active-set method in
cache, and then passes the changes on to ``f`` of every row, one column per changed variable (the
decomposition of Osuna et al. 1997 with in-bound points always in the working set). Rounds end when the KKT
gap over all rows is at most ``tol`` on a gradient computed afresh.

A round that gains nothing ends the phase, and SMO goes on from a better point.

The method is Scheinberg's (2006), with inertia control as in Gill and Murray (1978). The *basis* S is a set
of in-bound rows on which the bordered KKT matrix ``[0 1'; 1 K_SS]`` is non-singular. As the sum is fixed, K
may be replaced by ``K + c 11'`` with any c > 0; the bordered matrix is non-singular exactly where ``K_SS + c
11'`` is positive definite, so one Cholesky factor serves, extended by a row or updated by rotations as rows
enter and leave. A Newton step on S goes to the solution of the KKT system or to the first bound; members that
reach a bound leave. When f is constant on S, the worst violator enters. If it depends on S (its pivot is
round-off: duplicate rows, a linear kernel with more than d + 1 in-bound points), there is a direction without
curvature. The violator and S move along it to the first bound, which makes the set independent again.

Every move is feasible, starts with all of S strictly inside, and ends at the exact minimum along its line or
at a bound. Slope and curvature come from K itself, not from the factor, so the objective falls with each move
whatever round-off does to the factor. A row that cannot move is barred until the next round.
"""

from libc.math cimport fabs, hypot, sqrt
from libc.string cimport memmove, memset

import numpy as np

from scipy.linalg.cython_blas cimport drot, dtrsv
from scipy.linalg.lapack import dpstrf

from svmselect.solver._smo import smallest

from svmselect.solver._smo cimport Dual
from svmselect.solver._state cimport MOST_IDLE, SNAP, vec_axpy

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
# Where the tolerance is far below NEAR, in units of the linear term, SMO gets STEPS_ON steps more once the
# gap is at most NEAR: a round takes as long as these.
cdef double NEAR = 1e-3
cdef long long STEPS_ON = 500
cdef int MOST_LEVEL = 50           # rounds without a lower gap, or a higher value and a gap beyond doubt
cdef Py_ssize_t SAMPLE = 200       # in-bound rows that tell whether many depend on few

cdef enum:
    BASIC = 1
    BARRED = 2

cdef enum:
    STUCK = 0       # nothing moved
    INSIDE = 1      # minimum along the line, every variable inside its box
    BLOCKED = 2     # some variable reached a bound


cdef double dot(Py_ssize_t n, const double *x, const double *y) noexcept nogil:
    """Return x @ y, summed in the order of the entries."""
    cdef Py_ssize_t k
    cdef double total = 0
    for k in range(n):
        total += x[k] * y[k]
    return total


cdef class Basis:
    """A block of rows of a dual problem, at most `capacity`, and a basis among them."""

    cdef Dual dual
    cdef Py_ssize_t capacity, w, s
    cdef object _vectors, _block, _factor, _index
    cdef double *K          # block of the Gram matrix, w rows of length w
    cdef double *R          # upper Cholesky factor of K_SS + c, rows of length `capacity`
    cdef double *theta
    cdef double *f
    cdef double *lo
    cdef double *hi
    cdef double *start      # theta before a change
    cdef double *Kd         # K times the direction
    cdef double *d          # direction, one entry per member of the basis and one for an entering row
    cdef double *u          # R^-T (K_St + c) of an entering row t
    cdef double *h          # R^-T 1
    cdef Py_ssize_t *basis  # positions in the block
    cdef Py_ssize_t *role   # each position's: 0, BASIC, BARRED
    cdef double c, pivot_floor, curvature_floor
    cdef readonly long long moves
    cdef double work, unchecked
    cdef object rows        # row numbers of the block

    def __cinit__(self, Dual dual, Py_ssize_t capacity):
        cdef double[:, ::1] vectors
        cdef Py_ssize_t[:, ::1] index
        cdef double[:, ::1] factor
        self.dual = dual
        # one more entry for an entering row
        self.capacity = capacity + 1
        self._vectors = np.zeros((9, self.capacity))
        vectors = self._vectors
        self.theta, self.f, self.lo, self.hi = &vectors[0, 0], &vectors[1, 0], &vectors[2, 0], &vectors[3, 0]
        self.Kd, self.d, self.u = &vectors[4, 0], &vectors[5, 0], &vectors[6, 0]
        self.start, self.h = &vectors[7, 0], &vectors[8, 0]
        # np.empty maps pages only when they are written, so unused capacity costs nothing.
        self._factor = np.empty((self.capacity, self.capacity))
        factor = self._factor
        self.R = &factor[0, 0]
        self._index = np.zeros((2, self.capacity), dtype=np.intp)
        index = self._index
        self.basis, self.role = &index[0, 0], &index[1, 0]
        self._block = np.empty(0)
        self.K = NULL
        self.rows = np.empty(0, dtype=np.intp)
        diagonal = np.asarray(<double[:dual.m]> dual.diagonal)
        # Any c > 0 will do. One as large as the diagonal harms the condition least.
        self.c = max(diagonal.mean(), 1e-300)
        unit = EPS_SINGLE if dual.columns.single else EPS
        largest = max(diagonal.max(), 1e-300)
        self.pivot_floor = 32 * unit * (largest + self.c)
        self.curvature_floor = unit * largest
        self.w = self.s = self.moves = 0
        self.work = self.unchecked = 0

    # ---- the factor of K_SS + c ----

    cdef void solve(self, char transposed, double *x) noexcept nogil:
        """Overwrite x with R^-T x ('N') or R^-1 x ('T'): LAPACK sees the transpose of R."""
        cdef int n = self.s, lda = self.capacity, one = 1
        if n > 0:
            # x = inv(R.T) @ x, or inv(R) @ x
            dtrsv(b'L', &transposed, b'N', &n, self.R, &lda, x, &one)
            self.work += 0.5 * n * n

    cdef bint extend(self, Py_ssize_t t) noexcept nogil:
        """Add t to the basis unless it depends on it; return whether it was added.

        After False, u holds R^-T (K_St + c).
        """
        cdef Py_ssize_t k
        cdef double *column = self.K + t * self.w
        cdef double total = column[t] + self.c, pivot
        # u = inv(R.T) @ (K[S, t] + c);  pivot = K[t, t] + c - u @ u
        for k in range(self.s):
            self.u[k] = column[self.basis[k]] + self.c
        self.solve(b'N', self.u)
        pivot = total - dot(self.s, self.u, self.u)
        if pivot <= self.pivot_floor:
            return False
        # R = [[R, u], [0, sqrt(pivot)]];  h[s] = (1 - u @ h) / sqrt(pivot)
        for k in range(self.s):
            self.R[k * self.capacity + self.s] = self.u[k]
        pivot = sqrt(pivot)
        self.R[self.s * self.capacity + self.s] = pivot
        self.h[self.s] = (1 - dot(self.s, self.u, self.h)) / pivot
        self.basis[self.s] = t
        self.role[t] = BASIC
        self.s += 1
        return True

    cdef void remove(self, Py_ssize_t k) noexcept nogil:
        """Remove the k-th member from the basis: R loses a column, rotations make it triangular again."""
        cdef Py_ssize_t i, p = k, ld = self.capacity
        cdef double *row
        cdef double *below
        cdef double a, b, r, cosine, sine
        cdef int n, one = 1
        self.role[self.basis[k]] = 0
        self.work += 2.0 * (self.s - k) * (self.s - k) + self.s
        # 1) column p of R is deleted in the rows above it
        for i in range(p):
            row = self.R + i * ld
            memmove(row + p, row + p + 1, (self.s - p - 1) * sizeof(double))
        # 2) each row from p on is rotated with the next one, which zeros the entry below the diagonal
        for i in range(p, self.s - 1):
            row, below = self.R + i * ld, self.R + (i + 1) * ld
            a, b = row[i + 1], below[i + 1]
            r = hypot(a, b)
            cosine, sine = a / r, b / r
            n = self.s - i - 1
            # row, below = cosine * row + sine * below, cosine * below - sine * row; h is rotated with them
            drot(&n, row + i + 1, &one, below + i + 1, &one, &cosine, &sine)
            memmove(row + i, row + i + 1, n * sizeof(double))
            a = self.h[i]
            self.h[i] = cosine * a + sine * self.h[i + 1]
            self.h[i + 1] = cosine * self.h[i + 1] - sine * a
        memmove(self.basis + k, self.basis + k + 1, (self.s - k - 1) * sizeof(Py_ssize_t))
        self.s -= 1

    cdef void rebuild(self) noexcept nogil:
        """Compute the factor of the basis anew; members that depend on the previous ones leave it."""
        cdef Py_ssize_t k, n = self.s
        self.s = 0
        for k in range(n):
            self.role[self.basis[k]] = 0
            self.extend(self.basis[k])   # writes basis[s] with s <= k only

    # ---- moves ----

    cdef int advance(self, Py_ssize_t n, bint newton, bint flat) noexcept nogil:
        """Move along d, over the first n entries of `basis`, to the minimum of the line or the first bound.

        A direction other than Newton's may be taken either way, and has no natural length. A flat direction
        counts as without curvature, and f is not changed. Returns STUCK, INSIDE or BLOCKED.
        """
        cdef Py_ssize_t k, t
        cdef double slope = 0, curvature = 0, size = 0, step, room, limit = INF, before, value, snap
        cdef int outcome = INSIDE
        # 1) slope = d @ f, which has to be negative
        for k in range(n):
            slope += self.d[k] * self.f[self.basis[k]]
            size += fabs(self.d[k])
        if newton and slope >= 0:
            return STUCK
        if slope > 0:
            slope = -slope
            for k in range(n):
                self.d[k] = -self.d[k]
        # 2) Kd = K @ d;  curvature = d @ Kd
        if not flat:
            memset(self.Kd, 0, self.w * sizeof(double))
            for k in range(n):
                vec_axpy(0, self.w, self.Kd, self.d[k], self.K + self.basis[k] * self.w)
            for k in range(n):
                curvature += self.d[k] * self.Kd[self.basis[k]]
            self.work += <double> n * self.w
        # 3) the step to the first bound, or to the minimum -slope / curvature before it
        for k in range(n):
            t = self.basis[k]
            if self.d[k] != 0:
                room = self.hi[t] - self.theta[t] if self.d[k] > 0 else self.theta[t] - self.lo[t]
                limit = min(limit, room / fabs(self.d[k]))
        if curvature > self.curvature_floor * size * size:
            step = -slope / curvature
        else:
            step = 1 if newton else INF
        if step >= limit:
            step = limit
        if not 0 < step < INF:
            return STUCK
        # 4) f += step * Kd;  theta += step * d, snapped to bounds
        if not flat:
            vec_axpy(0, self.w, self.f, step, self.Kd)
        for k in range(n):
            t = self.basis[k]
            before = self.theta[t]
            value = before + step * self.d[k]
            # see Dual.set_theta; the variable that stopped the move is within round-off of its bound
            snap = SNAP * max(fabs(before), fabs(value))
            self.theta[t] = value
            if value >= self.hi[t] - snap:
                self.theta[t] = self.hi[t]
            elif value <= self.lo[t] + snap:
                self.theta[t] = self.lo[t]
            if self.theta[t] != value and not flat:
                vec_axpy(0, self.w, self.f, self.theta[t] - value, self.K + t * self.w)
            if not self.lo[t] < self.theta[t] < self.hi[t]:
                outcome = BLOCKED
        self.moves += 1
        return outcome

    cdef bint inside(self, Py_ssize_t t) noexcept nogil:
        """Return whether theta_t is strictly inside its box."""
        return self.lo[t] < self.theta[t] < self.hi[t]

    cdef void sweep(self, Py_ssize_t role) noexcept nogil:
        """Remove the members that are on a bound from the basis; assign their role."""
        cdef Py_ssize_t k, t
        for k in range(self.s - 1, -1, -1):
            t = self.basis[k]
            if not self.inside(t):
                self.remove(k)
                self.role[t] = role

    cdef void close(self, Py_ssize_t n) noexcept nogil:
        """Subtract the sum of the direction, which is round-off, from its largest entry."""
        cdef Py_ssize_t k, largest = 0
        cdef double total = 0
        for k in range(n):
            total += self.d[k]
            if fabs(self.d[k]) > fabs(self.d[largest]):
                largest = k
        self.d[largest] -= total

    cdef int newton(self) noexcept nogil:
        """Step towards the solution of the KKT system of the basis, at which f is constant on it.

        With R'R = K_SS + c, R'g = level - f and R'h = 1 the step is R^-1 (g - (h'g / h'h) h).
        """
        cdef Py_ssize_t k
        cdef double share, level = self.level()
        cdef int outcome
        # g = inv(R.T) @ (level - f[S])
        for k in range(self.s):
            self.d[k] = level - self.f[self.basis[k]]
        self.solve(b'N', self.d)
        # d = inv(R) @ (g - (h @ g) / (h @ h) * h)
        share = dot(self.s, self.h, self.d) / dot(self.s, self.h, self.h)
        for k in range(self.s):
            self.d[k] -= share * self.h[k]
        self.solve(b'T', self.d)
        self.close(self.s)
        outcome = self.advance(self.s, True, False)
        if outcome == BLOCKED:
            self.sweep(0)
        return outcome

    cdef int slide(self, Py_ssize_t t, bint flat) noexcept nogil:
        """Move along the direction without curvature of t and the basis on which t depends.

        t moves by 1 and the basis by -R^-1 u, with u = R^-T (K_St + c) from `extend`. The sum of that is 0 to
        the size of the pivot only, so a share of h is added that makes it exactly 0.
        """
        cdef Py_ssize_t k
        cdef double share = (1 - dot(self.s, self.h, self.u)) / dot(self.s, self.h, self.h)
        cdef int outcome
        # d = [inv(R) @ (-u - share * h), 1]
        for k in range(self.s):
            self.d[k] = -self.u[k] - share * self.h[k]
        self.solve(b'T', self.d)
        self.d[self.s] = 1
        self.basis[self.s] = t
        self.close(self.s + 1)
        outcome = self.advance(self.s + 1, False, flat)
        if outcome == BLOCKED:
            self.sweep(0)
        return outcome

    cdef void enter(self, Py_ssize_t t, bint flat) noexcept nogil:
        """Add t to the basis, or move it to a bound, or, if neither is possible, bar it for this round."""
        while not self.extend(t):
            if self.slide(t, flat) != BLOCKED:
                self.role[t] = BARRED
                return
            if not self.inside(t):
                return

    # ---- one round ----

    cdef void start_basis(self, long long last_move) noexcept nogil:
        """Add every in-bound row to the basis, or move it, and the rows on which it depends, to a bound.

        The directions are without curvature, so f is updated once, after all of them.
        """
        cdef Py_ssize_t t
        for t in range(self.w):
            self.start[t] = self.theta[t]
        for t in range(self.w):
            if self.role[t] == 0 and self.inside(t) and self.moves < last_move:
                self.enter(t, True)
        # f += K @ (theta - start)
        for t in range(self.w):
            if self.theta[t] != self.start[t]:
                vec_axpy(0, self.w, self.f, self.theta[t] - self.start[t], self.K + t * self.w)
                self.work += self.w

    cdef double level(self) noexcept nogil:
        """Return the mean of f over the basis, which is -b."""
        cdef Py_ssize_t k
        cdef double total = 0
        for k in range(self.s):
            total += self.f[self.basis[k]]
        return total / self.s

    cdef double residual(self) noexcept nogil:
        """Return the range of f over the basis, 0 at the solution of its KKT system."""
        cdef Py_ssize_t k
        cdef double least = INF, most = -INF
        for k in range(self.s):
            least = min(least, self.f[self.basis[k]])
            most = max(most, self.f[self.basis[k]])
        return most - least


cdef class ActiveSet(Basis):
    """Rounds of the active-set phase on one dual problem; see `Basis` for the parameters."""

    cdef bint minimise(self, double tol, double budget, long long max_moves) except -1 nogil:
        """Solve the sub-problem of the block; return whether its KKT gap is at most tol within the limits."""
        cdef Py_ssize_t t, i, j
        cdef double level, least, most, up, low, residual, end = self.work + budget
        cdef long long last_move = self.moves + min(20 * self.w, max_moves)
        cdef bint at_round_off = False
        cdef int outcome
        # 1) a basis of the in-bound rows
        self.start_basis(last_move)
        while self.work < end and self.moves < last_move:
            if self.work - self.unchecked > WORK_PER_CHECK:
                self.unchecked = self.work
                self.dual.check_signals()
            # 2) Newton steps, until f is constant on the basis or its residual is round-off
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
            # 3) the worst violators outside the basis, and the KKT gap of the block
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
            # 4) a violator enters; into an empty basis, a pair
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
        """Start a round on some rows, increasing numbers that include the basis."""
        cdef Py_ssize_t[::1] index = rows
        cdef Py_ssize_t[::1] place
        cdef Py_ssize_t w = len(rows), a
        cdef double[:, ::1] block
        cdef Dual dual = self.dual
        place = np.searchsorted(rows, self.rows[self.members()])
        if dual.columns.full:
            # whole columns, since later rounds use them, too
            dual.columns.fetch(rows)
        self._block = dual.gram.block(rows).astype(np.float64, copy=False)
        block = self._block
        self.K, self.w, self.rows = &block[0, 0], w, rows
        # theta, f and boxes of the rows; the basis at its new positions, without members on a bound
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
        """Return the positions of the basis in the block."""
        return np.asarray(<Py_ssize_t[:self.capacity]> self.basis)[:self.s]

    def gain(self):
        """Return the decrease of the objective since `load`, and its round-off."""
        cdef Py_ssize_t a
        cdef double d, f, total = 0, noise = 0, level = self.level() if self.s > 0 else 0
        cdef Py_ssize_t[::1] index = self.rows
        # total = -0.5 * d @ (f + f_before - 2 * level), for d = theta - theta_before, whose sum is 0
        for a in range(self.w):
            d = self.theta[a] - self.dual.theta[index[a]]
            f = self.f[a] + self.dual.f[index[a]] - 2 * level
            total -= 0.5 * d * f
            noise += EPS * fabs(d) * (fabs(f) + fabs(level))
        return total, noise

    def store(self):
        """Copy the changes since `load` to the dual problem, and update its f."""
        cdef Py_ssize_t a
        cdef Py_ssize_t[::1] index = self.rows
        cdef Dual dual = self.dual
        before = dual.view(dual.theta)[self.rows]
        for a in range(self.w):
            dual.set_theta(index[a], self.theta[a])
        # f += K[:, moved] @ change[moved]
        change = dual.view(dual.theta)[self.rows] - before
        moved = np.flatnonzero(change)
        f = dual.view(dual.f)
        f += dual.gram.product(self.rows[moved], change[moved])
        self.work += 2.0 * len(moved) * dual.n
        dual.select()

    def choose(self, double tol):
        """Return the rows of the next round: the basis, other in-bound rows, and the worst violators."""
        cdef Dual dual = self.dual
        cdef Py_ssize_t room = min(self.capacity - 1, max(MIN_ROWS, dual.m // SHARE, 3 * self.s))
        # how much each row violates the KKT conditions at the present level of f
        theta, f = dual.view(dual.theta), dual.view(dual.f)
        can_grow, can_shrink = theta < dual.view(dual.hi), theta > dual.view(dual.lo)
        basis = self.rows[self.members()]
        level = f[basis].mean() if self.s else 0.5 * (dual.pair.f_i + dual.pair.f_j)
        excess = np.where(can_grow, level - f, -INF)
        np.maximum(excess, f - level, where=can_shrink, out=excess)
        # the maximal violating pair makes sure of a gain
        chosen = np.zeros(dual.m, dtype=bool)
        chosen[basis] = True
        chosen[[dual.pair.i, dual.pair.j]] = True
        room -= np.count_nonzero(chosen)
        inside = smallest(-excess, np.flatnonzero(can_grow & can_shrink & ~chosen), room)
        chosen[inside] = True
        violators = smallest(-excess, np.flatnonzero((excess > 0.25 * tol) & ~chosen), room - len(inside))
        chosen[violators] = True
        return np.flatnonzero(chosen)


cdef bint finish(Dual dual, double tol, double budget, long long last) except -1:
    """Solve a dual problem by the active-set method from its present variables.

    The phase ends when `budget` elements are passed over, or n_iter is `last`. Returns whether no gain is
    left: the KKT gap of a fresh gradient is at most tol, or the last round has gained nothing and the gap may
    be all round-off. In any case f is fresh, and theta is feasible and no worse than before.
    """
    cdef ActiveSet block = ActiveSet(dual, min(dual.m, MAX_ROWS))
    cdef int idle = 0, n_level = 0
    cdef double gap, value, best_gap = INF, best_value = -INF
    while block.work <= budget and dual.n_iter < last and idle <= 3 and n_level <= MOST_LEVEL:
        if block.capacity <= dual.m and block.s > block.capacity - MIN_ROWS // 2:
            break
        # the gap that counts is of a fresh gradient
        gap = dual.gap()
        if gap <= tol:
            dual.refresh()
            block.work += 2.0 * dual.n * dual.m
            if dual.gap() <= tol:
                return True
            gap = dual.gap()
        # one round; its changes are copied back unless the objective has risen beyond round-off
        block.load(block.choose(tol))
        block.minimise(max(0.5 * tol, LOOSE * gap), budget - block.work, last - dual.n_iter)
        gain, noise = block.gain()
        if gain >= -noise:
            block.store()
        idle = 0 if gain > noise else idle + 1
        # Once the gap may be all round-off, gains may be round-off, too, and only a lower gap counts. If
        # gains are round-off, the method can cycle between points although one of them certainly violates the
        # KKT conditions; MOST_LEVEL ends that.
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
    """Estimate the work of a first basis of the in-bound rows, well enough to compare it with a limit."""
    theta = dual.view(dual.theta)
    inside = np.flatnonzero((dual.view(dual.lo) < theta) & (theta < dual.view(dual.hi)))
    cdef double n = len(inside), size = n
    # With a linear kernel few rows are independent, however many are in-bound: the rank of a sample shows it.
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
    """Solve a dual problem by SMO and the active-set method in turns, from its present variables.

    SMO solves most well-conditioned problems within its first steps. Then the active-set method may do as
    much work as SMO has done, then SMO the same amount, and so on: at worst the cost of SMO doubles. The
    active-set method is not tried while its first basis alone would cost more than all of SMO's steps.

    `working_set` is the rule of the SMO steps. Both methods together take at most `max_iter` steps, and
    `taken` SMO steps were taken on this problem before, without success. Returns whether the KKT gap is at
    most tol. If not, steps ran out, or neither method brings a gain.
    """
    cdef long long first = dual.n_iter, last = first + max_iter
    cdef long long steps = <long long> (STEPS_PER_ROW * dual.m) + STEPS, most
    cdef double work = 0
    cdef double best_gap = INF, best_value = -INF
    cdef int idle = 0
    while True:
        # 1) SMO, where tol is tiny with few steps after the gap is NEAR
        most, taken = max(steps - taken, 0), 0
        if dual.n_iter == first and tol < 0.01 * NEAR * dual.margin():
            near = dual.solve(working_set, NEAR * dual.margin(), min(most, max_iter))
            most -= dual.n_iter - first
            if near:
                most = min(most, STEPS_ON)
        if dual.solve(working_set, tol, min(most, last - dual.n_iter)) or dual.n_iter >= last:
            break
        if dual.gap() <= tol:   # its round-off is all that is left
            break
        # 2) the active-set method, if its basis costs no more than SMO's steps so far
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
        # 3) twice as many steps
        steps = min(2 * steps, max_iter)
    return dual.solved_to(tol)
