"""C-SVC and nu-SVC: a problem in, a Solution out."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from svmselect.checks import (
    check_bounds,
    check_labels,
    check_match,
    check_options,
    check_start,
    check_sums,
    check_weights,
    frozen,
)
from svmselect.gram import Gram
from svmselect.solver._smo import NuDual
from svmselect.solver.blocks import choose_blocks, dual_of
from svmselect.solver.feasible import filled
from svmselect.threads import one_blas_thread

__all__ = [
    "InfeasibleNu",
    "Solution",
    "check_solution",
    "decision_function",
    "solution_of",
    "solve_csvc",
    "solve_nusvc",
]

# A nu that leaves no margin at tol is tried with these shares of it, for so many steps each.
CLOSER, STEPS_CLOSER = (1e-1, 1e-2, 1e-3, 1e-4), 50_000


class InfeasibleNu(ValueError):
    """Error of an infeasible nu: the classes are too unbalanced for it, or it leaves no margin."""


@dataclass(frozen=True)
class Solution:
    """The solution of one C-SVC problem.

    Attributes
    ----------
    alpha : ndarray, shape (m,)
        Dual variables, ``0 <= alpha_i <= C_i``, exactly on a bound when within 1e-12 C_i of it.
    C : ndarray, shape (m,)
        Upper bounds; 0 for points left out.
    b : float
        Threshold. Where no in-bound SV fixes it, the midpoint of its interval.
    decision : ndarray, shape (m,)
        ``f(x_i)`` of every row, including the points left out.
    objective : float
        ``1/2 alpha'Q alpha - sum(alpha)`` (LIBSVM's sign).
    kkt_gap : float
        ``M+ - M-`` at the end; 0 where no pair violates.
    n_iter : int
        SMO steps and moves of the active-set method.
    columns_requested, kernel_values : int
        Gram columns requested, and kernel values computed, by this fit.
    converged : bool
        Whether ``kkt_gap`` is at most ``tol``, with round-off of at most another ``tol``, or 1e-6. If not,
        steps ran out, or no step brought a gain.
    """

    alpha: np.ndarray
    C: np.ndarray
    b: float
    decision: np.ndarray
    objective: float
    kkt_gap: float
    n_iter: int
    columns_requested: int
    kernel_values: int
    converged: bool

    @property
    def n_sv(self) -> int:
        """Number of support vectors."""
        return int(np.count_nonzero(self.alpha))

    @property
    def n_inbound(self) -> int:
        """Number of in-bound support vectors, ``0 < alpha_i < C_i``."""
        return int(np.count_nonzero((self.alpha > 0) & (self.alpha < self.C)))


@one_blas_thread()
def solve_csvc(
    gram: Gram,
    y: ArrayLike,
    C: ArrayLike,
    tol: float = 1e-3,
    working_set: str | None = None,
    active_set: bool = True,
    start: ArrayLike | None = None,
    max_iter: int | None = None,
) -> Solution:
    """Train a C-SVC: minimise ``1/2 alpha'Q alpha - sum(alpha)``, ``0 <= alpha_i <= C_i``, ``y'alpha = 0``.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows.
    y : array_like, shape (m,)
        Labels, -1 and +1.
    C : float or array_like, shape (m,)
        Upper bound of every alpha, or one per point. A point with ``C_i = 0`` is left out of the training
        set; its decision value is the prediction of a model that has not seen it.
    tol : float
        Stop when ``M+ - M- <= tol``, where ``M+ = max over up of -y_i G_i`` and ``M- = min over low of -y_i
        G_i`` (LIBSVM's stopping rule). Franc et al. (2008), eq. 8, quote half of it.
    working_set : {"wss2", "mvp"}, optional
        "wss2": second-order rule of Fan, Chen and Lin (2005), LIBSVM's; "mvp": maximal violating pair of
        Keerthi et al. (2001), the "improved SMO" of Franc et al. Either is SMO with steps over all rows and
        stored columns. By default the library chooses "wss2", or blocks of rows for a large problem (see
        Notes).
    active_set : bool
        Whether an active-set method takes over where SMO creeps: linear kernels with a large C, RBF kernels
        with a tiny gamma. False is SMO alone, over all rows, for comparisons with other SMO solvers.
    start : array_like, shape (m,), optional
        Feasible alphas to start from; zeros by default.
    max_iter : int, optional
        The largest number of SMO steps; by default a hundred thousand per row, and at least a million.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        For labels other than -1 and +1, one class only, a bad C, tol, working set or start, or shapes that
        differ.
    KeyboardInterrupt
        On Ctrl-C, for which the loop checks several times a second.

    Notes
    -----
    A large problem is solved by blocks of rows if no columns of its Gram matrix are stored yet, unless
    `working_set` names a rule or `active_set` is False; ``docs/how_it_works.md`` and ``docs/library.md`` say
    when. That makes a single fit faster. For many fits on a matrix that fits its budget, call
    ``gram.compute()`` first: then fits compute no kernel values. Steps of blocks count as iterations, those
    of the pilot fit that decides do not. Columns requested are those of steps, of the length of a block or of
    the pilot, and one for each row in a round's update or in a fresh gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_csvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> solution.n_sv, solution.converged
    (6, True)
    >>> round(solution.objective, 3)
    -4.188
    """
    y = check_labels(gram, y)
    C = check_bounds(gram, y, C)
    rule = "wss2" if working_set is None else working_set
    max_iter = check_options(tol, rule, max_iter, gram.m)
    theta = None if start is None else check_start(start, y, C)
    # a saddle of an indefinite kernel has no solution on its in-bound rows
    active_set = active_set and gram.kernel.definite
    columns, values = gram.thread_counts
    blocks = None
    if working_set is None and active_set:
        blocks = choose_blocks(gram, y, np.where(y > 0, 0, -C), np.where(y > 0, C, 0))
    dual, solve = dual_of(gram, y, blocks, active_set)
    dual.boxes(y, C, theta)
    converged = solve(dual, rule, tol, max_iter)
    return solution_of(dual, dual.gram, y, C, converged, columns, values)


def solution_of(dual, gram, y, C, converged, columns, values):
    """Return the Solution of a Dual; `columns` and `values` are the thread's counters before the fit."""
    columns_now, values_now = gram.thread_counts
    theta, f, b, _, gap, n_iter = dual.state()
    p = dual.linear_term()
    return Solution(
        alpha=frozen(theta * y),
        C=frozen(C),
        b=b,
        decision=frozen(f + p + b),
        # theta sums to 0, so b may be added to f, which avoids cancellation
        objective=0.5 * float(theta @ (f + b - p)),
        kkt_gap=gap,
        n_iter=n_iter,
        columns_requested=columns_now - columns,
        kernel_values=values_now - values,
        converged=converged,
    )


def _check_nu(gram, y, nu, weight):
    """Return the nu-SVC's upper bounds and each class's sum of alphas; raise a ValueError for a bad nu."""
    if not (isinstance(nu, numbers.Real) and 0 < nu <= 1):
        raise ValueError(f"nu must be a number in (0, 1], got {nu!r}")
    weight = check_weights(gram, y, np.ones(gram.m) if weight is None else weight, "weight")
    total = nu * weight.sum() / 2
    largest = min(weight[y > 0].sum(), weight[y < 0].sum()) * 2 / weight.sum()
    if nu > largest:
        raise InfeasibleNu(f"nu must be at most {largest:.6g} for classes of these sizes, got {nu}")
    return weight, total


@one_blas_thread()
def solve_nusvc(
    gram: Gram,
    y: ArrayLike,
    nu: float,
    weight: ArrayLike | None = None,
    tol: float = 1e-3,
    working_set: str = "wss2",
    max_iter: int | None = None,
) -> Solution:
    """Train a nu-SVC: minimise ``1/2 a'Q a``, ``0 <= a_i <= w_i``, ``y'a = 0``, ``sum(a) = nu sum(w)``.

    See Schoelkopf et al. (2000), and Chang and Lin (2001).

    Parameters
    ----------
    gram, y
        See `solve_csvc`.
    nu : float
        In (0, 1]: a lower bound on the share of support vectors, an upper bound on the share of margin
        errors. At most ``2 min(sum of w over one class) / sum(w)``.
    weight : array_like, shape (m,), optional
        ``w``; 1 for every point by default. A point with weight 0 is left out of the training set.
    tol : float
        Stop when in both classes ``M+ - M- <= tol min(rho, max_i k(x_i, x_i))`` on the scale of ``a``, so
        that the C-SVC's gap is about `tol`. LIBSVM stops at `tol` itself: with a small rho its solution may
        be far from the optimum of the C-SVC.
    working_set, max_iter
        See `solve_csvc`; the pair lies in the class that violates more.

    Returns
    -------
    Solution
        The solution of the C-SVC with ``C = w / rho``, which has the same classifier (Chang and Lin 2001,
        Theorem 4): ``alpha = a / rho``, and threshold, decision values, objective and KKT gap on that scale.
        `converged` says whether both classes came to the tolerance.

    Raises
    ------
    InfeasibleNu
        A ValueError, for a nu that is too large for the classes, or leaves no margin: rho is within the
        tolerance, because the classes' convex hulls, reduced by nu, meet.
    ValueError
        For labels other than -1 and +1, one class only, a bad weight, tol or working set, shapes that differ,
        or kernel values whose sums overflow.
    """
    y = check_labels(gram, y)
    weight, total = _check_nu(gram, y, nu, weight)
    largest = check_sums(gram, weight, "a nu-SVC")
    max_iter = check_options(tol, working_set, max_iter, gram.m)
    # 1) the dual of nu, from the first points of each class
    columns, values = gram.thread_counts
    dual = NuDual(gram, y)
    dual.boxes(y, weight, sum(filled(np.where(y == label, weight, 0), total) * label for label in (-1, 1)))
    dual.totals = [(np.flatnonzero(y == label), total * label) for label in (-1, 1)]
    # 2) solved to tol on the scale of kernel values, then on the C-SVC's, if its margin rho is smaller; f at
    # the start is a sum of kernel values, also with an indefinite kernel
    scale = largest if largest > 0 else float(np.abs(dual.state()[1]).max()) / (2 * total) or 1.0
    converged = dual.solve(working_set, tol * scale, max_iter)
    rho = dual.rho()
    if converged and tol * scale < rho < scale:
        # the C-SVC's gap is divided by rho
        converged = dual.solve(working_set, tol * rho, max_iter - dual.state()[-1])
        rho = dual.rho()
    if rho <= tol * scale:
        raise InfeasibleNu(
            f"nu must leave a margin above tol = {tol} of the largest kernel value between the classes, "
            f"got {nu} with rho = {rho / scale:.3g} of it{_smaller_tol(dual, working_set, tol, scale)}"
        )
    # 3) the solution on the scale of the C-SVC
    solution = solution_of(dual, gram, y, weight, converged, columns, values)
    alpha, decision = solution.alpha / rho, solution.decision / rho
    return replace(
        solution,
        alpha=frozen(alpha),
        C=frozen(weight / rho),
        b=solution.b / rho,
        decision=frozen(decision),
        objective=solution.objective / rho / rho - alpha.sum(),
        kkt_gap=_gap_of(solution.alpha, weight, y, decision),
    )


def _smaller_tol(dual, working_set, tol, scale):
    """Return the end of an error message that names a smaller tol with which nu has a margin, or ""."""
    for share in CLOSER:
        smaller = share * tol
        converged = dual.solve(working_set, smaller * scale, STEPS_CLOSER)
        # the margin at another solution with this gap differs by at most the gap
        if converged and dual.rho() > 3 * smaller * scale:
            return f"; tol = {smaller:g} would do"
    return ""


def _gap_of(alpha, C, y, decision):
    """Compute ``M+ - M-`` of a C-SVC, or 0, from its variables and decision values."""
    f, lower, upper = decision - y, alpha > 0, alpha < C
    up, low = np.where(y > 0, upper, lower), np.where(y > 0, lower, upper)
    return max(float(f[low].max(initial=-np.inf) - f[up].min(initial=np.inf)), 0.0)


def check_solution(gram, y, solution):
    """Return labels as float64; raise a ValueError for bad ones, or for a solution of another problem."""
    y = check_labels(gram, y)
    check_match(gram, solution, Solution)
    return y


def decision_function(
    gram: Gram, y: ArrayLike | None, solution: Solution, X: ArrayLike | sparse.sparray
) -> np.ndarray:
    """Compute decision values ``f(x) = sum_i alpha_i y_i k(x_i, x) + b`` of new rows.

    Parameters
    ----------
    gram : Gram
        The Gram matrix of the training rows.
    y : array_like, shape (m,), or None
        None for one class.
    solution : Solution
    X : array_like or sparse matrix, shape (n, d)

    Returns
    -------
    ndarray, shape (n,)
        Positive for class +1; a value of 0 counts as +1 (Franc et al. 2008, eq. 2).

    Raises
    ------
    ValueError
        If `X` is not finite or has another number of features, or `y` or the solution does not match.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, decision_function, solve_csvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> decision_function(gram, y, solution, np.array([[0.5], [6.5]])).round(2)
    array([-1.07,  1.07])
    """
    if y is None:
        check_match(gram, solution, Solution)
        theta = solution.alpha
    else:
        theta = solution.alpha * check_solution(gram, y, solution)
    support = np.flatnonzero(theta)
    return gram.weighted(X, support, theta[support]) + solution.b
