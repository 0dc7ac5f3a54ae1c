"""The Gram matrix of given kernel values."""

from __future__ import annotations

import numpy as np

from svmselect.forks import cached_property
from svmselect.gram import Gram
from svmselect.gram.definite import is_definite
from svmselect.kernels import Kernel

__all__ = ["Precomputed", "precomputed_gram"]

# The two halves may differ by this, relative to the largest value: that is round-off, also of float32 values.
ASYMMETRY = 1e-5
# Eigenvalues may fall this far below 0, relative to the largest value, for the same reason.
INDEFINITE = 1e-6


class Precomputed(Kernel):
    """A kernel whose values are given: what it takes for rows are row numbers of its matrix.

    Parameters
    ----------
    K : ndarray, shape (m, m)
        Symmetric, and positive semi-definite for all but training.

    Raises
    ------
    ValueError
        If it is not square, or not symmetric beyond round-off.
    """

    name = "precomputed"

    def __init__(self, K):
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix, got shape {K.shape}")
        difference = np.abs(K - K.T)
        i, j = np.unravel_index(difference.argmax(), K.shape)
        if difference[i, j] > ASYMMETRY * np.abs(K).max():
            raise ValueError(
                f"a precomputed kernel must be symmetric, got {K[i, j]} at ({i}, {j}) and {K[j, i]} across"
            )
        self.K = K

    @cached_property
    def _is_definite(self):
        return is_definite(self.K, INDEFINITE)

    def is_definite(self):
        """Whether the matrix is positive semi-definite up to round-off."""
        return self._is_definite

    def check_definite(self):
        """A ValueError unless it is."""
        if not self.is_definite():
            raise ValueError("leave-one-out errors need a positive semi-definite kernel matrix")

    def block(self, A, B, out=None, slots=None):
        """The values of two sets of row numbers; see `Kernel.block`."""
        a, b = (rows.X[:, 0].astype(np.intp) for rows in (A, B))
        values = self.K[a[:, None], b]
        if out is None:
            return values
        out[slice(None) if slots is None else slots] = values
        return out

    def diagonal(self, A):
        """The value of each row number with itself."""
        a = A.X[:, 0].astype(np.intp)
        return self.K[a, a]


def precomputed_gram(kernel):
    """A Gram matrix that takes its columns from a `Precomputed` kernel."""
    m = len(kernel.K)
    return Gram(np.arange(m, dtype=np.float64)[:, None], kernel, memory_mb=2.0**40)
