"""C-SVC against LIBSVM, an interior-point solver and its own optimality conditions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numerics.problems import kkt_gap, solve_qp, two_classes
from scipy import sparse
from sklearn.svm import SVC
from svmselect.solver._smo import Dual

from svmselect import RBF, Gram, Linear, decision_function, solve_csvc
from svmselect.gram import matrix_mb

WORKING_SETS = ["wss2", "mvp"]


@st.composite
def problems(draw):
    """Random and nasty problems: duplicates, constant features, ties, tiny m, extreme C, a C per point."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, d = draw(st.integers(2, 40)), draw(st.integers(1, 5))
    X, y = two_classes(rng, m, d, gap=draw(st.sampled_from([0.0, 1.0, 6.0])))
    nasty = draw(st.sampled_from(["plain", "duplicates", "constant", "grid"]))
    if nasty == "duplicates":
        X[m // 2 :] = X[: m - m // 2]
    elif nasty == "constant":
        X[:, 0] = 1.0
    elif nasty == "grid":
        X = np.round(X)
    C = draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0, 1e4]))
    if draw(st.booleans()):
        C = C * rng.uniform(0.1, 1, size=m)
    kernel = draw(st.sampled_from([Linear(), RBF(0.01), RBF(1.0), RBF(20.0)]))
    return X, y, C, kernel


@given(problem=problems(), working_set=st.sampled_from(WORKING_SETS), single=st.booleans())
@settings(deadline=None, max_examples=150)
def test_solution_is_optimal(problem, working_set, single):
    X, y, C, kernel = problem
    tol = 1e-4
    gram = Gram(X, kernel, dtype="float32" if single else "float64")
    solution = solve_csvc(gram, y, C, tol=tol, working_set=working_set, max_iter=1_000_000)
    assume(solution.converged)  # linear and huge C: a million steps may not be enough
    K = gram.matrix().astype(np.float64)
    C = np.broadcast_to(C, y.shape)
    alpha = solution.alpha
    assert (alpha >= 0).all() and (alpha <= C).all()
    scale = max(1.0, C.max()) * max(1.0, np.abs(K).max()) * len(y)
    assert abs(y @ alpha) <= 1e-12 * scale
    assert kkt_gap(K, y, alpha, C) <= tol + 1e-12 * scale
    assert solution.kkt_gap <= tol
    np.testing.assert_allclose(solution.decision, K @ (y * alpha) + solution.b, atol=1e-11 * scale)
    objective = 0.5 * (y * alpha) @ K @ (y * alpha) - alpha.sum()
    assert solution.objective == pytest.approx(objective, rel=1e-9, abs=1e-11 * scale)
    # a KKT gap bounds the distance to the optimum: objective - optimum <= tol * sum(C); the QP solver is good
    # to 1e-4
    _, optimum = solve_qp(K, y, C)
    assert -1e-4 * max(1, abs(optimum)) <= objective - optimum <= tol * C.sum() + 1e-6 * max(1, abs(optimum))


@pytest.mark.parametrize("working_set", WORKING_SETS)
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.2)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_agrees_with_libsvm(kernel, C, working_set):
    X, y = two_classes(np.random.default_rng(0), 200, 4)
    gram = Gram(X, kernel)
    ours = solve_csvc(gram, y, C, tol=1e-6, working_set=working_set)
    theirs = SVC(C=C, kernel="precomputed", tol=1e-5, shrinking=False).fit(gram.matrix(), y)
    alpha = np.zeros(len(y))
    alpha[theirs.support_] = np.abs(theirs.dual_coef_[0])
    objective = 0.5 * (y * alpha) @ gram.matrix() @ (y * alpha) - alpha.sum()
    assert ours.objective == pytest.approx(objective, rel=1e-6)
    assert ours.b == pytest.approx(theirs.intercept_[0], abs=2e-3)
    np.testing.assert_allclose(ours.decision, theirs.decision_function(gram.matrix()), atol=2e-3)


