cdef class System:
    cdef Py_ssize_t size, n
    cdef bint has_inverse
    cdef double[:, ::1] matrix, inverse
    cdef double[::1] right, x, rest, work
    cdef int[::1] pivots

    cdef void clear(self) noexcept nogil
    cdef void add(self, bint update) noexcept nogil
    cdef void times(self, double[:, ::1] a, Py_ssize_t n, double[::1] v, double[::1] out) noexcept nogil
    cdef void swap(self, double[:, ::1] a, Py_ssize_t k, Py_ssize_t last) noexcept nogil
    cdef void remove(self, Py_ssize_t k) noexcept nogil
    cdef bint invert(self) noexcept nogil
    cdef double residual(self) noexcept nogil
    cdef bint solve(self) noexcept nogil
