"""Spans, with and without the box, against their definition, an independent solver and leave-one-out."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, features, minimise, nasty, solution_from_alpha, two_classes
from scipy.optimize import linprog

from svmselect import RBF, Gram, Linear, leave_one_out, solve_csvc
from svmselect.bounds import boxed_span, opper_winther, span_bound, span_by_qp, span_rule
from svmselect.bounds.boxed_span import span_exists, spans_by_path, spans_by_solver
from svmselect.bounds.estimate import support_sets

KERNELS = [Linear(), RBF(0.3), RBF(3.0)]


def random_solution(rng, gram, y, share_bounded=0.3, weighted=True):
    """Alphas of all kinds, without regard to the sum."""
    C = rng.uniform(0.5, 2, size=gram.m) if weighted else np.ones(gram.m)
    alpha = C * rng.uniform(0.01, 0.99, size=gram.m)
    alpha[rng.random(gram.m) < 0.2] = 0
    bounded = rng.random(gram.m) < share_bounded
    alpha[bounded] = C[bounded]
    return solution_from_alpha(gram, y, alpha, C)


def squared_hull_distance(rows, p, hull, affine, least):
    """Squared distance of a row from the affine or linear hull of other rows.

    Directions of the hull of length `least` and less do not count.
    """
    if hull.size == 0:
        return np.inf if affine else rows[p] @ rows[p]
    base = rows[hull[0]] if affine else 0
    _, lengths, directions = np.linalg.svd(rows[hull] - base)
    directions = directions[: lengths.size][lengths > least]
    target = rows[p] - base
    return np.sum((target - directions.T @ (directions @ target)) ** 2)


def compare_with_the_definition(gram, solution, squared, affine):
    """Checks every support vector whose hull has a clear dimension; the number of them."""
    rows, scale = features(gram), gram.diagonal.max()
    inbound, bounded = support_sets(solution)
    compared = 0
    for p in [*inbound, *bounded]:
        rest = inbound[inbound != p]
        expected, rough = (
            squared_hull_distance(rows, p, rest, affine, least * scale**0.5) for least in (1e-7, 1e-4)
        )
        if np.isinf(expected) or abs(expected - rough) <= 1e-9 * scale:
            assert squared[p] == pytest.approx(expected, rel=1e-5, abs=1e-4 * scale + 1e-10), p
            compared += 1
    assert np.isnan(np.delete(squared, [*inbound, *bounded])).all()
    return compared


# near duplicates make the dimension of a hull a matter of opinion, and interior-point solvers give up on them
CLEAR = [kind for kind in KINDS if kind != "near duplicates"]


@pytest.mark.parametrize("kind", CLEAR)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(2, 20),
    d=st.integers(2, 5),
    kernel=st.sampled_from(KERNELS),
    share_bounded=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
)
@settings(deadline=None, max_examples=25)
def test_distances_are_those_of_the_definition(kind, seed, m, d, kernel, share_bounded):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, m, d)
    gram = Gram(X, kernel)
    solution = random_solution(rng, gram, y, share_bounded)
    rule, without = span_rule(gram, y, solution), opper_winther(gram, y, solution)
    compare_with_the_definition(gram, solution, rule.squared_span, affine=True)
    compare_with_the_definition(gram, solution, without.squared_distance, affine=False)
    values = rule.squared_span[solution.alpha > 0]
    assert (values >= 0).all()
    assert rule.n_without_span == np.count_nonzero(np.isinf(values))
    assert (without.squared_distance[solution.alpha > 0] <= gram.diagonal.max() * (1 + 1e-9)).all()


def test_most_distances_are_compared():
    for kernel in KERNELS:
        for kind in CLEAR:
            rng = np.random.default_rng(1)
            X, y = nasty(rng, kind, 20, 3)
            gram = Gram(X, kernel)
            solution = random_solution(rng, gram, y)
            compared = [
                compare_with_the_definition(gram, solution, span_rule(gram, y, solution).squared_span, True),
                compare_with_the_definition(
                    gram, solution, opper_winther(gram, y, solution).squared_distance, False
                ),
            ]
            assert min(compared) >= 12, (kind, kernel, compared)


def test_the_rule_is_its_formula_with_the_bordered_matrix():
    """``1 / (Kt^-1)_pp`` and ``k - v' Kt^-1 v`` with an explicit inverse, on a matrix that has a good one."""
    X, y = two_classes(np.random.default_rng(2), 60, 4)
    gram = Gram(X, RBF(1.0))
    C = np.where(y > 0, 1.0, 0.4)
    solution = solve_csvc(gram, y, C, tol=1e-6)
    rule, without = span_rule(gram, y, solution), opper_winther(gram, y, solution)
    inbound, bounded = support_sets(solution)
    assert min(inbound.size, bounded.size) > 5
    K, s = gram.matrix(), inbound.size
    bordered = np.ones((s + 1, s + 1))
    bordered[:s, :s], bordered[s, s] = K[np.ix_(inbound, inbound)], 0
    inverse, plain = np.linalg.inv(bordered), np.linalg.inv(K[np.ix_(inbound, inbound)])
    np.testing.assert_allclose(rule.squared_span[inbound], 1 / inverse.diagonal()[:s], rtol=1e-9)
    np.testing.assert_allclose(without.squared_distance[inbound], 1 / plain.diagonal(), rtol=1e-9)
    for p in bounded:
        v = np.append(K[inbound, p], 1)
        assert rule.squared_span[p] == pytest.approx(K[p, p] - v @ inverse @ v)
        assert without.squared_distance[p] == pytest.approx(K[p, p] - v[:s] @ plain @ v[:s])
    for estimate, squared in ((rule, rule.squared_span), (without, without.squared_distance)):
        errors = [solution.alpha[p] * squared[p] >= y[p] * solution.decision[p] for p in range(60)]
        np.testing.assert_array_equal(estimate.errors, errors)
        assert estimate.error == np.mean(errors) and estimate.n_dependent == 0


