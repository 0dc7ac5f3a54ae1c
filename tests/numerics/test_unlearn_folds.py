"""Folds by unlearning: the ends of paths against training without the fold, by us and by LIBSVM."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, nasty, two_classes
from sklearn.svm import SVC
from svmselect.solver._smo import Dual
from svmselect.unlearning._paths import Outcome

from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate,
    even_folds,
    solve_csvc,
    stratified_folds,
)
from svmselect.solver import _active_set
from svmselect.unlearning import folds as module
from svmselect.unlearning.folds import FoldsUnlearning
from svmselect.unlearning.points import unlearn_points

STEPS = 20_000
KERNELS = [Linear(), RBF(0.01), RBF(1.0), RBF(50.0)]


def exact(gram, y, C):
    """The Dual of all points at a gap of 1e-10, and what unlearns from it."""
    dual = Dual(gram, y)
    dual.boxes(y, C)
    assert _active_set.solve(dual, "wss2", 1e-10, 10**6)
    return dual, FoldsUnlearning(gram, y, C, dual.known(), dual.state()[2])


def members(folds):
    return [np.flatnonzero(folds == h) for h in range(folds.max() + 1)]


@pytest.mark.parametrize("k", [2, 10, 60])
@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(5.0), Linear()])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_no_path_of_a_plain_problem_is_given_up(k, kernel, C):
    """Nor is its end contradicted by the Gram matrix: training anew would hide that a path is wrong."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = two_classes(rng, 60, 3, gap=rng.choice([0.0, 1.0, 4.0]))
        y[:4] = [1, 1, -1, -1]
        gram = Gram(X, kernel)
        for bounds in (np.full(60, C), C * rng.uniform(0.2, 1, size=60), np.where(y > 0, C, 0.1 * C)):
            _, unlearning = exact(gram, y, bounds)
            folds = even_folds(60, k, seed)
            result = unlearning.unlearn_folds(members(folds))
            # SVs of a fold that balance each other where there is no in-bound SV
            stayed = result.reached & (result.n_events == 0)
            assert result.reached.all() and (result.gap[~stayed] <= 1e-8).all(), seed
            assert (result.noise <= 1e-8).all()
            for j, points in enumerate(members(folds)):
                assert (result.theta[j, points] == 0).all()
                K = gram.submatrix(np.arange(60), np.arange(60))
                np.testing.assert_allclose(result.f[j], K @ result.theta[j] - y, atol=1e-9 * max(1, C) * 60)
                assert abs(result.theta[j].sum()) <= 1e-12 * C * 60


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(6, 40),
    d=st.integers(1, 4),
    k=st.integers(2, 40),
    kernel=st.sampled_from(KERNELS),
    C=st.sampled_from([1e-6, 0.1, 1.0, 20.0, 1e4]),
    weighted=st.booleans(),
    dtype=st.sampled_from(["float64", "float64", "float32"]),
)
@settings(deadline=None, max_examples=20)
def test_folds_are_those_of_cold_starts(kind, seed, m, d, k, kernel, C, weighted, dtype):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, m, d)
    folds = even_folds(m, min(k, m), int(rng.integers(99)))
    y[:4], folds[:4] = [1, 1, -1, -1], [0, folds.max(), 0, folds.max()]
    folds = np.unique(folds, return_inverse=True)[1]
    bounds = C * rng.uniform(0.2, 1, size=m) if weighted else np.full(m, C)
    gram = Gram(X, kernel, dtype=dtype)
    result = cross_validate(gram, y, bounds, folds, "unlearn", tol=1e-7, max_iter=STEPS)
    for h, r in enumerate(result.rounds):
        cold = solve_csvc(gram, y, np.where(folds == h, 0, bounds), tol=1e-9, max_iter=STEPS)
        if not (r.converged and cold.converged):
            continue
        size = bounds.sum() + abs(cold.objective)
        assert abs(r.objective - cold.objective) <= 2e-7 * size
        if cold.n_inbound and r.kkt_gap <= 1e-8:
            # the objective bounds |w - w*|^2, and decision values differ by that times |x|, and in b
            slack = 1e-5 + 4 * np.sqrt(4e-7 * size * gram.diagonal.max())
            np.testing.assert_allclose(
                result.decision[folds == h], cold.decision[folds == h], atol=slack, rtol=1e-5
            )


