"""Gram matrix: values, storage within a budget, restrictions, counters, errors."""

import ctypes
import subprocess
import tracemalloc
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from threadpoolctl import threadpool_limits

import svmselect.kernels
import svmselect.threads
from svmselect import RBF, Gram, Linear, solve_csvc
from svmselect.gram import matrix_mb
from svmselect.kernels import Rows

DTYPES = ["float32", "float64"]


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
    for kernel in (RBF(gamma), Linear()):
        gram = Gram(given_rows, kernel, dtype=dtype)
        moved = X if gram.origin is None else X - gram.origin
        expected = rbf_kernel(X, gamma=gamma) if isinstance(kernel, RBF) else linear_kernel(moved)
        K = gram.matrix()
        tolerance = round_off * getattr(kernel, "gamma", 1.0) + 4 * np.finfo(dtype).eps
        np.testing.assert_allclose(K, expected, rtol=0, atol=tolerance)
        np.testing.assert_array_equal(K, K.T)


def exact_rbf(x, z, gamma):
    """The kernel of two rows and the sum of their squared norms, exact but for a 40-digit exp."""
    x, z = [Fraction(float(v)) for v in x], [Fraction(float(v)) for v in z]
    distance = sum((a - b) ** 2 for a, b in zip(x, z, strict=True))
    with localcontext() as context:
        context.prec = 40
        exponent = -Fraction(gamma) * distance
        value = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
    return float(value), float(sum(a * a for a in x + z))


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 12),
    offset=st.sampled_from([0.0, 1.0, 1e3, 1e6]),
    spread=st.sampled_from([1e-6, 1e-3, 1.0, 30.0]),
    gamma=st.sampled_from([1e-7, 0.01, 1.0, 1e5]),
    dtype=st.sampled_from(DTYPES),
    as_csr=st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_rbf_is_within_its_stated_error(seed, d, offset, spread, gamma, dtype, as_csr):
    X = offset + spread * rows(seed, 9, d)
    X[3] = X[0]  # a duplicate, a near-duplicate, a zero row, a constant feature
    X[4] = np.nextafter(X[0], np.inf)
    X[5] = 0
    X[:, 0] = offset
    X = X.astype(dtype)
    K = Gram(sparse.csr_array(X) if as_csr else X, RBF(gamma), dtype=dtype).matrix()
    u = np.finfo(dtype).eps / 2
    for i in range(9):
        for j in range(9):
            expected, norms = exact_rbf(X[i], X[j], gamma)
            assert abs(float(K[i, j]) - expected) <= 1.01 * (gamma * (2 * d + 5) * u * norms + 3 * u)
    assert (np.diag(K) == 1).all() and K[0, 3] == 1


@pytest.fixture(scope="module", params=["dispatched", "plain"])
def panels(request, tmp_path_factory, compiler):
    """The passes of _panels.c, built one way."""
    library = tmp_path_factory.mktemp("panels") / "panels.so"
    source = Path(__file__).parents[2] / "src" / "svmselect" / "kernels" / "_panels.c"
    flags = ["-O3", "-shared", "-fPIC", "-fno-math-errno", "-fno-trapping-math"]
    flags += [] if request.param == "dispatched" else ["-DSVMSELECT_NO_CLONES"]
    subprocess.run([*compiler, *flags, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize(("dtype", "least"), [("float32", -87), ("float64", -708)])
def test_exponential_pass(panels, dtype, least):
    exponents = -np.concatenate(
        [np.geomspace(1e-30, -least, 20_001), np.linspace(0, -least, 20_001), [1e3, 1e30]]
    )
    norms = (-exponents).astype(dtype)
    out = np.empty_like(norms)
    products = np.zeros_like(norms)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (out, products, norms)]
    numbers = [ctypes.c_double(value) for value in (0.0, 1.0, 0.0)]
    panels.panels_rbf(ctypes.c_int(dtype == "float32"), ctypes.c_ssize_t(norms.size), *pointers, *numbers)
    expected = np.exp(-norms.astype(np.longdouble))
    inside = -norms > least
    u = np.finfo(dtype).eps / 2
    assert (np.abs(out - expected)[inside] <= 2 * u * expected[inside]).all()
    assert (out[~inside] == 0).all() and out[-1] == 0
    # a gamma beyond the type's range is as good as infinite
    numbers[1] = ctypes.c_double(1e300)
    norms[:2] = 0
    panels.panels_rbf(ctypes.c_int(dtype == "float32"), ctypes.c_ssize_t(4), *pointers, *numbers)
    assert out[:4].tolist() == [1, 1, 0, 0] if dtype == "float32" else (out[:2] == 1).all()


@pytest.mark.parametrize("rows_of", [np.asarray, sparse.csr_array])
def test_zeros_of_both_signs_are_identical(rows_of):
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, -0.0], [2.0, 0.0], [3.0, 4.0]])
    for rows in (X, X[::-1]):
        groups = Gram(rows_of(rows), RBF(1.0)).row_groups
        np.testing.assert_array_equal(groups, [0, 0, 1, 1, 2] if rows is X else [0, 1, 1, 2, 2])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("as_csr", [False, True])
