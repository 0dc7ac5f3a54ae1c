"""The passes over panels (_panels.h) for NumPy arrays, and the layouts of rows that they need.

Two-dimensional arguments may have any row stride; the values of a row are contiguous.
"""

from libc.stdint cimport int32_t

import numpy as np

from scipy.linalg.cython_blas cimport dgemm, sgemm

cdef extern from "kernels/_panels.h" nogil:
    void panels_rbf(int, Py_ssize_t, void *, const void *, const void *, double, double, double)
    void panels_laplacian(int, Py_ssize_t, Py_ssize_t, const void *, const void *, void *, double)
    void panels_chi_squared(int, Py_ssize_t, Py_ssize_t, const void *, const void *, void *, double)
    void panels_rbf_add(int, Py_ssize_t, double *, double, const void *, const void *, double, double, double)
    void panels_add(int, Py_ssize_t, const Py_ssize_t *, double, const void *, double *)
    const Py_ssize_t PANELS_WIDTH
    void panels_sparse_product(int, Py_ssize_t, const Py_ssize_t *, const void *, const int32_t *,
                               const void *, Py_ssize_t, void *)
    void panels_overlaps(int, Py_ssize_t, const Py_ssize_t *, const void *, const int32_t *,
                         const Py_ssize_t *, const int32_t *, const void *, Py_ssize_t, void *)
    void panels_transpose(int, Py_ssize_t, Py_ssize_t, const void *, Py_ssize_t, void *, Py_ssize_t)

cdef enum:
    STRIP = 32      # rows

WIDTH = PANELS_WIDTH    # a row of `turned` has a multiple of these many values

ctypedef fused real:
    float
    double


def rbf(real[:, :] products, real[:, :] out, Py_ssize_t[::1] slots, real[::1] norms, real[::1] other_norms,
        double gamma, double clip):
    """Write RBF kernel values to ``out[slots[r], c]``, from products and squared norms of pairs of rows.

    ``products[r, c]`` is the inner product of rows with squared norms ``norms[r]`` and ``other_norms[c]``. A
    squared distance of up to ``clip`` times the sum of the norms counts as zero.
    """
    cdef Py_ssize_t r
    with nogil:
        for r in range(products.shape[0]):
            panels_rbf(real is float, products.shape[1], &out[slots[r], 0], &products[r, 0], &other_norms[0],
                       norms[r], gamma, clip)


def laplacian(const real[:, ::1] left, const real[:, ::1] turned, real[:, :] out, Py_ssize_t[::1] slots,
              double gamma):
    """Compute ``out[slots[r], c] = exp(-gamma sum_k |left[r, k] - turned[k, c]|)``."""
    cdef Py_ssize_t r
    with nogil:
        for r in range(left.shape[0]):
            panels_laplacian(real is float, turned.shape[0], turned.shape[1], &left[r, 0], &turned[0, 0],
                             &out[slots[r], 0], gamma)


def chi_squared(const real[:, ::1] left, const real[:, ::1] turned, real[:, :] out, Py_ssize_t[::1] slots,
                double gamma):
    """Compute ``out[slots[r], c] = exp(-gamma D)`` of a chi-squared distance.

    ``D = sum_k (left[r, k] - turned[k, c])^2 / (left[r, k] + turned[k, c])``.
    """
    cdef Py_ssize_t r
    with nogil:
        for r in range(left.shape[0]):
            panels_chi_squared(real is float, turned.shape[0], turned.shape[1], &left[r, 0], &turned[0, 0],
                               &out[slots[r], 0], gamma)


def rbf_add(real[:, :] products, double[::1] weights, double[::1] sums, real[::1] norms,
            real[::1] other_norms, double gamma, double clip):
    """Compute ``sums[c] += sum_r weights[r] k(r, c)`` with the kernel values of `rbf`."""
    cdef Py_ssize_t r
    with nogil:
        for r in range(products.shape[0]):
            panels_rbf_add(real is float, products.shape[1], &sums[0], weights[r], &products[r, 0],
                           &other_norms[0], norms[r], gamma, clip)


cdef void multiply(const real *left, int n_left, const real *right, int n_right, int d,
                   real *out) noexcept nogil:
    """Compute ``out = left @ right.T`` of rows with d values that lie together, as those of `out` do."""
    # in Fortran's order: out' = right @ left'
    cdef real one = 1, zero = 0
    if real is float:
        sgemm(b"T", b"N", &n_right, &n_left, &d, &one, <float *> right, &d, <float *> left, &d, &zero, out,
              &n_right)
    else:
        dgemm(b"T", b"N", &n_right, &n_left, &d, &one, <double *> right, &d, <double *> left, &d, &zero, out,
              &n_right)


def rbf_add_of_rows(const real[:, ::1] left, const real[:, ::1] right, double[::1] weights,
                    double[::1] sums, real[::1] norms, real[::1] other_norms, double gamma, double clip,
                    real[:, ::1] scratch):
    """Compute ``sums[c] += sum_r weights[r] k(left[r], right[c])`` of dense rows, by panels; see `rbf_add`.

    The products of a panel, of the shape of `scratch`, stay in the cache. Threads do not wait for each other,
    since nothing here takes the interpreter's lock.
    """
    cdef Py_ssize_t a, b = 0, r, rows, columns
    with nogil:
        while b < right.shape[0]:
            columns = min(scratch.shape[1], right.shape[0] - b)
            a = 0
            while a < left.shape[0]:
                rows = min(scratch.shape[0], left.shape[0] - a)
                multiply(&left[a, 0], <int> rows, &right[b, 0], <int> columns, <int> left.shape[1],
                         &scratch[0, 0])
                for r in range(rows):
                    panels_rbf_add(real is float, columns, &sums[b], weights[a + r],
                                   &scratch[0, 0] + r * columns, &other_norms[b], norms[a + r], gamma, clip)
                a += rows
            b += columns


