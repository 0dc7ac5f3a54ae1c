"""OneClassSVM beside scikit-learn's: fits, left-out values and the search by consistency."""

import pickle

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect.sklearn import SVR, LOOSearchCV, OneClassSVM, SeededCV

TIGHT = dict(tol=1e-9)


def cloud(m=80, seed=0, far=0.0):
    """Rows around a point, some of them outliers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2)) + far
    X[-5:] += 4 * rng.normal(size=(5, 2))
    return X


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("make_sparse", [False, True])
@pytest.mark.parametrize("far", [10.0, 1000.0])
def test_fits_are_those_of_scikit_learn(kernel, make_sparse, far):
    X = cloud(far=far)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=80)
    data = sparse.csr_matrix(X) if make_sparse else X
    scale = 1.0 if kernel == "rbf" else far**2 if kernel == "linear" else far**6
    models = [
        # scikit-learn's tolerance is in units of the kernel
        kind(kernel=kernel, nu=0.23, gamma=0.5, tol=tol).fit(data, sample_weight=weight)
        for kind, tol in ((OneClassSVM, 1e-9), (sklearn.svm.OneClassSVM, 1e-9 * scale))
    ]
    model, reference = models
    values = [each.decision_function(data) for each in models]
    size = np.abs(reference.intercept_).max()
    np.testing.assert_allclose(*values, atol=1e-6 * size)
    np.testing.assert_allclose(model.offset_, reference.offset_, atol=1e-6 * size)
    np.testing.assert_allclose(model.score_samples(data), reference.score_samples(data), atol=1e-6 * size)
    clear = np.abs(values[1]) > 1e-5 * size
    np.testing.assert_array_equal(model.predict(data)[clear], reference.predict(data)[clear])
    assert model.shape_fit_ == reference.shape_fit_ and model.fit_status_ == 0
    if kernel == "linear" and not make_sparse:
        np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-6 * size)
    np.testing.assert_array_equal(clone(model).fit_predict(data), clone(model).fit(data).predict(data))


def test_parameters_are_those_of_scikit_learn():
    assert OneClassSVM().get_params().keys() == sklearn.svm.OneClassSVM().get_params().keys()


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_left_out_values(kernel):
    X = cloud(50, far=2.0)
    weight = np.ones(50)
    weight[[3, 7]] = 0, 2
    model = OneClassSVM(kernel=kernel, nu=0.23, gamma=0.5).fit(X, sample_weight=weight)
    reference = np.empty(50)
    for r in range(50):
        rest = np.arange(50) != r
        fit = sklearn.svm.OneClassSVM(kernel=kernel, nu=0.23, gamma=0.5, tol=1e-10)
        reference[r] = fit.fit(X[rest], sample_weight=weight[rest]).decision_function(X[[r]])[0]
    size = np.abs(reference).max()
    np.testing.assert_allclose(model.loo_decision_, reference, atol=1e-6 * size)
    np.testing.assert_array_equal(model.loo_predictions_, np.where(reference >= 0, 1, -1))
    np.testing.assert_allclose(model.loo_rejection_rate_, weight @ (reference < 0) / weight.sum())
    shares = []
    np.testing.assert_array_equal(model.leave_one_out(shares.append), model.loo_decision_)
    assert shares[-1] == 1
    y = np.where(np.arange(50) < 45, 1, -1)
    scores = model.loo_score(["roc_auc", "accuracy"], y)
    np.testing.assert_allclose(scores["roc_auc"], roc_auc_score(y, reference))
    np.testing.assert_allclose(scores["accuracy"], np.mean(model.loo_predictions_ == y))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_weight_is_a_number_of_copies(kernel):
    X, copies = cloud(40, far=3.0), np.random.default_rng(0).integers(0, 4, size=40)
    options = dict(kernel=kernel, nu=0.31, gamma=0.5, tol=1e-10)
    weighted = OneClassSVM(**options).fit(X, sample_weight=copies)
    repeated = OneClassSVM(**options).fit(X.repeat(copies, axis=0))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)


def test_a_precomputed_kernel_and_a_pickle():
    X = cloud(30, far=1.0)
    K = X @ X.T
    model = OneClassSVM(kernel="precomputed", nu=0.33, **TIGHT).fit(K)
    linear = OneClassSVM(kernel="linear", nu=0.33, **TIGHT).fit(X)
    np.testing.assert_allclose(model.decision_function(K), linear.decision_function(X), atol=1e-7)
    np.testing.assert_allclose(model.loo_decision_, linear.loo_decision_, atol=1e-7)
    copy = pickle.loads(pickle.dumps(clone(linear).fit(X)))
    np.testing.assert_array_equal(copy.predict(X), linear.predict(X))
    with pytest.raises(AttributeError, match="loo_decision_"):
        copy.loo_decision_  # noqa: B018


def test_search_by_consistency_takes_the_most_complex_model_that_is_not_refuted():
    X = cloud(100)
    gammas, nu = [0.01, 0.1, 1.0, 10.0], 0.1
    search = LOOSearchCV(OneClassSVM(nu=nu), {"gamma": gammas}).fit(X)
    rates = [OneClassSVM(nu=nu, gamma=gamma).fit(X).loo_rejection_rate_ for gamma in gammas]
    consistent = np.array(rates) <= nu + 2 * np.sqrt(nu * (1 - nu) / 100)
    assert consistent.any() and not consistent.all()
    np.testing.assert_allclose(search.cv_results_["loo_rejection_rate"], rates)
    np.testing.assert_array_equal(search.cv_results_["consistent"], consistent)
    assert search.best_params_ == {"gamma": np.array(gammas)[consistent].max()}
    assert search.scoring_ == "consistency"
    np.testing.assert_array_equal(
        search.predict(X), OneClassSVM(nu=nu, **search.best_params_).fit(X).predict(X)
    )
    assert not hasattr(search, "classes_") and not hasattr(search, "score")
    default = LOOSearchCV(OneClassSVM(nu=nu)).fit(X)
    assert len(default.cv_results_["params"]) == 8 and "param_nu" not in default.cv_results_


def test_search_of_few_labels_and_of_kernels():
    X = cloud(60, far=1e4)
    y = np.where(np.arange(60) < 55, 1, -1)
    grid = [{"gamma": [0.1, 1.0], "nu": [0.1, 0.35]}, {"kernel": ["linear"]}]
    search = LOOSearchCV(OneClassSVM(nu=0.25), grid, scoring="roc_auc", return_train_score=True).fit(X, y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        model = OneClassSVM(**({"nu": 0.25} | params)).fit(X)
        np.testing.assert_allclose(model.loo_score("roc_auc", y), score)
    np.testing.assert_allclose(search.score(X, y), roc_auc_score(y, search.decision_function(X)))
    halved = LOOSearchCV(OneClassSVM(nu=0.2), {"gamma": [0.01, 0.1, 1, 10]}, factor=2)
    halved = halved.set_params(random_state=0).fit(X)
    assert halved.cv_results_["n_resources"].min() < 60
    pipeline = make_pipeline(StandardScaler(), LOOSearchCV(OneClassSVM(nu=0.1), {"gamma": [0.1, 1]})).fit(X)
    assert set(pipeline.predict(X)) == {-1, 1}


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (OneClassSVM(nu=2), ("nu", "2")),
        (OneClassSVM(shrinking="no"), ("shrinking", "no")),
        (LOOSearchCV(OneClassSVM(), {"nu": [2.0]}), ("nu", "2.0")),
        (LOOSearchCV(OneClassSVM(), {"C": [2.0]}), ("param_grid", "C")),
        (LOOSearchCV(OneClassSVM(), stop_early=True), ("stop_early", "None")),
        (SeededCV(OneClassSVM()), ("OneClassSVM", "LOOSearchCV")),
        (LOOSearchCV(SVR()), ("y",)),
    ],
)
def test_bad_parameters_are_named(estimator, words):
    with pytest.raises(ValueError) as error:
        estimator.fit(cloud(12))
    assert all(word in str(error.value) for word in words)
