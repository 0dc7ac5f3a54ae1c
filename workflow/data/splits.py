"""Training and test rows of a data set: published splits, and seeded draws of the same sizes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Split:
    """Rows of one realisation.

    Attributes
    ----------
    train, test : ndarray (n_train,), (n_test,) int64
        Row numbers, from 0. Where the data set has a test part of its own, its rows count on after those of
        X.
    origin : {"original", "seeded"}
        A published split, or one drawn here.
    seed : tuple of int or None
        What `numpy.random.default_rng` was seeded with; None for an original.
    """

    train: np.ndarray
    test: np.ndarray
    origin: Literal["original", "seeded"]
    seed: tuple[int, int] | None


@dataclass(frozen=True)
class OriginalSplits:
    """Published splits: numbers (k,), training rows (k, n_train) and test rows (k, n_test), all int64."""

    numbers: np.ndarray
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class SplitRecipe:
    """The draw of training and test parts.

    Sizes and a seed; or the values of a column (`by`) that make the training part (`train_values`), the other
    rows being the test part.
    """

    train: int
    test: int
    realisations: int
    seed: int | None
    by: str | None = None
    train_values: tuple[float, ...] = ()


def seeded_split(rows: int, train: int, test: int, seed: int, realisation: int) -> Split:
    """Draw `train` and `test` rows out of `rows`, uniformly without replacement.

    The generator is seeded with [seed, realisation], so that realisations do not depend on each other. The
    rows come in random order: the first k training rows are themselves a uniform draw.
    """
    order = np.random.default_rng([seed, realisation]).permutation(rows)
    return Split(order[:train], order[train : train + test], "seeded", (seed, realisation))


def check_originals(originals: OriginalSplits, rows: int, train: int, test: int, where: str) -> None:
    """Raise a `ValueError` unless every published split has the published sizes and each row at most once."""
    numbers = originals.numbers
    if numbers.ndim != 1 or len(np.unique(numbers)) != len(numbers) or (numbers < 1).any():
        raise ValueError(
            f"{where}: the numbers of the splits must differ and count from 1, found {numbers.tolist()}"
        )
    for part, size, name in ((originals.train, train, "training"), (originals.test, test, "test")):
        if part.shape != (len(numbers), size):
            raise ValueError(
                f"{where}: expected {len(numbers)} splits of {size} {name} rows, found {part.shape}"
            )
    for number, both in zip(numbers, np.hstack([originals.train, originals.test]), strict=True):
        if both.min() < 0 or both.max() >= rows:
            raise ValueError(f"{where}: split {number} names a row outside 0..{rows - 1}")
        if len(np.unique(both)) != len(both):
            raise ValueError(f"{where}: split {number} names a row twice")


def read_splits(path: Path, where: str) -> OriginalSplits:
    """Read published splits from JSON: lists `numbers`, `train` and `test` of row numbers from 0."""
    try:
        content = json.loads(path.read_bytes())
        parts = [np.array(content[key]) for key in ("numbers", "train", "test")]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{where}: not a file of splits ({_one_line(error)})") from error
    for key, part in zip(("numbers", "train", "test"), parts, strict=True):
        if part.dtype.kind != "i":
            raise ValueError(f"{where}: {key!r} must hold equally long lists of whole numbers")
    return OriginalSplits(*(part.astype(np.int64) for part in parts))


def splits_by_value(column: np.ndarray, train_values: tuple[float, ...], where: str) -> OriginalSplits:
    """One split whose training rows are those with one of `train_values` in the column."""
    if absent := set(train_values) - set(column.tolist()):
        raise ValueError(
            f"{where}: no row has the value {sorted(absent)}, which the registry puts in the training part"
        )
    is_train = np.isin(column, train_values)
    return OriginalSplits(
        np.array([1]), np.flatnonzero(is_train)[None, :], np.flatnonzero(~is_train)[None, :]
    )


def splits_of_repeated_rows(
    train: np.ndarray, test: np.ndarray, where: str
) -> tuple[np.ndarray, OriginalSplits]:
    """Turn splits that name distinct patterns, some of them several times, into splits of a full table.

    benchmarks.mat stores equal rows of a data set once and repeats the row's number in `train` and `test`.
    The full table is split 1, training part first (the order of the original files); the k-th mention of a
    pattern in another split is its k-th copy in the table.

    Parameters
    ----------
    train, test : ndarray (k, n_train), (k, n_test) int64
        Pattern numbers, from 0.
    where : str
        What to name in an error.

    Returns
    -------
    patterns : ndarray (n_train + n_test,) int64
        The pattern in each row of the table.
    originals : OriginalSplits
        The splits, as rows of the table.

    Raises
    ------
    ValueError
        A split does not use each pattern as often as split 1 does.
    """
    both = np.hstack([train, test])
    patterns = both[0]
    rows = np.argsort(patterns, kind="stable")
    rebuilt = np.empty_like(both)
    for number, mentions in enumerate(both, start=1):
        order = np.argsort(mentions, kind="stable")
        if not np.array_equal(mentions[order], patterns[rows]):
            raise ValueError(f"{where}: split {number} does not hold the same rows as split 1")
        rebuilt[number - 1, order] = rows
    numbers = np.arange(1, len(both) + 1)
    return patterns, OriginalSplits(numbers, rebuilt[:, : train.shape[1]], rebuilt[:, train.shape[1] :])


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
