"""k-fold cross-validation of epsilon-SVRs: a grid over gamma, epsilon and C on shared Gram matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

import svmselect.solver._active_set as _active_set
from svmselect.checks import as_numbers, check_amounts, check_options, check_targets, frozen, largest_C
from svmselect.cv.folds import check_folds
from svmselect.cv.trainer import EXACT, WORK_PER_FIT, groups_of, members_of, seeding_of_grid, without
from svmselect.gram import Gram
from svmselect.kernels import RBF
from svmselect.loo.regression import ScaledRegression
from svmselect.path import check_values
from svmselect.solver._smo import Dual
from svmselect.svr import check_epsilon, moved_to_bounds, regression_of, tol_of
from svmselect.threads import in_parallel, one_blas_thread
from svmselect.unlearning.regression import RegressionFolds

__all__ = ["CrossValidationRegression", "cross_validate_svr"]


@dataclass(frozen=True)
class CrossValidationRegression:
    """The k-fold cross-validation of a grid of regressions.

    Attributes
    ----------
    gammas : ndarray, shape (n_gammas,), or None
    epsilons : ndarray, shape (n_epsilons,)
    Cs : ndarray, shape (n_Cs,)
    folds : ndarray of intp, shape (m,)
        The fold of each row, 0 to k - 1.
    predictions : ndarray, shape (n_gammas, n_epsilons, n_Cs, m)
        Prediction of each row by the model trained without its fold; n_gammas is 1 without gammas.
    n_iter : ndarray of int64, shape (n_gammas, n_epsilons, n_Cs, k)
        Steps of each fit, without those of the solutions of all rows that folds are unlearned from.
    converged : ndarray of bool, shape (n_gammas, n_epsilons, n_Cs, k)
        Whether the fit reached the tolerance.
    z : ndarray, shape (m,)
        The targets.
    """

    gammas: np.ndarray | None
    epsilons: np.ndarray
    Cs: np.ndarray
    folds: np.ndarray
    predictions: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    z: np.ndarray

    @property
    def mean_absolute_error(self) -> np.ndarray:
        """Mean of the absolute residuals of each model: shape (n_gammas, n_epsilons, n_Cs)."""
        return np.abs(self.z - self.predictions).mean(axis=-1)

    @property
    def mean_squared_error(self) -> np.ndarray:
        """Mean of the squared residuals of each model: shape (n_gammas, n_epsilons, n_Cs)."""
        return ((self.z - self.predictions) ** 2).mean(axis=-1)

    @property
    def best(self) -> tuple[float | None, float, float]:
        """The triple (gamma, epsilon, C) of the least mean squared error; of several the first."""
        error = self.mean_squared_error
        g, e, c = np.unravel_index(error.argmin(), error.shape)
        gamma = None if self.gammas is None else float(self.gammas[g])
        return gamma, float(self.epsilons[e]), float(self.Cs[c])


@one_blas_thread()
def cross_validate_svr(
    gram: Gram,
    z: ArrayLike,
    Cs: ArrayLike,
    epsilons: ArrayLike = 0.1,
    gammas: ArrayLike | None = None,
    folds: ArrayLike = 5,
    weight: ArrayLike | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    seeding: str | None = None,
) -> CrossValidationRegression:
    """Cross-validate epsilon-SVRs for every gamma, epsilon and C, on one Gram matrix per gamma.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows. With `gammas` it is given RBF kernels in the same memory, and is left
        with the last.
    z : array_like, shape (m,)
        Targets.
    Cs, epsilons : float or array_like
        Values of C and epsilon, in any order.
    gammas : float or array_like, optional
        Values of gamma.
    folds : int or array_like of int, shape (m,)
        A number of folds of equal size, or the fold of each row, 0 to k - 1; ``np.arange(m)``
        leaves one out.
    weight : array_like, shape (m,), optional
        Factors of C; 1 by default. A row of weight 0 is in no training set.
    tol, max_iter
        See `solve_svr`.
    progress : callable, optional
        Called as ``progress(done, total)`` after each model.
    seeding : {None, "path", "unlearn"}
        "path": within a fold, each C starts at the solution of the C before. "unlearn": every fold leaves the
        solution of all rows, along the path of optimal solutions of the rest; see `cross_validate`. None, the
        default: "path" for up to 15 folds, for more than 10,000 rows, and where the whole matrix does not fit
        its budget; else "unlearn".

    Returns
    -------
    CrossValidationRegression

    Raises
    ------
    ValueError
        For a bad argument; the sentence names it and its value.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, cross_validate_svr
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> run = cross_validate_svr(Gram(X, RBF(0.5)), np.sin(X[:, 0]), [1, 10], [0.1, 0.2], folds=4)
    >>> run.mean_squared_error.round(2).tolist()
    [[[0.13, 0.13], [0.18, 0.18]]]
    """
    # 1) arguments
    z = check_targets(gram, z)
    weight = check_amounts(gram, 1.0 if weight is None else weight, "weight")
    C_values = np.array(check_values(np.atleast_1d(as_numbers(Cs, "Cs")), "Cs"))
    gamma_values = None
    if gammas is not None:
        gamma_values = np.array(check_values(np.atleast_1d(as_numbers(gammas, "gammas")), "gammas"))
    epsilons = np.array(
        [check_epsilon(each) for each in np.atleast_1d(as_numbers(epsilons, "epsilons")).tolist()]
    )
    fold_numbers = _checked_folds(folds, weight)
    tol = tol_of(tol, z, weight)
    max_iter = check_options(tol, "wss2", max_iter, gram.m)
    members = members_of(fold_numbers)
    seeding = seeding_of_grid(seeding, gram, len(members))
    # 2) the models of each kernel
    shape = (1 if gamma_values is None else gamma_values.size, epsilons.size, C_values.size)
    predictions = np.empty((*shape, gram.m))
    n_iter = np.zeros((*shape, len(members)), dtype=np.int64)
    converged = np.zeros((*shape, len(members)), dtype=bool)
    done = 0
    for g in range(shape[0]):
        if gamma_values is not None:
            gram.set_kernel(RBF(gamma_values[g]))
        for e, epsilon in enumerate(epsilons):
            order = np.argsort(C_values, kind="stable")
            bounds = [np.minimum(C * weight, largest_C(gram)) for C in C_values[order]]
            run = _FoldRun(gram, z, epsilon, members, tol, max_iter)
            for c, results in zip(order, run.models(bounds, seeding), strict=True):
                predictions[g, e, c], n_iter[g, e, c], converged[g, e, c] = results
                done += 1
                if progress is not None:
                    progress(done, int(np.prod(shape)))
    for array in (fold_numbers, predictions, n_iter, converged):
        frozen(array)
    values = gamma_values, epsilons, C_values
    return CrossValidationRegression(*values, fold_numbers, predictions, n_iter, converged, z)


def _checked_folds(folds, weight):
    """Return the fold of each row as intp; raise a ValueError unless every fold leaves rows to train on."""
    folds = check_folds(folds, np.zeros(weight.size))
    whole = np.bincount(folds, weight > 0) == np.count_nonzero(weight > 0)
    if whole.any():
        raise ValueError(
            f"folds must leave rows of positive weight to train on, fold {whole.argmax()} holds all"
        )
    return folds


class _FoldRun:
    """The folds of regressions that share a kernel and epsilon; see `cross_validate_svr` for parameters."""

    def __init__(self, gram, z, epsilon, members, tol, max_iter):
        self.gram, self.z, self.epsilon, self.members = gram, z, float(epsilon), members
        self.tol, self.max_iter = tol, max_iter

    def models(self, bounds, seeding):
        """Yield predictions, steps and whether fits converged, of the models of increasing bounds."""
        gram, former = self.gram, [None] * (1 + len(self.members))
        work = WORK_PER_FIT * len(self.members) * gram.m**2
        for C in bounds:
            scaled = ScaledRegression.scaling(self.z, C, self.epsilon)
            results = np.empty(gram.m), np.zeros(len(self.members), dtype=np.int64)
            results = *results, np.zeros(len(self.members), dtype=bool)
            if seeding == "path":
                train = partial(self.follow_path, scaled, C, former, results)
                in_parallel(gram, train, range(len(self.members)), work)
            else:
                self.unlearn(scaled, C, former, results, work)
            yield results

    def fit(self, scaled, C, former, tol):
        """Return the solved Dual and its RegressionSolution, from a former solution if there is one."""
        dual = Dual(self.gram, scaled.z)
        theta = None if former is None else moved_to_bounds(former, C) / scaled.unit
        dual.regress(C / scaled.unit, scaled.epsilon, theta)
        solve = _active_set.solve if self.gram.kernel.definite else Dual.solve
        tol = tol / scaled.unit
        converged = solve(dual, "wss2", tol, self.max_iter)
        counts = self.gram.thread_counts
        solution = regression_of(dual, self.gram, C / scaled.unit, scaled.epsilon, 0.0, converged, counts)
        return dual, scaled.restored(solution, C, self.epsilon)

    def follow_path(self, scaled, C, former, results, h):
        """Train without fold h, from its solution at the C before."""
        rows, bound = self.members[h], without(C, self.members[h])
        _, former[h] = self.fit(scaled, bound, former[h], self.tol)
        self.record(results, h, former[h].prediction[rows], former[h].n_iter, former[h].converged)

    def record(self, results, h, prediction, n_iter, converged):
        """Write down the results of fold h."""
        predictions, steps, reached = results
        predictions[self.members[h]], steps[h], reached[h] = prediction, n_iter, converged

    def unlearn(self, scaled, C, former, results, work):
        """Train with all rows, and let every fold leave this solution."""
        exact = min(self.tol, EXACT * scaled.unit)
        dual, solution = self.fit(scaled, C, former[-1], exact)
        former[-1] = solution
        start = RegressionFolds(dual, scaled.epsilon) if solution.n_inbound else None
        task = partial(self.unlearn_group, scaled, C, solution, start, results)
        in_parallel(self.gram, task, groups_of(range(len(self.members)), self.gram.m), work)

    def unlearn_group(self, scaled, C, full, start, results, group):
        """Unlearn a group of folds, and train without those whose path does not lead to the optimum."""
        optimal = np.zeros(len(group), dtype=bool)
        if start is not None:
            sets = [self.members[h] for h in group]
            prediction, optimal = start.unlearn_folds(sets, self.tol / scaled.unit)
        for j, h in enumerate(group):
            rows, bound = self.members[h], without(C, self.members[h])
            if optimal[j]:
                values = scaled.middle + scaled.unit * prediction[j, rows]
                self.record(results, h, values, 0, True)
            else:
                _, left = self.fit(scaled, bound, full, self.tol)
                self.record(results, h, left.prediction[rows], left.n_iter, left.converged)