def left_out(gram, y, C, solution):
    """``f^p(x_p)`` of each support vector, trained anew without it, and whether the in-bound and the bounded
    SVs stay the same."""
    inbound, bounded = support_sets(solution)
    decision, same = np.full(gram.m, np.nan), np.zeros(gram.m, dtype=bool)
    for p in [*inbound, *bounded]:
        without = np.where(np.arange(gram.m) == p, 0.0, C)
        if np.unique(y[without > 0]).size < 2:
            continue
        again = solve_csvc(gram, y, without, tol=1e-10, max_iter=10**6)
        decision[p] = again.decision[p]
        sets = support_sets(again)
        same[p] = np.array_equal(sets[0], inbound[inbound != p])
        same[p] &= np.array_equal(sets[1], bounded[bounded != p]) and sets[0].size > 0
    return decision, same


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("kernel", "C"), [(RBF(0.5), 1.0), (RBF(2.0), 50.0), (RBF(0.1), 1e5), (Linear(), 0.2)]
)
def test_equality_35_where_the_support_vectors_stay_the_same(kernel, C, weighted):
    rng = np.random.default_rng(3)
    X, y = two_classes(rng, 70, 3, gap=1.5)
    C = C * rng.uniform(0.3, 1, size=70) if weighted else np.full(70, C)
    gram = Gram(X, kernel)
    solution = solve_csvc(gram, y, C, tol=1e-10)
    rule = span_rule(gram, y, solution)
    decision, same = left_out(gram, y, C, solution)
    assert np.count_nonzero(same) >= 1
    np.testing.assert_allclose(
        (y * (solution.decision - decision))[same],
        (solution.alpha * rule.squared_span)[same],
        rtol=1e-5,
        atol=1e-7,
    )
    loo = leave_one_out(gram, y, C)
    clear = same & (np.abs(decision) > 1e-6)
    np.testing.assert_array_equal(rule.errors[clear], loo.errors[clear])
    assert abs(rule.error - loo.error) < 0.1


