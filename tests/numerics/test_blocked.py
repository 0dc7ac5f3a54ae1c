"""Blocked SMO against LIBSVM, a QP solver, SMO over all rows, and its own optimality conditions."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, kkt_gap, nasty, solve_blocked, solve_qp, two_classes
from scipy import sparse
from sklearn.svm import SVC
from slow import slow

from svmselect import RBF, Gram, Linear, solve_csvc, solve_path
from svmselect.gram import values as gram_values
from svmselect.solver import blocks

SIZES = [2, 3, 8, 64]


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    m=st.integers(2, 70),
    C=st.sampled_from([1e-3, 1.0, 30.0, 1e4]),
    kernel=st.sampled_from([Linear(), RBF(0.01), RBF(1.0), RBF(20.0)]),
    size=st.sampled_from(SIZES),
    single=st.booleans(),
    per_row=st.booleans(),
    dear=st.booleans(),
)
@settings(deadline=None, max_examples=120)
def test_nasty_problems_are_solved(seed, kind, m, C, kernel, size, single, per_row, dear):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, m, 4)
    C = C * rng.uniform(0.1, 1, m) if per_row else np.full(m, C)
    tol, limit = 1e-4, 300 * size
    gram = Gram(X, kernel, dtype="float32" if single else "float64")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gram_values, "DEAR_FROM", 1 if dear else 250)
        solution = solve_blocked(gram, y, C, size, tol=tol, max_iter=limit)
    K = Gram(X, kernel, dtype=gram.dtype).matrix().astype(np.float64)
    alpha = solution.alpha
    assert (alpha >= 0).all() and (alpha <= C).all()
    scale = max(1.0, C.max()) * max(1.0, np.abs(K).max()) * m
    # panels of other shapes round the last digit of kernel values in another way
    off = (1e-6 if single else 1e-12) * scale
    assert abs(y @ alpha) <= 1e-12 * scale
    gap = max(kkt_gap(K, y, alpha, C), 0.0)
    assert solution.kkt_gap == pytest.approx(gap, abs=off)
    np.testing.assert_allclose(solution.decision, K @ (y * alpha) + solution.b, atol=off)
    objective = 0.5 * (y * alpha) @ K @ (y * alpha) - alpha.sum()
    assert solution.objective == pytest.approx(objective, rel=1e-6, abs=off * C.max())
    if solution.converged:
        assert gap <= tol + off
        _, optimum = solve_qp(K, y, C)
        assert objective - optimum <= tol * C.sum() + 1e-6 * max(1, abs(optimum)) + off * C.max()
    else:
        # blocks of few rows may creep; what ends early otherwise has to be beyond arithmetic
        assert solution.n_iter >= limit or gap <= max(off, tol)


@pytest.mark.parametrize("size", [*slow(2), 3, *slow(8), 64])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.2)])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_agrees_with_libsvm(kernel, C, size):
    X, y = two_classes(np.random.default_rng(0), 200, 4)
    solution = solve_blocked(Gram(X, kernel), y, C, size, tol=1e-6)
    assert solution.converged and solution.kkt_gap <= 1e-6
    peer = SVC(C=C, kernel=kernel.name, gamma=getattr(kernel, "gamma", 1.0), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(solution.decision, peer.decision_function(X), atol=1e-4)
    theirs = np.zeros(200)
    theirs[peer.support_] = np.abs(peer.dual_coef_[0])
    K = Gram(X, kernel).matrix()
    objective = 0.5 * (y * theirs) @ K @ (y * theirs) - theirs.sum()
    assert solution.objective == pytest.approx(objective, rel=1e-8)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.05)])
def test_sparse_rows_are_the_same_problem(kernel, dtype):
    rng = np.random.default_rng(1)
    X = sparse.random_array((600, 30), density=0.1, format="csr", rng=rng)
    y = np.where(X.toarray()[:, :3].sum(axis=1) + 0.1 * rng.normal(size=600) > 0.1, 1.0, -1.0)
    dense = solve_blocked(Gram(X.toarray(), kernel, dtype=dtype), y, 3.0, 50, tol=1e-5)
    for matrix in (X, sparse.csr_matrix(X)):
        solution = solve_blocked(Gram(matrix, kernel, dtype=dtype), y, 3.0, 50, tol=1e-5)
        assert solution.converged
        np.testing.assert_allclose(solution.decision, dense.decision, atol=1e-4)
        assert solution.objective == pytest.approx(dense.objective, rel=1e-5)


def test_rows_left_out_and_starts():
    rng = np.random.default_rng(2)
    X, y = two_classes(rng, 300, 5)
    C = np.where(rng.random(300) < 0.3, 0.0, rng.uniform(0.5, 20, 300))
    gram = Gram(X, RBF(0.2))
    expected = solve_csvc(gram, y, C, tol=1e-8)
    for start in (None, expected.alpha, solve_csvc(gram, y, C, tol=1e-1).alpha):
        solution = solve_blocked(gram, y, C, 20, tol=1e-6, start=start)
        assert solution.converged
        assert not solution.alpha[C == 0].any()
        np.testing.assert_allclose(solution.decision, expected.decision, atol=1e-5)
    assert solve_blocked(gram, y, C, 20, tol=1e-6, start=expected.alpha).n_iter == 0


@pytest.mark.parametrize("limit", [0, 1, 7, 100])
def test_running_out_of_steps_is_said(limit):
    X, y = two_classes(np.random.default_rng(3), 200, 4, gap=0.3)
    gram = Gram(X, RBF(0.2))
    solution = solve_blocked(gram, y, 10.0, 16, tol=1e-6, max_iter=limit)
    assert not solution.converged and solution.n_iter == limit
    # what it says of where it stopped is true all the same
    K = gram.matrix()
    assert solution.kkt_gap == pytest.approx(kkt_gap(K, y, solution.alpha, solution.C), abs=1e-10)
    assert solution.kkt_gap > 1e-6


def test_no_in_bound_row_and_equal_rows():
    y = np.tile([1.0, -1.0], 40)
    X = np.ones((80, 3))
    for kernel in (RBF(1.0), Linear()):
        solution = solve_blocked(Gram(X, kernel), y, 2.0, 8)
        assert solution.converged
        np.testing.assert_array_equal(solution.alpha, 2.0)
        np.testing.assert_allclose(solution.decision, 0.0, atol=1e-12)


@pytest.fixture
def from_400_rows(monkeypatch):
    """The rule for problems of a tenth of its rows; the sizes of the blocks that are used."""
    for name in ("ROWS", "ROWS_LINEAR", "ROWS_PER_SHARE", "ROWS_STORED"):
        monkeypatch.setattr(blocks, name, getattr(blocks, name) // 10)
    used = []

    class Blocked(blocks.BlockedDual):
        def boxes(self, *arguments):
            used.append((self.size, self.most_inbound))
            super().boxes(*arguments)

    monkeypatch.setattr(blocks, "BlockedDual", Blocked)
    return used


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.2)])
def test_large_problems_are_solved_by_blocks(kernel, from_400_rows):
    """By default, while no columns are stored; rules, SMO alone and computed matrices stay as they are."""
    X, y = two_classes(np.random.default_rng(4), 500, 4)
    expected = solve_csvc(Gram(X, kernel), y, 3.0, tol=1e-6, working_set="wss2")
    few = 199 if kernel == Linear() else 399
    solve_csvc(Gram(X[:few], kernel), y[:few], 3.0)
    assert not from_400_rows
    gram = Gram(X, kernel)
    for number in (1, 2):
        solution = solve_csvc(gram, y, 3.0, tol=1e-6)
        assert len(from_400_rows) == number and not gram.has_columns
        np.testing.assert_allclose(solution.decision, expected.decision, atol=1e-5)
        assert solution.objective == pytest.approx(expected.objective, rel=1e-9)
        assert (solution.columns_requested, solution.kernel_values) > (0, 0)
    for options in (dict(working_set="wss2"), dict(working_set="mvp"), dict(active_set=False)):
        solve_csvc(Gram(X, kernel), y, 3.0, **options)
    solve_csvc(Gram(X, kernel).compute(), y, 3.0)
    part = Gram(X, kernel).compute().restricted(np.arange(500))
    assert part.has_columns
    solve_csvc(part, y, 3.0)
    shared = Gram(X, kernel)
    assert len(list(solve_path(shared, y, [1.0, 2.0]))) == 2
    assert len(from_400_rows) == 2 and shared.has_columns
    list(solve_path(Gram(X, kernel), y, [1.0]))
    list(solve_path(Gram(X, kernel, memory_mb=0.1), y, [1.0, 2.0]))
    assert from_400_rows == 5 * [(256, 8192)]


def test_many_inbound_rows(from_400_rows):
    """All columns are computed and stored for them, unless the matrix is too large."""
    X, y = two_classes(np.random.default_rng(4), 1200, 4)
    narrow = RBF(20.0)
    gram = Gram(X[:900], narrow)
    stored = solve_csvc(gram, y[:900], 3.0, tol=1e-6)
    assert gram.columns.holds(slice(None)).all() and stored.n_inbound > 450 and not from_400_rows
    small = solve_csvc(Gram(X[:900], narrow, memory_mb=2), y[:900], 3.0, tol=1e-6)
    np.testing.assert_allclose(small.decision, stored.decision, atol=1e-5)
    solve_csvc(Gram(X, narrow), y, 3.0)
    assert from_400_rows == [(1024, 0)]
    # rows without a box tell nothing of the others
    C = np.where(np.arange(900) < 600, 0.0, 3.0)
    assert solve_csvc(Gram(X[:900], narrow), y[:900], C).converged
    # and their columns are not computed
    gram, signs = Gram(X[:900], narrow), y[:900]
    for bound, stored in ((C, False), (3.0, True)):
        boxes = np.minimum(signs, 0) * bound, np.maximum(signs, 0) * bound
        assert blocks.choose_blocks(gram, signs, *boxes) is None and gram.has_columns == stored
    # nor does a linear kernel's number of rows: it has no more of them than features
    X = np.random.default_rng(5).normal(size=(600, 700))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    gram = Gram(X, Linear())
    assert solve_csvc(gram, y, 100.0).converged and gram.has_columns
    solve_csvc(Gram(X[:, :9], Linear()), y, 1.0)
    assert len(from_400_rows) == 2


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    C=st.sampled_from([1e-6, 1.0, 1e6]),
    gamma=st.sampled_from([1e-6, 1.0, 1e3]),
    per_row=st.booleans(),
    linear=st.booleans(),
)
@settings(deadline=None, max_examples=40)
def test_the_rule_stands_nasty_problems(seed, kind, C, gamma, per_row, linear):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, 60, 4)
    C = C * (rng.uniform(0, 1, 60) > 0.5) if per_row else np.full(60, C)
    C[:2] = C.max()  # rows of both classes
    kernel = Linear() if linear else RBF(gamma)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("ROWS", 2), ("ROWS_LINEAR", 2), ("ROWS_PER_SHARE", 120), ("SMALLEST", 8)):
            patch.setattr(blocks, name, value)
        solution = solve_csvc(Gram(X, kernel), y, C, max_iter=20_000)
    expected = solve_csvc(Gram(X, kernel), y, C, working_set="wss2", max_iter=200_000)
    if solution.converged and expected.converged:
        assert solution.objective == pytest.approx(expected.objective, rel=1e-6, abs=2e-3 * C.sum())
    K = Gram(X, kernel).matrix()
    gap = max(kkt_gap(K, y, solution.alpha, C), 0.0)
    assert solution.kkt_gap == pytest.approx(gap, abs=1e-9 * max(1, C.max()) * max(1, np.abs(K).max()) * 60)


def test_counters():
    """Kernel values are those of blocks and of panels, each once; columns are asked for by steps and sums."""
    X, y = two_classes(np.random.default_rng(5), 500, 4)
    gram = Gram(X, RBF(0.2))
    solution = solve_blocked(gram, y, 1.0, 64)
    assert solution.kernel_values == gram.kernel_values
    assert solution.columns_requested == gram.columns_requested
    # every support vector moved at least once, and is in the gradient at the end
    assert solution.kernel_values >= 2 * 500 * solution.n_sv
    assert solution.columns_requested >= 2 * solution.n_sv + solution.n_iter


@pytest.mark.parametrize("csr", [False, True])
def test_columns_of_many_features_are_computed_once(csr, monkeypatch):
    """Where they are dear, and there is room for them; they go with the fit."""
    X, y = two_classes(np.random.default_rng(5), 500, 260, gap=0.1)
    X = sparse.csr_array(X) if csr else X
    few = Gram(X, RBF(0.002))
    monkeypatch.setattr(gram_values, "DEAR_FROM", 261)
    expected = solve_blocked(few, y, 3.0, 64, tol=1e-5)
    monkeypatch.setattr(gram_values, "DEAR_FROM", 260)
    for memory_mb, share in ((2048, 0.2), (1, 0.6)):
        gram = Gram(X, RBF(0.002), memory_mb=memory_mb)
        solution = solve_blocked(gram, y, 3.0, 64, tol=1e-5)
        assert solution.converged and not gram.has_columns
        assert 0 < solution.kernel_values < share * expected.kernel_values
        assert solution.objective == pytest.approx(expected.objective, rel=1e-8)
        np.testing.assert_allclose(solution.decision, expected.decision, atol=1e-4)
    # a small budget has them take turns, too; linear sums need none
    small = solve_blocked(Gram(X, RBF(0.002), memory_mb=0.2), y, 3.0, 64, tol=1e-5)
    np.testing.assert_allclose(small.decision, expected.decision, atol=1e-4)
    assert not Gram(X, Linear()).dear


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.1)])
def test_many_rows(kernel):
    """More rows than the threshold, with the blocks that users get."""
    X, y = two_classes(np.random.default_rng(6), 10_500, 6, gap=0.8)
    gram = Gram(X, kernel, dtype="float32" if isinstance(kernel, RBF) else "float64")
    solution = solve_csvc(gram, y, 1.0)
    assert solution.converged and solution.kkt_gap <= 1e-3 and not gram.has_columns
    peer = SVC(C=1.0, kernel=kernel.name, gamma=getattr(kernel, "gamma", 1.0)).fit(X, y)
    np.testing.assert_allclose(solution.decision, peer.decision_function(X), atol=2e-2)
    theirs = np.zeros(y.size)
    theirs[peer.support_] = np.abs(peer.dual_coef_[0])
    their_f = peer.decision_function(X) - peer.intercept_[0]
    objective = 0.5 * (y * theirs) @ their_f - theirs.sum()
    assert solution.objective == pytest.approx(objective, rel=1e-5)


PEAK = """
import resource
import numpy as np
from svmselect import RBF, Gram, solve_csvc
rng = np.random.default_rng(0)
X = rng.normal(size=(15_000, 8))
y = np.where(X[:, 0] + rng.normal(size=15_000) > 0, 1.0, -1.0)
gram = Gram(X, RBF(0.1), memory_mb=4096)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert solve_csvc(gram, y, 1.0).converged
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.slow
def test_memory_is_that_of_blocks():
    """The matrix would take 1,800 MB, and its support vectors' columns 1,100."""
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 250
