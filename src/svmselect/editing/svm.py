"""SVMs that stand on their own: trained for several values of C or nu, and kept without their Gram matrix."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from svmselect.cv import cross_validate_grid
from svmselect.cv.folds import check_folds
from svmselect.errors import misclassified
from svmselect.gram import Gram
from svmselect.gram.rows import as_rows
from svmselect.kernels import Kernel
from svmselect.kernels.panels import slices
from svmselect.path import check_values, solve_path
from svmselect.svm import InfeasibleNu, solve_nusvc
from svmselect.threads import run

__all__ = [
    "SVM",
    "best_threshold",
    "check_data",
    "check_formulation",
    "check_integer",
    "cross_validated_errors",
    "decisions_of_rows",
    "frozen_rows",
    "train",
    "train_best",
]

FORMULATIONS = ("C", "nu")
VALUES_AT_ONCE = 2**22  # kernel values of a block of decision values


@dataclass(frozen=True)
class SVM:
    """A trained classifier that holds its support vectors only.

    Attributes
    ----------
    value : float
        The C or nu that it was trained with.
    support : ndarray of intp, shape (n_sv,)
        Rows of the training data that are support vectors, increasing.
    theta : ndarray, shape (n_sv,)
        Their ``alpha_i y_i``.
    b : float
        Threshold.
    n_bounded : int
        Support vectors whose alpha is at its upper bound.
    n_iter : int
        Iterations of the solver.
    vectors : ndarray or csr_array, shape (n_sv, d)
        The support vectors.
    kernel : Kernel
    origin : ndarray, shape (d,), or None
        The point from which rows are measured, see `Gram`; None for 0.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmselect import RBF
    >>> from svmselect.editing import train
    >>> X, y = make_classification(200, flip_y=0.2, random_state=0)
    >>> (svm,) = train(X, 2 * y - 1, RBF(0.05), [1.0])
    >>> svm.n_sv == svm.support.size
    True
    """

    value: float
    support: np.ndarray
    theta: np.ndarray
    b: float
    n_bounded: int
    n_iter: int
    vectors: np.ndarray | sparse.csr_array
    kernel: Kernel
    origin: np.ndarray | None = None

    @property
    def n_sv(self) -> int:
        """Number of support vectors."""
        return self.support.size

    def decision_function(self, X: ArrayLike | sparse.sparray) -> np.ndarray:
        """Compute decision values ``f(x) = sum_i alpha_i y_i k(x_i, x) + b``, on BLAS's threads.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)

        Returns
        -------
        ndarray, shape (n,)
            float64; positive for class +1, and 0 counts as +1.

        Raises
        ------
        ValueError
            If `X` is not finite or has another number of features.
        """
        return _decisions([self], self.vectors, X)[0]

    def shifted(self, shift: float) -> SVM:
        """Return the classifier with decision values ``f(x) + shift``."""
        return replace(self, b=self.b + shift)


def _decisions(svms, vectors, X):
    """Return the decision values of several SVMs at the rows of X, shape (n_svms, n).

    `train` has made the SVMs of the same rows; each kernel value is computed once, for all of them. `vectors`
    are the rows that are support vectors of any of them, in increasing order of their numbers.
    """
    X = as_rows(X)
    if X.shape[1] != vectors.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, the SVM was made from {vectors.shape[1]}")
    b = np.array([svm.b for svm in svms])
    support = np.unique(np.concatenate([svm.support for svm in svms]))
    if support.size == 0:  # where rounding hides every gain, the solver leaves all alphas 0
        return np.tile(b[:, None], X.shape[0])
    theta = np.zeros((support.size, len(svms)))
    for k, svm in enumerate(svms):
        theta[np.searchsorted(support, svm.support), k] = svm.theta
    origin = np.zeros(X.shape[1]) if svms[0].origin is None else svms[0].origin
    gram = Gram(vectors, svms[0].kernel, copy=False, origin=origin)
    every = np.arange(support.size)
    out = np.empty((len(svms), X.shape[0]))

    def block(rows):
        out[:, rows] = (gram.cross(X[rows], every) @ theta + b).T

    parts = slices(X.shape[0], max(VALUES_AT_ONCE // support.size, 1))
    run(block, parts, X.shape[0] * support.size * X.shape[1])
    return out


def decisions_of_rows(svms, X):
    """Return the decision values at all rows of X of SVMs made from them by `train`; see `_decisions`."""
    return _decisions(svms, X[np.unique(np.concatenate([svm.support for svm in svms]))], X)


def check_data(X, y):
    """Return rows as `as_rows` does, and labels as float64 of shape (m,); raise a ValueError for bad ones."""
    X, y = as_rows(X), np.asarray(y)
    if y.shape != (X.shape[0],):
        raise ValueError(f"y must have shape ({X.shape[0]},) to match X, got {y.shape}")
    if not np.all((y == 1) | (y == -1)):
        raise ValueError(f"y must hold the labels -1 and +1 only, got {np.unique(y)[:5].tolist()}")
    if np.unique(y).size < 2:
        raise ValueError("y must hold both classes")
    return X, y.astype(np.float64)


def check_integer(value, name, least):
    """Return the value as an int; raise a ValueError unless it is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    return int(value)


