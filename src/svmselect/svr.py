"""Epsilon-SVR and nu-SVR: a problem in, a RegressionSolution out."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from svmselect.checks import (
    as_numbers,
    check_amounts,
    check_match,
    check_options,
    check_targets,
    frozen,
    largest_C,
)
from svmselect.gram import Gram
from svmselect.path import FAR, check_values
from svmselect.solver._smo import NuRegression
from svmselect.solver.blocks import blocks_by_rows, dual_of
from svmselect.solver.feasible import SNAP, balanced, filled, snapped
from svmselect.threads import one_blas_thread

__all__ = [
    "TOL",
    "RegressionPoint",
    "RegressionSolution",
    "check_epsilon",
    "check_regression",
    "check_share",
    "check_theta",
    "middle_of",
    "moved_to_bounds",
    "predict_targets",
    "regression_of",
    "solve_nusvr",
    "solve_svr",
    "solve_svr_path",
    "spread_of",
    "tol_of",
]

EPS = float(np.finfo(np.float64).eps)
CLOSE = 0.01  # an epsilon that is wrong by this share of the tolerance does for nu-SVR
TOL = 1e-3  # KKT gap at which training stops, relative to the spread of the targets


@dataclass(frozen=True)
class RegressionSolution:
    """The solution of one epsilon-SVR problem.

    Attributes
    ----------
    theta : ndarray, shape (m,)
        Signed dual variables, LIBSVM's ``alpha_i - alpha*_i``, with ``-C_i <= theta_i <= C_i``. They are
        exactly 0 or on a bound when within 1e-12 of it, relative to the variable.
    C : ndarray, shape (m,)
        Upper bounds; 0 for rows left out.
    epsilon : float
        Half the width of the tube.
    b : float
        Threshold. Where no in-bound SV fixes it, the midpoint of its interval.
    prediction : ndarray, shape (m,)
        ``sum_j theta_j k(x_j, x_i) + b`` of every row, including the rows left out.
    objective : float
        ``1/2 theta'K theta - z'theta + epsilon sum(|theta|)`` (LIBSVM's sign).
    kkt_gap : float
        ``M+ - M-`` at the end; 0 where no pair violates.
    n_iter, columns_requested, kernel_values, converged
        See `Solution`.
    """

    theta: np.ndarray
    C: np.ndarray
    epsilon: float
    b: float
    prediction: np.ndarray
    objective: float
    kkt_gap: float
    n_iter: int
    columns_requested: int
    kernel_values: int
    converged: bool

    @property
    def n_sv(self) -> int:
        """Number of support vectors."""
        return int(np.count_nonzero(self.theta))

    @property
    def n_inbound(self) -> int:
        """Number of in-bound support vectors, ``0 < |theta_i| < C_i``."""
        size = np.abs(self.theta)
        return int(np.count_nonzero((size > 0) & (size < self.C)))


def check_epsilon(epsilon):
    """Return epsilon as a float; raise a ValueError unless it is a finite number that is not negative."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, numbers.Real) or not 0 <= epsilon < np.inf:
        raise ValueError(f"epsilon must be a finite number >= 0, got {epsilon!r}")
    return float(epsilon)


def check_share(nu):
    """Return nu as a float; raise a ValueError unless it is a number in (0, 1]."""
    if isinstance(nu, bool) or not (isinstance(nu, numbers.Real) and 0 < nu <= 1):
        raise ValueError(f"nu must be a number in (0, 1], got {nu!r}")
    return float(nu)


def check_regression(gram, z, C, epsilon):
    """Return targets, upper bounds and epsilon of an epsilon-SVR; raise a ValueError for a bad one."""
    z = check_targets(gram, z)
    C = np.minimum(check_amounts(gram, C, "C"), largest_C(gram))
    return z, C, check_epsilon(epsilon)


def middle_of(z, C):
    """Return the middle of the targets that are trained on; less by it, they keep more digits."""
    trained = z[C > 0]
    return 0.5 * trained.min() + 0.5 * trained.max()


def spread_of(z, weight):
    """Return the unit of a regression: the standard deviation of the targets, or 1 if all are equal.

    Targets count by their `weight`, shape (m,).
    """
    size = float(np.abs(z[weight > 0]).max())
    if size == 0:
        return 1.0
    # units near the ends of float64, whose squares are none
    scaled = z / size
    spread = float(np.sqrt(np.average((scaled - np.average(scaled, weights=weight)) ** 2, weights=weight)))
    return size * spread if spread > EPS else 1.0


def tol_of(tol, z, weight):
    """Return the KKT gap at which training stops: `tol`, or by default `TOL` of the targets' spread."""
    return TOL * spread_of(z, weight) if tol is None else tol


def check_theta(start, C):
    """Return a feasible start, shape (m,); raise a ValueError for an infeasible one."""
    start = as_numbers(start, "start")
    if start.shape != C.shape:
        raise ValueError(f"start must have shape {C.shape}, got {start.shape}")
    outside = np.flatnonzero(~(np.abs(start) <= C))
    if outside.size:
        i = outside[0]
        raise ValueError(f"start must lie in [-C, C], got {start[i]} at row {i} where C is {C[i]}")
    if abs(start.sum()) > 1e-9 * max(float(np.abs(start).sum()), C.max()):
        raise ValueError(f"start must have the sum 0, got {start.sum():.3g}")
    return snapped(start, -C, C)


@one_blas_thread()
def solve_svr(
    gram: Gram,
    z: ArrayLike,
    C: ArrayLike,
    epsilon: float = 0.1,
    tol: float | None = None,
    working_set: str | None = None,
    active_set: bool = True,
    start: ArrayLike | None = None,
    max_iter: int | None = None,
) -> RegressionSolution:
    """Train an epsilon-SVR: minimise ``1/2 t'K t - z't + epsilon sum(|t|)`` in the variables of the dual.

    They have bounds, ``|t_i| <= C_i``, and the sum 0. See Vapnik (1995), and Smola and Schoelkopf (2004).

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows.
    z : array_like, shape (m,)
        Targets.
    C : float or array_like, shape (m,)
        Upper bound of every ``|t_i|``, or one per row. A row with ``C_i = 0`` is left out of the training
        set.
    epsilon : float
        Half the width of the tube in which errors do not count, >= 0, in units of the targets.
    tol : float, optional
        Stop when ``M+ - M- <= tol``, in units of the targets (LIBSVM's stopping rule). By default a
        thousandth of their standard deviation.
    working_set, active_set, max_iter
        See `solve_csvc`, also for the problems that are solved by blocks.
    start : array_like, shape (m,), optional
        Feasible variables to start from; zeros by default.

    Returns
    -------
    RegressionSolution

    Raises
    ------
    ValueError
        For targets that are not finite numbers, a bad C, epsilon, tol, working set or start, or shapes that
        differ.
    KeyboardInterrupt
        On Ctrl-C, for which the loop checks several times a second.

    Notes
    -----
    LIBSVM has two variables for each row, of which one is 0 at the optimum. Here a row has one variable, one
    column of the Gram matrix and one entry of the gradient; see the head of ``solver/_state.pyx``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_svr
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> solution = solve_svr(Gram(X, RBF(0.5)), np.sin(X[:, 0]), C=10, epsilon=0.1)
    >>> solution.n_sv, solution.converged
    (7, True)
    >>> round(solution.objective, 3)
    -1.03
    """
    z, C, epsilon = check_regression(gram, z, C, epsilon)
    tol, rule = tol_of(tol, z, C), "wss2" if working_set is None else working_set
    max_iter = check_options(tol, rule, max_iter, gram.m)
    theta = None if start is None else check_theta(start, C)
    active_set = active_set and gram.kernel.definite
    blocks = blocks_by_rows(gram) if working_set is None and active_set else None
    dual, solve = dual_of(gram, z - middle_of(z, C), blocks, active_set)
    counts = dual.gram.thread_counts
    dual.regress(C, epsilon, theta)
    converged = solve(dual, rule, tol, max_iter)
    return regression_of(dual, dual.gram, C, epsilon, middle_of(z, C), converged, counts)


def regression_of(dual, gram, C, epsilon, middle, converged, counts):
    """Return the RegressionSolution of a Dual with targets less by `middle`; `counts` precede the fit."""
    columns, values = gram.thread_counts
    theta, f, b, _, gap, n_iter = dual.state()
    p = dual.linear_term()
    return RegressionSolution(
        theta=frozen(theta),
        C=frozen(C),
        epsilon=epsilon,
        b=b + middle,
        prediction=frozen(f + p + b + middle),
        # theta sums to 0, so b may be added to f, which avoids cancellation
        objective=0.5 * float(theta @ (f + b - p)),
        kkt_gap=gap,
        n_iter=n_iter,
        columns_requested=columns - counts[0],
        kernel_values=values - counts[1],
        converged=converged,
    )


@one_blas_thread()
def solve_nusvr(
    gram: Gram,
    z: ArrayLike,
    C: ArrayLike,
    nu: float = 0.5,
    tol: float | None = None,
    working_set: str = "wss2",
    max_iter: int | None = None,
) -> RegressionSolution:
    """Train a nu-SVR: the epsilon-SVR whose epsilon lets ``sum(|t|)`` be at most ``nu sum(C)``.

    See Schoelkopf et al. (2000), and Chang and Lin (2002).

    Parameters
    ----------
    gram, z, C
        See `solve_svr`.
    nu : float
        In (0, 1]: a lower bound on the share of support vectors, an upper bound on the share of rows outside
        the tube.
    tol : float, optional
        Stop when on both sides of the tube ``M+ - M- <= tol``, in units of the targets, as LIBSVM does. By
        default a thousandth of their standard deviation.
    working_set, max_iter
        See `solve_csvc`.

    Returns
    -------
    RegressionSolution
        Of the epsilon-SVR; its `epsilon` is the one that belongs to nu, 0 where nu is larger than that of
        epsilon = 0. Where several belong to it, it is the middle of their interval.

    Raises
    ------
    ValueError
        For a bad nu, C, tol or working set, targets that are not finite numbers, or shapes that differ.
    """
    z, C, _ = check_regression(gram, z, C, 0.0)
    nu, tol = check_share(nu), tol_of(tol, z, C)
    max_iter = check_options(tol, working_set, max_iter, gram.m)
    run = _NuRun(gram, z, C, nu * C.sum() / 2, tol, working_set, max_iter)
    # 1) from the rows with the largest and the least targets, unless a row would be on both sides
    solution = run.from_variables(run.first())
    if solution is not None:
        return solution
    # 2) the SVR of epsilon = 0 is the solution where its variables are small enough
    inner = run.with_epsilon(0.0)
    if run.holds(inner) or not inner.converged:
        return inner
    # 3) from solutions of an epsilon whose variables are too large, scaled to the sum that is allowed. The
    # sums on both sides fix a set that is not convex: a poor start may lead to a point with epsilon < 0.
    low, high = 0.0, float(np.ptp(z[C > 0])) / 2
    solution, outer = run.from_variables(run.scaled(inner.theta)), run.with_epsilon(high)
    while solution is None and high - low > CLOSE * tol:
        epsilon = 0.5 * (low + high)
        part = run.with_epsilon(epsilon)
        if run.holds(part):
            high, outer = epsilon, part
        elif not part.converged or epsilon in (low, high):
            return replace(part, converged=False)
        else:
            low, solution = epsilon, run.from_variables(run.scaled(part.theta))
    # where the variables of an epsilon are not unique, those just above it may be small enough
    return outer if solution is None else solution


class _NuRun:
    """The fits of one nu-SVR, in which the variables of each side have the sum `total`, at most."""

    def __init__(self, gram, z, C, total, tol, working_set, max_iter):
        self.gram, self.z, self.C, self.total = gram, z, C, total
        self.options = working_set, tol, max_iter
        self.counts, self.middle = gram.thread_counts, middle_of(z, C)

    def first(self):
        """Return variables with the sums of the constraint: of the largest and of the least targets."""
        order = np.argsort(self.z, kind="stable")
        theta = np.zeros((2, self.z.size))
        for side, rows in enumerate((order[::-1], order)):
            theta[side, rows] = filled(self.C[rows], self.total)
        # with epsilon > 0 no row has variables on both sides
        return None if (theta > 0).all(axis=0).any() else theta[0] - theta[1]

    def scaled(self, theta):
        """Return variables whose sums are too large, scaled down to those of the constraint."""
        positive, negative = theta[theta > 0].sum(), -theta[theta < 0].sum()
        return theta * np.where(theta > 0, self.total / positive, self.total / negative)

    def holds(self, solution):
        """Return whether the variables of a solution keep the constraint."""
        return bool(np.abs(solution.theta).sum() <= 2 * self.total * (1 + SNAP))

    def from_variables(self, theta):
        """Return the solution that has these sums on both sides, or None if its epsilon is not positive."""
        if theta is None:
            return None
        dual = NuRegression(self.gram, self.z - self.middle)
        dual.start(self.C, theta)
        converged, epsilon = dual.solve(*self.options), -dual.rho()
        if epsilon <= 0:
            return None
        solution = regression_of(dual, self.gram, self.C, epsilon, self.middle, converged, self.counts)
        size = epsilon * np.abs(solution.theta).sum()
        return replace(solution, objective=solution.objective + size)

    def with_epsilon(self, epsilon):
        """Return the solution of an epsilon-SVR."""
        working_set, tol, max_iter = self.options
        options = dict(tol=tol, working_set=working_set, max_iter=max_iter)
        return solve_svr(self.gram, self.z, self.C, epsilon, **options)


class RegressionPoint(NamedTuple):
    """One model of a path.

    Attributes
    ----------
    epsilon, C : float
    solution : RegressionSolution
    """

    epsilon: float
    C: float
    solution: RegressionSolution


def solve_svr_path(
    gram: Gram,
    z: ArrayLike,
    Cs: ArrayLike,
    epsilons: ArrayLike = 0.1,
    tol: float | None = None,
    working_set: str | None = None,
) -> Iterator[RegressionPoint]:
    """Train an epsilon-SVR for every epsilon and every C on the same Gram matrix, each from the one before.

    Parameters
    ----------
    gram, z
        See `solve_svr`.
    Cs : array_like, shape (n,)
        Values of C, solved in this order; increasing is the usual one.
    epsilons : float or array_like
        Values of epsilon, the outer loop; decreasing is the usual order. The first C of each starts at the
        solution of the first C of the epsilon before.
    tol, working_set
        See `solve_svr`. By default fits of several models share stored columns if the matrix fits its budget.

    Yields
    ------
    RegressionPoint
        ``(epsilon, C, solution)``, as each is solved.

    Raises
    ------
    ValueError
        For an empty path, bad targets, or values of C or epsilon that are out of their range.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_svr_path
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> path = solve_svr_path(Gram(X, RBF(0.5)), np.sin(X[:, 0]), [0.1, 1, 10], 0.2)
    >>> [point.solution.n_sv for point in path]
    [6, 6, 6]
    """
    z = check_targets(gram, z)
    Cs = check_values(Cs, "Cs")
    epsilons = [
        check_epsilon(epsilon) for epsilon in np.atleast_1d(as_numbers(epsilons, "epsilons")).tolist()
    ]
    if working_set is None and gram.full and len(Cs) * len(epsilons) > 1:
        working_set = "wss2"
    return _walk(gram, z, Cs, epsilons, tol, working_set)


def _walk(gram, z, Cs, epsilons, tol, working_set):
    """Yield the models of `solve_svr_path`, whose arguments have been checked."""
    first = None
    for epsilon in epsilons:
        before = first
        for number, C in enumerate(Cs):
            start = None if before is None else moved_to_bounds(before, np.full(gram.m, C))
            before = solve_svr(gram, z, C, epsilon, tol=tol, working_set=working_set, start=start)
            first = before if number == 0 else first
            yield RegressionPoint(epsilon, C, before)


def moved_to_bounds(solution, C):
    """Return feasible variables for other bounds ``C``, moved on as by `moved_along_C`."""
    theta, bound = solution.theta, solution.C
    if (bound == C).all() or (C.max() > FAR * min(1.0, bound.max()) and (bound <= C).all()):
        return theta
    growth = np.divide(C, bound, out=np.ones(C.size), where=bound > 0)
    bounded = (bound > 0) & (np.abs(theta) == bound)
    if (growth < 1).any() or 2 * np.count_nonzero(bounded) > solution.n_sv:
        return balanced(theta * growth, -C, C, np.flatnonzero((theta != 0) & ~bounded))
    inbound = np.flatnonzero((theta != 0) & ~bounded)
    return balanced(np.where(bounded, np.sign(theta) * C, theta), -C, C, inbound)


def predict_targets(gram: Gram, solution: RegressionSolution, X: ArrayLike | sparse.sparray) -> np.ndarray:
    """Predict targets ``sum_i theta_i k(x_i, x) + b`` of new rows.

    Parameters
    ----------
    gram : Gram
        The Gram matrix of the training rows.
    solution : RegressionSolution
    X : array_like or sparse matrix, shape (n, d)

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    ValueError
        If `X` is not finite or has another number of features, or the solution does not match.
    """
    check_match(gram, solution, RegressionSolution)
    support = np.flatnonzero(solution.theta)
    return gram.weighted(X, support, solution.theta[support]) + solution.b