@pytest.mark.slow
def test_the_rule_is_close_to_leave_one_out_on_real_data(real_data):
    for name in ("breast-cancer", "heart", "diabetis", "banana"):
        data = real_data(name)
        chosen = np.random.default_rng(1).choice(len(data.y), 200, replace=False)
        X, y = data.X[chosen], data.y[chosen].astype(float)
        for C in (0.3, 3.0, 30.0):
            gram = Gram(X, RBF(1 / 50))
            loo = leave_one_out(gram, y, C)
            assert abs(span_rule(gram, y, loo.solution).error - loo.error) <= 0.03


def test_no_inbound_support_vector():
    """Nothing is left to take over an alpha: every SV is an error, without a NaN or a warning."""
    X, _ = two_classes(np.random.default_rng(4), 30, 2)
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    gram = Gram(X, RBF(0.1))
    solution = solve_csvc(gram, y, 1e-3)
    assert solution.n_inbound == 0 and solution.n_sv == 30
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule, bound = span_rule(gram, y, solution), span_bound(gram, y, solution)
        without = opper_winther(gram, y, solution)
    assert rule.error == 1 and rule.n_without_span == 30 and np.isinf(rule.squared_span).all()
    assert bound.bound == 1 and bound.span == 0 and bound.n_bounded == 30 and bound.n_empty == 0
    np.testing.assert_allclose(without.squared_distance, 1.0)


