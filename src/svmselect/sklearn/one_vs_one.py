"""One-vs-one: a problem for each pair of classes, and the votes of their decision values.

Pairs are in the order (0, 1), (0, 2), ..., (k - 2, k - 1). `codes` are the numbers of rows' classes, intp of
shape (n,). `values` are decision values of the pairs, shape (n, k (k - 1) / 2), positive for the second class
of a pair.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

__all__ = [
    "Problem",
    "checked_weight",
    "class_weights",
    "decisions",
    "encoded",
    "libsvm_coef",
    "margins",
    "most_votes",
    "pairwise_coef",
    "right_values",
    "two_values",
    "winners",
]


@dataclass(frozen=True)
class _Pair:
    """The problem of two classes."""

    number: int  # the place of the pair among all pairs of classes
    first: int  # number of a class
    second: int  # number of the other class, larger than `first`
    rows: np.ndarray  # their rows with a positive weight, increasing
    y: np.ndarray  # -1.0 for `first`, +1.0 for `second`

    def gram(self, gram):
        """Return the Gram matrix of the rows of the pair."""
        return gram if self.rows.size == gram.m else gram.restricted(self.rows)


class Problem:
    """A two-class problem for each pair of classes.

    `weight` are factors of C, 0 for rows that are not trained on. `pairs` are the pairs to train: of two
    classes that have rows with a positive weight. `default` is the decision value of all other pairs,
    everywhere: -1 or 1 for the class that has rows, so that a class without a row to train on is never
    predicted. Raise a ValueError if fewer than two classes have a row with a positive weight.
    """

    def __init__(self, classes, codes, weight):
        self.classes, self.codes, self.weight = classes, codes, weight
        trained = weight > 0
        present = np.bincount(codes[trained], minlength=classes.size) > 0
        if np.count_nonzero(present) < 2:
            labels = classes[present].tolist()
            raise ValueError(
                f"two classes need rows of a weight above zero to train on, got those of {labels!r}"
            )
        both = list(combinations(range(classes.size), 2))
        self.n_pairs, self.pairs, self.default = len(both), [], np.zeros(len(both))
        for number, (first, second) in enumerate(both):
            if not (present[first] and present[second]):
                self.default[number] = -1.0 if present[first] else 1.0
                continue
            rows = np.flatnonzero(((codes == first) | (codes == second)) & trained)
            y = np.where(codes[rows] == second, 1.0, -1.0)
            self.pairs.append(_Pair(number, first, second, rows, y))

    def empty_values(self, n):
        """Return decision values of all pairs at n rows, shape (n, n_pairs): 0 for pairs that are trained."""
        return np.tile(self.default, (n, 1))


def right_values(codes, k):
    """Return values of the pairs of k classes that are right everywhere: 1, -1, and 0 for other classes."""
    return np.column_stack([1.0 * (codes == j) - (codes == i) for i, j in combinations(range(k), 2)])


def encoded(y):
    """Return the classes and the number of each row's class; raise a ValueError for a single class."""
    # these, and whole numbers, are classes; the check takes as long as a small fit
    if not (y.dtype.kind in "biuSU" or (y.dtype.kind == "f" and (y == np.floor(y)).all())):
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
    classes, codes = two_values(y) or np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise ValueError(f"y must hold at least two classes, got 1 class: {classes.tolist()[0]!r}")
    return classes, codes


def two_values(y):
    """Return the two values of labels that are numbers, and codes, without sorting; None for other labels."""
    if y.dtype.kind not in "biuf" or y.size == 0:
        return None
    low, high = y.min(), y.max()
    second = y == high
    if low == high or not (second | (y == low)).all():
        return None
    return np.array([low, high], dtype=y.dtype), second.astype(np.intp)


def checked_weight(sample_weight, m):
    """Return weights of the rows as float64 of shape (m,); raise a ValueError for bad ones."""
    if sample_weight is None:
        return np.ones(m)
    weight = np.array(sample_weight, dtype=np.float64)
    if weight.shape != (m,):
        raise ValueError(f"sample_weight must have shape ({m},) to match X, got {weight.shape}")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weight[bad[0]]} at row {bad[0]}"
        )
    return weight


def class_weights(class_weight, classes, codes):
    """Return the factor of each class: 1, that of a dict, or, "balanced", m over k times its rows."""
    if class_weight is None:  # scikit-learn's takes as long as a small fit
        return np.ones(classes.size)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return codes.size / (classes.size * np.bincount(codes, minlength=classes.size))
    from sklearn.utils.class_weight import compute_class_weight

    return compute_class_weight(class_weight, classes=classes, y=classes[codes])


def _votes(second_wins, k):
    """Return the votes of each of k classes, shape (..., k), given which pairs their second class wins."""
    out = np.zeros((*second_wins.shape[:-1], k), dtype=np.intp)
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        out[..., second] += second_wins[..., p]
        out[..., first] += ~second_wins[..., p]
    return out


def most_votes(second_wins, k):
    """Return the class with most votes; of several, the first, as in LIBSVM."""
    return _votes(second_wins, k).argmax(axis=-1)


def winners(values, k, break_ties=False, threshold=0.0):
    """Return the class that `predict` finds for each row.

    A pair votes for its second class from `threshold` on. Signs of `values` are enough unless `break_ties`
    makes the values decide between classes of equally many votes; else the first of these wins.
    """
    if break_ties and k > 2:
        return _scores(values, k).argmax(axis=1)
    return most_votes(values >= threshold, k)


def decisions(values, k, shape):
    """Return decision values in the shape of `decision_function`, "ovr" or "ovo"; (n,) of two classes."""
    if k == 2:
        return values[:, 0]
    return -values if shape == "ovo" else _scores(values, k)


def _scores(values, k):
    """Return the score of each class: its votes, and less than half a vote for its decision values.

    As in scikit-learn's "ovr" it is the votes plus ``s / (3 (|s| + 1))``, with s the sum of the values of the
    class in its pairs.
    """
    total = np.zeros((len(values), k))
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        total[:, second] += values[:, p]
        total[:, first] -= values[:, p]
    return _votes(values >= 0, k) + total / (3 * (np.abs(total) + 1))


def margins(values, codes):
    """Return by how much the class of each row is ahead of the others, or the value of two classes signed."""
    if values.ndim == 1:
        return np.where(codes == 1, values, -values)
    true_class = np.arange(codes.size), codes
    without_true = values.copy()
    without_true[true_class] = -np.inf
    return values[true_class] - without_true.max(axis=1)


def libsvm_coef(coef, codes):
    """Return the coefficients of support vectors in LIBSVM's layout, shape (k - 1, n_SV).

    `coef` are ``y alpha`` of each pair, 0 for support vectors of other classes. In the result, for a support
    vector of class c, row o is the problem of c and the o-th other class, positive for the first class of a
    pair.
    """
    k = (1 + math.isqrt(1 + 8 * len(coef))) // 2
    out = np.zeros((k - 1, codes.size))
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        out[second - 1, codes == first] = -coef[p, codes == first]
        out[first, codes == second] = -coef[p, codes == second]
    return out


def pairwise_coef(coef, codes):
    """Return coefficients of the pairs, shape (k (k - 1) / 2, n_SV), from LIBSVM's layout."""
    k = len(coef) + 1
    out = np.zeros((k * (k - 1) // 2, codes.size))
    for p, (first, second) in enumerate(combinations(range(k), 2)):
        out[p, codes == first] = -coef[second - 1, codes == first]
        out[p, codes == second] = -coef[first, codes == second]
    return out
