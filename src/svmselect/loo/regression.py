"""Exact leave-one-out of an epsilon-SVR: predictions of every row by the model trained without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

import svmselect.solver._active_set as _active_set
from svmselect.checks import check_float64, check_options, frozen
from svmselect.gram import Gram
from svmselect.loo.groups import bounds_without, identical_rows
from svmselect.solver._smo import Dual
from svmselect.solver._state import midpoint
from svmselect.solver.feasible import SNAP, balanced, snapped
from svmselect.svr import RegressionSolution, check_regression, check_theta, middle_of, regression_of
from svmselect.threads import one_blas_thread
from svmselect.unlearning._paths import Outcome
from svmselect.unlearning.points import GAP
from svmselect.unlearning.regression import unlearn_rows

__all__ = [
    "EXACT",
    "NEARLY_EXACT",
    "FullRegression",
    "LeaveOneOutRegression",
    "ScaledRegression",
    "counter",
    "leave_one_out_svr",
    "solve_to_round_off",
]

METHODS = ("unlearn", "retrain")
# KKT gap to which all fits are solved, relative to the targets' size; they count as converged at GAP
EXACT = 1e-12
# ... after a solution to this gap, which tells how much round-off there is
NEARLY_EXACT = 1e-10


@dataclass(frozen=True)
class LeaveOneOutRegression:
    """The exact leave-one-out of one regression.

    Attributes
    ----------
    predictions : ndarray, shape (m,)
        Prediction of each row by the model trained without it.
    residuals : ndarray, shape (m,)
        ``z - predictions``.
    resolved_by : ndarray of str, shape (m,)
        "inside" (the row is strictly inside the tube, or on its edge with a variable of 0: the model stays),
        "unlearned", or "retrained".
    kkt_gap : ndarray, shape (m,)
        The largest ``M+ - M-`` that the model without the row may have, round-off included, in units of the
        targets.
    n_iter, columns_requested, kernel_values, cpu_s
        See `LeaveOneOut`.
    not_converged : ndarray of intp
        The rows whose models are not known to a KKT gap of 1e-8 of the targets' size: steps ran out, or
        float64 cannot tell more.
    solution : RegressionSolution
        The full solution.
    """

    predictions: np.ndarray
    residuals: np.ndarray
    resolved_by: np.ndarray
    kkt_gap: np.ndarray
    n_iter: int
    columns_requested: int
    kernel_values: int
    cpu_s: float
    not_converged: np.ndarray
    solution: RegressionSolution

    @property
    def mean_absolute_error(self) -> float:
        """Mean of the absolute residuals."""
        return float(np.abs(self.residuals).mean())

    @property
    def mean_squared_error(self) -> float:
        """Mean of the squared residuals."""
        return float((self.residuals**2).mean())

    @property
    def n_not_converged(self) -> int:
        """Rows that are not known to the tolerance, and the full solution if it is not."""
        return self.not_converged.size + (not self.solution.converged)


@dataclass(frozen=True)
class ScaledRegression:
    """A regression in units in which the targets lie between -1 and 1, so that tolerances suit it.

    The former targets are ``middle + unit z``. The unit is a power of 2, so that scaling rounds nothing.
    """

    z: np.ndarray
    C: np.ndarray
    epsilon: float
    middle: float
    unit: float

    @classmethod
    def scaling(cls, z, C, epsilon):
        """Return the scaled regression of targets, bounds and epsilon."""
        middle = middle_of(z, C)
        size = np.abs(z[C > 0] - middle).max()
        unit = float(np.ldexp(1.0, np.frexp(size)[1])) if size > 0 else 1.0
        return cls((z - middle) / unit, C / unit, epsilon / unit, middle, unit)

    def restored(self, solution, C, epsilon):
        """Return the solution of the scaled regression as that of the former one."""
        middle, unit = self.middle, self.unit
        return replace(
            solution,
            theta=frozen(np.clip(solution.theta * unit, -C, C)),
            C=frozen(C),
            epsilon=epsilon,
            b=middle + unit * solution.b,
            prediction=frozen(middle + unit * solution.prediction),
            objective=solution.objective * unit**2,
            kkt_gap=solution.kkt_gap * unit,
        )


@one_blas_thread()
def leave_one_out_svr(
    gram: Gram,
    z: ArrayLike,
    C: ArrayLike,
    epsilon: float = 0.1,
    method: str = "unlearn",
    start: ArrayLike | None = None,
    max_iter: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    models: tuple[np.ndarray, np.ndarray] | None = None,
) -> LeaveOneOutRegression:
    """Compute the prediction of every row by the epsilon-SVR trained without it, exactly.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows, float64.
    z : array_like, shape (m,)
        Targets.
    C : float or array_like, shape (m,)
        Upper bound of every ``|theta_i|``, or one per row. A row with ``C_i = 0`` is in no training set. At
        least two rows need a positive bound.
    epsilon : float
        See `solve_svr`.
    method : {"unlearn", "retrain"}
        "unlearn": the variable of each row goes to 0 along the path of optimal solutions of the other rows
        (Ma, Theiler and Perkins 2003), from a solution with a KKT gap of at most 1e-12 of the targets' size,
        or of the round-off in the gradient. The end of each path is checked; see Notes. "retrain": training
        without each support vector, for comparisons.
    start : array_like, shape (m,), optional
        Feasible variables to start the full solution from; zeros by default.
    max_iter : int, optional
        The largest number of steps per solve; see `solve_csvc`.
    progress : callable, optional
        Called as ``progress(done, total)`` as support vectors are left out.
    models : (ndarray of shape (m, m), ndarray of shape (m,)), optional
        Filled with the variables and the threshold of the model without each row.

    Returns
    -------
    LeaveOneOutRegression

    Raises
    ------
    ValueError
        For a bad argument, values in float32, or a kernel that is not positive semi-definite.

    Notes
    -----
    A row with a variable of 0 does not change the model, unless no in-bound row fixes the threshold: then the
    threshold is the middle of the interval that the other rows leave. Identical rows with one target are one
    row whose bound is the sum of theirs. The gradient at the end of a path is compared with the Gram matrix,
    as `leave_one_out` does, and the KKT gap may be 1e-11 of the targets' size, or as much as ten times the
    gap of the solution of all rows, or as the round-off of 200 steps, up to 1e-8. Rows that fail are trained
    without in the same way as all rows are; if float64 cannot tell a gap of 1e-8, `not_converged` names them.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, leave_one_out_svr
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> loo = leave_one_out_svr(Gram(X, RBF(0.5)), np.sin(X[:, 0]), C=10, epsilon=0.1)
    >>> loo.predictions.round(2)
    array([ 0.39,  0.51,  0.66,  0.12, -0.48, -0.67, -0.11, -0.05])
    """
    # 1) arguments
    z, C, epsilon = check_regression(gram, z, C, epsilon)
    check_float64(gram)
    gram.check_definite()
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}")
    max_iter = check_options(EXACT, "wss2", max_iter, gram.m)
    trained = np.flatnonzero(C > 0)
    if trained.size < 2:
        raise ValueError(f"C must be positive at two rows, got n_samples = {trained.size} with C > 0")
    # 2) the solution of all rows, in which identical ones are one row
    counts = gram.thread_counts
    gram.compute()
    begin = time.process_time()
    start = None if start is None else check_theta(start, C)
    scaled = ScaledRegression.scaling(z, C, epsilon)
    full = FullRegression(gram, scaled, trained, start, max_iter)
    solution = full.solution(counts)
    # 3) rows whose model stays
    predictions = solution.prediction.copy()
    resolved_by = np.full(gram.m, "inside", dtype="<U9")
    kkt_gap = np.full(gram.m, max(full.dual.gap_now(), 0) + max(full.dual.rounding(), 0))
    shifts = np.zeros(trained.size) if full.fixes_threshold() else full.shifts_of_middle()
    predictions[trained] += shifts
    # variables of the groups and thresholds, without each row
    left = None if models is None else (np.tile(full.theta, (trained.size, 1)), solution.b + shifts)
    # 4) support vectors, by paths, and by training without them
    places = np.flatnonzero(full.moves())
    report = counter(progress, places.size)
    undecided, failed = places, np.arange(0 if solution.converged else gram.m)
    if method == "unlearn" and solution.converged and places.size:
        ends = None if left is None else (np.empty((places.size, full.theta.size)), np.empty(places.size))
        values, outcome, gaps = unlearn_rows(
            full.dual, scaled.epsilon, full.group[places], full.bound_left[places], report, ends
        )
        reached = outcome == Outcome.REACHED
        unlearned, undecided = places[reached], places[~reached]
        predictions[trained[unlearned]], kkt_gap[trained[unlearned]] = values[reached], gaps[reached]
        resolved_by[trained[unlearned]] = "unlearned"
        if left is not None and ends is not None:
            left[0][unlearned], left[1][unlearned] = ends[0][reached], ends[1][reached]
    values, gaps, converged, n_iter = full.train_without(undecided, max_iter, report, left)
    retrained = trained[undecided]
    predictions[retrained], kkt_gap[retrained], resolved_by[retrained] = values, gaps, "retrained"
    failed = np.union1d(np.setdiff1d(failed, trained[places]), retrained[~converged])
    # 5) results in the units of the targets
    predictions = scaled.middle + scaled.unit * predictions
    if models is not None:
        full.restore_models(models, solution, left)
    columns, values_now = gram.thread_counts
    return LeaveOneOutRegression(
        predictions=frozen(predictions),
        residuals=frozen(z - predictions),
        resolved_by=resolved_by,
        kkt_gap=frozen(kkt_gap * scaled.unit),
        n_iter=solution.n_iter + n_iter,
        columns_requested=columns - counts[0],
        kernel_values=values_now - counts[1],
        cpu_s=time.process_time() - begin,
        not_converged=frozen(failed),
        solution=scaled.restored(solution, C, epsilon),
    )


class FullRegression:
    """The scaled regression of all rows, in which each group of identical rows is one row.

    `first` has a row of each group, and `group` the group of each row that is `trained` on. `dual`, `bound`
    and `theta` are those of the groups, and `bound_left` is the bound that a row's group has without it. The
    regression is solved from `start`, in the units of the targets, or from 0.
    """

    def __init__(self, gram, scaled, trained, start, max_iter):
        self.gram, self.scaled, self.trained = gram, scaled, trained
        self.first, self.group = identical_rows(gram, scaled.z, trained)
        C = scaled.C[trained]
        self.bound, self.bound_left = np.bincount(self.group, C), bounds_without(C, self.group)
        part = gram if self.first.size == gram.m else gram.restricted(self.first, keep=True).compute()
        self.dual = Dual(part, scaled.z[self.first])
        theta = None
        if start is not None:
            theta = snapped(np.bincount(self.group, start[trained]) / scaled.unit, -self.bound, self.bound)
        self.dual.regress(self.bound, scaled.epsilon, theta)
        solve_to_round_off(self.dual, max_iter)
        self.theta = self.dual.state()[0]

    def solution(self, counts):
        """Return the RegressionSolution of all rows, in the units of the scaled regression."""
        scaled, gram, group = self.scaled, self.gram, self.group
        converged = self.dual.reached(GAP)
        solution = regression_of(self.dual, gram, self.bound, scaled.epsilon, 0.0, converged, counts)
        prediction = np.empty(gram.m)
        prediction[self.trained] = solution.prediction[group]
        rest = np.flatnonzero(scaled.C == 0)
        support = np.flatnonzero(self.theta)
        prediction[rest] = gram.product(self.first[support], self.theta[support], rest) + solution.b
        # variables of a group are in proportion to their bounds
        theta, C, bound = np.zeros(gram.m), scaled.C[self.trained], self.bound[group]
        size = np.abs(self.theta)[group]
        theta[self.trained] = np.sign(self.theta)[group] * np.where(size < bound, size * (C / bound), C)
        return replace(solution, theta=theta, C=scaled.C, prediction=prediction)

    def split_among_rows(self, theta):
        """Return variables of all trained rows, shape (n_trained, n_trained), without each of them in turn.

        `theta`, shape (n_trained, n_groups), are those of the groups, in which rows of a group share the
        variable in proportion to their bounds.
        """
        if self.first.size == self.trained.size:
            return theta
        C = self.scaled.C[self.trained]
        rows = theta[:, self.group] * (C / self.bound[self.group])
        for k in np.flatnonzero(self.bound_left > 0):
            members = np.flatnonzero(self.group == self.group[k])
            rows[k, members] = theta[k, self.group[k]] * C[members] / self.bound_left[k]
            rows[k, k] = 0
        return rows

    def restore_models(self, models, solution, left):
        """Fill in variables and thresholds of all rows, in units of the targets, from those of the groups.

        `left` are those without each trained row, and `solution` is that of all rows, for rows of weight 0.
        """
        (theta, b), scaled, trained = models, self.scaled, self.trained
        theta[:], b[:] = scaled.unit * solution.theta, scaled.middle + scaled.unit * solution.b
        theta[np.ix_(trained, trained)] = scaled.unit * self.split_among_rows(left[0])
        b[trained] = scaled.middle + scaled.unit * left[1]

    def fixes_threshold(self):
        """Return whether an in-bound row fixes the threshold, which is an interval otherwise."""
        size = np.abs(self.theta)
        return bool(((size > 0) & (size < self.bound)).any())

    def moves(self):
        """Return whether the model changes where each trained row is left out, shape (n_trained,).

        A group of identical rows that comes to its bound without a row no longer fixes b.
        """
        theta = np.abs(self.theta)[self.group]
        return (theta > 0) & (theta >= (1 - SNAP) * self.bound_left)

    def shifts_of_middle(self):
        """Return by how much b changes where each row is left out, shape (n_trained,).

        It changes at rows with variables of 0 at an end of the interval, if no in-bound row fixes b.
        """
        theta, f, lo, hi = self.dual.arrays()
        tube = 2 * self.scaled.epsilon
        positive = f + np.where(hi > 0, 0, tube)
        C = np.maximum(hi, -lo)
        up = np.where(theta < C, np.where(theta < 0, positive - tube, positive), np.inf)
        low = np.where(theta > -C, np.where(theta > 0, positive, positive - tube), -np.inf)
        single = self.bound_left == 0
        middle = -self.dual.state()[2]
        shifts = np.zeros(self.trained.size)
        ends = (up == up.min()) | (low == low.max())
        for k in np.flatnonzero(single & (ends & (theta == 0))[self.group]):
            rest = np.arange(theta.size) != self.group[k]
            shifts[k] = middle - midpoint(up[rest].min(), low[rest].max())
        return shifts

    def train_without(self, places, max_iter, report, models):
        """Train without each of some trained rows, from the full solution; fill in `models` if there are any.

        Returns predictions, KKT gaps, whether each fit has converged, and the number of steps.
        """
        prediction, gap = np.empty((2, places.size))
        converged, n_iter = np.zeros(places.size, dtype=bool), 0
        z, epsilon, known = self.scaled.z[self.first], self.scaled.epsilon, self.dual.known_product()
        dual = Dual(self.dual.gram, z)
        for k, place in enumerate(places):
            r = self.group[place]
            C = self.bound.copy()
            C[r] = self.bound_left[place]
            inbound = np.flatnonzero((np.abs(self.theta) < C) & (self.theta != 0))
            before = dual.state()[-1]
            theta = balanced(self.theta, -C, C, inbound)
            for start in (theta, None):
                # the full solution may be so large that its round-off hides the one without the row
                dual.regress(C, epsilon, start, None if start is None else known)
                solve_to_round_off(dual, max_iter)
                converged[k] = dual.reached(GAP)
                if converged[k]:
                    break
            theta, f, b, _, gap[k], after = dual.state()
            if models is not None:
                models[0][place], models[1][place] = theta, b
            prediction[k] = f[r] + dual.linear_term()[r] + b
            gap[k] += max(dual.rounding(), 0)
            n_iter += after - before
            report(1)
        return prediction, gap, converged, n_iter


def solve_to_round_off(dual, max_iter):
    """Solve a dual problem to a KKT gap of `EXACT`, or of the round-off in its gradient if that is more.

    Below round-off, steps go to and fro without an end.
    """
    _active_set.solve(dual, "wss2", NEARLY_EXACT, max_iter)
    aim = max(EXACT, dual.rounding())
    if aim < dual.gap_now() <= NEARLY_EXACT:
        _active_set.solve(dual, "wss2", aim, max_iter)


def counter(progress, total):
    """Return a callable that is told of n more rows done, and calls ``progress(done, total)``."""
    done = 0

    def report(n):
        nonlocal done
        done += int(n)
        if progress is not None and n:
            progress(done, total)

    return report
