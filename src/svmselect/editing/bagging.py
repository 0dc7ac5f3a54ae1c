"""SVMs trained on subsets: the first stage of cross-training, and their mean decision value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse

from svmselect.checks import frozen
from svmselect.cv.folds import stratified_folds
from svmselect.cv.trainer import WORK_PER_FIT
from svmselect.editing.svm import (
    SVM,
    best_threshold,
    check_data,
    check_formulation,
    check_integer,
    decisions_of_rows,
    frozen_rows,
    train,
)
from svmselect.errors import misclassified
from svmselect.kernels.kernel import Kernel
from svmselect.threads import one_blas_thread, run, thread_count

__all__ = ["Bagging", "bagging", "default_validation", "draw_validation"]


@dataclass(frozen=True)
class Bagging:
    """SVMs trained on subsets of one training set.

    Attributes
    ----------
    svms : tuple of SVM
        One per subset.
    subsets : tuple of ndarray of intp
        Their training rows.
    validation : ndarray of intp
        Rows in no subset, on which thresholds were chosen; may be empty.
    decision : ndarray, shape (n_subsets, m)
        Decision values of each SVM at all rows.
    value : float
        The C or nu of all of them.
    values : ndarray, shape (n,)
        The values tried, in increasing order.
    errors : ndarray, shape (n,)
        Share of the points outside of its subset that an SVM misclassifies, all subsets together, for each
        value; NaN without a choice, and for a nu that some subset has no SVM for.
    """

    svms: tuple[SVM, ...]
    subsets: tuple[np.ndarray, ...]
    validation: np.ndarray
    decision: np.ndarray
    value: float
    values: np.ndarray
    errors: np.ndarray

    @property
    def support(self) -> np.ndarray:
        """Rows that are support vectors of at least one SVM, increasing."""
        return frozen_rows(np.unique(np.concatenate([svm.support for svm in self.svms])))

    @property
    def n_sv(self) -> int:
        """Number of different support vectors."""
        return self.support.size

    def decision_function(self, X: ArrayLike | sparse.sparray) -> np.ndarray:
        """Return the mean decision value of the SVMs, shape (n,); see `SVM.decision_function`."""
        return np.mean([svm.decision_function(X) for svm in self.svms], axis=0)


@one_blas_thread()
def bagging(
    X: ArrayLike | sparse.sparray,
    y: ArrayLike,
    kernel: Kernel,
    values: ArrayLike,
    n_subsets: int = 5,
    subset_size: int | None = None,
    validation: int | None = None,
    tune_threshold: bool = False,
    formulation: str = "C",
    tol: float = 1e-3,
    dtype: DTypeLike = "float64",
    memory_mb: float = 2048,
    seed: int | None = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Bagging:
    """Train an SVM on each of several subsets (Bakir, Bottou and Weston 2004, algorithm 3, steps 1 and 2).

    Their mean decision value is the dashed line of figure 4. Among several values of C or nu, the one with
    the fewest errors on training sets of this size is taken: each SVM is tested on all points outside of its
    subset. Subsets run on as many threads as BLAS may use.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (m, d)
    y : array_like, shape (m,)
        Labels, -1 and +1.
    kernel : Kernel
    values : float or array_like
        Values of C or nu to choose from; the first of equal ones in increasing order.
    n_subsets : int
        The paper's s.
    subset_size : int, optional
        The paper's r. Half of it is drawn from each class without replacement, or all points of a class that
        has fewer; subsets may overlap. By default the training set is cut into parts that keep the share of
        the classes.
    validation : int, optional
        Points set aside, in no subset. By default a third of a subset's size where thresholds are tuned, else
        none.
    tune_threshold : bool
        Whether each SVM gets the threshold with the fewest errors on these points (section 4.3).
    formulation : {"C", "nu"}
        The parameter that the values are of.
    tol : float
        See `solve_csvc` and `solve_nusvc`.
    dtype, memory_mb
        Budget for Gram matrices, see `Gram`; threads share it.
    seed : int or numpy.random.Generator
        Draws the validation points and the subsets.
    progress : callable, optional
        Called as ``progress(done, total)`` after each subset.

    Returns
    -------
    Bagging

    Raises
    ------
    ValueError
        For a bad argument, a subset without points of a class, a choice without points outside of the
        subsets, or no feasible nu.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmselect import RBF, bagging
    >>> X, y = make_classification(200, flip_y=0.2, random_state=0)
    >>> bagged = bagging(X, 2 * y - 1, RBF(0.05), 1.0)
    >>> len(bagged.svms)
    5
    """
    # 1) arguments, validation points and subsets
    X, y = check_data(X, y)
    values = check_formulation(values, formulation)
    n_subsets = check_integer(n_subsets, "n_subsets", 1)
    if subset_size is not None:
        subset_size = check_integer(subset_size, "subset_size", 2)
    rng = np.random.default_rng(seed)
    if validation is None:
        validation = default_validation(y.size, n_subsets, subset_size) if tune_threshold else 0
    held_out = draw_validation(y, check_integer(validation, "validation", 0), rng)
    if tune_threshold and held_out.size == 0:
        raise ValueError("tune_threshold needs validation points, got validation = 0")
    subsets = _draw_subsets(y, np.setdiff1d(np.arange(y.size), held_out), n_subsets, subset_size, rng)
    if len(values) > 1 and all(subset.size == y.size for subset in subsets):
        raise ValueError(
            f"a choice among {len(values)} values of {formulation} needs points outside of the subsets"
        )
    # 2) the SVMs of each subset and their decision values at all rows
    svms: list[dict[float, SVM]] = [{} for _ in subsets]
    decision = np.full((len(values), len(subsets), y.size), np.nan)
    budget = memory_mb / min(thread_count(), len(subsets))

    def stage(r):
        fits = list(train(X, y, kernel, values, subsets[r], formulation, tol, dtype, budget))
        if not fits:
            return
        for svm, f in zip(fits, decisions_of_rows(fits, X), strict=True):
            k = values.index(svm.value)
            if tune_threshold:
                shift = best_threshold(y[held_out], f[held_out])
                svm, f = svm.shifted(shift), f + shift
            svms[r][svm.value], decision[k, r] = svm, f

    work = WORK_PER_FIT * len(values) * sum(subset.size**2 for subset in subsets)
    run(stage, range(len(subsets)), work, progress)
    # 3) the feasible value with the fewest errors outside of the subsets
    errors = _outside_errors(y, decision, subsets) if len(values) > 1 else np.full(1, np.nan)
    feasible = [all(value in svms_of_subset for svms_of_subset in svms) for value in values]
    if not any(feasible):
        raise ValueError(f"no nu of {values} is feasible and leaves a margin on every subset")
    best = int(np.where(feasible, np.nan_to_num(errors), np.inf).argmin())
    return Bagging(
        svms=tuple(svms_of_subset[values[best]] for svms_of_subset in svms),
        subsets=tuple(subsets),
        validation=held_out,
        decision=frozen(decision[best]),
        value=values[best],
        values=frozen(np.array(values)),
        errors=frozen(np.where(feasible, errors, np.nan)),
    )


def default_validation(m, n_subsets, subset_size):
    """Return a third of a subset's size (section 4.3)."""
    return (m // n_subsets if subset_size is None else min(subset_size, m)) // 3


def draw_validation(y, size, rng):
    """Draw rows with the share of the classes, increasing; both classes must be left in the others."""
    if size >= y.size:
        raise ValueError(f"validation must be smaller than the {y.size} points, got {size}")
    order = rng.permutation(y.size)
    order = order[np.argsort(y[order], kind="stable")]
    # evenly spaced over the shuffled points of one class, then of the other
    rows = frozen_rows(order[((np.arange(size) + 0.5) * y.size / max(size, 1)).astype(np.intp)])
    if np.unique(np.delete(y, rows)).size < 2:
        raise ValueError(f"validation = {size} points leave only one class to train on")
    return rows


def _draw_subsets(y, rows, n_subsets, subset_size, rng):
    """Draw subsets of some rows, each increasing and with both classes; raise a ValueError if one has not."""
    if subset_size is None:
        if n_subsets == 1:
            return [frozen_rows(rows)]
        parts = stratified_folds(y[rows], n_subsets, rng)
        subsets = [frozen_rows(rows[parts == part]) for part in range(n_subsets)]
    else:
        classes = [rows[y[rows] == label] for label in (-1, 1)]
        sizes = [min(subset_size // 2, members.size) for members in classes]
        draw = partial(rng.choice, replace=False, shuffle=False)
        subsets = [frozen_rows(np.concatenate(list(map(draw, classes, sizes)))) for _ in range(n_subsets)]
    for number, subset in enumerate(subsets):
        if np.unique(y[subset]).size < 2:
            raise ValueError(
                f"n_subsets = {n_subsets} leaves subset {number} of {subset.size} points without a class"
            )
    return subsets


def _outside_errors(y, decision, subsets):
    """Return the share of the points outside of its subset that an SVM misclassifies, for each value."""
    outside = np.ones((len(subsets), y.size), dtype=bool)
    for r, subset in enumerate(subsets):
        outside[r, subset] = False
    return np.array([np.count_nonzero(misclassified(y, f) & outside) for f in decision]) / outside.sum()
