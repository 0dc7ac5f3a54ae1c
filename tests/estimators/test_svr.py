"""SVR and NuSVR beside scikit-learn's: fits, left-out predictions, intervals and searches."""

import pickle
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect import RBF, Gram, solve_svr, span_estimate_svr
from svmselect.sklearn import SVR, LOOSearchCV, NuSVR, SeededCV

TIGHT = dict(tol=1e-8)


def smooth(m, d=3, seed=0):
    """Rows, and noisy targets of a smooth function of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, 3 * np.sin(X[:, 0]) + X[:, 1] * X[:, -1] + 0.5 * rng.normal(size=m) + 7


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize(("ours", "other"), [(SVR, sklearn.svm.SVR), (NuSVR, sklearn.svm.NuSVR)])
@pytest.mark.parametrize("make_sparse", [False, True])
def test_fits_are_those_of_scikit_learn(ours, other, kernel, make_sparse):
    X, z = smooth(60)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=60)
    data = sparse.csr_matrix(X) if make_sparse else X
    model, reference = (kind(kernel=kernel, C=2.0, **TIGHT).fit(data, z, weight) for kind in (ours, other))
    np.testing.assert_allclose(model.predict(data), reference.predict(data), atol=5e-5)
    np.testing.assert_array_equal(model.support_, reference.support_)
    dual_coef = reference.dual_coef_.toarray() if make_sparse else reference.dual_coef_
    np.testing.assert_allclose(model.dual_coef_, dual_coef, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=5e-5)
    assert model.shape_fit_ == reference.shape_fit_
    assert model.fit_status_ == 0
    np.testing.assert_array_equal(model.n_support_, reference.n_support_)
    if kernel == "linear":
        coef = reference.coef_.toarray() if make_sparse else reference.coef_
        np.testing.assert_allclose(model.coef_, coef, atol=5e-5)
    else:
        with pytest.raises(AttributeError, match="coef_"):
            model.coef_  # noqa: B018


def test_parameters_are_those_of_scikit_learn():
    assert SVR().get_params().keys() == sklearn.svm.SVR().get_params().keys()
    assert NuSVR().get_params().keys() == sklearn.svm.NuSVR().get_params().keys()


def test_left_out_predictions_residuals_and_scores():
    X, z = smooth(40)
    weight = np.ones(40)
    weight[5] = 2
    model = SVR(C=5.0, gamma=0.3).fit(X, z, weight)
    reference = np.empty(40)
    for r in range(40):
        rows = np.arange(40) != r
        reference[r] = SVR(C=5.0, gamma=0.3, tol=1e-10).fit(X[rows], z[rows], weight[rows]).predict(X[[r]])[0]
    np.testing.assert_allclose(model.loo_predictions_, reference, atol=1e-8)
    np.testing.assert_allclose(model.loo_residuals_, z - reference, atol=1e-8)
    shares = []
    np.testing.assert_array_equal(model.leave_one_out(shares.append), model.loo_predictions_)
    assert shares[-1] == 1
    score = model.loo_score("neg_mean_absolute_error")
    np.testing.assert_allclose(score, -np.abs(z - reference).mean(), atol=1e-8)
    weighted = model.loo_score("neg_mean_squared_error", weight)
    np.testing.assert_allclose(weighted, -np.average((z - reference) ** 2, weights=weight), atol=1e-7)
    assert set(model.loo_score(["r2", "neg_max_error"])) == {"r2", "neg_max_error"}


def test_span_estimate_is_near_the_exact_error():
    X, z = smooth(100)
    model = SVR(C=5.0, gamma=0.3, epsilon=0.3).fit(X, z)
    exact = np.abs(model.loo_residuals_).mean()
    assert abs(model.span_estimate_ - exact) < 0.2 * exact
    gram = Gram(X, RBF(0.3))
    solution = solve_svr(gram, z, 5.0, 0.3, tol=1e-9)
    np.testing.assert_allclose(model.span_estimate_, span_estimate_svr(gram, z, solution).mean_absolute_error)


def test_left_out_predictions_of_nu():
    X, z = smooth(25)
    model = NuSVR(nu=0.4, C=5.0, gamma=0.3, **TIGHT).fit(X, z)
    reference = cross_val_predict(
        sklearn.svm.NuSVR(nu=0.4, C=5.0, gamma=0.3, **TIGHT), X, z, cv=LeaveOneOut()
    )
    np.testing.assert_allclose(model.loo_predictions_, reference, atol=1e-4)


def test_a_precomputed_kernel_and_a_pickle():
    X, z = smooth(30)
    K = X @ X.T
    model, linear = SVR(kernel="precomputed", **TIGHT).fit(K, z), SVR(kernel="linear", **TIGHT).fit(X, z)
    np.testing.assert_allclose(model.predict(K), linear.predict(X), atol=1e-6)
    np.testing.assert_allclose(model.loo_predictions_, linear.loo_predictions_, atol=1e-7)
    np.testing.assert_allclose(model.predict_interval(K), linear.predict_interval(X), atol=1e-6)
    copy = pickle.loads(pickle.dumps(clone(linear).fit(X, z)))
    np.testing.assert_array_equal(copy.predict(X), linear.predict(X))
    with pytest.raises(AttributeError, match="loo_predictions_"):
        copy.loo_predictions_  # noqa: B018


def jackknife_plus(model, X, z, weight, new, alpha):
    """Intervals by the definition of Barber et al. (2021), eq. 1.6, with one fit per row."""
    rows = np.flatnonzero(weight > 0)
    low, high = [], []
    for r in rows:
        rest = rows[rows != r]
        fit = clone(model).fit(X[rest], z[rest], sample_weight=weight[rest])
        residual = abs(z[r] - fit.predict(X[[r]])[0])
        low.append(fit.predict(new) - residual)
        high.append(fit.predict(new) + residual)
    n = rows.size
    share = Fraction(str(alpha))
    k_low, k_high = floor(share * (n + 1)), ceil((1 - share) * (n + 1))
    return np.stack([np.sort(low, axis=0)[k_low - 1], np.sort(high, axis=0)[k_high - 1]], axis=1)


@pytest.mark.parametrize("kind", ["plain", "duplicates", "wide tube"])
@pytest.mark.parametrize("alpha", [0.1, 0.25])
def test_intervals_are_those_of_one_fit_per_row(kind, alpha):
    X, z = smooth(30)
    if kind == "duplicates":
        X[15:], z[20:] = X[:15], z[5:15]
    weight = np.ones(30)
    weight[[3, 4]] = 0, 2
    model = SVR(C=3.0, gamma=0.3, epsilon=50.0 if kind == "wide tube" else 0.3, tol=1e-10)
    new = smooth(10, seed=5)[0]
    intervals = clone(model).fit(X, z, weight).predict_interval(new, alpha)
    np.testing.assert_allclose(intervals, jackknife_plus(model, X, z, weight, new, alpha), atol=1e-7)


def test_intervals_of_nu_and_of_few_rows():
    X, z = smooth(20)
    model = NuSVR(nu=0.5, C=3.0, gamma=0.3, tol=1e-9)
    intervals = clone(model).fit(X, z).predict_interval(X[:4], 0.2)
    np.testing.assert_allclose(intervals, jackknife_plus(model, X, z, np.ones(20), X[:4], 0.2), atol=1e-5)
    assert np.isinf(SVR().fit(X[:8], z[:8]).predict_interval(X, 0.1)).all()
    for alpha in (0, 1, "0.1", None):
        with pytest.raises(ValueError, match=f"alpha .*{alpha}"):
            SVR().fit(X, z).predict_interval(X, alpha)


def test_coverage_of_intervals():
    inside = []
    for seed in range(10):
        X, z = smooth(1100, seed=seed)
        intervals = SVR(C=3.0, gamma=0.3, epsilon=0.5).fit(X[:100], z[:100]).predict_interval(X[100:], 0.1)
        inside.append(np.mean((intervals[:, 0] <= z[100:]) & (z[100:] <= intervals[:, 1])))
    # of each set: the quantile of 100 residuals has a standard error of sqrt(0.9 * 0.1 / 100) = 3 %
    assert min(inside) > 0.9 - 3 * 0.03
    assert np.mean(inside) > 0.9 - 2 * 0.03 / np.sqrt(10)


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", ["r2", "neg_max_error"]])
def test_searches_by_folds_are_those_of_grid_search(scoring):
    X, z = smooth(50)
    grid = {"C": [1.0, 10.0], "gamma": [0.1, 1.0], "epsilon": [0.1, 1.0]}
    refit = "r2" if isinstance(scoring, list) else True
    options = dict(cv=4, scoring=scoring, return_train_score=True, refit=refit)
    ours = SeededCV(SVR(**TIGHT), grid, **options).fit(X, z)
    other = GridSearchCV(sklearn.svm.SVR(**TIGHT), grid, **options).fit(X, z)
    for name in other.cv_results_:
        if "_test_" in name or "_train_" in name:
            values = ours.cv_results_[name]
            np.testing.assert_allclose(values, other.cv_results_[name], atol=1e-5, err_msg=name)
    assert ours.best_params_ == other.best_params_
    np.testing.assert_allclose(ours.predict(X), other.predict(X), atol=1e-5)
    np.testing.assert_allclose(ours.score(X, z), other.score(X, z), atol=1e-5)
    assert not hasattr(ours, "classes_")


def test_search_by_leave_one_out_scores_all_left_out_predictions():
    X, z = smooth(30)
    grid = {"C": [1.0, 10.0], "epsilon": [0.1, 1.0], "gamma": [0.3]}
    search = LOOSearchCV(SVR(), grid, scoring="r2", return_train_score=True).fit(X, z)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        left_out = cross_val_predict(sklearn.svm.SVR(tol=1e-9, **params), X, z, cv=LeaveOneOut())
        scorer = get_scorer("r2")
        np.testing.assert_allclose(score, scorer._score_func(z, left_out), atol=1e-6)
    assert search.scoring_ == "r2"
    np.testing.assert_allclose(search.best_estimator_.loo_score("r2"), search.best_score_, atol=1e-8)
    with pytest.raises(AttributeError, match="loo_error_"):
        search.loo_error_  # noqa: B018


def test_searches_of_nu_weights_halving_and_pipelines():
    X, z = smooth(60)
    weight = np.random.default_rng(0).integers(0, 3, size=60).astype(float)
    search = SeededCV(NuSVR(**TIGHT), {"nu": [0.3, 0.6], "C": [1, 5]}, cv=3).fit(X, z, weight)
    params = search.best_params_
    scores = []
    for train, test in KFold(3).split(X):
        fit = NuSVR(**TIGHT, **params, gamma=1 / (3 * X.var())).fit(X[train], z[train], weight[train])
        scores.append(fit.score(X[test], z[test], weight[test]))
    np.testing.assert_allclose(search.best_score_, np.mean(scores), atol=1e-4)
    assert LOOSearchCV(NuSVR(), {"nu": [0.5], "C": [1.0]}).fit(X[:15], z[:15]).best_score_ < 1
    halved = SeededCV(SVR(), {"C": [0.1, 1, 10, 100]}, factor=2, random_state=0).fit(X, z)
    assert halved.cv_results_["n_resources"].min() < 60
    pipeline = make_pipeline(StandardScaler(), LOOSearchCV(SVR(), {"C": [1, 10]})).fit(X, z)
    assert pipeline.predict(X).shape == (60,)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (SVR(C=-1), ("C", "-1")),
        (SVR(epsilon=-0.5), ("epsilon", "-0.5")),
        (SVR(shrinking="no"), ("shrinking", "no")),
        (SVR(kernel="gauss"), ("kernel", "gauss")),
        (NuSVR(nu=2), ("nu", "2")),
        (LOOSearchCV(SVR(), {"epsilon": [-1.0]}), ("epsilon", "-1.0")),
        (LOOSearchCV(SVR(), {"class_weight": ["balanced"]}), ("param_grid", "class_weight")),
        (SeededCV(SVR(), {"C": [1.0]}, stop_early=True), ("stop_early", "None")),
        (SeededCV(LinearRegression()), ("estimator", "LinearRegression")),
    ],
)
def test_bad_parameters_are_named(estimator, words):
    X, z = smooth(12)
    with pytest.raises(ValueError) as error:
        estimator.fit(X, z)
    assert all(word in str(error.value) for word in words)
