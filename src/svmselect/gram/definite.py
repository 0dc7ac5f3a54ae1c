"""Tests of whether a kernel matrix is positive semi-definite."""

import numpy as np
from scipy.linalg.lapack import dpotrf

__all__ = ["is_definite", "is_definite_on_rows"]

TRIED = 1000  # rows on which a user's function has to be positive semi-definite
# A function whose eigenvalues in float32 fall below minus this, relative to the largest value, is indefinite.
INDEFINITE = 1e-4


def is_definite(K, negative):
    """Return whether a symmetric matrix is positive semi-definite up to round-off.

    Eigenvalues may fall below 0 by `negative`, relative to the largest absolute value of K, which is on the
    diagonal of every positive semi-definite matrix.
    """
    scale = np.abs(K).max()
    if scale == 0:  # the matrix is 0
        return True
    shifted = K / scale + negative * np.eye(len(K))
    return dpotrf(shifted, overwrite_a=True)[1] == 0


def is_definite_on_rows(gram):
    """Return whether the kernel is positive semi-definite on some rows of a Gram matrix."""
    rows = np.linspace(0, gram.m - 1, min(gram.m, TRIED)).astype(np.intp)
    return is_definite(gram.block(rows).astype(np.float64), INDEFINITE)
