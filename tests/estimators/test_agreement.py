"""Classifiers against those of scikit-learn (LIBSVM)."""

import warnings

import numpy as np
import pytest
import sklearn.svm
from estimators.problems import blobs
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, nasty, two_classes
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from svmselect.sklearn import SVC, NuSVC

MODELS = [
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "rbf"},
    {"kernel": "linear"},
    {"gamma": "auto"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
    {"kernel": "poly", "gamma": "auto", "coef0": 0.5},
]


def assert_same(ours, theirs, X, atol=1e-4):
    ours.set_params(decision_function_shape="ovo")
    theirs.set_params(decision_function_shape="ovo")
    f, g = (model.decision_function(X).reshape(X.shape[0], -1) for model in (ours, theirs))
    np.testing.assert_allclose(f, g, atol=atol * (1 + np.abs(g).max()))
    sure = np.abs(g).min(axis=1) > 2 * atol * (1 + np.abs(g).max())
    np.testing.assert_array_equal(ours.predict(X)[sure], theirs.predict(X)[sure])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("C", [0.1, 10])
def test_two_classes(model, C):
    X, y = two_classes(np.random.default_rng(1), 150, 4)
    ours, theirs = SVC(C, tol=1e-7, **model), sklearn.svm.SVC(C=C, tol=1e-7, **model)
    assert_same(ours.fit(X, y), theirs.fit(X, y), X + 0.1)
    assert ours.score(X, y) == theirs.score(X, y)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4 * C)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4 * (1 + C))
    if model.get("kernel") == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4 * (1 + C))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("load", [load_iris, load_wine, None])
def test_more_classes(model, load):
    X, y = blobs(2) if load is None else load(return_X_y=True)
    X, first = np.unique((X - X.mean(axis=0)) / X.std(axis=0), axis=0, return_index=True)
    y = y[first]  # alphas of equal rows are not unique
    ours, theirs = SVC(tol=1e-8, **model).fit(X, y), sklearn.svm.SVC(tol=1e-8, **model).fit(X, y)
    new = X + 0.3 * np.random.default_rng(3).normal(size=X.shape)
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=1e-4)
    assert_same(ours, theirs, new)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    if model.get("kernel") == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    m=st.integers(4, 40),
    C=st.sampled_from([1e-3, 0.3, 10.0, 1e4]),
    model=st.sampled_from(MODELS[:3]),
)
@settings(deadline=None, max_examples=60)
def test_nasty_rows(seed, kind, m, C, model):
    X, y = nasty(np.random.default_rng(seed), kind, m, 3)
    ours = SVC(C, tol=1e-6, **model).fit(X, y)
    theirs = sklearn.svm.SVC(C=C, tol=1e-6, max_iter=10**6, **model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            theirs.fit(X, y)
        except ConvergenceWarning:
            return
    f, g = ours.decision_function(X), theirs.decision_function(X)
    scale = 1e-4 * (1 + np.abs(g).max())
    alpha = np.abs(theirs.dual_coef_)
    if ((alpha > 1e-6 * C) & (alpha < (1 - 1e-6) * C)).any():
        np.testing.assert_allclose(f, g, atol=scale)
        sure = np.abs(g) > 2 * scale
        np.testing.assert_array_equal(ours.predict(X)[sure], theirs.predict(X)[sure])
    else:  # the threshold is an interval: its ends are known to tol only
        np.testing.assert_allclose(f - f.mean(), g - g.mean(), atol=scale)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}])
