"""k-fold cross-validation on one shared Gram matrix."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from svmselect.checks import check_bounds, check_labels, check_options, frozen
from svmselect.cv.folds import check_folds
from svmselect.cv.seeds.ato import ato
from svmselect.cv.seeds.mir import mir
from svmselect.cv.seeds.replace import avg, sir, top
from svmselect.cv.seeds.transition import Seed, Transition
from svmselect.cv.trainer import WORK_PER_FIT, Trainer, groups_of, members_of, unlearned_fast, without
from svmselect.errors import WeightedErrors, misclassified
from svmselect.gram import Gram
from svmselect.svm import Solution
from svmselect.threads import in_parallel, one_blas_thread, thread_count
from svmselect.unlearning.folds import FoldsUnlearning

__all__ = ["CrossValidation", "Round", "cross_validate", "seed_or_top"]

# A seed changes the solution of the fold before (CHAINED), or the solution of all points.
CHAINED = {"ato": ato, "mir": mir, "sir": sir}
FROM_FULL = {"avg": avg, "top": top}
SEEDINGS = ("cold", *CHAINED, *FROM_FULL, "unlearn")
MOST_COLD = 20  # fits; with more, folds are unlearned by default


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

    def _errors_and_counts(self):
        return self.errors, ~np.isnan(self.decision)

    @property
    def _fits(self):
        return self.rounds if self.full is None else (*self.rounds, self.full)

    @property
    def accuracy(self) -> float:
        """Share of correctly classified points among those of the folds run, in [0, 1]."""
        return 1 - self.error

    @property
    def n_iter(self) -> int:
        """Iterations of all fits, that of all points included."""
        return sum(fit.n_iter for fit in self._fits)

    @property
    def kernel_values(self) -> int:
        """Kernel values computed by all fits and seeds."""
        return sum(fit.kernel_values for fit in self._fits)

    @property
    def columns_requested(self) -> int:
        """Gram columns asked for by all fits and seeds."""
        return sum(fit.columns_requested for fit in self._fits)

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
        return sum(not fit.converged for fit in self._fits)


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
    """Cross-validate one model by k folds, with fits that start from solutions of similar training sets.

    A fit is seeded with the solution of a similar training set, or its fold is unlearned from the solution of
    all points. The points of the fold that is held out have ``C_i = 0``: all fits share one Gram matrix, and
    the solver keeps the decision values of held-out points up to date. Every fit runs to the same tolerance,
    so the seed changes its cost, not its classifier beyond `tol`.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows. After ``gram.compute()`` the times of the fits do not include the kernel
        values.
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
        since seeds hardly save time on a shared matrix; for more fits "unlearn", or "top" where there are
        more than 10,000 rows or the whole matrix does not fit its budget (``benchmarks/results/folds.csv``).
    tol, working_set, active_set, max_iter
        See `solve_csvc`. With ``active_set=False`` iterations are those of LIBSVM's rule.
    rounds : int, optional
        How many folds are run, from the first one on; all by default.
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

    "unlearn" drives the variables of a fold from the solution of all points to 0 along the path of optimal
    solutions of the rest (``docs/how_it_works.md``). That solution has a KKT gap of at most 1e-9 for it, or
    the least gap that the active-set method can reach; this method then takes over even with
    ``active_set=False``. A fold whose gap may exceed `tol` at the end is trained by the solver, from there,
    or from the seed "top" where the path was degenerate; only such a fold has iterations. Several folds are
    unlearned together, so CPU times and counts of a fold are equal shares of theirs.

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
    # arguments, and the clock of a thread where folds run on several
    run = _Run(gram, y, C, folds, tol, working_set, active_set, max_iter, rounds, rng, progress)
    seeding = _seeding(seeding, run)
    chained = seeding in CHAINED
    if not (chained or not gram.full or thread_count() == 1):
        run.clock = time.thread_time
    # the fits
    full, full_cpu_s = None, 0.0
    work = WORK_PER_FIT * run.n_rounds * gram.m**2
    if chained:  # each fold from the one before
        former = run.train(0)
        for h in range(1, run.n_rounds):
            former = run.train(h, CHAINED[seeding], former, run.members[h - 1])
    elif seeding == "cold":
        in_parallel(gram, run.train, range(run.n_rounds), work)
    else:  # each fold from the solution of all points
        begin = time.process_time()
        former = run.trainer.fit(gram, run.C, exact=seeding == "unlearn")
        full = former[0]
        if seeding == "unlearn":
            unlearning = FoldsUnlearning(gram, run.y, run.C, former[1], full.b)
            task, tasks = partial(run.unlearn, unlearning, former), groups_of(range(run.n_rounds), gram.m)
        else:
            task, tasks = partial(run.train, seed=FROM_FULL[seeding], former=former), range(run.n_rounds)
        full_cpu_s = time.process_time() - begin
        in_parallel(gram, task, tasks, work)
    errors = misclassified(run.y, run.decision) & ~np.isnan(run.decision)
    return CrossValidation(
        frozen(run.folds), frozen(run.decision), frozen(errors), tuple(run.rounds), full, full_cpu_s
    )


