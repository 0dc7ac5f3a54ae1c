"""Kernels that are not positive semi-definite are refused by whatever needs one, in any unit."""

import numpy as np
import pytest
from numerics.problems import two_classes
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel

from svmselect import Custom, Gram, cross_validate, cross_validate_grid, leave_one_out, solve_csvc
from svmselect.bounds import span_rule
from svmselect.gram.definite import is_definite
from svmselect.sklearn import SVC, LOOSearchCV, NuSVC, SeededCV

UNITS = [1e-100, 1e-9, 1.0, 1e9, 1e100]


def rows(m=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 4))
    return X, (X[:, 0] + 0.5 * rng.normal(size=m) > 0).astype(int)


def distances_of_rows(A, B):
    return ((A[:, None] - B[None]) ** 2).sum(axis=2)


def minus_distances(A, B):
    return -distances_of_rows(A, B)


def minus_products(A, B):
    return -(A @ B.T)


INDEFINITE = [distances_of_rows, minus_distances, minus_products]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("diagonal", [0.0, 1e-17, 1e-9, 1.0])
def test_a_distance_matrix_has_no_leave_one_out_error(unit, diagonal):
    """Its diagonal is 0, or nearly, and its eigenvalues are of both signs."""
    X, y = rows()
    D = unit * (pairwise_distances(X) + diagonal * np.eye(60))
    model = SVC(C=0.1 / unit, kernel="precomputed").fit(D, y)
    for name in ("loo_error_", "loo_decision_", "span_estimate_", "xi_alpha_bound_"):
        with pytest.raises(ValueError, match="semi-definite"):
            getattr(model, name)
    with pytest.raises(ValueError, match="semi-definite"):
        LOOSearchCV(SVC(kernel="precomputed"), {"C": [0.1 / unit]}).fit(D, y)
    assert SeededCV(SVC(kernel="precomputed"), {"C": [0.1 / unit]}).fit(D, y).best_score_ > 0


@pytest.mark.parametrize("unit", UNITS)
def test_a_nu_svc_of_a_matrix_without_a_positive_diagonal(unit):
    """Its tolerance is one of the values of the kernel, in any unit."""
    X, y = rows()
    K = -unit * pairwise_distances(X)
    model = NuSVC(0.5, kernel="precomputed", tol=1e-6).fit(K, y)
    expected = NuSVC(0.5, kernel="precomputed", tol=1e-6).fit(K / unit, y)
    np.testing.assert_allclose(model.decision_function(K), expected.decision_function(K / unit), atol=1e-4)


@pytest.mark.parametrize("unit", UNITS)
def test_definiteness_does_not_depend_on_the_unit(unit):
    X, _ = rows()
    products = unit * (X @ X.T)  # of rank 4
    assert is_definite(products, 1e-6) and is_definite(np.zeros((3, 3)), 1e-6)
    assert not is_definite(-products, 1e-6)
    assert not is_definite(unit * pairwise_distances(X), 1e-6)
    assert not is_definite(unit * np.array([[0.0, 1.0], [1.0, 0.0]]), 1e-6)
    assert not is_definite(unit * np.array([[1.0, 0.0], [0.0, -1e-3]]), 1e-6)


def test_a_matrix_of_zeros_is_definite():
    _, y = rows()
    K = np.zeros((60, 60))
    assert SVC(kernel="precomputed").fit(K, y).loo_error_ == min(np.mean(y), 1 - np.mean(y))


@pytest.mark.parametrize("function", INDEFINITE)
def test_a_function_that_is_not_definite_is_refused_everywhere(function):
    X, y = two_classes(np.random.default_rng(0), 80, 3)
    model = SVC(kernel=function).fit(X, y)
    gram = Gram(X, Custom(function))
    solution = solve_csvc(gram, y, 1.0)
    assert not gram.is_definite()
    for ask in (
        lambda: model.loo_error_,
        lambda: model.span_estimate_,
        lambda: model.loo_score("accuracy"),
        lambda: leave_one_out(gram, y, 1.0),
        lambda: leave_one_out(gram.restricted(np.arange(0, 80, 2)), y[::2], 1.0),
        lambda: leave_one_out(Gram(X, Custom(function) * 2.0), y, 1.0),
        lambda: span_rule(gram, y, solution),
        lambda: cross_validate(gram, y, 1.0, np.arange(80) % 5, seeding="unlearn"),
        lambda: cross_validate_grid(gram, y, [1.0], folds=np.arange(80) % 5, seeding="unlearn"),
    ):
        with pytest.raises(ValueError, match=r"semi-definite.*kernel function"):
            ask()
    assert cross_validate(gram, y, 1.0, np.arange(80) % 20).errors.shape == (80,)


def test_a_definite_function_is_left_out_as_its_kernel():
    X, y = two_classes(np.random.default_rng(0), 80, 3)
    gram = Gram(X, Custom(lambda A, B: rbf_kernel(A, B, gamma=0.5)))
    assert gram.is_definite()
    assert leave_one_out(gram, y, 1.0).error == SVC(gamma=0.5).fit(X, y).loo_error_
    assert NuSVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(X, y).span_estimate_ >= 0
