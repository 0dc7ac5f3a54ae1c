"""Checks of sparse input, and its canonical form.

Compiled code follows the indices of sparse matrices, and this is the one place where they are checked.
"""

import numpy as np
from scipy import sparse

__all__ = ["as_csr"]


def as_csr(X: sparse.sparray, name: str = "X") -> sparse.csr_array:
    """Return a sparse matrix of any format as CSR in canonical form; raise a ValueError for a bad one.

    SciPy checks few arguments of a matrix and no later change, and its conversions write wherever an index
    points. Every function that takes sparse input calls this one first. In canonical form the entries of a
    row are sorted by column, each column comes once, and no entry is 0. The result is a matrix for a matrix
    and an array for an array, with indices of 32 bits if their values allow it; it shares arrays with `X`
    where these need no conversion. Errors call X `name`.
    """
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions (rows, features), got shape {X.shape}")
    if X.dtype.kind not in "biufc":
        raise ValueError(f"{name} must be an array of numbers, got values of type {X.dtype}")
    kind = X.format
    if kind in ("csr", "csc", "bsr"):
        _check_compressed(X, name)
        return _canonical(_rebuilt(X).tocsr())
    if kind == "coo":
        for axis, (coords, size) in enumerate(zip((X.row, X.col), X.shape, strict=True)):
            role = ("row", "column")[axis]
            _check_integers(coords, f"{role} numbers", name)
            if coords.size != np.size(X.data):
                raise _broken(name, f"{np.size(X.data)} values and {coords.size} {role} numbers")
            _check_range(coords, size, role, name)
        return _canonical(X.tocsr())
    try:
        if kind == "dia":
            X = type(X)((X.data, X.offsets), shape=X.shape)
        X = X.tocsr()
    except (ValueError, IndexError, TypeError) as error:
        raise _broken(name, " ".join(str(error).split())) from None
    _check_compressed(X, name)
    return _canonical(X)


def _canonical(X):
    """Return a CSR matrix in canonical form; arrays of X are copied before they are changed."""
    X = _rebuilt(X)
    if not X.has_canonical_format or not X.data.all():
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def _rebuilt(X):
    """Return a compressed matrix with narrow indices and without SciPy's flags, which may be out of date."""
    small = max(*X.shape, X.indices.size) <= np.iinfo(np.int32).max
    indices, pointers = (a.astype(np.int32 if small else np.int64, copy=False) for a in (X.indices, X.indptr))
    return type(X)((X.data, indices, pointers), shape=X.shape)


def _check_compressed(X, name):
    """Raise a ValueError unless data, indices and pointers of a CSR, CSC or BSR matrix fit each other."""
    # the names of the two axes, and the shape in rows of pointers and columns of indices
    across, along = ("row", "column") if X.format != "csc" else ("column", "row")
    shape = X.shape if X.format != "csc" else X.shape[::-1]
    dimensions = 1
    if X.format == "bsr":
        sizes = zip(shape, X.blocksize, strict=True)
        if np.ndim(X.data) != 3 or 0 in X.data.shape[1:] or any(n % block for n, block in sizes):
            raise _broken(name, f"blocks of shape {np.shape(X.data)[1:]} in a matrix of shape {shape}")
        shape = tuple(n // b for n, b in zip(shape, X.blocksize, strict=True))
        dimensions = 3
    # the arrays, their sizes, and the order of the pointers
    _check_integers(X.indptr, f"{across} pointers", name)
    _check_integers(X.indices, f"{along} indices", name)
    if np.ndim(X.data) != dimensions or len(X.data) != X.indices.size:
        raise _broken(name, f"values of shape {np.shape(X.data)} and {X.indices.size} indices")
    if X.indptr.size != shape[0] + 1:
        raise _broken(name, f"{X.indptr.size} {across} pointers for {shape[0]} {across}s")
    pointers = X.indptr.astype(np.int64)
    if pointers[0] != 0:
        raise _broken(name, f"the first {across} pointer is {pointers[0]}, not 0")
    falls = np.flatnonzero(pointers[1:] < pointers[:-1])
    if falls.size:
        raise _broken(name, f"the pointer of {across} {falls[0] + 1} is smaller than the one before")
    if pointers[-1] > X.indices.size:
        raise _broken(name, f"the last {across} pointer is {pointers[-1]}, with {X.indices.size} indices")
    _check_range(X.indices[: pointers[-1]], shape[1], along, name)


def _check_integers(numbers, role, name):
    if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise _broken(name, f"its {role} are not a list of integers")


def _check_range(numbers, size, role, name):
    """Raise a ValueError unless all numbers are from 0 to size - 1."""
    if numbers.size:
        for number in (int(numbers.min()), int(numbers.max())):
            if not 0 <= number < size:
                raise _broken(name, f"{role} {number} of {size} (they count from 0)")


def _broken(name, fault):
    return ValueError(f"{name} is not a valid sparse matrix: {fault}")
