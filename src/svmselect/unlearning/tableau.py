"""The tableau of a solution, which all paths from the solution share."""

import numpy as np
from scipy.linalg.blas import dger, dtrsm
from scipy.linalg.lapack import dpstrf, dtrtri

import svmselect.unlearning._system as _system
from svmselect.forks import cached_property
from svmselect.kernels.panels import slices
from svmselect.unlearning._certify import mirror, rows_of

__all__ = ["DEPENDENT", "Tableau"]

# A point depends on the others if its pivot in the Cholesky factor is below this, relative to the largest
# possible one.
DEPENDENT = 1e-10
# Rows of the Gram matrix that are copied together, for a sum with the columns of as many points.
ROWS_AT_ONCE = 64


class Tableau:
    """Columns of the principal pivot transform of the bordered Gram matrix on b and S (see _paths).

    Points are numbered anew, S first. On directions of sum 0, ``K_SS + shift`` acts like ``K_SS``, and it is
    positive definite where K_SS is so on these directions. Its Cholesky factor solves the bordered system.
    Where some of the candidates `inbound` depend on others the factor is pivoted, which selects S among them.

    `order` has the points of the tableau: the s points of S, the candidates that depend on them, and the
    `outside_points`, by default all others. `number` is its inverse. Without a `threshold`, which fixes the
    sum of theta, there is no shift.
    """

    def __init__(self, gram, inbound, outside_points=None, threshold=True):
        self.gram = gram
        # 1) the candidates' rows of the Gram matrix, candidates first
        if outside_points is None:
            outside = np.ones(gram.m, dtype=bool)
            outside[inbound] = False
            outside_points = np.flatnonzero(outside)
        order = np.concatenate([inbound, outside_points])
        rows = rows_of(gram, inbound, order)
        self.threshold = threshold
        # 2) factor @ factor.T = K_SS + shift, with S selected by pivots where candidates depend on others.
        # The shift is as large as the diagonal: a smaller one would make points near the first pivot's look
        # dependent.
        self.shift = (float(gram.diagonal.mean()) or 1.0) if threshold else 0.0
        least = DEPENDENT * (gram.diagonal.max() + self.shift)
        block = rows[:, : inbound.size]
        factor = (block + self.shift).T
        if not _system.factorise(factor) or factor.diagonal().min() ** 2 <= least:
            factor, pivots, rank, _ = dpstrf((block + self.shift).T, lower=True, tol=least)
            factor = np.asfortranarray(np.tril(factor[:rank, :rank]))
            chosen = np.concatenate([pivots - 1, np.arange(inbound.size, order.size)])
            order, rows = order[chosen], rows[np.ix_(chosen[:rank], chosen)]
        self.s = s = len(rows)
        self.order = order
        self.number = np.empty(gram.m, dtype=np.intp)
        self.number[order] = np.arange(order.size)
        self.rows = rows
        self.factor = factor
        # 3) ones = inv(K_SS + shift) @ 1, the rate of theta_S per unit of the threshold, and its sum; zeros
        # and infinity without a threshold
        self.ones = self.solved(np.ones((1, s)))[0] if threshold else np.zeros(s)
        self.total = float(self.ones.sum()) if threshold else np.inf
        self.diagonal = gram.diagonal[order]

    @cached_property
    def inverse(self):
        """Return the inverse of ``K_SS + shift``, shape (s, s)."""
        upper = self.factor.T.copy()
        _system.invert(upper.T)
        mirror(upper)
        return upper

    def solved(self, right):
        """Overwrite right sides, the rows of (n, s), with solutions for ``K_SS + shift``; return them."""
        _system.solve(self.factor, right.T)
        return right

    @cached_property
    def outside_rows(self):
        """Return the rows of S of the Gram matrix, at the points outside S."""
        return np.ascontiguousarray(self.rows[:, self.s :])

    @cached_property
    def threshold_column(self):
        """Rates of theta_S and of g outside S per unit of the sum of theta, shape (n,)."""
        x = self.ones / self.total
        return np.concatenate([x, x @ self.outside_rows + (self.shift - 1 / self.total)])

    def response(self, points):
        """Return rates of theta_S, shape (n, s), rates of the threshold, and the bends of n points.

        They are ``T_tS``, ``T_tb`` and ``T_tt``: rates per unit of theta_t for t outside S, of g_t for t in
        S. The bend is the rate of g_t per unit of theta_t.
        """
        outside = points >= self.s
        inside, outer = np.flatnonzero(~outside), np.flatnonzero(outside)
        # rows of the inverse for points in S, solutions with -K_St for points outside
        x = np.empty((points.size, self.s))
        x[inside] = self.inverse[points[inside]]
        right = np.ascontiguousarray(self.rows[:, points[outer]].T)
        x[outer] = self.solved(-right)
        b = (x.sum(axis=1) + outside) / self.total
        # x -= np.outer(b, ones)
        dger(-1.0, self.ones, b, a=x.T, overwrite_a=True)
        b -= self.shift * outside
        # bend = K_tt + x @ K_St + b outside S, 1 / R_tt in S
        bend = np.empty(points.size)
        bend[outer] = self.diagonal[points[outer]] + np.einsum("ij,ij->i", x[outer], right) + b[outer]
        with np.errstate(divide="ignore"):  # a lone point of S cannot move
            bend[inside] = 1 / x[inside, points[inside]]
        return x, b, bend

    def bends(self):
        """Compute the bend of every point, shape (n,), without its response.

        The bend of a point outside S is its squared distance in feature space from the affine hull of S. The
        bend of a point in S is its squared distance from the affine hull of the rest of S, infinite for a
        lone point. Without a threshold, linear hulls take their place.
        """
        s = self.s
        bends = np.empty(self.order.size)
        # 1) in S: 1 / diag(R), by the inverse of the factor
        inverse, _ = dtrtri(self.factor, lower=True)
        with np.errstate(divide="ignore"):
            bends[:s] = 1 / (np.einsum("ij,ij->j", inverse, inverse) - self.ones**2 / self.total)
        if self.threshold and s == 1:
            bends[0] = np.inf
        # 2) outside: u = inv(factor) @ (K_St + shift), bend = K_tt + shift - u @ u + (1 - ...)^2 / total
        u = dtrsm(1, self.factor, self.rows[:, s:].T + self.shift, side=1, lower=1, trans_a=1, overwrite_b=1)
        bends[s:] = self.diagonal[s:] + self.shift - np.einsum("ij,ij->i", u, u)
        bends[s:] += (1 - u @ inverse.sum(axis=1)) ** 2 / self.total
        return bends

    def columns(self, points, x, b):
        """Compute the tableau's columns of some points from their responses, one row for each."""
        columns = np.empty((points.size, self.order.size))
        columns[:, : self.s] = x
        # columns[:, s:] = x @ K_SN + b, plus K_tN for points t outside S
        outside_part = columns[:, self.s :]
        np.matmul(x, self.outside_rows, out=outside_part)
        outside_part += b[:, None]
        outside = np.flatnonzero(points >= self.s)
        for few in slices(outside.size, ROWS_AT_ONCE):
            rows = outside[few]
            outside_part[rows] += rows_of(self.gram, self.order[points[rows]], self.order[self.s :])
        return columns

    def times_gram(self, values):
        """Compute ``values @ K`` for values of shape (n, m), few of them outside S different from 0."""
        reached = self.s + np.flatnonzero(values[:, self.s :].any(axis=0))
        product = values[:, : self.s] @ self.rows
        product += values[:, reached] @ rows_of(self.gram, self.order[reached], self.order)
        return product