def check_formulation(values, formulation):
    """Return values of C or nu in increasing order; raise a ValueError for bad ones."""
    if formulation not in FORMULATIONS:
        raise ValueError(f"formulation must be one of {list(FORMULATIONS)}, got {formulation!r}")
    values = sorted(check_values(np.atleast_1d(values), formulation))
    if formulation == "nu" and values[-1] > 1:
        raise ValueError(f"nu must be a number in (0, 1], got {values[-1]}")
    return values


def frozen_rows(rows):
    """Return row numbers, increasing and read-only."""
    rows = np.sort(np.asarray(rows, dtype=np.intp))
    rows.flags.writeable = False
    return rows


def train(
    X, y, kernel, values, rows=None, formulation="C", tol=1e-3, dtype="float64", memory_mb=2048
) -> Iterator[SVM]:
    """Train a C-SVC for every C, or a nu-SVC for every nu, on one Gram matrix.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (m, d)
    y : array_like, shape (m,)
        Labels, -1 and +1.
    kernel : Kernel
    values : float or array_like
        Values of C or nu. They are solved in increasing order, each C from the solution of the one before.
    rows : array_like of int, optional
        The rows to train on, increasing; all of them by default.
    formulation : {"C", "nu"}
        The parameter that the values are of.
    tol : float
        See `solve_csvc` and `solve_nusvc`.
    dtype, memory_mb
        Budget for the Gram matrix, see `Gram`.

    Returns
    -------
    iterator of SVM
        A nu that is infeasible for these rows, or leaves no margin between the classes, has none.

    Raises
    ------
    ValueError
        For a bad argument, or one class only.
    """
    X, y = check_data(X, y)
    values = check_formulation(values, formulation)
    rows = np.arange(y.size) if rows is None else frozen_rows(rows)
    if np.unique(y[rows]).size < 2:
        raise ValueError("the rows to train on must hold both classes")
    gram = Gram(X[rows], kernel, dtype=dtype, memory_mb=memory_mb, copy=False)
    return _solve(gram, X, y, rows, values, formulation, tol)


def _solve(gram, X, y, rows, values, formulation, tol):
    """Yield the SVMs of `train`, whose arguments are checked."""
    labels = y[rows]
    if formulation == "C":
        path = solve_path(gram, labels, values, tol=tol, working_set="wss2")
        fits = ((point.C, point.solution) for point in path)
    else:
        fits = ((nu, _nu_solution(gram, labels, nu, tol)) for nu in values)
    for value, solution in fits:
        if solution is None:
            continue
        inside = np.flatnonzero(solution.alpha)
        support = frozen_rows(rows[inside])
        yield SVM(
            value=value,
            support=support,
            theta=solution.alpha[inside] * labels[inside],
            b=float(solution.b),
            n_bounded=solution.n_sv - solution.n_inbound,
            n_iter=solution.n_iter,
            vectors=X[support],
            kernel=gram.kernel,
            origin=gram.origin,
        )


