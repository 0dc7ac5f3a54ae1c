"""One-class models and their exact leave-one-out, beside scikit-learn's and beside retraining."""

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse

from svmselect import (
    RBF,
    Gram,
    Linear,
    Polynomial,
    decision_function,
    leave_one_out_one_class,
    solve_csvc,
    solve_one_class,
    span_rule,
)
from svmselect.solver.blocks import Blocks

KERNELS = {"rbf": RBF(0.4), "linear": Linear(), "poly": Polynomial(2, 0.3, 1.0)}


def libsvm(kernel, nu, **options):
    """Return the model as scikit-learn trains it."""
    return sklearn.svm.OneClassSVM(
        kernel=kernel, nu=nu, gamma={"rbf": 0.4, "poly": 0.3}.get(kernel, 1), degree=2, coef0=1.0, **options
    )


def retrained(gram, nu, weight, tol=1e-11):
    """The decision value of each row by training without it."""
    values = np.empty(gram.m)
    for r in range(gram.m):
        left = weight.copy()
        left[r] = 0
        if not left.any() or weight[r] == 0:
            left = weight
        values[r] = solve_one_class(gram, nu, left, tol=tol).decision[r]
    return values


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("nu", [0.03, 0.37, 0.81])
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_are_those_of_scikit_learn(kernel, nu, weighted):
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(2, 70, 3)) + 1
    weight = rng.uniform(0.3, 2, size=70) if weighted else None
    gram = Gram(X, KERNELS[kernel])
    solution = solve_one_class(gram, nu, weight, tol=1e-10)
    reference = libsvm(kernel, nu, tol=1e-10).fit(X, sample_weight=weight)
    alpha = np.zeros(70)
    alpha[reference.support_] = reference.dual_coef_[0]
    assert solution.converged
    np.testing.assert_allclose(solution.objective, 0.5 * alpha @ gram.matrix() @ alpha, rtol=1e-8)
    values = decision_function(gram, None, solution, new)
    for ours, other in [
        (solution.decision, reference.decision_function(X)),
        (values, reference.decision_function(new)),
    ]:
        np.testing.assert_allclose(ours, other, atol=1e-6 * np.abs(other).max())


