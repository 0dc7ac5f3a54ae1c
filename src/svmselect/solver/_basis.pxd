from svmselect.solver._smo cimport Dual

cdef enum:
    BASIC = 1
    BARRED = 2

cdef enum:
    STUCK = 0       # nothing moved
    INSIDE = 1      # minimum along the line, every variable inside its box
    BLOCKED = 2     # some variable reached a bound

cdef class Basis:
    cdef Dual dual
    cdef Py_ssize_t capacity, w, s
    cdef object _vectors, _block, _factor, _index
    cdef double *K          # block of the Gram matrix, w rows of length w
    cdef double *R          # upper Cholesky factor of K_SS + c, rows of length `capacity`
    cdef double *theta
    cdef double *f
    cdef double *lo
    cdef double *hi
    cdef double *start      # theta before a change
    cdef double *Kd         # K times the direction
    cdef double *d          # direction, one entry per member of the basis and one for an entering row
    cdef double *u          # R^-T (K_St + c) of an entering row t
    cdef double *h          # R^-T 1
    cdef Py_ssize_t *basis  # positions in the block
    cdef Py_ssize_t *role   # each position's: 0, BASIC, BARRED
    cdef double c, pivot_floor, curvature_floor
    cdef readonly long long moves
    cdef double work, unchecked
    cdef object rows        # row numbers of the block

    cdef void solve(self, char transposed, double *x) noexcept nogil
    cdef bint extend(self, Py_ssize_t t) noexcept nogil
    cdef void remove(self, Py_ssize_t k) noexcept nogil
    cdef void rebuild(self) noexcept nogil
    cdef int advance(self, Py_ssize_t n, bint newton, bint flat) noexcept nogil
    cdef bint inside(self, Py_ssize_t t) noexcept nogil
    cdef void sweep(self, Py_ssize_t role) noexcept nogil
    cdef void close(self, Py_ssize_t n) noexcept nogil
    cdef int newton(self) noexcept nogil
    cdef int slide(self, Py_ssize_t t, bint flat) noexcept nogil
    cdef void enter(self, Py_ssize_t t, bint flat) noexcept nogil
    cdef void start_basis(self, long long last_move) noexcept nogil
    cdef double level(self) noexcept nogil
    cdef double residual(self) noexcept nogil