def test_one_inbound_support_vector():
    """It has no span; that of the others is their distance from it."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    gram = Gram(X, Linear())
    solution = solution_from_alpha(gram, y, [0.5, 1.0, 1.0, 0.5], [1.0, 1.0, 1.0, 0.5], b=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule = span_rule(gram, y, solution)
        bound = span_bound(gram, y, solution)
    np.testing.assert_allclose(rule.squared_span, [np.inf, 1, 4, 18])
    assert rule.n_without_span == 1 and rule.errors[0]
    assert bound.n_empty == 1 and np.isnan(bound.squared_span).all() and bound.bound == 1


def test_duplicates_have_no_span_and_are_counted():
    X, y = two_classes(np.random.default_rng(5), 40, 3)
    X, y = np.vstack([X, X[:10]]), np.concatenate([y, y[:10]])
    gram = Gram(X, RBF(0.5))
    once = solve_csvc(gram, y, np.where(np.arange(50) < 40, 1e4, 0.0), tol=1e-8)
    # what a point and its duplicate share
    alpha = once.alpha.copy()
    alpha[40:] = alpha[:10] = alpha[:10] / 2
    twice = solution_from_alpha(gram, y, alpha, 1e4, once.b)
    inbound = alpha > 0
    assert inbound[:10].any() and (alpha < 1e4).all()
    rule = span_rule(gram, y, twice)
    assert rule.n_dependent == 2 * np.count_nonzero(inbound[:10])
    both = np.flatnonzero(np.isin(np.arange(50) % 40, np.arange(10)) & inbound)
    assert (rule.squared_span[both] < 1e-10).all() and not rule.errors[both].any()
    rest = np.setdiff1d(np.flatnonzero(inbound), both)
    np.testing.assert_allclose(
        rule.squared_span[rest], span_rule(gram, y, once).squared_span[rest], rtol=1e-6
    )


@pytest.mark.parametrize(("distance", "dependent"), [(1e-3, 0), (1e-7, 2)])
def test_near_duplicates_are_dependent_to_round_off_alone(distance, dependent):
    X, y = two_classes(np.random.default_rng(5), 40, 3)
    X = np.vstack([X, X[0] + [distance, 0, 0]])
    y = np.append(y, y[0])
    gram = Gram(X, RBF(0.5))
    solution = solution_from_alpha(gram, y, np.full(41, 0.5), 1.0)
    rule = span_rule(gram, y, solution)
    assert rule.n_dependent == dependent
    # beside its near duplicate a point has no more span than their distance in feature space, gamma d^2 twice
    assert (rule.squared_span[[0, 40]] <= 1.0001 * distance**2 + 1e-10).all()
    if not dependent:
        assert compare_with_the_definition(gram, solution, rule.squared_span, affine=True) > 20
        assert (rule.squared_span[[0, 40]] > 0.01 * distance**2).all()


def test_a_span_that_just_reaches_the_decision_value_is_an_error():
    """The rule is an inequality that holds with equality too."""
    X, y = two_classes(np.random.default_rng(3), 30, 3)
    gram = Gram(X, RBF(0.5))
    solution = solve_csvc(gram, y, 1.0, tol=1e-8)
    support = solution.alpha > 0
    reach = solution.alpha * span_rule(gram, y, solution).squared_span
    for factor, expected in ((1.0, support), (1 + 1e-12, np.zeros_like(support))):
        decision = np.where(support, factor * y * reach, y)
        errors = span_rule(gram, y, replace(solution, decision=decision)).errors
        np.testing.assert_array_equal(errors, expected)


def test_spans_do_not_depend_on_the_memory_budget_or_on_points_left_out():
    X, y = two_classes(np.random.default_rng(6), 130, 3)
    C = np.where(np.arange(130) % 4, 3.0, 0.0)
    gram = Gram(X, RBF(0.5))
    solution = solve_csvc(gram, y, C, tol=1e-6)
    few = Gram(X, RBF(0.5), memory_mb=8 * 192 * 8 / 2**20)
    part = Gram(X[C > 0], RBF(0.5))
    alone = solve_csvc(part, y[C > 0], 3.0, tol=1e-6)
    # the same to the last bit: what follows compares the estimates, not the solvers
    assert np.array_equal(alone.alpha > 0, solution.alpha[C > 0] > 0)
    for estimate, values in ((span_rule, "squared_span"), (span_bound, "squared_span")):
        whole = estimate(gram, y, solution)
        small = estimate(few, y, solution)
        reduced = estimate(part, y[C > 0], alone)
        np.testing.assert_allclose(getattr(small, values), getattr(whole, values), rtol=1e-7)
        np.testing.assert_allclose(getattr(reduced, values), getattr(whole, values)[C > 0], rtol=1e-4)
        field = "error" if estimate is span_rule else "bound"
        assert getattr(reduced, field) == pytest.approx(getattr(whole, field), rel=1e-4)


# ---- with the box ----


def boxes(y, alpha, C, p):
    """The box of lambda by eq. 31, shape (n,) each; p's own is -1."""
    ends = np.array([-alpha, C - alpha]) * y * y[p] / alpha[p]
    lo, hi = ends.min(axis=0), ends.max(axis=0)
    lo[p] = hi[p] = -1
    return lo, hi


def balanced_solution(rng, gram, y, weighted=True):
    """In-bound and bounded alphas with y'alpha = 0."""
    solution = random_solution(rng, gram, y, weighted=weighted)
    alpha, C = solution.alpha.copy(), solution.C
    inbound = np.flatnonzero((alpha > 0) & (alpha < C))
    for p in inbound:
        excess = y @ alpha
        alpha[p] = np.clip(alpha[p] - y[p] * excess, 0.01 * C[p], 0.99 * C[p])
    return solution_from_alpha(gram, y, alpha, C), abs(y @ alpha) < 1e-12


