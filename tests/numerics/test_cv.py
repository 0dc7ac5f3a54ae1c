"""k-fold cross-validation against LIBSVM fold by fold, and the same whatever the seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import two_classes
from scipy.sparse import csr_array
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate,
    even_folds,
    leave_one_out,
    solve_csvc,
    stratified_folds,
)

SEEDINGS = ["cold", "ato", "mir", "sir", "avg", "top", "unlearn"]
TIE = 1e-4


@pytest.fixture(scope="module")
def data():
    return two_classes(np.random.default_rng(0), 150, 4, gap=0.8)


@pytest.mark.parametrize("seeding", SEEDINGS)
@pytest.mark.parametrize("active_set", [False, True])
@pytest.mark.parametrize(
    ("kernel", "C"), [(RBF(0.3), 1.0), (RBF(0.3), 200.0), (RBF(20.0), 5.0), (Linear(), 0.5)]
)
def test_agrees_with_libsvm_fold_by_fold(data, seeding, active_set, kernel, C):
    X, y = data
    gram, folds = Gram(X, kernel), stratified_folds(y, 5, 3)
    result = cross_validate(gram, y, C, folds, seeding=seeding, tol=1e-6, active_set=active_set)
    K = gram.matrix()
    for h, r in enumerate(result.rounds):
        train, test = np.flatnonzero(folds != h), np.flatnonzero(folds == h)
        theirs = SVC(C=C, kernel="precomputed", tol=1e-6).fit(K[np.ix_(train, train)], y[train])
        decision = theirs.decision_function(K[np.ix_(test, train)])
        np.testing.assert_allclose(result.decision[test], decision, atol=TIE * max(1, np.abs(decision).max()))
        far = np.abs(decision) > TIE
        np.testing.assert_array_equal(result.errors[test][far], ((decision > 0) != (y[test] > 0))[far])
        assert r.fold == h and r.converged and r.kkt_gap <= 1e-6
    assert result.n_not_converged == 0
    assert result.error == result.errors.mean() and result.accuracy == 1 - result.error


@pytest.mark.parametrize("seeding", SEEDINGS)
def test_a_round_is_the_fit_without_its_fold(data, seeding):
    X, y = data
    C = np.random.default_rng(1).uniform(0.5, 3, size=y.size)
    gram, folds = Gram(X, RBF(0.5)).compute(), even_folds(y.size, 7)
    before = gram.columns_requested, gram.kernel_values
    result = cross_validate(gram, y, C, folds, seeding=seeding, tol=1e-7)
    assert (gram.columns_requested - before[0], gram.kernel_values - before[1]) == (
        result.columns_requested,
        result.kernel_values,
    )
    for h, r in enumerate(result.rounds):
        alone = solve_csvc(gram, y, np.where(folds == h, 0, C), tol=1e-7)
        assert r.objective == pytest.approx(alone.objective, rel=1e-6)
        np.testing.assert_allclose(result.decision[folds == h], alone.decision[folds == h], atol=1e-4)
        assert r.n_sv == pytest.approx(alone.n_sv, abs=3)
        assert (r.seed_steps > 0) == (seeding == "unlearn" or (seeding == "ato" and h > 0))
        assert r.training_cpu_s >= 0 and r.seeding_cpu_s >= 0
    assert (result.full is None) == (seeding not in ("avg", "top", "unlearn"))
    first = result.n_iter - sum(r.n_iter for r in result.rounds)
    assert first == (0 if result.full is None else result.full.n_iter)
    if seeding == "cold":
        cold = solve_csvc(gram, y, np.where(folds == 3, 0, C), tol=1e-7)
        assert result.rounds[3].n_iter == cold.n_iter


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(8, 40))
    X, y = two_classes(rng, m, draw(st.integers(1, 4)), gap=draw(st.sampled_from([0.0, 1.0, 6.0])))
    kind = draw(st.sampled_from(["plain", "duplicates", "constant", "grid"]))
    if kind == "duplicates":
        X[m // 2 :] = X[: m - m // 2]
    elif kind == "constant":
        X[:, 0] = 1.0
    elif kind == "grid":
        X = np.round(X)
    k = draw(st.integers(2, m))
    y[:4], folds = [1, 1, -1, -1], even_folds(m, k, draw(st.integers(0, 99)))
    folds[:4] = 0, k - 1, 0, k - 1  # both classes in two folds
    folds = np.unique(folds, return_inverse=True)[1]
    C = draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0, 1e4]))
    kernel = draw(st.sampled_from([Linear(), RBF(0.01), RBF(1.0), RBF(1e4)]))
    return X, y, C, folds, kernel


@given(problem=problems())
@settings(deadline=None, max_examples=40)
def test_the_seed_does_not_change_the_solution(problem):
    X, y, C, folds, kernel = problem
    gram, tol = Gram(X, kernel), 1e-5
    results = [cross_validate(gram, y, C, folds, seeding=s, tol=tol, max_iter=20_000) for s in SEEDINGS]
    for h in range(folds.max() + 1):
        rounds = [r.rounds[h] for r in results]
        if not all(r.converged for r in rounds):
            continue
        objectives = np.array([r.objective for r in rounds])
        # a KKT gap bounds the distance to the optimum by tol * sum(C)
        assert np.ptp(objectives) <= 2 * tol * C * y.size + 1e-9 * np.abs(objectives).max()


@pytest.mark.parametrize("seeding", SEEDINGS)
def test_leaving_one_out(data, seeding):
    X, y = data
    gram = Gram(X[:40], RBF(0.4))
    result = cross_validate(gram, y[:40], 3.0, np.arange(40), seeding=seeding, tol=1e-7)
    exact = leave_one_out(gram, y[:40], 3.0, method="retrain", tol=1e-7)
    np.testing.assert_array_equal(result.errors, exact.errors)
    assert result.folds.tolist() == list(range(40))


@pytest.mark.parametrize("seeding", SEEDINGS)
def test_only_the_first_rounds(data, seeding):
    X, y = data
    gram, folds = Gram(X, RBF(0.4)), stratified_folds(y, 6)
    seen = []
    some = cross_validate(gram, y, 1.0, folds, seeding, rounds=2, progress=lambda *p: seen.append(p))
    whole = cross_validate(gram, y, 1.0, folds, seeding)
    assert len(some.rounds) == 2 and seen == [(1, 2), (2, 2)]
    run = folds < 2
    assert np.isnan(some.decision[~run]).all() and not some.errors[~run].any()
    # folds are unlearned by matrix products of another shape
    rounding = 1e-12 if seeding == "unlearn" else 0
    np.testing.assert_allclose(some.decision[run], whole.decision[run], rtol=0, atol=rounding)
    assert some.error == whole.errors[run].mean()
    assert [r.n_iter for r in some.rounds] == [r.n_iter for r in whole.rounds[:2]]


@pytest.mark.parametrize(
    ("k", "rounds", "seeding"), [(20, None, "cold"), (21, None, "unlearn"), (60, 5, "cold")]
)
def test_the_default_seeds_many_fits(data, k, rounds, seeding):
    X, y = data
    gram = Gram(X, RBF(0.5))
    default, named = (cross_validate(gram, y, 2.0, k, s, rounds=rounds) for s in (None, seeding))
    assert [r.n_iter for r in default.rounds] == [r.n_iter for r in named.rounds]
    assert (default.full is None) == (seeding == "cold")
    np.testing.assert_array_equal(default.decision, named.decision)


def test_the_default_is_a_seed_where_the_matrix_does_not_fit(data):
    X, y = data
    default, top = (cross_validate(Gram(X, RBF(0.5), memory_mb=0.05), y, 2.0, 30, s) for s in (None, "top"))
    assert [r.n_iter for r in default.rounds] == [r.n_iter for r in top.rounds]


@pytest.mark.parametrize("seeding", ["cold", "avg", "top"])
def test_threads_change_nothing(data, seeding):
    X, y = two_classes(np.random.default_rng(5), 700, 5, gap=0.5)
    results = []
    for threads in (1, 3):
        gram = Gram(X, RBF(0.2)).compute()
        with threadpool_limits(threads, user_api="blas"):
            result = cross_validate(gram, y, 10.0, 8, seeding, active_set=False)
        results.append(result)
        assert result.columns_requested == gram.columns_requested
    np.testing.assert_array_equal(results[0].decision, results[1].decision)
    assert [r.n_iter for r in results[0].rounds] == [r.n_iter for r in results[1].rounds]


@pytest.mark.parametrize("seeding", SEEDINGS)
def test_columns_that_do_not_fit(data, seeding):
    X, y = data
    small, whole = Gram(X, RBF(0.4), memory_mb=0.05), Gram(X, RBF(0.4))
    assert not small.full
    few, all_of_it = (cross_validate(g, y, 2.0, 5, seeding, tol=1e-6) for g in (small, whole))
    np.testing.assert_allclose(few.decision, all_of_it.decision, atol=1e-4)
    assert few.kernel_values > all_of_it.kernel_values


def test_sparse_rows_and_single_precision(data):
    X, y = data
    X = np.where(np.abs(X) > 0.5, X, 0)
    dense = cross_validate(Gram(X, RBF(0.4)), y, 2.0, 5, "mir", tol=1e-5)
    sparse = cross_validate(Gram(csr_array(X), RBF(0.4), dtype="float32"), y, 2.0, 5, "mir", tol=1e-5)
    np.testing.assert_allclose(dense.decision, sparse.decision, atol=1e-3)


def test_seeds_save_steps_where_folds_are_many(data):
    X, y = data
    gram, folds = Gram(X, RBF(0.4)), stratified_folds(y, 30)
    steps = {s: cross_validate(gram, y, 5.0, folds, s, active_set=False).n_iter for s in SEEDINGS}
    assert all(steps[s] < 0.8 * steps["cold"] for s in SEEDINGS[1:])


def test_max_iter_is_told(data):
    X, y = data
    result = cross_validate(Gram(X, RBF(0.4)), y, 5.0, 5, "top", max_iter=3)
    assert result.n_not_converged == 6 and not result.full.converged
    assert all(r.n_iter == 3 for r in result.rounds)


@pytest.mark.parametrize("seeding", SEEDINGS)
def test_a_decision_value_of_0_counts_as_the_positive_class(seeding):
    gram = Gram(np.array([[1.0], [-1.0], [0.0], [0.0]]), Linear())
    result = cross_validate(
        gram, [1, -1, 1, -1], 10.0, np.array([1, 1, 0, 0]), rounds=1, seeding=seeding, tol=1e-9
    )
    assert (result.decision[2:] == 0).all()
    assert result.errors[2:].tolist() == [False, True]


def test_results_are_frozen(data):
    X, y = data
    result = cross_validate(Gram(X, RBF(0.4)), y, 5.0, 3)
    for array in (result.folds, result.decision, result.errors):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


class TestFolds:
    @pytest.mark.parametrize("seed", [0, 1, None])
    @pytest.mark.parametrize("k", [2, 3, 7, 40])
    def test_stratified(self, k, seed):
        y = np.array([-1] * 31 + [1] * 19)
        folds = stratified_folds(y, k, seed) if k < 40 else even_folds(50, k, seed)
        sizes = np.bincount(folds, minlength=k)
        assert sizes.size == k and sizes.min() >= 1
        if k == 40:
            assert np.ptp(sizes) <= 1
            return
        for label in (-1, 1):
            n = np.count_nonzero(y == label)
            # the cuts of LIBSVM's svm_cross_validation
            cuts = [n * (h + 1) // k - n * h // k for h in range(k)]
            np.testing.assert_array_equal(np.bincount(folds[y == label], minlength=k), cuts)

    def test_order_and_seed(self):
        y = np.array([1, -1] * 10)
        np.testing.assert_array_equal(stratified_folds(y, 5, None), np.repeat(np.arange(5), 4))
        np.testing.assert_array_equal(even_folds(6, 3, None), [0, 0, 1, 1, 2, 2])
        np.testing.assert_array_equal(stratified_folds(y, 5, 1), stratified_folds(y, 5, 1))
        assert (stratified_folds(y, 5, 1) != stratified_folds(y, 5, 2)).any()

    def test_a_number_of_folds(self, data):
        X, y = data
        gram = Gram(X, RBF(0.4))
        np.testing.assert_array_equal(cross_validate(gram, y, 1.0, 4).folds, stratified_folds(y, 4))


FOUR = [1, -1, 1, -1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (dict(folds=1), r"folds\b.* 1\b"),
        (dict(folds=5), r"folds\b.* 5\b"),
        (dict(folds=2.0), r"folds\b.* 2.0\b"),
        (dict(folds=True), r"folds\b.* True\b"),
        (dict(folds=3), r"folds\b.*fold 0\b"),
        (
            dict(folds=[0, 0, 1]),
            r"folds\b.* int64 of shape \(3,\)",
        ),
        (dict(folds=[0.0, 0, 1, 1]), r"folds\b.* float64\b"),
        (dict(folds=[0, 0, 2, 2]), r"folds\b.*fold 1\b"),
        (dict(folds=[0, 0, -1, 1]), r"folds\b.* -1\b"),
        (
            dict(folds=[1, 0, 1, 0]),
            r"folds\b.*fold 0\b.* -1\b",
        ),
        (dict(folds=[0, 0, 0, 0]), r"folds\b.* 1\b"),
        (
            dict(seeding="hot"),
            r"seeding must be None or one of \['cold', 'ato', 'mir', 'sir', 'avg', 'top', 'unlearn'\], "
            "got 'hot'",
        ),
        (dict(rounds=0), r"rounds\b.* 0\b"),
        (dict(rounds=3), r"rounds\b.* 3\b"),
        (dict(rounds=1.5), r"rounds\b.* 1.5\b"),
        (dict(C=[1, 0, 1, 1]), r"C\b.* 0 at point 1\b"),
        (dict(C=-1), r"C\b.* -1\b"),
        (dict(y=[1, 1, 1, 1]), "y must hold both classes"),
        (dict(y=[0, 1, 0, 1]), r"y\b.* \[0, 1\]"),
        (dict(tol=0), r"tol\b.* 0\b"),
        (dict(working_set="third"), "working_set must be one of"),
        (dict(max_iter=-1), r"max_iter\b.* -1\b"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    gram = Gram([[0.0], [1.0], [2.0], [3.0]], Linear())
    with pytest.raises(ValueError, match=sentence):
        cross_validate(gram, **{"y": FOUR, "C": 1.0, "folds": [0, 0, 1, 1], **arguments})
    assert gram.kernel_values == 0


class TestPublishedIterations:
    """Iterations at k = 10 that Wen et al. (2017), Table 1, print."""

    @pytest.mark.slow
    def test_madelon(self, real_data):
        data = real_data("madelon")
        gram = Gram(data.X, RBF(0.7071)).compute()
        counts = {
            s: cross_validate(gram, data.y, 1.0, 10, s, active_set=False).n_iter for s in ("cold", "mir")
        }
        assert counts == {"cold": 9000, "mir": 1800}

    def test_heart(self, real_data):
        data = real_data("heart-statlog")
        gram = Gram(data.X, RBF(0.2)).compute()
        result = cross_validate(gram, data.y, 2182.0, 10, "cold", active_set=False)
        assert result.n_iter == pytest.approx(6988, rel=0.02)
        assert round(100 * result.accuracy, 2) == 55.56
