"""Linear systems of unlearning: those of a tableau, by Cholesky's factor, and the one of a path.

LAPACK is called without the GIL: SciPy's own functions keep other threads waiting.
"""

from libc.math cimport fabs
from libc.string cimport memcpy, memset

import numpy as np

from scipy.linalg.cython_lapack cimport dgetrf, dgetri, dpotrf, dpotri, dpotrs

from svmselect.solver._state cimport VEC_OUT, vec_axpy

# Residuals of a path's system, relative to its right side: larger ones are refined, and a fresh inverse has
# to reach the second.
cdef double REFINED = 1e-12
cdef double SOLVED = 1e-8


cdef class System:
    """What the columns of the open events are pushed by: a linear system with its inverse, both updated.

    With the rows of points that have entered negated it is symmetric, positive definite on those that have
    left and negative definite on those that have entered, so any order of its rows is stable, and one comes
    or goes by a step of Gauss and Jordan. Where round-off shows in a solution, the inverse is computed anew.

    Parameters
    ----------
    size : int
        The largest number of rows.
    """

    def __cinit__(self, Py_ssize_t size):
        self.size, self.n, self.known = size, 0, True
        self.matrix, self.inverse = np.empty((2, size, size))
        self.right, self.x, self.rest, self.work = np.empty((4, size))
        self.pivots = np.empty(size, dtype=np.intc)

    cdef void clear(self) noexcept nogil:
        self.n, self.known = 0, True

    cdef void add(self, bint update) noexcept nogil:
        """Take in a row and column whose entries are in `right`, that on the diagonal last."""
        cdef Py_ssize_t n = self.n, i
        cdef double schur
        for i in range(n + 1):
            self.matrix[i, n] = self.matrix[n, i] = self.right[i]
        self.n = n + 1
        self.known = self.known and update
        if not self.known:
            return
        schur = self.right[n]
        self.times(self.inverse, n, self.right, self.x)
        for i in range(n):
            schur -= self.x[i] * self.right[i]
        if not fabs(schur) > 0:
            self.known = False
            return
        for i in range(n):
            vec_axpy(False, n, &self.inverse[i, 0], self.x[i] / schur, &self.x[0])
            self.inverse[i, n] = self.inverse[n, i] = -self.x[i] / schur
        self.inverse[n, n] = 1 / schur

    cdef void times(self, double[:, ::1] a, Py_ssize_t n, double[::1] v, double[::1] out) noexcept nogil:
        """The product of a symmetric matrix and a vector."""
        cdef Py_ssize_t i
        memset(&out[0], 0, n * sizeof(double))
        for i in range(n):
            vec_axpy(False, n, &out[0], v[i], &a[i, 0])

    cdef void swap(self, double[:, ::1] a, Py_ssize_t k, Py_ssize_t last) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            a[k, i], a[last, i] = a[last, i], a[k, i]
        for i in range(self.n):
            a[i, k], a[i, last] = a[i, last], a[i, k]

    cdef void remove(self, Py_ssize_t k) noexcept nogil:
        """Take out row k; the last takes its place."""
        cdef Py_ssize_t last = self.n - 1, i
        cdef double pivot
        self.swap(self.matrix, k, last)
        if self.known:
            self.swap(self.inverse, k, last)
            pivot = self.inverse[last, last]
            self.known = fabs(pivot) > 0
        self.n = last
        if self.known:
            for i in range(last):
                vec_axpy(False, last, &self.inverse[i, 0], -self.inverse[i, last] / pivot,
                         &self.inverse[last, 0])

    cdef bint invert(self) noexcept nogil:
        """Compute the inverse anew; whether there is one."""
        cdef int n = <int> self.n, ld = <int> self.size, info = 0
        cdef Py_ssize_t i, j
        for i in range(self.n):
            memcpy(&self.inverse[i, 0], &self.matrix[i, 0], self.n * sizeof(double))
        dgetrf(&n, &n, &self.inverse[0, 0], &ld, &self.pivots[0], &info)
        if info == 0:
            dgetri(&n, &self.inverse[0, 0], &ld, &self.pivots[0], &self.work[0], &ld, &info)
        self.known = info == 0
        if self.known:
            for i in range(self.n):
                for j in range(i):
                    self.inverse[i, j] = self.inverse[j, i] = 0.5 * (self.inverse[i, j] + self.inverse[j, i])
        return self.known

    cdef double residual(self) noexcept nogil:
        """What x leaves of the right side, in `rest`; its largest entry."""
        cdef Py_ssize_t i
        cdef double most = 0
        self.times(self.matrix, self.n, self.x, self.rest)
        for i in range(self.n):
            self.rest[i] = self.right[i] - self.rest[i]
            if not fabs(self.rest[i]) <= most:  # no number is the largest
                most = fabs(self.rest[i])
        return most

    cdef bint solve(self) noexcept nogil:
        """x for the right side; whether it can be told."""
        cdef Py_ssize_t i
        cdef int attempt, _turn
        cdef double size = 0, left = VEC_OUT
        for i in range(self.n):
            size = max(size, fabs(self.right[i]))
        for attempt in range(2):
            if (attempt > 0 or not self.known) and not self.invert():
                return False
            self.times(self.inverse, self.n, self.right, self.x)
            left = self.residual()
            for _turn in range(2):
                if left <= REFINED * size:
                    return True
                for i in range(self.n):
                    vec_axpy(False, self.n, &self.x[0], self.rest[i], &self.inverse[i, 0])
                left = self.residual()
            if left <= REFINED * size or (attempt > 0 and left <= SOLVED * size):
                return True
        return False


# Arrays are of float64 in Fortran order, and are overwritten.

def factorise(double[::1, :] matrix):
    """Put the lower factor, with zeros above it, in the place of a symmetric matrix, shape (n, n), of which
    the lower triangle is read.

    Returns
    -------
    bool
        Whether the matrix is positive definite; else there is no factor.
    """
    cdef int n = matrix.shape[0], info = 0
    cdef Py_ssize_t i, j
    cdef char lower = b"L"
    with nogil:
        dpotrf(&lower, &n, &matrix[0, 0], &n, &info)
        for j in range(1, n):
            for i in range(j):
                matrix[i, j] = 0
    return info == 0


def solve(double[::1, :] factor, double[::1, :] right):
    """Put the solutions of systems of a factorised matrix in the place of their right sides, shape (n, k)."""
    cdef int n = factor.shape[0], k = right.shape[1], info = 0
    cdef char lower = b"L"
    if k:
        with nogil:
            dpotrs(&lower, &n, &k, &factor[0, 0], &n, &right[0, 0], &n, &info)


def invert(double[::1, :] factor):
    """Put the inverse of a factorised matrix, its lower triangle, in the place of the factor."""
    cdef int n = factor.shape[0], info = 0
    cdef char lower = b"L"
    with nogil:
        dpotri(&lower, &n, &factor[0, 0], &n, &info)
