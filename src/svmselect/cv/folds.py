"""Folds: which part of the rows is held out in which round."""

from __future__ import annotations

import numbers

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["check_folds", "even_folds", "stratified_folds"]


def _check_k(k, m):
    """Return the number of folds as an int; raise a ValueError for a bad one."""
    if isinstance(k, bool) or not isinstance(k, numbers.Integral) or not 2 <= k <= m:
        raise ValueError(f"the number of folds must be an integer from 2 to the {m} rows, got {k!r}")
    return int(k)


def _order_of(m, seed):
    """Return a permutation of m rows; the rows in their own order without a seed."""
    if seed is None:
        return np.arange(m)
    try:
        return np.random.default_rng(seed).permutation(m)
    except (TypeError, ValueError):
        raise ValueError(f"seed must be None or what NumPy takes for one, such as 0, got {seed!r}") from None


def _cut(rows, k):
    """Return the fold of each of n rows in their order; fold h begins at h n / k."""
    return np.searchsorted(np.arange(1, k + 1) * rows.size // k, np.arange(rows.size), side="right")


def stratified_folds(y: ArrayLike, k: int, seed: int | None = 0) -> np.ndarray:
    """Assign rows to folds with equal shares of both classes, as LIBSVM's cross-validation does.

    The points of each class are shuffled and cut into k parts of equal size, up to one point; larger parts
    are where rounding ``h n / k`` down puts them.

    Parameters
    ----------
    y : array_like, shape (m,)
        Labels.
    k : int
        Number of folds, 2 to m.
    seed : int or None
        Seed of the shuffle; None keeps the order of the rows.

    Returns
    -------
    ndarray of intp, shape (m,)
        The fold of each row, 0 to k - 1.

    Raises
    ------
    ValueError
        For k out of its range, or larger than all classes together can fill: a fold would be empty.

    Examples
    --------
    >>> from svmselect import stratified_folds
    >>> stratified_folds([-1, -1, -1, 1, 1, 1], 3, seed=None)
    array([0, 1, 2, 0, 1, 2])
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must have one dimension, got shape {y.shape}")
    k = _check_k(k, y.size)
    order = _order_of(y.size, seed)
    folds = np.empty(y.size, dtype=np.intp)
    for label in np.unique(y):
        rows = order[y[order] == label]
        folds[rows] = _cut(rows, k)
    return check_folds(folds, y)


def even_folds(m: int, k: int, seed: int | None = 0) -> np.ndarray:
    """Assign rows to folds of equal size, up to one row, whatever the labels.

    Parameters
    ----------
    m : int
        Number of rows.
    k, seed
        See `stratified_folds`; m folds leave one out.

    Returns
    -------
    ndarray of intp, shape (m,)
        The fold of each row, 0 to k - 1.

    Raises
    ------
    ValueError
        For k out of its range.

    Examples
    --------
    >>> from svmselect import even_folds
    >>> even_folds(7, 3, seed=None)
    array([0, 0, 1, 1, 2, 2, 2])
    """
    k = _check_k(k, m)
    order = _order_of(m, seed)
    folds = np.empty(m, dtype=np.intp)
    folds[order] = _cut(order, k)
    return folds


def check_folds(folds, y):
    """Return the fold of each row as intp, shape (m,), from these numbers or a number of stratified folds.

    Raise a ValueError for folds that are not numbered 0 to k - 1 with at least one row each, or hold all
    points of a class.
    """
    if np.ndim(folds) == 0:
        return stratified_folds(y, folds)
    folds = np.asarray(folds)
    if folds.shape != y.shape or folds.dtype.kind not in "iu":
        raise ValueError(
            f"folds must be a number, or integers of shape {y.shape}, "
            f"got {folds.dtype} of shape {folds.shape}"
        )
    k = _check_k(int(folds.max()) + 1, y.size)
    if folds.min() < 0:
        raise ValueError(f"folds must be numbered from 0, got {folds.min()}")
    sizes = np.bincount(folds, minlength=k)
    if (sizes == 0).any():
        raise ValueError(f"folds must have at least one row each, fold {sizes.argmin()} of {k} has none")
    for label in np.unique(y):
        whole = np.bincount(folds, y == label, minlength=k) == np.count_nonzero(y == label)
        if whole.any():
            raise ValueError(
                f"folds must leave both classes to train on, "
                f"fold {whole.argmax()} holds all points of class {label:g}"
            )
    return folds.astype(np.intp)