def test_identical_rows_have_kernel_value_one(dtype, as_csr):
    X = 1e3 + rows(0, 40, 7)
    X[20:] = X[:20]
    K = Gram(sparse.csr_array(X) if as_csr else X, RBF(1e4), dtype=dtype).matrix()
    assert (K[np.arange(20), np.arange(20, 40)] == 1).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrix_over_several_blocks_is_symmetric_and_counted_once(dtype):
    X = rows(1, 1100, 3)
    gram = Gram(X, RBF(0.5), dtype=dtype)
    reports = []
    K = gram.compute(progress=lambda *report: reports.append(report)).matrix()
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, rbf_kernel(X, gamma=0.5), atol=1e-5 if dtype == "float32" else 1e-12)
    computed = gram.kernel_values
    # blocks of 512 rows on and below the diagonal
    assert computed == sum(n * left for n, left in ((512, 512), (512, 1024), (76, 1100)))
    assert reports == [(done, 6) for done in range(1, 7)]
    gram.matrix()
    assert gram.kernel_values == computed


@pytest.mark.parametrize("as_csr", [False, True])
def test_threads_compute_the_same_matrix(as_csr, monkeypatch):
    X = sparse.csr_array(rows(2, 1300, 5)) if as_csr else rows(2, 1300, 5)
    serial = Gram(X, RBF(0.1)).matrix()
    product = Gram(X, RBF(0.1)).product(np.arange(70), np.arange(70.0))
    monkeypatch.setattr(svmselect.threads, "WORK_FOR_THREADS", 0)
    reports = []
    with threadpool_limits(2, "blas"):
        gram = Gram(X, RBF(0.1)).compute(lambda *report: reports.append(report))
        np.testing.assert_array_equal(gram.matrix(), serial)
        assert reports == [(done, 6) for done in range(1, 7)]
        few = Gram(X, RBF(0.1))
        few.columns.fetch([5, 2])
        np.testing.assert_allclose(few.columns.column(5), serial[:, 5], rtol=1e-13)
        np.testing.assert_allclose(few.product(np.arange(70), np.arange(70.0)), product, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_matrix_keeps_its_columns(threads, monkeypatch):
    monkeypatch.setattr(svmselect.threads, "WORK_FOR_THREADS", 0)
    X = rows(3, 1300, 4)
    gram = Gram(X, RBF(0.2))
    before = gram.columns.column(700).copy()

    def interrupt(done, total):
        raise KeyboardInterrupt

    with threadpool_limits(threads, "blas"), pytest.raises(KeyboardInterrupt):
        gram.compute(interrupt)
    assert np.flatnonzero(gram.columns.holds(slice(None))).tolist() == [700]
    np.testing.assert_array_equal(gram.columns.column(700), before)
    np.testing.assert_allclose(gram.matrix(), rbf_kernel(X, gamma=0.2), atol=1e-12)
    np.testing.assert_array_equal(gram.columns.column(700), before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 40, 199, 200])
