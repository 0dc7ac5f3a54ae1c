"""Features brought to mean 0 and deviation 1."""

from __future__ import annotations

import numpy as np


def standardise(X: np.ndarray) -> np.ndarray:
    """Return the features with mean 0 and deviation 1 (n - 1, as in the IDA files); a constant one becomes 0.

    X is (n, d) float64 with n >= 2; so is the result. Raises a `ValueError` where a deviation is beyond what
    float64 holds, or below.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        centred = X - X.mean(axis=0)
        deviation = X.std(axis=0, ddof=1)
        constant = np.ptp(X, axis=0) == 0
    lost = np.flatnonzero(~constant & ~((deviation > 0) & np.isfinite(deviation)))
    if lost.size:
        j = lost[0]
        raise ValueError(
            f"feature {j + 1} cannot be standardised: its values go from {X[:, j].min():.3g} to "
            f"{X[:, j].max():.3g}, and float64 does not hold their deviation"
        )
    centred[:, constant] = 0
    return centred / np.where(constant, 1, deviation)