class _Run:
    """A cross-validation of checked arguments, and the rounds that are done."""

    def __init__(self, gram, y, C, folds, tol, working_set, active_set, max_iter, rounds, rng, progress):
        self.gram, self.y = gram, check_labels(gram, y)
        self.C = check_bounds(gram, self.y, C)
        if (self.C == 0).any():
            raise ValueError(
                f"C must be positive at every point for cross-validation, got 0 at point {self.C.argmin()}"
            )
        self.folds = check_folds(folds, self.y)
        max_iter = check_options(tol, working_set, max_iter, gram.m)
        self.members = members_of(self.folds)
        self.n_rounds = _check_rounds(rounds, len(self.members))
        self.trainer = Trainer(self.y, tol, working_set, active_set, max_iter)
        self.rng, self.progress, self.clock = np.random.default_rng(rng), progress, time.process_time
        self.rounds, self.decision = [None] * self.n_rounds, np.full(gram.m, np.nan)

    def record(self, h, solution, seed, cost, training_cpu_s):
        """Record the fit without fold h, with CPU seconds of its seed and columns and values of both."""
        seeding_cpu_s, columns, values = cost
        self.rounds[h] = Round(
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
        self.decision[self.members[h]] = solution.decision[self.members[h]]
        if self.progress is not None:
            self.progress(sum(r is not None for r in self.rounds), self.n_rounds)

    def train(self, h, seed=None, former=None, enters=(), before=(0.0, 0, 0)):
        """Return the fit without fold h, from a seed made of a former fit that has cost `before`."""
        gram, members = self.gram, self.members[h]
        columns, values = gram.thread_counts
        begin = self.clock()
        start, known = Seed(None), None
        if seed is not None:
            solution, known = former
            theta, f, _ = known
            enters, level = np.asarray(enters, dtype=np.intp), -solution.b
            change = Transition(
                gram, self.y, self.C, theta, f, level, members, enters, self.trainer.tol, self.rng
            )
            start = seed(change)
        middle = self.clock()
        solution, known = self.trainer.fit(gram, without(self.C, members), start.theta, known)
        end = self.clock()
        columns_now, values_now = gram.thread_counts
        spent = middle - begin, columns_now - columns, values_now - values
        cost = [former + new for former, new in zip(before, spent, strict=True)]
        self.record(h, solution, start, cost, end - middle)
        return solution, known

    def unlearn(self, unlearning, former, group):
        """Unlearn a group of folds, and train without those whose path does not lead to the optimum."""
        columns, values = self.gram.thread_counts
        begin = self.clock()
        ends = unlearning.unlearn_folds([self.members[h] for h in group])
        optimal, n = ends.optimal(self.trainer.tol), len(group)
        # each fold has an equal share of what the group has cost
        cpu_s = (self.clock() - begin) / n
        spent = np.array(self.gram.thread_counts) - (columns, values)
        shares = np.diff(np.arange(n + 1)[:, None] * spent // n, axis=0).tolist()
        for j, (h, share) in enumerate(zip(group, shares, strict=True)):
            cost, begin = (cpu_s, *share), self.clock()
            if optimal[j]:
                solution = ends.solution(j, self.y, without(self.C, self.members[h]))
                self.record(h, solution, _seed_of(ends, j), cost, self.clock() - begin)
            else:
                self.train(h, partial(seed_or_top, ends, j), former, before=cost)


def _seeding(seeding, run):
    """Return the seeding, by default the one that is fastest; raise a ValueError for an unknown one."""
    if seeding is None:
        seeding = "cold" if run.n_rounds <= MOST_COLD else "unlearn" if unlearned_fast(run.gram) else "top"
    if seeding not in SEEDINGS:
        raise ValueError(f"seeding must be None or one of {list(SEEDINGS)}, got {seeding!r}")
    if seeding == "unlearn":
        run.gram.check_definite()
    return seeding


def _seed_of(ends, j):
    """Return end j of paths of folds as the seed of a fit."""
    return Seed(ends.theta[j], int(ends.n_events[j]))


def seed_or_top(ends, j, change):
    """Return end j of paths of folds as the seed of a fit, or the seed "top" if the path was degenerate."""
    seed = _seed_of(ends, j)
    return seed if ends.reached[j] else top(change)._replace(steps=seed.steps)


def _check_rounds(rounds, k):
    """Return how many folds to run; raise a ValueError for a bad number."""
    if rounds is None:
        return k
    if isinstance(rounds, bool) or not isinstance(rounds, numbers.Integral) or not 1 <= rounds <= k:
        raise ValueError(f"rounds must be None or an integer from 1 to the {k} folds, got {rounds!r}")
    return int(rounds)
