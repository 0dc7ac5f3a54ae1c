"""Certificates of paths of unlearning: signs that are certain at once, and ends confirmed by the Gram matrix.

A path carries g along, so round-off grows in it. Its end is compared with the Gram matrix in random
combinations of all points (`strayed`), and the KKT conditions say whether it is optimal (`conditions`). Where
the sign of a point follows from how the variables would go on, `continued` computes the terms of that claim.
"""

from libc.math cimport fabs, sqrt

from functools import lru_cache

import numpy as np

from svmselect.gram._columns cimport Columns
from svmselect.solver._state cimport VEC_OUT, midpoint

cdef enum:
    COMBINATIONS = 8        # random combinations of all points
# The end of a path and the direction in which it would go on are checked together: this multiple of the
# direction is added to the end. The number has no meaning, so that errors of the two do not cancel.
cdef double PART = 0.6180339887498949
# What the ratio test allows theta, relative to its box or, in a wide box, to the largest theta; g is allowed
# at least this.
SLACK = 1e-10
# Rounding changes a sum of theta_s K_st by this many EPS, for terms of random signs.
cdef double ROUNDING = 16
cdef double EPS = 2.0 ** -52
# A solve by Cholesky's factor has a residual of this many EPS, relative to the largest kernel value and the
# sum of |x|.
cdef double RESIDUAL = 8
# How far a path is followed, as a multiple of the alpha that a point loses, when its sign should be certain
# at once.
LENGTHS = (2.0, 1.5, 1.25)


def round_off(theta, diagonal, unit):
    """Return a bound of what rounding does to each g_t, with the shape of theta, which may have several rows.

    An error of theta_s, or of its part in the sum, is u |theta_s| sqrt(K_ss K_tt), and the errors are
    independent. `unit` is the size of the linear term.
    """
    return ROUNDING * EPS * (np.sqrt(np.multiply.outer(theta**2 @ diagonal, diagonal)) + unit)


def rows_of(gram, Py_ssize_t[::1] points, Py_ssize_t[::1] order):
    """Return rows of the Gram matrix with their entries in another order: float64, shape (n, len(order))."""
    cdef Columns columns = gram.columns
    cdef Py_ssize_t k, j
    cdef const void *column
    cdef bint single = columns.single
    # columns of a solution's SVs are mostly stored; absent ones are computed together
    for k in range(points.shape[0]):
        if not columns.has(points[k]):
            columns.fetch(points)
            break
    array = np.empty((points.shape[0], order.shape[0]))
    cdef double[:, ::1] rows = array
    # rows = K[points][:, order]
    with nogil:
        for k in range(points.shape[0]):
            column = columns.get(points[k])
            if single:
                for j in range(order.shape[0]):
                    rows[k, j] = (<const float *> column)[order[j]]
            else:
                for j in range(order.shape[0]):
                    rows[k, j] = (<const double *> column)[order[j]]
    return array


def mirror(double[:, ::1] upper):
    """Copy the upper triangle of a square matrix to the lower one, in blocks that stay in the cache."""
    cdef Py_ssize_t n = upper.shape[0], top, left, i, j
    with nogil:
        for top in range(0, n, 32):
            for left in range(0, top + 1, 32):
                for i in range(top, min(top + 32, n)):
                    for j in range(left, min(left + 32, i)):
                        upper[i, j] = upper[j, i]