@pytest.mark.parametrize("k", [2, 10, 90])
@pytest.mark.parametrize(
    ("kernel", "C"), [(RBF(0.3), 1.0), (RBF(0.3), 100.0), (RBF(10.0), 3.0), (Linear(), 0.5)]
)
def test_agrees_with_libsvm_to_its_last_digits(k, kernel, C):
    X, y = two_classes(np.random.default_rng(8), 90, 4, gap=0.8)
    gram = Gram(X, kernel)
    K = gram.matrix()
    weight = np.where(y > 0, 0.5, 2.0) * np.random.default_rng(9).uniform(0.5, 1, size=90)
    folds = np.arange(90) if k == 90 else stratified_folds(y, k, 1)
    for weights in (np.ones(90), weight):
        result = cross_validate(gram, y, C * weights, folds, "unlearn")
        assert sum(r.n_iter for r in result.rounds) == 0  # no fold needed a solver
        for h in range(k):
            train, test = np.flatnonzero(folds != h), np.flatnonzero(folds == h)
            theirs = SVC(C=C, kernel="precomputed", tol=1e-10)
            theirs.fit(K[np.ix_(train, train)], y[train], sample_weight=weights[train])
            alpha = np.abs(theirs.dual_coef_[0])
            if (alpha < C * weights[train][theirs.support_] * (1 - 1e-8)).any():  # else b is an interval
                decision = theirs.decision_function(K[np.ix_(test, train)])
                # LIBSVM trains on kernel values in single precision
                atol = 2e-7 * C * max(1, np.abs(K).max())
                np.testing.assert_allclose(result.decision[test], decision, atol=atol)


def test_a_fold_of_one_point_is_left_out():
    X, y = two_classes(np.random.default_rng(2), 70, 3, gap=0.5)
    gram = Gram(X, RBF(0.4))
    full, unlearning = exact(gram, y, np.full(70, 3.0))
    points = np.flatnonzero(full.arrays()[0])
    decision, outcome = unlearn_points(full, y, points, np.zeros(points.size), None, stop=False)
    assert (outcome == Outcome.REACHED).all()
    result = unlearning.unlearn_folds(points[:, None])
    value = result.f[np.arange(points.size), points] + y[points] + result.b
    np.testing.assert_allclose(value, decision, atol=1e-7)


def test_folds_without_support_vectors_stay():
    X, y = two_classes(np.random.default_rng(3), 60, 2, gap=4.0)
    gram = Gram(X, RBF(0.3))
    _, unlearning = exact(gram, y, np.full(60, 10.0))
    outside = np.flatnonzero(unlearning.theta == 0)
    result = unlearning.unlearn_folds([outside[:5], outside])
    assert (result.n_events == 0).all() and result.optimal(1e-9).all()
    np.testing.assert_array_equal(result.theta, np.tile(unlearning.theta, (2, 1)))


@pytest.mark.parametrize("balanced", [True, False])
def test_without_in_bound_support_vectors(balanced):
    """Then b is an interval, until a point enters."""
    X, y = two_classes(np.random.default_rng(4), 40, 2)
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    gram, C = Gram(X, RBF(0.2)), np.full(40, 1e-3)
    _, unlearning = exact(gram, y, C)
    assert unlearning.inbound.size == 0
    sets = [np.arange(4), np.arange(10, 20)] if balanced else [np.arange(0, 10, 2), np.arange(1, 8, 2)]
    result = unlearning.unlearn_folds(sets)
    assert result.optimal(1e-8).all() and ((result.n_events == 0) == balanced).all()
    for j, points in enumerate(sets):
        alone = solve_csvc(gram, y, np.where(np.isin(np.arange(40), points), 0, C), tol=1e-10)
        solution = result.solution(j, y, C)
        assert solution.objective == pytest.approx(alone.objective, rel=1e-9)
        np.testing.assert_allclose(solution.decision, alone.decision, atol=1e-9)
        assert solution.b == pytest.approx(alone.b, abs=1e-9)


class Lost(module.FoldPaths):
    """Paths that end elsewhere, and say that they have reached it."""

    def leave(self, points, pull, base, theta):
        outcome, n_events = super().leave(points, pull, base, theta)
        values = np.asarray(theta)
        values[:] = np.where(values != 0, 0.7 * values, 0)
        return outcome, n_events