def test_weights(classes, class_weight):
    X, y = blobs(4, k=classes)
    weight = np.random.default_rng(5).uniform(0, 2, size=len(y))
    weight[::7] = 0
    options = {"gamma": 0.3, "class_weight": class_weight, "tol": 1e-8, "C": 2.0}
    ours = SVC(**options).fit(X, y, sample_weight=weight)
    theirs = sklearn.svm.SVC(**options).fit(X, y, sample_weight=weight)
    assert_same(ours, theirs, X)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    assert (weight[ours.support_] > 0).all()
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_precomputed_kernel_is_its_values(classes):
    X, y = blobs(6, k=classes)
    ours = SVC(kernel="precomputed", tol=1e-8).fit(rbf_kernel(X, gamma=0.2), y)
    new = X + 0.2
    rows = SVC(gamma=0.2, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(rbf_kernel(new, X, gamma=0.2)), rows.decision_function(new), atol=1e-6
    )
    assert ours.loo_error_ == rows.loo_error_
    theirs = sklearn.svm.SVC(kernel="precomputed", tol=1e-8).fit(rbf_kernel(X, gamma=0.2), y)
    assert_same(ours, theirs, rbf_kernel(new, X, gamma=0.2))


def test_training_ends_on_an_indefinite_kernel():
    rng = np.random.default_rng(7)
    K = rng.normal(size=(60, 60))
    y = rng.integers(0, 2, 60)
    fitted = SVC(kernel="precomputed").fit(K + K.T, y)
    assert fitted.fit_status_ == 0
    with pytest.raises(ValueError, match="positive semi-definite"):
        fitted.loo_error_  # noqa: B018


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nu(classes, kernel, weighted):
    X, y = blobs(8, m=120, k=classes)
    weight = np.random.default_rng(9).uniform(0.5, 1.5, size=len(y)) if weighted else None
    options = {"nu": 0.737, "kernel": kernel, "gamma": 0.3, "tol": 1e-8}
    ours = NuSVC(**options).fit(X, y, sample_weight=weight)
    theirs = sklearn.svm.NuSVC(**options).fit(X, y, sample_weight=weight)
    assert_same(ours, theirs, X, atol=1e-3)


def test_sparse_rows_have_the_gamma_of_scikit_learn():
    X, y = blobs(10)
    X[X < 0.5] = 0
    ours, theirs = SVC(tol=1e-8), sklearn.svm.SVC(tol=1e-8)
    X = sparse.csr_array(X)
    assert_same(ours.fit(X, y), theirs.fit(X, y), X)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"C": 0}, r"C\b.* 0.0\b"),
        ({"gamma": -1}, r"gamma\b.* -1\b"),
        ({"gamma": "wide"}, r"gamma\b.* 'wide'"),
        (
            {"kernel": "cosine"},
            r"kernel\b.* 'cosine'",
        ),
        ({"tol": 0}, r"tol\b.* 0\b"),
        ({"max_iter": -2}, "max_iter must be -1"),
        ({"decision_function_shape": "all"}, "decision_function_shape must be one of"),
        ({"kernel": "precomputed"}, r"shape \(90, 3\)"),
        ({"cache_size": 0}, r"memory_mb\b.* 0\b"),
    ],
)
def test_bad_parameters_are_named(parameters, sentence):
    X, y = blobs(0, k=2)
    with pytest.raises(ValueError, match=sentence):
        SVC(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (np.ones(3), r"sample_weight must have shape \(90,\)"),
        (np.full(90, -1.0), r"sample_weight\b.* -1.0 at row 0\b"),
        (np.zeros(90), r"weight\b.* \[\]"),
        (blobs(0, k=2)[1], r"weight\b.* \[1\]"),
    ],
)
def test_bad_weights_are_named(weight, sentence):
    X, y = blobs(0, k=2)
    with pytest.raises(ValueError, match=sentence):
        SVC().fit(X, y, sample_weight=weight)


def test_an_asymmetric_kernel_is_named():
    K = np.eye(4)
    K[1, 2] = 0.5
    with pytest.raises(ValueError, match=r"0\.5 at \(1, 2\) and 0\.0 across\b"):
        SVC(kernel="precomputed").fit(K, [0, 1, 0, 1])


def test_steps_run_out():
    X, y = blobs(0, k=2)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps"):
        fitted = SVC(max_iter=1).fit(X, y)
    assert fitted.fit_status_ == 1
    with pytest.warns(ConvergenceWarning):
        fitted = SVC(max_iter=0).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), fitted.intercept_[0])
