"""The ends of paths of unlearning, held against the Gram matrix.

A path carries g along, so round-off grows in it. Its end is held against the Gram matrix in random
combinations of all points (`strayed`), and is optimal where the KKT conditions say so (`conditions`). Where
the sign of a point follows from how the variables would go on, `continued` has what that claim rests on.
"""

from libc.math cimport fabs, sqrt

from functools import lru_cache

import numpy as np

from svmselect.solver._state cimport VEC_OUT, midpoint

cdef enum:
    COMBINATIONS = 8        # random combinations of all points
# To check the end of a path and the direction in which it would go on at once, this multiple of the second is
# added to the first. The number has no meaning, so that errors of the two do not cancel.
cdef double PART = 0.6180339887498949
# Rounding changes a sum of theta_s K_st by this many EPS, for terms of random signs.
cdef double ROUNDING = 16
cdef double EPS = 2.0 ** -52


class Ends:
    """Room for the ends of the paths of up to n points of m, to be filled by `PointPaths.walk`.

    Attributes
    ----------
    theta : ndarray, shape (n, m)
        The variables, optimal with theta_r as it is.
    g : ndarray, shape (n, m)
        ``K theta - y`` up to a constant, as the path has it.
    direction, rate : ndarray, shape (n, m)
        What the variables and g do per unit of alpha_r that is taken away, where there is `room`; else
        anything.
    room : ndarray, shape (n,)
        How far they could go on where the sign is certain by how they would do so; 0 where it is certain by
        the value of g_r, or alpha_r has come to its end.
    left : ndarray, shape (n,)
        What is left of alpha_r to be taken away.
    moved : ndarray of int8, shape (m,)
        Whether any end has another theta_t than the start, or a direction of it.
    """

    def __init__(self, n, m):
        self.theta, self.g, self.direction, self.rate = np.empty((4, n, m))
        self.room, self.left = np.empty((2, n))
        self.moved = np.zeros(m, dtype=np.int8)


@lru_cache(maxsize=2)
def random_combinations(m):
    """`COMBINATIONS` of m values, shape (m, COMBINATIONS), always the same ones, read-only: a wrong g is off
    in one of them by its own size, or so; a constant is not."""
    random = np.random.default_rng(0).standard_normal((m, COMBINATIONS))
    random -= random.mean(axis=0)
    random.flags.writeable = False
    return random


def strayed(ends, Py_ssize_t n, const double[::1] theta, const double[::1] g,
            const double[:, ::1] combinations, const double[:, ::1] products):
    """By how much paths have lost their way.

    Parameters
    ----------
    ends : Ends
        The first n.
    theta, g : ndarray, shape (m,)
        Where they began.
    combinations, products : ndarray, shape (m, COMBINATIONS)
        The random ones, and the Gram matrix times them, in the rows of points that have moved.

    Returns
    -------
    off : ndarray, shape (n,)
        By how much the change of g, and of how it goes on, is not that of the variables by the Gram matrix:
        the largest difference among the combinations.
    unbalanced : ndarray, shape (n,)
        By how much the variables do not sum up to what they did, relative to the largest.
    """
    cdef Py_ssize_t m = theta.shape[0], k, t, j
    cdef const double[:, ::1] end_theta = ends.theta, end_g = ends.g
    cdef const double[:, ::1] direction = ends.direction, rate = ends.rate
    cdef const double[::1] room = ends.room
    cdef double[COMBINATIONS] difference
    cdef double change, change_of_g, part, total, largest
    array = np.empty((2, n))
    cdef double[:, ::1] out = array
    with nogil:
        for k in range(n):
            for j in range(COMBINATIONS):
                difference[j] = 0
            total, largest = 0, 0
            part = PART * room[k]
            for t in range(m):
                change, change_of_g = end_theta[k, t] - theta[t], end_g[k, t] - g[t]
                total += change
                largest = max(largest, fabs(end_theta[k, t]))
                if part > 0:
                    change += part * direction[k, t]
                    change_of_g += part * rate[k, t]
                for j in range(COMBINATIONS):
                    difference[j] += change_of_g * combinations[t, j]
                if change != 0:
                    for j in range(COMBINATIONS):
                        difference[j] -= change * products[t, j]
            out[0, k] = 0
            for j in range(COMBINATIONS):
                # a difference that is no number is off, too
                if not fabs(difference[j]) <= out[0, k]:
                    out[0, k] = fabs(difference[j])
            out[1, k] = fabs(total) / largest if total != 0 else 0
    return array


