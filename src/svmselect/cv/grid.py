"""Cross-validation of many models: a grid over C and gamma on shared Gram matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from svmselect.checks import check_labels, check_options, frozen, largest_C
from svmselect.cv.folds import check_folds
from svmselect.cv.kfold import seed_or_top
from svmselect.cv.seeds.transition import Transition
from svmselect.cv.trainer import WORK_PER_FIT, Trainer, groups_of, members_of, seeding_of_grid, without
from svmselect.errors import WeightedErrors, misclassified
from svmselect.gram import Gram
from svmselect.kernels import RBF
from svmselect.path import check_values, moved_along_C
from svmselect.solver._path import follow
from svmselect.threads import in_parallel, in_turn, one_blas_thread, share_out, thread_count
from svmselect.unlearning.folds import FoldsUnlearning

__all__ = ["GridCrossValidation", "cross_validate_grid"]

NO_POINTS = np.arange(0)


@dataclass(frozen=True)
class GridCrossValidation(WeightedErrors):
    """The k-fold cross-validation of a grid of models.

    Attributes
    ----------
    gammas : ndarray, shape (n_gammas,), or None
    Cs : ndarray, shape (n_Cs,)
    folds : ndarray of intp, shape (m,)
        The fold of each row, 0 to k - 1.
    errors : ndarray of intp, shape (n_gammas, n_Cs, k)
        Misclassified points of each fold, by the classifier trained without it; n_gammas is 1 without gammas.
    n_iter : ndarray of int64, shape (n_gammas, n_Cs, k)
        Iterations of each fit, without those of the solutions of all points that folds are unlearned from.
    converged : ndarray of bool, shape (n_gammas, n_Cs, k)
        Whether the fit reached the tolerance.
    decision : ndarray, shape (n_gammas, n_Cs, m), or None
        With ``decision_values=True`` the decision value of each point by the classifier trained without its
        fold, to the tolerance of the fits.
    y : ndarray, shape (m,)
        The labels.
    """

    gammas: np.ndarray | None
    Cs: np.ndarray
    folds: np.ndarray
    errors: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    decision: np.ndarray | None
    y: np.ndarray

    def _errors_and_counts(self):
        if self.decision is None:
            raise ValueError("a weighted error needs cross_validate_grid(..., decision_values=True)")
        return misclassified(self.y, self.decision), None

    @property
    def error(self) -> np.ndarray:
        """Share of misclassified points of each model: shape (n_gammas, n_Cs)."""
        return self.errors.sum(axis=2) / self.folds.size

    @property
    def best(self) -> tuple[float | None, float]:
        """The pair (gamma, C) of the least error; of several the first gamma, and its first C."""
        g, c = np.unravel_index(self.error.argmin(), self.error.shape)
        return None if self.gammas is None else float(self.gammas[g]), float(self.Cs[c])


@one_blas_thread()
def cross_validate_grid(
    gram: Gram,
    y: ArrayLike,
    Cs: ArrayLike,
    gammas: ArrayLike | None = None,
    folds: ArrayLike = 5,
    tol: float = 1e-3,
    working_set: str = "wss2",
    active_set: bool = True,
    max_iter: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    decision_values: bool = False,
    seeding: str | None = None,
) -> GridCrossValidation:
    """Cross-validate every C, and every gamma where some are given, on one Gram matrix per gamma.

    Within a fold, models are trained with increasing C, each from the solution before. Or all points are
    trained on with increasing C, and every fold is unlearned from each of these solutions. Values of gamma
    run on as many threads as BLAS may use, each with a matrix of its own within the budget of `gram`. Where
    the budget holds one matrix, the folds run on the threads.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows. With `gammas` it is given RBF kernels in the same memory, and is left
        with the last.
    y, folds
        See `cross_validate`.
    Cs, gammas : array_like, shape (n_Cs,) and (n_gammas,)
        Values of C and gamma, in any order. Without `gammas` the kernel of `gram` is used.
    tol, working_set, active_set, max_iter
        See `solve_csvc`.
    progress : callable, optional
        Called as ``progress(done, total)`` after each gamma, from the calling thread.
    decision_values : bool
        Whether to keep the decision value of every point by every model: m numbers for each model.
    seeding : {None, "path", "unlearn"}
        "path": the models of a fold from one another; "unlearn": see `cross_validate`. None, the default:
        "path" for up to 15 folds, for more than 10,000 rows, and where the whole matrix does not fit its
        budget; else "unlearn" (``benchmarks/results/folds.csv``).

    Returns
    -------
    GridCrossValidation

    Raises
    ------
    ValueError
        For a bad argument; the sentence names it and its value.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, cross_validate_grid
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> grid = cross_validate_grid(gram, y, Cs=[0.1, 1, 10], gammas=[0.1, 1], folds=3)
    >>> grid.error.shape
    (2, 3)
    >>> grid.best
    (0.1, 0.1)
    """
    run = _GridRun(gram, y, Cs, gammas, folds, tol, working_set, active_set, max_iter, decision_values)
    # the folds of one gamma, by paths along C or by unlearning
    unlearned = seeding_of_grid(seeding, gram, len(run.members)) == "unlearn"
    every_fold = run.unlearn_folds if unlearned else run.follow_paths
    gammas, n_gammas = run.gammas, run.errors.shape[0]
    copies = gram.copies(1 if gammas is None else min(thread_count(), gammas.size))
    if gammas is not None and len(copies) > 1:
        # one gamma per thread, each on a matrix of its own
        task, tasks = partial(run.one_gamma, every_fold), range(n_gammas)
        share_out(copies, task, tasks, n_gammas * run.work, progress)
        gram.set_kernel(RBF(gammas[-1]))
    else:
        # one gamma after the other, whose folds share the threads
        for g in range(n_gammas):
            if gammas is not None:
                gram.set_kernel(RBF(gammas[g]))
            every_fold(gram, g, in_parallel)
            if progress is not None:
                progress(g + 1, n_gammas)
    decision = None if run.decision is None else frozen(run.decision)
    arrays = run.folds, run.errors, run.n_iter, run.converged, run.y
    folds, errors, n_iter, converged, y = map(frozen, arrays)
    return GridCrossValidation(gammas, run.Cs, folds, errors, n_iter, converged, decision, y)


class _GridRun:
    """A cross-validation of a grid, and its results so far; see `GridCrossValidation`."""

    def __init__(self, gram, y, Cs, gammas, folds, tol, working_set, active_set, max_iter, decision_values):
        self.y = check_labels(gram, y)
        if np.unique(self.y).size < 2:
            raise ValueError("y must hold both classes")
        self.Cs = np.array(check_values(Cs, "Cs"))
        self.order = np.argsort(self.Cs, kind="stable")
        self.gammas = None if gammas is None else np.array(check_values(gammas, "gammas"))
        self.folds = check_folds(folds, self.y)
        self.members = members_of(self.folds)
        self.limit = check_options(tol, working_set, max_iter, gram.m)  # steps of a fit
        self.trainer = Trainer(self.y, tol, working_set, active_set, self.limit)
        # a guess of the work for one gamma, in multiplications
        self.work = WORK_PER_FIT * self.Cs.size * len(self.members) * gram.m**2
        shape = 1 if gammas is None else self.gammas.size, self.Cs.size, len(self.members)
        self.errors, self.n_iter = np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=np.int64)
        self.converged = np.zeros(shape, dtype=bool)
        self.decision = np.empty((*shape[:2], gram.m)) if decision_values else None

    def one_gamma(self, every_fold, gram, g):
        """Cross-validate the models of one gamma on the calling thread, on a matrix of its own."""
        gram.set_kernel(RBF(self.gammas[g]))
        every_fold(gram, g, in_turn)

    def follow_paths(self, gram, g, distribute):
        """Train without each fold with increasing C, each model from the one before."""
        folds = range(len(self.members))
        distribute(gram, partial(self.follow_path, gram, g), folds, self.work)

    def follow_path(self, gram, g, h):
        """Train without fold h with increasing C."""
        trainer, rows, order = self.trainer, self.members[h], self.order
        decision = np.empty((order.size, 0 if self.decision is None else rows.size))
        Cs = np.minimum(self.Cs[order], largest_C(gram))
        options = trainer.working_set, trainer.with_active_set(gram), trainer.tol, self.limit
        self.errors[g, order, h], self.n_iter[g, order, h], self.converged[g, order, h] = follow(
            gram, self.y, Cs, rows, *options, decision
        )
        if self.decision is not None:
            self.decision[np.ix_([g], order, rows)] = decision

    def unlearn_folds(self, gram, g, distribute):
        """Train with all points with increasing C, and unlearn every fold from each solution."""
        theta = known = solution = None
        for c in self.order:
            C = np.full(gram.m, min(self.Cs[c], largest_C(gram)))
            if solution is not None:
                theta = moved_along_C(self.y, solution, C)
            solution, known = self.trainer.fit(gram, C, theta, known, exact=True)
            unlearning = FoldsUnlearning(gram, self.y, C, known, solution.b)
            task = partial(self.unlearn_group, unlearning, known, C, g, c)
            groups = groups_of(range(len(self.members)), gram.m)
            distribute(gram, task, groups, self.work / self.Cs.size)

    def unlearn_group(self, unlearning, known, C, g, c, group):
        """Unlearn a group of folds, and train without those whose path does not lead to the optimum."""
        gram, y, trainer = unlearning.gram, self.y, self.trainer
        ends = unlearning.unlearn_folds([self.members[h] for h in group])
        for j, (h, optimal) in enumerate(zip(group, ends.optimal(trainer.tol), strict=True)):
            rows = self.members[h]
            bound = without(C, rows)
            if optimal:
                left = ends.solution(j, y, bound)
            else:
                change = Transition(gram, y, C, *known[:2], -unlearning.b, rows, NO_POINTS, trainer.tol)
                left, _ = trainer.fit(gram, bound, seed_or_top(ends, j, change).theta, known)
            if self.decision is not None:
                self.decision[g, c, rows] = left.decision[rows]
            self.errors[g, c, h] = np.count_nonzero(misclassified(y, left.decision)[rows])
            self.n_iter[g, c, h], self.converged[g, c, h] = left.n_iter, left.converged
