"""Each seed against a slow obvious version of it, and feasible on everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import two_classes

from svmselect import RBF, Gram, Linear, solve_csvc, stratified_folds
from svmselect.cv.seeds import ato as ato_module
from svmselect.cv.seeds import mir as mir_module
from svmselect.cv.seeds.ato import Path, ato, constrained_cg, solve_directly
from svmselect.cv.seeds.mir import least_squares, mir
from svmselect.cv.seeds.replace import avg, sir, top
from svmselect.cv.seeds.transition import Transition
from svmselect.solver.feasible import balanced

CHAINED = {"ato": ato, "mir": mir, "sir": sir}  # some points always enter
FROM_FULL = {"avg": avg, "top": top}
TOL = 1e-3


def transition(gram, y, C, leaves, enters, tol=TOL, rng=0):
    """From the solution without the points that enter."""
    C = np.broadcast_to(np.asarray(C, dtype=float), y.shape).copy()
    leaves, enters = np.asarray(leaves, dtype=np.intp), np.asarray(enters, dtype=np.intp)
    bound = C.copy()
    bound[enters] = 0
    solution = solve_csvc(gram, y, bound, tol=tol, max_iter=100_000)
    f = solution.decision - solution.b - y
    return Transition(
        gram, y, C, solution.alpha * y, f, -solution.b, leaves, enters, tol, np.random.default_rng(rng)
    )


def example(seed=0, m=60, kernel=None, C=2.0, k=5, gap=1.0, tol=TOL):
    """From fold 0 held out to fold 1 held out."""
    X, y = two_classes(np.random.default_rng(seed), m, 3, gap=gap)
    folds = stratified_folds(y, k, seed)
    gram = Gram(X, kernel or RBF(0.5))
    return transition(gram, y, C, np.flatnonzero(folds == 1), np.flatnonzero(folds == 0), tol), gram.matrix()


def check_feasible(change, theta):
    alpha = theta * change.y
    bound = change.C.copy()
    bound[change.leaves] = 0
    assert (alpha >= 0).all() and (alpha <= bound).all()
    assert abs(theta.sum()) <= 1e-13 * max(np.abs(theta).sum(), bound.max())
    # on a bound or clearly inside: nothing in between is taken for in-bound
    inside = (alpha > 0) & (alpha < bound)
    assert (alpha[inside] > 1e-13 * bound[inside]).all()
    assert (bound[inside] - alpha[inside] > 1e-13 * bound[inside]).all()


@st.composite
def transitions(draw, least):
    """Random and nasty problems, with points that leave and enter drawn at random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(6, 40))
    X, y = two_classes(rng, m, draw(st.integers(1, 4)), gap=draw(st.sampled_from([0.0, 1.0, 6.0])))
    kind = draw(st.sampled_from(["plain", "duplicates", "constant", "grid", "identical"]))
    if kind == "duplicates":
        X[m // 2 :] = X[: m - m // 2]
    elif kind == "constant":
        X[:, 0] = 1.0
    elif kind == "grid":
        X = np.round(X)
    elif kind == "identical":
        X[:] = X[0]
    y[:6] = 1, -1, 1, -1, 1, -1
    C = draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0, 1e4]))
    if draw(st.booleans()):
        C = C * rng.uniform(0.1, 1, size=m)
    kernel = draw(st.sampled_from([Linear(), RBF(0.01), RBF(1.0), RBF(1e4)]))
    # the first two points are in both training sets
    rest = 2 + rng.permutation(m - 2)
    n_leaves, n_enters = draw(st.integers(1, (m - 2) // 2)), draw(st.integers(least, (m - 2) // 2))
    gram = Gram(X, kernel, dtype=draw(st.sampled_from(["float64", "float32"])))
    return transition(gram, y, C, np.sort(rest[:n_leaves]), np.sort(rest[n_leaves:][:n_enters]))


@given(change=transitions(least=1), name=st.sampled_from(sorted(CHAINED)))
@settings(deadline=None, max_examples=150)
def test_seeds_of_the_chain_are_feasible(change, name):
    check_feasible(change, CHAINED[name](change).theta)


@given(change=transitions(least=0), name=st.sampled_from(sorted(FROM_FULL)))
@settings(deadline=None, max_examples=100)
def test_seeds_from_the_full_solution_are_feasible(change, name):
    check_feasible(change, FROM_FULL[name](change).theta)


@given(data=st.data())
@settings(deadline=None, max_examples=200)
def test_balanced_moves_by_one_amount(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    m = data.draw(st.integers(2, 30))
    y = np.where(rng.random(m) < 0.5, -1.0, 1.0)
    y[:2] = 1, -1
    C = rng.uniform(0.1, 2, size=m) * 10.0 ** rng.integers(-3, 4)
    lo, hi = np.where(y > 0, 0, -C), np.where(y > 0, C, 0)
    target = rng.uniform(-0.5, 1.5, size=m) * C * y
    first = rng.permutation(m)[: rng.integers(0, m + 1)]
    theta = balanced(target, lo, hi, first)
    assert (theta >= lo).all() and (theta <= hi).all()
    assert abs(theta.sum()) <= 1e-13 * np.abs(theta).sum() + 1e-300
    for points in (first, np.setdiff1d(np.arange(m), first)):
        amount = (theta - np.clip(target, lo, hi))[points]
        free = (theta[points] > lo[points]) & (theta[points] < hi[points])
        scale = 1e-9 * C.max()
        if free.any():
            assert np.ptp(amount[free]) <= scale
            # and the others moved as far as they could in that direction
            assert (np.abs(amount) <= np.abs(amount[free]).max() + scale).all()
    rest = np.setdiff1d(np.arange(m), first)
    if (np.abs(theta - np.clip(target, lo, hi))[rest] > 1e-9 * C.max()).any():
        # the others move only when the first have no room left
        inside = (theta[first] > lo[first]) & (theta[first] < hi[first])
        assert not inside.any()


@pytest.mark.parametrize("seed", range(5))
def test_sir_is_a_double_loop(seed):
    change, K = example(seed)
    y, theta = change.y, change.theta.copy()
    theta[change.leaves] = 0
    used, unmatched = set(), 0
    for p in change.leaves:
        if change.theta[p] == 0:
            continue
        best = None
        for t in change.enters:
            if y[t] == y[p] and t not in used and (best is None or K[p, t] > K[p, best]):
                best = t
        if best is None:
            unmatched += 1
            continue
        used.add(best)
        theta[best] = change.theta[p]
    assert unmatched == 0
    shift = sir(change).theta - theta
    # the repair moves points that enter, all that are not cut off by one amount
    rest = np.setdiff1d(np.arange(y.size), change.enters)
    np.testing.assert_allclose(shift[rest], 0, atol=1e-12)
    np.testing.assert_allclose(theta + shift, change.feasible(theta, change.enters), atol=1e-12)


def test_sir_uses_the_other_class_where_one_has_no_points_left():
    X, y = two_classes(np.random.default_rng(1), 40, 2, gap=0.0)
    plus, minus = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    change = transition(Gram(X, RBF(100.0)), y, 1e3, plus[:5], np.append(plus[5:9], minus[:3]))
    assert (change.theta[plus[:5]] > 0).all()
    theta = sir(change).theta
    check_feasible(change, theta)
    assert np.count_nonzero(theta[plus[5:9]]) == 4 and np.count_nonzero(theta[minus[:3]]) == 1
    # which one is drawn
    drawn = set()
    for rng in range(20):
        again = transition(change.gram, y, 1e3, change.leaves, change.enters, rng=rng)
        drawn.update(np.flatnonzero(sir(again).theta[minus[:3]]))
    assert drawn == {0, 1, 2}


def test_top_pours_into_the_most_similar():
    change, K = example(3, C=0.7)
    lo, hi = change.box
    theta = change.theta.copy()
    theta[change.leaves] = 0
    for p in change.leaves:
        rest = change.theta[p]
        for t in sorted(range(theta.size), key=lambda t: -K[p, t]):
            part = min(hi[t] - theta[t], rest) if rest > 0 else max(lo[t] - theta[t], rest)
            theta[t] += part
            rest -= part
        assert rest == 0
    np.testing.assert_allclose(top(change).theta, theta, atol=1e-12)


@pytest.mark.parametrize("C", [0.3, 5.0])
def test_avg_spreads_again_what_the_boxes_cut_off(C):
    X, y = two_classes(np.random.default_rng(2), 50, 2)
    full = transition(Gram(X, RBF(0.5)), y, C, [], [])
    for r in np.flatnonzero(full.theta)[:10]:
        change = transition(full.gram, y, C, [r], [])
        lo, hi = change.box
        theta, rest = change.theta.copy(), change.theta[r]
        theta[r] = 0
        active = [t for t in np.flatnonzero(change.inbound) if t != r]
        while abs(rest) > 1e-13 and active:
            share = rest / len(active)
            for t in active:
                part = np.clip(share, lo[t] - theta[t], hi[t] - theta[t])
                theta[t] += part
                rest -= part
            active = [t for t in active if lo[t] < theta[t] < hi[t]]
        if abs(rest) <= 1e-13:
            np.testing.assert_allclose(avg(change).theta, theta, atol=1e-10)


@pytest.mark.parametrize("kernel", [RBF(0.5), RBF(1e-3), RBF(1e3), Linear()])
@pytest.mark.parametrize("duplicates", [False, True])
def test_mir_is_the_least_squares_solution(kernel, duplicates):
    X, y = two_classes(np.random.default_rng(4), 60, 3)
    folds = stratified_folds(y, 5)
    leaves, enters = np.flatnonzero(folds == 1), np.flatnonzero(folds == 0)
    if duplicates:
        X[enters[1::2]] = X[enters[::2][: enters[1::2].size]]
    gram = Gram(X, kernel)
    change = transition(gram, y, 1.5, leaves, enters)
    K, X_old = gram.matrix(), np.setdiff1d(np.arange(y.size), enters)
    df = np.where((change.theta != 0) & (np.abs(change.theta) < 1.5), change.level - change.f, 0)[X_old]
    A = np.vstack([K[np.ix_(X_old, enters)], np.ones(enters.size)])
    b = np.append(df + K[np.ix_(X_old, leaves)] @ change.theta[leaves], change.theta[leaves].sum())
    theta = change.theta.copy()
    theta[leaves] = 0
    # singular values that are round-off are no part of the pseudo-inverse
    theta[enters] = np.linalg.lstsq(A, b, rcond=1e-12)[0]
    np.testing.assert_allclose(mir(change).theta, change.feasible(theta, enters), atol=1e-6)


@pytest.mark.parametrize("rank", [12, 7])
@pytest.mark.parametrize("noise, condition", [(1e-12, 1e1), (1e-12, 1e7), (1e-4, 1e1), (1e-4, 1e2)])
@pytest.mark.parametrize("panel", [5, 2048])
def test_least_squares(rank, noise, condition, panel, monkeypatch):
    monkeypatch.setattr(mir_module, "PANEL", panel)
    rng = np.random.default_rng(5)
    scales = np.geomspace(1, 1 / condition, rank)
    A = rng.normal(size=(80, rank)) * scales @ rng.normal(size=(rank, 12))
    A[20:40:2] = A[50:60] = 0
    b, weight = rng.normal(size=80), rng.uniform(1, 2, size=12)
    x = least_squares(A, b, 3.0, weight, noise)
    whole = np.vstack([A * weight, weight])
    expected = np.linalg.lstsq(whole, np.append(b, 3.0), rcond=noise)[0]
    np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_least_squares_of_a_noisy_matrix():
    # singular values that fall off to the rounding of float32, as those of a kernel matrix
    rng = np.random.default_rng(6)
    points = rng.normal(size=(1500, 2))
    A = Gram(points, RBF(0.05), dtype="float32").submatrix(np.arange(1500), np.arange(60))
    b = A @ rng.normal(size=60) + 0.1 * rng.normal(size=1500)
    noise = np.finfo(np.float32).eps * np.sqrt(1500)
    x = least_squares(A, b, 0.0, np.ones(60), noise)
    whole, b = np.vstack([A, np.ones(60)]).astype(float), np.append(b, 0.0)
    expected = np.linalg.lstsq(whole, b, rcond=noise)[0]
    left, expected_left = (np.linalg.norm(whole @ v - b) for v in (x, expected))
    assert np.linalg.matrix_rank(whole, rtol=noise) < 40
    assert left == pytest.approx(expected_left, rel=0.02)
    assert np.linalg.norm(x) < 2 * np.linalg.norm(expected)


@pytest.mark.parametrize("C", [0.5, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_ato_follows_the_optimal_path(seed, C, monkeypatch):
    # from an exact solution the in-bound points of both training sets stay on the level
    change, K = example(seed, m=50, C=C, tol=1e-9)
    path = Path(change)
    for _ in range(40):
        before = path.theta.copy()
        if not path.step():
            break
        np.testing.assert_allclose(path.f, K @ path.theta - change.y, atol=1e-7 * C)
        assert abs(path.theta.sum()) < 1e-9 * C
        np.testing.assert_allclose(path.f[path.tied], path.level, atol=1e-7 * C)
        # T grows, R shrinks
        grown = np.abs(path.theta) - np.abs(before)
        assert (grown[change.enters][~path.shared[change.enters]] >= 0).all()
        assert (grown[change.leaves] <= 0).all()
        # shared points at a bound do not violate their condition
        lo, hi = np.where(change.y > 0, 0, -C), np.where(change.y > 0, C, 0)
        gap = (path.f - path.level)[path.shared]
        theta, lo, hi = path.theta[path.shared], lo[path.shared], hi[path.shared]
        assert (gap[theta == lo] >= -1e-6 * C).all() and (gap[theta == hi] <= 1e-6 * C).all()
    assert path.steps > 0


def test_ato_direction_is_the_dense_solution():
    change, K = example(7, m=50, C=3.0, tol=1e-9)
    path = Path(change)
    tied, rest = np.flatnonzero(path.tied), np.flatnonzero(~path.tied)
    d = np.zeros(50)
    d[path.moving] = (change.y * 3.0 - path.theta)[path.moving]
    d[change.leaves] = -path.theta[change.leaves]
    bordered = np.ones((tied.size + 1, tied.size + 1))
    bordered[0, 0], bordered[1:, 1:] = 0, K[np.ix_(tied, tied)]
    expected = np.linalg.solve(bordered, -np.append(d.sum(), K[np.ix_(tied, rest)] @ d[rest]))
    before = path.theta.copy()
    path.step()
    moved = (path.theta - before)[tied]
    eta = (moved @ expected[1:]) / (expected[1:] @ expected[1:])
    assert 0 < eta <= 1
    np.testing.assert_allclose(moved, eta * expected[1:], atol=1e-8)


@pytest.mark.parametrize("rank", [30, 11])
def test_systems_of_ato(rank, monkeypatch):
    monkeypatch.setattr(ato_module, "CG_TOLERANCE", 1e-4)
    rng = np.random.default_rng(8)
    B = rng.normal(size=(30, rank))
    K, d = B @ B.T, rng.normal(size=30)
    pull, total = 2.0 - K @ d, -d.sum()
    direct = solve_directly(K, pull, total)
    x, level, _, residual = constrained_cg(lambda v: K @ v, pull, total, 1.0)
    assert residual <= 1e-4
    np.testing.assert_allclose(K @ x - level, -pull, atol=1e-3 * np.linalg.norm(pull))
    assert x.sum() == pytest.approx(-total)
    if rank == 30:
        np.testing.assert_allclose(direct[0], d, atol=1e-6)
        assert direct[1] == pytest.approx(2.0, abs=1e-6)
        np.testing.assert_allclose(x, d, atol=0.05 * np.abs(d).max())
    else:
        assert direct is None


def test_ato_by_conjugate_gradients_is_ato(monkeypatch):
    change, _ = example(9, m=120, C=5.0)
    direct = ato(change)
    assert direct.cg_iterations == 0 and direct.steps > 0
    monkeypatch.setattr(ato_module, "solve_directly", lambda K, pull, total: None)
    monkeypatch.setattr(ato_module, "RIDGE", 0.0)
    monkeypatch.setattr(ato_module, "CG_TOLERANCE", 1e-10)
    iterative = ato(change)
    assert iterative.cg_iterations > 0 and iterative.cg_residual <= 1e-10
    # float products against float64 factors: the same events, up to those that are as good as simultaneous
    np.testing.assert_allclose(iterative.theta, direct.theta, atol=1e-5)
    monkeypatch.setattr(ato_module, "BLOCK_BYTES", 0)
    np.testing.assert_allclose(ato(change).theta, iterative.theta, atol=1e-6)


def test_a_system_with_two_copies_of_a_row_is_singular():
    """Whatever rounding makes of its last pivot, and however alike the diagonal is."""
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(12, 3))
        K = Gram(np.vstack([X, X[5]]), RBF(0.5)).matrix()
        assert solve_directly(K, np.ones(13), 0.0) is None


@pytest.mark.parametrize("block_bytes", [2**30, 0])
def test_systems_that_are_not_factored_have_a_ridge(block_bytes, monkeypatch):
    change, K = example(11, m=120, C=5.0)
    path = Path(change)
    path.exact = False
    monkeypatch.setattr(ato_module, "CG_TOLERANCE", 1e-9)
    monkeypatch.setattr(ato_module, "BLOCK_BYTES", block_bytes)
    tied = np.flatnonzero(path.tied)
    pull = np.random.default_rng(12).normal(size=tied.size)
    d, level = path.follow(tied, pull, 0.3)
    with_ridge = K[np.ix_(tied, tied)] + ato_module.RIDGE * np.eye(tied.size)
    np.testing.assert_allclose(with_ridge @ d - level, -pull, atol=1e-7)
    assert d.sum() == pytest.approx(-0.3) and tied.size > 20
    assert path.cg_iterations > 0 and path.cg_residual <= 1e-9


@pytest.mark.parametrize("C", [2.0, 20.0])
def test_ato_goes_all_the_way(C):
    X, y = two_classes(np.random.default_rng(10), 600, 4, gap=0.7)
    folds = stratified_folds(y, 5)
    change = transition(Gram(X, RBF(1.0)), y, C, np.flatnonzero(folds == 1), np.flatnonzero(folds == 0))
    path = Path(change)
    while path.step():
        pass
    # some points that enter end at the bound, where eta is 1
    assert path.moving.any() and not path.theta[change.leaves].any()
    # the solution of the next problem
    bound = np.where(folds == 1, 0, C)
    cold = solve_csvc(change.gram, y, bound, active_set=False)
    seeded = solve_csvc(change.gram, y, bound, active_set=False, start=ato(change).theta * y)
    assert seeded.n_iter < 0.02 * cold.n_iter
    assert seeded.objective == pytest.approx(cold.objective, rel=1e-4)


@pytest.mark.parametrize("C", [0.5, 2.0])
def test_long_steps_of_ato(C, monkeypatch):
    monkeypatch.setattr(ato_module, "MOST_TIED", -1)
    X, y = two_classes(np.random.default_rng(10), 600, 4, gap=0.7)
    folds = stratified_folds(y, 5)
    change = transition(Gram(X, RBF(1.0)), y, C, np.flatnonzero(folds == 1), np.flatnonzero(folds == 0))
    K, path = change.gram.matrix(), Path(change)
    while path.step():
        np.testing.assert_allclose(path.f, K @ path.theta - y, atol=1e-8 * C)
        assert (path.theta >= path.lo).all() and (path.theta <= path.hi).all()
    assert path.cg_iterations > 0 and path.cg_residual <= ato_module.CG_TOLERANCE
    seed = ato(change)
    check_feasible(change, seed.theta)
    assert 0 < seed.steps <= ato_module.LONG_STEPS
    bound = np.where(folds == 1, 0, C)
    cold = solve_csvc(change.gram, y, bound, active_set=False)
    seeded = solve_csvc(change.gram, y, bound, active_set=False, start=seed.theta * y)
    assert seeded.n_iter < cold.n_iter
    assert seeded.objective == pytest.approx(cold.objective, rel=1e-4)


@given(change=transitions(least=1))
@settings(deadline=None, max_examples=60)
def test_long_steps_are_feasible(change):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ato_module, "MOST_TIED", -1)
        check_feasible(change, ato(change).theta)
