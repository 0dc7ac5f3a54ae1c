"""Cholesky's factor by LAPACK, other threads running meanwhile: SciPy's own functions keep them waiting.

All arrays are of float64 in Fortran order, and are overwritten.
"""

from scipy.linalg.cython_lapack cimport dpotrf, dpotri, dpotrs


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
