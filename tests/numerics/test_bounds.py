"""Estimates that count points against their formulas, and every bound against exact leave-one-out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, nasty, solution_from_alpha, two_classes
from scipy.optimize import lsq_linear

from svmselect import RBF, Gram, Linear, leave_one_out, solve_csvc
from svmselect.bounds import (
    jaakkola_haussler,
    opper_winther,
    radius_margin,
    rescaled_radius_margin,
    smallest_enclosing_sphere,
    span_bound,
    span_rule,
    sv_count,
    xi_alpha,
)

ALL = [
    *(sv_count, xi_alpha, jaakkola_haussler, opper_winther),
    *(span_rule, span_bound, radius_margin, rescaled_radius_margin),
]
KERNELS = [Linear(), RBF(0.05), RBF(1.0), RBF(30.0)]
TIE = 1e-7


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5)])
def test_counts_are_their_formulas(kernel, weighted):
    rng = np.random.default_rng(0)
    X, y = two_classes(rng, 80, 3)
    C = rng.uniform(0.2, 2, size=80) if weighted else np.full(80, 0.7)
    C[::8] = 0
    gram = Gram(X, kernel)
    solution = solve_csvc(gram, y, C, tol=1e-6)
    K, alpha, margin = gram.matrix(), solution.alpha, y * solution.decision
    R2 = 1.0 if isinstance(kernel, RBF) else max(K[i, i] - K[i, j] for i in range(80) for j in range(80))
    counts = {
        sv_count: [alpha[p] > 0 for p in range(80)],
        xi_alpha: [alpha[p] > 0 and 2 * alpha[p] * R2 + max(0, 1 - margin[p]) >= 1 for p in range(80)],
        jaakkola_haussler: [alpha[p] > 0 and alpha[p] * K[p, p] >= margin[p] for p in range(80)],
    }
    for estimate, expected in counts.items():
        result = estimate(gram, y, solution)
        np.testing.assert_array_equal(result.errors, expected)
        assert result.error == sum(expected) / 70 > 0  # ten points are no training points
        assert result.cpu_s >= 0


def without_each(gram, y, C):
    """Decision values by training without each point, and whether an in-bound SV fixes the threshold."""
    decision, fixed = np.empty(gram.m), np.zeros(gram.m, dtype=bool)
    for p in range(gram.m):
        rest = np.where(np.arange(gram.m) == p, 0.0, C)
        if np.unique(y[rest > 0]).size < 2:
            decision[p] = -y[p]
            continue
        solution = solve_csvc(gram, y, rest, tol=1e-10, max_iter=20_000)
        decision[p] = solution.decision[p] if solution.converged else np.nan
        fixed[p] = solution.n_inbound > 0
    return decision, fixed


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X, y = nasty(rng, draw(st.sampled_from(KINDS)), draw(st.integers(2, 25)), draw(st.integers(1, 4)))
    C = draw(st.sampled_from([1e-3, 0.1, 1.0, 20.0, 1e4]))
    if draw(st.booleans()):
        C = C * rng.choice([0.1, 0.5, 1.0], size=len(y))
    return Gram(X, draw(st.sampled_from(KERNELS))), y, np.broadcast_to(C, len(y))


@given(problem=problems())
@settings(deadline=None, max_examples=80)
def test_bounds_hold(problem):
    """The share of support vectors, the span bound, and the inequality of each point that it adds up."""
    gram, y, C = problem
    solution = solve_csvc(gram, y, C, tol=1e-10, max_iter=20_000)
    if not solution.converged:
        return
    decision, fixed = without_each(gram, y, C)
    wrong = fixed & (y * decision < -TIE)
    assert not (wrong & ~sv_count(gram, y, solution).errors).any()
    bound = span_bound(gram, y, solution)
    assert bound.n_not_converged == 0
    assert bound.bound >= np.count_nonzero(wrong) / gram.m - 1e-9
    those = wrong & ~np.isnan(bound.squared_span)
    product = solution.alpha * np.maximum(bound.diameter, C**-0.5)
    assert (product[those] * np.sqrt(bound.squared_span[those]) >= 1 - 1e-4).all()
    # xi-alpha where the in-bound SVs can take over alpha_p
    inbound = (solution.alpha > 0) & (solution.alpha < C)
    grow = np.where(inbound, np.where(y > 0, C - solution.alpha, solution.alpha), 0)
    shrink = np.where(inbound, np.where(y > 0, solution.alpha, C - solution.alpha), 0)
    room = np.where(y > 0, grow.sum() - grow, shrink.sum() - shrink)
    stable = room >= solution.alpha * (1 + 1e-9)
    assert not (wrong & stable & ~xi_alpha(gram, y, solution).errors).any()


def test_bounds_are_put_to_the_test():
    """There are errors to bound, and spans among them."""
    wrong = 0
    for seed in range(5):
        X, y = two_classes(np.random.default_rng(seed), 40, 3, gap=0.8)
        for kernel in KERNELS:
            for C in (0.1, 10.0):
                gram = Gram(X, kernel)
                loo = leave_one_out(gram, y, C)
                bound = span_bound(gram, y, loo.solution)
                wrong += np.count_nonzero(loo.errors & ~np.isnan(bound.squared_span))
                assert sv_count(gram, y, loo.solution).error >= loo.error
                assert bound.bound >= loo.error
                if loo.solution.n_inbound:
                    assert not (loo.errors & ~xi_alpha(gram, y, loo.solution).errors).any()
    assert wrong > 100


def without_threshold(gram, y, C):
    """An SVM without threshold, as bounded least squares by an independent active-set method."""
    L = np.linalg.cholesky(gram.matrix() * np.outer(y, y))
    C = np.broadcast_to(C, y.shape)
    alpha = lsq_linear(L.T, np.linalg.solve(L, np.ones(y.size)), (0, C), method="bvls", tol=1e-14).x
    alpha = np.where(alpha < 1e-9 * C, 0, np.where(alpha > (1 - 1e-9) * C, C, alpha))
    return solution_from_alpha(gram, y, alpha, C)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(3.0)])
@pytest.mark.parametrize("C", [0.3, 5.0])
def test_estimates_without_threshold(kernel, C, weighted):
    """Jaakkola and Haussler's is a bound; Opper and Winther's is exact where the sets stay the same."""
    compared = errors = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = two_classes(rng, 30, 3, gap=1.0)
        bounds = C * rng.uniform(0.3, 1, size=30) if weighted else np.full(30, C)
        gram = Gram(X, kernel)
        solution = without_threshold(gram, y, bounds)
        upper, exact = jaakkola_haussler(gram, y, solution), opper_winther(gram, y, solution)
        for p in np.flatnonzero(solution.alpha):
            rest = bounds.copy()
            rest[p] = 0
            keep = np.arange(30) != p
            part = without_threshold(Gram(X[keep], kernel), y[keep], rest[keep])
            decision = gram.matrix()[p, keep] @ (y[keep] * part.alpha)
            if abs(decision) < 1e-5:
                continue
            wrong = y[p] * decision < 0
            errors += wrong
            assert upper.errors[p] or not wrong
            before = solution.alpha[keep]
            if np.array_equal(np.sign(part.alpha), np.sign(before)) and np.array_equal(
                part.alpha == rest[keep], before == rest[keep]
            ):
                change = y[p] * (solution.decision[p] - decision)
                assert change == pytest.approx(solution.alpha[p] * exact.squared_distance[p], abs=1e-7)
                assert exact.errors[p] == wrong
                compared += 1
    assert compared >= 1 and errors > 5


@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(2.0), Linear()])
def test_radius_margin_bounds_the_hard_margin(kernel):
    errors = 0
    for seed in range(6):
        X, y = two_classes(np.random.default_rng(seed), 30, 3, gap=2.0)
        if isinstance(kernel, Linear):
            X[:, 0] += 3 * y
        gram = Gram(X, kernel)
        loo = leave_one_out(gram, y, 1e8)
        assert loo.solution.n_inbound == loo.solution.n_sv
        errors += loo.errors.sum()
        assert 4 * radius_margin(gram, y, loo.solution).bound >= loo.error
        if isinstance(kernel, Linear):
            continue  # not separable through the origin
        solution = without_threshold(gram, y, np.full(30, 1e8))
        assert solution.n_inbound == solution.n_sv
        wrong = 0
        for p in np.flatnonzero(solution.alpha):
            keep = np.arange(30) != p
            part = without_threshold(Gram(X[keep], kernel), y[keep], np.full(29, 1e8))
            wrong += y[p] * (gram.matrix()[p, keep] @ (y[keep] * part.alpha)) < -1e-5
        assert radius_margin(gram, y, solution).bound >= wrong / 30
    assert errors > 2 or isinstance(kernel, Linear)


@pytest.mark.parametrize("estimate", ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_nasty_problems_give_numbers(estimate, kind):
    rng = np.random.default_rng(1)
    for m, kernel, C in ((2, Linear(), 1.0), (9, RBF(1.0), 1e6), (30, Linear(), 0.1), (30, RBF(0.01), 1e-6)):
        X, y = nasty(rng, kind, m, 2)
        gram = Gram(X, kernel)
        result = estimate(gram, y, solve_csvc(gram, y, C * rng.uniform(0.5, 1, size=m), max_iter=10**5))
        value = result.error if hasattr(result, "error") else result.bound
        assert 0 <= value < np.inf
        if hasattr(result, "error"):
            assert value == result.errors.mean() <= 1


@pytest.mark.parametrize("estimate", ALL)
def test_results_are_frozen(estimate):
    X, y = two_classes(np.random.default_rng(2), 20, 2)
    gram = Gram(X, RBF(0.5))
    result = estimate(gram, y, solve_csvc(gram, y, 1.0))
    with pytest.raises(AttributeError):
        result.cpu_s = 0.0
    for array in vars(result).values():
        if isinstance(array, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0


@pytest.mark.parametrize("estimate", ALL)
def test_bad_input_is_named(estimate):
    X, y = two_classes(np.random.default_rng(3), 20, 2)
    gram, part = Gram(X, RBF(0.5)), Gram(X[:12], RBF(0.5))
    solution = solve_csvc(gram, y, 1.0)
    with pytest.raises(ValueError, match=r"y\b.* \(12,\)"):
        estimate(gram, y[:12], solution)
    with pytest.raises(ValueError, match=r"y\b.*labels"):
        estimate(gram, y + 1, solution)
    with pytest.raises(ValueError, match=r"solution\b.* 20\b"):
        estimate(part, y[:12], solution)


@pytest.mark.parametrize("estimate", [span_bound, radius_margin])
@pytest.mark.parametrize("sphere", [4.0, "wrong rows"])
def test_a_bad_sphere_is_named(estimate, sphere):
    X, y = two_classes(np.random.default_rng(4), 20, 2)
    gram = Gram(X, RBF(0.5))
    if sphere == "wrong rows":
        sphere = smallest_enclosing_sphere(Gram(X[:5], RBF(0.5)))
    with pytest.raises(ValueError, match=r"sphere\b.* 20 rows"):
        estimate(gram, y, solve_csvc(gram, y, 1.0), sphere)


def test_bad_options_of_the_span_bound_are_named():
    X, y = two_classes(np.random.default_rng(5), 20, 2)
    gram = Gram(X, RBF(0.5))
    solution = solve_csvc(gram, y, 1.0)
    with pytest.raises(ValueError, match=r"tol\b.* -1\b"):
        span_bound(gram, y, solution, tol=-1)
    with pytest.raises(ValueError, match=r"max_iter\b.* 0\.5\b"):
        span_bound(gram, y, solution, max_iter=0.5)