def test_decision_function_of_new_rows():
    rng = np.random.default_rng(1)
    X, y = two_classes(rng, 120, 3)
    Z = rng.normal(size=(30, 3))
    gram = Gram(X, RBF(0.4))
    solution = solve_csvc(gram, y, 2.0, tol=1e-6)
    expected = SVC(C=2.0, gamma=0.4, tol=1e-6).fit(X, y).decision_function(Z)
    np.testing.assert_allclose(decision_function(gram, y, solution, Z), expected, atol=1e-4)
    np.testing.assert_allclose(decision_function(gram, y, solution, X), solution.decision, atol=1e-10)
    with pytest.raises(ValueError, match=r"X\b.* 2 .* 3\b"):
        decision_function(gram, y, solution, Z[:, :2])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_model_without_support_vectors_decides_by_its_threshold(kind):
    X = kind(np.random.default_rng(1).normal(size=(7, 3)))
    y = np.tile([1.0, -1.0], 4)[:7]
    gram = Gram(X, Linear())
    none = replace(solve_csvc(gram, y, 1.0), alpha=np.zeros(7), b=0.25)
    np.testing.assert_array_equal(decision_function(gram, y, none, X), 0.25)


def test_left_out_points_are_as_if_absent():
    rng = np.random.default_rng(2)
    X, y = two_classes(rng, 90, 3)
    keep = rng.random(90) < 0.7
    keep[:2] = True
    left_out = solve_csvc(Gram(X, RBF(0.5)), y, np.where(keep, 3.0, 0.0), tol=1e-8)
    gram = Gram(X[keep], RBF(0.5))
    absent = solve_csvc(gram, y[keep], 3.0, tol=1e-8)
    assert (left_out.alpha[~keep] == 0).all()
    np.testing.assert_allclose(left_out.alpha[keep], absent.alpha, atol=1e-6)
    expected = decision_function(gram, y[keep], absent, X)
    np.testing.assert_allclose(left_out.decision, expected, atol=1e-6)


@pytest.mark.parametrize("memory", [1, 4])
def test_shrunk_problems_hold_their_columns_where_the_whole_one_does(monkeypatch, memory):
    """Or the whole one goes on: dropped columns would be copied again and again."""
    rng = np.random.default_rng(19)
    X, y = two_classes(rng, 1500, 4)
    y[rng.random(1500) < 0.2] *= -1
    C = np.where(np.arange(1500) % 3 == 0, 0.0, 100.0)
    gram = Gram(X, RBF(0.5), memory_mb=memory * matrix_mb(1500, "float64")).compute()
    restricted, parts = Gram.restricted, []

    def record(whole, rows):
        parts.append(restricted(whole, rows))
        return parts[-1]

    monkeypatch.setattr(Gram, "restricted", record)
    solution = solve_csvc(gram, y, C, tol=1e-6, active_set=False)
    assert all(part.full for part in parts)
    assert any(part.m > 750 for part in parts) == (memory == 4)
    assert solution.n_iter > 2000
    assert kkt_gap(gram.matrix(), y, solution.alpha, C) <= 1.001e-6


@pytest.mark.parametrize("working_set", WORKING_SETS)
@pytest.mark.parametrize(("seed", "m", "d", "gap"), [(3, 170, 13, 1.0), (1, 120, 10, 0.5), (2, 300, 20, 0.5)])
def test_smo_alone_never_loses_what_it_gained(seed, m, d, gap, working_set):
    """A shrunk problem that computes its gradient afresh loses the share of the rows left out."""
    X, y = two_classes(np.random.default_rng(seed), m, d, gap=gap)
    gram, before = Gram(X, Linear()).compute(), np.inf
    for most in range(20_000, 140_001, 20_000):
        solution = solve_csvc(
            gram, y, 100.0, tol=1e-3, working_set=working_set, active_set=False, max_iter=most
        )
        assert solution.objective <= before + 1e-5 * abs(solution.objective)
        before = solution.objective
        assert not solution.converged or kkt_gap(gram.matrix(), y, solution.alpha, 100.0) < 1.1e-3


def test_start_is_where_it_goes_on():
    X, y = two_classes(np.random.default_rng(3), 150, 4)
    gram = Gram(X, RBF(0.3))
    loose = solve_csvc(gram, y, 5.0, tol=1e-2)
    rest = solve_csvc(gram, y, 5.0, tol=1e-6, start=loose.alpha)
    cold = solve_csvc(gram, y, 5.0, tol=1e-6)
    assert 0 < rest.n_iter < cold.n_iter
    assert rest.objective == pytest.approx(cold.objective, rel=1e-9)
    done = solve_csvc(gram, y, 5.0, tol=1e-6, start=rest.alpha)
    assert done.n_iter == 0 and done.columns_requested == done.n_sv


