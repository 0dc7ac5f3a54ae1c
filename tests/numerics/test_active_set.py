"""The active-set method that takes over from SMO, against SMO alone and an independent QP solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import kkt_gap, nasty, solve_qp, two_classes
from scipy import sparse

from svmselect import RBF, Gram, Linear, leave_one_out, solve_csvc


def problem(name):
    """(X, y, kernel, C) of a problem on which SMO creeps, or whose matrix is singular."""
    rng = np.random.default_rng(17)
    X, y = two_classes(rng, 80, 4)
    match name:
        case "linear":
            return X, y, Linear(), 1e3
        case "tiny gamma":
            return X, y, RBF(1e-4), 1e5
        case "duplicates":
            return np.repeat(X[:25], 3, axis=0), np.repeat(y[:25], 3), Linear(), 1e2
        case "duplicates of both classes":
            return np.repeat(X[:25], 2, axis=0), np.tile([1.0, -1.0], 25), RBF(1e-2), 1e2
        case "constant features":
            return np.hstack([X, np.full((80, 3), 5.0)]), y, Linear(), 1e3
        case "zero rows":
            X[::3] = 0
            return X, y, Linear(), 1e3
        case "ties":
            return np.round(X), y, Linear(), 1e3
        case "one feature":
            return np.round(X[:, :1], 1), y, Linear(), 1e4
        case "separable":
            return X + 20 * (y[:, None] > 0), y, Linear(), 1e6
        case "well conditioned":
            return X, y, RBF(20.0), 1e3
        case "large values":
            return 100 * X, y, Linear(), 1.0


NAMES = [
    "linear",
    "tiny gamma",
    "duplicates",
    "duplicates of both classes",
    "constant features",
    "zero rows",
    "ties",
    "one feature",
    "separable",
    "well conditioned",
    "large values",
]


def round_off(gram, solution):
    """What rounding may leave of a KKT gap that would be 0."""
    return 1e-14 * gram.m * (solution.alpha.max() * gram.diagonal.max() + 1)


@pytest.mark.parametrize("name", NAMES)
def test_optimum(name):
    X, y, kernel, C = problem(name)
    gram = Gram(X, kernel)
    solution = solve_csvc(gram, y, C, tol=1e-9)
    assert solution.converged
    assert ((solution.alpha >= 0) & (solution.alpha <= C)).all()
    assert abs(y @ solution.alpha) <= 1e-13 * solution.alpha.sum()
    K = gram.matrix()
    assert kkt_gap(K, y, solution.alpha, C) <= 1e-9 + round_off(gram, solution)
    _, objective = solve_qp(K, y, np.full(gram.m, C))
    slack = 1e-6 * (1 + abs(objective))
    assert solution.objective <= objective + slack
    loose = solve_csvc(gram, y, C, tol=1e-2, active_set=False, max_iter=200_000)
    assert solution.objective <= loose.objective + slack


@pytest.mark.parametrize("name", ["linear", "tiny gamma", "one feature", "constant features"])
def test_takes_over_where_smo_creeps(name):
    X, y, kernel, C = problem(name)
    gram = Gram(X, kernel)
    alone = solve_csvc(gram, y, C, active_set=False, max_iter=1_000_000)
    assert solve_csvc(gram, y, C, tol=1e-9).n_iter < alone.n_iter / 3


@pytest.mark.parametrize(("kernel", "C"), [(Linear(), 1e4), (RBF(1e-4), 1e5)])
def test_it_ends_in_one_phase_of_a_few_moves_per_row(kernel, C):
    """SMO's steps before the first switch, then exact moves: a wrong one has to be made good by others."""
    first = 120 // 2 + 1000
    for seed in range(8):
        X, y = two_classes(np.random.default_rng(seed), 120, 5)
        solution = solve_csvc(Gram(X, kernel), y, C, tol=1e-9)
        assert solution.converged and first < solution.n_iter <= first + 3 * 120, seed


