"""Exact leave-one-out in five phases.

It checks the arguments, solves for all points, and resolves each left-out point by the sufficiency checks, by
its path, or by training without it.
"""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import svmselect.solver._active_set as _active_set
from svmselect.checks import check_bounds, check_labels, check_options, check_start, frozen
from svmselect.errors import misclassified, zero_within
from svmselect.gram import Gram
from svmselect.loo._retrain import retrain, retrain_briefly, solve_in_turn
from svmselect.loo.groups import bounds_without, identical_rows
from svmselect.loo.regression import counter
from svmselect.loo.result import LeaveOneOut
from svmselect.loo.sufficiency import sufficiency_checks
from svmselect.solver._smo import Dual
from svmselect.solver.feasible import balanced
from svmselect.svm import Solution, solution_of, solve_csvc
from svmselect.threads import one_blas_thread
from svmselect.unlearning.points import GAP, unlearn_points

__all__ = ["EXACT", "METHODS", "leave_one_out"]

METHODS = ("unlearn", "certified", "retrain")
# KKT gap of the solution that points are unlearned from, and of fits that are to give decision values
EXACT = 1e-9
FIRST_PORTION = 32  # at least this many points are decided before `give_up` is called
# From this many rows on, paths store the columns that they need, if at most this share of rows are SVs by a
# fit to this KKT gap.
LARGE, FEW_SVS, LOOSE = 4_000, 0.5, 1e-3


