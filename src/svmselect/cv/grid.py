"""Cross-validation of many models: a grid over C and gamma on shared Gram matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from svmselect.cv.folds import check_folds
from svmselect.cv.kfold import (
    WORK_PER_FIT,
    Trainer,
    groups_of,
    in_parallel,
    in_turn,
    members_of,
    share_out,
    unlearned_fast,
    without,
)
from svmselect.cv.transition import Transition
from svmselect.cv.unlearn import Unlearning
from svmselect.gram import Gram
from svmselect.kernels import RBF
from svmselect.path import check_values, moved_along_C
from svmselect.solver._path import follow
from svmselect.svm import (
    WeightedErrors,
    check_labels,
    check_options,
    frozen,
    largest_C,
    misclassified,
)
from svmselect.threads import one_blas_thread, thread_count

__all__ = ["GridCrossValidation", "cross_validate_grid"]

SEEDINGS = ("path", "unlearn")
MOST_PATHS = 15  # folds; with more, they are unlearned by default
NOBODY = np.arange(0)  # enters


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
        Iterations of each fit; not those of the solutions of all points that folds are unlearned from.
    converged : ndarray of bool, shape (n_gammas, n_Cs, k)
        Whether it reached the tolerance.
    decision : ndarray, shape (n_gammas, n_Cs, m), or None
        With ``decision_values=True`` the decision value of each point by the classifier trained without its
        fold, to the tolerance of the fits.
    y : ndarray, shape (m,)
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, cross_validate_grid
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> grid = cross_validate_grid(gram, y, Cs=[0.1, 1, 10], folds=3)
    >>> grid.error.round(3)
    array([[0.25 , 0.25 , 0.375]])
    """

    gammas: np.ndarray | None
    Cs: np.ndarray
    folds: np.ndarray
    errors: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    decision: np.ndarray | None
    y: np.ndarray

    def _judged(self):
        if self.decision is None:
            raise ValueError("a weighted error needs cross_validate_grid(..., decision_values=True)")
        return misclassified(self.y, self.decision), None

    @property
    def error(self) -> np.ndarray:
        """Share of misclassified points of each model: shape (n_gammas, n_Cs)."""
        return self.errors.sum(axis=2) / self.folds.size

    @property
    def best(self) -> tuple[float | None, float]:
        """(gamma, C) of the least error; of several the first gamma, and of that the first C."""
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
    """k-fold cross-validation of every C, and for every gamma where some are given, on one Gram matrix per
    gamma.

    Within a fold, models are trained with increasing C, each from the solution before; or this is done with
    all points, and every fold is unlearned from each of these solutions. Values of gamma run on as many
    threads as BLAS may use, each with a matrix of its own within the budget of `gram`; where that holds one,
    the folds do.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows. With `gammas` it is given RBF kernels in the same memory, and is left
        with the last.
    y : array_like, shape (m,)
        Labels, -1 and +1.
    Cs : array_like, shape (n_Cs,)
        Values of C, in any order.
    gammas : array_like, shape (n_gammas,), optional
        Values of gamma.
    folds : int or array_like of int, shape (m,)
        See `cross_validate`.
    tol, working_set, active_set, max_iter
        See `solve_csvc`.
    progress : callable, optional
        Called as ``progress(done, total)`` after each gamma, from the calling thread.
    decision_values : bool
        Whether to keep the decision value of every point by every model, m numbers for each.
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
    y = check_labels(gram, y)
    if np.unique(y).size < 2:
        raise ValueError("y must hold both classes")
    Cs = np.array(check_values(Cs, "Cs"))
    gammas = None if gammas is None else np.array(check_values(gammas, "gammas"))
    folds = check_folds(folds, y)
    limit = check_options(tol, working_set, max_iter, gram.m)
    trainer = Trainer(y, tol, working_set, active_set, limit)
    members = members_of(folds)
    if seeding is None:
        seeding = "unlearn" if len(members) > MOST_PATHS and unlearned_fast(gram) else "path"
    if seeding not in SEEDINGS:
        raise ValueError(f"seeding must be None or one of {list(SEEDINGS)}, got {seeding!r}")
    if seeding == "unlearn":
        gram.check_definite()
    shape = 1 if gammas is None else gammas.size, Cs.size, len(members)
    errors, n_iter = np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=np.int64)
    converged = np.zeros(shape, dtype=bool)
    decision = np.empty((*shape[:2], gram.m)) if decision_values else None
    order = np.argsort(Cs, kind="stable")
    rounds = range(len(members))
    work = WORK_PER_FIT * Cs.size * len(members) * gram.m**2

    def keep(solution, g, c, h):
        if decision is not None:
            decision[g, c, members[h]] = solution.decision[members[h]]
        errors[g, c, h] = np.count_nonzero(misclassified(y, solution.decision)[members[h]])
        n_iter[g, c, h], converged[g, c, h] = solution.n_iter, solution.converged

    def path(view, g, h):
        found = np.empty((Cs.size, members[h].size if decision_values else 0))
        bounds, with_active_set = np.minimum(Cs[order], largest_C(view)), trainer.with_active_set(view)
        errors[g, order, h], n_iter[g, order, h], converged[g, order, h] = follow(
            view, y, bounds, members[h], working_set, with_active_set, tol, limit, found
        )
        if decision_values:
            decision[np.ix_([g], order, members[h])] = found

    def unlearn(view, g, distribute):
        theta = known = solution = None
        for c in order:
            C = np.full(view.m, min(Cs[c], largest_C(view)))
            if solution is not None:
                theta = moved_along_C(y, solution, C)
            solution, known = trainer.fit(view, C, theta, known, exact=True)
            unlearning = Unlearning(view, y, C, known, solution.b)

            def several(these, c=c, C=C, unlearning=unlearning, known=known, b=solution.b):
                found = unlearning.without([members[h] for h in these])
                for j, (h, optimal) in enumerate(zip(these, found.optimal(tol), strict=True)):
                    bound = without(C, members[h])
                    if optimal:
                        one = found.solution(j, y, bound)
                    else:
                        change = Transition(view, y, C, *known[:2], -b, members[h], NOBODY, tol)
                        one, _ = trainer.fit(view, bound, found.seed_or_top(j, change).theta, known)
                    keep(one, g, c, h)

            distribute(view, several, groups_of(rounds, view.m), work / Cs.size)

    def every_fold(view, g, distribute):
        if seeding == "unlearn":
            unlearn(view, g, distribute)
        else:
            distribute(view, lambda h: path(view, g, h), rounds, work)

    def one_by_one(own, g):
        own.set_kernel(RBF(gammas[g]))
        every_fold(own, g, in_turn)

    copies = gram.copies(1 if gammas is None else min(thread_count(), gammas.size))
    if gammas is not None and len(copies) > 1:
        share_out(copies, one_by_one, range(gammas.size), work * gammas.size, progress)
        gram.set_kernel(RBF(gammas[-1]))
    else:
        for g in range(shape[0]):
            if gammas is not None:
                gram.set_kernel(RBF(gammas[g]))
            every_fold(gram, g, in_parallel)
            if progress is not None:
                progress(g + 1, shape[0])
    folds, errors, n_iter, converged = map(frozen, (folds, errors, n_iter, converged))
    decision = None if decision is None else frozen(decision)
    return GridCrossValidation(gammas, Cs, folds, errors, n_iter, converged, decision, frozen(y))
