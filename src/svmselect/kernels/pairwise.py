"""Kernels whose values need a pass over the features of each pair of rows."""

from dataclasses import dataclass

import numpy as np

import svmselect.kernels._panels as _panels
from svmselect.kernels.kernel import UnitKernel, positive, target
from svmselect.kernels.panels import Rows, dense_panels

__all__ = ["ChiSquared", "Laplacian"]


class _OfPairs(UnitKernel):
    """A kernel ``exp(-gamma D(x, z))`` of a distance that is a sum over features, by ``_distance``."""

    def __post_init__(self):
        positive(self.gamma, "gamma")

    def block(self, A, B, out=None, slots=None):
        """Compute a block of kernel values; see `Kernel.block`."""
        out, slots = target(A, B, out, slots)
        for a, b, left, right in dense_panels(A, B):
            # features lie together: turned = right.T
            turned = np.empty((right.shape[1], right.shape[0]), dtype=right.dtype)
            _panels.transpose(right, turned)
            type(self)._distance(left, turned, out[:, b], slots[a], self.gamma)
        return out


@dataclass(frozen=True)
class Laplacian(_OfPairs):
    """The Laplacian kernel, ``k(x, z) = exp(-gamma sum_j |x_j - z_j|)``.

    Parameters
    ----------
    gamma : float
        > 0 and finite.
    """

    gamma: float

    name = "laplacian"
    stationary = True
    _distance = staticmethod(_panels.laplacian)


@dataclass(frozen=True)
class ChiSquared(_OfPairs):
    """The exponential chi-squared kernel of histograms.

    ``k(x, z) = exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j))``, where j are the features that are not 0 in
    both rows.

    Parameters
    ----------
    gamma : float
        > 0 and finite.

    Raises
    ------
    ValueError
        For another value; and for rows with a negative value, when it is used.
    """

    gamma: float = 1.0

    name = "chi2"
    _distance = staticmethod(_panels.chi_squared)

    def check(self, rows: Rows, name: str = "X") -> None:
        """Raise a ValueError for rows with a negative value."""
        values = rows.packed.data if rows.sparse else rows.packed
        least = values.min(initial=0)
        if least < 0:
            raise ValueError(f"{name} must not be negative for a chi-squared kernel, got {least:g}")
