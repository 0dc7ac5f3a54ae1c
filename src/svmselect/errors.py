"""Errors of points: by the sign of their decision values, and as shares in which points weigh differently."""

from __future__ import annotations

import numpy as np

from svmselect.checks import as_numbers

__all__ = ["WeightedErrors", "misclassified", "weighted_share"]


def misclassified(y, decision):
    """Return where decision values have the wrong sign; 0 counts as class +1 (Franc et al. 2008, eq. 2)."""
    return (decision >= 0) != (y > 0)


class WeightedErrors:
    """Errors of points, which may weigh differently.

    A subclass has ``_errors_and_counts()``: the points in error, bool of shape (..., m), and how often each
    point counts, shape (m,): 0 for those that were not evaluated; or None where all count once.
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
            In [0, 1]; of a grid that of each model.

        Raises
        ------
        ValueError
            For other weights, or a grid without decision values.
        """
        wrong, counts = self._errors_and_counts()
        share = weighted_share(wrong, weight, counts)
        return float(share) if wrong.ndim == 1 else share


def weighted_share(wrong, weight, counted=None):
    """Return the weight of the points that are wrong over that of all, each as often as it is counted.

    Parameters
    ----------
    wrong : ndarray of bool, shape (..., m)
    weight : array_like, shape (m,)
    counted : ndarray of bool or float, shape (m,), optional

    Returns
    -------
    ndarray, shape (...)

    Raises
    ------
    ValueError
        Unless the weights are finite, not negative, and positive at a point that counts.
    """
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
