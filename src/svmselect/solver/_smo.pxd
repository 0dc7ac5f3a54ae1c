from svmselect.solver._state cimport State

cdef enum:
    MVP = 0
    WSS2 = 1

cdef enum:      # how a descent ended
    LIMIT = 0
    REACHED = 1
    STUCK = 2

cdef class Dual(State):
    cdef double work
    cdef bint shrunk    # whether f contains the share of rows of a larger problem
    cdef public bint as_published   # whether steps are those of a published solver; see `leave_one_out`

    cdef const void *column(self, Py_ssize_t t) except NULL nogil
    cdef int fetch(self, Py_ssize_t t) except -1
    cdef int step(self, int rule) except -1 nogil
    cdef int run(self, int rule, double tol, long long max_iter) except -1 nogil
    cdef int run_on(self, int rule, double tol, long long max_iter) except -1 nogil
    cdef long long wait(self) noexcept nogil
    cdef double gap_of_sides(self) noexcept nogil
    cdef int take_sides(self, Dual whole, rows) except -1
    cdef int check_signals(self) except -1 nogil
    cdef object candidates(self)
    cdef int descend(self, int rule, double tol, long long last) except -1
    cdef int descend_on(self, rows, int rule, double tol, long long last) except -1
