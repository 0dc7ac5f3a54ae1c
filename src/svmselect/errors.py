"""Errors of points by the sign of their decision values, and weighted shares of errors."""

import numpy as np

from svmselect.checks import as_numbers

__all__ = ["WeightedErrors", "misclassified", "weighted_share", "zero_within"]


def misclassified(y, decision):
    """Return whether each decision value has the wrong sign; 0 is class +1 (Franc et al. 2008, eq. 2)."""
    return (decision >= 0) != (y > 0)


def zero_within(values, certificate):
    """Return the values, exactly 0 where they are known to `certificate` only, and it allows 0.

    Round-off must not decide the sign of a value that is 0: then labels depend on the order of rows.
    """
    return np.where(np.abs(values) <= certificate, 0.0, values)


class WeightedErrors:
    """Errors of points that may have different weights.

    A subclass has ``_errors_and_counts()``, which returns the points in error, bool of shape (..., m), and
    how often each point counts, shape (m,), 0 without an evaluation; or None if all count once.
    """

    def weighted_error(self, weight):
        """Return the weight of the points in error over that of all points that were evaluated.

        Parameters
        ----------
        weight : array_like, shape (m,)
            Finite, not negative, not all 0: for example 1 over the size of the point's class.

        Returns
        -------
        float or ndarray, shape (n_gammas, n_Cs)
            In [0, 1]; for a grid, one number per model.

        Raises
        ------
        ValueError
            For other weights, or a grid without decision values.
        """
        wrong, counts = self._errors_and_counts()
        share = weighted_share(wrong, weight, counts)
        return float(share) if wrong.ndim == 1 else share


def weighted_share(wrong, weight, counted=None):
    """Return the share of the wrong points, bool of shape (..., m), in the weight of all `counted` points."""
    weight, m = as_numbers(weight, "weight"), wrong.shape[-1]
    if weight.shape != (m,):
        raise ValueError(f"weight must have shape ({m},), got {weight.shape}")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(f"weight must be finite and not negative, got {weight[bad[0]]} at point {bad[0]}")
    if counted is not None:
        weight = weight * counted
    if not weight.any():
        raise ValueError("weight must be positive at a point that was left out")
    return wrong @ (weight / weight.sum())