def certain_at_once(const Py_ssize_t[::1] points, const double[::1] bounds_left, const double[:, ::1] x,
                    const double[::1] bend, const double[::1] y, const double[::1] theta, const double[::1] g,
                    const double[::1] lo, const double[::1] hi, const double[::1] g_slack,
                    const double[::1] diagonal, double defect, donors):
    """Return whether the sign of each left-out point is certain before its path begins: bool, shape (n,).

    Arguments are those of `unlearn_points` in the tableau's order, and the points' responses. `defect` is
    what the dual value at the start may lack of the optimum; `donors` has a `Donors` for each sign of theta,
    +1 first.

    What theta_r loses goes to S as the path has it, or to the donors in proportion to their room, or in part
    to each: as little to the donors as keeps S in its boxes for a length, up to twice what is lost.
    Curvature is convex, so the curvature of the mixture is at most the mixture of both; see
    ``docs/how_it_works.md`` for what follows from it.
    """
    cdef Py_ssize_t n = points.shape[0], s = x.shape[1], k, i, r
    cdef int attempt
    cdef double lost_alpha, length, reach, scale, rate, margin, size, rounding
    cdef double mix, mixed_curvature, slope, total, room_r, curvature, away
    cdef double slack = SLACK, largest = np.max(diagonal)
    cdef double[:, ::1] rooms = np.stack([donor.room for donor in donors])
    cdef double[:, ::1] products = np.stack([donor.products for donor in donors])
    cdef double[2] totals, squares, costs
    cdef double[3] lengths = LENGTHS
    for i in range(2):
        totals[i], squares[i], costs[i] = donors[i].total, donors[i].square, donors[i].cost
    array = np.zeros(n, dtype=bool)
    cdef char[::1] certain = array.view(np.int8)
    cdef const double[::1] w, Kw
    with nogil:
        for k in range(n):
            r = points[k]
            lost_alpha = fabs(theta[r]) - bounds_left[k]
            # The rate of theta_S per unit of theta_r; a lone point of S has no bend, and is never certain.
            scale = -y[r] * bend[k] if r < s else -y[r]
            size = 2
            for i in range(s):
                size += fabs(scale * x[k, i])
            margin = 1 + y[r] * g[r] - g_slack[r]
            rounding = RESIDUAL * EPS * largest * size * size
            # 1) S takes all: the length for which S stays in its boxes
            length = 2 * lost_alpha
            for i in range(s):
                if length <= lost_alpha:
                    break
                rate = scale * x[k, i]
                if i != r and rate != 0:
                    reach = hi[i] - theta[i] if rate > 0 else theta[i] - lo[i]
                    length = min(length, (reach - slack * (hi[i] - lo[i])) / fabs(rate))
            if (length > lost_alpha
                    and margin * (length - lost_alpha)
                    > 0.5 * length * length * (bend[k] + rounding) + defect):
                certain[k] = True
                continue
            # 2) the donors but r: their room, and the curvature and slope of the dual along their shares
            i = 0 if y[r] > 0 else 1
            w, Kw, room_r = rooms[i], products[i], rooms[i, r]
            total = totals[i] - room_r
            if not total > lost_alpha:
                continue
            # curvature = e' K e for e = e_r - w / total, with w_r = 0
            curvature = squares[i] - 2 * room_r * Kw[r] + room_r * room_r * diagonal[r]
            curvature = (diagonal[r] - 2 * (Kw[r] - room_r * diagonal[r]) / total
                         + curvature / (total * total))
            slope = costs[i] / total
            # 3) S takes as much as its boxes allow for a length, the donors take the share `mix`
            for attempt in range(3):
                length = min(lengths[attempt] * lost_alpha, total)
                mix = 0
                for i in range(s):
                    if i == r:
                        continue
                    rate = scale * x[k, i]
                    away = y[r] * w[i] / total
                    reach = (hi[i] - theta[i] if rate > 0 else theta[i] - lo[i]) - slack * (hi[i] - lo[i])
                    if fabs(rate) * length > reach:
                        # the donors' share is inside the box: w is the room
                        mix = max(mix, (fabs(rate) - reach / length) / fabs(rate - away))
                if not mix <= 1:
                    continue
                mixed_curvature = (1 - mix) * bend[k] + mix * curvature + rounding
                if (margin * (length - lost_alpha)
                        > (0.5 * mixed_curvature * length + mix * slope) * length + defect):
                    certain[k] = True
                    break
    return array


class Ends:
    """Ends of the paths of up to n points of m, filled by `PointPaths.walk`.

    The variables `theta` are optimal with theta_r as it is, and `g` is ``K theta - y`` up to a constant, as
    the path has it. `reach` is how much of alpha_r the path could take away before an in-bound point leaves
    its box, where the sign is certain by how the path would go on. Then `direction` and `rate` are the rates
    of the variables and of g per unit of alpha_r. `reach` is 0 where the sign is certain by the value of g_r,
    or alpha_r has come to its end. `remaining` is the part of alpha_r that is still to be taken away, and
    `moved` says whether theta_t of any end, or of a direction, differs from the start. `gap` is the largest
    KKT gap that an end may have, round-off included, once it is checked.
    """

    def __init__(self, n, m):
        self.theta, self.g, self.direction, self.rate = np.empty((4, n, m))
        self.reach, self.remaining, self.gap = np.empty((3, n))
        self.moved = np.zeros(m, dtype=np.int8)


@lru_cache(maxsize=2)
def random_combinations(m):
    """Return the same random combinations of m values in every call: read-only, shape (m, COMBINATIONS).

    An error of g shows in one of them by its size, or so. A constant added to g does not show.
    """
    random = np.random.default_rng(0).standard_normal((m, COMBINATIONS))
    random -= random.mean(axis=0)
    random.flags.writeable = False
    return random


