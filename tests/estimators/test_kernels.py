"""Estimators and searches with kernels beyond the linear and the RBF one."""

import pickle

import numpy as np
import pytest
import sklearn.svm
from numerics.problems import two_classes
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from sklearn.model_selection import GridSearchCV, LeaveOneOut

from svmselect import RBF, AnisotropicRBF, ChiSquared, Laplacian, Linear, Polynomial, Sigmoid
from svmselect.kernels import Custom
from svmselect.sklearn import SVC, BaggedSVC, CrossTrainingSVC, EditedSVC, LOOSearchCV, NuSVC, SeededCV


def intersection(X, Z):
    return np.minimum(X[:, None], Z[None]).sum(axis=2)


def positive_rows(m, seed=0):
    X, y = two_classes(np.random.default_rng(seed), m, 4)
    return np.abs(X), y


# of ours, and what scikit-learn's SVC is given for it
SAME = {
    "laplacian": ({"kernel": "laplacian", "gamma": 0.5}, lambda X, Z: laplacian_kernel(X, Z, gamma=0.5)),
    "chi-squared": ({"kernel": "chi2", "gamma": 0.5}, lambda X, Z: chi2_kernel(X, Z, gamma=0.5)),
    "function": ({"kernel": intersection}, intersection),
    "sum": (
        {"kernel": ChiSquared(0.2) + 3 * Linear()},
        lambda X, Z: chi2_kernel(X, Z, gamma=0.2) + 3 * X @ Z.T,
    ),
    "product": (
        {"kernel": RBF(0.1) * Polynomial(2)},
        lambda X, Z: np.exp(-0.1 * squared(X, Z)) * (X @ Z.T) ** 2,
    ),
    "width per feature": ({"kernel": AnisotropicRBF((1, 1, 1, 1))}, lambda X, Z: np.exp(-squared(X, Z))),
}


def squared(X, Z):
    return ((X[:, None] - Z[None]) ** 2).sum(axis=2)


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("more_classes", [False, True])
def test_as_scikit_learn(name, more_classes):
    parameters, function = SAME[name]
    X, y = load_iris(return_X_y=True) if more_classes else positive_rows(120)
    X, first = np.unique(X, axis=0, return_index=True)
    y = y[first]
    ours = SVC(C=2.0, tol=1e-8, **parameters).fit(X, y)
    theirs = sklearn.svm.SVC(C=2.0, tol=1e-8, kernel=function).fit(X, y)
    new = X + 0.1
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=1e-3)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.decision_function(new), ours.decision_function(new))
    assert clone(ours).get_params()["C"] == 2.0


