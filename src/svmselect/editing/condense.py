"""CONDENSE: a subset on which the nearest-neighbour rule classifies all training points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from svmselect.editing.svm import check_data, frozen_rows
from svmselect.kernels.panels import slices

__all__ = ["condense"]

BLOCK = 512  # points looked at between two searches for neighbours
EQUAL = 1e-9  # relative difference of distances that rounding may leave


def condense(X: ArrayLike | sparse.sparray, y: ArrayLike, seed: int | None = 0) -> np.ndarray:
    """Return rows by the condensed nearest neighbour rule (Hart 1968; Bakir et al. 2004, algorithm 1).

    The rule begins with one random point. It passes over the points in random order, and keeps each one that
    the nearest neighbour among the kept points misclassifies. It ends after a pass that keeps none.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (m, d)
    y : array_like, shape (m,)
        Labels, -1 and +1.
    seed : int or numpy.random.Generator
        Draws the order.

    Returns
    -------
    ndarray of intp
        The rows kept, increasing. The nearest neighbour among them has the label of every point, but for
        points with a duplicate of the other class.

    Raises
    ------
    ValueError
        For input that is not finite, labels other than -1 and +1, or one class only.

    Notes
    -----
    Among points at the same distance, up to 1e-9 of it, the one that was kept first is the nearest. A point
    is compared once with each kept point: block by block, with those kept since the last comparison.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import condense
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> condense(X, np.array([-1, -1, -1, 1, 1])).size
    2
    """
    X, y = check_data(X, y)
    order = np.random.default_rng(seed).permutation(y.size)
    X, y = X[order], y[order]
    store, member = [0], np.zeros(y.size, dtype=bool)
    member[0] = True
    distance, label = np.full(y.size, np.inf), np.zeros(y.size)
    blocks = slices(y.size, BLOCK)
    compared = [0] * len(blocks)
    unchanged = 0
    # a pass without an addition may begin at any block
    while unchanged < len(blocks):
        for number, block in enumerate(blocks):
            news = store[compared[number] :]
            if news:
                _to_nearest(X[block], X[news], y[news], distance[block], label[block])
            compared[number] = len(store)
            added = _additions(X[block], y[block], member[block], distance[block], label[block])
            store += [block.start + i for i in added]
            member[[block.start + i for i in added]] = True
            # this block knows its own additions
            compared[number] = len(store)
            unchanged = 0 if added else unchanged + 1
            if unchanged == len(blocks):
                break
    return frozen_rows(order[store])


def _to_nearest(X, references, labels, distance, label):
    """Update, in place, the distance to the nearest point and its label."""
    from sklearn.neighbors import NearestNeighbors  # here, because it takes a second to import

    distances, which = NearestNeighbors(n_neighbors=1).fit(references).kneighbors(X)
    nearer = distances[:, 0] < (1 - EQUAL) * distance
    distance[nearer], label[nearer] = distances[nearer, 0], labels[which[nearer, 0]]


def _additions(X, y, member, distance, label):
    """Return points of a block to keep, one after another; distances and labels are updated in place."""
    from sklearn.metrics.pairwise import euclidean_distances

    wrong = (label != y) & ~member
    if not wrong.any():
        return []
    between = euclidean_distances(X)
    added = []
    while wrong.any():
        i = int(wrong.argmax())
        added.append(i)
        # later points of the block are compared with it now, earlier ones in the next pass
        nearer = between[i] < (1 - EQUAL) * distance
        distance[nearer], label[nearer] = between[i][nearer], y[i]
        wrong = (label != y) & ~member
        wrong[: i + 1] = False
    return added
