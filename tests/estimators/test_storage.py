"""One matrix, one model: whatever holds the rows, and whatever becomes of it afterwards."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numerics.problems import two_classes
from scipy import sparse
from sklearn.datasets import load_iris
from slow import slow

from svmselect import RBF, AnisotropicRBF, Custom, Gram, Laplacian, Linear, Polynomial
from svmselect.sklearn import SVC, LOOSearchCV, NuSVC, SeededCV, load_model, save_model
from svmselect.sklearn.kernels import resolved_gamma

GRID = {"C": [0.5, 5.0]}


def thin(m=60, d=4, seed=0):
    """Rows with some values of 0, and labels."""
    X, y = two_classes(np.random.default_rng(seed), m, d)
    return np.where(np.abs(X) < 0.3, 0, X), y


def repeated(X):
    """A CSR matrix that holds each value as the sum of two, in no order."""
    S = sparse.csr_matrix(X)
    X = sparse.csr_matrix((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[a:b], X.data[a:b] = X.indices[a:b][::-1].copy(), X.data[a:b][::-1].copy()
    return X


def with_zeros(X):
    """A CSR matrix that holds its zeros, too."""
    parts = X.ravel(), np.tile(np.arange(X.shape[1]), len(X)), np.arange(len(X) + 1) * X.shape[1]
    return sparse.csr_matrix(parts, shape=X.shape)


def scattered(X):
    """A COO matrix that holds each value as the sum of two."""
    S = sparse.coo_matrix(X)
    parts = np.tile(S.data / 2, 2), (np.tile(S.row, 2), np.tile(S.col, 2))
    return sparse.coo_matrix(parts, shape=S.shape)


def with_trailing_values(X):
    """A CSR matrix whose arrays go on behind its last row."""
    S = sparse.csr_matrix(X)
    S.data, S.indices = np.r_[S.data, 1e6], np.r_[S.indices, 0]
    return S


def mapped(X, tmp_path):
    rows = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    rows[:] = X
    rows.flush()
    return np.memmap(tmp_path / "rows", dtype=np.float64, mode="r", shape=X.shape)


def frame(X):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


STORAGES = {
    "list": lambda X: X.tolist(),
    "Fortran order": np.asfortranarray,
    "CSR": sparse.csr_array,
    "CSR, repeated entries": repeated,
    "CSR, stored zeros": with_zeros,
    "CSR, values behind the end": with_trailing_values,
    "CSC": sparse.csc_matrix,
    "COO, repeated entries": scattered,
    "BSR": lambda X: sparse.bsr_matrix(X, blocksize=(2, 2)),
    "LIL": sparse.lil_matrix,
    "DOK": sparse.dok_array,
    "frame": frame,
    "nullable columns": lambda X: frame(X).convert_dtypes().astype("Float64"),
    "sparse columns": lambda X: frame(X).astype(pd.SparseDtype("float64", 0.0)),
    "Arrow columns": lambda X: frame(X).astype("double[pyarrow]"),
}


@pytest.mark.parametrize("storage", STORAGES)
def test_one_model_from_every_storage(storage, tmp_path):
    X, y = thin()
    rows = STORAGES[storage](X)
    for estimator in (SVC, NuSVC):
        expected, model = estimator(tol=1e-9).fit(X, y), estimator(tol=1e-9).fit(rows, y)
        assert model._kernel.gamma == pytest.approx(expected._kernel.gamma, rel=1e-13)
        assert model.loo_error_ == expected.loo_error_
        np.testing.assert_array_equal(model.support_, expected.support_)
        for new in (X, rows):
            np.testing.assert_allclose(model.decision_function(new), expected.decision_function(X), atol=1e-7)
    for search in (SeededCV, LOOSearchCV):
        expected, chosen = search(SVC()).fit(X, y), search(SVC()).fit(rows, y)
        assert chosen.best_params_ == pytest.approx(expected.best_params_, rel=1e-13)
        assert chosen.best_score_ == pytest.approx(expected.best_score_, rel=1e-13)


def test_memory_maps_and_polars(tmp_path):
    X, y = thin()
    expected = SVC().fit(X, y)
    np.testing.assert_array_equal(SVC().fit(mapped(X, tmp_path), y).dual_coef_, expected.dual_coef_)
    S = sparse.csr_array(X)
    S.data = np.memmap(tmp_path / "values", dtype=np.float64, mode="w+", shape=S.data.shape)
    S.data[:] = sparse.csr_array(X).data
    S.data.flags.writeable = False
    assert SVC().fit(S, y).loo_error_ == expected.loo_error_
    polars = pytest.importorskip("polars")
    np.testing.assert_array_equal(SVC().fit(polars.DataFrame(X), y).dual_coef_, expected.dual_coef_)


@pytest.mark.parametrize("columns", ["Int64", "int64[pyarrow]", "boolean"])
def test_whole_numbers_in_nullable_columns(columns):
    X = (np.abs(thin()[0]) > 0.5).astype(int)
    y = X[:, 0] ^ X[:, 1]
    expected, model = SVC().fit(X, y), SVC().fit(frame(X).astype(columns), y)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)


def test_repeated_entries_of_the_issue():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X.sum(1) > 0).astype(int)
    for rows in (X, sparse.csr_matrix(X), repeated(X)):
        model = SVC().fit(rows, y)
        assert model._kernel.gamma == pytest.approx(0.24550, abs=5e-6)
        assert model.loo_error_ == pytest.approx(4 / 60)


def test_gamma_of_sparse_rows_far_from_zero():
    """The variance is that of the values, also where its square is lost beside that of the mean."""
    X = 1e7 + np.random.default_rng(0).normal(size=(50, 3))
    assert resolved_gamma("scale", sparse.csr_array(X)) == pytest.approx(resolved_gamma("scale", X), rel=1e-7)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_saved_model_names_each_feature_once(kernel, tmp_path):
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    rows, path = repeated(X), tmp_path / "model"
    model, expected = SVC(kernel=kernel).fit(rows, y), SVC(kernel=kernel).fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_.toarray(), model.support_vectors_.todense())
    assert model.support_vectors_.has_canonical_format
    for format in ("skops", "libsvm"):
        save_model(model, path, format)
        np.testing.assert_array_equal(load_model(path).predict(X), expected.predict(X))
    for line in path.read_text().partition("\nSV\n")[2].splitlines():
        features = [int(word.split(":")[0]) for word in line.split() if ":" in word]
        assert features == sorted(set(features))


def test_stored_zeros_are_no_difference_between_rows():
    X, _ = thin(20)
    X[7] = X[3]
    zeros = with_zeros(X)
    half = sparse.vstack([zeros[:5], sparse.csr_matrix(X)[5:]]).tocsr()
    for rows in (X, zeros, half):
        assert Gram(rows, RBF(0.5)).row_groups[7] == 3


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array, sparse.csc_array, repeated, frame])
@pytest.mark.parametrize("kernel", [RBF(0.3), Linear(), Custom(lambda A, B: A @ B.T)])
def test_a_gram_matrix_does_not_follow_the_callers_array(kind, kernel):
    X, _ = thin(30)
    rows, before = kind(X), kind(X)
    gram = Gram(rows, kernel)
    dense = isinstance(rows, np.ndarray | pd.DataFrame)
    np.testing.assert_array_equal(*(each if dense else each.toarray() for each in (rows, before)))
    if dense:
        rows *= 2
    else:
        rows.data *= 2
    np.testing.assert_allclose(gram.matrix(), Gram(X, kernel).matrix(), atol=1e-12)
    np.testing.assert_allclose(gram.cross(X, np.arange(3)), Gram(X, kernel).matrix()[:, :3], atol=1e-12)


def test_a_gram_matrix_does_not_follow_the_callers_origin():
    X, _ = thin(30)
    origin = np.ones(4)
    gram = Gram(X, Linear(), origin=origin)
    origin += 5
    np.testing.assert_allclose(gram.cross(X, np.arange(30)), gram.matrix(), atol=1e-12)


# Sparse rows with many columns: work follows the values.


def wide(d, m=100, nnz=30, seed=0):
    """CSR rows with their values anywhere among d columns."""
    rng = np.random.default_rng(seed)
    indices = rng.integers(0, d, m * nnz)
    indices[:: nnz // 2] = rng.integers(d - 5, d, m * 2)  # columns that rows share
    parts = rng.random(m * nnz), indices, np.arange(0, m * nnz + 1, nnz)
    X = sparse.csr_matrix(parts, shape=(m, d))
    X.sum_duplicates()
    return X, np.arange(m) % 2


def narrow(*matrices):
    """The dense rows of CSR matrices over the columns that occur."""
    columns = np.unique(np.concatenate([X.indices for X in matrices]))
    return [X[:, columns].toarray() for X in matrices]


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "laplacian", "chi2"])
def test_empty_columns_change_nothing(kernel):
    X, y = wide(50_000)
    new, _ = wide(50_000, seed=1)
    dense, dense_new = narrow(X, new)
    ours = SVC(kernel=kernel, gamma=0.1, tol=1e-9).fit(X, y)
    same = SVC(kernel=kernel, gamma=0.1, tol=1e-9).fit(dense, y)
    np.testing.assert_allclose(ours.decision_function(new), same.decision_function(dense_new), atol=1e-7)
    np.testing.assert_allclose(ours.decision_function(new[:1]), ours.decision_function(new)[:1], atol=1e-12)
    if kernel != "sigmoid":
        assert ours.loo_error_ == same.loo_error_
    assert ours.support_vectors_.shape[1] == ours.n_features_in_ == 50_000


def test_wide_rows_in_a_sum_of_kernels():
    X, _ = wide(20_000)
    gammas = np.zeros(20_000)
    gammas[-5:] = [1, 2, 3, 4, 5]
    kernel = AnisotropicRBF(tuple(gammas)) * Polynomial(2, 1.0, 1.0) + Laplacian(0.1)
    last, (dense,) = X[:, -5:].toarray(), narrow(X)
    expected = Gram(last, AnisotropicRBF((1, 2, 3, 4, 5))).matrix() * (1 + dense @ dense.T) ** 2
    gram = Gram(X, kernel)
    np.testing.assert_allclose(gram.matrix(), expected + Gram(dense, Laplacian(0.1)).matrix(), rtol=1e-12)
    np.testing.assert_allclose(gram.cross(X[:7], np.arange(100)), gram.matrix()[:7], rtol=1e-12)


def test_a_function_gets_the_columns_of_the_user():
    X, _ = wide(5_000)

    def last_columns(A, B):
        assert A.shape[1] == B.shape[1] == 5_000
        return A[:, -5:] @ B[:, -5:].T

    last = X[:, -5:].toarray()
    gram = Gram(X, Custom(last_columns))
    np.testing.assert_allclose(gram.matrix(), last @ last.T, atol=1e-12)
    np.testing.assert_allclose(gram.cross(X[:4], np.arange(100)), (last @ last.T)[:4], atol=1e-12)


def test_rows_without_a_value():
    X, y = sparse.csr_matrix((20, 300)), np.arange(20) % 2
    for kernel in ("linear", "rbf", "laplacian", "poly", "chi2"):
        model = SVC(kernel=kernel).fit(X, y)
        assert model.predict(X).shape == (20,)
    np.testing.assert_array_equal(Gram(X, RBF(1.0)).matrix(), 1)
    np.testing.assert_array_equal(Gram(X, RBF(1.0)).cross(X[:2], np.arange(3)), 1)


def test_a_linear_model_of_wide_rows_names_the_columns_of_the_user(tmp_path):
    X, y = wide(3_000)
    model, dense = (SVC(kernel="linear", tol=1e-9).fit(rows, y) for rows in (X, X.toarray()))
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-6)
    for format in ("skops", "libsvm"):
        save_model(model, tmp_path / "model", format)
        again = load_model(tmp_path / "model", n_features=3_000)
        np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("d", [10**8, *slow(10**6, 2**31 + 10)])
def test_wide_rows_take_nothing_for_each_column(kernel, d):
    X, y = wide(d)
    tracemalloc.start()
    model = SVC(kernel=kernel, gamma=0.1).fit(X, y)
    assert model.predict(X).shape == (100,)
    assert 0 <= model.loo_error_ <= 1
    assert SeededCV(SVC(kernel=kernel, gamma=0.1), GRID).fit(X, y).best_score_ >= 0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**23  # a byte for each column would take more


def test_single_precision_tells_wide_rows_apart():
    """What counts as round-off of a distance follows from the columns that occur."""
    X, _ = wide(10**8)
    double = Gram(X, RBF(0.1)).matrix()
    np.testing.assert_allclose(Gram(X, RBF(0.1), dtype="float32").matrix(), double, atol=1e-5)
    assert double.min() < 0.9


@pytest.mark.slow
def test_a_file_with_one_far_feature(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{r % 2} 1:{rng.random():.3f} 2:{r % 2 + rng.random():.3f} 3:1" for r in range(40)]
    lines[5] += " 99999999:1"
    path = tmp_path / "rows.libsvm"
    path.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "svmselect.cli", "cv", str(path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert "%" in result.stdout
