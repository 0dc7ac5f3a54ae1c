"""The grid driver: the cross-validation of every model, one by one, whatever the order and the threads."""

import numpy as np
import pytest
from numerics.problems import two_classes
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from svmselect import (
    RBF,
    Gram,
    Linear,
    Polynomial,
    cross_validate,
    cross_validate_grid,
    solve_csvc,
    stratified_folds,
)
from svmselect.path import moved_along_C
from svmselect.unlearning import folds

CS, GAMMAS = [0.03, 1.0, 30.0, 1000.0], [0.02, 0.3, 5.0]


@pytest.fixture(scope="module")
def data():
    return two_classes(np.random.default_rng(1), 160, 4, gap=0.8)


@pytest.mark.parametrize("seeding", ["path", "unlearn"])
@pytest.mark.parametrize("active_set", [False, True])
def test_every_model_is_cross_validated(data, active_set, seeding):
    X, y = data
    folds = stratified_folds(y, 4, 2)
    gram = Gram(X, RBF(1.0))
    options = {"tol": 1e-6, "active_set": active_set, "seeding": seeding}
    grid = cross_validate_grid(gram, y, CS, GAMMAS, folds, **options)
    assert grid.errors.shape == grid.n_iter.shape == grid.converged.shape == (3, 4, 4)
    assert grid.converged.all() and gram.kernel == RBF(GAMMAS[-1])
    for g, gamma in enumerate(GAMMAS):
        at_gamma = Gram(X, RBF(gamma))
        for c, C in enumerate(CS):
            one = cross_validate(at_gamma, y, C, folds, "cold", tol=1e-6)
            # points as good as on the boundary may go either way
            near = np.bincount(folds, np.abs(one.decision) < 1e-3, minlength=4)
            assert (np.abs(grid.errors[g, c] - np.bincount(folds, one.errors, minlength=4)) <= near).all()
    np.testing.assert_allclose(grid.error, grid.errors.sum(axis=2) / 160)


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()])
@pytest.mark.parametrize("options", [{}, {"dtype": "float32"}, {"memory_mb": 0.1}])
def test_models_along_C_are_those_of_cold_fits(data, kernel, options):
    """From C so small that all SVs are bounded to C so large that hardly any is."""
    X, y = data
    folds = stratified_folds(y, 3, 1)
    Cs = np.geomspace(1e-3, 1e3, 7)
    tol = 1e-5 if options else 1e-8
    grid = cross_validate_grid(Gram(X, kernel, **options), y, Cs, folds=folds, tol=tol, decision_values=True)
    assert grid.converged.all()
    shares = []
    for c, C in enumerate(Cs):
        for h in range(3):
            bound = np.where(folds == h, 0, C)
            one = solve_csvc(Gram(X, kernel, **options), y, bound, tol=0.1 * tol)
            held = folds == h
            # b is an interval without in-bound SVs, and its middle is known to the tolerance at best
            np.testing.assert_allclose(
                grid.decision[0, c, held], one.decision[held], atol=1e-3 if options else 1e-5
            )
            shares.append(one.n_inbound / one.n_sv)
    assert min(shares) < 0.1 and (isinstance(kernel, Linear) or max(shares) > 0.5)


def test_agrees_with_libsvm(data):
    X, y = data
    folds = stratified_folds(y, 5)
    grid = cross_validate_grid(Gram(X, RBF(1.0)), y, [1.0, 50.0], [0.1, 1.0], folds)
    splits = [(np.flatnonzero(folds != h), np.flatnonzero(folds == h)) for h in range(5)]
    for g, gamma in enumerate([0.1, 1.0]):
        for c, C in enumerate([1.0, 50.0]):
            predicted = cross_val_predict(SVC(C=C, gamma=gamma), X, y, cv=splits)
            assert abs(np.count_nonzero(predicted != y) - grid.errors[g, c].sum()) <= 1


