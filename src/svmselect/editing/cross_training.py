"""Cross-training: SVMs on subsets decide which points the final SVM is trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse

from svmselect.checks import frozen
from svmselect.editing.bagging import Bagging, bagging, default_validation
from svmselect.editing.svm import SVM, check_data, check_formulation, check_integer, frozen_rows, train_best
from svmselect.kernels.kernel import Kernel
from svmselect.threads import one_blas_thread

__all__ = ["CrossTraining", "cross_training", "edit"]


@dataclass(frozen=True)
class CrossTraining:
    """A classifier made by cross-training.

    Attributes
    ----------
    first : Bagging
        The SVMs of the first stage.
    final : SVM
        The classifier.
    mean, variance : ndarray, shape (m,)
        Mean and variance of ``y_i f_r(x_i)`` over the SVMs of the first stage (algorithm 3, step 3).
    misclassified, recognised : ndarray of bool, shape (m,)
        Points discarded by step 4 and by step 5; False at validation points.
    reinserted : ndarray of bool, shape (m,)
        Whether each point was put back in step 5.
    rows : ndarray of intp
        The training rows of the final SVM, increasing.
    values : ndarray, shape (n,)
        Values of C or nu tried for the final SVM, in increasing order.
    errors : ndarray, shape (n,)
        Share of the validation points that the final SVM of each value misclassifies; NaN without such
        points, and for a nu that has none.
    """

    first: Bagging
    final: SVM
    mean: np.ndarray
    variance: np.ndarray
    misclassified: np.ndarray
    recognised: np.ndarray
    reinserted: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    errors: np.ndarray

    @property
    def n_sv(self) -> int:
        """Number of support vectors of the final SVM."""
        return self.final.n_sv

    def decision_function(self, X: ArrayLike | sparse.sparray) -> np.ndarray:
        """Return decision values of the final SVM, shape (n,); see `SVM.decision_function`."""
        return self.final.decision_function(X)


@one_blas_thread()
def cross_training(
    X: ArrayLike | sparse.sparray,
    y: ArrayLike,
    kernel: Kernel,
    values: ArrayLike,
    first_values: ArrayLike | None = None,
    n_subsets: int = 5,
    subset_size: int | None = None,
    validation: int | None = None,
    tune_threshold: bool = True,
    balance: bool = True,
    formulation: str = "C",
    tol: float = 1e-3,
    dtype: DTypeLike = "float64",
    memory_mb: float = 2048,
    seed: int | None = 0,
    progress: Callable[[int, int], object] | None = None,
) -> CrossTraining:
    """Train an SVM without the points that other SVMs misclassify, or recognise with confidence.

    This is algorithm 3 of Bakir, Bottou and Weston (2004), with section 4.3. Among several values of C or nu,
    the first stage takes the one that is best for training sets of its size (`bagging`). The final SVM takes
    the one with the fewest errors on the validation points, and among equal ones the fewest support vectors.

    Parameters
    ----------
    X, y, kernel
        See `bagging`.
    values : float or array_like
        Values of C or nu for the final SVM.
    first_values : float or array_like, optional
        The values of C or nu for the SVMs of the first stage; the same by default.
    n_subsets, subset_size : int
        The paper's s and r, see `bagging`.
    validation : int, optional
        Points set aside, on which nothing is trained. By default a third of a subset's size where thresholds
        or the final value are chosen, else none.
    tune_threshold : bool
        Whether every SVM, of both stages, gets the threshold with the fewest errors on the validation points
        (section 4.3).
    balance : bool
        Whether points discarded by step 5 are put back, the least confidently recognised first, until the
        final training set has as many points of one class as of the other, or no such points are left
        (section 4.3, which does not say which ones).
    formulation, tol, dtype, memory_mb, seed, progress
        See `bagging`.

    Returns
    -------
    CrossTraining

    Raises
    ------
    ValueError
        As `bagging`.

    Notes
    -----
    Where steps 4 and 5 of algorithm 3 discard every point of a class, the class keeps all of its points.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmselect import RBF, cross_training
    >>> X, y = make_classification(200, flip_y=0.2, random_state=0)
    >>> edited = cross_training(X, 2 * y - 1, RBF(0.05), 1.0, validation=40)
    >>> edited.decision_function(X).shape
    (200,)
    """
    X, y = check_data(X, y)
    values = check_formulation(values, formulation)
    n_subsets = check_integer(n_subsets, "n_subsets", 1)
    if validation is None:
        chooses = tune_threshold or len(values) > 1
        validation = default_validation(y.size, n_subsets, subset_size) if chooses else 0
    if validation == 0 and len(values) > 1:
        raise ValueError(f"a choice among {len(values)} values of {formulation} needs validation points")
    options: dict[str, Any] = {"tune_threshold": tune_threshold, "formulation": formulation}
    options |= {"tol": tol, "dtype": dtype, "memory_mb": memory_mb}
    # steps 1 and 2: SVMs of the first stage
    first_values = values if first_values is None else first_values
    subsets = n_subsets, subset_size, validation
    first = bagging(X, y, kernel, first_values, *subsets, seed=seed, progress=progress, **options)
    # steps 3 to 5: points to train on, and the final SVM
    edited = edit(y, first.decision, first.validation, balance)
    final, errors = train_best(X, y, kernel, values, edited["rows"], first.validation, **options)
    return CrossTraining(
        first=first, final=final, **edited, values=frozen(np.array(values)), errors=frozen(errors)
    )


def edit(y, decision, validation, balance):
    """Discard points by steps 3 to 5 of the algorithm, and balance the classes by section 4.3.

    `decision`, shape (n_subsets, m), are the decision values of the SVMs of the first stage, and `validation`
    rows not to train on. The result is a dict of the attributes of `CrossTraining` from `mean` to `rows`.
    """
    margins = y * decision
    mean, variance = margins.mean(axis=0), margins.var(axis=0)
    inside = np.ones(y.size, dtype=bool)
    inside[validation] = False
    wrong = inside & (mean + variance < 0)
    recognised = inside & (mean - variance > 1)
    remaining = inside & ~wrong & ~recognised
    reinserted = np.zeros(y.size, dtype=bool)
    if balance:
        counts = {label: np.count_nonzero(remaining & (y == label)) for label in (-1, 1)}
        target_count = max(*counts.values(), 1)
        for label, count in counts.items():
            candidates = np.flatnonzero(recognised & (y == label))
            nearest = np.argsort((mean - variance)[candidates], kind="stable")
            reinserted[candidates[nearest[: target_count - count]]] = True
        remaining |= reinserted
    for label in (-1, 1):
        class_rows = inside & (y == label)
        if not remaining[class_rows].any():
            wrong[class_rows] = recognised[class_rows] = False
            remaining[class_rows] = True
    return {
        "mean": frozen(mean),
        "variance": frozen(variance),
        "misclassified": frozen(wrong),
        "recognised": frozen(recognised),
        "reinserted": frozen(reinserted),
        "rows": frozen_rows(np.flatnonzero(remaining)),
    }
