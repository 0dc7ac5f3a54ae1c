"""What is true of a problem whoever solves it: intervals that hold every optimal decision value.

The arithmetic is long double, rows are centred at their median (which changes no C-SVC, and takes no digits
from the others where a row is far), and the library's kernel matrix may be any within `Truth.E` of ours, of
rows measured from another point. Let a be feasible alphas, w their weight vector and G the duality gap
between them and the best threshold for w. The primal is strongly convex in w, so the optimal one is at most
sqrt(2 G) away, and the differences of w between two rows are those of ours up to that times the rows'
distance. Given w, the optimal thresholds are the minimisers of a piecewise linear function, a weighted median
of the breakpoints y_i - w x_i: it does not fall when these grow. Breakpoints that are known up to their radii
thus give an interval, and nothing need be assumed on who made a, on margins or on the rank of the matrix.

Where rounding is not small beside the kernel values, the library's matrix need have no weight vectors: it may
be indefinite, and a point with a small gap there far from its optimum. Such a point a' has a gap of at most
``tol + 2 max(E a')`` for our own matrix, and a' is at most C. All is measured with our matrix then.
"""

from __future__ import annotations

import signal
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

from svmselect import Gram, solve_csvc

LONG = np.longdouble
EPS = LONG(np.finfo(np.float64).eps)
LONG_EPS = np.finfo(LONG).eps
STEPS = 50_000  # of libsvm, for one reference
FEW_STEPS = 10_000  # of the library
INBOUND = 1e-9  # relative distance from the bounds from which on a variable is tried as in-bound
INDEFINITE = 1e-9  # rounding from which on, beside the kernel values, a matrix may be indefinite
FLOOR = LONG(2.0**-40)  # decision values are of order 1: nobody looks at less


@dataclass(frozen=True)
class Reference:
    """Alphas of one training set.

    Attributes
    ----------
    C, alpha : ndarray, shape (m,)
        Those from which intervals are made.
    gap : long double
        Of these, for every kernel matrix within E.
    best : ndarray, shape (m,)
        Those nearest to the optimum of the matrix itself, where E may be large.
    """

    C: np.ndarray
    alpha: np.ndarray
    gap: LONG
    best: np.ndarray