@pytest.mark.slow
def test_many_folds_are_unlearned_by_default(data, monkeypatch):
    X, y = data

    def counted(k, **options):
        return cross_validate_grid(Gram(X, RBF(0.3), **options), y, CS, folds=stratified_folds(y, k)).n_iter

    assert (counted(15) > 0).all() and (counted(16) == 0).all()
    assert (counted(16, memory_mb=0.05) > 0).any()
    # paths that are given up: folds are trained
    right = cross_validate_grid(Gram(X, RBF(0.3)), y, CS, folds=20, tol=1e-6)
    monkeypatch.setattr(folds.FoldStart, "leave", lambda self, sets, rows, ends: ends.reached.fill(False))
    result = cross_validate_grid(Gram(X, RBF(0.3)), y, CS, folds=20, tol=1e-6)
    assert result.converged.all() and (result.n_iter > 0).all()
    assert np.abs(result.errors - right.errors).sum() <= 2


def test_the_order_of_C_does_not_matter(data):
    X, y = data
    order = [2, 0, 3, 1]
    up = cross_validate_grid(Gram(X, RBF(0.3)), y, CS)
    mixed = cross_validate_grid(Gram(X, RBF(0.3)), y, np.array(CS)[order])
    np.testing.assert_array_equal(up.errors[:, order], mixed.errors)
    np.testing.assert_array_equal(up.n_iter[:, order], mixed.n_iter)
    assert up.gammas is None and up.errors.shape == (1, 4, 5)


def test_best_is_the_first_of_the_least(data):
    X, y = data
    grid = cross_validate_grid(Gram(X, RBF(1.0)), y, CS, GAMMAS)
    gamma, C = grid.best
    assert grid.error[GAMMAS.index(gamma), CS.index(C)] == grid.error.min()
    assert cross_validate_grid(Gram(X, Linear()), y, [1.0]).best == (None, 1.0)


@pytest.mark.parametrize("memory_mb", [3, 5, 100])  # one matrix takes 1.9 MB
def test_threads_change_nothing_but_the_path(memory_mb):
    X, y = two_classes(np.random.default_rng(2), 500, 4, gap=0.6)
    grids = []
    for threads in (1, 2):
        gram = Gram(X, RBF(1.0), memory_mb=memory_mb)
        with threadpool_limits(threads, user_api="blas"):
            grids.append(cross_validate_grid(gram, y, CS, GAMMAS, tol=1e-6))
        # every model asked for columns, wherever it ran
        assert gram.columns_requested >= 2 * grids[-1].n_iter.sum() and gram.kernel_values > 0
        assert gram.kernel == RBF(GAMMAS[-1])
    assert np.abs(grids[0].errors - grids[1].errors).max() <= 1
    assert grids[1].converged.all()


@pytest.mark.parametrize("threads", [1, 2])
def test_there_are_as_many_matrices_as_threads_that_have_work(data, threads, monkeypatch):
    X, y = data
    requested, copies = [], Gram.copies
    monkeypatch.setattr(Gram, "copies", lambda gram, n: requested.append(n) or copies(gram, n))
    with threadpool_limits(threads, user_api="blas"):
        for gammas in (None, [0.5], [0.5, 1.0, 2.0]):
            cross_validate_grid(Gram(X, RBF(1.0)), y, [1.0], gammas)
    assert requested == [1, 1, threads]


def test_copies_are_as_many_as_the_budget_holds():
    X = np.random.default_rng(5).normal(size=(60, 3))
    size = 60 * 64 * 8 / 2**20
    for room, n in ((0.5, 1), (1, 1), (1.9, 1), (2, 2), (9, 3)):
        copies = Gram(X, RBF(1.0), memory_mb=room * size).copies(3)
        assert len(copies) == n
    copies[1].set_kernel(RBF(2.0))
    np.testing.assert_allclose(copies[0].matrix(), rbf_kernel(X, gamma=1.0))
    np.testing.assert_allclose(copies[1].matrix(), rbf_kernel(X, gamma=2.0))
    assert not np.shares_memory(copies[0].matrix(), copies[1].matrix())
    assert copies[2].kernel_values == copies[0].kernel_values == 2 * 60 * 60  # counted together


