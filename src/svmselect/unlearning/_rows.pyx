"""Kernel values in the order of a tableau, what rounding does to sums of them, and the points whose sign is
certain before their path begins."""

from libc.math cimport fabs

import numpy as np

from svmselect.gram._columns cimport Columns

# What the ratio test allows theta, relative to its box or, in a wide box, to the largest theta; g is allowed
# at least this.
SLACK = 1e-10
# Rounding changes a sum of theta_s K_st by this many EPS, for terms of random signs.
cdef double ROUNDING = 16
cdef double EPS = 2.0 ** -52
# A solve by Cholesky's factor has a residual of this many EPS, relative to the largest kernel value and the
# sum of |x|.
cdef double RESIDUAL = 8
# How far a path is followed, as a multiple of what a point loses, when its sign should be certain at once.
LENGTHS = (2.0, 1.5, 1.25)


def round_off(theta, diagonal, unit):
    """What rounding may do to each g_t: that of theta_s, or of its part in the sum, is at most u |theta_s|
    sqrt(K_ss K_tt), and the errors are independent; `unit` is the size of the linear term. An array of the
    shape of theta, which may have several rows."""
    return ROUNDING * EPS * (np.sqrt(np.multiply.outer(theta**2 @ diagonal, diagonal)) + unit)


def rows_of(gram, Py_ssize_t[::1] points, Py_ssize_t[::1] order):
    """The Gram matrix at some points and, in this order, others: float64, shape (n, len(order))."""
    cdef Columns columns = gram.columns
    cdef Py_ssize_t k, j
    cdef const void *column
    cdef bint single = columns.single
    if not columns.full:
        columns.fetch(points)
    array = np.empty((points.shape[0], order.shape[0]))
    cdef double[:, ::1] rows = array
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
    """Make a matrix symmetric whose upper triangle is given, in blocks that stay in the cache."""
    cdef Py_ssize_t n = upper.shape[0], top, left, i, j
    with nogil:
        for top in range(0, n, 32):
            for left in range(0, top + 1, 32):
                for i in range(top, min(top + 32, n)):
                    for j in range(left, min(left + 32, i)):
                        upper[i, j] = upper[j, i]


def certain_at_once(const Py_ssize_t[::1] points, const double[::1] kept, const double[:, ::1] x,
                    const double[::1] bend, const double[::1] y, const double[::1] theta, const double[::1] g,
                    const double[::1] lo, const double[::1] hi, const double[::1] g_slack,
                    const double[::1] diagonal, double defect, donors):
    """Whether the sign of each left-out point is certain before its path begins: bool, shape (n,).

    Arguments are those of `unlearn` in the tableau's order, and the points' responses; `defect` is what the
    dual value at the start may lack of the optimum, `donors` has a `Donors` for each sign of theta, +1 first.

    What theta_r loses goes to S as the path has it, or to the donors in proportion to their room, or in part
    to each: as little to the donors as keeps S in its boxes for L, which is up to twice what is lost.
    Curvature is convex, so that of the mixture is at most the mixture of both; see `leave_one_out` for what
    follows from it.
    """
    cdef Py_ssize_t n = points.shape[0], s = x.shape[1], k, i, r
    cdef int attempt
    cdef double left, room, reach, scale, rate, margin, size, rounding
    cdef double mix, slope, length, total, own, bent, away
    cdef double slack = SLACK, largest = np.max(diagonal)
    cdef double[:, ::1] room_of = np.stack([of.room for of in donors])
    cdef double[:, ::1] products = np.stack([of.products for of in donors])
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
            left = fabs(theta[r]) - kept[k]
            # The rate of theta_S per unit of theta_r; a lone point of S has no bend, and is never certain.
            scale = -y[r] * bend[k] if r < s else -y[r]
            size = 2
            for i in range(s):
                size += fabs(scale * x[k, i])
            margin = 1 + y[r] * g[r] - g_slack[r]
            rounding = RESIDUAL * EPS * largest * size * size
            room = 2 * left
            for i in range(s):
                if room <= left:
                    break
                rate = scale * x[k, i]
                if i != r and rate != 0:
                    reach = hi[i] - theta[i] if rate > 0 else theta[i] - lo[i]
                    room = min(room, (reach - slack * (hi[i] - lo[i])) / fabs(rate))
            if room > left and margin * (room - left) > 0.5 * room * room * (bend[k] + rounding) + defect:
                certain[k] = True
                continue
            i = 0 if y[r] > 0 else 1
            w, Kw, own = room_of[i], products[i], room_of[i, r]
            total = totals[i] - own
            if not total > left:
                continue
            bent = squares[i] - 2 * own * Kw[r] + own * own * diagonal[r]
            bent = diagonal[r] - 2 * (Kw[r] - own * diagonal[r]) / total + bent / (total * total)
            slope = costs[i] / total
            for attempt in range(3):
                length = min(lengths[attempt] * left, total)
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
                room = (1 - mix) * bend[k] + mix * bent + rounding
                if margin * (length - left) > (0.5 * room * length + mix * slope) * length + defect:
                    certain[k] = True
                    break
    return array
