"""Training problems: generated classes, parts of data sets, scaled features, swapped labels."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from lib.cell import Part, load_part

SEED = 2004
SCALES = ("none", "largest", "range", "deviation")


@dataclass(frozen=True)
class Problem(Part):
    """Training and test rows of one realisation, or of generated classes, and the labels of the test rows
    before noise (`clean`), if there is any."""

    clean: np.ndarray | None = None


def squares(n, overlap, rng):
    """Draw two classes of n points each, uniform on unit squares side by side that share a strip of this
    width (0 to 1): the Bayes risk is half of the width. Return X, of shape (2 n, 2), and y."""
    y = np.repeat([-1.0, 1.0], n)
    X = rng.uniform(size=(2 * n, 2))
    X[y > 0, 0] += 1 - overlap
    return X, y


def gaussians(n, deviation, rng):
    """Draw two classes in 10 dimensions, equally likely, with means of plus or minus 1 in the first five and
    this deviation in each dimension (section 4.1). Return X, of shape (n, 10), and y, which has half of each
    class up to one point."""
    y = rng.permutation(np.where(np.arange(n) % 2, 1.0, -1.0))
    X = deviation * rng.standard_normal((n, 10))
    X[:, :5] += y[:, None]
    return X, y


def dataset_problem(dataset, realisation, train=None, test=None, scale="none"):
    """Return training and test rows of a realisation of a data set, as a `Problem`.

    Parameters
    ----------
    dataset : Dataset
    realisation : int
        A split of the data set; if that has a test part of its own, a seeded draw of training rows.
    train, test : int, optional
        The numbers of rows of the training part and of the test part; all by default. The rows of
        a split are in random order, and the first are taken.
    scale : {"none", "largest", "range", "deviation"}
        What features are divided by: the largest absolute value of all of them; each by its range, after its
        least value is subtracted; or each by its deviation, after its mean is. Those of the training rows.
    """
    own_test = dataset.recipe is None
    part = load_part(dataset, 1 if own_test else realisation)
    X, y, X_test, y_test = part.X, part.y, part.X_test, part.y_test
    for requested, available, name in ((train, len(y), "training"), (test, len(y_test), "test")):
        if requested is not None and requested > available:
            raise ValueError(f"data set {dataset.name!r} has {available} {name} rows, {requested} are wanted")
    identity = {**part.identity, "realisation": realisation}
    rows = np.arange(len(y) if train is None else train)
    if own_test and rows.size < len(y):
        identity |= {"origin": "seeded", "seed": [SEED, realisation]}
        rows = np.sort(np.random.default_rng(identity["seed"]).permutation(len(y))[: rows.size])
    X, X_test = scaled(X[rows], X_test[:test], scale)
    return Problem(X, y[rows], X_test, y_test[:test], identity)


def scaled(X, X_test, scale):
    """Return features of both parts, scaled by those of the first."""
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {list(SCALES)}, got {scale!r}")
    if scale == "largest":
        largest = abs(X).max()
        return X / largest, X_test / largest
    if scale == "none":
        return X, X_test
    if sparse.issparse(X):
        raise ValueError(f"scale must be 'none' or 'largest' for sparse rows, got {scale!r}")
    if scale == "range":
        zero, unit = X.min(axis=0), np.ptp(X, axis=0)
    else:
        zero, unit = X.mean(axis=0), X.std(axis=0)
    unit[unit == 0] = 1
    return (X - zero) / unit, (X_test - zero) / unit


def swapped(problem, share, rng):
    """Return the problem with swapped labels of a share of the training rows and of the test rows. The test
    labels before are its `clean` ones (section 4.2)."""

    def swap(y):
        rows = rng.permutation(y.size)[: round(share * y.size)]
        noisy = y.copy()
        noisy[rows] *= -1
        return noisy

    return replace(problem, y=swap(problem.y), y_test=swap(problem.y_test), clean=problem.y_test)