def test_warm_starts_save_steps():
    X, y = two_classes(np.random.default_rng(3), 300, 4, gap=0.6)
    gram = Gram(X, RBF(0.3))
    Cs = np.geomspace(0.1, 1000, 8)
    grid = cross_validate_grid(gram, y, Cs, active_set=False)
    cold = sum(cross_validate(gram, y, C, 5, "cold", active_set=False).n_iter for C in Cs)
    assert grid.n_iter.sum() < 0.9 * cold


@pytest.mark.parametrize("factor", [0.2, 1.0, 1.5, 10.0, 1e6])
@pytest.mark.parametrize("C", [1e-4, 0.1, 3.0, 1e5])
def test_warm_starts_are_feasible(data, C, factor):
    X, y = data
    bound = np.where(np.arange(y.size) % 5 == 0, 0, C) * np.random.default_rng(4).uniform(0.5, 1, y.size)
    solution = solve_csvc(Gram(X, RBF(0.4)), y, bound)
    alpha = moved_along_C(y, solution, factor * bound) * y
    assert (alpha >= 0).all() and (alpha <= factor * bound).all()
    assert abs(alpha @ y) <= 1e-12 * alpha.sum()
    if factor >= 1 and solution.alpha.max() < C / 2:  # no bounded variables: the same solution
        np.testing.assert_array_equal(alpha, solution.alpha)


def test_a_matrix_that_does_not_fit(data):
    X, y = data
    small = cross_validate_grid(Gram(X, RBF(1.0), memory_mb=0.05), y, CS[:3], GAMMAS, tol=1e-6)
    whole = cross_validate_grid(Gram(X, RBF(1.0)), y, CS[:3], GAMMAS, tol=1e-6)
    assert np.abs(small.errors - whole.errors).max() <= 1


def test_progress(data):
    X, y = data
    seen = []
    cross_validate_grid(Gram(X, RBF(1.0)), y, [1.0], GAMMAS, progress=lambda *p: seen.append(p))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (dict(Cs=[]), "Cs must be a list of at least one number"),
        (dict(Cs=[1.0, -2.0]), r"Cs\b.* -2.0\b"),
        (dict(gammas=[np.nan]), r"gammas\b.* nan\b"),
        (dict(folds=1), r"folds\b.* 1\b"),
        (dict(y=[1, 1, 1, 1]), "y must hold both classes"),
        (dict(tol=-1), r"tol\b.* -1\b"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    gram = Gram([[0.0], [1.0], [2.0], [3.0]], Linear())
    with pytest.raises(ValueError, match=sentence):
        cross_validate_grid(gram, **{"y": [1, -1, 1, -1], "Cs": [1.0], "folds": [0, 0, 1, 1], **arguments})
    assert gram.kernel_values == 0


@pytest.mark.parametrize("seeding", ["path", "unlearn"])
def test_a_tolerance_that_float64_cannot_reach_ends(seeding):
    """Alphas are 8465 and kernel values up to 6859: rounding leaves 5e-7 in the gap, and steps of 1e-12 raise
    the dual value for ever."""
    rows = ["20", "22", "01", "11", "01", "20", "11", "22", "11", "20", "01", "21", "00", "01", "10", "01"]
    X = np.array([[float(digit) for digit in row] for row in rows])
    y = np.array([1.0 if sign == "+" else -1.0 for sign in "+++--++---+--+--"])
    folds = np.array([5, 1, 5, 5, 1, 4, 5, 0, 3, 1, 1, 2, 2, 1, 0, 2])
    gram, Cs = Gram(X, Polynomial(3, 2.0, 3.0)), [8465.24972631]
    grid = cross_validate_grid(gram, y, Cs, folds=folds, tol=1e-9, seeding=seeding)
    loose = cross_validate_grid(gram, y, Cs, folds=folds, tol=1e-6)
    np.testing.assert_array_equal(grid.errors, loose.errors)
    assert grid.n_iter.max() < 100_000
    short = cross_validate_grid(gram, y, Cs, folds=folds, tol=1e-9, seeding="path", max_iter=1000)
    assert short.n_iter.max() == 1000
