"""C-SVC and nu-SVC: a problem in, a Solution out."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

import svmselect.solver._active_set as _active_set
from svmselect.gram import Gram
from svmselect.solver._blocked import BlockedDual
from svmselect.solver._nu import NuDual
from svmselect.solver._smo import RULES, Dual
from svmselect.threads import one_blas_thread

__all__ = [
    "InfeasibleNu",
    "Solution",
    "WeightedErrors",
    "as_numbers",
    "check_bounds",
    "check_labels",
    "check_options",
    "check_solution",
    "check_start",
    "decision_function",
    "frozen",
    "largest_C",
    "misclassified",
    "solution_of",
    "solve_blocked",
    "solve_csvc",
    "solve_nusvc",
    "weighted_share",
]

# A solver gives up after MOST_STEPS steps, or MOST_STEPS_PER_ROW per row if these are more.
MOST_STEPS, MOST_STEPS_PER_ROW = 1_000_000, 100_000
# From this many rows on, blocks of rows are solved where no columns are stored.
BLOCKED_ROWS = 10_000
# f, and the sums of kernel values that it is made of, stay below this.
LARGEST_SUM = 1e290
# C times the sum of a row's kernel values stays below this: the solvers square such sums.
LARGEST_BOUND = 1e140
# A nu that leaves no margin at tol is tried with these shares of it, for so many steps each.
CLOSER, STEPS_CLOSER = (1e-1, 1e-2, 1e-3, 1e-4), 50_000


class InfeasibleNu(ValueError):
    """Raised where nu is infeasible: the classes are too unbalanced for it, or it leaves no margin.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, InfeasibleNu, solve_nusvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> try:
    ...     solve_nusvc(gram, np.array([-1.0] * 7 + [1.0]), nu=0.5)
    ... except InfeasibleNu as error:
    ...     print(type(error).__name__)
    ...
    InfeasibleNu
    """


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
        ``f(x_i)`` at every row, also at those left out.
    objective : float
        ``1/2 alpha'Q alpha - sum(alpha)`` (LIBSVM's sign).
    kkt_gap : float
        ``M+ - M-`` at the end; 0 where no pair violates.
    n_iter : int
        SMO steps and moves of the active-set method.
    columns_requested, kernel_values : int
        Gram columns asked for, and kernel values computed, by this fit.
    converged : bool
        Whether ``kkt_gap`` came down to ``tol``, and rounding leaves no doubt that it did: at most another
        ``tol``, or 1e-6. If not, steps ran out, or no step led any further.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_csvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_csvc(gram, y, C=1)
    >>> solution.n_sv, solution.n_inbound
    (6, 2)
    >>> solution.decision.round(2)
    array([-1.  , -1.05, -0.77, -0.27,  0.27,  0.77,  1.05,  1.  ])
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


def check_labels(gram, y):
    """Labels as float64 of shape (m,), or a ValueError."""
    if not hasattr(gram, "kernel_values"):
        raise ValueError(f"gram must be a Gram, made of rows and a kernel, got {type(gram).__name__}")
    y = np.asarray(y)
    if y.shape != (gram.m,):
        raise ValueError(f"y must have shape ({gram.m},) to match the Gram matrix, got {y.shape}")
    if not np.all((y == 1) | (y == -1)):
        raise ValueError(f"y must hold the labels -1 and +1 only, got {np.unique(y)[:5].tolist()}")
    return np.ascontiguousarray(y, dtype=np.float64)


def as_numbers(values, name):
    """A copy as float64, or a ValueError; text is no number."""
    array = np.asarray(values)
    try:
        if array.dtype.kind in "USc" or (array.shape == () and array.dtype == object):
            raise TypeError
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {values!r}") from None


def largest_C(gram):
    """Return the bound of alpha that stands for every larger one; squares of larger alphas overflow."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.float64(LARGEST_BOUND) / (gram.m * max(float(gram.diagonal.max()), 0.0))


def check_bounds(gram, y, C):
    """Return upper bounds of alpha as float64 of shape (m,), at most `largest_C`, or raise a ValueError.

    Both classes must have a point with C > 0.
    """
    return np.minimum(_check_weights(gram, y, C, "C"), largest_C(gram))