def strayed(ends, Py_ssize_t n, const double[::1] theta, const double[::1] g,
            const double[:, ::1] combinations, const double[:, ::1] products):
    """Compute by how much g and theta at the first n ends contradict the Gram matrix and the fixed sum.

    `theta` and `g` are those at the start of the paths, and `products` is the Gram matrix times the random
    `combinations`, in the rows of points that have moved. The first result is the largest difference, among
    the combinations, between the change of g and the change that follows from the variables; the direction is
    checked with it. The second is the change of the variables' sum, relative to the largest variable.
    """
    cdef Py_ssize_t m = theta.shape[0], k, t, j
    cdef const double[:, ::1] end_theta = ends.theta, end_g = ends.g
    cdef const double[:, ::1] direction = ends.direction, rate = ends.rate
    cdef const double[::1] reach = ends.reach
    cdef double[COMBINATIONS] difference
    cdef double change, change_of_g, part, total, largest
    array = np.empty((2, n))
    cdef double[:, ::1] out = array
    with nogil:
        for k in range(n):
            for j in range(COMBINATIONS):
                difference[j] = 0
            total, largest = 0, 0
            part = PART * reach[k]
            # difference = change_of_g @ combinations - change @ (K @ combinations)
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
                # a NaN counts as a difference, too
                if not fabs(difference[j]) <= out[0, k]:
                    out[0, k] = fabs(difference[j])
            out[1, k] = fabs(total) / largest if total != 0 else 0
    return array


def conditions(const Py_ssize_t[::1] points, const double[::1] bounds_left, const double[::1] y,
               const double[::1] lo, const double[::1] hi, const double[::1] diagonal,
               const double[::1] theta_slack, ends, double unit, double far_square=0, double far_largest=0):
    """Compute gap, round-off, threshold and widths of the KKT conditions at the ends of paths.

    Arguments are those of `PointStart`, in the tableau's order; results have the shape (n,). The gap is M+ -
    M- of the problem in which theta_r is fixed or, where nothing remains to be taken away, has its last box.
    Rounding may have made it too small by the second result. The threshold is LIBSVM's where nothing remains,
    else the one at which another point takes over from theta_r. The width is the sum over in-bound points of
    how far each may be from the optimum: its box, or, where that is wide, twice the largest theta. Of rows
    that are not among these, `far_square` is the sum of ``theta_t^2 K_tt``, and `far_largest` the largest
    theta.
    """
    cdef Py_ssize_t n = points.shape[0], m = y.shape[0], k, t, r
    cdef const double[:, ::1] theta = ends.theta, g = ends.g
    cdef const double[::1] remaining = ends.remaining
    cdef double size, largest, noise, value, least, most, low, high, total, slack, t_lo, t_hi
    cdef Py_ssize_t count
    cdef bint up, down
    array = np.empty((4, n))
    cdef double[:, ::1] out = array
    cdef double[::1] root = np.sqrt(diagonal)
    with nogil:
        for k in range(n):
            r = points[k]
            # size = sqrt(sum(theta^2 K_tt)): round-off of f_t is size * sqrt(K_tt), see `round_off`
            size, largest = far_square, far_largest
            total = count = 0
            for t in range(m):
                largest = max(largest, fabs(theta[k, t]))
                size += theta[k, t] * theta[k, t] * diagonal[t]
            size = ROUNDING * EPS * sqrt(size)
            # the extremes of g over `up` and `low`, and, as low and high, with round-off
            least, most, low, high = VEC_OUT, -VEC_OUT, VEC_OUT, -VEC_OUT
            out[3, k] = 0
            for t in range(m):
                t_lo, t_hi = lo[t], hi[t]
                if t == r:
                    if remaining[k] > 0 or bounds_left[k] == 0:
                        continue
                    t_lo, t_hi = min(y[r] * bounds_left[k], 0), max(y[r] * bounds_left[k], 0)
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
            if remaining[k] > 0:
                out[2, k] = -(least if y[r] > 0 else most)
            else:
                out[2, k] = -(total / count if count > 0 else midpoint(least, most))
    return array


def continued(const Py_ssize_t[::1] points, const Py_ssize_t[::1] going, const double[::1] lo,
              const double[::1] hi, const double[::1] theta_slack, ends, const double[::1] b):
    """Compute curvature and slope of the dual along the directions in which some paths would go on.

    `going` are the ends whose sign is certain by how the path would go on, and `b` the thresholds of all
    ends. The curvature is that along the direction of all variables, the slope that of all but theta_r. The
    third result says whether the variables can go as far as `reach` says, within their boxes and with the
    same sum.
    """
    cdef Py_ssize_t m = lo.shape[0], k, i, r, t
    cdef const double[:, ::1] theta = ends.theta, g = ends.g, direction = ends.direction, rate = ends.rate
    cdef const double[::1] reach = ends.reach
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
            # curvature = d @ rate;  slope = d @ (g + b) without r;  lo <= theta + reach * d <= hi
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
                end = theta[k, t] + reach[k] * d
                within[i] &= lo[t] - theta_slack[t] <= end <= hi[t] + theta_slack[t]
            within[i] &= fabs(total) <= 1e-9 * size
    return *numbers, within_array