def test_matrix_after_columns_keeps_them(dtype, count):
    X = rows(4, 200, 3)
    gram = Gram(X, Linear(), dtype=dtype)
    indices = np.random.default_rng(4).permutation(200)[:count]
    gram.columns.fetch(indices)
    before = {i: gram.columns.column(i).copy() for i in indices}
    assert gram.kernel_values == count * 200
    K = gram.matrix()
    np.testing.assert_allclose(K, X @ X.T, atol=1e-5 if dtype == "float32" else 1e-12)
    for i, column in before.items():
        np.testing.assert_array_equal(K[:, i], column)
    assert gram.kernel_values == count * 200 + (200 * 200 if count <= 100 else (200 - count) * 200)


@pytest.mark.parametrize("density", [0.01, 0.5])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.01)])
def test_sparse_and_dense_rows_agree(density, kernel, monkeypatch):
    X = sparse.random_array((150, 400), density=density, format="csr", rng=5)
    dense = Gram(X.toarray(), kernel).matrix()
    np.testing.assert_allclose(Gram(X, kernel).matrix(), dense, atol=1e-12)
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_allclose(Gram(wide, kernel).matrix(), dense, atol=1e-12)
    monkeypatch.setattr(svmselect.kernels.panels, "PANEL_BYTES", 7 * 400 * 8)  # panels of seven rows
    np.testing.assert_allclose(Gram(X, kernel).matrix(), dense, atol=1e-12)