class Degenerate(module.FoldPaths):
    """Paths that are given up."""

    def leave(self, points, pull, base, theta):
        super().leave(points, pull, base, theta)
        np.asarray(theta)[:] = np.nan
        return Outcome.UNDECIDED, 7


@pytest.mark.parametrize("paths", [Lost, Degenerate])
def test_what_a_path_says_is_not_taken_at_its_word(paths, monkeypatch):
    X, y = two_classes(np.random.default_rng(5), 80, 3, gap=0.5)
    gram = Gram(X, RBF(0.5))
    right = cross_validate(gram, y, 2.0, 10, "unlearn", tol=1e-7)
    top = cross_validate(gram, y, 2.0, 10, "top", tol=1e-7)
    monkeypatch.setattr(module, "FoldPaths", paths)
    result = cross_validate(gram, y, 2.0, 10, "unlearn", tol=1e-7)
    assert sum(r.n_iter for r in right.rounds) == 0 and all(r.n_iter > 0 for r in result.rounds)
    assert result.n_not_converged == 0
    np.testing.assert_allclose(result.decision, right.decision, atol=1e-5)
    if paths is Degenerate:  # trained from the seed, after a full solution that is closer
        assert all(r.seed_steps == 7 for r in result.rounds)
        assert sum(r.n_iter for r in result.rounds) <= 2 * sum(r.n_iter for r in top.rounds)
    few = cross_validate(gram, y, 2.0, 10, "unlearn", tol=1e-7, max_iter=3)
    assert not few.full.converged and few.n_not_converged >= 10


def test_variables_that_do_not_sum_to_0_are_no_solution():
    """Even where no pair violates: all of class +1 at C."""
    X, y = two_classes(np.random.default_rng(11), 40, 2)
    _, unlearning = exact(Gram(X, RBF(0.2)), y, np.full(40, 5.0))
    result = unlearning.unlearn_folds([np.arange(4), np.arange(4, 8)])
    assert result.optimal(1e-8).all()
    theta = result.theta.copy()
    theta[0, unlearning.inbound[unlearning.inbound >= 8][0]] += 1e-6
    assert result._replace(theta=theta).optimal(1e-8).tolist() == [False, True]
    theta = np.where(y > 0, 5.0, 0) * np.ones((2, 1))
    theta[0, :4] = theta[1, 4:8] = 0
    result.theta[:] = theta
    unlearning.check_ends([np.arange(4), np.arange(4, 8)], result)
    assert (result.gap == 0).all() and not result.optimal(1e-3).any()


def test_identical_rows_need_no_solver():
    """The gap of the solution makes none of the copies an event at the very start."""
    rng = np.random.default_rng(6)
    X, y = two_classes(rng, 60, 6)
    X, y = np.repeat((X > 0).astype(float), 4, axis=0), np.where(rng.random(240) < 0.8, np.repeat(y, 4), 1.0)
    result = cross_validate(Gram(X, RBF(0.3)), y, 1.0, stratified_folds(y, 20, 0), "unlearn")
    assert sum(r.n_iter > 0 for r in result.rounds) <= 4
    cold = cross_validate(Gram(X, RBF(0.3)), y, 1.0, result.folds, "cold", tol=1e-9)
    for one, other in zip(result.rounds, cold.rounds, strict=True):
        assert one.objective == pytest.approx(other.objective, abs=1e-3 * 240)


@pytest.mark.parametrize("options", [dict(memory_mb=0.2), dict(dtype="float32")])
def test_other_matrices(options, monkeypatch):
    X, y = two_classes(np.random.default_rng(7), 150, 4, gap=0.8)
    whole = cross_validate(Gram(X, RBF(0.4)), y, 2.0, 30, "unlearn")
    gram = Gram(X, RBF(0.4), **options)
    assert gram.full == ("dtype" in options)
    np.testing.assert_allclose(
        cross_validate(gram, y, 2.0, 30, "unlearn").decision, whole.decision, atol=1e-4
    )
    # columns of the tableau that are not kept from fold to fold
    monkeypatch.setattr(module, "KEPT_VALUES", 0)
    monkeypatch.setattr("svmselect.cv.trainer.GROUP_VALUES", 0)
    seen = []
    result = cross_validate(gram, y, 2.0, 30, "unlearn", progress=lambda *p: seen.append(p))
    np.testing.assert_allclose(result.decision, whole.decision, atol=1e-4)
    assert seen == [(h + 1, 30) for h in range(30)]