def _check_weights(gram, y, C, name):
    """Return a number for each point as float64 of shape (m,), or raise a ValueError."""
    if isinstance(C, numbers.Real):
        if not (np.isfinite(C) and C > 0):
            raise ValueError(f"{name} must be a positive finite number, got {C!r}")
        C = np.full(gram.m, float(C))
    C = as_numbers(C, name)
    if C.shape != (gram.m,):
        raise ValueError(f"{name} must be a number or have shape ({gram.m},), got shape {C.shape}")
    bad = np.flatnonzero(~(np.isfinite(C) & (C >= 0)))
    if bad.size:
        raise ValueError(
            f"{name} must be finite and not negative at every point, got {C[bad[0]]} at point {bad[0]}"
        )
    if not (C[y > 0] > 0).any() or not (C[y < 0] > 0).any():
        raise ValueError(f"y must hold both classes among the points with {name} > 0")
    return C


def check_options(tol, working_set, max_iter, m):
    """The step limit of a problem of m rows as an int, or a ValueError for any of the first three."""
    if not (isinstance(tol, numbers.Real) and np.isfinite(tol) and tol > 0):
        raise ValueError(f"tol must be a positive finite number, got {tol!r}")
    if not (isinstance(working_set, str) and working_set in RULES):
        raise ValueError(f"working_set must be one of {sorted(RULES)}, got {working_set!r}")
    if max_iter is None:
        return max(MOST_STEPS, MOST_STEPS_PER_ROW * m)
    if not (isinstance(max_iter, numbers.Integral) and max_iter >= 0):
        raise ValueError(f"max_iter must be None or an integer >= 0, got {max_iter!r}")
    return int(max_iter)


