"""Features with mean 0 and standard deviation 1."""

import numpy as np


def standardise(X: np.ndarray) -> np.ndarray:
    """Return the features with mean 0 and deviation 1 (n - 1, as in the IDA files); a constant one becomes 0.

    X and the result are float64 of shape (n, d) with n >= 2. Raises a `ValueError` if a deviation overflows
    or underflows float64.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        centred = X - X.mean(axis=0)
        deviation = X.std(axis=0, ddof=1)
        constant = np.ptp(X, axis=0) == 0
    bad = np.flatnonzero(~constant & ~((deviation > 0) & np.isfinite(deviation)))
    if bad.size:
        j = bad[0]
        raise ValueError(
            f"feature {j + 1} cannot be standardised: its values go from {X[:, j].min():.3g} to "
            f"{X[:, j].max():.3g}, and float64 does not hold their deviation"
        )
    centred[:, constant] = 0
    return centred / np.where(constant, 1, deviation)
