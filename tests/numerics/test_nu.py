"""nu-SVC against LIBSVM and against the C-SVC with the same classifier."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import kkt_gap, nasty, two_classes
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.svm import NuSVC

from svmselect import RBF, Gram, Linear, Polynomial, solve_csvc, solve_nusvc
from svmselect.svm import InfeasibleNu


@pytest.mark.parametrize("working_set", ["wss2", "mvp"])
@pytest.mark.parametrize("kernel", [RBF(0.05), RBF(1.0), Linear()])
@pytest.mark.parametrize("nu", [0.487, 0.613, 0.731])
def test_agrees_with_libsvm(kernel, nu, working_set):
    X, y = two_classes(np.random.default_rng(3), 160, 4, gap=0.8)
    gram = Gram(X, kernel)
    solution = solve_nusvc(gram, y, nu, tol=1e-8, working_set=working_set)
    # nu m / 2 is no whole number: a class without in-bound SVs is left to its own convention for the
    # threshold
    reference = NuSVC(nu=nu, kernel="precomputed", tol=1e-8).fit(gram.matrix(), y)
    np.testing.assert_allclose(solution.decision, reference.decision_function(gram.matrix()), atol=2e-5)
    theta = np.zeros(gram.m)
    theta[reference.support_] = reference.dual_coef_[0]
    np.testing.assert_allclose(gram.matrix() @ (y * solution.alpha - theta), 0, atol=1e-5)


@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(4, 40),
    kernel=st.sampled_from([RBF(0.1), RBF(5.0), Linear()]),
    share=st.floats(0.3, 1.0),
    weighted=st.booleans(),
    duplicates=st.booleans(),
)
@settings(deadline=None, max_examples=100)
def test_is_the_csvc_of_its_margin(seed, m, kernel, share, weighted, duplicates):
    rng = np.random.default_rng(seed)
    X, y = two_classes(rng, m, 3)
    if duplicates:
        X[m // 2 :] = X[: m - m // 2]
    weight = rng.uniform(0.5, 2, size=m) if weighted else np.ones(m)
    nu = share * 2 * min(weight[y > 0].sum(), weight[y < 0].sum()) / weight.sum()
    gram = Gram(X, kernel)
    tol = 1e-6
    try:
        solution = solve_nusvc(gram, y, nu, weight=weight, tol=tol)
    except ValueError as error:
        assert "margin" in str(error)
        # the reduced convex hulls meet: some feasible theta has K theta = 0
        return
    K, alpha, C = gram.matrix(), solution.alpha, solution.C
    rho = weight[0] / C[0]
    assert (alpha >= 0).all() and (alpha <= C).all()
    assert abs(y @ alpha) <= 1e-9 * alpha.sum()
    assert alpha.sum() * rho == pytest.approx(nu * weight.sum())
    gap = kkt_gap(K, y, alpha, C)
    assert gap <= 2.1 * tol * gram.diagonal.max() / rho + 1e-9 * alpha.sum()
    assert solution.kkt_gap == pytest.approx(max(gap, 0.0), abs=1e-12 * alpha.sum() * gram.diagonal.max())
    objective = 0.5 * (y * alpha) @ K @ (y * alpha) - alpha.sum()
    assert solution.objective == pytest.approx(objective, rel=1e-6)
    same = solve_csvc(gram, y, C, tol=1e-7, start=alpha * (1 - 1e-12), max_iter=10**6)
    assert same.objective == pytest.approx(solution.objective, rel=1e-6, abs=4 * tol / rho * C.sum())


def test_nu_bounds_support_vectors_and_margin_errors():
    X, y = two_classes(np.random.default_rng(0), 400, 5)
    for nu in (0.3, 0.5, 0.7):
        solution = solve_nusvc(Gram(X, RBF(0.2)), y, nu, tol=1e-6)
        assert solution.n_sv >= nu * len(y)
        assert np.count_nonzero(y * solution.decision < 1 - 1e-4) <= nu * len(y)


def test_points_of_weight_zero_are_as_if_absent():
    X, y = two_classes(np.random.default_rng(1), 120, 3)
    remaining = np.ones(len(y))
    remaining[::4] = 0
    whole = solve_nusvc(Gram(X, RBF(0.3)), y, 0.5, weight=remaining, tol=1e-8)
    part = solve_nusvc(Gram(X[remaining > 0], RBF(0.3)), y[remaining > 0], 0.5, tol=1e-8)
    np.testing.assert_allclose(whole.decision[remaining > 0], part.decision, atol=1e-5)
    assert not whole.alpha[remaining == 0].any()


def test_many_steps_shrink_to_the_same_solution():
    X, y = two_classes(np.random.default_rng(2), 1500, 6, gap=0.4)
    gram = Gram(X, RBF(0.5))
    solution = solve_nusvc(gram, y, 0.6, tol=1e-6)
    assert solution.n_iter > 2000  # shrinking has had its chance
    assert kkt_gap(gram.matrix(), y, solution.alpha, solution.C) <= 2.1e-6 * solution.C[0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"nu": 0}, r"nu\b.* 0\b"),
        ({"nu": "0.5"}, "nu must be a number"),
        ({"nu": 0.9}, r"nu\b.* 0.9\b"),
        ({"nu": 0.5, "weight": np.ones(3)}, r"weight must be a number or have shape \(10,\)"),
        ({"nu": 0.5, "weight": -np.ones(10)}, "weight must be finite and not negative"),
        ({"nu": 0.5, "tol": 0}, "tol must be"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    X, _ = two_classes(np.random.default_rng(0), 10, 2)
    y = np.array([1.0] * 4 + [-1.0] * 6)
    with pytest.raises(ValueError, match=sentence):
        solve_nusvc(Gram(X, Linear()), y, **arguments)


def test_no_margin_is_named():
    X = np.zeros((6, 2))
    with pytest.raises(ValueError, match=r"nu must leave a margin above tol = 0\.001"):
        solve_nusvc(Gram(X, Linear()), np.array([1, 1, 1, -1, -1, -1]), 0.5)


def test_a_small_margin_is_solved_on_the_scale_of_its_C_svc():
    """A gap of 1e-8 in units of a nu-SVC is 0.03 in those of its C-SVC, where rho is 3e-7."""
    rng = np.random.default_rng(34)
    X, y = nasty(rng, "plain", 13, 2)
    gram = Gram(X, RBF(0.05))
    for nu in (0.05, 0.2):
        solution = solve_nusvc(gram, y, nu, tol=1e-8)
        assert solution.converged and solution.C.max() > 1e3
        reference = solve_csvc(gram, y, solution.C, tol=1e-10)
        assert solution.kkt_gap <= 3e-8
        assert solution.objective == pytest.approx(reference.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("load", "kernel", "nu", "tol", "named"),
    [
        (load_iris, Polynomial(3), 0.05, 1e-5, True),
        (load_iris, Polynomial(3), 0.1, 1e-3, True),
        (load_iris, RBF(1e-4), 0.1, 1e-3, True),
        (load_breast_cancer, Polynomial(3), 0.2, 1e-3, True),
        (load_iris, Linear(), 0.05, 1e-3, False),
        (load_breast_cancer, Linear(), 0.05, 1e-3, False),
    ],
)
def test_a_refusal_names_a_smaller_tol_that_would_do(load, kernel, nu, tol, named):
    X, y = load(return_X_y=True)
    rows = y > 0 if y.max() > 1 else y >= 0
    gram, labels = Gram(X[rows], kernel), np.where(y[rows] == y.max(), 1.0, -1.0)
    with pytest.raises(InfeasibleNu, match=f"above tol = {tol} .*, got {nu} with rho = ") as caught:
        solve_nusvc(gram, labels, nu, tol=tol)
    smaller = re.search(r"; tol = (\S+) would do$", str(caught.value))
    assert (smaller is not None) == named
    if named:
        assert float(smaller[1]) < tol
        assert solve_nusvc(gram, labels, nu, tol=float(smaller[1])).converged