def check_start(start, y, C):
    """A feasible start as signed variables of shape (m,), or a ValueError."""
    start = as_numbers(start, "start")
    if start.shape != y.shape:
        raise ValueError(f"start must have shape {y.shape}, got {start.shape}")
    outside = np.flatnonzero(~((start >= 0) & (start <= C)))
    if outside.size:
        i = outside[0]
        raise ValueError(f"start must lie in [0, C], got {start[i]} at point {i} where C is {C[i]}")
    balance = float(start @ y)
    if abs(balance) > 1e-9 * max(float(start.sum()), C.max()):
        raise ValueError(f"start must satisfy sum(y * alpha) = 0, got {balance:.3g}")
    return start * y


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
        set, and its decision value is that of a held-out point.
    tol : float
        Stop when ``M+ - M- <= tol``, where ``M+ = max over up of -y_i G_i`` and ``M- = min over low of -y_i
        G_i`` (LIBSVM's stopping rule). Franc et al. (2008), eq. 8, quote half of it.
    working_set : {"wss2", "mvp"}, optional
        "wss2": second-order rule of Fan, Chen and Lin (2005), LIBSVM's; "mvp": maximal violating pair of
        Keerthi et al. (2001), the "improved SMO" of Franc et al. Either is SMO with steps over all rows and
        stored columns. By default the library chooses: "wss2", or blocks of rows where the problem is large
        (see Notes).
    active_set : bool
        Whether an active-set method takes over where SMO creeps: linear kernels with a large C, RBF kernels
        with a tiny gamma. False is SMO alone, over all rows, whose steps compare with those of other SMO
        solvers.
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
        On Ctrl-C, which the loop looks for several times a second.

    Notes
    -----
    *Blocks.* A problem of 10,000 rows or more, of whose Gram matrix no columns are stored yet, is solved by
    blocks of some 1,000 rows, unless `working_set` names a rule or `active_set` is False. Only a block's part
    of the matrix is stored, however large the matrix' budget is, and other kernel values are used once; where
    rows have 250 values or more, columns of those that move are kept during the fit, in 256 MB or a quarter
    of the budget. One fit is faster so. For many fits on one matrix that fits its budget, call
    ``gram.compute()`` before: they find its columns, and need no kernel values of their own. Steps of blocks
    count as iterations; columns requested are those that steps ask for, of the block's length, and one for
    each row that a round or a fresh gradient takes into account.

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
    if working_set is None and active_set and gram.m >= BLOCKED_ROWS and not gram.has_columns:
        return _fitted(BlockedDual(gram, y), y, C, theta, rule, tol, max_iter, Dual.solve)
    solve = _active_set.solve if active_set else Dual.solve
    return _fitted(Dual(gram, y), y, C, theta, rule, tol, max_iter, solve)


@one_blas_thread()
def solve_blocked(gram, y, C, size, tol=1e-3, start=None, max_iter=None):
    """`solve_csvc` by blocks of `size` rows, however small the problem is."""
    if size < 2:
        raise ValueError(f"size must be at least 2, got {size}")
    y = check_labels(gram, y)
    C = check_bounds(gram, y, C)
    max_iter = check_options(tol, "wss2", max_iter, gram.m)
    theta = None if start is None else check_start(start, y, C)
    dual = BlockedDual(gram, y)
    dual.size = size
    return _fitted(dual, y, C, theta, "wss2", tol, max_iter, Dual.solve)


def _fitted(dual, y, C, theta, rule, tol, max_iter, solve):
    """The Solution that a Dual comes to from the signed variables `theta`, or from 0."""
    columns, values = dual.gram.thread_counts
    dual.boxes(y, C)
    if theta is not None:
        dual.seed(theta)
    converged = solve(dual, rule, tol, max_iter)
    return solution_of(dual, dual.gram, y, C, converged, columns, values)


def solution_of(dual, gram, y, C, converged, columns, values):
    """The Solution in a Dual; `columns` and `values` are the thread's Gram counters before the fit."""
    columns_now, values_now = gram.thread_counts
    theta, f, b, _, gap, n_iter = dual.state()
    p = dual.linear_term()
    return Solution(
        alpha=frozen(theta * y),
        C=frozen(C),
        b=b,
        decision=frozen(f + p + b),
        # theta sums to 0, so b may be added to f: what it takes out of f would only lose digits
        objective=0.5 * float(theta @ (f + b - p)),
        kkt_gap=gap,
        n_iter=n_iter,
        columns_requested=columns_now - columns,
        kernel_values=values_now - values,
        converged=converged,
    )


def _check_nu(gram, y, nu, weight):
    """Upper bounds of the nu-SVC's alphas and the sum that each class has to reach, or a ValueError."""
    if not (isinstance(nu, numbers.Real) and 0 < nu <= 1):
        raise ValueError(f"nu must be a number in (0, 1], got {nu!r}")
    weight = _check_weights(gram, y, np.ones(gram.m) if weight is None else weight, "weight")
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
    """Train a nu-SVC (Schoelkopf et al. 2000; Chang and Lin 2001): minimise ``1/2 a'Q a``, ``0 <= a_i <=
    w_i``, ``y'a = 0``, ``sum(a) = nu sum(w)``.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows.
    y : array_like, shape (m,)
        Labels, -1 and +1.
    nu : float
        In (0, 1]: a lower bound on the share of support vectors, an upper bound on the share of margin
        errors. At most ``2 min(sum of w over one class) / sum(w)``.
    weight : array_like, shape (m,), optional
        ``w``; 1 for every point by default. A point with weight 0 is left out of the training set, and its
        decision value is that of a held-out point.
    tol : float
        Stop when in both classes ``M+ - M- <= tol max_i k(x_i, x_i)``; on the scale of ``a``, as in LIBSVM,
        whose rule this is for an RBF kernel.
    working_set : {"wss2", "mvp"}
        See `solve_csvc`; the pair lies in the class that violates more.
    max_iter : int, optional
        The largest number of SMO steps; by default a hundred thousand per row, and at least a million.

    Returns
    -------
    Solution
        That of the C-SVC with ``C = w / rho``, which has the same classifier (Chang and Lin 2001, Theorem 4):
        ``alpha = a / rho``, and threshold, decision values and objective on that scale. The KKT gap is that
        of the C-SVC, and `converged` says whether both classes came to the tolerance.

    Raises
    ------
    InfeasibleNu
        A ValueError, for a nu that is too large for the classes or leaves no margin (rho is within the
        tolerance: the classes' convex hulls, reduced by nu, meet).
    ValueError
        For labels other than -1 and +1, one class only, a bad weight, tol or working set, shapes that differ,
        or kernel values whose sums overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, solve_nusvc
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> solution = solve_nusvc(gram, y, nu=0.5)
    >>> solution.n_sv
    6
    """
    y = check_labels(gram, y)
    weight, total = _check_nu(gram, y, nu, weight)
    largest = float(gram.diagonal.max())
    if not largest * weight.sum() < LARGEST_SUM:
        raise ValueError(
            f"X is too large for a nu-SVC: sums of kernel values up to {largest:.3g} overflow float64"
        )
    max_iter = check_options(tol, working_set, max_iter, gram.m)
    columns, values = gram.thread_counts
    dual = NuDual(gram, y)
    dual.boxes(y, weight)
    dual.seed(sum(_filled(np.where(y == label, weight, 0), total) * label for label in (-1, 1)))
    dual.totals = [(np.flatnonzero(y == label), total * label) for label in (-1, 1)]
    # f at the start is made of kernel values, also of an indefinite kernel
    scale = largest if largest > 0 else float(np.abs(dual.state()[1]).max()) / (2 * total) or 1.0
    converged = dual.solve(working_set, tol * scale, max_iter)
    rho = dual.margin()
    if rho <= tol * scale:
        raise InfeasibleNu(
            f"nu must leave a margin above tol = {tol} of the largest kernel value between the classes, "
            f"got {nu} with rho = {rho / scale:.3g} of it{_smaller_tol(dual, working_set, tol, scale)}"
        )
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
    """Return the end of a refusal, which names a smaller tol with which nu leaves a margin; else ""."""
    for share in CLOSER:
        smaller = share * tol
        converged = dual.solve(working_set, smaller * scale, STEPS_CLOSER)
        # the margin at another solution with this gap differs by at most the gap
        if converged and dual.margin() > 3 * smaller * scale:
            return f"; tol = {smaller:g} would do"
    return ""


def _gap_of(alpha, C, y, decision):
    """``M+ - M-`` of a C-SVC, 0 where no pair violates, from its variables and decision values."""
    f, lower, upper = decision - y, alpha > 0, alpha < C
    up, low = np.where(y > 0, upper, lower), np.where(y > 0, lower, upper)
    return max(float(f[low].max(initial=-np.inf) - f[up].min(initial=np.inf)), 0.0)


def _filled(bound, total):
    """Shares of a total, each up to its bound, the first points first."""
    return np.clip(total - (np.cumsum(bound) - bound), 0, bound)


def frozen(array):
    """The array, read-only."""
    array.flags.writeable = False
    return array


def check_solution(gram, y, solution):
    """Labels as float64 of shape (m,), or a ValueError for these or for the solution of another problem."""
    y = check_labels(gram, y)
    if not isinstance(solution, Solution):
        raise ValueError(f"solution must be a Solution, got {type(solution).__name__}")
    if solution.alpha.size != gram.m:
        raise ValueError(
            f"solution must be of the {gram.m} rows of the Gram matrix, got one of {solution.alpha.size} rows"
        )
    return y


def misclassified(y, decision):
    """Whether a decision value has the wrong sign; 0 counts as class +1 (Franc et al. 2008, eq. 2)."""
    return (decision >= 0) != (y > 0)


class WeightedErrors:
    """Errors of points, which may weigh differently.

    A subclass has ``_judged()``: the points in error, bool of shape (..., m), and how often each point
    counts, shape (m,): 0 for those that were not judged; or None where all count once.
    """

    def weighted_error(self, weight):
        """The weight of the points in error over that of all points that were judged.

        Parameters
        ----------
        weight : array_like, shape (m,)
            Finite, not negative, not all 0: for example 1 over the size of the point's class.

        Returns
        -------
        float or ndarray, shape (n_gammas, n_Cs)
            In [0, 1]; of a grid that of each model.

        Raises
        ------
        ValueError
            For other weights, or a grid without decision values.
        """
        wrong, judged = self._judged()
        share = weighted_share(wrong, weight, judged)
        return float(share) if wrong.ndim == 1 else share


def weighted_share(wrong, weight, counted=None):
    """The weight of the points that are wrong over that of all, each as often as it is counted.

    Parameters
    ----------
    wrong : ndarray of bool, shape (..., m)
    weight : array_like, shape (m,)
    counted : ndarray of bool or float, shape (m,), optional

    Returns
    -------
    ndarray, shape (...)

    Raises
    ------
    ValueError
        Unless the weights are finite, not negative, and positive at a point that counts.
    """
    weight, m = as_numbers(weight, "weight"), wrong.shape[-1]
    if weight.shape != (m,):
        raise ValueError(f"weight must have shape ({m},), got {weight.shape}")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(f"weight must be finite and not negative, got {weight[bad[0]]} at point {bad[0]}")
    if counted is not None:
        weight = weight * counted
    if not weight.any():
        raise ValueError("weight must be positive at a point that was left out")
    return wrong @ (weight / weight.sum())


def decision_function(
    gram: Gram, y: ArrayLike, solution: Solution, X: ArrayLike | sparse.sparray
) -> np.ndarray:
    """Decision values ``f(x) = sum_i alpha_i y_i k(x_i, x) + b`` at new rows.

    Parameters
    ----------
    gram : Gram
        The Gram matrix of the training rows.
    y : array_like, shape (m,)
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
    theta = solution.alpha * check_solution(gram, y, solution)
    support = np.flatnonzero(theta)
    return gram.weighted(X, support, theta[support]) + solution.b
