"""The nu-SVC dual on the SMO loop of _smo.

Design. In signed variables the nu-SVC of Chang and Lin (2001) maximises ``-1/2 theta'K theta`` with the sum
of each class fixed at plus or minus ``nu m / 2`` and ``|theta_t| <= 1``. It is a C-SVC without linear term
whose pairs lie within one class: the index sets of the two classes take turns in the pass, and the class that
violates more is stepped in.
"""

import numpy as np

from libc.stdint cimport uint64_t

from svmselect.solver._smo cimport Dual
from svmselect.solver._state cimport vec_pair, vec_update_pair


cdef class NuDual(Dual):
    """State of one nu-SVC dual problem.

    Parameters
    ----------
    gram : Gram
    y : ndarray, shape (m,)
        Labels, -1.0 and +1.0.
    """

    cdef object _class_sets
    cdef uint64_t *positive         # points of class +1
    cdef uint64_t *class_up[2]      # up and low of class +1, of class -1
    cdef uint64_t *class_low[2]
    cdef vec_pair class_pair[2]

    def __cinit__(self, gram, y):
        cdef uint64_t[:, ::1] sets
        cdef Py_ssize_t k
        self._buffer[1:3] = 0
        self._class_sets = np.zeros((5, self.n // 64), dtype=np.uint64)
        sets = self._class_sets
        self.positive = &sets[0, 0]
        for k in range(2):
            self.class_up[k], self.class_low[k] = &sets[1 + k, 0], &sets[3 + k, 0]
        for k in np.flatnonzero(y > 0):
            sets[0, k >> 6] |= (<uint64_t> 1) << (k & 63)

    cdef void update(self, double d_i, const void *K_i, double d_j, const void *K_j,
                     bint single) noexcept nogil:
        cdef Py_ssize_t w, k
        cdef uint64_t positive
        for w in range(self.n // 64):
            positive = self.positive[w]
            self.class_up[0][w], self.class_up[1][w] = self.up[w] & positive, self.up[w] & ~positive
            self.class_low[0][w], self.class_low[1][w] = self.low[w] & positive, self.low[w] & ~positive
        self.class_pair[0] = vec_update_pair(single, self.n, self.f, d_i, K_i, d_j, K_j, self.class_up[0],
                                             self.class_low[0])
        self.class_pair[1] = vec_update_pair(0, self.n, self.f, 0, self.diagonal, 0, self.diagonal,
                                             self.class_up[1], self.class_low[1])
        k = self.violation(1) > self.violation(0)
        self.pair = self.class_pair[k]
        self.partners = self.class_low[k]

    cdef double violation(self, Py_ssize_t k) noexcept nogil:
        return self.class_pair[k].f_j - self.class_pair[k].f_i

    cdef double gap_bound(self) noexcept nogil:
        return max(self.widest(self.class_up[0], self.class_low[0]),
                   self.widest(self.class_up[1], self.class_low[1]))

    cdef double level_of(self, Py_ssize_t k) noexcept nogil:
        return self.level(self.class_up[k], self.class_low[k], self.class_pair[k])

    cdef double threshold(self) noexcept nogil:
        """b: midway between the levels of the two classes."""
        return -0.5 * (self.level_of(0) + self.level_of(1))

    def margin(self):
        """rho: half the distance between the levels of f of the two classes."""
        return 0.5 * (self.level_of(0) - self.level_of(1))

    cdef object candidates(self):
        theta, f = self.view(self.theta), self.view(self.f)
        up, low = theta < self.view(self.hi), theta > self.view(self.lo)
        k = np.where(self.y > 0, 0, 1)
        f_j = np.array([self.class_pair[0].f_j, self.class_pair[1].f_j])[k]
        f_i = np.array([self.class_pair[0].f_i, self.class_pair[1].f_i])[k]
        return np.flatnonzero((up & (f <= f_j)) | (low & (f >= f_i)))
