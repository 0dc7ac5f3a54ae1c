"""Training-set editing against slow obvious versions and LIBSVM."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, nasty, two_classes
from scipy import sparse
from sklearn.svm import SVC, NuSVC

from svmselect import (
    RBF,
    Gram,
    Linear,
    bagging,
    condense,
    cross_training,
    decision_function,
    multiedit,
    solve_csvc,
    stratified_folds,
)
from svmselect.editing import (
    best_threshold,
    cross_validated_errors,
    draw_validation,
    train,
    train_best,
)
from svmselect.editing.cross_training import edit
from svmselect.editing.svm import decisions_of_rows
from svmselect.threads import blas_libraries

# distances of these kinds are told apart in float64
DISTINCT = [kind for kind in KINDS if kind != "near duplicates"]


def slow_condense(X, y, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    remaining, added = [order[0]], True
    while added:
        added = False
        for i in order:
            nearest = remaining[((X[remaining] - X[i]) ** 2).sum(axis=1).argmin()]
            if i not in remaining and y[nearest] != y[i]:
                remaining.append(i)
                added = True
    return sorted(remaining)


def slow_multiedit(X, y, parts, patience, seed):
    rng = np.random.default_rng(seed)
    rows, unchanged = np.arange(len(y)), 0
    while unchanged < patience and len(rows) >= parts:
        divided = np.array_split(rng.permutation(rows), parts)
        remaining = []
        for number, part in enumerate(divided):
            other = divided[(number + 1) % parts]
            for i in part:
                nearest = other[((X[other] - X[i]) ** 2).sum(axis=1).argmin()]
                if y[nearest] == y[i]:
                    remaining.append(i)
        unchanged = unchanged + 1 if len(remaining) == len(rows) else 0
        rows = np.array(remaining, dtype=int)
    return sorted(rows)


@pytest.mark.parametrize("block", [4, 512])
@pytest.mark.parametrize("kind", DISTINCT)
def test_condense_is_the_listing(kind, block, monkeypatch):
    # the package has the function of this name
    monkeypatch.setattr(sys.modules["svmselect.editing.condense"], "BLOCK", block)
    for seed in range(3):
        X, y = nasty(np.random.default_rng(seed), kind, 40, 3)
        assert condense(X, y, seed).tolist() == slow_condense(X, y, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_condensed_points_classify_all(kind):
    X, y = nasty(np.random.default_rng(1), kind, 60, 2)
    remaining = condense(X, y)
    assert np.unique(remaining).size == remaining.size and (np.diff(remaining) > 0).all()
    distance = ((X[:, None] - X[remaining]) ** 2).sum(axis=2)
    nearest = np.abs(distance - distance.min(axis=1)[:, None]) <= 1e-12
    # of equally near points one at least has the label, but for duplicates of the other class
    right = (nearest & (y[remaining] == y[:, None])).any(axis=1)
    assert right.all()


def test_condense_ends_where_duplicates_contradict_each_other():
    X, y = np.zeros((20, 2)), np.tile([-1.0, 1.0], 10)
    assert 2 <= condense(X, y).size <= 11


@pytest.mark.parametrize("parts", [2, 3, 7])
@pytest.mark.parametrize(
    "kind", ["plain", "lattice", "one point of a class", "separable", "constant feature"]
)
def test_multiedit_is_the_listing(kind, parts):
    # ties between the classes are left to scikit-learn, so a lattice is separated
    X, y = nasty(np.random.default_rng(2), kind, 50, 3)
    if kind == "lattice":
        X[:, 0] += 10 * y
    assert multiedit(X, y, parts, 2, 5).tolist() == slow_multiedit(X, y, parts, 2, 5)


def test_multiedit_drops_points_on_the_wrong_side():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 1))
    y = np.where(rng.random(3000) < np.where(X[:, 0] > 0, 0.9, 0.1), 1.0, -1.0)
    remaining = multiedit(X, y)
    far = remaining[np.abs(X[remaining, 0]) > 0.1]
    assert (np.sign(X[far, 0]) == y[far]).all() and far.size > 1000


def test_multiedit_of_fewer_points_than_parts_keeps_them():
    X, y = two_classes(np.random.default_rng(0), 4, 2)
    assert multiedit(X, y, parts=5).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_an_svm_stands_on_its_own(kernel, make):
    X, y = two_classes(np.random.default_rng(3), 120, 3)
    X_new = np.random.default_rng(4).normal(size=(50, 3))
    rows = np.arange(0, 120, 2)
    gram = Gram(X[rows], kernel)
    for svm, C in zip(train(make(X), y, kernel, [10, 0.1, 1], rows, tol=1e-7), [0.1, 1, 10], strict=True):
        solution = solve_csvc(gram, y[rows], C, tol=1e-7)
        assert svm.value == C and svm.n_sv == solution.n_sv
        assert svm.n_bounded == solution.n_sv - solution.n_inbound
        np.testing.assert_array_equal(svm.support, rows[solution.alpha > 0])
        expected = decision_function(gram, y[rows], solution, X_new)
        np.testing.assert_allclose(svm.decision_function(make(X_new)), expected, atol=1e-5)
        again = pickle.loads(pickle.dumps(svm)).shifted(0.5)
        np.testing.assert_allclose(again.decision_function(X_new), expected + 0.5, atol=1e-5)


def test_blocks_of_decision_values_are_those_of_the_whole(monkeypatch):
    X, y = two_classes(np.random.default_rng(5), 100, 2)
    (svm,) = train(X, y, RBF(1.0), 1.0)
    whole = svm.decision_function(X)
    monkeypatch.setattr("svmselect.editing.svm.VALUES_AT_ONCE", 7 * svm.n_sv)
    np.testing.assert_allclose(svm.decision_function(X), whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_svms_of_one_training_set_share_their_kernel_values(make, monkeypatch):
    X, y = two_classes(np.random.default_rng(5), 100, 2)
    svms = list(train(make(X), y, RBF(1.0), [0.1, 1.0, 10.0], np.arange(1, 100, 2)))
    assert len({svm.support.tobytes() for svm in svms}) == 3
    computed, cross = [], Gram.cross

    def counted(gram, rows, columns):
        computed.append(rows.shape[0] * len(columns))
        return cross(gram, rows, columns)

    alone = [svm.decision_function(make(X)) for svm in svms]
    monkeypatch.setattr(Gram, "cross", counted)
    np.testing.assert_allclose(decisions_of_rows(svms, make(X)), alone, rtol=0, atol=1e-12)
    # one for each row and each point that is a support vector of any of them
    assert computed == [100 * len(set().union(*(svm.support for svm in svms)))]


def test_an_svm_without_support_vectors_decides_by_its_threshold():
    X = sparse.csr_array([[2.0**27], [2.0**27 + 45 / 32]])
    (svm,) = train(X, np.array([1.0, -1.0]), Linear(), 10.0, tol=1e-6)
    assert svm.n_sv == 0
    np.testing.assert_array_equal(svm.decision_function(X), svm.b)
    with pytest.raises(ValueError, match=r"X\b.* 2 .* 1\b"):
        svm.decision_function([[1.0, 2.0]])


def test_nu_without_a_classifier_is_skipped():
    X, y = two_classes(np.random.default_rng(6), 60, 2)
    y[:] = -1
    y[:12] = 1
    # at most 2 x 12 / 60
    assert [svm.value for svm in train(X, y, RBF(1.0), [0.3, 0.39, 0.5], formulation="nu")] == [0.3, 0.39]
    values, errors = cross_validated_errors(X, y, RBF(1.0), [0.3, 0.5], formulation="nu")
    assert np.isnan(errors).tolist() == [False, True] and values.tolist() == [0.3, 0.5]


def test_cross_validated_errors_of_nu_are_those_of_libsvm():
    X, y = two_classes(np.random.default_rng(7), 90, 3)
    folds = stratified_folds(y, 4, 1)
    _, errors = cross_validated_errors(X, y, RBF(0.4), [0.47, 0.63], folds, formulation="nu", tol=1e-7)
    for nu, error in zip([0.47, 0.63], errors, strict=True):
        wrong = 0
        for fold in range(4):
            held_out = folds == fold
            svc = NuSVC(nu=nu, gamma=0.4, tol=1e-7).fit(X[~held_out], y[~held_out])
            wrong += np.count_nonzero(svc.predict(X[held_out]) != y[held_out])
        assert error == pytest.approx(wrong / 90)


@given(
    decision=st.lists(st.integers(-4, 4), min_size=1, max_size=12),
    labels=st.integers(0, 2**12 - 1),
    scale=st.sampled_from([1.0, 0.1, 1e-300, 1e300]),
)
@settings(deadline=None)
def test_best_threshold_is_best(decision, labels, scale):
    decision = scale * np.array(decision, dtype=float)
    y = np.where(labels >> np.arange(decision.size) & 1, 1.0, -1.0)

    def errors(shift):
        return np.count_nonzero((decision + shift >= 0) != (y > 0))

    shift = best_threshold(y, decision)
    cuts = [-np.inf, np.inf, *(-decision), *(-np.nextafter(decision, np.inf))]
    assert errors(shift) == min(errors(cut) for cut in cuts)
    if errors(0.0) == errors(shift):
        assert shift == 0.0


@given(m=st.integers(4, 40), positive=st.integers(1, 38), size=st.integers(0, 38), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=50)
def test_validation_points_keep_the_share_of_the_classes(m, positive, size, seed):
    positive, size = min(positive, m - 1), min(size, m - 1)
    y = np.where(np.arange(m) < positive, 1.0, -1.0)
    try:
        rows = draw_validation(y, size, np.random.default_rng(seed))
    except ValueError as error:
        assert "leave only one class" in str(error)
        return
    assert rows.size == size and np.unique(rows).size == size
    assert abs(np.count_nonzero(y[rows] > 0) - size * positive / m) <= 1


def test_subsets_are_halves_of_each_class_or_parts():
    X, y = two_classes(np.random.default_rng(8), 200, 2)
    y[:] = -1
    y[:30] = 1
    drawn = bagging(X, y, RBF(1.0), 1.0, n_subsets=4, subset_size=41, validation=20)
    for subset in drawn.subsets:
        assert np.count_nonzero(y[subset] > 0) == 20 and np.count_nonzero(y[subset] < 0) == 20
        assert not np.isin(subset, drawn.validation).any()
    # more than the class has
    few = bagging(X, y, RBF(1.0), 1.0, subset_size=100)
    assert all(np.count_nonzero(y[subset] > 0) == 30 and subset.size == 80 for subset in few.subsets)
    parts = bagging(X, y, RBF(1.0), 1.0, n_subsets=5)
    assert sorted(np.concatenate(parts.subsets)) == list(range(200))
    assert all(np.count_nonzero(y[subset] > 0) == 6 for subset in parts.subsets)


def test_bagging_chooses_the_value_that_is_best_outside_of_the_subsets():
    X, y = two_classes(np.random.default_rng(9), 150, 2)
    result = bagging(X, y, RBF(1.0), [0.01, 1, 100], n_subsets=3, subset_size=40)
    for k, C in enumerate([0.01, 1, 100]):
        wrong = tested = 0
        for subset in result.subsets:
            outside = np.setdiff1d(np.arange(150), subset)
            svc = SVC(C=C, gamma=1.0).fit(X[subset], y[subset])
            wrong += np.count_nonzero(svc.predict(X[outside]) != y[outside])
            tested += outside.size
        assert result.errors[k] == pytest.approx(wrong / tested, abs=2 / tested)
    assert result.value == result.values[result.errors.argmin()]
    np.testing.assert_allclose(result.decision_function(X), result.decision.mean(axis=0), atol=1e-10)
    assert result.n_sv == len(set().union(*(svm.support.tolist() for svm in result.svms)))


@pytest.mark.parametrize("tune_threshold", [False, True])
@pytest.mark.parametrize("formulation", ["C", "nu"])
def test_cross_training_is_the_listing(formulation, tune_threshold):
    X, y = two_classes(np.random.default_rng(10), 300, 2, gap=1.5)
    value = {"C": 2.0, "nu": 0.47}[formulation]
    result = cross_training(
        X,
        y,
        RBF(0.3),
        value,
        n_subsets=4,
        subset_size=60,
        validation=50,
        tune_threshold=tune_threshold,
        balance=False,
        formulation=formulation,
        tol=1e-6,
    )
    make = {
        "C": lambda: SVC(C=value, gamma=0.3, tol=1e-6),
        "nu": lambda: NuSVC(nu=value, gamma=0.3, tol=1e-6),
    }
    held_out, margins = result.first.validation, []
    for subset in result.first.subsets:
        f = make[formulation]().fit(X[subset], y[subset]).decision_function(X)
        margins.append(y * (f + (best_threshold(y[held_out], f[held_out]) if tune_threshold else 0)))
    mean = np.mean(margins, axis=0)
    variance = np.mean((margins - mean) ** 2, axis=0)
    np.testing.assert_allclose(result.mean, mean, atol=1e-3)
    np.testing.assert_allclose(result.variance, variance, atol=1e-3)
    inside = ~np.isin(np.arange(300), held_out)
    clear = (np.abs(mean + variance) > 1e-2) & (np.abs(mean - variance - 1) > 1e-2)
    assert (result.misclassified == (inside & (mean + variance < 0)))[clear].all()
    assert (result.recognised == (inside & (mean - variance > 1)))[clear].all()
    remaining = inside & ~result.misclassified & ~result.recognised
    np.testing.assert_array_equal(result.rows, np.flatnonzero(remaining))
    assert not result.reinserted.any() and result.misclassified.any() and result.recognised.any()
    final = make[formulation]().fit(X[remaining], y[remaining]).decision_function(X)
    if tune_threshold:
        final += best_threshold(y[held_out], final[held_out])
    np.testing.assert_allclose(result.decision_function(X), final, atol=2e-3 * np.abs(final).max())


def test_final_value_has_the_fewest_errors_and_of_these_the_fewest_support_vectors():
    X, y = two_classes(np.random.default_rng(11), 400, 2, gap=1.5)
    result = cross_training(X, y, RBF(0.3), [0.01, 1, 100], n_subsets=4, subset_size=80, tune_threshold=False)
    held_out = result.first.validation
    assert held_out.size == 80 // 3
    sizes = []
    for C, error in zip([0.01, 1, 100], result.errors, strict=True):
        svc = SVC(C=C, gamma=0.3).fit(X[result.rows], y[result.rows])
        assert error == pytest.approx(np.mean(svc.predict(X[held_out]) != y[held_out]))
        sizes.append(svc.n_support_.sum())
    best = np.flatnonzero(result.errors == result.errors.min())
    assert result.final.value == result.values[best[np.array(sizes)[best].argmin()]]


def test_balance_puts_back_the_least_confidently_recognised():
    y = np.repeat([-1.0, 1.0], 10)
    # of class -1 all but two are recognised, of class +1 three
    f = np.concatenate([[-0.5, -0.6, -2, -3, -4, -5, -1.5, -7, -8, -9], [0.5] * 7, [2, 3, 4]])
    decision = np.array([f, f])
    edited = edit(y, decision, np.array([2]), balance=True)
    assert np.flatnonzero(edited["reinserted"]).tolist() == [3, 4, 5, 6, 7]
    assert np.bincount(edited["rows"] >= 10).tolist() == [7, 7]
    assert not edited["recognised"][2] and not edited["misclassified"].any()
    plain = edit(y, decision, np.array([2]), balance=False)
    assert plain["rows"].tolist() == [0, 1, *range(10, 17)]


def test_balance_keeps_a_point_of_classes_that_are_recognised_altogether():
    y = np.repeat([-1.0, 1.0], 3)
    decision = 5 * y * np.arange(1, 7)
    edited = edit(y, np.array([decision, decision]), np.array([], dtype=int), balance=True)
    assert edited["rows"].tolist() == [0, 3]


@pytest.mark.parametrize("balance", [True, False])
def test_a_class_that_would_lose_all_its_points_keeps_them(balance):
    y = np.repeat([-1.0, 1.0], [3, 4])
    # the first class is misclassified altogether, of the second one point is recognised
    decision = np.array([2.0, 3.0, 4.0, 0.5, 0.5, 0.5, 7.0])
    edited = edit(y, np.array([decision, decision]), np.array([1]), balance)
    assert edited["rows"].tolist() == [0, 2, 3, 4, 5]
    assert np.flatnonzero(edited["misclassified"]).size == 0
    assert np.flatnonzero(edited["recognised"]).tolist() == [6]
    if not balance:
        decision = 5 * y
        everyone = edit(y, np.array([decision, decision]), np.array([], dtype=int), balance)
        assert everyone["rows"].size == 7 and not everyone["recognised"].any()


@pytest.mark.parametrize("kind", KINDS)
def test_nasty_input_has_a_classifier_or_a_sentence(kind):
    X, y = nasty(np.random.default_rng(12), kind, 60, 2)
    try:
        result = cross_training(X, y, RBF(1.0), [1.0, 1e6], n_subsets=3, subset_size=20)
    except ValueError as error:
        assert "class" in str(error)
        assert kind in ("one point of a class", "duplicates", "zero rows", "collinear")
        return
    assert np.isfinite(result.decision_function(X)).all() and result.n_sv >= 2
    assert not np.isin(result.rows, result.first.validation).any()


def test_the_seed_decides_and_threads_do_not():
    X, y = two_classes(np.random.default_rng(13), 2600, 2)

    def run(seed, threads):
        with blas_libraries().limit(limits=threads):
            return cross_training(X, y, RBF(1.0), [1.0, 10.0], n_subsets=5, subset_size=500, seed=seed)

    first, again, other = run(3, 1), run(3, 2), run(4, 1)
    np.testing.assert_array_equal(first.rows, again.rows)
    np.testing.assert_array_equal(first.final.theta, again.final.theta)
    np.testing.assert_array_equal(first.first.decision, again.first.decision)
    assert first.rows.tolist() != other.rows.tolist()
    assert condense(X, y, 3).tolist() == condense(X, y, 3).tolist()
    assert multiedit(X, y, seed=3).tolist() == multiedit(X, y, seed=3).tolist()


def test_sparse_rows_are_the_same_rows():
    X, y = two_classes(np.random.default_rng(14), 200, 5)
    X[np.abs(X) < 0.7] = 0
    rows = sparse.csr_matrix(X)
    assert condense(rows, y).tolist() == condense(X, y).tolist()
    assert multiedit(rows, y).tolist() == multiedit(X, y).tolist()
    dense, result = (cross_training(x, y, RBF(0.3), 1.0, subset_size=60, tol=1e-6) for x in (X, rows))
    np.testing.assert_allclose(result.decision_function(rows), dense.decision_function(X), atol=1e-4)


def call(function, **changed):
    X, y = two_classes(np.random.default_rng(0), 30, 2)
    arguments = {"X": X, "y": y, "kernel": RBF(1.0), "values": 1.0, **changed}
    return function(**arguments)


@pytest.mark.parametrize(
    ("function", "changed", "sentence"),
    [
        (bagging, {"n_subsets": 0}, r"n_subsets\b.* 0\b"),
        (bagging, {"subset_size": 1}, r"subset_size\b.* 1\b"),
        (bagging, {"validation": 30}, r"validation\b.* 30\b"),
        (bagging, {"tune_threshold": True, "validation": 0}, "tune_threshold needs validation points"),
        (bagging, {"values": [1, 2], "n_subsets": 1}, r"\bC needs points\b"),
        (bagging, {"values": 0}, r"C\b.* 0\b"),
        (bagging, {"values": 1.5, "formulation": "nu"}, r"nu\b.* 1.5\b"),
        (bagging, {"formulation": "mu"}, "formulation must be one of"),
        (bagging, {"y": np.ones(30)}, "y must hold both classes"),
        (bagging, {"y": np.arange(30)}, "y must hold the labels -1 and .1 only"),
        (bagging, {"y": np.ones(3)}, r"y must have shape \(30,\)"),
        (bagging, {"y": np.r_[np.ones(28), -1, -1]}, "leaves subset . of . points without a class"),
        (bagging, {"values": 1.0, "formulation": "nu", "y": np.r_[-1, np.ones(29)], "subset_size": 9},
         "no nu of"),
        (cross_training, {"values": [1, 2], "validation": 0, "tune_threshold": False},
         "a choice among 2 values of C needs validation points"),
        (train_best, {"rows": None, "held_out": []}, "to choose a threshold needs points held out"),
        (train, {"rows": [0]}, "the rows to train on must hold both classes"),
    ],
)  # fmt: skip
def test_bad_input_is_named(function, changed, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(function, **changed)


def test_bad_numbers_of_nearest_neighbours_are_named():
    X, y = two_classes(np.random.default_rng(0), 30, 2)
    with pytest.raises(ValueError, match=r"parts\b.* 1\b"):
        multiedit(X, y, parts=1)
    with pytest.raises(ValueError, match=r"patience\b.* 0\b"):
        multiedit(X, y, patience=0)
    with pytest.raises(ValueError, match="must be finite"):
        condense(np.full((30, 2), np.nan), y)
