"""The basis of the active-set method: in-bound rows on which it moves by linear solves.

Design. The method (Scheinberg 2006; inertia control as in Gill and Murray 1978). The *basis* S is a set of
in-bound rows on which the bordered KKT matrix ``[0 1'; 1 K_SS]`` is non-singular. As the sum is fixed, K may
be replaced by ``K + c 11'`` with any c > 0; the bordered matrix is non-singular exactly where ``K_SS + c
11'`` is positive definite, so one Cholesky factor serves, extended by a row or updated by rotations as rows
enter and leave. A Newton step on S goes to the solution of the KKT system or to the first bound; members that
reach a bound leave. When f is constant on S, the worst violator enters. Where it depends on S (its pivot is
round-off: duplicate rows, a linear kernel with more than d + 1 in-bound points), there is a direction without
curvature: the violator and S move along it to the first bound, which makes the set independent again.

Every move is feasible, starts with all of S strictly inside, and ends at the exact minimum along its line or
at a bound, with slope and curvature from K itself, not from the factor: the objective falls with each move
whatever round-off does to the factor. A row whose move goes nowhere is barred until the next round.
"""

from libc.math cimport fabs, hypot, sqrt
from libc.string cimport memmove, memset

import numpy as np

from scipy.linalg.cython_blas cimport drot, dtrsv

from svmselect.solver._smo cimport Dual
from svmselect.solver._state cimport SNAP, vec_axpy

cdef double EPS = 2.0 ** -52
cdef double EPS_SINGLE = 2.0 ** -23
cdef double INF = 1e300


cdef double dot(Py_ssize_t n, const double *x, const double *y) noexcept nogil:
    cdef Py_ssize_t k
    cdef double total = 0
    for k in range(n):
        total += x[k] * y[k]
    return total


