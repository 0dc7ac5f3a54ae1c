"""Products of sparse rows and of few features, against SciPy and NumPy; and squares made symmetric."""

import numpy as np
import pytest
from scipy import sparse

from svmselect import RBF, Gram, Linear, Polynomial, decision_function, leave_one_out
from svmselect.kernels import _panels, panels
from svmselect.kernels.inner import OfProducts
from svmselect.kernels.panels import Rows


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("density", [0.001, 0.02, 0.2])
@pytest.mark.parametrize("way", ["shared columns", "dense rows", "as chosen"])
@pytest.mark.parametrize("few", [1, 40])
def test_products_of_sparse_rows(dtype, density, way, few, monkeypatch):
    """By the columns that rows share or by dense ones: also of empty rows, copies and columns in all rows."""
    if way != "as chosen":
        monkeypatch.setattr(panels, "PAIR_NS", 0.0 if way == "shared columns" else 1e9)
        monkeypatch.setattr(panels, "DENSE_NS", 1e9 if way == "shared columns" else 0.0)
    rng = np.random.default_rng(3)
    X = sparse.random_array((700, 3000), density=density, format="lil", dtype=dtype, rng=rng)
    X[:, 17], X[5] = 1, 0
    X[600:] = X[:100]
    X = sparse.csr_array(X)
    A, B = panels.Rows.pair(X[:few], X[few:])
    assert (B.is_thin and panels.rarely_meet(A, B) == (way == "shared columns")) or way == "as chosen"
    exact = X[:few].toarray().astype(float) @ X[few:].toarray().astype(float).T
    weights = rng.standard_normal(few)
    for left, right, expected in ((A, B, exact), (B, A, exact.T)):
        K = np.full(expected.shape, np.nan, dtype=dtype)
        Linear().block(left, right, out=K)
        np.testing.assert_allclose(K, expected, rtol=0, atol=2000 * np.finfo(dtype).eps)
    sums = Linear().weighted(A, weights, B)
    np.testing.assert_allclose(sums, weights @ exact, rtol=0, atol=20000 * np.finfo(dtype).eps)
    # parts of the rows, by slices and numbers, and none
    part = B.take(slice(100, 650)).take(slice(3, 520)), B.take(np.array([7, 7, 599]))
    np.testing.assert_allclose(Linear().block(*part), part[0].X @ part[1].X.toarray().T, atol=1e-3)
    assert Linear().block(A, B.take(slice(0, 0))).shape == (few, 0)
    # a copy of a row has the distance 0
    K = Gram(X, RBF(0.5), dtype=dtype).matrix()
    assert (K.diagonal() == 1).all() and (K[np.arange(600, 700), np.arange(100)] == 1).all()
    np.testing.assert_array_equal(K, K.T)


def test_few_values_in_many_columns():
    """Repeated entries are added, and empty columns count for nothing, also with numbers near 2^31."""
    rng = np.random.default_rng(4)
    columns = rng.integers(0, 10**9, size=50)
    X = rng.integers(-2, 3, size=(60, 50)).astype(float)
    wide = sparse.csr_array(
        (np.tile(X / 2, 2).ravel(), np.tile(columns, 120), 100 * np.arange(61)), shape=(60, 2**31 - 1)
    )
    y = np.where(X[:, 0] + rng.standard_normal(60) > 0, 1.0, -1.0)
    for kernel in (Linear(), RBF(0.02)):
        results = [leave_one_out(Gram(rows, kernel), y, 1.0) for rows in (wide, X)]
        assert results[0].solution.objective == pytest.approx(results[1].solution.objective, rel=1e-9)
        np.testing.assert_array_equal(results[0].errors, results[1].errors)
        first = decision_function(Gram(wide, kernel), y, results[0].solution, wide[:7])
        np.testing.assert_allclose(first, results[1].solution.decision[:7], atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 3, 8])
def test_products_of_few_features(d, dtype):
    rng = np.random.default_rng(d)
    rows = rng.standard_normal((1030, d)).astype(dtype)
    A, B = panels.Rows(rows[:521]), panels.Rows(rows[521:])
    assert d <= panels.FEW_FEATURES
    exact = A.X.astype(float) @ B.X.astype(float).T
    np.testing.assert_allclose(Linear().block(A, B), exact, rtol=0, atol=50 * np.finfo(dtype).eps)
    values = Polynomial(2, 0.5, 1.0).block(A, B)
    np.testing.assert_allclose(values, (0.5 * exact + 1) ** 2, rtol=0, atol=500 * np.finfo(dtype).eps)
    weights = rng.standard_normal(521)
    sums = RBF(0.3).weighted(A, weights, B)
    expected = weights @ RBF(0.3).block(A, B).astype(float)
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1000 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "columns", "d"), [(1, 1, 9), (3, 1500, 40), (700, 1100, 9), (513, 65, 300)])
def test_sums_of_one_call_are_those_of_single_panels(dtype, rows, columns, d):
    """Rows that occur twice, lie far away, or are 0: by one compiled call, and by one for each panel."""
    rng = np.random.default_rng(rows)
    A, B = (rng.normal(size=(n, d)) for n in (rows, columns))
    A[0], B[-1] = 0, 50
    B[: len(B) // 3] = A[rng.integers(0, rows, len(B) // 3)]
    A, B = Rows(A.astype(dtype)), Rows(B.astype(dtype))
    kernel, weights = RBF(1 / d), rng.normal(size=rows)
    expected = weights @ kernel.block(A, B).astype(np.float64)
    tolerance = np.abs(weights).sum() * 4 * d * np.finfo(dtype).eps
    sums, by_panels = kernel.weighted(A, weights, B), OfProducts.weighted(kernel, A, weights, B)
    np.testing.assert_allclose(sums, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(sums, by_panels, rtol=0, atol=tolerance)


def test_rows_of_other_widths_are_refused_before_compiled_code_reads_them():
    A, B = Rows(np.ones((3, 20))), Rows(np.ones((4, 21)))
    for call in (lambda: RBF(0.1).weighted(A, np.ones(3), B), lambda: RBF(0.1).block(A, B)):
        with pytest.raises(ValueError, match="made by Rows"):
            call()
