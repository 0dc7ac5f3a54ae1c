"""Models of increasing C, each from the one before, without Python between them.

Design. Most fits of a grid on a few thousand rows take some hundred SMO steps, less time than Python needs to
set up a fit. Here the whole sequence of bounds is one call that holds no lock: bounds and variables grow, the
gradient follows, SMO runs, and the errors among the rows held out are counted. Only a fit that SMO does not
finish in its first steps goes to the solver that the caller has named, which goes on from where it is.
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
cdef int MOST_SHARES = 20       # rounds in which what has to move is shared out
cdef double NOTHING = 1e-14     # a variable below this share of C is 0
cdef Py_ssize_t LARGE = 4000    # rows, from which rows are set aside after the first steps


cdef class PathDual(Dual):
    """The dual problem of a C-SVC whose rows have one C, but for those that are held out.

    Parameters
    ----------
    gram : Gram
    y : ndarray, shape (m,)
        Labels, -1.0 and +1.0.
    """

    cdef double C
    cdef double[::1] goal       # where the variables are to go

    def __cinit__(self, gram, y):
        self.C = 0
        self.total = 0
        self.goal = np.zeros(self.m)

    cdef int raise_to(self, double C, const signed char *held) except -1 nogil:
        """Let the bounds grow to C, and the variables to where they may then be optimal.

        Where most support vectors are bounded all of them grow in proportion: exact while no point changes
        its role. Where few are, these go to their new bound, and the in-bound ones give way. Without any
        bounded one the solution stays. `svmselect.path.moved_along_C` does the same.
        """
        cdef Py_ssize_t t, n_bounded = 0, n_sv = 0, n_moving
        cdef double growth = C / self.C if self.C > 0 else 1, left = 0, each, value
        for t in range(self.m):
            self.goal[t] = self.theta[t]
            if self.theta[t] != 0:
                n_sv += 1
                if fabs(self.theta[t]) == self.C:
                    n_bounded += 1
                    self.goal[t] = growth * self.theta[t]
                    left += self.theta[t] - self.goal[t]
            if not held[t]:
                self.lo[t], self.hi[t] = 0 if self.p[t] > 0 else -C, C if self.p[t] > 0 else 0
        if 2 * n_bounded <= n_sv:
            # the in-bound ones move by one amount, as far as their boxes go
            for _ in range(MOST_SHARES):
                n_moving = 0
                for t in range(self.m):
                    n_moving += self.gives_way(t, left)
                if left == 0 or n_moving == 0:
                    break
                each, left = left / n_moving, 0
                for t in range(self.m):
                    if self.gives_way(t, each):
                        value = self.goal[t] + each
                        self.goal[t] = min(max(value, self.lo[t]), self.hi[t])
                        left += value - self.goal[t]
            if fabs(left) <= NOTHING * C:
                for t in range(self.m):
                    if self.goal[t] != self.theta[t]:
                        self.shift(t, self.goal[t] - self.theta[t])
                n_bounded = 0
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

    cdef bint gives_way(self, Py_ssize_t t, double left) noexcept nogil:
        """Whether t was in-bound, and can still move that way."""
        if self.theta[t] == 0 or fabs(self.theta[t]) == self.C:
            return False
        return self.goal[t] < self.hi[t] if left > 0 else self.goal[t] > self.lo[t]

    cdef int shift(self, Py_ssize_t t, double d) except -1 nogil:
        """Add d to theta_t, and its share to f."""
        cdef double before = self.theta[t]
        vec_axpy(self.columns.single, self.n, self.f, d, self.columns.get(t))
        self.theta[t] = before + d
        self.lose(t, before, d)
        self.steps_since_refresh += 1
        return 0

    cdef int fit(self, int rule, double tol, long long steps) except -1 nogil:
        """Make at most `steps` SMO steps; whether the gap is then at most tol, beyond doubt by rounding."""
        return self.run(rule, tol, steps) and not self.blurred(tol) and self.at(tol)

    cdef Py_ssize_t count_errors(self, const Py_ssize_t[::1] rows, double[::1] decision) noexcept nogil:
        """How many of some rows have a decision value of the wrong sign; the values, where there is room."""
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
    """Train without some rows for several C, and test on these rows.

    Parameters
    ----------
    gram : Gram
    y : ndarray, shape (m,)
        Labels, -1.0 and +1.0.
    Cs : ndarray, shape (n,)
        Increasing.
    held_out : ndarray of intp, shape (h,)
    working_set, active_set, tol, max_iter
        See `solve_csvc`.
    decision : ndarray, shape (n, h) or (n, 0)
        Takes the decision values of the held-out rows, if they are wanted.

    Returns
    -------
    errors : ndarray of intp, shape (n,)
        Held-out rows on the wrong side; 0 counts as class +1.
    n_iter : ndarray of int64, shape (n,)
    converged : ndarray of bool, shape (n,)
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
