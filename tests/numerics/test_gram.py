"""Gram matrix: values, storage within a budget, counters, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from svmselect import RBF, Gram, Linear, solve_csvc


def rows(seed, m, d):
    return np.random.default_rng(seed).normal(size=(m, d))


@given(
    m=st.integers(1, 90),
    d=st.integers(1, 8),
    gamma=st.sampled_from([1e-6, 0.3, 50.0]),
    single=st.booleans(),
    as_csr=st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_values_are_those_of_scikit_learn(m, d, gamma, single, as_csr):
    X = rows(m, m, d)
    X[m // 2] = X[0]
    given_rows = sparse.csr_array(X) if as_csr else X
    dtype = "float32" if single else "float64"
    # the bound that RBF's docstring states, on the squared distances; inner products have no more error
    round_off = (d + 3) * np.finfo(dtype).eps * 2 * (X**2).sum(axis=1).max()
    for kernel, expected in ((RBF(gamma), rbf_kernel(X, gamma=gamma)), (Linear(), linear_kernel(X))):
        K = Gram(given_rows, kernel, dtype=dtype).matrix()
        tolerance = round_off * getattr(kernel, "gamma", 1.0) + 4 * np.finfo(dtype).eps
        np.testing.assert_allclose(K, expected, rtol=0, atol=tolerance)
        np.testing.assert_array_equal(K, K.T)


def test_identical_rows_have_kernel_value_one():
    X = 1e3 + rows(0, 40, 7)
    X[20:] = X[:20]
    K = Gram(X, RBF(1e4)).matrix()
    assert (K[np.arange(20), np.arange(20, 40)] == 1).all()


def test_matrix_over_several_blocks_is_symmetric_and_counted_once():
    X = rows(1, 2100, 3)
    gram = Gram(X, RBF(0.5))
    K = gram.matrix()
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K[::97], rbf_kernel(X[::97], X, gamma=0.5), atol=1e-12)
    computed = gram.kernel_values
    # blocks of 1,024 rows on and below the diagonal
    assert computed == sum(rows_ * left for rows_, left in ((1024, 1024), (1024, 2048), (52, 2100)))
    gram.matrix()
    assert gram.kernel_values == computed


@pytest.mark.parametrize("as_csr", [False, True])
def test_columns_beyond_the_budget_give_the_same_solution(as_csr):
    X = rows(2, 300, 4)
    y = np.where(X[:, 0] + 0.5 * rows(3, 300, 1)[:, 0] > 0, 1, -1)
    whole = Gram(X, RBF(0.3))
    column_bytes = 320 * 8
    few = Gram(sparse.csr_array(X) if as_csr else X, RBF(0.3), memory_mb=9 * column_bytes / 2**20)
    assert whole.full and not few.full
    a, b = solve_csvc(whole, y, 10.0, tol=1e-6), solve_csvc(few, y, 10.0, tol=1e-6)
    np.testing.assert_allclose(a.decision, b.decision, atol=1e-5)
    assert b.kernel_values > whole.m * few.columns.capacity  # columns were replaced and computed again
    assert b.kernel_values % whole.m == 0
    with pytest.raises(MemoryError, match="300 rows does not fit"):
        few.matrix()


def test_least_recently_used_columns_are_replaced():
    X = rows(4, 70, 2)
    gram = Gram(X, Linear(), memory_mb=8 * 128 * 8 / 2**20)
    assert gram.columns.capacity == 8
    for i in [*range(8), 0, 8]:  # 8 replaces 1, not 0
        np.testing.assert_allclose(gram.columns.column(i), X @ X[i], atol=1e-12)
    assert (gram.columns_requested, gram.kernel_values) == (10, 9 * 70)
    gram.columns.column(0)
    assert gram.kernel_values == 9 * 70
    gram.columns.column(1)
    assert gram.kernel_values == 10 * 70


def test_solver_counters():
    X = rows(5, 50, 3)
    y = np.where(X[:, 0] > 0, 1, -1)
    gram = Gram(X, RBF(1.0))
    solution = solve_csvc(gram, y, 1.0)
    assert solution.columns_requested == 2 * solution.n_iter
    assert solution.kernel_values == 50 * 50
    again = solve_csvc(gram, y, 1.0)
    assert (again.columns_requested, again.kernel_values) == (solution.columns_requested, 0)
    assert gram.columns_requested == 2 * solution.columns_requested


def test_squared_radius():
    X = rows(6, 1100, 3)
    K = X @ X.T
    expected = (np.diag(K)[:, None] - K).max()
    assert Gram(X, Linear()).squared_radius() == pytest.approx(expected)
    assert Gram(X, Linear(), memory_mb=1).squared_radius() == pytest.approx(expected)
    assert Gram(X, RBF(0.1)).squared_radius() == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (dict(X=[[1.0, np.nan]]), "X must be finite, got a NaN or infinity in row 0, feature 1"),
        (dict(X=sparse.csr_array([[0.0], [np.inf]])), "infinity in row 1, feature 0"),
        (dict(X=[1.0, 2.0]), r"two dimensions \(rows, features\), got shape \(2,\)"),
        (dict(X=np.empty((0, 3))), r"at least one row and one feature, got shape \(0, 3\)"),
        (dict(X=[["a"]]), "X must be an array of numbers"),
        (dict(kernel="rbf"), r"kernel must be RBF\(gamma\) or Linear\(\), got 'rbf'"),
        (dict(dtype="int32"), "dtype must be 'float64' or 'float32', got 'int32'"),
        (dict(memory_mb=0), "memory_mb must be a positive number, got 0"),
        (
            dict(X=np.ones((1000, 1)), memory_mb=0.01),
            "memory_mb=0.01 holds 1 columns of 1000 rows; at least 8",
        ),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        Gram(**{"X": [[0.0], [1.0]], "kernel": Linear(), **arguments})


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, "scale", None])
def test_bad_gamma_is_named(gamma):
    with pytest.raises(ValueError, match=f"gamma must be a positive finite number, got {gamma!r}"):
        RBF(gamma)
