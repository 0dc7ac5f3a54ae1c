"""Training-set editing as classifiers of two classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from svmselect.editing import bagging, condense, cross_training, multiedit, train
from svmselect.sklearn.classifier import rows_to_predict, training_set
from svmselect.sklearn.fitting import all_or_nothing
from svmselect.sklearn.kernels import kernel_of

__all__ = ["BaggedSVC", "CrossTrainingSVC", "EditedSVC"]

SUBSETS = 5  # Bakir, Bottou and Weston's s
SUBSET_OPTIONS = ("subset_size", "validation", "tune_threshold")


class _BinarySVC(ClassifierMixin, BaseEstimator):
    """Base of the classifiers of edited training sets, which predict by `classifier_`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    @all_or_nothing
    def fit(self, X, y):
        """Train on the edited rows.

        X, y and errors are those of `SVC.fit`, for labels of two classes, and without a matrix of kernel
        values.
        """
        if self.kernel == "precomputed":
            raise ValueError("kernel must be one that is computed from rows, got 'precomputed'")
        X, self.classes_, codes = training_set(self, X, y, copy=False)
        if self.classes_.size > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}, with {self.classes_.size} classes."
            )
        self.classifier_ = self._train(X, 2.0 * codes - 1, kernel_of(self.kernel, X, self.gamma))
        return self

    def _options(self, *names):
        """Return parameters that are passed on as they are."""
        return {name: getattr(self, name) for name in ("tol", "dtype", "memory_mb", *names)}

    def _n_subsets(self, y):
        """Return how many subsets are drawn: `n_subsets`, or no more than the smaller class has rows."""
        if self.n_subsets is not None:
            return self.n_subsets
        return min(SUBSETS, np.count_nonzero(y > 0), np.count_nonzero(y < 0))

    def decision_function(self, X):
        """Compute decision values of rows, shape (n,): from 0 on for ``classes_[1]``."""
        check_is_fitted(self)
        return self.classifier_.decision_function(rows_to_predict(self, X))

    def predict(self, X):
        """Predict the labels of rows, shape (n,)."""
        positive = self.decision_function(X) >= 0
        return self.classes_[positive.astype(np.intp)]


@dataclass(eq=False, repr=False)
class CrossTrainingSVC(_BinarySVC):
    """C-SVC by cross-training, see `svmselect.cross_training`.

    Parameters
    ----------
    C, first_C : float or array_like
        Values to choose from, for the final SVM and the first stage; `first_C` None: the same.
    kernel : str, Kernel or callable
        As for `SVC`, but "precomputed".
    gamma : {"scale", "auto"} or float
        For the kernels that have one, see `SVC`.
    n_subsets : int, optional
        SVMs of the first stage; by default 5, or as many as the smaller class has rows where it has fewer.
    tune_threshold : bool
        See `svmselect.cross_training`. It takes rows away from training, and small sets have none to spare.
    subset_size, validation, balance, tol, dtype, memory_mb
        See `svmselect.cross_training`.
    random_state : int

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    classifier_ : CrossTraining

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmselect.sklearn import CrossTrainingSVC
    >>> X, y = make_classification(200, flip_y=0.2, random_state=0)
    >>> model = CrossTrainingSVC().fit(X, y)
    >>> model.predict(X[:3]).shape
    (3,)
    """

    C: Any = 1.0
    first_C: Any = None
    kernel: Any = "rbf"
    gamma: Any = "scale"
    n_subsets: int | None = None
    subset_size: int | None = None
    validation: int | None = None
    tune_threshold: bool = False
    balance: bool = True
    tol: float = 1e-3
    dtype: Any = "float64"
    memory_mb: float = 2048
    random_state: Any = 0

    def _train(self, X, y, kernel):
        options = self._options(*SUBSET_OPTIONS, "balance")
        return cross_training(
            X, y, kernel, self.C, self.first_C, self._n_subsets(y), seed=self.random_state, **options
        )


@dataclass(eq=False, repr=False)
class BaggedSVC(_BinarySVC):
    """Mean of C-SVCs trained on subsets, see `svmselect.bagging`.

    Parameters
    ----------
    C : float or array_like
        Values to choose from.
    kernel, gamma, n_subsets, random_state
        As in `CrossTrainingSVC`.
    subset_size, validation, tune_threshold, tol, dtype, memory_mb
        See `svmselect.bagging`.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    classifier_ : Bagging
    """

    C: Any = 1.0
    kernel: Any = "rbf"
    gamma: Any = "scale"
    n_subsets: int | None = None
    subset_size: int | None = None
    validation: int | None = None
    tune_threshold: bool = False
    tol: float = 1e-3
    dtype: Any = "float64"
    memory_mb: float = 2048
    random_state: Any = 0

    def _train(self, X, y, kernel):
        options = self._options(*SUBSET_OPTIONS)
        return bagging(X, y, kernel, self.C, self._n_subsets(y), seed=self.random_state, **options)


@dataclass(eq=False, repr=False)
class EditedSVC(_BinarySVC):
    """C-SVC trained on the rows that nearest-neighbour editing keeps.

    Parameters
    ----------
    editing : {"condense", "multiedit", "multiedit+condense"}
        See `svmselect.condense`, which leaves rows of both classes, and `svmselect.multiedit`, which may
        leave none of a class; the last is one after the other.
    C : float
    kernel, gamma, random_state
        As in `CrossTrainingSVC`.
    parts, patience : int
        See `svmselect.multiedit`.
    tol, dtype, memory_mb
        See `svmselect.editing.train`.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    rows_ : ndarray of intp
        The training rows that were left.
    classifier_ : SVM
    """

    editing: str = "condense"
    C: Any = 1.0
    kernel: Any = "rbf"
    gamma: Any = "scale"
    parts: int = 3
    patience: int = 3
    tol: float = 1e-3
    dtype: Any = "float64"
    memory_mb: float = 2048
    random_state: Any = 0

    def _train(self, X, y, kernel):
        known = ("condense", "multiedit", "multiedit+condense")
        if self.editing not in known:
            raise ValueError(f"editing must be one of {list(known)}, got {self.editing!r}")
        if np.ndim(self.C) > 0:
            raise ValueError(f"C must be a number, got {self.C!r}")
        rng = np.random.default_rng(self.random_state)
        rows = np.arange(y.size)
        for step in self.editing.split("+"):
            if step == "multiedit":
                rows = rows[multiedit(X[rows], y[rows], self.parts, self.patience, rng)]
            else:
                rows = rows[condense(X[rows], y[rows], rng)]
            if np.unique(y[rows]).size < 2:
                raise ValueError(f"{step} leaves points of one class only: {rows.size} of {y.size}")
        self.rows_ = rows
        (svm,) = train(X, y, kernel, self.C, rows, **self._options())
        return svm