@one_blas_thread()
def leave_one_out(
    gram: Gram,
    y: ArrayLike,
    C: ArrayLike,
    method: str = "unlearn",
    tol: float = 1e-3,
    working_set: str = "mvp",
    efficiency_test: int = 10,
    start: ArrayLike | None = None,
    max_iter: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    decision_values: bool = False,
    give_up: Callable[[np.ndarray], bool] | None = None,
    sample: int | None = None,
    rng: int | np.random.Generator = 0,
    as_published: bool = False,
) -> LeaveOneOut:
    """Compute the exact leave-one-out error, and the left-out decision values.

    A solution of all points comes first. The sufficiency checks resolve most points (Franc, Laskov and
    Mueller 2008, Algorithm 1). The classifier without each remaining point is computed from the one with it.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows. float64 for "unlearn": decision values are those of the stored matrix, in
        which float32 moves them by about 1e-7 times the largest kernel value and the sum of alphas.
    y : array_like, shape (m,)
        Labels, -1 and +1.
    C : float or array_like, shape (m,)
        Upper bound of every alpha, or one positive bound per point.
    method : {"unlearn", "certified", "retrain"}
        "unlearn": alpha_r is driven to 0 along the path of optimal solutions (Cauwenberghs and Poggio 2000),
        from a solution with a KKT gap of at most 1e-9, and the ends of paths are checked; see Notes. A point
        whose sign is proved by a few steps of "certified" from that solution needs no path. "retrain": the
        standard approach of Franc et al., their Algorithm 2. Every point is solved to `tol` by SMO, its alpha
        spread over the in-bound SVs. Where SMO creeps, after more than 10 m^2 steps, the active-set method
        takes over. "certified": their Algorithm 3, which also stops when the sign of the left-out decision
        value is proved.
    tol : float
        KKT tolerance of retraining on LIBSVM's scale, ``M+ - M- <= tol``.
    working_set : {"mvp", "wss2"}
        The rule of retraining; see `solve_csvc`. "mvp" is the paper's.
    efficiency_test : int
        The paper's M: after this many points of "certified", the rest is solved by Algorithm 2 unless at
        least half of them were certified. 0 never switches.
    start : array_like, shape (m,), optional
        Feasible alphas to start the full solution from; zeros by default. A solution for C1 becomes feasible
        for C2 after scaling by C2 / C1 and clipping to C2 against round-off.
    max_iter : int, optional
        The largest number of SMO steps per solve; see `solve_csvc`.
    progress : callable, optional
        Called as ``progress(done, total)`` as points are solved: after each, but with "unlearn" once for all
        those that need no path, and once for a hundred or so paths.
    decision_values : bool
        Whether to compute the decision value of every point by the classifier without it, and not only its
        sign. Every point with ``alpha_r > 0`` is then driven to the end of its path, or trained without to a
        KKT gap of 1e-9.
    give_up : callable, optional
        For "unlearn" alone. It is called as ``give_up(errors)`` with the points known to be errors so far,
        bool of shape (m,), after the checks and now and then between paths. If it returns True, the remaining
        points are left undecided.
    sample : int, optional
        The largest number of points that are solved for. If the checks leave more undecided, this many are
        drawn at random, and the error is an estimate with a `standard_error`. Every point has the same
        rank in the draw, whatever model and method. By default all are solved for. It cannot be combined with
        `decision_values`.
    rng : int or numpy.random.Generator
        Draws the sample.
    as_published : bool
        Whether "retrain" and "certified" take the steps of the first author's public solver, so that columns
        can be compared with those of the paper: SMO alone, without shrinking; alpha_r is handed to the rows
        in their order, to each as much as its box allows; and a step adds the difference of its two columns,
        which leaves less round-off and more ties between points. Slow where SMO creeps.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    ValueError
        For a bad argument; the sentence names it and its value.

    Notes
    -----
    ``docs/how_it_works.md`` proves when a path may stop, and describes the checks of its end, where the KKT
    gap may be 1e-8, or ten times that of the full solution. A point that fails them is trained anew to the
    gap of the full solution, by SMO and the active-set method. A point that does not come to `tol` in float64
    even so is named in `not_converged`.

    *Decision values.* With ``decision_values=True`` the KKT gap at the end of a path may be 1e-8. Points that
    fail this are trained anew to a gap of 1e-9, as all points are with "retrain" and "certified"; those that
    do not come to 1e-8 after unlearning, or to 1e-9, are named in `not_converged`. Where no in-bound SV fixes
    a threshold it is the middle of its interval, everywhere and without the point, and errors are the signs
    of these values.

    *Zeros.* Values that are known to 1e-8 only, and may be 0, are exactly 0, which counts as class +1. So
    errors do not depend on the order of points or on round-off.

    *Identical points.* For "unlearn", points of equal rows and labels are one point whose bound is the sum of
    theirs: only the sum of their alphas matters, to the dual and to its constraints, and without one of them
    that sum has the bound that the others leave. In the solution returned their alphas are in proportion to
    their bounds.

    *Kernel values.* The whole matrix is computed if it fits its budget, for identical points once. From 4,000
    rows on a loose fit tells "unlearn" first whether fewer columns are enough (``docs/library.md``).

    *Calls.* `_solve_all` calls ``_active_set.solve``, and `_resolve_by_paths` calls ``unlearn_points`` and
    ``PointStart.decide``; the compiled core is ``PointPaths.walk`` of ``unlearning/_paths.pyx``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, leave_one_out
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> loo = leave_one_out(gram, y, C=1)
    >>> round(loo.error, 3)
    0.25
    >>> loo.errors
    array([False, False, False,  True,  True, False, False, False])
    """
    # 1) arguments
    problem = _Problem(
        gram,
        y,
        C,
        start,
        method,
        tol,
        working_set,
        efficiency_test,
        max_iter,
        decision_values,
        give_up,
        as_published,
    ).checked(sample)
    # 2) the solution of all points, with the kernel matrix before it unless few columns may be enough
    columns, values = gram.thread_counts
    every = np.arange(gram.m)
    first, group = identical_rows(gram, problem.y, every) if problem.exact else (every, every)
    part = gram if first.size == gram.m else gram.restricted(first, keep=True)
    columns_may_do = problem.exact and _columns_may_do(part)
    if not columns_may_do:
        part.compute()
    begin = time.process_time()
    full = _solve_all(problem, part, first, group, columns_may_do)
    # 3) left-out points, by the sufficiency checks, by paths, and by training without them
    points = _resolve_by_checks(problem, full, sample, rng)
    points.report = counter(progress, points.undecided.size)
    hopeless = points.hopeless(problem)
    if problem.exact and full.converged and not hopeless:
        hopeless = _resolve_by_paths(problem, full, points)
    if points.undecided.size and not hopeless:
        _resolve_by_training(problem, full, points)
    columns_now, values_now = gram.thread_counts
    errors = points.errors(problem.y)
    return LeaveOneOut(
        errors=errors,
        error=float(errors @ points.stands_for / gram.m),
        decision=frozen(points.known_decision()),
        resolved_by=points.resolved_by,
        n_iter=points.n_iter,
        columns_requested=columns_now - columns,
        kernel_values=values_now - values,
        cpu_s=time.process_time() - begin,
        not_converged=frozen(points.not_converged),
        solution=full.solution,
        stands_for=frozen(points.stands_for),
    )


