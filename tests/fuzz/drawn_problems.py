"""Small, nasty problems: how hypothesis draws them, and how one is written down."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from svmselect import RBF, Linear

LARGEST = 60  # rows
UNIT = 64  # features are multiples of 1/64, so that many sums and differences of them are exact
FAR = 2.0**20  # about 10^6
SIZES = (2, 2, 3, 6, 12, 24, 40)


@dataclass(frozen=True)
class Problem:
    """A C-SVC.

    Attributes
    ----------
    X : ndarray, shape (m, d)
    y : ndarray, shape (m,)
        -1 and +1, both.
    C : ndarray, shape (m,)
        Positive.
    gamma : float or None
        Of the RBF kernel; None for the linear one.
    """

    X: np.ndarray
    y: np.ndarray
    C: np.ndarray
    gamma: float | None

    @property
    def m(self):
        return self.y.size

    @property
    def kernel(self):
        return Linear() if self.gamma is None else RBF(self.gamma)

    def written(self):
        """As JSON holds it: numbers in hexadecimal, so that none is rounded."""
        return {
            "X": [" ".join(x.hex() for x in row) for row in self.X.tolist()],
            "y": self.y.astype(int).tolist(),
            "C": [c.hex() for c in self.C.tolist()],
            "gamma": None if self.gamma is None else float(self.gamma).hex(),
        }

    @classmethod
    def read(cls, written):
        """The problem that `written` wrote."""
        return cls(
            X=np.array([[float.fromhex(x) for x in row.split()] for row in written["X"]]),
            y=np.array(written["y"], dtype=float),
            C=np.array([float.fromhex(c) for c in written["C"]]),
            gamma=None if written["gamma"] is None else float.fromhex(written["gamma"]),
        )


def copied(X, y, draw):
    """Some rows are others, with equal or different labels."""
    X, y = X.copy(), y.copy()
    row = st.integers(0, len(y) - 1)
    for source, target, label in draw(
        st.lists(st.tuples(row, row, st.booleans()), min_size=1, max_size=len(y))
    ):
        X[target] = X[source]
        if label:
            y[target] = y[source]
    return X, y


def nearly_copied(X, y, draw):
    """The second half of the rows is the first, but for a little."""
    half = len(y) // 2
    little = 2.0 ** -draw(st.integers(8, 40))
    X = X.copy()
    X[half : 2 * half] = X[:half] + little * X[half : 2 * half]
    return X, y


def one_far(X, y, draw):
    X = X.copy()
    X[draw(st.integers(0, len(y) - 1))] *= FAR
    return X, y


def lone(X, y, draw):
    """One point of a class."""
    y = np.ones(len(y))
    y[draw(st.integers(0, len(y) - 1))] = -1
    return X, y


# what becomes of plain rows; `draw` is that of hypothesis
KINDS = {
    "plain": lambda X, y, draw: (X, y),
    "integers": lambda X, y, draw: (np.round(X), y),
    "signs": lambda X, y, draw: (np.sign(X), y),
    "copies": copied,
    "near copies": nearly_copied,
    "one feature": lambda X, y, draw: (X[:, :1], y),
    "collinear": lambda X, y, draw: (np.outer(np.round(X[:, 0]), np.ones(X.shape[1])), y),
    "constant feature": lambda X, y, draw: (np.column_stack([X, np.full(len(y), 3.0)]), y),
    "one row is far": one_far,
    "offset": lambda X, y, draw: (X + 2.0 ** draw(st.integers(4, 27)), y),
    "separated": lambda X, y, draw: (X + 8 * np.outer(y, np.eye(X.shape[1])[0]), y),
    "zeros": lambda X, y, draw: (np.where(np.abs(X) < 1, 0.0, X), y),
    "one point of a class": lone,
    "all equal": lambda X, y, draw: (np.repeat(X[:1], len(y), axis=0), y),
    "many units": lambda X, y, draw: (X * 4.0 ** (np.arange(X.shape[1]) - X.shape[1] // 2), y),
}


@st.composite
def problems(draw, most=LARGEST, kinds=tuple(KINDS)):
    """Strategy for a Problem of up to `most` rows and 9 features."""
    d = draw(st.integers(1, 8))
    least = draw(st.sampled_from([size for size in SIZES if size <= most]))
    value = st.integers(-4 * UNIT, 4 * UNIT)
    row = st.tuples(st.booleans(), st.lists(value, min_size=d, max_size=d))
    rows = draw(st.lists(row, min_size=least, max_size=min(most, 2 * least)))
    y = np.array([1.0 if positive else -1.0 for positive, _ in rows])
    X = np.array([values for _, values in rows], dtype=float) / UNIT
    X += draw(st.sampled_from([0.0, 1.0, 4.0])) * (y[:, None] > 0)
    X, y = KINDS[draw(st.sampled_from(kinds))](X, y, draw)
    if np.unique(y).size < 2:
        y = y.copy()
        y[0] = -y[0]
    C = np.full(y.size, 10.0 ** draw(st.integers(-6, 8)))
    if draw(st.booleans()):
        decades = draw(st.lists(st.integers(-3, 3), min_size=y.size, max_size=y.size))
        C *= 10.0 ** np.array(decades)
    gamma = draw(st.none() | st.integers(-6, 3).map(lambda power: 10.0**power))
    return Problem(np.ascontiguousarray(X), y, C, gamma)


def rounded_to(problem, offset):
    """The problem whose rows can be moved by `offset` without rounding."""
    return replace(problem, X=(problem.X + offset) - offset)
