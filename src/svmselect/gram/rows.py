"""Checks of a data matrix, and the point from which its rows are measured."""

import numpy as np
from scipy import sparse

from svmselect.csr import as_csr
from svmselect.kernels.panels import Rows

__all__ = ["Placed", "adopted_rows", "as_rows", "far_origin", "measured_from", "own_rows"]


def as_rows(X):
    """Return finite real numbers as a float64 matrix, C order or CSR; raise a ValueError for other data."""
    if np.iscomplexobj(X):
        raise ValueError("X must be an array of real numbers, got complex ones")
    if sparse.issparse(X):
        X = sparse.csr_array(as_csr(X), dtype=np.float64)
        values = X.data
    else:
        try:
            X = np.ascontiguousarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X must be an array of numbers: {error}") from None
        values = X
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions (rows, features), got shape {X.shape}")
    if 0 in X.shape:
        raise ValueError(f"X must have at least one row and one feature, got shape {X.shape}")
    if not np.isfinite(values).all():
        if sparse.issparse(X):
            first = np.flatnonzero(~np.isfinite(values))[0]
            where = np.searchsorted(X.indptr, first, side="right") - 1, X.indices[first]
        else:
            where = np.argwhere(~np.isfinite(X))[0]
        raise ValueError(f"X must be finite, got a NaN or infinity in row {where[0]}, feature {where[1]}")
    return X


def own_rows(X):
    """Return the rows of `as_rows`, which share no memory with X."""
    rows = as_rows(X)
    if isinstance(X, np.ndarray) and not np.may_share_memory(rows, X):
        return rows
    return rows.copy()


def adopted_rows(X):
    """Return the rows of `as_rows`, read-only; X becomes read-only where it shares memory with them."""
    rows = as_rows(X)
    for array in _arrays_of(rows):
        for given in _arrays_of(X):
            if np.may_share_memory(array, given):
                given.flags.writeable = False
        array.flags.writeable = False
    return rows


def far_origin(X):
    """Return the point from which to measure rows, float64 of shape (d,), or None for 0.

    It differs from 0 in dense features whose values lie far from 0, beside their range. Each coordinate is a
    multiple of a power of two no smaller than the range, so that subtracting it rounds nothing, and rows near
    0 stay where they are. A feature that is constant becomes 0.
    """
    if sparse.issparse(X):
        return None
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore"):
        step = np.ldexp(1.0, np.frexp(high - low)[1])
    middle = 0.5 * low + 0.5 * high
    with np.errstate(over="ignore", invalid="ignore"):
        origin = np.where(high > low, np.trunc(middle / step) * step, low)
    origin[~np.isfinite(origin)] = 0
    return origin if origin.any() else None


def _checked_origin(X, origin):
    """Return a point from which rows can be measured, None for 0; raise a ValueError for another value."""
    point = np.array(origin, dtype=np.float64)
    if point.shape != (X.shape[1],) or not np.isfinite(point).all():
        raise ValueError(f"origin must be {X.shape[1]} finite numbers, got {origin!r}")
    if not point.any():
        return None
    if sparse.issparse(X):
        raise ValueError("origin must be 0 for sparse rows")
    return point


def measured_from(X, origin):
    """Return the rows minus `origin`, or X itself for None."""
    if origin is None:
        return X
    return (X.toarray() if sparse.issparse(X) else X) - origin


def _arrays_of(X):
    """Return the arrays in which a data matrix is stored; none unless it is an array or a CSR matrix."""
    if sparse.issparse(X):
        return (X.data, X.indices, X.indptr) if X.format == "csr" else ()
    return (X,) if isinstance(X, np.ndarray) else ()


class Placed:
    """Checked rows, measured from a point where kernel values keep most digits.

    `X` are the moved rows in float64, and `data` the same as Rows in the type of the kernel values. Raise a
    ValueError if `origin`, another point from which to measure, does not suit the rows or the kernel, or if a
    squared norm overflows.
    """

    def __init__(self, X, kernel, dtype, origin=None):
        if origin is None:
            self.origin = far_origin(X) if kernel.moves else None
        else:
            self.origin = _checked_origin(X, origin)
            if self.origin is not None and not kernel.moves:
                raise ValueError(f"origin must be 0 for {kernel!r}, whose SVM changes when all rows move")
        self.X = measured_from(X, self.origin)
        self.moves = kernel.moves
        with np.errstate(over="ignore"):
            self.data = Rows(self.X.astype(dtype, copy=False))

    def suited(self, kernel):
        """Return the rows, measured from another point if another kernel allows no move or gains by one."""
        if kernel.moves == self.moves:
            return self
        # moving rows to and fro rounds nothing, see far_origin
        X = self.X if self.origin is None else self.X + self.origin
        return Placed(X, kernel, self.data.dtype)

    def beside(self, X, kernel, support):
        """Return new rows and some of these as a pair of Rows, measured from the same point."""
        X = as_rows(X)
        if X.shape[1] != self.X.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, the Gram matrix was made from {self.X.shape[1]}")
        if sparse.issparse(X) != sparse.issparse(self.X):
            X = sparse.csr_array(X) if sparse.issparse(self.X) else X.toarray()
        new, chosen = Rows.pair(measured_from(X, self.origin), self.X[support])
        kernel.check(new)
        return new, chosen