@pytest.mark.parametrize("name", SAME)
def test_leave_one_out(name):
    parameters, function = SAME[name]
    X, y = positive_rows(60)
    theirs = GridSearchCV(
        sklearn.svm.SVC(kernel=function, tol=1e-6), {"C": [0.5, 4.0]}, cv=LeaveOneOut()
    ).fit(X, y)
    ours = LOOSearchCV(SVC(**parameters), {"C": [0.5, 4.0]}).fit(X, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    model = SVC(C=4.0, **parameters).fit(X, y)
    assert model.loo_error_ == pytest.approx(1 - ours.cv_results_["mean_test_score"][1])
    assert model.span_estimate_ <= 1 and model.radius_margin_bound_ > 0


def test_search_over_kernels():
    X, y = positive_rows(80)
    grid = [
        {"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0], "C": [1.0, 10.0]},
        {"kernel": ["poly"], "degree": [2, 3], "coef0": [0.0, 1.0], "C": [1.0]},
        {"kernel": [Linear(), RBF(0.5) + Linear(), intersection], "C": [1.0]},
    ]
    for search in (LOOSearchCV(param_grid=grid), SeededCV(param_grid=grid, cv=5)):
        search.fit(X, y)
        results = search.cv_results_
        assert len(results["params"]) == 8 + 4 + 3
        for n in (0, 7, 9, 12, 13, 14):
            ours = SVC(**results["params"][n])
            one = clone(search).set_params(param_grid={"C": [ours.C]}, estimator=ours).fit(X, y)
            assert one.best_score_ == results["mean_test_score"][n]
        assert search.best_estimator_.get_params()["kernel"] == search.best_params_["kernel"]
        assert search.score(X, y) > 0.6
    assert LOOSearchCV(SVC(kernel="laplacian")).fit(X, y).best_params_.keys() == {"C", "gamma"}
    assert LOOSearchCV(SVC(kernel="poly")).fit(X, y).best_params_.keys() == {"C"}


def test_sigmoid():
    """It is trained as LIBSVM trains it, and cross-validated; there is no exact leave-one-out."""
    X, y = two_classes(np.random.default_rng(2), 100, 3)
    parameters = {"kernel": "sigmoid", "gamma": 0.05, "coef0": 0.1, "C": 1.0}
    ours, theirs = SVC(tol=1e-6, **parameters).fit(X, y), sklearn.svm.SVC(tol=1e-6, **parameters).fit(X, y)
    assert abs(ours.score(X, y) - theirs.score(X, y)) < 0.03
    assert SeededCV(SVC(**parameters), {"C": [0.1, 1.0]}).fit(X, y).best_score_ > 0.5
    for ask in (lambda: ours.loo_error_, lambda: ours.span_estimate_, lambda: LOOSearchCV(ours).fit(X, y)):
        with pytest.raises(ValueError, match=r"semi-definite.*Sigmoid"):
            ask()


def tanh(X, Z):
    return np.tanh(0.5 * X @ Z.T - 1)


def difference(X, Z):
    return np.exp(-squared(X, Z)) - 0.5 * np.exp(-0.1 * squared(X, Z))


@pytest.mark.parametrize("function", [tanh, difference])
def test_a_function_that_is_not_positive_semi_definite(function):
    """As the sigmoid kernel, alone and in a sum; scikit-learn's SVC takes it, too."""
    X, y = two_classes(np.random.default_rng(2), 100, 3)
    ours, theirs = SVC(kernel=function).fit(X, y), sklearn.svm.SVC(kernel=function).fit(X, y)
    assert abs(ours.score(X, y) - theirs.score(X, y)) < 0.05
    assert SeededCV(SVC(kernel=function), {"C": [0.1, 1.0]}).fit(X, y).best_score_ > 0.4
    summed = SVC(kernel=Custom(function) + 1e-3 * Linear()).fit(X, y)
    for ask in (
        lambda: ours.loo_error_,
        lambda: ours.loo_decision_,
        lambda: ours.span_estimate_,
        lambda: summed.loo_error_,
        lambda: LOOSearchCV(ours, {"C": [1, 2]}).fit(X, y),
    ):
        with pytest.raises(ValueError, match=r"semi-definite.*kernel function"):
            ask()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [40, 1200])
def test_a_function_of_low_rank_is_not_refused(m, dtype):
    """Most eigenvalues are 0, and some of them negative by round-off, of float32 values too."""
    X, y = two_classes(np.random.default_rng(2), m, 3)
    model = SVC(C=0.01, kernel=lambda A, B: 1e3 * A.astype(dtype) @ B.astype(dtype).T, tol=1e-2).fit(X, y)
    assert 0 < model.span_estimate_ < 0.5


def test_sparse_rows():
    X, y = positive_rows(60)
    X[X < 0.5] = 0
    for kernel in ("poly", "laplacian", "chi2", RBF(0.5) + Laplacian(0.1), AnisotropicRBF((1, 0, 2, 1))):
        dense, by_csr = (SVC(kernel=kernel, tol=1e-6).fit(rows, y) for rows in (X, sparse.csr_array(X)))
        np.testing.assert_allclose(
            dense.decision_function(X), by_csr.decision_function(sparse.csr_array(X)), atol=1e-3
        )
        np.testing.assert_allclose(by_csr.decision_function(X), dense.decision_function(X), atol=1e-3)
        assert dense.loo_error_ == by_csr.loo_error_


def test_a_kernel_function_may_return_a_sparse_matrix():
    X, y = two_classes(np.random.default_rng(4), 50, 3)
    X = np.where(np.abs(X) < 0.3, 0, X)
    fitted = SVC(kernel=lambda A, B: A @ B.T, tol=1e-9).fit(sparse.csr_matrix(X), y)
    dense = SVC(kernel=lambda A, B: A @ B.T, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(fitted.loo_decision_, dense.loo_decision_, atol=1e-7)
    np.testing.assert_allclose(
        fitted.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-7
    )


def test_parameters_of_scikit_learn_are_taken_or_refused():
    X, y = two_classes(np.random.default_rng(4), 50, 3)
    theirs, ours = sklearn.svm.SVC().get_params(), SVC().get_params()
    assert theirs.keys() <= ours.keys()
    assert sklearn.svm.NuSVC().get_params().keys() <= NuSVC().get_params().keys()
    for kind in (SVC, NuSVC):
        plain = kind().fit(X, y)
        with_more = kind(shrinking=False, verbose=True, random_state=3).fit(X, y)
        np.testing.assert_array_equal(with_more.decision_function(X), plain.decision_function(X))
        with pytest.raises(ValueError, match=r"probability\b.* True\b"):
            kind(probability=True).fit(X, y)


def test_other_estimators():
    X, y = positive_rows(120)
    assert NuSVC(0.7, kernel="poly", degree=2, coef0=1.0).fit(X, y).score(X, y) > 0.6
    for estimator in (
        CrossTrainingSVC(kernel=Laplacian(0.5), validation=30),
        BaggedSVC(kernel="laplacian", n_subsets=3),
        EditedSVC("condense", kernel=Polynomial(2, 1.0, 1.0)),
    ):
        assert estimator.fit(X, y).score(X, y) > 0.5
    with pytest.raises(ValueError, match=r"kernel\b.* 'precomputed'"):
        BaggedSVC(kernel="precomputed").fit(X, y)


def test_refused():
    X, y = positive_rows(30)
    for kernel in ("cosine", 3, None, RBF):
        with pytest.raises(ValueError, match=r"kernel\b.*'linear', 'rbf'"):
            SVC(kernel=kernel).fit(X, y)
    with pytest.raises(ValueError, match=r"degree\b.* 0\b"):
        SVC(kernel="poly", degree=0).fit(X, y)
    with pytest.raises(ValueError, match=r"X\b.* -1\b"):
        SVC(kernel="chi2").fit(X, y).predict(X - X - 1)
    with pytest.raises(ValueError, match=r"X\b.*chi-squared"):
        SVC(kernel="chi2").fit(X - 1, y)
    assert Sigmoid(1.0).definite is False