cdef class Basis:
    """A block of rows of a dual problem, and the basis among them.

    Parameters
    ----------
    dual : Dual
    capacity : int
        The largest number of rows of a block.
    """

    def __cinit__(self, Dual dual, Py_ssize_t capacity):
        cdef double[:, ::1] vectors
        cdef Py_ssize_t[:, ::1] index
        cdef double[:, ::1] factor
        self.dual = dual
        self.capacity = capacity + 1
        self._vectors = np.zeros((9, self.capacity))
        vectors = self._vectors
        self.theta, self.f, self.lo, self.hi = &vectors[0, 0], &vectors[1, 0], &vectors[2, 0], &vectors[3, 0]
        self.Kd, self.d, self.u = &vectors[4, 0], &vectors[5, 0], &vectors[6, 0]
        self.start, self.h = &vectors[7, 0], &vectors[8, 0]
        # np.empty maps pages only when they are written, so what a small problem leaves unused costs nothing.
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
        # Any c > 0 will do; one as large as the diagonal does least harm to the condition.
        self.c = max(diagonal.mean(), 1e-300)
        unit = EPS_SINGLE if dual.columns.single else EPS
        largest = max(diagonal.max(), 1e-300)
        self.pivot_floor = 32 * unit * (largest + self.c)
        self.curvature_floor = unit * largest
        self.w = self.s = self.moves = 0
        self.work = self.unchecked = 0

    # ---- the factor of K_SS + c ----

    cdef void solve(self, char transposed, double *x) noexcept nogil:
        """x becomes R^-T x ('N': LAPACK sees the rows of R as the columns of its transpose) or R^-1 x
        ('T')."""
        cdef int n = self.s, lda = self.capacity, one = 1
        if n > 0:
            dtrsv(b'L', &transposed, b'N', &n, self.R, &lda, x, &one)
            self.work += 0.5 * n * n

    cdef bint extend(self, Py_ssize_t t) noexcept nogil:
        """Let t join the basis, unless it depends on it; then u is left holding R^-T (K_St + c)."""
        cdef Py_ssize_t k
        cdef double *column = self.K + t * self.w
        cdef double total = column[t] + self.c, pivot
        for k in range(self.s):
            self.u[k] = column[self.basis[k]] + self.c
        self.solve(b'N', self.u)
        pivot = total - dot(self.s, self.u, self.u)
        if pivot <= self.pivot_floor:
            return False
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
        """Take the k-th member out of the basis: R loses a column, rotations make it triangular again."""
        cdef Py_ssize_t i, p = k, ld = self.capacity
        cdef double *row
        cdef double *below
        cdef double a, b, r, cosine, sine
        cdef int n, one = 1
        self.role[self.basis[k]] = 0
        self.work += 2.0 * (self.s - k) * (self.s - k) + self.s
        for i in range(p):
            row = self.R + i * ld
            memmove(row + p, row + p + 1, (self.s - p - 1) * sizeof(double))
        for i in range(p, self.s - 1):
            row, below = self.R + i * ld, self.R + (i + 1) * ld
            a, b = row[i + 1], below[i + 1]
            r = hypot(a, b)
            cosine, sine = a / r, b / r
            n = self.s - i - 1
            drot(&n, row + i + 1, &one, below + i + 1, &one, &cosine, &sine)
            memmove(row + i, row + i + 1, n * sizeof(double))
            a = self.h[i]
            self.h[i] = cosine * a + sine * self.h[i + 1]
            self.h[i + 1] = cosine * self.h[i + 1] - sine * a
        memmove(self.basis + k, self.basis + k + 1, (self.s - k - 1) * sizeof(Py_ssize_t))
        self.s -= 1

    cdef void rebuild(self) noexcept nogil:
        """Factor the basis afresh; members that turn out to depend on the others leave it."""
        cdef Py_ssize_t k, n = self.s
        self.s = 0
        for k in range(n):
            self.role[self.basis[k]] = 0
            self.extend(self.basis[k])   # writes basis[s] with s <= k only

    # ---- moves ----

    cdef int advance(self, Py_ssize_t n, bint newton, bint flat) noexcept nogil:
        """Move along d, over the first n entries of `basis`, to the minimum of the line or the first bound.

        A direction other than Newton's may be taken either way, and has no natural length. A flat one is
        taken as without any curvature: it leaves f alone.
        """
        cdef Py_ssize_t k, t
        cdef double slope = 0, curvature = 0, size = 0, step, room, limit = INF, before, value, snap
        cdef int outcome = INSIDE
        for k in range(n):
            slope += self.d[k] * self.f[self.basis[k]]
            size += fabs(self.d[k])
        if newton and slope >= 0:
            return STUCK
        if slope > 0:
            slope = -slope
            for k in range(n):
                self.d[k] = -self.d[k]
        if not flat:
            memset(self.Kd, 0, self.w * sizeof(double))
            for k in range(n):
                vec_axpy(0, self.w, self.Kd, self.d[k], self.K + self.basis[k] * self.w)
            for k in range(n):
                curvature += self.d[k] * self.Kd[self.basis[k]]
            self.work += <double> n * self.w
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
        if not flat:
            vec_axpy(0, self.w, self.f, step, self.Kd)
        for k in range(n):
            t = self.basis[k]
            before = self.theta[t]
            value = before + step * self.d[k]
            # as Dual.set_theta does; the variable that stopped the move is within round-off of its bound
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
        return self.lo[t] < self.theta[t] < self.hi[t]

    cdef void sweep(self, Py_ssize_t role) noexcept nogil:
        """Take the members that are on a bound out of the basis."""
        cdef Py_ssize_t k, t
        for k in range(self.s - 1, -1, -1):
            t = self.basis[k]
            if not self.inside(t):
                self.remove(k)
                self.role[t] = role

    cdef void close(self, Py_ssize_t n) noexcept nogil:
        """Take the round-off out of the sum of the direction: its largest entry carries it."""
        cdef Py_ssize_t k, largest = 0
        cdef double total = 0
        for k in range(n):
            total += self.d[k]
            if fabs(self.d[k]) > fabs(self.d[largest]):
                largest = k
        self.d[largest] -= total

    cdef int newton(self) noexcept nogil:
        """One step towards the solution of the KKT system of the basis, where f is constant on it.

        With R'R = K_SS + c, R'g = level - f and R'h = 1 the step is R^-1 (g - (h'g / h'h) h).
        """
        cdef Py_ssize_t k
        cdef double share, level = self.level()
        cdef int outcome
        for k in range(self.s):
            self.d[k] = level - self.f[self.basis[k]]
        self.solve(b'N', self.d)
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

        With u = R^-T (K_St + c), which extend has left, that of the basis is -R^-1 u; it balances t's in the
        units of the pivot only, so the share of h that makes it do so exactly is added.
        """
        cdef Py_ssize_t k
        cdef double share = (1 - dot(self.s, self.h, self.u)) / dot(self.s, self.h, self.h)
        cdef int outcome
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
        """Bring t into the basis, to a bound, or, if neither can be done, bar it for this round."""
        while not self.extend(t):
            if self.slide(t, flat) != BLOCKED:
                self.role[t] = BARRED
                return
            if not self.inside(t):
                return

    # ---- one round ----

    cdef void start_basis(self, long long last_move) noexcept nogil:
        """Make every in-bound row basic, or move it to a bound with those it depends on.

        The directions are without curvature, so f is brought up to date once, after all of them.
        """
        cdef Py_ssize_t t
        for t in range(self.w):
            self.start[t] = self.theta[t]
        for t in range(self.w):
            if self.role[t] == 0 and self.inside(t) and self.moves < last_move:
                self.enter(t, True)
        for t in range(self.w):
            if self.theta[t] != self.start[t]:
                vec_axpy(0, self.w, self.f, self.theta[t] - self.start[t], self.K + t * self.w)
                self.work += self.w

    cdef double level(self) noexcept nogil:
        """Mean of f over the basis: -b."""
        cdef Py_ssize_t k
        cdef double total = 0
        for k in range(self.s):
            total += self.f[self.basis[k]]
        return total / self.s

    cdef double residual(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double least = INF, most = -INF
        for k in range(self.s):
            least = min(least, self.f[self.basis[k]])
            most = max(most, self.f[self.basis[k]])
        return most - least
