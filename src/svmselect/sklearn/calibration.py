"""Probabilities from decision values: calibrated on left-out rows, or coupled as in LIBSVM's models."""

from itertools import combinations

import numpy as np
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

__all__ = [
    "Calibration",
    "Isotonic",
    "PairwiseCoupling",
    "Sigmoid",
    "blocks_of",
    "check_calibration",
    "isotonic",
    "left_out_probabilities",
    "sigmoid",
]

METHODS = ("sigmoid", "isotonic")
ROUND_OFF = 1e-12  # relative deviation of values that are equal
# Each block of rows is given probabilities that the other blocks have calibrated.
BLOCKS = 5
LEAST = 1e-7  # probability of a class in its pair


def check_calibration(estimator):
    """Raise a ValueError for a bad `calibration` or `calibration_method`."""
    if not (estimator.calibration is None or estimator.calibration == "loo"):
        raise ValueError(f"calibration must be None or 'loo', got {estimator.calibration!r}")
    if estimator.calibration_method not in METHODS:
        raise ValueError(
            f"calibration_method must be one of {list(METHODS)}, got {estimator.calibration_method!r}"
        )


class Calibration:
    """A map from decision values of k classes to probabilities, fitted to those of left-out rows.

    Values are of shape (n,) for two classes or (n, k), as of `SVC.decision_function`. "sigmoid": ``1 / (1 +
    exp(A f + B))`` of greatest likelihood for Platt's targets (1999), which are ``(n_+ + 1) / (n_+ + 2)`` and
    ``1 / (n_- + 2)`` in the place of 1 and 0, if it rises, else the constant of greatest likelihood.
    "isotonic": the monotone function of least squares. With more than two classes one for each class, and the
    probabilities of a row are divided by their sum.
    """

    shape = "ovr"  # of the decision values, see `votes.decisions`

    def __init__(self, values, codes, k, weight, method):
        fit = sigmoid if method == "sigmoid" else isotonic
        counted = weight > 0
        values, codes, weight = values[counted], codes[counted], weight[counted]
        if k == 2:
            self._maps = [fit(values, codes == 1, weight)]
        else:
            self._maps = [fit(values[:, c], codes == c, weight) for c in range(k)]

    def __call__(self, values):
        """Return probabilities, shape (n, k), at decision values of shape (n,) or (n, k)."""
        if values.ndim == 1:
            p = self._maps[0](values)
            return np.column_stack([1 - p, p])
        p = np.column_stack([to_p(values[:, c]) for c, to_p in enumerate(self._maps)])
        total = p.sum(axis=1, keepdims=True)
        return np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1])


class Sigmoid:
    """The map ``1 / (1 + exp(-(slope f + offset)))``."""

    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def __call__(self, values):
        """Return probabilities at decision values of any shape."""
        return 0.5 * (1 + np.tanh(0.5 * (self.slope * values + self.offset)))


class Isotonic:
    """The monotone step function of an IsotonicRegression."""

    def __init__(self, regression):
        self.regression = regression

    def __call__(self, values):
        """Return probabilities at decision values, shape (n,)."""
        return self.regression.predict(values)


def sigmoid(values, positive, weight):
    """Fit the rising sigmoid of Platt's targets.

    It is a logistic regression in which a row of target t is one of each class, with the weights t and 1 - t.
    A negative slope would praise the worst models: with a small C a row that is left out moves the threshold
    against itself, so that its decision value tells the other class. Among rising sigmoids the likelihood,
    which is concave, is then largest at the slope 0.
    """
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    middle = np.average(values, weights=weight)
    # in units of their deviation: a slope of about 1, however large the values are
    unit = float(np.sqrt(np.average((values - middle) ** 2, weights=weight)))
    if unit <= ROUND_OFF * abs(middle):  # all values are equal
        return _constant(target, weight)
    regression = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8, max_iter=1000)
    regression.fit(
        np.tile((values - middle) / unit, 2)[:, None],
        np.repeat([1, 0], values.size),
        sample_weight=np.concatenate([weight * target, weight * (1 - target)]),
    )
    slope = float(regression.coef_[0, 0]) / unit
    if slope <= 0:
        return _constant(target, weight)
    return Sigmoid(slope, float(regression.intercept_[0]) - slope * middle)


def _constant(target, weight):
    """Return the constant sigmoid of greatest likelihood."""
    share = np.average(target, weights=weight)
    return Sigmoid(0.0, float(np.log(share / (1 - share))))


def isotonic(values, positive, weight):
    """Fit the monotone function of least squares from 0 to 1, constant beyond the values."""
    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    return Isotonic(regression.fit(values, positive.astype(float), sample_weight=weight))


def blocks_of(codes):
    """Return a block for each row, in which classes have their shares; one block if a class has one row."""
    n = min(BLOCKS, int(np.bincount(codes).min()))
    blocks = np.zeros(codes.size, dtype=np.intp)
    if n > 1:
        for number, (_, rows) in enumerate(StratifiedKFold(n).split(codes, codes)):
            blocks[rows] = number
    return blocks


def left_out_probabilities(values, codes, k, weight, method, blocks):
    """Return probabilities of left-out rows, shape (m, k), each calibrated on the rows of other blocks."""
    p = np.empty((codes.size, k))
    for block in range(blocks.max() + 1):
        inside = blocks == block
        outside = ~inside if blocks.max() > 0 else inside
        p[inside] = Calibration(values[outside], codes[outside], k, weight[outside], method)(values[inside])
    return p


class PairwiseCoupling:
    """A map from the decision values of pairs to the probabilities of k classes.

    ``1 / (1 + exp(A f + B))`` is the probability of a pair's first class where the decision value f is
    positive for it. LIBSVM's arithmetic, with its stopping rule; the method is the second one of Wu, Lin and
    Weng, "Probability estimates for multi-class classification by pairwise coupling", JMLR 5 (2004).
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


def _coupled(first):
    """Return the probabilities of k classes, shape (n, k), from those of each pair's first class."""
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