def test_entries_given_twice_are_summed_and_the_input_is_left_alone():
    X = sparse.csr_array(([1.0, 2.0, 4.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    assert Gram(X, Linear()).matrix().tolist() == [[9, 0], [0, 16]]
    assert X.nnz == 3


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
    with pytest.raises(MemoryError, match=r"takes 0\.732422 MB, more than its budget of 0\.0219\d+ MB"):
        few.matrix()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("m", [1, 63, 64, 65, 1000])
def test_the_least_budget_that_holds_the_matrix(m, dtype):
    X, size = rows(6, m, 2), matrix_mb(m, dtype)
    assert Gram(X, RBF(1.0), dtype=dtype, memory_mb=size).full
    if m > 8:  # with fewer rows, no less is allowed
        assert not Gram(X, RBF(1.0), dtype=dtype, memory_mb=size - 2**-20).full


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


@given(
    seed=st.integers(0, 10**6),
    capacity=st.integers(8, 30),
    requests=st.lists(st.one_of(st.integers(0, 29), st.lists(st.integers(0, 29), max_size=25)), max_size=40),
)
@settings(deadline=None, max_examples=100)
def test_store_under_pressure(seed, capacity, requests):
    X = rows(seed, 30, 2)
    gram = Gram(X, Linear(), memory_mb=capacity * 64 * 8 / 2**20)
    K, store = X @ X.T, gram.columns
    recent = []  # columns asked for, the latest last
    for request in requests:
        before = store.holds(slice(None))
        if isinstance(request, int):
            np.testing.assert_allclose(store.column(request), K[:, request], atol=1e-12)
            recent = [i for i in recent if i != request] + [request]
        else:
            store.fetch(request)
        after = store.holds(slice(None))
        assert after.sum() <= capacity
        assert all(after[i] for i in recent[-8:])
        if not isinstance(request, int):
            requested = list(dict.fromkeys(request))
            remaining = before & (np.isin(np.arange(30), requested) | np.isin(np.arange(30), recent[-8:]))
            absent = [i for i in requested if not before[i]]
            # the eight most recently used slots may hold fetched columns: at most eight are protected so
            room = capacity - remaining.sum()
            loaded = [i for i in absent if after[i]]
            assert loaded == absent[: len(loaded)] and len(loaded) >= min(len(absent), room - 8)
            assert (after >= remaining).all()
    for i in np.flatnonzero(store.holds(slice(None))):
        np.testing.assert_allclose(store.column(i), K[:, i], atol=1e-12)


def test_a_column_outlives_seven_requests_whatever_is_fetched():
    store = Gram(rows(14, 40, 2), Linear(), memory_mb=12 * 64 * 8 / 2**20).columns
    for i in range(12):
        store.column(i)
    store.fetch([20, 21, 22])
    for i in range(30, 37):
        store.column(i)
        assert store.holds([11]).all()


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
@pytest.mark.parametrize("before", [[], [3, 8]])
def test_the_diagonal_is_the_one_that_is_stored(before, kernel):
    """To the last bit: curvatures are differences of both."""
    gram = Gram(rows(15, 300, 7), kernel)
    gram.columns.fetch(before)
    np.testing.assert_array_equal(gram.matrix().diagonal(), gram.diagonal)


def test_no_column_is_dropped_while_slots_are_empty():
    store = Gram(rows(14, 40, 2), Linear(), memory_mb=12 * 64 * 8 / 2**20).columns
    store.fetch([5])
    for i in range(20, 31):
        store.column(i)
        assert store.holds([5, *range(20, i + 1)]).all()


def test_fetch_computes_absent_columns_once():
    gram = Gram(rows(7, 100, 3), RBF(0.5))
    gram.columns.fetch([5, 7, 5, 9])
    gram.columns.fetch(np.array([7, 9, 11]))
    gram.columns.fetch([])
    assert gram.kernel_values == 4 * 100 and gram.columns_requested == 0
    assert np.flatnonzero(gram.columns.holds(slice(None))).tolist() == [5, 7, 9, 11]
    for bad in (-1, 100):
        with pytest.raises(IndexError, match=f"no column {bad} in a matrix of 100 rows"):
            gram.columns.fetch([3, bad])
        with pytest.raises(IndexError, match=f"no column {bad} in a matrix of 100 rows"):
            gram.columns.column(bad)


@pytest.mark.parametrize("memory_mb", [1, 9 * 128 * 8 / 2**20])
def test_another_kernel_in_the_same_memory(memory_mb):
    X = rows(8, 100, 3)
    gram = Gram(X, Linear(), memory_mb=memory_mb)
    gram.columns.fetch([0, 1])
    radius = gram.squared_radius()
    address, stale, values = gram.columns.arena.ctypes.data, gram.columns, gram.kernel_values
    part = gram.restricted([1, 5])
    part.columns.fetch([0])
    assert gram.set_kernel(RBF(0.7)) is gram and radius != 1
    assert (gram.columns.arena.ctypes.data, gram.kernel, gram.squared_radius()) == (address, RBF(0.7), 1)
    assert not gram.columns.holds(slice(None)).any() and gram.kernel_values == values
    np.testing.assert_allclose(gram.columns.column(1), rbf_kernel(X, X[1:2], gamma=0.7)[:, 0], atol=1e-14)
    assert (gram.diagonal == 1).all()
    with pytest.raises(RuntimeError, match=r"Gram\.set_kernel"):
        stale.column(0)
    np.testing.assert_allclose(part.columns.column(1), X[[1, 5]] @ X[5], atol=1e-14)  # keeps the old kernel
    with pytest.raises(ValueError, match="not for a restriction"):
        part.set_kernel(Linear())
    with pytest.raises(ValueError, match="kernel must be"):
        gram.set_kernel("rbf")


@given(
    seed=st.integers(0, 10**6),
    stored=st.sampled_from([0, 20, 90]),
    dtype=st.sampled_from(DTYPES),
    as_csr=st.booleans(),
    kernel=st.sampled_from([Linear(), RBF(0.3)]),
)
@settings(deadline=None, max_examples=60)
def test_restrictions(seed, stored, dtype, as_csr, kernel):
    rng = np.random.default_rng(seed)
    X = rows(seed, 90, 3)
    gram = Gram(sparse.csr_array(X) if as_csr else X, kernel, dtype=dtype)
    expected = linear_kernel(X) if isinstance(kernel, Linear) else rbf_kernel(X, gamma=kernel.gamma)
    close = dict(rtol=0, atol=1e-4 if dtype == "float32" else 1e-12)
    columns = rng.permutation(90)[:stored]
    gram.columns.fetch(columns)
    values = gram.kernel_values
    inner = np.flatnonzero(rng.random(90) < 0.7)
    inner = inner if inner.size else np.array([3])
    part = gram.restricted(inner)
    assert (part.m, part.kernel, part.dtype) == (inner.size, kernel, gram.dtype)
    np.testing.assert_array_equal(part.diagonal, gram.diagonal[inner])
    some = rng.permutation(inner.size)[: inner.size // 2 + 1]
    for i in some:
        np.testing.assert_allclose(part.columns.column(i), expected[inner, inner[i]], **close)
        if inner[i] in columns:
            np.testing.assert_array_equal(part.columns.column(i), gram.columns.column(inner[i])[inner])
    computed = sum(inner[i] not in columns for i in some)
    assert gram.kernel_values == part.kernel_values == values + computed * inner.size
    assert gram.columns_requested == part.columns_requested > 0
    chosen = np.unique(rng.integers(0, inner.size, 20))
    nested = part.restricted(chosen)
    np.testing.assert_allclose(nested.matrix(), expected[np.ix_(inner[chosen], inner[chosen])], **close)
    np.testing.assert_allclose(part.matrix(), expected[np.ix_(inner, inner)], **close)
    np.testing.assert_allclose(
        nested.cross(X[:4], np.array([0])), kernel.block(*Rows.pair(X[:4], X[inner[chosen[:1]]])), atol=1e-13
    )
    # values that exist are not computed again
    if stored == 90:
        assert gram.kernel_values == values
    theta = rng.normal(size=chosen.size)
    for matrix, numbers in ((gram, np.arange(90)), (part, inner), (nested, inner[chosen])):
        points, support = rng.integers(0, matrix.m, 7), rng.permutation(matrix.m)[: chosen.size]
        result = matrix.product(support, theta[: support.size], points)
        exact = expected[np.ix_(numbers[points], numbers[support])] @ theta[: support.size]
        np.testing.assert_allclose(result, exact, rtol=0, atol=100 * close["atol"])


def test_products_use_stored_columns_and_are_counted():
    X = rows(9, 2500, 3)
    gram = Gram(X, RBF(0.5))
    gram.columns.fetch(range(10))
    values = gram.kernel_values
    theta = rows(9, 1300, 1)[:, 0]
    result = gram.product(np.arange(1300), theta, np.arange(0, 2500, 2))
    assert gram.kernel_values - values == 1250 * 1290 and gram.columns_requested == 1300
    assert gram.columns.holds(slice(None)).sum() == 10
    np.testing.assert_allclose(result, rbf_kernel(X[::2], X[:1300], gamma=0.5) @ theta, atol=1e-10)
    assert gram.product([1], [2.0], []).shape == (0,)
    for row in (0, 8):  # of stored columns and of others
        np.testing.assert_allclose(
            gram.product([3, 2000], [2.0, -1.0], [row]),
            rbf_kernel(X[[row]], X[[3, 2000]], gamma=0.5) @ [2.0, -1.0],
            atol=1e-12,
        )
    assert gram.product([], [], [3, 4]).tolist() == [0, 0]


def test_products_through_the_weight_vector():
    X = rows(12, 400, 5)
    for gram in (
        Gram(X, Linear()),
        Gram(sparse.csr_array(X), Linear()),
        Gram(X, Linear()).restricted(range(300)),
    ):
        theta = rows(13, 100, 1)[:, 0]
        expected = X[: gram.m] @ X[:100].T @ theta
        np.testing.assert_allclose(gram.product(range(100), theta), expected, atol=1e-10)
        np.testing.assert_allclose(
            gram.product(range(100), theta, [7, 3, 3]), expected[[7, 3, 3]], atol=1e-10
        )
        assert gram.kernel_values == 0


def test_blocks_use_stored_columns():
    X = rows(14, 300, 3)
    gram = Gram(X, RBF(0.5))
    gram.columns.fetch([5, 90])
    points = [2, 5, 80, 90, 299]
    values = gram.kernel_values
    np.testing.assert_allclose(gram.block(points), rbf_kernel(X[points], gamma=0.5), rtol=1e-12)
    assert gram.kernel_values - values == 3 * 5
    np.testing.assert_array_equal(gram.restricted(range(0, 300, 2)).block([1, 40]), gram.block([2, 80]))


def test_restrictions_take_turns_in_their_memory():
    X = rows(10, 200, 2)
    gram = Gram(X, RBF(1.0)).compute()
    first = gram.restricted(np.arange(150))
    first.columns.fetch(range(150))
    second = gram.restricted(np.arange(50, 200))  # the first one is in use: memory of its own
    second.columns.fetch(range(150))
    np.testing.assert_array_equal(first.matrix(), gram.matrix()[:150, :150])
    np.testing.assert_array_equal(second.matrix(), gram.matrix()[50:, 50:])
    address = second.columns.arena.ctypes.data
    del second
    for n in (150, 100):  # what is just large enough will do
        third = gram.restricted(np.arange(n))
        assert third.columns.arena.ctypes.data == address
        np.testing.assert_array_equal(third.matrix(), gram.matrix()[:n, :n])
        del third


def test_a_larger_restriction_does_not_take_its_memory_beside_the_former():
    gram = Gram(rows(10, 400, 2), RBF(1.0)).compute()
    gram.restricted(np.arange(300))
    tracemalloc.start()
    try:
        gram.restricted(np.arange(320))
        small = tracemalloc.get_traced_memory()[1]
        gram.restricted(np.arange(384))
        both = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert small < 320 * 320 * 8 + 50_000
    assert both < 384 * 384 * 8 + 50_000


def test_a_restriction_stays_within_a_quarter_of_the_budget():
    X = rows(11, 300, 2)
    gram = Gram(X, RBF(1.0), memory_mb=100 * 320 * 8 / 2**20)
    part = gram.restricted(np.arange(256))
    assert (gram.columns.capacity, part.columns.capacity) == (100, 25 * 320 // 256)
    expected = rbf_kernel(X[:256], gamma=1.0)
    for i in range(256):
        np.testing.assert_allclose(part.columns.column(i), expected[:, i], rtol=1e-12)


def test_a_store_aside_has_the_budget_and_that_of_a_restriction_a_quarter():
    gram = Gram(rows(11, 300, 2), RBF(1.0), memory_mb=200 * 320 * 8 / 2**20)
    part = gram.restricted(np.arange(256))
    assert gram.aside().columns.capacity == 200
    assert part.aside().columns.capacity == part.columns.capacity // 4
    # no more columns than there are, and never fewer than a step needs
    small = Gram(rows(11, 300, 2), RBF(1.0), memory_mb=10 * 320 * 8 / 2**20)
    assert small.restricted(np.arange(256)).aside().columns.capacity == 8
    assert Gram(rows(11, 300, 2), RBF(1.0)).aside().columns.capacity == 300
    # its columns are not those of the matrix
    aside = gram.aside()
    aside.columns.fetch(np.arange(50))
    assert not gram.columns.holds(np.arange(50)).any() and gram.columns_requested == aside.columns_requested


@pytest.mark.parametrize("rows_", [[], [3, 2], [1, 1], [-1, 2], [5, 50], [[1]]])
def test_rows_of_a_restriction_are_checked(rows_):
    with pytest.raises(ValueError, match=r"rows\b.*from 0 to 49\b"):
        Gram(rows(0, 50, 2), Linear()).restricted(rows_)


def test_solver_counters():
    X = rows(5, 1500, 3)
    y = np.where(X[:, 0] > 0, 1, -1)
    gram = Gram(X, RBF(0.1))
    solution = solve_csvc(gram, y, 1.0)
    assert solution.n_iter < gram.m  # with more steps f is computed afresh, from the columns of all SVs
    assert solution.columns_requested == 2 * solution.n_iter
    touched = np.count_nonzero(gram.columns.holds(slice(None)))
    assert solution.kernel_values == gram.m * touched < gram.m**2
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
        (dict(X=[[1.0, np.nan]]), r"X\b.* row 0, feature 1\b"),
        (dict(X=sparse.csr_array([[0.0], [np.inf]])), "infinity in row 1, feature 0"),
        (dict(X=[1.0, 2.0]), r"shape \(2,\)"),
        (dict(X=np.empty((0, 3))), r"shape \(0, 3\)"),
        (dict(X=[["a"]]), "X must be an array of numbers"),
        (
            dict(kernel="rbf"),
            r"kernel\b.* 'rbf'",
        ),
        (dict(dtype="int32"), r"dtype\b.* 'int32'"),
        (
            dict(X=[[1e19], [2.0], [2e19]], dtype="float32"),
            "X is too large for float32 arithmetic: the squared norm of row 0 exceeds 8.51e",
        ),
        (dict(X=[[1.0], [1e200]]), "too large for float64 arithmetic: the squared norm of row 1"),
        (dict(memory_mb=0), r"memory_mb\b.* 0\b"),
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


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3), RBF(40.0)])
@pytest.mark.parametrize("density", [None, 0.1, 0.6])
@pytest.mark.parametrize(("n", "s"), [(1, 1), (3, 70), (600, 5), (700, 530), (5, 0)])
def test_weighted_sums_of_kernel_values(dtype, kernel, density, n, s):
    rng = np.random.default_rng(n + s)
    X = rng.normal(size=(n + s, 9)) if density is None else None
    if density is not None:
        X = sparse.random_array((n + s, 9), density=density, format="csr", rng=rng)
    X = X.astype(dtype)
    X[-1:] = X[:1]  # equal rows have a value of exactly 1
    theta = rng.normal(size=s)
    new, chosen = Rows.pair(X[:n], X[n:])
    values = kernel.block(chosen, new).astype(np.float64)
    result = kernel.weighted(chosen, theta, new)
    assert result.dtype == np.float64 and result.shape == (n,)
    off = 100 * np.finfo(dtype).eps * np.abs(theta).sum() * max(1.0, np.abs(values).max(initial=0))
    np.testing.assert_allclose(result, theta @ values, rtol=0, atol=off + 1e-300)


def test_decision_values_take_little_memory():
    """All kernel values at once would take 240 MB."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 3))
    gram = Gram(X, RBF(1.0))
    new, theta = rng.normal(size=(100_000, 3)), rng.normal(size=300)
    tracemalloc.start()
    try:
        result = gram.weighted(new, np.arange(300), theta)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6
    np.testing.assert_allclose(result[::500], gram.cross(new[::500], np.arange(300)) @ theta, atol=1e-11)


def test_a_restriction_is_kept_on_request_until_the_kernel_changes():
    gram = Gram(np.random.default_rng(3).normal(size=(40, 2)), RBF(0.5))
    rows = np.arange(0, 40, 2)
    part = gram.restricted(rows, keep=True)
    assert gram.restricted(rows, keep=True) is part
    assert gram.restricted(rows) is not part
    assert gram.restricted(rows[1:], keep=True).m == 19
    gram.set_kernel(RBF(2.0))
    other = gram.restricted(rows[1:], keep=True).compute()
    np.testing.assert_allclose(other.matrix(), gram.matrix()[np.ix_(rows[1:], rows[1:])])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_memory_held_before_has_no_effect(dtype, monkeypatch):
    """OpenBLAS for Arm reads memory that it is to write, and sets flags, where rows are multiplied by
    themselves."""
    X, empty = rows(0, 40, 4), np.empty

    def dirty(shape, dtype=float, **options):
        out = empty(shape, dtype=dtype, **options)
        if out.dtype.kind == "f":
            out.fill(np.nan)
        return out

    with np.errstate(all="raise"):
        expected = Gram(X, Linear(), dtype=dtype).matrix()
        monkeypatch.setattr(np, "empty", dirty)
        result = Gram(X, Linear(), dtype=dtype).matrix()
    assert np.isfinite(result).all()
    assert np.array_equal(result, expected)
    np.testing.assert_allclose(result, X @ X.T, rtol=1e-5, atol=1e-5)
    # each product and its mirror image are one sum
    assert np.array_equal(result, result.T)


@pytest.mark.parametrize("n", [1, 2, 3, 65, 600])
def test_halves_of_rows_by_themselves(n, monkeypatch):
    """What is done on Arm gives the products of other processors."""
    X = rows(0, n, 4)
    monkeypatch.setattr(svmselect.kernels.panels, "ON_ARM", True)
    result = Gram(X, Linear(), dtype="float32", origin=np.zeros(4)).matrix()
    np.testing.assert_allclose(result, X @ X.T, rtol=1e-5, atol=1e-5)