@dataclass(frozen=True)
class _Problem:
    """The arguments of `leave_one_out`."""

    gram: Gram
    y: Any
    C: Any
    theta: Any  # alphas from which the full solution starts, checked in signed variables
    method: str
    tol: float
    working_set: str
    efficiency_test: int
    max_iter: int | None
    decision_values: bool
    give_up: Callable | None
    as_published: bool

    def checked(self, sample):
        """Return the checked problem; raise a ValueError that names a bad argument and its value."""
        gram, method = self.gram, self.method
        # arguments of every solver
        y = check_labels(gram, self.y)
        gram.check_definite()
        C = check_bounds(gram, y, self.C)
        if (C == 0).any():
            raise ValueError(
                "C must be positive at every point for leave-one-out, got 0 at point "
                f"{np.flatnonzero(C == 0)[0]}"
            )
        max_iter = check_options(self.tol, self.working_set, self.max_iter, gram.m)
        # those of leave-one-out
        if method not in METHODS:
            raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}")
        if not (isinstance(self.efficiency_test, numbers.Integral) and self.efficiency_test >= 0):
            raise ValueError(f"efficiency_test must be an integer >= 0, got {self.efficiency_test!r}")
        theta = None if self.theta is None else check_start(self.theta, y, C)
        if self.give_up is not None and method != "unlearn":
            raise ValueError(f"give_up is for method 'unlearn', got {method!r}")
        if method == "unlearn" and self.as_published:
            raise ValueError(f"as_published=True is for methods 'retrain' and 'certified', got {method!r}")
        if sample is not None:
            if not (isinstance(sample, numbers.Integral) and sample >= 1):
                raise ValueError(f"sample must be an integer >= 1, got {sample!r}")
            if self.decision_values:
                raise ValueError("decision_values=True is for all points, not for a sample of them")
        return replace(self, y=y, C=C, theta=theta, max_iter=max_iter)

    @property
    def exact(self):
        """Whether points are unlearned, from a solution whose KKT gap is round-off or little more."""
        return self.method == "unlearn"

    @property
    def aim(self):
        """KKT gap of the full solution, and of fits that take the place of a path."""
        return min(self.tol, EXACT) if self.exact or self.decision_values else self.tol

    @property
    def zero(self):
        """Decision values up to this size count as 0: no solution of this problem is known better."""
        return GAP if self.exact or self.decision_values else 0.0

    @property
    def largest_gap(self):
        """KKT gap above which a fit counts as not converged."""
        return min(self.tol, GAP) if self.decision_values else self.tol


@dataclass(frozen=True)
class _FullFit:
    """The solution of all points, in which each group of identical ones may be one point."""

    dual: Dual  # solved; of the groups
    y: np.ndarray  # labels of the groups
    bound: np.ndarray  # upper bounds of the groups
    group: np.ndarray  # the group of each point
    converged: bool
    solution: Solution  # of all points

    @property
    def grouped(self):
        return self.bound.size < self.group.size


@dataclass
class _Points:
    """Left-out points and the findings of the phases about each; fields are those of `LeaveOneOut`."""

    decision: np.ndarray
    resolved_by: np.ndarray
    stands_for: np.ndarray
    solved: np.ndarray  # the points that are to be solved for, because no check resolves them
    surely_right: np.ndarray  # bool, shape (m,): proved by a check, whatever the decision value's sign
    zero: float  # see `_Problem.zero`
    n_iter: int
    not_converged: np.ndarray
    report: Callable | None = None  # is told of n more points as done

    @property
    def undecided(self):
        """The points that are still to be solved for."""
        return self.solved[self.resolved_by[self.solved] == ""]

    def errors(self, y):
        """Return which points are known to be errors."""
        return (self.resolved_by != "") & ~self.surely_right & misclassified(y, self.known_decision())

    def known_decision(self):
        """Return the decision values, 0 where they may be 0; the sign of a certified point is proved."""
        certificate = np.where(self.resolved_by == "certified", 0.0, self.zero)
        return zero_within(self.decision, certificate)

    def hopeless(self, problem):
        """Return whether the caller gives up, given the errors known so far."""
        return problem.give_up is not None and bool(problem.give_up(self.errors(problem.y)))


