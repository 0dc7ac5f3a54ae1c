"""Python's side of the passes over panels (_panels.h), and rows of a data set made ready for them.

Two-dimensional arguments may have any row stride; the values of a row are contiguous.
"""

import numpy as np

cdef extern from "_panels.h" nogil:
    void panels_rbf(int, Py_ssize_t, void *, const void *, const void *, double, double, double)
    void panels_transpose(int, Py_ssize_t, Py_ssize_t, const void *, Py_ssize_t, void *, Py_ssize_t)

ctypedef fused real:
    float
    double

ctypedef fused integer:
    int
    long long


def rbf(real[:, :] products, real[:, :] out, Py_ssize_t[::1] slots, real[::1] norms, real[::1] other_norms,
        double gamma, double clip):
    """``out[slots[r], c]`` from ``products[r, c]``, the inner product of two rows with squared norms
    ``norms[r]`` and ``other_norms[c]``: their RBF kernel, a squared distance of up to ``clip`` times the sum
    of the norms taken as zero."""
    cdef Py_ssize_t r
    with nogil:
        for r in range(products.shape[0]):
            panels_rbf(real is float, products.shape[1], &out[slots[r], 0], &products[r, 0], &other_norms[0],
                       norms[r], gamma, clip)


def transpose(const real[:, :] block, real[:, :] out):
    """``out[c, r] = block[r, c]``."""
    with nogil:
        panels_transpose(real is float, block.shape[0], block.shape[1], &block[0, 0],
                         block.strides[0] // sizeof(real), &out[0, 0], out.strides[0] // sizeof(real))


def mirror(real[:, :] square):
    """Make a square matrix symmetric: its part above the diagonal becomes the one below."""
    cdef Py_ssize_t r, c
    with nogil:
        for r in range(square.shape[0]):
            for c in range(r):
                square[c, r] = square[r, c]


def squared_norms(const real[::1] values, const Py_ssize_t[::1] starts):
    """Sums of squares of ``values[starts[r]:starts[r + 1]]`` for every r, rounded once to the values' type as
    far as long double is wider than it."""
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


def densify(const real[::1] values, const integer[::1] features, const Py_ssize_t[::1] starts,
            Py_ssize_t first, real[:, ::1] out):
    """Rows ``first`` and following of a CSR matrix, as many as ``out`` has, as a dense array."""
    cdef Py_ssize_t r, t
    with nogil:
        out[:, :] = 0
        for r in range(out.shape[0]):
            for t in range(starts[first + r], starts[first + r + 1]):
                out[r, features[t]] = values[t]
