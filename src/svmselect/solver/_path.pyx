"""Models of increasing C, each from the one before, without Python between them.

Design. Most fits of a grid on a few thousand rows take some hundred SMO steps, less time than Python needs to
set up a fit. Here the whole sequence of bounds is one call that holds no lock: bounds and variables grow, the
gradient follows, SMO runs, and the errors among the held-out rows are counted. A fit that SMO does not finish
in its first steps is finished by the solver that the caller has named, from the present variables.
"""

from libc.math cimport fabs

import numpy as np

from svmselect.solver import _active_set
from svmselect.solver._smo import RULES

from svmselect.solver._smo cimport Dual
from svmselect.solver._state cimport vec_axpy

cdef double INFINITE = float("inf")
# SMO steps before another solver may take over, at least and per row
cdef long long STEPS = 1000
cdef double STEPS_PER_ROW = 0.5
cdef int MOST_SHARES = 20       # rounds in which in-bound variables share a change of the sum
cdef double NOTHING = 1e-14     # a change of the sum below this share of C is 0
cdef Py_ssize_t LARGE = 4000    # from this many rows on, shrinking pays after the first steps


cdef class PathDual(Dual):
    """The dual problem of a C-SVC with one C for all rows, except the held-out ones; see `Dual`."""

    cdef double C
    cdef double[::1] target     # the variables to start from at the next C

    def __cinit__(self, gram, y):
        self.C = 0
        self.total = 0
        self.target = np.zeros(self.m)

    cdef int raise_to(self, double C, const signed char *held) except -1 nogil:
        """Raise the bounds to C, and move the variables towards the optimum at C.

        If most support vectors are bounded, all of them grow in proportion: exact while no point changes its
        role. If few are, these go to their new bound, and the in-bound ones balance the sum. Without bounded
        ones the solution stays. `svmselect.path.moved_along_C` does the same.
        """
        cdef Py_ssize_t t, n_bounded = 0, n_sv = 0, n_moving
        cdef double growth = C / self.C if self.C > 0 else 1, excess = 0, each, value
        # 1) the bounds, the target of bounded variables, and the excess of the sum, negated
        for t in range(self.m):
            self.target[t] = self.theta[t]
            if self.theta[t] != 0:
                n_sv += 1
                if fabs(self.theta[t]) == self.C:
                    n_bounded += 1
                    self.target[t] = growth * self.theta[t]
                    excess += self.theta[t] - self.target[t]
            if not held[t]:
                self.lo[t], self.hi[t] = 0 if self.p[t] > 0 else -C, C if self.p[t] > 0 else 0
        if 2 * n_bounded <= n_sv:
            # 2) in-bound variables take the excess in equal parts, as far as their boxes go
            for _ in range(MOST_SHARES):
                n_moving = 0
                for t in range(self.m):
                    n_moving += self.can_move(t, excess)
                if excess == 0 or n_moving == 0:
                    break
                each, excess = excess / n_moving, 0
                for t in range(self.m):
                    if self.can_move(t, each):
                        value = self.target[t] + each
                        self.target[t] = min(max(value, self.lo[t]), self.hi[t])
                        excess += value - self.target[t]
            if fabs(excess) <= NOTHING * C:
                for t in range(self.m):
                    if self.target[t] != self.theta[t]:
                        self.shift(t, self.target[t] - self.theta[t])
                n_bounded = 0
        # 3) or all grow in proportion: theta *= growth, f = growth * (f + p) - p
        if n_bounded > 0:
            self.rounding_before = growth * self.drift()
            for t in range(self.m):
                self.f[t] = growth * (self.f[t] + self.p[t]) - self.p[t]
                self.theta[t] *= growth
            self.rounding_of_steps = self.steps_since_refresh = 0
        self.C = C
        self.update_sets()
        self.select()
        return 0

    cdef bint can_move(self, Py_ssize_t t, double d) noexcept nogil:
        """Return whether t was in-bound, and its target can still move in the direction of d."""
        if self.theta[t] == 0 or fabs(self.theta[t]) == self.C:
            return False
        return self.target[t] < self.hi[t] if d > 0 else self.target[t] > self.lo[t]

    cdef int shift(self, Py_ssize_t t, double d) except -1 nogil:
        """Add d to theta_t, and its share to f."""
        cdef double before = self.theta[t]
        # f += d * K[t]
        vec_axpy(self.columns.single, self.n, self.f, d, self.columns.get(t))
        self.theta[t] = before + d
        self.add_rounding(t, before, d)
        self.steps_since_refresh += 1
        return 0

    cdef int fit(self, int rule, double tol, long long steps) except -1 nogil:
        """Take at most `steps` SMO steps; return whether the gap is at most tol, with little round-off."""
        return self.run(rule, tol, steps) and not self.blurred(tol) and self.solved_to(tol)

    cdef Py_ssize_t count_errors(self, const Py_ssize_t[::1] rows, double[::1] decision) noexcept nogil:
        """Count the rows whose decision value has the wrong sign; fill in the values, unless it is empty."""
        cdef Py_ssize_t k, t, errors = 0
        cdef double b = self.threshold(), value
        for k in range(rows.shape[0]):
            t = rows[k]
            value = self.f[t] + self.p[t] + b
            errors += (value >= 0) != (self.p[t] > 0)
            if decision.shape[0] > 0:
                decision[k] = value
        return errors


def follow(gram, y, const double[::1] Cs, const Py_ssize_t[::1] held_out, str working_set, bint active_set,
           double tol, long long max_iter, double[:, ::1] decision):
    """Train without some rows for several C, which increase, and test on these rows; see `solve_csvc`.

    `decision`, shape (n, h) or (n, 0), is filled with the decision values of the h held-out rows, unless it
    is empty. Returns the number of held-out rows on the wrong side (0 counts as class +1), iterations, and
    whether each fit has converged, shape (n,) each.
    """
    cdef Py_ssize_t n = Cs.shape[0], c
    cdef PathDual dual = PathDual(gram, y)
    cdef int rule = RULES[working_set]
    cdef long long most, steps = STEPS if dual.m > LARGE else STEPS + <long long> (STEPS_PER_ROW * dual.m)
    cdef bint done
    held = np.zeros(dual.m, dtype=np.int8)
    held[np.asarray(held_out)] = 1
    cdef const signed char[::1] is_held = held
    errors, n_iter = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.int64)
    converged = np.empty(n, dtype=bool)
    cdef Py_ssize_t[::1] wrong = errors
    cdef long long[::1] taken = n_iter
    cdef char[::1] good = converged.view(np.int8)
    steps = min(steps, max_iter)
    with nogil:
        for c in range(n):
            # bounds and start at this C, then SMO, then the named solver where SMO has not finished
            dual.n_iter = 0
            dual.best_gap, dual.best_value, dual.idle = INFINITE, -INFINITE, 0
            dual.raise_to(Cs[c], &is_held[0])
            done = dual.fit(rule, tol, steps)
            if not done:
                with gil:
                    if active_set:
                        most = max_iter - dual.n_iter
                        done = _active_set.solve(dual, working_set, tol, most, dual.n_iter)
                    else:
                        done = dual.solve(working_set, tol, max_iter - dual.n_iter)
            taken[c], good[c] = dual.n_iter, done
            wrong[c] = dual.count_errors(held_out, decision[c])
    return errors, n_iter, converged