def test_blocks_give_the_same_model(monkeypatch):
    monkeypatch.setattr("svmselect.one_class.blocks_by_rows", lambda gram: Blocks(256, 2000))
    X = np.random.default_rng(0).normal(size=(2000, 4))
    solution = solve_one_class(Gram(X, RBF(0.5)), 0.2, tol=1e-6)
    other = solve_one_class(Gram(X, RBF(0.5)), 0.2, tol=1e-6, working_set="wss2")
    assert solution.converged and other.converged
    np.testing.assert_allclose(solution.decision, other.decision, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("nu", [0.05, 0.4, 0.75])
def test_left_out_values_are_those_of_scikit_learn(kernel, nu):
    X = np.random.default_rng(1).normal(size=(45, 2)) + 2
    loo = leave_one_out_one_class(Gram(X, KERNELS[kernel]), nu)
    reference = np.empty(45)
    for r in range(45):
        rest = np.arange(45) != r
        reference[r] = libsvm(kernel, nu, tol=1e-10).fit(X[rest]).decision_function(X[[r]])[0]
    np.testing.assert_allclose(loo.decision, reference, atol=1e-6 * np.abs(reference).max())
    assert loo.not_converged.size == 0
    np.testing.assert_allclose(loo.rejection_rate, np.mean(reference < 0))
    full = solve_one_class(Gram(X, KERNELS[kernel]), nu, tol=1e-11)
    np.testing.assert_allclose(loo.solution.decision, full.decision, atol=1e-8)
    np.testing.assert_allclose(loo.solution.alpha.sum(), nu * 45)


def nasty(seed):
    """A problem with duplicates, ties, weights of all sizes, or extreme values: its Gram, nu and weights."""
    rng = np.random.default_rng(seed)
    m, d = rng.integers(2, 40), rng.integers(1, 4)
    X = rng.normal(size=(m, d))
    if rng.random() < 0.3:
        X = np.round(X)
    if rng.random() < 0.4:
        X[m // 2 :] = X[: m - m // 2]
    weight = np.ones(m)
    if rng.random() < 0.5:
        weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=m, p=[0.1, 0.2, 0.5, 0.2])
    if np.count_nonzero(weight) < 2:
        weight[:2] = 1
    kernel = [RBF(10.0 ** rng.uniform(-4, 3)), Linear(), Polynomial(2, 1.0, 1.0)][rng.integers(3)]
    X *= 10.0 ** rng.integers(-2, 3)
    nu = rng.choice([1e-3, 0.1, 0.25, 0.5, 0.9, 1.0, rng.uniform(0.01, 1)])
    rows = sparse.csr_matrix(X) if rng.random() < 0.3 else X
    return Gram(rows, kernel, origin=np.zeros(d)), nu, weight * 10.0 ** rng.integers(-3, 4)


@pytest.mark.parametrize("seed", range(60))
def test_left_out_values_are_those_of_retraining(seed):
    gram, nu, weight = nasty(seed)
    loo = leave_one_out_one_class(gram, nu, weight)
    # the size of the sums of kernel values that decision values are differences of
    largest = nu * weight.sum() * gram.diagonal.max()
    size = max(np.abs(loo.solution.decision - loo.solution.b).max(), 1e-4 * largest, 1e-300)
    reference = retrained(gram, nu, weight, 1e-13)
    known = np.setdiff1d(np.arange(gram.m), loo.not_converged)
    assert known.size > 0.9 * gram.m
    np.testing.assert_allclose(loo.decision[known], reference[known], rtol=0, atol=1e-7 * size)


def test_rows_inside_need_no_path_and_duplicates_count_as_rows():
    X = np.random.default_rng(0).normal(size=(200, 2))
    loo = leave_one_out_one_class(Gram(X, RBF(0.1)), 0.1)
    assert np.count_nonzero(loo.resolved_by == "inside") > 150
    assert set(loo.resolved_by) == {"inside", "unlearned"}
    twice = np.concatenate([X, X[:50]])
    calls = []
    loo = leave_one_out_one_class(
        Gram(twice, RBF(0.1)), 0.1, progress=lambda done, n: calls.append((done, n))
    )
    assert calls[-1] == (250, 250)
    np.testing.assert_array_equal(loo.decision[:50], loo.decision[200:])


@pytest.mark.parametrize("nu", [0, 1.5, True, "half", np.nan])
def test_bad_nu_is_named(nu):
    gram = Gram(np.arange(6.0)[:, None], RBF(1.0))
    for function in (solve_one_class, leave_one_out_one_class):
        with pytest.raises(ValueError, match=f"nu .*{nu}"):
            function(gram, nu)


def test_bad_arguments_are_named():
    gram = Gram(np.arange(6.0)[:, None], RBF(1.0))
    with pytest.raises(ValueError, match=r"weight .*-1\.0"):
        solve_one_class(gram, 0.5, -np.ones(6))
    with pytest.raises(ValueError, match="n_samples = 1"):
        leave_one_out_one_class(gram, 0.5, np.arange(6) == 2)
    with pytest.raises(ValueError, match="origin"):
        solve_one_class(Gram(1e6 + np.arange(6.0)[:, None], Linear()), 0.5)
    solution = solve_one_class(gram, 0.5)
    with pytest.raises(ValueError, match="6 rows"):
        decision_function(Gram(np.arange(5.0)[:, None], RBF(1.0)), None, solution, np.ones((1, 1)))
    y = np.array([1, 1, 1, -1, -1, -1.0])
    with pytest.raises(ValueError, match="y"):
        span_rule(gram, None, solve_csvc(gram, y, 1.0))