def conditions(const Py_ssize_t[::1] points, const double[::1] kept, const double[::1] y,
               const double[::1] lo, const double[::1] hi, const double[::1] diagonal,
               const double[::1] theta_slack, ends, double unit):
    """Return what the KKT conditions say of the ends of paths: gap, its round-off, threshold, and widths.

    Parameters
    ----------
    points, kept : ndarray, shape (n,)
        See `unlearn_points`.
    y, lo, hi, diagonal, theta_slack : ndarray, shape (m,)
        In the tableau's order.
    ends : Ends
        The first n.
    unit : float
        See `PointStart`.

    Returns
    -------
    gap : ndarray, shape (n,)
        M+ - M- of the problem in which theta_r is fixed or, where nothing is left to take away, has its last
        box.
    noise : ndarray, shape (n,)
        By how much rounding may have made it too small.
    b : ndarray, shape (n,)
        The threshold: that of LIBSVM where nothing is left, else where another point takes over from theta_r.
    width : ndarray, shape (n,)
        How far in-bound points may be from where they should be, in all: their boxes, or, where these are
        wide, twice the largest theta.
    """
    cdef Py_ssize_t n = points.shape[0], m = y.shape[0], k, t, r
    cdef const double[:, ::1] theta = ends.theta, g = ends.g
    cdef const double[::1] left = ends.left
    cdef double size, largest, noise, value, least, most, low, high, total, slack, t_lo, t_hi
    cdef Py_ssize_t count
    cdef bint up, down
    array = np.empty((4, n))
    cdef double[:, ::1] out = array
    cdef double[::1] root = np.sqrt(diagonal)
    with nogil:
        for k in range(n):
            r = points[k]
            size = total = largest = 0
            count = 0
            for t in range(m):
                largest = max(largest, fabs(theta[k, t]))
                size += theta[k, t] * theta[k, t] * diagonal[t]
            size = ROUNDING * EPS * sqrt(size)
            least, most, low, high = VEC_OUT, -VEC_OUT, VEC_OUT, -VEC_OUT
            out[3, k] = 0
            for t in range(m):
                t_lo, t_hi = lo[t], hi[t]
                if t == r:
                    if left[k] > 0 or kept[k] == 0:
                        continue
                    t_lo, t_hi = min(y[r] * kept[k], 0), max(y[r] * kept[k], 0)
                slack = 10 * theta_slack[t]
                value, noise = g[k, t], size * root[t] + ROUNDING * EPS * unit
                up, down = theta[k, t] < t_hi - slack, theta[k, t] > t_lo + slack
                if up and down:
                    total += value
                    count += 1
                    out[3, k] += min(t_hi - t_lo, 2 * largest)
                if up:
                    least, low = min(least, value), min(low, value - noise)
                if down:
                    most, high = max(most, value), max(high, value + noise)
            out[0, k] = most - least
            out[1, k] = (high - low) - (most - least)
            if left[k] > 0:
                out[2, k] = -(least if y[r] > 0 else most)
            else:
                out[2, k] = -(total / count if count > 0 else midpoint(least, most))
    return array


def continued(const Py_ssize_t[::1] points, const Py_ssize_t[::1] going, const double[::1] lo,
              const double[::1] hi, const double[::1] theta_slack, ends, const double[::1] b):
    """What the variables do where the sign of a point is certain by how they would go on.

    Parameters
    ----------
    points : ndarray, shape (n,)
    going : ndarray of intp, shape (n_going,)
        Which of the n ends.
    lo, hi, theta_slack : ndarray, shape (m,)
    ends : Ends
    b : ndarray, shape (n,)
        Their thresholds.

    Returns
    -------
    curvature : ndarray, shape (n_going,)
        The dual's curvature along the direction of all variables.
    slope : ndarray, shape (n_going,)
        The dual's slope along the direction of all variables but theta_r.
    within : ndarray of bool, shape (n_going,)
        Whether they can go as far as the room says: within their boxes, with the same sum.
    """
    cdef Py_ssize_t m = lo.shape[0], k, i, r, t
    cdef const double[:, ::1] theta = ends.theta, g = ends.g, direction = ends.direction, rate = ends.rate
    cdef const double[::1] room = ends.room
    cdef double total, size, end, d
    numbers, within_array = np.zeros((2, going.shape[0])), np.empty(going.shape[0], dtype=bool)
    cdef double[:, ::1] out = numbers
    cdef char[::1] within = within_array.view(np.int8)
    with nogil:
        for i in range(going.shape[0]):
            k = going[i]
            r = points[k]
            total = size = 0
            within[i] = True
            for t in range(m):
                d = direction[k, t]
                if d == 0:
                    continue
                total += d
                size += fabs(d)
                out[0, i] += d * rate[k, t]
                if t == r:
                    continue
                out[1, i] += d * (g[k, t] + b[k])
                end = theta[k, t] + room[k] * d
                within[i] &= lo[t] - theta_slack[t] <= end <= hi[t] + theta_slack[t]
            within[i] &= fabs(total) <= 1e-9 * size
    return *numbers, within_array
