"""Generators of the synthetic data sets: of the IDA benchmark, and of Sarafis et al. (2018).

The generators return the data as published, features not scaled. The IDA files (and the registry entries made
from these generators) are the same after each feature is standardised over all rows, with n - 1 in the
deviation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np


def twonorm(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians in 20 dimensions (Breiman, "Bias, variance, and arcing classifiers", 1996).

    Class +1 is N(+a, I), class -1 is N(-a, I), a = (2/sqrt(20), ..., 2/sqrt(20)); both equally likely. The
    IDA set has these moments.

    Parameters
    ----------
    n : int
        Number of rows, at least 1.
    seed : int
        Seed of `numpy.random.default_rng`.

    Returns
    -------
    X : ndarray (n, 20) float64
    y : ndarray (n,) int8
        -1 or +1.

    Raises
    ------
    ValueError
        `n` < 1.
    """
    rng, y = _labels(n, seed)
    return rng.standard_normal((n, 20)) + y[:, None] * (2 / np.sqrt(20)), y


def ringnorm(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A wide Gaussian around a narrow one, in 20 dimensions (Breiman 1996, as DELVE and IDA have it).

    Class +1 is N(0, 4I), class -1 is N(a, I), a = (2/sqrt(20), ..., 2/sqrt(20)); both equally likely.
    Breiman's report is quoted with a = 1/sqrt(20); DELVE has 2/sqrt(20), and so has the IDA set: its class
    means are 0.456 +- 0.008 deviations of class -1 apart per feature (0.447 for 2/sqrt(20), 0.224 for
    1/sqrt(20)).

    Parameters, results and errors are those of `twonorm`.
    """
    rng, y = _labels(n, seed)
    noise = rng.standard_normal((n, 20))
    return np.where(y[:, None] > 0, 2 * noise, noise + 2 / np.sqrt(20)), y


def waveform(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Mixtures of two triangular waves, with noise, in 21 dimensions (Breiman et al., CART, 1984).

    A wave is max(6 - |j - p|, 0), j = 1..21, with its peak p at 7, 11 or 15. A row is u times one wave plus
    (1 - u) times another plus N(0, I) noise, u uniform on [0, 1]; the three pairs of waves are three equally
    likely classes. In the two-class IDA set, +1 is the class of the waves at 7 and 11 (1,647 rows: class 1 of
    the UCI file, counted from 0) and -1 joins the other two.

    Parameters and errors are those of `twonorm`; X is (n, 21).
    """
    rng = _rng(n, seed)
    j = np.arange(1, 22)
    waves = np.array([np.maximum(6 - np.abs(j - peak), 0) for peak in (7, 11, 15)], dtype=np.float64)
    pairs = np.array([(0, 1), (0, 2), (1, 2)])[rng.integers(3, size=n)]
    u = rng.uniform(size=(n, 1))
    X = u * waves[pairs[:, 0]] + (1 - u) * waves[pairs[:, 1]] + rng.standard_normal((n, 21))
    return X, np.where(pairs[:, 1] == 1, 1, -1).astype(np.int8)


def skewed_ringnorm(n: int, seed: int, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """A narrow and rare class beside a wide one, in d dimensions (Sarafis et al. 2018, Experiment 6).

    Class +1 is N(a, I), a = (1, ..., 1), with probability 0.3; class -1 is N(0, 4I).

    Parameters and errors are those of `twonorm`; X is (n, d).
    """
    rng = _rng(n, seed)
    y = np.where(rng.uniform(size=n) < 0.3, 1, -1).astype(np.int8)
    noise = rng.standard_normal((n, d))
    return np.where(y[:, None] > 0, noise + 1, 2 * noise), y


def _rng(n: int, seed: int) -> np.random.Generator:
    if n < 1:
        raise ValueError(f"n must be at least 1, found {n}")
    return np.random.default_rng(seed)


def _labels(n: int, seed: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = _rng(n, seed)
    return rng, (2 * rng.integers(2, size=n) - 1).astype(np.int8)


GENERATORS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "ringnorm": ringnorm,
    "twonorm": twonorm,
    "waveform": waveform,
    **{f"skewed-ringnorm-{d}": partial(skewed_ringnorm, d=d) for d in (20, 40, 80)},
}
