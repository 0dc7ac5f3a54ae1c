"""One-vs-one: what the problems of all pairs of classes say together.

Pairs are in the order (0, 1), (0, 2), ..., (k - 2, k - 1); a pair's value is positive for its second class.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

__all__ = ["decisions", "libsvm_coef", "margins", "most_votes", "pairwise_coef", "winners"]


def _votes(second_wins, k):
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
    return _votes(second_wins, k).argmax(axis=-1)


def winners(values, k, break_ties=False, threshold=0.0):
    """The class that `predict` finds.

    Parameters
    ----------
    values : ndarray, shape (n, k (k - 1) / 2)
        Decision values of the pairs; their signs are enough unless ties are broken.
    k : int
    break_ties : bool
        Whether the decision values decide between classes of equally many votes; else the first class wins.
    threshold : float
        From which on a pair votes for its second class.

    Returns
    -------
    ndarray of intp, shape (n,)
    """
    if break_ties and k > 2:
        return _scores(values, k).argmax(axis=1)
    return most_votes(values >= threshold, k)


def decisions(values, k, shape):
    """Return decision values in the shape of `decision_function`.

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
    return -values if shape == "ovo" else _scores(values, k)


def _scores(values, k):
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
    return _votes(values >= 0, k) + total / (3 * (np.abs(total) + 1))


def margins(values, codes):
    """Return by how much the class of each row is ahead of all other classes.

    Parameters
    ----------
    values : ndarray, shape (n,) or (n, k)
        Decision values of two classes, or scores of more.
    codes : ndarray of intp, shape (n,)
        The classes.

    Returns
    -------
    ndarray, shape (n,)
        Of two classes the decision value with the sign of the row's class; of more the score of its class
        less the largest of the others.
    """
    if values.ndim == 1:
        return np.where(codes == 1, values, -values)
    true_class = np.arange(codes.size), codes
    without_true = values.copy()
    without_true[true_class] = -np.inf
    return values[true_class] - without_true.max(axis=1)


def libsvm_coef(coef, codes):
    """Return the coefficients of support vectors in LIBSVM's layout.

    Parameters
    ----------
    coef : ndarray, shape (k (k - 1) / 2, n_SV)
        ``y alpha`` of each pair, 0 for support vectors of other classes.
    codes : ndarray of intp, shape (n_SV,)
        The number of each support vector's class.

    Returns
    -------
    ndarray, shape (k - 1, n_SV)
        For a support vector of class c, row o is the problem of c and the o-th other class. Positive for the
        first class of a pair, as LIBSVM has it.
    """
    pairs = _pairs(len(coef))
    out = np.zeros((pairs[-1][1], codes.size))
    for p, (first, second) in enumerate(pairs):
        out[second - 1, codes == first] = -coef[p, codes == first]
        out[first, codes == second] = -coef[p, codes == second]
    return out


def pairwise_coef(coef, codes):
    """From LIBSVM's layout, shape (k - 1, n_SV), to pairs, shape (k (k - 1) / 2, n_SV)."""
    k = len(coef) + 1
    out = np.zeros((k * (k - 1) // 2, codes.size))
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        out[p, codes == first] = -coef[second - 1, codes == first]
        out[p, codes == second] = -coef[first, codes == second]
    return out


def _pairs(n):
    """The n pairs of classes."""
    k = (1 + math.isqrt(1 + 8 * n)) // 2
    return list(combinations(range(k), 2))