@pytest.mark.parametrize("working_set", ["mvp", "wss2"])
@pytest.mark.parametrize("active_set", [True, False])
def test_the_same_steps_in_any_units(active_set, working_set):
    """A power of two rounds nothing: every step is the same to the last bit."""
    X, y = two_classes(np.random.default_rng(4), 80, 4)
    X[40:44] = X[:4]
    fits = [
        solve_csvc(Gram(2.0**k * X, Linear()), y, 10 / 4.0**k, working_set=working_set, active_set=active_set)
        for k in (0, -40, -20, 20, 40)
    ]
    for fit, k in zip(fits[1:], (-40, -20, 20, 40), strict=True):
        np.testing.assert_array_equal(fit.alpha * 4.0**k, fits[0].alpha)
        np.testing.assert_array_equal(fit.decision, fits[0].decision)
        assert fit.n_iter == fits[0].n_iter > 100 and fit.converged


def test_what_steps_round_off_is_that_of_the_largest_row():
    """A row of zeros that takes no part changes nothing of it."""
    X, y = two_classes(np.random.default_rng(5), 60, 3)
    results = []
    for rows, labels in ((X, y), (np.vstack([X, np.zeros(3)]), np.append(y, 1.0))):
        dual = Dual(Gram(rows, Linear()), labels)
        dual.boxes(labels, np.where((rows != 0).any(axis=1), 1.0, 0.0))
        dual.solve("wss2", 1e-3, 200)
        theta, f, drift = dual.known()
        results.append(drift)
        assert np.abs(f + labels - rows @ (rows.T @ theta)).max() <= drift + 1e-13
    assert results[0] == results[1] > 0


@pytest.mark.parametrize("working_set", WORKING_SETS)
def test_steps_that_rounding_cuts_short_leave_no_error_in_decision_values(working_set):
    """SMO creeps towards the bound, and loses a part of the last bit of alpha with every step."""
    X, y, C = np.array([-2.421875, 3.703125, 0.59375]), np.array([-1.0, -1.0, 1.0]), 1e4
    fit = solve_csvc(Gram(X[:, None], Linear()), y, C, tol=1e-3, working_set=working_set, active_set=False)
    assert fit.converged and fit.n_iter > 10_000
    theta = [int(label) * Fraction(alpha) for label, alpha in zip(y, fit.alpha.tolist(), strict=True)]
    weight = sum(t * Fraction(x) for t, x in zip(theta, X.tolist(), strict=True))
    b = [Fraction(f) - weight * Fraction(x) for f, x in zip(fit.decision.tolist(), X.tolist(), strict=True)]
    # a billionth of the margin, and what a fresh sum of three terms leaves
    assert max(b) - min(b) <= 1e-9 + 16 * 2.0**-52 * 2 * C * np.abs(X).max() ** 2


@pytest.mark.parametrize("C", [1.0, [1.0, 0.5]])
def test_a_sum_that_rounding_alone_makes_unequal_is_taken(C):
    gram = Gram([[0.0], [1.0]], Linear())
    # a billionth of the largest bound, to the last bit, and the next number
    solve_csvc(gram, [1, -1], C, start=[1e-9, 0.0])
    with pytest.raises(ValueError, match=r"start\b.* 1e-09\b"):
        solve_csvc(gram, [1, -1], C, start=[np.nextafter(1e-9, 1), 0.0])


def test_max_iter_stops_and_says_so():
    X, y = two_classes(np.random.default_rng(4), 100, 3)
    gram = Gram(X, RBF(0.3))
    stopped = solve_csvc(gram, y, 5.0, tol=1e-6, max_iter=7)
    assert stopped.n_iter == 7 and not stopped.converged and stopped.kkt_gap > 1e-6
    assert kkt_gap(gram.matrix(), y, stopped.alpha, 5.0) == pytest.approx(stopped.kkt_gap)
    nothing = solve_csvc(gram, y, 5.0, max_iter=0)
    assert nothing.n_iter == 0 and (nothing.alpha == 0).all() and nothing.kkt_gap == 2


@pytest.mark.parametrize("working_set", WORKING_SETS)
@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 1e6])
def test_extreme_bounds(C, working_set):
    X, y = two_classes(np.random.default_rng(5), 60, 2)
    solution = solve_csvc(Gram(X, RBF(5.0)), y, C, working_set=working_set)
    assert solution.converged and solution.kkt_gap <= 1e-3
    if (
        C <= 1e-3
    ):  # every point of the smaller class is a bounded SV: the threshold is the midpoint of an interval
        assert solution.n_inbound == 0
        K = Gram(X, RBF(5.0)).matrix()
        minus_yG = y - K @ (y * solution.alpha)
        up = np.where(y > 0, solution.alpha < C, solution.alpha > 0)
        low = np.where(y > 0, solution.alpha > 0, solution.alpha < C)
        assert solution.b == pytest.approx((minus_yG[up].max() + minus_yG[low].min()) / 2)


