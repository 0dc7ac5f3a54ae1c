from svmselect.gram._columns cimport Columns

from libc.stdint cimport uint64_t

cdef extern from "solver/_vec.h" nogil:
    const double VEC_OUT
    const double VEC_MIN_CURVATURE
    ctypedef struct vec_pair:
        Py_ssize_t i, j
        double f_i, f_j
    vec_pair vec_update_pair(int, Py_ssize_t, double *, double, const void *, double, const void *,
                             const uint64_t *, const uint64_t *)
    void vec_axpy(int, Py_ssize_t, double *, double, const void *)
    Py_ssize_t vec_second_order(int, Py_ssize_t, const double *, double, double, double, const void *,
                                const double *, double, const uint64_t *)
    Py_ssize_t vec_update_gain(int, Py_ssize_t, double *, double, const void *, const void *, double,
                               const double *, const uint64_t *, const uint64_t *)
    void vec_pair_curvature(int, Py_ssize_t, double *, double, const void *, const double *, double)
    double vec_hinge(Py_ssize_t, const double *, const double *, const double *, double, double *)
    double vec_dot(Py_ssize_t, const double *, const double *)
    double vec_at(int, const void *, Py_ssize_t)

# a theta this close to a bound, relative to the values it was computed from, is on it
cdef double SNAP
# No solver goes on after this many fresh gradients in a row that were no better.
cdef int MOST_IDLE

cpdef double midpoint(double least, double most) noexcept nogil


cdef class State:
    cdef readonly object gram
    cdef readonly object y
    cdef public object totals   # pairs of rows and the sum that their theta has to have
    cdef readonly Columns columns
    cdef object _buffer
    cdef object _sets
    cdef readonly Py_ssize_t m
    cdef Py_ssize_t n
    cdef double *theta
    cdef double *f
    cdef double *p
    cdef double *lo
    cdef double *hi
    cdef double *diagonal
    cdef uint64_t *up
    cdef uint64_t *low
    cdef uint64_t *partners   # where the second-order rule looks for j
    cdef vec_pair pair
    cdef long long n_iter
    # the scale of the kernel: its largest diagonal value, and the least curvature that a pair is given
    cdef double largest, least_curvature
    # steps since f was computed from theta: their round-off, times sqrt(K_tt), and their number
    cdef double rounding_of_steps
    cdef long long steps_since_refresh
    cdef double rounding_before  # round-off of f when it was last computed
    cdef double total           # the sum that theta has to have
    # of regressions: whether a variable at 0 may turn to the other side, how far f is apart on the two sides,
    # and the targets
    cdef bint sided
    cdef double tube
    cdef double *targets
    cdef object _targets
    # the best of fresh gradients, and how many in a row were no better
    cdef double best_gap, best_value
    cdef int idle

    cdef void copy_from(self, State other) noexcept nogil
    cdef void copy_rounding(self, State other) noexcept nogil
    cdef void set_bounds(self, Py_ssize_t t, double lo, double hi) noexcept nogil
    cdef void set_theta(self, Py_ssize_t t, double value) noexcept nogil
    cdef void exclude(self, Py_ssize_t t) noexcept nogil
    cdef int move(self, Py_ssize_t t, double d) except -1 nogil
    cdef void add_rounding(self, Py_ssize_t t, double before, double d) noexcept nogil
    cdef void select(self) noexcept nogil
    cdef void choose_sides(self) noexcept nogil
    cdef void turn(self, Py_ssize_t t) noexcept nogil
    cdef vec_pair extremes(self) noexcept nogil
    cdef double middle(self) noexcept nogil
    cdef void update(self, double d_i, const void *K_i, double d_j, const void *K_j,
                     bint single) noexcept nogil
    cdef double gap(self) noexcept nogil
    cdef double drift(self) noexcept nogil
    cdef double widest(self, const uint64_t *up, const uint64_t *low) noexcept nogil
    cdef double gap_bound(self) noexcept nogil
    cdef bint solved_to(self, double tol) noexcept nogil
    cdef bint stuck(self) noexcept nogil
    cdef bint blurred(self, double tol) noexcept nogil
    cdef double margin(self) noexcept nogil
    cdef double level(self, const uint64_t *up, const uint64_t *low, vec_pair pair) noexcept nogil
    cdef double threshold(self) noexcept nogil
    cdef double value(self) noexcept nogil
    cdef object view(self, double *values)
    cdef void update_sets(self) noexcept nogil
    cdef int refresh(self) except -1
