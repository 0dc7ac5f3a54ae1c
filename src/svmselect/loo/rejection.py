"""Exact leave-one-out of a one-class model: the decision value of every row by the model of the others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import svmselect.solver._active_set as _active_set
from svmselect.checks import check_float64, check_options, frozen
from svmselect.errors import zero_within
from svmselect.gram import Gram
from svmselect.loo.groups import bounds_without, identical_rows
from svmselect.loo.regression import EXACT, counter, solve_to_round_off
from svmselect.one_class import check_nu
from svmselect.solver._smo import Dual
from svmselect.solver._state import midpoint
from svmselect.solver.feasible import SNAP, balanced, filled
from svmselect.svm import Solution
from svmselect.threads import one_blas_thread
from svmselect.unlearning._paths import Outcome
from svmselect.unlearning.points import GAP, TOLD, PointStart
from svmselect.unlearning.regression import largest_gap
from svmselect.unlearning.tableau import Tableau

__all__ = ["LeaveOneOutOneClass", "leave_one_out_one_class"]

# The unit of the decision values is at least this share of what all variables on one row would give.
LEAST_UNIT = 1e-4
# Values up to this size, in this unit, count as 0: as much as paths allow to the gradient.
ZERO = 1e-10


@dataclass(frozen=True)
class LeaveOneOutOneClass:
    """The exact leave-one-out of a one-class model.

    Attributes
    ----------
    decision : ndarray, shape (m,)
        Decision value of each row by the model trained without it: exactly 0 where it may be 0, as it is
        where a copy of the row is an in-bound support vector. 0 is accepted.
    resolved_by : ndarray of str, shape (m,)
        "inside": the model of the reduced total has no use for the row. "unlearned": the end of its path.
        "retrained": by training without it.
    kkt_gap : ndarray, shape (m,)
        The largest KKT gap that each row's model may have, round-off included.
    n_iter, columns_requested, kernel_values, cpu_s
        See `LeaveOneOut`.
    not_converged : ndarray of intp
        Rows whose models are not known to a KKT gap of 1e-8 of the decision values' size.
    solution : Solution
        The model of all rows.
    """

    decision: np.ndarray
    resolved_by: np.ndarray
    kkt_gap: np.ndarray
    n_iter: int
    columns_requested: int
    kernel_values: int
    cpu_s: float
    not_converged: np.ndarray
    solution: Solution

    @property
    def rejection_rate(self) -> float:
        """Share of the training rows, by weight, that the model of the others rejects."""
        weight = self.solution.C
        return float(weight @ (self.decision < 0) / weight.sum())


@one_blas_thread()
def leave_one_out_one_class(
    gram: Gram,
    nu: float = 0.5,
    weight: ArrayLike | None = None,
    max_iter: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> LeaveOneOutOneClass:
    """Compute the decision value of every row by the one-class model trained without it, exactly.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows, float64.
    nu, weight
        See `solve_one_class`. At least two rows need a positive weight. A row of weight 0 is in no training
        set: its decision value is that of the model of all rows.
    max_iter : int, optional
        The largest number of steps per solve; see `solve_csvc`.
    progress : callable, optional
        Called as ``progress(done, total)`` as support vectors are left out.

    Returns
    -------
    LeaveOneOutOneClass

    Raises
    ------
    ValueError
        For a bad argument, values in float32, or a kernel that is not positive semi-definite.

    Notes
    -----
    Without a row of weight w the variables sum to ``nu (W - w)``, where W is the sum of all weights. So all
    rows of one weight start at one solution: that of all rows with the reduced sum. A row with a variable of
    0 there is not in the model of the others either. Another one leaves along the path on which the others
    take over its variable, as in `leave_one_out`. Each different weight costs one more fit.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, leave_one_out_one_class
    >>> X = np.append(np.arange(8.0), 20.0).reshape(-1, 1)
    >>> loo = leave_one_out_one_class(Gram(X, RBF(0.1)), nu=0.2)
    >>> loo.decision.round(2).tolist()
    [-0.09, 0.03, 0.02, -0.01, -0.01, 0.02, 0.03, -0.09, -0.73]
    """
    # 1) arguments
    nu, weight = check_nu(gram, nu, weight)
    check_float64(gram)
    gram.check_definite()
    max_iter = check_options(EXACT, "wss2", max_iter, gram.m)
    trained = np.flatnonzero(weight > 0)
    if trained.size < 2:
        raise ValueError(
            f"weight must be positive at two rows, got n_samples = {trained.size} with weight > 0"
        )
    # 2) the model of all rows, in which identical ones are one row
    counts = gram.thread_counts
    gram.compute()
    begin = time.process_time()
    full = _FullOneClass(gram, nu, weight, trained, max_iter)
    solution, converged = full.solution(gram, weight, counts)
    decision = solution.decision.copy()
    kkt_gap = np.full(gram.m, full.certainty())
    failed = np.zeros(gram.m, dtype=bool) if converged else weight == 0
    resolved_by = np.full(gram.m, "inside", dtype="<U9")
    # 3) the rows of each weight, from the model of all rows with the reduced sum
    report, n_iter = counter(progress, trained.size), solution.n_iter
    for value in np.unique(weight[trained])[::-1]:
        places = np.flatnonzero(weight[trained] == value)
        full.reduce(value, max_iter)
        n_iter += full.n_iter
        rows = trained[places]
        kkt_gap[rows], failed[rows] = full.certainty(), not full.reached()
        decision[rows] = full.unit * full.decision_without(places)
        # 4) support vectors, by paths, and by training without them
        moving = full.moves(places)
        report(np.count_nonzero(~moving))
        rows, places = rows[moving], places[moving]
        if rows.size == 0:
            continue
        values, reached, gaps = full.unlearn(places, report)
        resolved_by[rows] = np.where(reached, "unlearned", "retrained")
        failed[rows] = False
        for k in np.flatnonzero(~reached):
            values[k], gaps[k], failed[rows[k]], steps = full.train_without(places[k], max_iter)
            n_iter += steps
            report(1)
        decision[rows], kkt_gap[rows] = full.unit * values, full.unit * gaps
    decision = zero_within(decision, np.maximum(kkt_gap, ZERO * full.unit))
    columns, values_now = gram.thread_counts
    return LeaveOneOutOneClass(
        decision=frozen(decision),
        resolved_by=resolved_by,
        kkt_gap=frozen(kkt_gap),
        n_iter=n_iter,
        columns_requested=columns - counts[0],
        kernel_values=values_now - counts[1],
        cpu_s=time.process_time() - begin,
        not_converged=frozen(np.flatnonzero(failed)),
        solution=solution,
    )


class _PathsOfOneClass(PointStart):
    """The model of all rows with the reduced sum, at which paths start."""

    def __init__(self, full, tableau, theta, g, hi):
        zero, one = np.zeros(theta.size), np.ones(theta.size)
        super().__init__(tableau, one, theta, g, zero, hi, max(full.gap_now(), 0.0), 1.0, zero)
        self.largest_gap = largest_gap(full)


class _FullOneClass:
    """The one-class model of all rows, in which each group of identical rows is one row.

    Variables are in units in which decision values are about 1 in size, so that tolerances suit them. The
    `unit` is a power of 2, so that scaling rounds nothing. `dual`, `bound` and `theta` are those of the
    groups, `group` is the group of each row that is trained on, and `bound_left` the bound that this group
    has without the row.
    """

    def __init__(self, gram, nu, weight, trained, max_iter):
        self.first, self.group = identical_rows(gram, np.zeros(gram.m), trained)
        self.trained, self.nu = trained, nu
        self.bound = np.bincount(self.group, weight[trained])
        self.bound_left = bounds_without(weight[trained], self.group)
        part = gram if self.first.size == gram.m else gram.restricted(self.first, keep=True).compute()
        self.dual, self.zero = Dual(part, np.zeros(self.first.size)), np.zeros(self.first.size)
        # 1) a rough solution, for the unit of its decision values
        largest = float(part.diagonal.max())
        total = nu * self.bound.sum()
        self.dual.confine(self.zero, self.bound, filled(self.bound, total))
        _active_set.solve(self.dual, "wss2", 1e-3 * max(largest * self.bound.max(), 1e-300), max_iter)
        theta, f = self.dual.state()[:2]
        size = max(float(np.abs(f).max()), LEAST_UNIT * total * largest)
        self.unit = float(np.ldexp(1.0, np.frexp(size)[1])) if size > 0 else 1.0
        # 2) the solution to round-off
        self.bound, self.bound_left = self.bound / self.unit, self.bound_left / self.unit
        self.sum, self.n_iter = total / self.unit, 0
        self.solve(theta / self.unit, max_iter)

    def solve(self, theta, max_iter):
        """Solve from variables whose sum is to stay."""
        before = self.dual.state()[-1]
        self.dual.confine(self.zero, self.bound, theta)
        solve_to_round_off(self.dual, max_iter)
        self.theta, self.f, self.b, *_, after = self.dual.state()
        self.n_iter = after - before

    def reached(self, dual=None):
        """Return whether a dual problem is solved to `GAP`, with little round-off."""
        dual = self.dual if dual is None else dual
        return max(dual.gap_now(), 0) <= GAP and max(dual.rounding(), 0) <= TOLD

    def certainty(self):
        """Return the largest KKT gap that the solution may have, in the units of the decision values."""
        return self.unit * (max(self.dual.gap_now(), 0) + max(self.dual.rounding(), 0))

    def solution(self, gram, weight, counts):
        """Return the Solution of all rows, and whether it is solved."""
        alpha, decision = np.zeros(gram.m), np.empty(gram.m)
        share = weight[self.trained] / (self.bound * self.unit)[self.group]
        alpha[self.trained] = np.minimum(self.unit * self.theta[self.group] * share, weight[self.trained])
        decision[self.trained] = self.unit * (self.f + self.b)[self.group]
        rest, support = np.flatnonzero(weight == 0), np.flatnonzero(self.theta)
        decision[rest] = self.unit * (gram.product(self.first[support], self.theta[support], rest) + self.b)
        decision = zero_within(decision, max(self.certainty(), ZERO * self.unit))
        columns, values = gram.thread_counts
        result = Solution(
            alpha=frozen(alpha),
            C=frozen(weight),
            b=self.unit * self.b,
            decision=frozen(decision),
            objective=self.unit * (self.unit * self.dual.state()[3]),  # the square of the unit may overflow
            kkt_gap=self.unit * max(self.dual.gap_now(), 0),
            n_iter=self.n_iter,
            columns_requested=columns - counts[0],
            kernel_values=values - counts[1],
            converged=self.reached(),
        )
        return result, result.converged

    def start_of(self, bound, total):
        """Return variables within other bounds with another sum, moved as little as possible."""
        inbound = np.flatnonzero((self.theta > 0) & (self.theta < bound))
        return balanced(self.theta, self.zero, bound, inbound, total)

    def reduce(self, weight, max_iter):
        """Solve for all rows with the sum that is left without a row of this weight."""
        total = self.sum - self.nu * weight / self.unit
        self.solve(self.start_of(self.bound, total), max_iter)
        self.total = total

    def moves(self, places):
        """Return whether the model changes where each of some trained rows is left out."""
        theta = self.theta[self.group[places]]
        return (theta > 0) & (theta >= (1 - SNAP) * self.bound_left[places])

    def decision_without(self, places):
        """Return decision values of trained rows that the model does without.

        Where no in-bound row fixes b, a row at the end of its interval takes that end with it.
        """
        groups = self.group[places]
        values = self.f[groups] + self.b
        if ((self.theta > 0) & (self.theta < self.bound)).any():
            return values
        up, low = np.where(self.theta < self.bound, self.f, np.inf), np.where(self.theta > 0, -self.f, np.inf)
        alone = (self.bound_left[places] == 0) & (self.theta[groups] == 0)
        for k in np.flatnonzero(alone & (self.f[groups] == up.min())):
            rest = np.arange(up.size) != groups[k]
            values[k] = self.f[groups[k]] - midpoint(up[rest].min(), -low[rest].min())
        return values

    def unlearn(self, places, report):
        """Return decision values without each of some rows, by paths; whether they are certified; and gaps.

        Without in-bound rows b is an interval, and S is the row that first takes over; see `unlearn_points`.
        """
        if not self.reached():
            return np.zeros(places.size), np.zeros(places.size, dtype=bool), np.zeros(places.size)
        inbound, b = np.flatnonzero((self.theta > 0) & (self.theta < self.bound)), self.b
        if inbound.size == 0:
            can_take_over = np.flatnonzero(self.theta < self.bound)
            inbound = can_take_over[[np.argmin(self.f[can_take_over])]]
            b = -self.f[inbound[0]]
        tableau = Tableau(self.dual.gram, inbound)
        start = _PathsOfOneClass(self.dual, tableau, self.theta, self.f + b, self.bound)
        values, outcome, gaps = start.decide(self.group[places], self.bound_left[places], report, False)
        return values, outcome == Outcome.REACHED, gaps

    def train_without(self, place, max_iter):
        """Return the decision value of a row by training without it, its gap, failure, and the steps."""
        r, bound = self.group[place], self.bound.copy()
        bound[r] = self.bound_left[place]
        dual = Dual(self.dual.gram, self.zero)
        for start in (self.start_of(bound, self.total), filled(bound, self.total)):
            dual.confine(self.zero, bound, start)
            solve_to_round_off(dual, max_iter)
            if self.reached(dual):
                break
        _, f, b, _, _, n_iter = dual.state()
        gap = max(dual.gap_now(), 0) + max(dual.rounding(), 0)
        return f[r] + b, gap, not self.reached(dual), n_iter
