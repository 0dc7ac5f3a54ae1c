"""Exact leave-one-out error."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

import svmselect.solver._active_set as _active_set
from svmselect.gram import Gram
from svmselect.loo._retrain import retrain, retrain_briefly, solve_in_turn
from svmselect.loo.unlearn import unlearn
from svmselect.solver._smo import Dual
from svmselect.solver.feasible import balanced
from svmselect.svm import (
    Solution,
    WeightedErrors,
    check_bounds,
    check_labels,
    check_options,
    check_start,
    frozen,
    misclassified,
    solution_of,
)
from svmselect.threads import one_blas_thread
from svmselect.unlearning.start import GAP

__all__ = ["LeaveOneOut", "leave_one_out", "sufficiency_checks"]

METHODS = ("unlearn", "certified", "retrain")
# KKT gap of the solution that points are unlearned from, and of fits whose decision values are wanted
EXACT = 1e-9
FIRST_PORTION = 32  # at least this many points are decided before `give_up` is asked


@dataclass(frozen=True)
class LeaveOneOut(WeightedErrors):
    """The exact leave-one-out error of one model, or with a `sample` an estimate of it.

    Attributes
    ----------
    errors : ndarray of bool, shape (m,)
        Whether the classifier trained without the point misclassifies it.
    error : float
        Their mean, in [0, 1]; each weighs what it `stands_for`.
    decision : ndarray, shape (m,)
        With ``decision_values=True`` the decision value of each point by the classifier trained without it.
        By default a value that has its sign: of the classifier with the point (the checks), of one on the way
        to that without it ("certified"), or of that itself ("unlearned", "retrained").
    resolved_by : ndarray of str, shape (m,)
        "check1", "check2", "check3" (sufficiency checks, Table 1 of the paper), "unlearned", "retrained" or
        "certified". With ``decision_values=True`` a point without a path is one of "check1". "" for points
        that `give_up` has left undecided, or that are not in the sample: they do not count as errors.
    n_iter : int
        SMO steps, the full solution's included.
    columns_requested, kernel_values : int
        Gram columns asked for, and kernel values computed.
    cpu_s : float
        CPU time, seconds: full solution, checks and retraining; not the Gram matrix where it fits its budget.
    not_converged : ndarray of intp
        The points whose classifier is not known to `tol`, or with ``decision_values=True`` as well as the
        notes of `leave_one_out` say: steps ran out, or float64 cannot tell more. Their decisions are those
        reached.
    solution : Solution
        The full solution.
    stands_for : ndarray, shape (m,)
        How many points each one stands for: itself, or with a `sample`, of the points that no check resolves
        those of the sample for all, and the others for none.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, leave_one_out
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> loo = leave_one_out(gram, y, C=1, decision_values=True)
    >>> loo.decision.round(2)
    array([-0.72, -1.05, -0.32, -0.79,  0.79,  0.32,  1.05,  0.72])
    >>> loo.n_not_converged, loo.given_up
    (0, False)
    """

    errors: np.ndarray
    error: float
    decision: np.ndarray
    resolved_by: np.ndarray
    n_iter: int
    columns_requested: int
    kernel_values: int
    cpu_s: float
    not_converged: np.ndarray
    solution: Solution
    stands_for: np.ndarray

    def _judged(self):
        return self.errors, self.stands_for

    @property
    def standard_error(self) -> float:
        """The standard error of `error` from the draw of the sample, without replacement.

        It is 0 without a sample, and NaN for a sample of one point.
        """
        sampled = self.stands_for > 1
        if not sampled.any():
            return 0.0
        n, total = int(np.count_nonzero(sampled)), self.stands_for[sampled].sum()
        share = self.errors[sampled].mean()
        variance = share * (1 - share) / (n - 1) if n > 1 else np.nan
        return float(total * np.sqrt((1 - n / total) * variance) / self.errors.size)

    @property
    def given_up(self) -> bool:
        """Whether points were left undecided by `give_up`, so that `error` is only a lower bound."""
        return bool((self.resolved_by[self.stands_for > 0] == "").any())

    @property
    def n_not_converged(self) -> int:
        """Points that are not known to `tol`, and the full solution if it is not."""
        return self.not_converged.size + (not self.solution.converged)

    @property
    def n_solved(self) -> int:
        """Points that no sufficiency check resolved."""
        return self.n_certified + self.n_retrained + int(np.count_nonzero(self.resolved_by == "unlearned"))

    @property
    def n_retrained(self) -> int:
        """Points solved to the tolerance; with method "unlearn" those that few steps took to a KKT gap of
        1e-9, or whose path met a degenerate system, or did not end at an optimum."""
        return int(np.count_nonzero(self.resolved_by == "retrained"))

    @property
    def n_certified(self) -> int:
        """Points whose solver stopped because their sign was certain."""
        return int(np.count_nonzero(self.resolved_by == "certified"))


def sufficiency_checks(gram, y, solution):
    """Points that the full solution resolves (Franc et al. 2008, Table 1; Joachims 2000).

    1. ``alpha_r = 0``: correct. 2. ``y_r`` is not the sign of ``f(x_r)``: an error. 3. The solution is stable
    and ``2 alpha_r R^2 + xi_r < 1``: correct. The first that applies is recorded.

    The paper calls a solution stable that has some in-bound SV. That is not enough when the in-bound SVs
    cannot take over ``alpha_r``: without r, the threshold may then jump to where the other class's bounded
    SVs put it. Here check 3 also asks that the in-bound SVs other than r have room for ``alpha_r`` in their
    boxes.

    Returns
    -------
    ndarray of str, shape (m,)
        "check1", "check2", "check3", or "" for an unresolved point.
    """
    alpha, C = solution.alpha, solution.C
    inbound = (alpha > 0) & (alpha < C)
    # moving theta = y alpha up by alpha_r raises the alphas of class +1 and lowers those of class -1
    up = np.where(inbound, np.where(y > 0, C - alpha, alpha), 0)
    down = np.where(inbound, np.where(y > 0, alpha, C - alpha), 0)
    room = np.where(y > 0, up.sum() - up, down.sum() - down)
    slack = np.maximum(0, 1 - y * solution.decision)
    resolved_by = np.full(gram.m, "", dtype="U9")
    resolved_by[(room >= alpha) & (2 * alpha * gram.squared_radius() + slack < 1)] = "check3"
    resolved_by[misclassified(y, solution.decision)] = "check2"
    resolved_by[alpha == 0] = "check1"
    return resolved_by


def _identical_points(gram, y):
    """Points of equal rows and labels: the first of each group, and the group of each point, shape (m,)."""
    rows = gram.row_groups
    everyone = np.arange(gram.m)
    if rows[-1] == gram.m - 1:
        return everyone, everyone
    _, first, group = np.unique(2 * rows + (y > 0), return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[group]


def _of_all_points(solution, group, C):
    """The solution of all points, from that in which each group of identical ones is one point: their alphas
    are in proportion to their bounds."""
    alpha, bound = solution.alpha[group], solution.C[group]
    return replace(
        solution,
        alpha=frozen(np.where(alpha < bound, alpha * (C / bound), C)),
        C=frozen(C),
        decision=frozen(solution.decision[group]),
    )


def _trained_without(full, y, C, points, aim, tol, max_iter, report):
    """Decision values of left-out points by training without them from the full solution, to a KKT gap of
    `aim` if that can be reached; their outcomes, 1 if the gap is known to be at most `tol`, else 0; and the
    steps."""
    decision, outcome, n_iter = np.empty(points.size), np.zeros(points.size, dtype=np.intp), 0
    theta, _, lo, hi = full.arrays()
    inbound = np.flatnonzero((lo < theta) & (theta < hi))
    dual = Dual(full.gram, y)
    for k, r in enumerate(points):
        bound = C.copy()
        bound[r] = 0
        dual.boxes(y, bound)
        _, _, without_lo, without_hi = dual.arrays()
        before = dual.state()[-1]
        dual.seed(balanced(theta, without_lo, without_hi, inbound[inbound != r]), full.known())
        _active_set.solve(dual, "wss2", aim, max_iter)
        if not dual.reached(tol):
            # the full solution may be so large that its round-off hides the one without r
            dual.boxes(y, bound)
            _active_set.solve(dual, "wss2", aim, max_iter)
        _, f, b, _, _, after = dual.state()
        decision[k], outcome[k] = f[r] + y[r] + b, dual.reached(tol)
        n_iter += after - before
        if report is not None:
            report(1)
    return decision, outcome, n_iter


def _without_themselves(y, solution):
    """Decision values, shape (m,): at points of ``alpha = 0`` by the classifier without the point.

    Only the threshold may be another: without an in-bound SV it is the middle of an interval, which reaches
    further where the point alone is one of its ends.
    """
    decision = solution.decision.copy()
    if solution.n_inbound:
        return decision
    # -b is at most f where theta = y alpha can grow, and at least f where it can shrink
    f, grows = decision - y - solution.b, (y > 0) == (solution.alpha == 0)
    for f_of_end, find in ((np.where(grows, f, np.inf), np.argmin), (np.where(grows, -np.inf, f), np.argmax)):
        r = find(f_of_end)
        if solution.alpha[r] == 0:
            others = np.arange(y.size) != r
            ends = f[others & grows].min(initial=np.inf), f[others & ~grows].max(initial=-np.inf)
            decision[r] = f[r] + y[r] - np.mean([end for end in ends if np.isfinite(end)])
    return decision


def _portions(points, decision, y, give_up):
    """Points in the order in which they are decided: at once, or where one may give up, those that are most
    likely errors first, in portions of which each is as large as all before."""
    if give_up is None or points.size <= FIRST_PORTION:
        return [points]
    order = points[np.argsort((y * decision)[points], kind="stable")]
    first = max(FIRST_PORTION, points.size // 8)
    ends = [first]
    while 2 * ends[-1] < points.size:
        ends.append(2 * ends[-1])
    return np.split(order, ends)


def _counter(progress, total):
    """A callable that is told of n more points done, and calls ``progress(done, total)``."""
    done = 0

    def report(n):
        nonlocal done
        done += n
        progress(done, total)

    return report


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
    active_set: bool = True,
) -> LeaveOneOut:
    """Exact leave-one-out error, and the left-out decision values.

    Solves on all points, resolves what the sufficiency checks can (Franc, Laskov and Mueller 2008, Algorithm
    1), and finds the classifier without each remaining point from the one with it.

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
        from a solution with a KKT gap of at most 1e-9, and what is found is checked; see Notes. Few points
        whose sign a few steps of "certified" prove from that solution need no path. "retrain":
        the standard approach of Franc et al., their Algorithm 2: every point is solved to `tol` by SMO, its
        alpha spread over the in-bound SVs; where SMO creeps, after more than 10 m^2 steps, the active-set
        method takes over. "certified": their Algorithm 3, which also stops when the sign of the left-out
        decision value is proved.
    tol : float
        KKT tolerance of retraining on LIBSVM's scale, ``M+ - M- <= tol``; the paper's eps (eq. 8) is half of
        it.
    working_set : {"mvp", "wss2"}
        The rule of retraining; see `solve_csvc`. "mvp" is the paper's.
    efficiency_test : int
        The paper's M: after this many points of "certified", the rest is solved by Algorithm 2 unless at
        least half of them were certified. 0 never switches.
    start : array_like, shape (m,), optional
        Feasible alphas to start the full solution from; zeros by default. A solution for C1 becomes feasible
        for C2 after scaling by C2 / C1 and clipping to C2 against round-off.
    max_iter : int, optional
        The largest number of SMO steps per solve; by default a hundred thousand per row, and at least a
        million.
    progress : callable, optional
        Called as ``progress(done, total)`` as points are solved: after each, but with "unlearn" once for all
        those that need no path, and once for a hundred or so paths.
    decision_values : bool
        Whether to find the decision value of every point by the classifier without it, and not only its
        sign. Every point with ``alpha_r > 0`` is then driven to the end of its path, or trained without to a
        KKT gap of 1e-9.
    give_up : callable, optional
        For "unlearn" alone. It is called as ``give_up(errors)`` with the points that are known to be errors
        so far, bool of shape (m,), after the checks and now and then between paths. If it returns True, the
        rest is left undecided.
    sample : int, optional
        The largest number of points that are solved for. If the checks leave more undecided, this many are
        drawn at random, and the error is an estimate with a `standard_error`. Every point has the same
        rank in the draw, whatever model and method. By default all are solved for. It cannot be combined with
        `decision_values`.
    rng : int or numpy.random.Generator
        Draws the sample.
    active_set : bool
        Whether the active-set method takes over where SMO creeps. False is for "retrain" and "certified", by
        SMO alone as in the paper, whose steps and columns then compare with those of other SMO solvers.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    ValueError
        For a bad argument; the sentence names it and its value.

    Notes
    -----
    *When a path may stop.* Let V(t) be the optimal dual value with ``|theta_r|`` fixed at t and no box for
    theta_r, and ``h(t) = y_r f(x_r)`` of its solutions. V is concave and its supergradient is ``1 - h(t)``,
    so h does not fall as t grows: unlearning only lowers it, and a point whose h is negative on the way is an
    error.

    Let t > 0 be what is left of alpha_r, h the present value, and let the in-bound points have room to follow
    theta_r linearly, as they do now, for a length L > t, that is to ``t - L < 0``; c = -h' is the curvature
    of the dual along this direction. This path is feasible, so ``V(t - L) >= V(t) - (1 - h) L - c L^2 / 2``;
    concavity gives ``V(0) <= V(t) - (1 - h) t`` and, for every supergradient at 0, ``V(t - L) <= V(0) + (1 -
    h(0)) (t - L)``. Together

        h(0) >= h - c L^2 / (2 (L - t)),

    for every threshold that is optimal at 0. L = 2 t makes the right side largest, h - 2 c t: where it is
    positive the point is correct.

    Before a path begins, theta_r may be taken over along any other direction. Where the in-bound points would
    meet their bounds too early, a part of it goes to them in proportion to their room, and to the points
    outside that cost least: the slope sigma of that direction then takes another ``sigma L / (L - t)``. Where
    the bound says so even then, no path is walked.

    *What is checked.* At the end of a path its gradient is held against that of its alphas by the Gram
    matrix, in random combinations of all points, and computed again where it is off by more than 1e-9. The
    KKT gap may be 1e-8, or ten times that of the full solution, and the decision value, or the bound above
    with the curvature of the matrix, has to have the sign that the path found. A point that fails is trained
    anew to the gap of the full solution, by SMO and the active-set method; one that float64 cannot tell to
    `tol` even so is named in `not_converged`.

    *Decision values.* With ``decision_values=True`` a path may not stop before its end. There the dual is
    solved by linear systems over the in-bound points, and what is found is exact up to their round-off; its
    KKT gap, computed from the variables, may be 1e-8. Points that fail this are trained anew, all points are
    with "retrain" and "certified", to a KKT gap of 1e-9; one that does not come to 1e-8 after unlearning, or
    to 1e-9, is named in `not_converged`. Points with ``alpha_r = 0`` have the value of the full solution: it
    is optimal without them. Where no in-bound SV fixes a threshold it is the middle of its interval,
    everywhere and without the point, and errors are the signs of these values; by default a point with
    ``alpha_r = 0`` is correct there, as the first check has it.

    *Identical points.* For "unlearn", points of equal rows and labels are one point whose bound is the sum of
    theirs: only the sum of their alphas matters, to the dual and to its constraints, and without one of them
    that sum has the bound that the others leave. In the solution returned their alphas are in proportion to
    their bounds.

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
    y = check_labels(gram, y)
    gram.check_definite()
    C = check_bounds(gram, y, C)
    if (C == 0).any():
        raise ValueError(
            f"C must be positive at every point for leave-one-out, got 0 at point {np.flatnonzero(C == 0)[0]}"
        )
    limit = check_options(tol, working_set, max_iter, gram.m)
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}")
    if not (isinstance(efficiency_test, numbers.Integral) and efficiency_test >= 0):
        raise ValueError(f"efficiency_test must be an integer >= 0, got {efficiency_test!r}")
    theta = None if start is None else check_start(start, y, C)
    exact = method == "unlearn"
    if give_up is not None and not exact:
        raise ValueError(f"give_up is for method 'unlearn', got {method!r}")
    if exact and not active_set:
        raise ValueError(f"active_set=False is for methods 'retrain' and 'certified', got {method!r}")
    if sample is not None:
        if not (isinstance(sample, numbers.Integral) and sample >= 1):
            raise ValueError(f"sample must be an integer >= 1, got {sample!r}")
        if decision_values:
            raise ValueError("decision_values=True is for all points, not for a sample of them")
    # The tolerance of fits, and of the fits that take the place of a path.
    aim = min(tol, EXACT) if exact or decision_values else tol
    known = min(tol, GAP) if decision_values else tol

    columns, values = gram.thread_counts
    gram.compute()
    begin = time.process_time()
    first, group = _identical_points(gram, y) if exact else (np.arange(gram.m), np.arange(gram.m))
    alone = first.size == gram.m
    bound = C if alone else np.bincount(group, C)
    full = Dual(gram if alone else gram.restricted(first, keep=True).compute(), y[first])
    full.boxes(y[first], bound)
    if theta is not None:
        full.seed(theta if alone else np.bincount(group, theta))
    if exact:
        _active_set.solve(full, "wss2", aim, limit)
    elif active_set:
        solve_in_turn(full, working_set, aim, limit)
    else:
        full.solve(working_set, aim, limit)
    converged = full.reached(known)
    solution = solution_of(full, gram, y[first], bound, converged, columns, values)
    if not alone:
        solution = _of_all_points(solution, group, C)

    resolved_by = sufficiency_checks(gram, y, solution)
    if decision_values:
        resolved_by[solution.alpha > 0] = ""
    points = np.flatnonzero(resolved_by == "")
    stands_for = np.ones(gram.m)
    if sample is not None and points.size > sample:
        rank = np.random.default_rng(rng).random(gram.m)
        chosen = np.sort(points[np.argsort(rank[points])[:sample]])
        stands_for[points] = 0
        stands_for[chosen] = points.size / sample
        points = chosen
    decision = _without_themselves(y, solution) if decision_values else solution.decision.copy()
    n_iter, not_converged = solution.n_iter, points[:0]
    report = None if progress is None else _counter(progress, points.size)
    todo = points
    certain = np.zeros(gram.m, dtype=bool)
    if not decision_values:
        certain = (resolved_by == "check1") | (resolved_by == "check3")

    def hopeless():
        if give_up is None:
            return False
        return bool(give_up((resolved_by != "") & ~certain & misclassified(y, decision)))

    given_up = hopeless()
    if exact and converged and not given_up:
        for part in _portions(points, decision, y, give_up):
            kept = bound[group[part]] - C[part]
            if not decision_values:
                found, outcome, steps = retrain_briefly(full, group[part], kept, aim, solution.n_inbound)
                n_iter += steps
                solved = outcome > 0
                decision[part[solved]] = found[solved]
                resolved_by[part] = np.array(["", "retrained", "certified"])[outcome]
                if report is not None and solved.any():
                    report(int(np.count_nonzero(solved)))
                part, kept = part[~solved], kept[~solved]
            if part.size:
                decision[part], outcome = unlearn(
                    full, y[first], group[part], kept, report, stop=not decision_values
                )
                resolved_by[part] = np.array(["", "unlearned", "certified"])[outcome]
            given_up = hopeless()
            if given_up:
                break
        todo = points[resolved_by[points] == ""]
    if todo.size and not given_up:
        to_gap = min(tol, max(full.gap_now(), EXACT))
        if not alone:
            full = Dual(gram, y)
            full.boxes(y, C)
            full.seed(solution.alpha * y)
        if exact:
            decision[todo], outcome, steps = _trained_without(full, y, C, todo, to_gap, known, limit, report)
        else:
            proposed = method == "certified" and not decision_values
            decision[todo], outcome, steps = retrain(
                full, todo, working_set, aim, limit, proposed, efficiency_test, report, active_set
            )
        resolved_by[todo] = np.where(outcome == 2, "certified", "retrained")
        n_iter += steps
        not_converged = todo[outcome == 0]
    errors = misclassified(y, decision)
    if decision_values:
        if not converged:
            not_converged = np.union1d(not_converged, np.flatnonzero(resolved_by == "check1"))
    else:
        errors[certain] = False
    errors[resolved_by == ""] = False
    columns_now, values_now = gram.thread_counts
    return LeaveOneOut(
        errors=errors,
        error=float(errors @ stands_for / gram.m),
        decision=decision,
        resolved_by=resolved_by,
        n_iter=n_iter,
        columns_requested=columns_now - columns,
        kernel_values=values_now - values,
        cpu_s=time.process_time() - begin,
        not_converged=frozen(not_converged),
        solution=solution,
        stands_for=frozen(stands_for),
    )
