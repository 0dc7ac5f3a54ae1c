"""Probabilities of LIBSVM's models: a sigmoid for each pair of classes, coupled for more than two."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import expit

__all__ = ["PairwiseCoupling"]

LEAST = 1e-7  # probability of a class in its pair


class PairwiseCoupling:
    """A map from the decision values of pairs to the probabilities of k classes.

    Parameters
    ----------
    probA, probB : ndarray, shape (k (k - 1) / 2,)
        ``1 / (1 + exp(A f + B))`` is the probability of a pair's first class where the decision value f is
        positive for it.

    Notes
    -----
    LIBSVM's arithmetic, with its stopping rule; the method is the second one of Wu, Lin and Weng,
    "Probability estimates for multi-class classification by pairwise coupling", JMLR 5 (2004).
    """

    shape = "ovo"  # of the decision values, see `votes.decisions`

    def __init__(self, probA, probB):
        self.probA, self.probB = probA, probB

    def __call__(self, values):
        """Return probabilities, shape (n, k), at the decision values of two classes, or of all pairs."""
        # of two classes the value is positive for the second
        values = -values[:, None] if values.ndim == 1 else values
        first = np.clip(expit(-(self.probA * values + self.probB)), LEAST, 1 - LEAST)
        return _coupled(first)

    @property
    def points(self):
        """Parameters as lists, which JSON can hold."""
        return {"probA": self.probA.tolist(), "probB": self.probB.tolist()}


def _coupled(first):
    """Return the probabilities of k classes that agree best with those of the pairs.

    Parameters
    ----------
    first : ndarray, shape (n, k (k - 1) / 2)
        Probability of each pair's first class.

    Returns
    -------
    ndarray, shape (n, k)
    """
    n, n_pairs = first.shape
    if n_pairs == 1:
        return np.column_stack([first[:, 0], 1 - first[:, 0]])
    k = round((1 + (1 + 8 * n_pairs) ** 0.5) / 2)
    r = np.zeros((n, k, k))
    for pair, (i, j) in enumerate(combinations(range(k), 2)):
        r[:, i, j], r[:, j, i] = first[:, pair], 1 - first[:, pair]
    # 1) Q[t, t] = sum_j r[j, t]^2, Q[t, j] = -r[j, t] r[t, j]
    Q = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(k)
    Q[:, diagonal, diagonal] = (r**2).sum(axis=1)
    # 2) minimise p' Q p for probabilities p, one of them at a time, until Q p = (p' Q p) 1
    p = np.full((n, k), 1 / k)
    rows = np.arange(n)
    for _ in range(max(100, k)):
        Qp = np.einsum("nij,nj->ni", Q[rows], p[rows])
        pQp = np.einsum("ni,ni->n", p[rows], Qp)
        going = np.abs(Qp - pQp[:, None]).max(axis=1) >= 0.005 / k
        rows, Qp, pQp = rows[going], Qp[going], pQp[going]
        if not rows.size:
            break
        for t in range(k):
            row = Q[rows, t]
            step = (pQp - Qp[:, t]) / row[:, t]
            pQp = (pQp + step * (step * row[:, t] + 2 * Qp[:, t])) / (1 + step) ** 2
            Qp = (Qp + step[:, None] * row) / (1 + step)[:, None]
            p[rows, t] += step
            p[rows] /= (1 + step)[:, None]
    return p