@pytest.mark.parametrize("d", [1, 2])
def test_it_goes_on_where_no_row_is_in_bound(d):
    """On a lattice, whose rows are many times the same, moves may put all of the basis on bounds."""
    first, switched = 60 // 2 + 1000, 0
    for seed in range(12):
        X, y = nasty(np.random.default_rng(seed), "lattice", 60, d)
        solution = solve_csvc(Gram(X, Linear()), y, 1e4, tol=1e-9)
        assert solution.converged and solution.n_iter <= first + 3 * 60, seed
        switched += solution.n_iter > first
    assert switched > 2


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(2, 40),
    d=st.integers(1, 6),
    exponent=st.integers(-3, 5),
    coarse=st.booleans(),
    linear=st.booleans(),
    single=st.booleans(),
)
def test_random_problems(seed, m, d, exponent, coarse, linear, single):
    rng = np.random.default_rng(seed)
    X, y = two_classes(rng, m, d, gap=rng.choice([0.0, 1.0, 4.0]))
    if coarse:
        X = np.round(X)
    gram = Gram(
        X, Linear() if linear else RBF(10.0 ** rng.integers(-4, 2)), dtype="float32" if single else "float64"
    )
    C = 10.0**exponent * rng.choice([0.5, 1.0, 2.0, 0.0], size=m, p=[0.1, 0.7, 0.1, 0.1])
    C[:2] = 10.0**exponent  # both classes
    solution = solve_csvc(gram, y, C, tol=1e-8)
    K = gram.matrix().astype(float)
    noise = round_off(gram, solution)
    assert solution.converged and solution.kkt_gap <= 1e-8 + noise
    assert kkt_gap(K, y, solution.alpha, C) <= 1e-8 + noise
    np.testing.assert_allclose(solution.decision, K @ (y * solution.alpha) + solution.b, atol=noise)
    assert solution.objective == pytest.approx(
        0.5 * (y * solution.alpha) @ K @ (y * solution.alpha) - solution.alpha.sum(),
        rel=1e-9,
        abs=noise * C.max(),
    )


@pytest.mark.parametrize("as_csr", [False, True])
def test_beyond_the_budget(as_csr):
    X, y = two_classes(np.random.default_rng(1), 400, 6)
    whole = Gram(X, Linear())
    few = Gram(sparse.csr_array(X) if as_csr else X, Linear(), memory_mb=12 * 448 * 8 / 2**20)
    assert not few.full
    a, b = solve_csvc(whole, y, 1e3, tol=1e-9), solve_csvc(few, y, 1e3, tol=1e-9)
    assert a.converged and b.converged
    np.testing.assert_allclose(b.decision, a.decision, atol=1e-6)


def test_float32_gram():
    X, y, kernel, _ = problem("tiny gamma")
    gram = Gram(X, kernel, dtype="float32")
    solution = solve_csvc(gram, y, 10.0, tol=1e-5)
    assert solution.converged
    assert kkt_gap(gram.matrix().astype(float), y, solution.alpha, 10.0) <= 1.1e-5


def test_step_limit():
    X, y, kernel, C = problem("linear")
    gram = Gram(X, kernel)
    needed = solve_csvc(gram, y, C, tol=1e-9).n_iter
    for limit in range(0, needed, 17):
        stopped = solve_csvc(gram, y, C, tol=1e-9, max_iter=limit)
        assert stopped.n_iter <= limit and not stopped.converged
        assert abs(y @ stopped.alpha) <= 1e-12 * C and stopped.alpha.max() <= C


@pytest.mark.parametrize(("gamma", "C"), [(1e-5, 1e6), (1e-5, 1e8), (1e-4, 1e10), (1e-3, 1e6), (None, 1e9)])
def test_a_tolerance_below_rounding_ends_where_rounding_does_and_says_so(gamma, C):
    """With a huge C no float64 gradient is known to 1e-9: the solver ends, and does not claim it."""
    X, y = two_classes(np.random.default_rng(5), 300, 10)
    gram = Gram(X, Linear() if gamma is None else RBF(gamma))
    solution = solve_csvc(gram, y, C, tol=1e-9, max_iter=5_000_000)
    assert solution.n_iter < 1_000_000
    assert solution.converged == (solution.kkt_gap <= 1e-9)
    assert solution.kkt_gap <= 1e-13 * C * gram.diagonal.max()
    assert kkt_gap(gram.matrix(), y, solution.alpha, C) <= 2e-13 * C * gram.diagonal.max()
    assert abs(y @ solution.alpha) <= 1e-12 * solution.alpha.sum()


def test_many_in_bound_rows_leave_the_work_to_smo():
    X, y = two_classes(np.random.default_rng(2), 600, 3)
    solution = solve_csvc(Gram(X, RBF(50.0)), y, 1e3, tol=1e-6)
    alone = solve_csvc(Gram(X, RBF(50.0)), y, 1e3, tol=1e-6, active_set=False)
    assert solution.n_inbound > 500
    assert solution.n_iter <= 1.2 * alone.n_iter
    np.testing.assert_allclose(solution.decision, alone.decision, atol=1e-4)


def test_unlearning_starts_from_it():
    X, y, kernel, C = problem("linear")
    loo = leave_one_out(Gram(X, kernel), y, C)
    assert loo.solution.kkt_gap <= 1e-9


def test_gains_of_rounding_do_not_lead_to_and_fro_between_two_points():
    """A curvature of 2 beside kernel values of 2^54: alphas of 0 have a gap of 2, others one of rounding."""
    gram = Gram(sparse.csr_array([[2.0**27], [2.0**27 + 45 / 32]]), Linear())
    solution = solve_csvc(gram, [1, -1], 10.0, tol=1e-6)
    assert not solution.converged and solution.n_iter < 1000