@given(
    kind=st.sampled_from(CLEAR),
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(3, 25),
    d=st.integers(2, 5),
    kernel=st.sampled_from(KERNELS),
    weighted=st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_boxed_spans_are_those_of_an_independent_solver(kind, seed, m, d, kernel, weighted):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, m, d)
    gram = Gram(X, kernel)
    solution, balanced = balanced_solution(rng, gram, y, weighted)
    if not balanced:
        return
    bound = span_bound(gram, y, solution)
    inbound, bounded = support_sets(solution)
    K, alpha, C = gram.matrix()[np.ix_(inbound, inbound)], solution.alpha[inbound], solution.C[inbound]
    scale = max(K.diagonal().max(initial=0), 1e-300)
    n_empty = 0
    for k, p in enumerate(inbound):
        lo, hi = boxes(y[inbound], alpha, C, k)
        possible = linprog(np.zeros(lo.size), A_eq=np.ones((1, lo.size)), b_eq=[0], bounds=np.c_[lo, hi])
        assert np.isnan(bound.squared_span[p]) == (possible.status == 2)
        if possible.status == 2:
            n_empty += 1
            continue
        best = minimise(K / scale, np.zeros(lo.size), lo, hi, np.ones((1, lo.size)), np.zeros(1))
        assert bound.squared_span[p] == pytest.approx(best @ K @ best, rel=1e-5, abs=2e-6 * scale)
    assert bound.n_empty == n_empty and bound.n_bounded == bounded.size and bound.n_not_converged == 0


@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(4, 30),
    d=st.integers(1, 4),
    kernel=st.sampled_from([*KERNELS, RBF(0.01), RBF(1e-4)]),
    unit=st.sampled_from([1e-8, 1.0, 1e8]),
)
@settings(deadline=None, max_examples=60)
def test_paths_and_the_solver_find_the_same_spans(kind, seed, m, d, kernel, unit):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, m, d)
    gram = Gram(X, kernel)
    solution, balanced = balanced_solution(rng, gram, y)
    inbound, bounded = support_sets(solution)
    exists = span_exists(y, solution.C, inbound, bounded)
    if not balanced or not exists.any():
        return
    part = gram.restricted(inbound).compute()
    problem = part, y[inbound], unit * solution.alpha[inbound], unit * solution.C[inbound]
    points = np.flatnonzero(exists)
    by_path = spans_by_path(*problem, points, 1e-6)
    by_solver, n_not_converged = spans_by_solver(*problem, points, 1e-9, 10**6)
    assert n_not_converged == 0
    finite = ~np.isnan(by_path)
    scale = part.diagonal.max()
    np.testing.assert_allclose(by_path[finite], by_solver[finite], rtol=1e-5, atol=2e-6 * scale)


@pytest.mark.parametrize("tol", [1e-3, 1e-12])
def test_spans_are_in_the_units_of_the_kernel(tol):
    """A power of two rounds nothing: the solver takes the same steps, and ends after the same ones."""
    rng = np.random.default_rng(9)
    X, y = two_classes(rng, 25, 3)
    alpha = rng.uniform(0.1, 0.9, size=25)
    alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()
    C, points = np.full(25, 2.0), np.arange(25)
    spans, paths = [], []
    for scale in (1.0, 2.0**-20, 2.0**20):
        part = Gram(scale * X, Linear()).compute()
        squared_span, n_not_converged = spans_by_solver(part, y, alpha, C, points, tol, 10**6)
        spans.append(squared_span / scale**2)
        paths.append(spans_by_path(part, y, alpha, C, points, 1e-6) / scale**2)
        assert n_not_converged == 0
    for k in (1, 2):
        np.testing.assert_array_equal(spans[k], spans[0])
        np.testing.assert_allclose(paths[k], paths[0], rtol=1e-9)


def test_most_spans_have_a_path():
    X, y = two_classes(np.random.default_rng(7), 300, 4, gap=0.8)
    for kernel, C in ((RBF(0.1), 1000.0), (RBF(0.5), 10.0), (RBF(0.5), 1e8)):
        gram = Gram(X, kernel)
        solution = solve_csvc(gram, y, C)
        inbound, bounded = support_sets(solution)
        part = gram.restricted(inbound).compute()
        points = np.arange(inbound.size)
        assert span_exists(y, solution.C, inbound, bounded).all()
        assert inbound.size > 30
        squared = spans_by_path(part, y[inbound], solution.alpha[inbound], solution.C[inbound], points, 1e-6)
        assert not np.isnan(squared).any()
        # the box can only make a span longer
        assert (squared >= span_rule(gram, y, solution).squared_span[inbound] * (1 - 1e-9)).all()