def _columns_may_do(gram):
    """Return whether a loose fit should tell if a few columns, of which none is stored, are enough."""
    return gram.m >= LARGE and gram.full and not gram.has_columns


def _solve_all(problem, gram, first, group, columns_may_do):
    """Return the `_FullFit` of all points; to unlearn points from it, identical ones are one point.

    `gram` is the matrix of the first point of each group.
    """
    y, theta, max_iter = problem.y[first], problem.theta, problem.max_iter
    columns, values = problem.gram.thread_counts
    grouped = first.size < group.size
    bound = np.bincount(group, problem.C) if grouped else problem.C
    if theta is not None and grouped:
        theta = np.bincount(group, theta)
    # 1) a loose fit by blocks of rows, and the columns of its SVs or the whole matrix
    steps = 0
    if columns_may_do:
        loose = solve_csvc(
            gram, y, bound, LOOSE, max_iter=max_iter, start=None if theta is None else np.abs(theta)
        )
        support, steps, theta = np.flatnonzero(loose.alpha), loose.n_iter, loose.alpha * y
        if support.size <= FEW_SVS * gram.m:
            gram.columns.fetch(support)
        else:
            gram.compute()
    # 2) the solution
    dual = Dual(gram, y)
    dual.boxes(y, bound)
    if theta is not None:
        dual.seed(theta)
    if problem.exact:
        _active_set.solve(dual, "wss2", problem.aim, max_iter - steps)
    elif problem.as_published:
        dual.as_published = True
        dual.solve(problem.working_set, problem.aim, max_iter)
    else:
        solve_in_turn(dual, problem.working_set, problem.aim, max_iter)
    converged = dual.reached(problem.largest_gap)
    solution = solution_of(dual, problem.gram, y, bound, converged, columns, values)
    if steps:
        solution = replace(solution, n_iter=steps + solution.n_iter)
    if grouped:
        solution = _split_among_points(solution, group, problem.C)
    solution = replace(solution, decision=frozen(zero_within(solution.decision, problem.zero)))
    return _FullFit(dual, y, bound, group, converged, solution)


def _resolve_by_checks(problem, full, sample, rng):
    """Return the `_Points`: those that a sufficiency check resolves, and those that are to be solved for."""
    m, solution = problem.gram.m, full.solution
    resolved_by = sufficiency_checks(problem.gram, problem.y, solution, problem.zero)
    not_converged = np.empty(0, dtype=np.intp)
    if problem.decision_values:
        resolved_by[solution.alpha > 0] = ""
        surely_right = np.zeros(m, dtype=bool)
        if not full.converged:
            not_converged = np.flatnonzero(resolved_by == "check1")
    else:
        surely_right = (resolved_by == "check1") | (resolved_by == "check3")
    solved, stands_for = np.flatnonzero(resolved_by == ""), np.ones(m)
    if sample is not None and solved.size > sample:
        # every point has the same rank, whatever model and method
        rank = np.random.default_rng(rng).random(m)
        drawn = np.sort(solved[np.argsort(rank[solved])[:sample]])
        stands_for[solved] = 0
        stands_for[drawn] = solved.size / sample
        solved = drawn
    return _Points(
        decision=solution.decision.copy(),
        resolved_by=resolved_by,
        stands_for=stands_for,
        solved=solved,
        surely_right=surely_right,
        zero=problem.zero,
        n_iter=solution.n_iter,
        not_converged=not_converged,
    )


