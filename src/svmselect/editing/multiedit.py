"""MULTIEDIT: without the points on the wrong side of the Bayes boundary."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from svmselect.editing.svm import check_data, check_integer, frozen_rows

__all__ = ["multiedit"]


def multiedit(
    X: ArrayLike | sparse.sparray, y: ArrayLike, parts: int = 3, patience: int = 3, seed: int | None = 0
) -> np.ndarray:
    """Return rows by the multi-edited nearest neighbour rule (Devijver and Kittler 1982).

    The rule divides the points at random into parts. It drops those points of each part that the nearest
    neighbour in the next part misclassifies, pools the others, and begins again. It ends when `patience`
    rounds in a row have dropped none (Bakir, Bottou and Weston 2004, algorithm 2).

    Parameters
    ----------
    X : array_like or sparse matrix, shape (m, d)
    y : array_like, shape (m,)
        Labels, -1 and +1.
    parts : int
        The number of parts, at least 2; their sizes differ by at most one point. The rule also ends when
        fewer points than parts are left.
    patience : int
        At least 1.
    seed : int or numpy.random.Generator
        Draws the divisions.

    Returns
    -------
    ndarray of intp
        The rows kept, increasing. A class may have none.

    Raises
    ------
    ValueError
        For input that is not finite, labels other than -1 and +1, one class only, or bad numbers.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmselect import multiedit
    >>> X, y = make_classification(200, flip_y=0.2, random_state=0)
    >>> rows = multiedit(X, 2 * y - 1)
    >>> rows.size < y.size
    True
    """
    X, y = check_data(X, y)
    parts, patience = check_integer(parts, "parts", 2), check_integer(patience, "patience", 1)
    rng = np.random.default_rng(seed)
    rows, unchanged = np.arange(y.size), 0
    while unchanged < patience and rows.size >= parts:
        divided = np.array_split(rng.permutation(rows), parts)
        remaining = [
            part[_nearest_label(X[part], X[other], y[other]) == y[part]]
            for part, other in zip(divided, [*divided[1:], divided[0]], strict=True)
        ]
        before, rows = rows.size, np.concatenate(remaining)
        unchanged = unchanged + 1 if rows.size == before else 0
    return frozen_rows(rows)


def _nearest_label(X, references, labels):
    """Return, for each row, the label of the nearest reference point."""
    from sklearn.neighbors import NearestNeighbors  # here, because it takes a second to import

    which = NearestNeighbors(n_neighbors=1).fit(references).kneighbors(X, return_distance=False)
    return labels[which[:, 0]]
