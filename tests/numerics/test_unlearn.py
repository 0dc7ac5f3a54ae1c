"""Leave-one-out by unlearning against brute force, point by point, on random and nasty problems."""

import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, nasty, two_classes
from scipy.sparse import csr_array
from sklearn.svm import SVC
from svmselect.solver._smo import Dual
from svmselect.unlearning._certify import certain_at_once
from svmselect.unlearning._paths import Outcome

from svmselect import RBF, Gram, Linear, leave_one_out, solve_csvc
from svmselect.loo import _retrain
from svmselect.solver import _active_set
from svmselect.unlearning import points as points_module
from svmselect.unlearning.points import donors_of, unlearn_points
from svmselect.unlearning.tableau import Tableau

TIE = 1e-6
STEPS = 20_000
KERNELS = [Linear(), RBF(0.01), RBF(1.0), RBF(50.0)]


@pytest.fixture(autouse=True, scope="module")
def paths_alone():
    """Every point that no check resolves has its path: few steps would decide most of such small problems."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_retrain, "SWEEPS", ())
        yield


def retrained(gram, y, C, points):
    """Decision values of left-out points by tight training with C_r = 0, nan where that ran out of steps."""
    C = np.broadcast_to(C, y.shape)
    decision = np.empty(len(points))
    for k, r in enumerate(points):
        without = np.where(np.arange(len(y)) == r, 0.0, C)
        if np.unique(y[without > 0]).size < 2:  # the classifier says the class that is left
            decision[k] = -y[r]
            continue
        solution = solve_csvc(gram, y, without, tol=1e-9, max_iter=STEPS)
        decision[k] = solution.decision[r] if solution.converged else np.nan
    return decision


def check_errors(loo, gram, y, C):
    """Compares every point that no sufficiency check resolved; the number compared."""
    solved = np.flatnonzero(~np.char.startswith(loo.resolved_by, "check"))
    decision = retrained(gram, y, C, solved)
    # what rounding of the kernel values does to f; beyond it the rounded matrix need not have one solution
    rounding = np.finfo(gram.dtype).eps * gram.diagonal.max() * loo.solution.alpha.sum()
    comparable = np.abs(decision) > TIE + rounding  # nan is not
    wrong = comparable & (loo.errors[solved] != ((decision >= 0) != (y[solved] > 0)))
    assert not wrong.any(), [
        (int(r), str(loo.resolved_by[r]), loo.decision[r], d)
        for r, d in zip(solved[wrong], decision[wrong], strict=True)
    ]
    return np.count_nonzero(comparable)


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(2, 24),
    d=st.integers(1, 4),
    kernel=st.sampled_from(KERNELS),
    C=st.sampled_from([1e-6, 0.1, 1.0, 20.0, 1e6]),
    weighted=st.booleans(),
    dtype=st.sampled_from(["float64", "float64", "float32"]),
)
@example(seed=521, m=24, d=3, kernel=Linear(), C=1e6, weighted=True, dtype="float32")
@settings(deadline=None, max_examples=30)
def test_errors_are_those_of_retraining(kind, seed, m, d, kernel, C, weighted, dtype):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, m, d)
    if weighted:
        C = C * rng.choice([0.2, 0.5, 1.0], size=m)
    gram = Gram(X, kernel, dtype=dtype)
    loo = leave_one_out(gram, y, C, tol=1e-8, max_iter=STEPS)
    if loo.n_not_converged == 0:
        check_errors(loo, gram, y, C)


def test_hard_problems_are_compared():
    """The kinds above do leave points to compare, whatever the kernel and C."""
    for kernel in KERNELS:
        for kind in KINDS:
            compared = 0
            for C in (0.1, 1.0, 20.0):
                X, y = nasty(np.random.default_rng(5), kind, 24, 2)
                gram = Gram(X, kernel)
                compared += check_errors(leave_one_out(gram, y, C, tol=1e-8), gram, y, C)
            # where one class has one point, every other one is right without a path
            assert compared >= (1 if kind == "one point of a class" else 5), (kernel, kind, compared)


@given(
    kind=st.sampled_from(["plain", "duplicates", "lattice", "constant feature", "zero rows"]),
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(4, 40),
    kernel=st.sampled_from(KERNELS),
    C=st.sampled_from([0.1, 1.0, 20.0]),
    weighted=st.booleans(),
)
@settings(deadline=None, max_examples=150)
def test_a_certain_sign_is_the_sign_at_the_end_of_the_path(kind, seed, m, kernel, C, weighted):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, m, 2)
    C = C * rng.uniform(0.2, 1, size=m) if weighted else np.full(m, C)
    gram = Gram(X, kernel)
    full = Dual(gram, y)
    full.boxes(y, C)
    assert _active_set.solve(full, "wss2", 1e-10, 10**6)
    points = np.flatnonzero(full.arrays()[0])
    stopped, outcome = unlearn_points(full, y, points, np.zeros(points.size), None)
    end, outcome_end = unlearn_points(full, y, points, np.zeros(points.size), None, stop=False)
    assert not (outcome_end == Outcome.CERTAIN).any()
    followed = outcome_end == Outcome.REACHED
    certain = followed & (outcome == Outcome.CERTAIN)
    assert (np.sign(stopped[certain]) == np.sign(end[certain])).all()
    # y f(x) only falls on the way, and ends where retraining does
    assert (y[points] * (end - stopped) <= 1e-8 * np.maximum(1, np.abs(stopped)))[certain].all()
    decision = retrained(gram, y, C, points)
    exact = followed & ~np.isnan(decision)
    np.testing.assert_allclose(end[exact], decision[exact], atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(5.0)])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_no_path_of_a_plain_problem_is_given_up(kernel, C):
    """Nor is its end contradicted by the Gram matrix: training anew would hide that a path is wrong."""
    for seed in range(7):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(6, 40))
        X, y = two_classes(rng, m, 2, gap=rng.choice([0.0, 1.0, 4.0]))
        gram = Gram(X, kernel)
        for bound in (np.full(m, C), C * rng.uniform(0.2, 1, size=m)):
            full = Dual(gram, y)
            full.boxes(y, bound)
            assert _active_set.solve(full, "wss2", 1e-10, 10**6)
            points = np.flatnonzero(full.arrays()[0])
            for retained in (np.zeros(points.size), 0.3 * np.abs(full.arrays()[0][points])):
                for stop in (True, False):
                    _, outcome = unlearn_points(full, y, points, retained, None, stop=stop)
                    assert (outcome != Outcome.UNDECIDED).all(), seed


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3)])
@pytest.mark.parametrize("stop", [True, False])
def test_paths_that_look_at_few_rows_end_where_those_do_that_look_at_all(kernel, stop, monkeypatch):
    """With so few rows in view many paths pass an event unseen: the rows out of view have to tell."""
    unseen = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = two_classes(rng, 80, 2, gap=rng.choice([0.5, 2.0]))
        full = Dual(Gram(X, kernel), y)
        full.boxes(y, rng.uniform(0.2, 2, size=80))
        assert _active_set.solve(full, "wss2", 1e-10, 10**6)
        points = rng.permutation(np.flatnonzero(full.arrays()[0]))[:6]
        nothing = np.zeros(points.size)
        expected, outcome = unlearn_points(full, y, points, nothing, None, stop)
        near = np.union1d(points, np.argsort(np.abs(full.arrays()[1] + full.state()[2]))[:12])
        theta, _, lo, hi = full.arrays()
        outside = np.setdiff1d(near, np.flatnonzero((lo < theta) & (theta < hi)))
        _, outcome_of_few = points_module.follow_paths(full, y, points, nothing, None, stop, outside)
        unseen += np.count_nonzero(outcome_of_few[outcome != Outcome.UNDECIDED] == Outcome.UNDECIDED)
        for name, value in (("MANY", 1), ("FEW_INBOUND", 2), ("NEAR_SHARE", 10)):
            monkeypatch.setattr(points_module, name, value)
        assert points_module.near_rows(full, points) is not None
        decision, outcome_of_both = unlearn_points(full, y, points, nothing, None, stop)
        monkeypatch.undo()
        np.testing.assert_array_equal(outcome_of_both, outcome)
        np.testing.assert_allclose(decision, expected, rtol=1e-9, atol=1e-9)
    assert unseen > 0


def test_paths_from_a_loose_solution_are_held_against_its_own_gap():
    X, y = two_classes(np.random.default_rng(13), 60, 3)
    full = Dual(Gram(X, RBF(0.5)), y)
    full.boxes(y, np.full(60, 5.0))
    full.solve("wss2", 1e-4, 10**6)
    assert full.gap_now() > 1e-6
    points = np.flatnonzero(full.arrays()[0])
    _, outcome = unlearn_points(full, y, points, np.zeros(points.size), None)
    assert np.count_nonzero(outcome == Outcome.UNDECIDED) < 0.1 * points.size


def test_points_that_need_no_path_are_those_of_the_bound():
    """``h > (c L^2 / 2 + sigma L) / (L - t)`` (see `leave_one_out`), from dense systems."""
    seen = []
    for seed, C in ((0, 0.5), (1, 5.0), (2, 50.0)):
        rng = np.random.default_rng(seed)
        X, y = two_classes(rng, 40, 2, gap=1.5)
        gram = Gram(X, RBF(0.5))
        full = Dual(gram, y)
        full.boxes(y, C * rng.uniform(0.5, 1, size=40))
        assert _active_set.solve(full, "wss2", 1e-11, 10**6)
        theta, f, lo, hi = full.arrays()
        inbound = np.flatnonzero((lo < theta) & (theta < hi))
        tableau = Tableau(gram, inbound)
        order, s = tableau.order, tableau.s
        y, theta, g, lo, hi = (values[order] for values in (y, theta, f + full.state()[2], lo, hi))
        g[:s] = 0
        K = gram.matrix()[np.ix_(order, order)]
        points = np.flatnonzero(theta)
        retained = np.where(rng.random(points.size) < 0.3, 0.4 * np.abs(theta[points]), 0)
        x, _, bend = tableau.response(points)
        slack = np.zeros(40)
        boxes = theta, g, lo, hi, slack
        most = (np.abs(theta[points]) - retained).max()
        donors = [donors_of(tableau, sign, *boxes, most) for sign in (1, -1)]
        result = certain_at_once(points, retained, x, bend, y, *boxes, K.diagonal().copy(), 0.0, donors)
        for k, r in enumerate(points):
            S = np.setdiff1d(np.arange(s), r)
            d = np.zeros(40)
            d[r] = -y[r]
            bordered = np.block(
                [[np.zeros((1, 1)), np.ones((1, S.size))], [np.ones((S.size, 1)), K[np.ix_(S, S)]]]
            )
            d[S] = np.linalg.solve(bordered, -np.append(d[r], K[S, r] * d[r]))[1:]
            reach = np.where(d > 0, hi - theta, theta - lo)[S] / np.abs(d[S])
            t = abs(theta[r]) - retained[k]
            h = 1 + y[r] * g[r]
            room = min(2 * t, reach.min())
            margins = [h * (room - t) - 0.5 * (d @ K @ d) * room**2 if room > t else -np.inf]
            # what goes to the donors instead, in proportion to their room but for r's own
            give = np.where(np.arange(40) == r, 0, donors[0 if y[r] > 0 else 1].room)
            p = y[r] * give / give.sum()
            p[r] = -y[r]
            for length in [min(f * t, give.sum()) for f in (2, 1.5, 1.25) if give.sum() > t]:
                for mix in np.linspace(0, 1, 2001):
                    v = (1 - mix) * d + mix * p
                    moved = theta + length * v
                    if ((lo <= moved + 1e-9) & (moved <= hi + 1e-9))[np.arange(40) != r].all():
                        break
                else:
                    continue
                curvature = (1 - mix) * (d @ K @ d) + mix * (p @ K @ p)
                assert curvature >= v @ K @ v - 1e-9
                slope = v @ np.where(np.arange(40) == r, 0, g)
                assert slope >= -1e-9
                margins.append(h * (length - t) - 0.5 * curvature * length**2 - slope * length)
            # the mixture is found to 1/2,000, and the cost of r's own room is counted
            if min(abs(margin) for margin in margins) > 0.01 * t:
                assert result[k] == (max(margins) > 0), (seed, r)
                seen.append((bool(result[k]), bool(r < s), bool(margins[0] > 0)))
    # in S or not, by the path's own direction or only by the donors'
    assert {(True, in_S, entry) for in_S in (True, False) for entry in (True, False)} <= set(seen)
    assert (False, False, False) in seen and (False, True, False) in seen
    assert len(seen) > 50


def test_most_points_need_no_end():
    """The bound is worth having: on overlapping classes most signs are certain before alpha is 0."""
    X, y = two_classes(np.random.default_rng(2), 200, 4, gap=1.0)
    loo = leave_one_out(Gram(X, RBF(0.3)), y, 5.0)
    assert loo.n_retrained == 0
    assert loo.n_certified > 0.6 * loo.n_solved > 30


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.1), RBF(2.0)])
@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
def test_errors_are_those_of_libsvm(kernel, C):
    X, y = two_classes(np.random.default_rng(3), 60, 3, gap=1.2)
    gram = Gram(X, kernel)
    loo = leave_one_out(gram, y, C)
    K = np.array(gram.matrix())
    compared = 0
    for r in np.flatnonzero(loo.solution.alpha > 0):
        keep = np.arange(60) != r
        model = SVC(C=C, kernel="precomputed", tol=1e-8, max_iter=10**6).fit(K[np.ix_(keep, keep)], y[keep])
        decision = model.decision_function(K[[r]][:, keep])[0]
        if model.n_iter_[0] < 10**6 and abs(decision) > 1e-5:
            assert loo.errors[r] == ((decision >= 0) != (y[r] > 0)), (r, decision, loo.decision[r])
            compared += 1
    assert compared >= 0.9 * loo.solution.n_sv


@pytest.mark.parametrize("C", [1e3, 1e10, 1e14])
def test_a_huge_C_is_a_hard_margin(C):
    """However small its alphas are beside their boxes, a point is not gone before its path is."""
    X, y = two_classes(np.random.default_rng(0), 60, 3, gap=2.0)
    gram = Gram(X, RBF(0.5))
    loo = leave_one_out(gram, y, C)
    assert loo.solution.n_inbound == loo.solution.n_sv and loo.solution.alpha.max() < 100
    assert loo.error > 0.1 and loo.n_retrained == 0
    assert check_errors(loo, gram, y, C) > 15


def test_no_inbound_support_vector():
    X, y = two_classes(np.random.default_rng(4), 30, 2)
    gram = Gram(X, RBF(0.1))
    y[:] = np.where(np.arange(30) % 2, 1.0, -1.0)
    loo = leave_one_out(gram, y, 1e-3)
    assert loo.solution.n_inbound == 0 and loo.n_retrained == 0
    assert check_errors(loo, gram, y, 1e-3) > 10


def test_one_inbound_support_vector():
    X = np.array([[-2.0], [-1.5], [-0.2], [0.3], [1.0], [2.0]])
    y = np.array([-1.0, 1.0, -1.0, 1.0, 1.0, -1.0])
    C = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.5])
    gram = Gram(X, RBF(0.5))
    alone = []
    for scale in (0.01, 0.05, 0.1):
        loo = leave_one_out(gram, y, scale * C)
        alone.append(loo.solution.n_inbound == 1)
        check_errors(loo, gram, y, scale * C)
        assert loo.n_retrained == 0
    assert any(alone)


def test_more_inbound_points_than_dimensions():
    """Symmetric pairs on both margins of a linear classifier: some are in-bound and depend on the others."""
    points = [(1.0, s) for s in (-3.0, -1.0, 1.0, 3.0)] + [(1.5, 0.0), (-0.5, 2.0), (0.5, -2.0)]
    X = np.array(points + [(-a, b) for a, b in points])
    y = np.repeat([1.0, -1.0], len(points))
    gram = Gram(X, Linear())
    # theta of equal size on dependent margin points: as many in-bound as there are, whatever the solver picks
    start = solve_csvc(gram, y, 0.3, tol=1e-10).alpha
    start = 0.25 * (start + start[[3, 2, 1, 0, 4, 5, 6, 10, 9, 8, 7, 11, 12, 13]]) + 0.5 * start
    loo = leave_one_out(gram, y, 0.3, start=start)
    assert loo.solution.n_inbound > 3
    assert check_errors(loo, gram, y, 0.3) > 3
    assert loo.n_retrained == 0


def test_identical_points_have_identical_results():
    """As one point with the sum of their bounds they need one path each; alphas stay in their boxes."""
    X, y = two_classes(np.random.default_rng(6), 25, 2)
    X, y = np.vstack([X, X, X[:9]]), np.concatenate([y, y, y[:9]])
    X[[0, 50], 0], X[25, 0] = 0.0, -0.0
    gram = Gram(X, RBF(0.8))
    for C in (0.5, np.where(np.arange(59) < 40, 2.0, 0.7)):
        loo = leave_one_out(gram, y, C)
        np.testing.assert_array_equal(loo.solution.decision[:25], loo.solution.decision[25:50])
        if np.isscalar(C):
            np.testing.assert_array_equal(loo.errors[:25], loo.errors[25:50])
            np.testing.assert_array_equal(loo.decision[:9], loo.decision[50:])
        exact = solve_csvc(gram, y, C, tol=1e-10)
        assert loo.solution.objective == pytest.approx(exact.objective, rel=1e-9)
        np.testing.assert_allclose(loo.solution.decision, exact.decision, atol=1e-7)
        assert (loo.solution.alpha <= C).all() and (loo.solution.C == C).all()
        assert loo.solution.alpha @ y == pytest.approx(0, abs=1e-9)
        check_errors(loo, gram, y, C)


def test_identical_points_beyond_the_memory_budget():
    X, y = two_classes(np.random.default_rng(10), 90, 2)
    X, y = np.vstack([X, X[:30]]), np.concatenate([y, y[:30]])
    whole = leave_one_out(Gram(X, RBF(0.8)), y, 2.0)
    few = leave_one_out(Gram(X, RBF(0.8), memory_mb=8 * 128 * 8 / 2**20), y, 2.0)
    np.testing.assert_array_equal(whole.errors, few.errors)
    np.testing.assert_array_equal(whole.resolved_by, few.resolved_by)
    np.testing.assert_allclose(whole.decision, few.decision, atol=1e-7)


def test_progress_counts_every_point_of_a_group():
    X, y = two_classes(np.random.default_rng(11), 30, 2)
    X, y = np.vstack([X, X]), np.concatenate([y, y])
    calls = []
    loo = leave_one_out(Gram(X, RBF(0.8)), y, 2.0, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (loo.n_solved, loo.n_solved) and len(calls) > 1
    assert (np.diff([done for done, _ in calls]) > 0).all()


def test_identical_sparse_rows_are_found():
    X, y = two_classes(np.random.default_rng(7), 20, 3)
    X = np.vstack([np.round(X), np.round(X)])
    y = np.concatenate([y, y])
    dense, sparse = (leave_one_out(Gram(rows, RBF(0.5)), y, 1.0) for rows in (X, csr_array(X)))
    np.testing.assert_array_equal(dense.errors, sparse.errors)
    np.testing.assert_array_equal(dense.resolved_by, sparse.resolved_by)


def test_degenerate_paths_are_retrained_and_counted():
    """Points that are identical up to round-off: singular paths are given up, their points solved anew."""
    counted = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = two_classes(rng, 30, 3)
        X[15:] = X[:15] + 1e-10 * rng.normal(size=(15, 3))
        gram = Gram(X, RBF(1.0))
        loo = leave_one_out(gram, y, 10.0, tol=1e-6)
        again = leave_one_out(gram, y, 10.0, method="retrain", tol=1e-6)
        np.testing.assert_array_equal(loo.errors, again.errors)
        assert loo.n_retrained == np.count_nonzero(loo.resolved_by == "retrained")
        assert loo.n_solved == loo.n_retrained + loo.n_certified + np.count_nonzero(
            loo.resolved_by == "unlearned"
        )
        counted += loo.n_retrained
    assert counted > 0


def test_parts_of_the_points_and_of_the_tableau(monkeypatch):
    """How many points and columns are taken at once changes nothing."""
    X, y = two_classes(np.random.default_rng(12), 150, 3)
    gram = Gram(X, RBF(0.5))
    at_once = leave_one_out(gram, y, 3.0)
    module = sys.modules["svmselect.unlearning.points"]
    monkeypatch.setattr(module, "FEW", 5)
    by_demand = leave_one_out(gram, y, 3.0)
    monkeypatch.setattr(module, "KEPT_VALUES", 1)
    in_parts = leave_one_out(gram, y, 3.0)
    assert at_once.n_solved > 30
    for loo in (by_demand, in_parts):
        np.testing.assert_array_equal(loo.resolved_by, at_once.resolved_by)
        np.testing.assert_allclose(loo.decision, at_once.decision, atol=1e-9)


def test_a_full_solution_out_of_steps_is_never_unlearned():
    X, y = two_classes(np.random.default_rng(8), 60, 3)
    loo = leave_one_out(Gram(X, RBF(0.5)), y, 5.0, max_iter=20)
    assert not loo.solution.converged and loo.n_not_converged > 0
    assert not np.isin(loo.resolved_by, ["unlearned", "certified"]).any()


def test_starting_from_the_solution_of_the_former_C():
    X, y = two_classes(np.random.default_rng(9), 120, 4)
    X[100:] = X[:20]
    y[100:] = y[:20]
    gram = Gram(X, RBF(0.2))
    steps = 0
    start = None
    for C in (1.0, 1.5, 2.25, 3.375):
        cold = leave_one_out(gram, y, C)
        warm = leave_one_out(gram, y, C, start=start)
        np.testing.assert_array_equal(warm.errors, cold.errors)
        np.testing.assert_array_equal(warm.resolved_by, cold.resolved_by)
        np.testing.assert_allclose(warm.decision, cold.decision, atol=1e-7)
        steps += (start is not None) * (warm.n_iter - cold.n_iter)
        start = 1.5 * cold.solution.alpha
    assert steps < 0


def test_an_interval_of_thresholds_begins_where_the_path_ends():
    """Without one point both classes are equally many and all at their bounds: the threshold jumps from the
    end of an interval, which the path goes to, to its middle."""
    X, y = nasty(np.random.default_rng(34933558), "constant feature", 11, 3)
    gram = Gram(X, RBF(50.0))
    loo = leave_one_out(gram, y, 0.1, tol=1e-8)
    assert check_errors(loo, gram, y, 0.1) > 0 and loo.errors[10]