class Truth:
    """One problem in long double.

    Parameters
    ----------
    problem : Problem
    origin : array_like, shape (d,)
        Where the library measures rows from.
    inexact : float
        Relative round-off that the rows got when they were put into other units.

    Attributes
    ----------
    K : ndarray, shape (m, m)
        Kernel matrix of the centred rows.
    moved : ndarray, shape (m, m)
        That of the rows as the library measures them.
    E : ndarray, shape (m, m)
        Most that the library's values may be off the moved rows'.
    distance : ndarray, shape (m, m)
        Between rows in feature space.
    indefinite : bool
        The library's matrix may be so beyond what counts as rounding.
    """

    def __init__(self, problem, origin=0.0, inexact=0.0):
        self._problem = problem
        self.y, self.C = problem.y.astype(LONG), problem.C.astype(LONG)
        self.gamma, self.m = problem.gamma, problem.m
        X = problem.X.astype(LONG)
        centred, moved = X - np.median(X, axis=0), X - origin
        norms = (moved**2).sum(axis=1)
        if inexact:  # they were rounded before they were moved
            norms = np.maximum(norms, (X**2).sum(axis=1))
        # a sum of m products of d terms each, and the rounding of the rows
        rounding = (X.shape[1] + self.m + 16) * EPS + 4 * LONG(inexact)
        if self.gamma is None:
            self.K, self.moved = centred @ centred.T, moved @ moved.T
            self.E = rounding * np.sqrt(np.outer(norms, norms))
        else:
            exponent = LONG(self.gamma) * ((centred[:, None] - centred[None]) ** 2).sum(axis=2)
            off = rounding * LONG(self.gamma) * (norms[:, None] + norms[None])
            self.K = self.moved = np.exp(-exponent)
            self.E = np.exp(-np.maximum(exponent - off, 0)) * (1 + rounding) - self.K
        diagonal = np.diag(self.K)
        self.indefinite = bool(self.E.max() > INDEFINITE * diagonal.max())
        squared = np.maximum(diagonal[:, None] + diagonal[None] - 2 * self.K, 0)
        self.distance = np.sqrt(squared + (not self.indefinite) * 4 * self.E.max() * (self.E > 0))
        self._references = {}

    def noise(self, alpha):
        """Most that rounding leaves in a float64 decision value less its threshold, shape (m,)."""
        return self.E @ np.abs(alpha) + FLOOR

    def balanced(self, alpha, C):
        """Alphas in long double within [0, C], with sum(y alpha) = 0 to its last bits."""
        alpha = np.clip(np.asarray(alpha, dtype=LONG), 0, C)
        for _ in range(3):
            excess = (self.y * alpha).sum()
            share = np.where(self.y * excess > 0, alpha, C - alpha)
            if excess == 0 or share.sum() == 0:
                break
            alpha = np.clip(alpha - self.y * excess * share / share.sum(), 0, C)
        return alpha

    def minimisers(self, breakpoints, C):
        """Ends of the interval of b that minimises ``sum_i C_i max(0, y_i (breakpoint_i - b))``."""
        order = np.argsort(breakpoints)
        C, y, breakpoints = C[order], self.y[order], breakpoints[order]
        slopes = np.cumsum(C) - C[y > 0].sum()  # behind each breakpoint
        tiny = 4 * self.m * LONG_EPS * C.sum()
        live = C > 0
        low = np.flatnonzero(live & (slopes >= -tiny))
        high = np.flatnonzero(live & (slopes > tiny))
        nobody = -C[y > 0].sum() >= -tiny  # left of all breakpoints is as good
        return (
            -LONG(np.inf) if nobody or low.size == 0 else breakpoints[low[0]],
            LONG(np.inf) if high.size == 0 else breakpoints[high[0]],
        )

    def gap(self, alpha, C, exact=False):
        """A bound of the duality gap for every kernel matrix within E, or that of the matrix itself."""
        theta = self.y * alpha
        f, e = self.K @ theta, 0 if exact else self.noise(alpha)
        low, high = self.minimisers(self.y - f, C)
        b = LONG(np.clip(0, low, high)) if not np.isfinite(low + high) else (low + high) / 2
        u = 1 - self.y * (f + b)
        terms = [C * np.maximum(u + s, 0) - alpha * (u + s) for s in (-e, e)]
        drift = abs((self.y * alpha).sum() * b)
        return np.maximum(*terms).sum() + drift

    def reference(self, C=None):
        """Alphas for some bounds, 0 for points left out; as good as we can make them."""
        C = self.C if C is None else np.asarray(C, dtype=LONG)
        key = C.tobytes()
        if key not in self._references:
            # the time that a method may take is not that of references
            left = signal.setitimer(signal.ITIMER_PROF, 0)[0]
            try:
                self._references[key] = self._solve(C)
            finally:
                signal.setitimer(signal.ITIMER_PROF, left)
        return self._references[key]

    def _solve(self, C):
        results = [np.zeros(self.m, dtype=LONG)]
        if np.unique(self.y[C > 0]).size == 2:
            # libsvm fails on some; the library need not be trusted: whoever made alphas, they prove the same
            results += [self.balanced(solve(C), C) for solve in (self._by_libsvm, self._by_library)]
            results += [self._polished(alpha, C) for alpha in results]
        alpha = min(results, key=lambda alpha: self.gap(alpha, C))
        best = min(results, key=lambda alpha: self.gap(alpha, C, exact=True))
        return Reference(C, alpha, self.gap(alpha, C), best)

    def _by_libsvm(self, C):
        """Alphas, 0 where it refuses the weights."""
        alpha, inside = np.zeros(self.m), np.flatnonzero(C)
        model = self._libsvm(C, inside)
        if model is not None:
            alpha[inside[model.support_]] = np.abs(model.dual_coef_[0]) / self._unit(inside)
        return alpha

    def _unit(self, inside):
        """The largest diagonal value of some rows: LIBSVM's tolerance is absolute."""
        return max(float(np.diag(self.K)[inside].max()), float(np.finfo(float).tiny))

    def _in_units(self, rows, inside):
        """Kernel values of rows and training rows as LIBSVM gets them."""
        return (self.K[np.ix_(rows, inside)] / self._unit(inside)).astype(float)

    def _libsvm(self, C, inside):
        """LIBSVM's model of the rows inside, or None where it refuses their weights."""
        top = float(C.max())
        model = SVC(
            C=top * self._unit(inside), kernel="precomputed", tol=1e-10, shrinking=False, max_iter=STEPS
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                weight = (C[inside] / top).astype(float)
                return model.fit(self._in_units(inside, inside), self.y[inside].astype(float), weight)
            except ValueError:  # it drops tiny weights, and a class with them
                return None

    def _by_library(self, C):
        """Alphas."""
        problem = self._problem
        gram = Gram(problem.X, problem.kernel)
        return solve_csvc(gram, problem.y, C, tol=1e-6, max_iter=FEW_STEPS).alpha

    def _polished(self, alpha, C):
        """The solution whose in-bound and bounded points are those of `alpha`, refined in long double."""
        inbound = np.flatnonzero((alpha > INBOUND * C) & (alpha < (1 - INBOUND) * C))
        if inbound.size == 0:
            return alpha
        theta = self.y * np.where(alpha >= C / 2, C, 0)
        theta[inbound] = (self.y * alpha)[inbound]
        block = self.K[np.ix_(inbound, inbound)]
        scale = max(float(np.diag(block).max()), float(np.finfo(float).tiny))
        system = np.zeros((inbound.size + 1, inbound.size + 1))
        system[:-1, :-1] = block / scale
        system[:-1, -1] = system[-1, :-1] = 1
        b = LONG(0)
        for _ in range(4):
            residual = np.append(self.y[inbound] - self.K[inbound] @ theta - b, -scale * theta.sum())
            try:
                step = np.linalg.lstsq(system, (residual / scale).astype(float), rcond=1e-14)[0]
            except np.linalg.LinAlgError:
                return alpha
            theta[inbound] += step[:-1]
            b += scale * step[-1]
        return self.balanced(self.y * theta, C)

    def intervals(self, C, tol, rows=None):
        """Ends of the intervals of the decision values of the classifier for bounds `C`, shape (n,) each.

        They hold those of every approximate solution with a KKT gap of at most `tol`, in the library's
        arithmetic.
        """
        reference = self.reference(C)
        rows = range(self.m) if rows is None else rows
        alpha, gap, noise = reference.alpha, reference.gap, self.noise(reference.alpha)
        if self.indefinite:
            alpha, noise = reference.best, self.noise(reference.C)
            gap = self.gap(alpha, reference.C, exact=True)
        f = self.K @ (self.y * alpha)
        reach = np.sqrt(2 * gap) + np.sqrt(2 * (tol + 2 * noise.max()) * reference.C.sum())
        low, high = [], []
        for r in rows:
            radius = reach * self.distance[r] + noise + noise[r] + tol
            middle = self.y - f + f[r]
            low.append(self.minimisers(middle - radius, reference.C)[0])
            high.append(self.minimisers(middle + radius, reference.C)[1])
        return np.array(low), np.array(high)

    def retrained(self, C, row):
        """Decision values of a row by the classifiers that this library and LIBSVM train for bounds `C`.

        Both take the midpoint where no in-bound support vector fixes the threshold. Where only one class is
        left, or LIBSVM refuses the weights, there is nothing to compare: two zeros.
        """
        C = np.asarray(C, dtype=float)
        inside, problem = np.flatnonzero(C), self._problem
        if np.unique(problem.y[inside]).size < 2:
            return 0.0, 0.0
        library = solve_csvc(Gram(problem.X, problem.kernel), problem.y, C, tol=1e-10, max_iter=FEW_STEPS)
        model = self._libsvm(C, inside)
        if model is None or not library.converged:
            return 0.0, 0.0
        return float(library.decision[row]), float(model.decision_function(self._in_units([row], inside))[0])

    def kkt_gap(self, alpha, C):
        """M+ - M- by its definition, in long double, and the interval [M+, M-] of thresholds."""
        breakpoints = self.y - self.K @ (self.y * alpha)
        up = np.where(self.y > 0, alpha < C, alpha > 0) & (C > 0)
        low = np.where(self.y > 0, alpha > 0, alpha < C) & (C > 0)
        most = breakpoints[up].max(initial=-np.inf)
        least = breakpoints[low].min(initial=np.inf)
        return most - least, most, least
