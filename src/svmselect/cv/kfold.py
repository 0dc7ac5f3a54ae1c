"""k-fold cross-validation on one shared Gram matrix."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import svmselect.solver._active_set as _active_set
from svmselect.cv.ato import ato
from svmselect.cv.folds import check_folds
from svmselect.cv.mir import mir
from svmselect.cv.replace import avg, sir, top
from svmselect.cv.transition import Seed, Transition
from svmselect.cv.unlearn import Unlearning
from svmselect.gram import Gram
from svmselect.kernels.rows import slices
from svmselect.solver._smo import Dual
from svmselect.svm import (
    Solution,
    WeightedErrors,
    check_bounds,
    check_labels,
    check_options,
    frozen,
    misclassified,
    solution_of,
)
from svmselect.threads import one_blas_thread, run, thread_count

__all__ = [
    "CrossValidation",
    "Round",
    "Trainer",
    "cross_validate",
    "groups_of",
    "in_parallel",
    "in_turn",
    "members_of",
    "share_out",
    "unlearned_fast",
    "without",
]

# A seed changes the solution of the fold before (CHAINED), or that of all points.
CHAINED = {"ato": ato, "mir": mir, "sir": sir}
FROM_FULL = {"avg": avg, "top": top}
SEEDINGS = ("cold", *CHAINED, *FROM_FULL, "unlearn")
EXACT = 1e-9  # the KKT gap of the solution that folds are unlearned from
# Folds are unlearned together while their variables are no more than this.
GROUP_VALUES = 250_000
MOST_COLD = 20  # fits; with more, folds are unlearned by default
# Up to this number of rows, this is known to be faster.
MOST_ROWS = 10_000
WORK_PER_FIT = 20  # a guess, for the choice of threads: multiplications of a fit per value of the matrix


@dataclass(frozen=True)
class Round:
    """One fit of a cross-validation.

    Attributes
    ----------
    fold : int
        The fold held out.
    seeding_cpu_s, training_cpu_s : float
        CPU time, seconds, of choosing the alphas to start from, and of the gradient there and the solver.
    seed_steps, cg_iterations : int
        With the seed "ato", its moves and the conjugate-gradient iterations that these took. With "unlearn",
        the events on the path.
    cg_residual : float
        The largest relative residual that conjugate gradients left.
    n_iter, columns_requested, kernel_values, kkt_gap, objective, converged
        Of the fit, see `Solution`; the Gram counters include the seed's.
    n_sv : int
        Number of support vectors.
    """

    fold: int
    seeding_cpu_s: float
    training_cpu_s: float
    seed_steps: int
    cg_iterations: int
    cg_residual: float
    n_iter: int
    columns_requested: int
    kernel_values: int
    kkt_gap: float
    objective: float
    n_sv: int
    converged: bool


@dataclass(frozen=True)
class CrossValidation(WeightedErrors):
    """The k-fold cross-validation of one model.

    Attributes
    ----------
    folds : ndarray of intp, shape (m,)
        The fold of each row, 0 to k - 1.
    decision : ndarray, shape (m,)
        Decision value of each point by the classifier trained without its fold; NaN in a fold not run.
    errors : ndarray of bool, shape (m,)
        Whether that classifier misclassifies the point; a decision value of 0 counts as class +1. False in a
        fold not run.
    rounds : tuple of Round
        One for each fold run, in the order of the folds.
    full : Solution or None
        The solution of all points, where seeds come from it.
    full_cpu_s : float
        CPU time, seconds, of its fit; 0 without it.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, cross_validate, stratified_folds
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> run = cross_validate(gram, y, 1, stratified_folds(y, 3), seeding="sir")
    >>> len(run.rounds), run.n_not_converged
    (3, 0)
    """

    folds: np.ndarray
    decision: np.ndarray
    errors: np.ndarray
    rounds: tuple[Round, ...]
    full: Solution | None
    full_cpu_s: float

    @property
    def error(self) -> float:
        """Share of misclassified points among those of the folds run, in [0, 1]."""
        return float(np.count_nonzero(self.errors) / np.count_nonzero(~np.isnan(self.decision)))

    def _judged(self):
        return self.errors, ~np.isnan(self.decision)

    @property
    def accuracy(self) -> float:
        """1 - error"""
        return 1 - self.error

    @property
    def n_iter(self) -> int:
        """Iterations of all fits, that of all points included."""
        return sum(r.n_iter for r in self.rounds) + (0 if self.full is None else self.full.n_iter)

    @property
    def kernel_values(self) -> int:
        """Kernel values computed by all fits and seeds."""
        return sum(r.kernel_values for r in self.rounds) + (
            0 if self.full is None else self.full.kernel_values
        )

    @property
    def columns_requested(self) -> int:
        """Gram columns asked for by all fits and seeds."""
        return sum(r.columns_requested for r in self.rounds) + (
            0 if self.full is None else self.full.columns_requested
        )

    @property
    def seeding_cpu_s(self) -> float:
        """CPU time of the seeds, the fit of all points included."""
        return sum(r.seeding_cpu_s for r in self.rounds) + self.full_cpu_s

    @property
    def training_cpu_s(self) -> float:
        """CPU time of the k fits."""
        return sum(r.training_cpu_s for r in self.rounds)

    @property
    def n_not_converged(self) -> int:
        """Fits that ran out of steps, that of all points included."""
        return sum(not r.converged for r in self.rounds) + (self.full is not None and not self.full.converged)


class Trainer:
    """Fits of one data set that differ in their bounds and starts.

    Parameters
    ----------
    y : ndarray, shape (m,)
    tol, working_set, active_set, max_iter
        See `solve_csvc`.
    """

    def __init__(self, y, tol, working_set, active_set, max_iter):
        self.y, self.tol, self.working_set, self.max_iter = y, tol, working_set, max_iter
        self.active_set = active_set

    def with_active_set(self, gram):
        """Whether the active-set method may take over: a saddle of an indefinite kernel has no solution on
        its in-bound rows."""
        return self.active_set and gram.kernel.definite

    def fit(self, gram, C, theta=None, known=None, exact=False):
        """The solution for bounds `C`, shape (m,), from signed variables `theta`, and what the next fit may
        know of it; `known` as in Dual.seed. With `exact` its gap is round-off or little more, where the
        active-set method can reach that."""
        columns, values = gram.thread_counts
        dual = Dual(gram, self.y)
        dual.boxes(self.y, C)
        if theta is not None:
            dual.seed(theta, known)
        solve = _active_set.solve if self.with_active_set(gram) else Dual.solve
        converged = solve(dual, self.working_set, self.tol, self.max_iter)
        if exact and converged and self.tol > EXACT:
            _active_set.solve(dual, self.working_set, EXACT, self.max_iter - dual.state()[-1])
            converged = dual.reached(self.tol)
        return solution_of(dual, gram, self.y, C, converged, columns, values), dual.known()


def without(C, points):
    """Bounds with which some points are held out."""
    C = C.copy()
    C[points] = 0
    return C


def in_turn(gram, task, tasks, work):
    """As `in_parallel`, on the calling thread."""
    for t in tasks:
        task(t)


def in_parallel(gram, task, tasks, work):
    """Call ``task(t)`` for every t of `tasks`: on several threads, which share the matrix, where that fits
    its budget and the `work` is worth it; else in turn."""
    if thread_count() == 1 or len(tasks) == 1 or not gram.full:
        in_turn(gram, task, tasks, work)
    else:
        gram.compute()
        run(task, tasks, work)


def unlearned_fast(gram):
    """Whether many folds are unlearned by default: where the whole matrix is there, of some size, and the
    dual is concave."""
    return gram.full and gram.m <= MOST_ROWS and gram.is_definite()


def groups_of(rounds, m):
    """Rounds of m points each that are unlearned together: all of them, as far as memory and threads go."""
    size = max(1, min(GROUP_VALUES // m, -(-len(rounds) // thread_count())))
    return [rounds[part] for part in slices(len(rounds), size)]


def share_out(objects, task, tasks, work, progress=None):
    """Call ``task(object, t)`` for every t of `tasks` on several threads, each time with one of the objects
    that is idle; `work` and `progress` as for `run`."""
    idle = SimpleQueue()
    for each in objects:
        idle.put(each)

    def on_idle(t):
        each = idle.get()
        try:
            task(each, t)
        finally:
            idle.put(each)

    run(on_idle, tasks, work, progress)


@one_blas_thread()
def cross_validate(
    gram: Gram,
    y: ArrayLike,
    C: ArrayLike,
    folds: ArrayLike,
    seeding: str | None = None,
    tol: float = 1e-3,
    working_set: str = "wss2",
    active_set: bool = True,
    max_iter: int | None = None,
    rounds: int | None = None,
    rng: int | np.random.Generator = 0,
    progress: Callable[[int, int], object] | None = None,
) -> CrossValidation:
    """k-fold cross-validation, each fit seeded with a solution of a similar training set, or unlearned from
    the solution of all points.

    The points of the fold that is held out have ``C_i = 0``: all fits share one Gram matrix, and the solver
    keeps the decision values of held-out points up to date. Every fit runs to the same tolerance, so the seed
    changes its cost, not its classifier beyond `tol`.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows. ``gram.compute()`` before the call keeps the kernel values' time out of
        that of the fits.
    y : array_like, shape (m,)
        Labels, -1 and +1.
    C : float or array_like, shape (m,)
        Upper bound of every alpha, or one positive bound per point.
    folds : int or array_like of int, shape (m,)
        A number k of folds (`stratified_folds`), or the fold of each row, 0 to k - 1; ``np.arange(m)`` leaves
        one out.
    seeding : {None, "cold", "ato", "mir", "sir", "avg", "top", "unlearn"}
        "cold": alpha = 0. From the solution of the fold before (Wen et al. 2017), the first one cold: "ato"
        (adjusting alpha towards the optimum), "mir" (multiple instance replacement), "sir" (single instance
        replacement). From the solution of all points, trained first: "avg" (DeCoste and Wagstaff 2000) and
        "top" (Lee et al. 2004), in their papers for leaving one out. "unlearn": no seed, all points of the
        fold leave the solution of all points at once; see Notes. None, the default: "cold" for up to 20 fits,
        which on a shared matrix hardly anything makes faster; for more "unlearn", or "top" where there are
        more than 10,000 rows or the whole matrix does not fit its budget (``benchmarks/results/folds.csv``).
    tol, working_set, active_set, max_iter
        See `solve_csvc`. With ``active_set=False`` iterations are those of LIBSVM's rule.
    rounds : int, optional
        Only the first so many folds are run; all by default.
    rng : int or numpy.random.Generator
        For "sir", which draws where a class has no points left.
    progress : callable, optional
        Called as ``progress(done, total)`` after each fold.

    Returns
    -------
    CrossValidation

    Raises
    ------
    ValueError
        For a bad argument; the sentence names it and its value.

    Notes
    -----
    "cold", "avg", "top" and "unlearn" have folds that do not depend on each other: where the whole matrix
    fits its budget, they run on as many threads as BLAS may use, and CPU times are then those of the fold's
    thread.

    "unlearn" drives the variables of a fold from the solution of all points to 0, in proportion, along the
    path of optimal solutions of the rest. The path is piecewise linear, as that of `leave_one_out`, which is
    the case of folds of one point. The solution of all points has a KKT gap of at most 1e-9 for it, or as
    little as the active-set method can reach, which then takes over even with ``active_set=False``. A path is
    not taken at its word: the gradient at its end is computed anew from the variables and the Gram matrix. A
    fold whose gap is not at most `tol`, beyond the doubt of rounding, is trained by the solver, from where
    the path ended, or from the seed "top" where it was degenerate; only such a fold has iterations. Several
    folds are unlearned together, so CPU times and counts of a fold are equal shares of theirs.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, cross_validate, stratified_folds
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> run = cross_validate(gram, y, 1, stratified_folds(y, 3))
    >>> round(run.error, 3)
    0.25
    """
    y = check_labels(gram, y)
    C = check_bounds(gram, y, C)
    if (C == 0).any():
        raise ValueError(
            f"C must be positive at every point for cross-validation, got 0 at point {C.argmin()}"
        )
    folds = check_folds(folds, y)
    trainer = Trainer(y, tol, working_set, active_set, check_options(tol, working_set, max_iter, gram.m))
    members = members_of(folds)
    rounds = _check_rounds(rounds, len(members))
    if seeding is None:
        seeding = "cold" if rounds <= MOST_COLD else "unlearn" if unlearned_fast(gram) else "top"
    if seeding not in SEEDINGS:
        raise ValueError(f"seeding must be None or one of {list(SEEDINGS)}, got {seeding!r}")
    if seeding == "unlearn":
        gram.check_definite()
    rng = np.random.default_rng(rng)
    chained = seeding in CHAINED
    clock = time.process_time if chained or not gram.full or thread_count() == 1 else time.thread_time
    decision = np.full(gram.m, np.nan)
    done: list[Any] = [None] * rounds

    def note(h, solution, seed, seeding_cpu_s, training_cpu_s, columns, values):
        """Keep what a fit without fold h says."""
        done[h] = Round(
            fold=h,
            seeding_cpu_s=seeding_cpu_s,
            training_cpu_s=training_cpu_s,
            seed_steps=seed.steps,
            cg_iterations=seed.cg_iterations,
            cg_residual=seed.cg_residual,
            n_iter=solution.n_iter,
            columns_requested=columns,
            kernel_values=values,
            kkt_gap=solution.kkt_gap,
            objective=solution.objective,
            n_sv=solution.n_sv,
            converged=solution.converged,
        )
        decision[members[h]] = solution.decision[members[h]]
        if progress is not None:
            progress(sum(r is not None for r in done), rounds)

    def train(h, seed=None, former=None, enters=(), spent=(0.0, 0, 0)):
        """Train without fold h, from a seed made of a former fit, and keep what it says of the fold; `spent`
        is CPU time, columns and kernel values that the seed has taken before."""
        columns, values = gram.thread_counts
        begin = clock()
        start, known = Seed(None), None
        if seed is not None:
            solution, known = former
            theta, f, _ = known
            enters = np.asarray(enters, dtype=np.intp)
            start = seed(Transition(gram, y, C, theta, f, -solution.b, members[h], enters, tol, rng))
        middle = clock()
        solution, known = trainer.fit(gram, without(C, members[h]), start.theta, known)
        times = spent[0] + middle - begin, clock() - middle
        columns_now, values_now = gram.thread_counts
        note(h, solution, start, *times, spent[1] + columns_now - columns, spent[2] + values_now - values)
        return solution, known

    def unlearn(several):
        """Unlearn some folds, and train without those whose path does not lead to the optimum."""
        columns, values = gram.thread_counts
        begin = clock()
        found = unlearning.without([members[h] for h in several])
        optimal, n = found.optimal(tol), len(several)
        time_each = (clock() - begin) / n
        columns_now, values_now = gram.thread_counts
        counts = zip(_shares(columns_now - columns, n), _shares(values_now - values, n), strict=True)
        for j, (h, count) in enumerate(zip(several, counts, strict=True)):
            begin = clock()
            if optimal[j]:
                solution, seed = found.solution(j, y, without(C, members[h])), found.seed(j)
                note(h, solution, seed, time_each, clock() - begin, *count)
            else:
                train(h, partial(found.seed_or_top, j), former, spent=(time_each, *count))

    full, full_cpu_s = None, 0.0
    work = WORK_PER_FIT * rounds * gram.m**2
    if chained:
        former = train(0)
        for h in range(1, rounds):
            former = train(h, CHAINED[seeding], former, members[h - 1])
    elif seeding == "cold":
        in_parallel(gram, train, range(rounds), work)
    else:
        begin = time.process_time()
        former = trainer.fit(gram, C, exact=seeding == "unlearn")
        full = former[0]
        if seeding == "unlearn":
            unlearning = Unlearning(gram, y, C, former[1], full.b)
        full_cpu_s = time.process_time() - begin
        if seeding == "unlearn":
            in_parallel(gram, unlearn, groups_of(range(rounds), gram.m), work)
        else:
            in_parallel(gram, lambda h: train(h, FROM_FULL[seeding], former), range(rounds), work)
    errors = misclassified(y, decision) & ~np.isnan(decision)
    return CrossValidation(frozen(folds), frozen(decision), frozen(errors), tuple(done), full, full_cpu_s)


def members_of(folds):
    """The rows of each fold."""
    return np.split(np.argsort(folds, kind="stable"), np.cumsum(np.bincount(folds))[:-1])


def _shares(count, n):
    """A count in n parts that differ by 1 at most."""
    return np.diff(np.arange(n + 1) * count // n).tolist()


def _check_rounds(rounds, k):
    """How many folds to run, or a ValueError."""
    if rounds is None:
        return k
    if isinstance(rounds, bool) or not isinstance(rounds, numbers.Integral) or not 1 <= rounds <= k:
        raise ValueError(f"rounds must be None or an integer from 1 to the {k} folds, got {rounds!r}")
    return int(rounds)
