"""Sparse rows times dense rows, against SciPy; and squares made symmetric."""

import numpy as np
import pytest
from scipy import sparse

from svmselect.kernels import _panels


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 7, 8, 17, 24, 31, 32, 33, 57, 100])
@pytest.mark.parametrize(
    ("rows", "features", "first"), [(40, 13, 5), (1, 1, 0), (70, 3, 0), (5, 0, 2), (0, 4, 3)]
)
def test_sparse_product(dtype, width, rows, features, first):
    rng = np.random.default_rng(width)
    X = sparse.random_array((first + rows + 2, features), density=0.3, format="csr", dtype=dtype, rng=rng)
    left = rng.standard_normal((width, features)).astype(dtype)
    out = np.full((width, rows), np.nan, dtype=dtype)
    _panels.sparse_product(X.data, X.indices.astype(np.int32), X.indptr.astype(np.intp), first, left, out)
    exact = left.astype(float) @ X.toarray().astype(float)[first : first + rows].T
    np.testing.assert_allclose(out, exact, rtol=0, atol=50 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 100, 150])
def test_mirror(n, dtype):
    wide = np.random.default_rng(n).standard_normal((n, n + 5)).astype(dtype)
    before = wide.copy()
    _panels.mirror(wide[:, 3 : n + 3])
    lower = np.tril(before[:, 3 : n + 3])
    np.testing.assert_array_equal(wide[:, 3 : n + 3], lower + np.tril(lower, -1).T)
    np.testing.assert_array_equal(wide[:, [0, 1, 2, -2, -1]], before[:, [0, 1, 2, -2, -1]])