def _resolve_by_paths(problem, full, points):
    """Unlearn the undecided points, in portions; return whether the caller gives up."""
    all_bounds_left = bounds_without(problem.C, full.group)
    for part in _portions(points.undecided, points.decision, problem.y, problem.give_up):
        bounds_left = all_bounds_left[part]
        # a few steps of Algorithm 3 for each point, while these cost less than paths
        if not problem.decision_values:
            values, outcome, n_iter = retrain_briefly(
                full.dual, full.group[part], bounds_left, problem.aim, full.solution.n_inbound
            )
            decided = outcome > 0
            points.n_iter += n_iter
            points.decision[part[decided]] = values[decided]
            points.resolved_by[part] = np.array(["", "retrained", "certified"])[outcome]
            points.report(np.count_nonzero(decided))
            part, bounds_left = part[~decided], bounds_left[~decided]
        # the paths of the others
        if part.size:
            points.decision[part], outcome = unlearn_points(
                full.dual, full.y, full.group[part], bounds_left, points.report, not problem.decision_values
            )
            points.resolved_by[part] = np.array(["", "unlearned", "certified"])[outcome]
        if points.hopeless(problem):
            return True
    return False


def _resolve_by_training(problem, full, points):
    """Train without each point that is still undecided."""
    undecided, dual = points.undecided, full.dual
    aim = min(problem.tol, max(dual.gap_now(), EXACT))
    if full.grouped:  # from here on identical points are separate again
        dual = Dual(problem.gram, problem.y)
        dual.boxes(problem.y, problem.C)
        dual.seed(full.solution.alpha * problem.y)
    if problem.exact:
        points.decision[undecided], outcome, n_iter = _train_without(problem, dual, undecided, aim, points)
    else:
        proposed = problem.method == "certified" and not problem.decision_values
        limits = problem.working_set, problem.aim, problem.max_iter
        points.decision[undecided], outcome, n_iter = retrain(
            dual, undecided, *limits, proposed, problem.efficiency_test, points.report
        )
    points.resolved_by[undecided] = np.where(outcome == 2, "certified", "retrained")
    points.n_iter += n_iter
    points.not_converged = np.union1d(points.not_converged, undecided[outcome == 0])


def _train_without(problem, full, undecided, aim, points):
    """Train without each left-out point, from the full solution, to a KKT gap of `aim` if it can be reached.

    Returns decision values, whether each gap is known to be small enough (1 or 0), and the number of steps.
    """
    y, limit = problem.y, problem.max_iter
    decision, outcome = np.empty(undecided.size), np.zeros(undecided.size, dtype=np.intp)
    n_iter = 0
    theta, _, lo, hi = full.arrays()
    inbound = np.flatnonzero((lo < theta) & (theta < hi))
    dual = Dual(full.gram, y)
    for k, r in enumerate(undecided):
        bound = problem.C.copy()
        bound[r] = 0
        dual.boxes(y, bound)
        _, _, without_lo, without_hi = dual.arrays()
        before = dual.state()[-1]
        dual.seed(balanced(theta, without_lo, without_hi, inbound[inbound != r]), full.known())
        _active_set.solve(dual, "wss2", aim, limit)
        if not dual.reached(problem.largest_gap):
            # the full solution may be so large that its round-off hides the one without r
            dual.boxes(y, bound)
            _active_set.solve(dual, "wss2", aim, limit)
        _, f, b, _, _, after = dual.state()
        decision[k], outcome[k] = f[r] + y[r] + b, dual.reached(problem.largest_gap)
        n_iter += after - before
        points.report(1)
    return decision, outcome, n_iter


def _split_among_points(solution, group, C):
    """Return the solution of all points; alphas of identical ones are in proportion to their bounds."""
    alpha, bound = solution.alpha[group], solution.C[group]
    return replace(
        solution,
        alpha=frozen(np.where(alpha < bound, alpha * (C / bound), C)),
        C=frozen(C),
        decision=frozen(solution.decision[group]),
    )


def _portions(points, decision, y, give_up):
    """Return portions of points in the order in which they are decided.

    Without `give_up` all are decided at once. With it those that are most likely errors come first, and each
    portion is as large as all before.
    """
    if give_up is None or points.size <= FIRST_PORTION:
        return [points]
    order = points[np.argsort((y * decision)[points], kind="stable")]
    first = max(FIRST_PORTION, points.size // 8)
    ends = [first]
    while 2 * ends[-1] < points.size:
        ends.append(2 * ends[-1])
    return np.split(order, ends)
