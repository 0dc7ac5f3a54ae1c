from svmselect._columns cimport Columns

cdef extern from "_vec.h" nogil:
    const double VEC_OUT
    ctypedef struct vec_pair:
        Py_ssize_t i, j
        double f_i, f_j
    vec_pair vec_update_pair(int, Py_ssize_t, double *, double, const void *, double, const void *,
                             const double *, const double *)
    void vec_axpy(int, Py_ssize_t, double *, double, const void *)
    Py_ssize_t vec_second_order(int, Py_ssize_t, const double *, double, double, const void *, const double *,
                                const double *)
    Py_ssize_t vec_update_gain(int, Py_ssize_t, double *, double, const void *, const void *, double,
                               const double *, const double *, const double *)
    void vec_pair_curvature(int, Py_ssize_t, double *, double, const void *, const double *, double)
    double vec_hinge(Py_ssize_t, const double *, const double *, const double *, double, double *)
    double vec_dot(Py_ssize_t, const double *, const double *)
    double vec_at(int, const void *, Py_ssize_t)

cdef enum:
    MVP = 0
    WSS2 = 1

cdef double MIN_CURVATURE

cdef class Dual:
    cdef readonly Columns columns
    cdef readonly object diagonal_array
    cdef object _buffer
    cdef readonly Py_ssize_t m
    cdef Py_ssize_t n
    cdef double *theta
    cdef double *f
    cdef double *y
    cdef double *lo
    cdef double *hi
    cdef double *up
    cdef double *low
    cdef double *diagonal
    cdef vec_pair pair
    cdef long long n_iter
    cdef double work

    cdef void copy_from(self, Dual other) noexcept nogil
    cdef void set_bounds(self, Py_ssize_t t, double lo, double hi) noexcept nogil
    cdef void set_theta(self, Py_ssize_t t, double value) noexcept nogil
    cdef int move(self, Py_ssize_t t, double d) except -1 nogil
    cdef void select(self) noexcept nogil
    cdef double gap(self) noexcept nogil
    cdef int step(self, int rule) except -1 nogil
    cdef int run(self, int rule, double tol, long long max_iter) except -1 nogil
    cdef int breathe(self) except -1 nogil
    cdef double threshold(self) noexcept nogil
    cdef double value(self) noexcept nogil