def test_two_points():
    solution = solve_csvc(Gram([[0.0], [2.0]], Linear()), [-1, 1], 100.0, tol=1e-9)
    np.testing.assert_allclose(solution.alpha, [0.5, 0.5])
    assert solution.b == pytest.approx(-1)
    np.testing.assert_allclose(solution.decision, [-1, 1])


def test_identical_points_of_both_classes():
    solution = solve_csvc(Gram(np.ones((6, 2)), RBF(1.0)), [-1, 1, -1, 1, -1, 1], 2.0)
    np.testing.assert_array_equal(solution.alpha, 2.0)
    np.testing.assert_array_equal(solution.decision, 0.0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (dict(y=[0, 1, 1, 0]), r"y\b.* \[0, 1\]"),
        (dict(y=[1, 1, 1, 1]), "y must hold both classes"),
        (dict(y=[1, -1]), r"y\b.* \(2,\)"),
        (dict(C=0), r"C\b.* 0\b"),
        (dict(C=-1.5), r"C\b.* -1.5\b"),
        (dict(C=np.inf), r"C\b.* inf\b"),
        (dict(C=[1, 1, -2, 1]), r"C\b.* -2.0 at point 2\b"),
        (dict(C=[1, 0, 1, 0]), r"both classes among the points with C > 0"),
        (dict(C=[1, 1]), r"C\b.* shape \(2,\)"),
        (dict(tol=0), r"tol\b.* 0\b"),
        (dict(working_set="third"), r"working_set\b.* 'third'"),
        (dict(max_iter=-1), r"max_iter\b.* -1\b"),
        (dict(start=[0, 0, 0]), r"start\b.* \(3,\)"),
        (dict(start=[0, 0, 9, 0]), r"start\b.* 9.0 at point 2\b"),
        (dict(start=[0.5, 0, 0, 0]), r"start\b.* 0.5\b"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    gram = Gram([[0.0], [1.0], [2.0], [3.0]], Linear())
    with pytest.raises(ValueError, match=sentence):
        solve_csvc(gram, **{"y": [1, -1, 1, -1], "C": 1.0, **arguments})


class TestPublishedIterationCounts:
    """Cold folds of ten on real data take as many steps as LIBSVM's, which Wen et al. (2017) printed."""

    @staticmethod
    def fold_of_ten(y):
        """Everything but a tenth of each class."""
        keep = np.ones(len(y), dtype=bool)
        for label in (-1, 1):
            points = np.random.default_rng(0).permutation(np.flatnonzero(y == label))
            keep[points[: len(points) // 10]] = False
        return np.flatnonzero(keep)

    def solve(self, dataset, C, gamma, memory_mb):
        keep = self.fold_of_ten(dataset.y)
        gram = Gram(dataset.X[keep], RBF(gamma), dtype="float32", memory_mb=memory_mb)
        return solve_csvc(gram, dataset.y[keep], C, active_set=False)

    @pytest.mark.slow
    def test_madelon_takes_900_steps(self, real_data):
        solution = self.solve(real_data("madelon"), 1.0, 0.7071, 100)
        assert solution.converged and solution.n_iter == 900

    @pytest.mark.slow
    def test_adult(self, real_data):
        solution = self.solve(real_data("adult"), 100.0, 0.5, 4000)
        assert solution.converged and solution.n_iter == pytest.approx(39_757, rel=0.02)

    def test_heart_agrees_with_libsvm(self, real_data):
        data = real_data("heart-statlog")
        solution = self.solve(data, 2182.0, 0.2, 100)
        keep = self.fold_of_ten(data.y)
        theirs = SVC(C=2182.0, gamma=0.2).fit(data.X[keep], data.y[keep])
        assert solution.n_iter == pytest.approx(theirs.n_iter_[0], rel=0.02)

    @pytest.mark.slow
    def test_webdata(self, real_data):
        solution = self.solve(real_data("webdata"), 64.0, 7.8125, 9000)
        assert solution.converged and solution.n_iter == pytest.approx(78_321, rel=0.02)
