"""The tableau of a solution, by columns: all paths from the solution share it."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dger, dtrsm
from scipy.linalg.lapack import dpstrf, dtrtri

import svmselect.unlearning._system as _system
from svmselect.forks import cached_property
from svmselect.unlearning._certify import mirror, rows_of

__all__ = ["DEPENDENT", "Tableau"]

# A point depends on the others if its pivot in the Cholesky factor is below this, relative to the largest
# possible one.
DEPENDENT = 1e-10


class Tableau:
    """The solution's principal pivot transform on b and S (see _paths), by columns.

    Points are numbered anew, S first. With a fixed sum, ``K_SS + shift`` acts like ``K_SS``, but is definite
    where that is so on directions of sum 0: its Cholesky factor, pivoted where some in-bound SVs depend on
    others, selects S among them and solves the bordered system.

    Parameters
    ----------
    gram : Gram
    inbound : ndarray of intp, shape (n,)
        Candidates for S, at least one.
    others : ndarray of intp, optional
        The points outside that matter; all by default.
    threshold : bool
        Whether the sum of theta is fixed. Without a threshold it is not, and there is no shift.

    Attributes
    ----------
    order : ndarray of intp, shape (n,)
        The points that matter: S, the candidates that depend on it, the others.
    number : ndarray of intp, shape (m,)
        Its inverse: the new number of each of them.
    s : int
        Size of S.
    """

    def __init__(self, gram, inbound, outside_points=None, threshold=True):
        self.gram = gram
        if outside_points is None:
            outside = np.ones(gram.m, dtype=bool)
            outside[inbound] = False
            outside_points = np.flatnonzero(outside)
        order = np.concatenate([inbound, outside_points])
        rows = rows_of(gram, inbound, order)
        self.threshold = threshold
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
        # The rate of theta_S per unit of the threshold, and its sum: without a threshold, nothing answers to
        # one.
        self.ones = self.solved(np.ones((1, s)))[0] if threshold else np.zeros(s)
        self.total = float(self.ones.sum()) if threshold else np.inf
        self.diagonal = gram.diagonal[order]

    @cached_property
    def inverse(self):
        """The inverse of ``K_SS + shift``."""
        upper = self.factor.T.copy()
        _system.invert(upper.T)
        mirror(upper)
        return upper

    def solved(self, right):
        """Solutions of systems with ``K_SS + shift`` in the place of their right sides, shape (n, s)."""
        _system.solve(self.factor, right.T)
        return right

    @cached_property
    def rows_of_others(self):
        return np.ascontiguousarray(self.rows[:, self.s :])

    @cached_property
    def threshold_column(self):
        """Rates of theta_S and of the other g per unit of the sum of theta, shape (n,)."""
        x = self.ones / self.total
        return np.concatenate([x, x @ self.rows_of_others + (self.shift - 1 / self.total)])

    def response(self, points):
        """``T_tS``, ``T_tb`` and the bend of some points.

        Parameters
        ----------
        points : ndarray of intp, shape (n,)

        Returns
        -------
        x : ndarray, shape (n, s)
            What theta_S does, per unit of theta_t for t outside S, of g_t for t in S.
        b : ndarray, shape (n,)
            What the threshold does.
        bend : ndarray, shape (n,)
            What g_t does per unit of theta_t.
        """
        outside = points >= self.s
        inside, outer = np.flatnonzero(~outside), np.flatnonzero(outside)
        x = np.empty((points.size, self.s))
        x[inside] = self.inverse[points[inside]]
        right = np.ascontiguousarray(self.rows[:, points[outer]].T)
        x[outer] = self.solved(-right)
        b = (x.sum(axis=1) + outside) / self.total
        # x -= b ones', in place
        dger(-1.0, self.ones, b, a=x.T, overwrite_a=True)
        b -= self.shift * outside
        bend = np.empty(points.size)
        bend[outer] = self.diagonal[points[outer]] + np.einsum("ij,ij->i", x[outer], right) + b[outer]
        with np.errstate(divide="ignore"):  # a lone point of S cannot move
            bend[inside] = 1 / x[inside, points[inside]]
        return x, b, bend

    def bends(self):
        """The bend of every point, shape (n,), without its response.

        That of a point outside S is its squared distance in feature space from the affine hull of S, that of
        a point in S from the affine hull of the others in S (infinite where there are none); without a
        threshold, from the linear hulls.
        """
        s = self.s
        bends = np.empty(self.order.size)
        inverse, _ = dtrtri(self.factor, lower=True)
        with np.errstate(divide="ignore"):
            bends[:s] = 1 / (np.einsum("ij,ij->j", inverse, inverse) - self.ones**2 / self.total)
        if self.threshold and s == 1:
            bends[0] = np.inf
        u = dtrsm(1, self.factor, self.rows[:, s:].T + self.shift, side=1, lower=1, trans_a=1, overwrite_b=1)
        bends[s:] = self.diagonal[s:] + self.shift - np.einsum("ij,ij->i", u, u)
        bends[s:] += (1 - u @ inverse.sum(axis=1)) ** 2 / self.total
        return bends

    def columns(self, points, x, b):
        """The columns of some points, from their responses: one row for each, of all points that matter."""
        columns = np.empty((points.size, self.order.size))
        columns[:, : self.s] = x
        other_rows = columns[:, self.s :]
        np.matmul(x, self.rows_of_others, out=other_rows)
        other_rows += b[:, None]
        outside = np.flatnonzero(points >= self.s)
        other_rows[outside] += rows_of(self.gram, self.order[points[outside]], self.order[self.s :])
        return columns

    def times_gram(self, values):
        """The product of the rows of an array of shape (n, m) with the Gram matrix."""
        reached = self.s + np.flatnonzero(values[:, self.s :].any(axis=0))
        product = values[:, : self.s] @ self.rows
        product += values[:, reached] @ rows_of(self.gram, self.order[reached], self.order)
        return product