def add(real[:, :] values, double[::1] weights, double[::1] sums):
    """Compute ``sums[c] += sum_r weights[r] values[r, c]``."""
    cdef Py_ssize_t r
    with nogil:
        for r in range(values.shape[0]):
            panels_add(real is float, values.shape[1], NULL, weights[r], &values[r, 0], &sums[0])


def transpose(const real[:, :] block, real[:, :] out):
    """Compute ``out[c, r] = block[r, c]``."""
    with nogil:
        panels_transpose(real is float, block.shape[0], block.shape[1], &block[0, 0],
                         block.strides[0] // sizeof(real), &out[0, 0], out.strides[0] // sizeof(real))


def mirror(real[:, :] square):
    """Copy the part of a square matrix below the diagonal to the one above, in strips of STRIP rows."""
    cdef Py_ssize_t n = square.shape[0], ld = square.strides[0] // sizeof(real), top = 0, end, r, c
    with nogil:
        while top < n:
            end = min(top + STRIP, n)
            if top > 0:
                panels_transpose(real is float, end - top, top, &square[top, 0], ld, &square[0, top], ld)
            for r in range(top, end):
                for c in range(top, r):
                    square[c, r] = square[r, c]
            top = end


def squared_norms(const real[::1] values, const Py_ssize_t[::1] starts):
    """Return the sum of squares of ``values[starts[r]:starts[r + 1]]`` for every r.

    Sums are in long double, and rounded once to the type of the values where that is narrower.
    """
    cdef Py_ssize_t r, t
    cdef long double total
    norms = np.empty(starts.shape[0] - 1, dtype=np.float32 if real is float else np.float64)
    cdef real[::1] out = norms
    with nogil:
        for r in range(out.shape[0]):
            total = 0
            for t in range(starts[r], starts[r + 1]):
                total += <long double> values[t] * values[t]
            out[r] = <real> total
    return norms


def turned(const real[:, ::1] rows):
    """Return the transpose of dense rows, with columns of zeros up to a multiple of PANELS_WIDTH."""
    cdef Py_ssize_t width = (rows.shape[0] + PANELS_WIDTH - 1) // PANELS_WIDTH * PANELS_WIDTH
    out = np.zeros((rows.shape[1], width), dtype=np.float32 if real is float else np.float64)
    if rows.size > 0:
        transpose(rows, out)
    return out


def sparse_rows(const real[::1] values, const int32_t[::1] features, const Py_ssize_t[::1] starts,
                Py_ssize_t first, const real[:, ::1] right, real[:, ::1] out):
    """Compute ``out[r] = (row first + r) @ right`` for rows of a CSR matrix, with the result of `turned`."""
    with nogil:
        panels_sparse_product(real is float, out.shape[0], &starts[first],
                              &values[0] if values.shape[0] else NULL,
                              &features[0] if features.shape[0] else NULL, &right[0, 0], out.shape[1],
                              &out[0, 0])


def sparse_product(const real[::1] values, const int32_t[::1] features, const Py_ssize_t[::1] starts,
                   Py_ssize_t first, const real[:, ::1] left, real[:, ::1] out):
    """Compute ``out[c, r] = left[c] @ (row first + r)`` for rows of a CSR matrix."""
    if out.shape[1] == 0 or left.shape[1] == 0:
        out[:] = 0
        return
    right = turned(left)
    products = np.empty((out.shape[1], right.shape[1]), dtype=right.dtype)
    sparse_rows(values, features, starts, first, right, products)
    transpose(products[:, :left.shape[0]], out)


def overlaps(const real[::1] values, const int32_t[::1] features, const Py_ssize_t[::1] starts,
             Py_ssize_t first, const Py_ssize_t[::1] column_starts, const int32_t[::1] column_rows,
             const real[::1] column_values, real[:, ::1] out):
    """Compute ``out[r, c] = (row first + r) @ (other row c)`` for rows of a CSR matrix and one by columns."""
    if out.shape[0] == 0 or out.shape[1] == 0:
        return
    with nogil:
        panels_overlaps(real is float, out.shape[0], &starts[first], &values[0] if values.shape[0] else NULL,
                        &features[0] if features.shape[0] else NULL, &column_starts[0],
                        &column_rows[0] if column_rows.shape[0] else NULL,
                        &column_values[0] if column_values.shape[0] else NULL, out.shape[1], &out[0, 0])


def densify(const real[::1] values, const int32_t[::1] features, const Py_ssize_t[::1] starts,
            Py_ssize_t first, real[:, ::1] out):
    """Write rows ``first`` and following of a CSR matrix to a dense array."""
    cdef Py_ssize_t r, t
    with nogil:
        out[:, :] = 0
        for r in range(out.shape[0]):
            for t in range(starts[first + r], starts[first + r + 1]):
                out[r, features[t]] = values[t]
