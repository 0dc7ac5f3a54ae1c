"""One-vs-one: what the problems of all pairs of classes say together.

Pairs are in the order (0, 1), (0, 2), ..., (k - 2, k - 1); a pair's value is positive for its second class.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

__all__ = ["decisions", "most_votes", "scores"]


def votes(second_wins, k):
    """Votes of each class.

    Parameters
    ----------
    second_wins : ndarray of bool, shape (..., k (k - 1) / 2)
    k : int
        Number of classes.

    Returns
    -------
    ndarray of intp, shape (..., k)
    """
    out = np.zeros((*second_wins.shape[:-1], k), dtype=np.intp)
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        out[..., second] += second_wins[..., p]
        out[..., first] += ~second_wins[..., p]
    return out


def most_votes(second_wins, k):
    """The class with most votes; of several, the first, as in LIBSVM: intp, shape (...)."""
    return votes(second_wins, k).argmax(axis=-1)


def decisions(values, k, shape):
    """What `decision_function` returns.

    Parameters
    ----------
    values : ndarray, shape (n, k (k - 1) / 2)
        Decision values of the pairs.
    k : int
    shape : {"ovr", "ovo"}

    Returns
    -------
    ndarray, shape (n,) or (n, k) or (n, k (k - 1) / 2)
    """
    if k == 2:
        return values[:, 0]
    return -values if shape == "ovo" else scores(values, k)


def scores(values, k):
    """Votes of each class, and less than half a vote for its decision values, as scikit-learn's "ovr".

    Parameters
    ----------
    values : ndarray, shape (n, k (k - 1) / 2)
        Decision values of the pairs.
    k : int

    Returns
    -------
    ndarray, shape (n, k)
        Votes plus ``s / (3 (|s| + 1))``, with s the sum of the class's values in its pairs.
    """
    total = np.zeros((len(values), k))
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        total[:, second] += values[:, p]
        total[:, first] -= values[:, p]
    return votes(values >= 0, k) + total / (3 * (np.abs(total) + 1))