def _nu_solution(gram, y, nu, tol, weight=None):
    """Return the solution of a nu-SVC, or None where nu is infeasible or leaves no margin."""
    try:
        return solve_nusvc(gram, y, nu, weight=weight, tol=tol)
    except InfeasibleNu:
        return None


def cross_validated_errors(
    X, y, kernel, values, folds=5, formulation="C", tol=1e-3, dtype="float64", memory_mb=2048
):
    """Return values of C or nu in increasing order, and the share of points that k folds misclassify.

    The share is NaN for a nu that has no classifier in some fold. For `folds` see `cross_validate`, for other
    arguments and errors `train`.
    """
    X, y = check_data(X, y)
    values = np.array(check_formulation(values, formulation))
    gram = Gram(X, kernel, dtype=dtype, memory_mb=memory_mb)
    if formulation == "C":
        return values, cross_validate_grid(gram, y, values, folds=folds, tol=tol).error[0]
    folds = check_folds(folds, y)
    wrong = np.zeros(values.size)
    for fold in range(folds.max() + 1):
        held_out = folds == fold
        for k, nu in enumerate(values):
            solution = _nu_solution(gram, y, nu, tol, np.where(held_out, 0.0, 1.0))
            if solution is None:
                wrong[k] = np.nan
            else:
                wrong[k] += np.count_nonzero(misclassified(y, solution.decision)[held_out])
    return values, wrong / y.size


def train_best(X, y, kernel, values, rows, held_out, tune_threshold=True, formulation="C", **options):
    """Train the SVM of the C or nu with the fewest errors on held-out points.

    Of equal ones, it is that with the fewest support vectors. With `tune_threshold` each SVM gets the
    threshold with the fewest errors on these rows. `held_out` may be empty where there is no choice; for
    other arguments and errors see `train`. The second result is the share of the held-out points that the SVM
    of each value misclassifies, values in increasing order: NaN for a nu that has none, and without held-out
    points.
    """
    X, y = check_data(X, y)
    values = check_formulation(values, formulation)
    if len(held_out) == 0 and (tune_threshold or len(values) > 1):
        goal = "a threshold" if tune_threshold else f"one of {len(values)} values of {formulation}"
        raise ValueError(f"to choose {goal} needs points held out, got none")
    X_held_out, labels = X[held_out], y[held_out]
    errors, fits = np.full(len(values), np.nan), []
    for svm in train(X, y, kernel, values, rows, formulation, **options):
        wrong = 0
        if len(held_out):
            f = svm.decision_function(X_held_out)
            shift = best_threshold(labels, f) if tune_threshold else 0.0
            svm = svm.shifted(shift)
            wrong = np.count_nonzero(misclassified(labels, f + shift))
            errors[values.index(svm.value)] = wrong / len(held_out)
        fits.append((wrong, svm.n_sv, svm))
    if not fits:
        raise ValueError(f"no nu of {values} is feasible and leaves a margin")
    return min(fits, key=lambda fit: fit[:2])[2], errors


def best_threshold(y, decision):
    """Return the shift of decision values, shape (n,), with which the fewest points are misclassified.

    It is 0 if that is a best one, else the middle of the nearest interval of best ones. An interval without
    an end is cut one unit beyond the last point, or a millionth of its value.
    """
    order = np.argsort(decision, kind="stable")
    cuts, positive = decision[order], y[order] > 0
    # errors when the first k points are classified as -1 and the others as +1
    errors = np.concatenate([[0], np.cumsum(positive)]) + np.concatenate(
        [np.cumsum(~positive[::-1])[::-1], [0]]
    )
    reach = 2 * np.maximum(1, 1e-6 * np.abs(cuts[[0, -1]]))
    edges = np.concatenate([[cuts[0] - reach[0]], cuts, [cuts[-1] + reach[1]]])
    low, high = edges[:-1], edges[1:]
    possible = low < high  # equal values are not told apart
    best = possible & (errors == errors[possible].min())
    low, high = low[best], high[best]
    if errors[possible].min() == np.count_nonzero(misclassified(y, decision)):
        return 0.0
    middle = (low + high) / 2
    # between two neighbouring numbers rounding may give the lower one, whose point would change its side
    middle = np.where(middle > low, middle, high)
    return float(-middle[np.abs(middle).argmin()])
