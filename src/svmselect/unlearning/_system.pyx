"""Linear systems of unlearning: those of a tableau, by Cholesky's factor, and the small one of a path.

LAPACK is called without the GIL. SciPy's own functions would keep other threads waiting.
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
    """The linear system for the multiples of the columns of the open events, and its inverse.

    With the rows of points that have entered negated it is symmetric, positive definite on those that have
    left and negative definite on those that have entered, so any order of its rows is stable. A row is added
    or removed by one step of Gauss and Jordan. Where round-off shows in a solution, the inverse is computed
    anew.
    """

    def __cinit__(self, Py_ssize_t size):
        self.size, self.n, self.has_inverse = size, 0, True
        self.matrix, self.inverse = np.empty((2, size, size))
        self.right, self.x, self.rest, self.work = np.empty((4, size))
        self.pivots = np.empty(size, dtype=np.intc)

    cdef void clear(self) noexcept nogil:
        """Remove all rows."""
        self.n, self.has_inverse = 0, True

    cdef void add(self, bint update) noexcept nogil:
        """Add a row and column whose entries are in `right`, the diagonal one last."""
        cdef Py_ssize_t n = self.n, i
        cdef double schur
        # matrix[n, :] = matrix[:, n] = right
        for i in range(n + 1):
            self.matrix[i, n] = self.matrix[n, i] = self.right[i]
        self.n = n + 1
        self.has_inverse = self.has_inverse and update
        if not self.has_inverse:
            return
        # x = inverse @ right[:n];  schur = right[n] - x @ right[:n]
        schur = self.right[n]
        self.times(self.inverse, n, self.right, self.x)
        for i in range(n):
            schur -= self.x[i] * self.right[i]
        if not fabs(schur) > 0:
            self.has_inverse = False
            return
        # inverse += outer(x, x) / schur, with the new row and column -x / schur and 1 / schur
        for i in range(n):
            vec_axpy(False, n, &self.inverse[i, 0], self.x[i] / schur, &self.x[0])
            self.inverse[i, n] = self.inverse[n, i] = -self.x[i] / schur
        self.inverse[n, n] = 1 / schur

    cdef void times(self, double[:, ::1] a, Py_ssize_t n, double[::1] v, double[::1] out) noexcept nogil:
        """Compute the product of a symmetric matrix and a vector."""
        cdef Py_ssize_t i
        # out = a[:n, :n] @ v
        memset(&out[0], 0, n * sizeof(double))
        for i in range(n):
            vec_axpy(False, n, &out[0], v[i], &a[i, 0])

    cdef void swap(self, double[:, ::1] a, Py_ssize_t k, Py_ssize_t last) noexcept nogil:
        """Exchange two rows, and the same two columns."""
        cdef Py_ssize_t i
        for i in range(self.n):
            a[k, i], a[last, i] = a[last, i], a[k, i]
        for i in range(self.n):
            a[i, k], a[i, last] = a[i, last], a[i, k]

    cdef void remove(self, Py_ssize_t k) noexcept nogil:
        """Remove row k; the last one takes its place."""
        cdef Py_ssize_t last = self.n - 1, i
        cdef double pivot
        self.swap(self.matrix, k, last)
        if self.has_inverse:
            self.swap(self.inverse, k, last)
            pivot = self.inverse[last, last]
            self.has_inverse = fabs(pivot) > 0
        self.n = last
        # inverse[:last, :last] -= outer(inverse[:last, last], inverse[last, :last]) / pivot
        if self.has_inverse:
            for i in range(last):
                vec_axpy(False, last, &self.inverse[i, 0], -self.inverse[i, last] / pivot,
                         &self.inverse[last, 0])

    cdef bint invert(self) noexcept nogil:
        """Compute the inverse anew; return whether there is one."""
        cdef int n = <int> self.n, ld = <int> self.size, info = 0
        cdef Py_ssize_t i, j
        # inverse = inv(matrix)
        for i in range(self.n):
            memcpy(&self.inverse[i, 0], &self.matrix[i, 0], self.n * sizeof(double))
        dgetrf(&n, &n, &self.inverse[0, 0], &ld, &self.pivots[0], &info)
        if info == 0:
            dgetri(&n, &self.inverse[0, 0], &ld, &self.pivots[0], &self.work[0], &ld, &info)
        self.has_inverse = info == 0
        # inverse = (inverse + inverse.T) / 2
        if self.has_inverse:
            for i in range(self.n):
                for j in range(i):
                    self.inverse[i, j] = self.inverse[j, i] = 0.5 * (self.inverse[i, j] + self.inverse[j, i])
        return self.has_inverse

    cdef double residual(self) noexcept nogil:
        """Compute ``rest = right - matrix @ x``; return its largest absolute value."""
        cdef Py_ssize_t i
        cdef double most = 0
        self.times(self.matrix, self.n, self.x, self.rest)
        for i in range(self.n):
            self.rest[i] = self.right[i] - self.rest[i]
            if not fabs(self.rest[i]) <= most:  # a NaN is the largest
                most = fabs(self.rest[i])
        return most

    cdef bint solve(self) noexcept nogil:
        """Compute x for the right side; return whether its residual is small."""
        cdef Py_ssize_t i
        cdef int attempt, _refinement
        cdef double size = 0, residual = VEC_OUT
        for i in range(self.n):
            size = max(size, fabs(self.right[i]))
        # first with the updated inverse, then with a fresh one
        for attempt in range(2):
            if (attempt > 0 or not self.has_inverse) and not self.invert():
                return False
            # x = inverse @ right
            self.times(self.inverse, self.n, self.right, self.x)
            residual = self.residual()
            for _refinement in range(2):
                if residual <= REFINED * size:
                    return True
                # x += inverse @ rest
                for i in range(self.n):
                    vec_axpy(False, self.n, &self.x[0], self.rest[i], &self.inverse[i, 0])
                residual = self.residual()
            if residual <= REFINED * size or (attempt > 0 and residual <= SOLVED * size):
                return True
        return False


# The arrays of the following functions are of float64, in Fortran order, and overwritten.

def factorise(double[::1, :] matrix):
    """Overwrite a symmetric matrix with its lower Cholesky factor; return whether it has one.

    The factor has zeros above its diagonal. Only the lower triangle of the matrix, shape (n, n), is read.
    """
    cdef int n = matrix.shape[0], info = 0
    cdef Py_ssize_t i, j
    cdef char lower = b"L"
    with nogil:
        # matrix = tril(L) with L @ L.T = matrix
        dpotrf(&lower, &n, &matrix[0, 0], &n, &info)
        for j in range(1, n):
            for i in range(j):
                matrix[i, j] = 0
    return info == 0


def solve(double[::1, :] factor, double[::1, :] right):
    """Overwrite right sides, shape (n, k), with the solutions of systems with a factorised matrix."""
    cdef int n = factor.shape[0], k = right.shape[1], info = 0
    cdef char lower = b"L"
    if k:
        with nogil:
            # right = inv(factor @ factor.T) @ right
            dpotrs(&lower, &n, &k, &factor[0, 0], &n, &right[0, 0], &n, &info)


def invert(double[::1, :] factor):
    """Overwrite a Cholesky factor with the lower triangle of its matrix' inverse."""
    cdef int n = factor.shape[0], info = 0
    cdef char lower = b"L"
    with nogil:
        # factor = tril(inv(factor @ factor.T))
        dpotri(&lower, &n, &factor[0, 0], &n, &info)