def test_without_weights_a_span_always_exists():
    """Vapnik and Chapelle (2000): k = 0 where C is the same for all, and two SVs are in-bound."""
    for seed in range(20):
        X, y = two_classes(np.random.default_rng(seed), 50, 2)
        gram = Gram(X, RBF(1.0))
        solution = solve_csvc(gram, y, 0.5)
        if solution.n_inbound > 1:
            bound = span_bound(gram, y, solution)
            assert bound.n_empty == 0 and not np.isnan(bound.squared_span[support_sets(solution)[0]]).any()


def test_the_bound_is_its_formula():
    rng = np.random.default_rng(8)
    X, y = two_classes(rng, 60, 3)
    C = rng.choice([0.05, 0.5, 2.0], size=60)
    C[y < 0] *= 0.1
    gram = Gram(X, RBF(1.0))
    solution = solve_csvc(gram, y, C, tol=1e-8)
    bound = span_bound(gram, y, solution)
    total = 0
    for p in np.flatnonzero(~np.isnan(bound.squared_span)):
        total += max(bound.diameter, 1 / np.sqrt(C[p])) * solution.alpha[p]
    assert bound.span == np.sqrt(np.nanmax(bound.squared_span))
    assert bound.bound == pytest.approx((bound.span * total + bound.n_empty + bound.n_bounded) / 60)
    assert (1 / np.sqrt(C[~np.isnan(bound.squared_span)]) > bound.diameter).any()


def test_a_span_out_of_steps_is_counted_and_too_long(monkeypatch):
    X, y = two_classes(np.random.default_rng(9), 80, 3)
    gram = Gram(X, RBF(0.3))
    solution = solve_csvc(gram, y, 10.0)
    exact = span_bound(gram, y, solution)
    monkeypatch.setattr(boxed_span, "spans_by_path", lambda *problem: np.full(problem[-2].size, np.nan))
    solved = span_bound(gram, y, solution)
    np.testing.assert_allclose(solved.squared_span, exact.squared_span, rtol=1e-4)
    assert solved.n_not_converged == exact.n_not_converged == 0
    stopped = span_bound(gram, y, solution, max_iter=3)
    inbound, _ = support_sets(solution)
    assert stopped.n_not_converged > 10 and stopped.bound > exact.bound
    assert (stopped.squared_span[inbound] >= exact.squared_span[inbound] * (1 - 1e-9)).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_span_by_its_qp_is_that_of_the_factorisation(kernel):
    """Of in-bound and bounded support vectors."""
    rng = np.random.default_rng(5)
    X, y = two_classes(rng, 40, 3)
    gram = Gram(X, kernel).compute()
    solution = solve_csvc(gram, y, 2.0)
    inbound, bounded = support_sets(solution)
    spans = span_rule(gram, y, solution).squared_span
    assert inbound.size > 1 and bounded.size
    for p in [*inbound, *bounded[:5]]:
        assert span_by_qp(gram, p, inbound, tol=1e-9) == pytest.approx(spans[p], rel=1e-4, abs=1e-6)


def test_a_span_by_its_qp_with_duplicates_and_bad_input():
    gram = Gram(np.array([[0.0], [0.0], [1.0], [3.0]]), Linear()).compute()
    assert span_by_qp(gram, 0, [0, 1]) == pytest.approx(0, abs=1e-9)
    # one other point: the distance from it; two of them: their line holds every point
    assert span_by_qp(gram, 3, [2]) == pytest.approx(4)
    assert span_by_qp(gram, 3, [0, 2]) == pytest.approx(0, abs=1e-4)
    with pytest.raises(ValueError, match="row 3"):
        span_by_qp(gram, 3, [3])
    with pytest.raises(ValueError, match="got 4"):
        span_by_qp(gram, 4, [3])
    with pytest.raises(ValueError, match="tol"):
        span_by_qp(gram, 3, [2], tol=-1)
