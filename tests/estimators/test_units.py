"""Units: targets in other units give the same model in these units, and fits are of one model."""

import numpy as np
import pytest

from svmselect.sklearn import SVR, LOOSearchCV, NuSVR, OneClassSVM, SeededCV
from svmselect.svr import spread_of

SCALES = [1e-6, 1e-3, 1e3, 1e6]


def rows(m=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=m)


@pytest.mark.parametrize("kind", [SVR, NuSVR])
@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
def test_a_search_does_not_depend_on_the_unit_of_the_targets(kind, search):
    X, z = rows()
    first = search(kind()).fit(X, z)
    assert len(first.cv_results_["params"]) == 64
    for scale in SCALES:
        other = search(kind()).fit(X, scale * z)
        assert other.best_index_ == first.best_index_
        for name, value in first.best_params_.items():
            unit = 1 if name == "gamma" else scale
            assert other.best_params_[name] == pytest.approx(unit * value, rel=1e-12)
        assert other.best_score_ == pytest.approx(first.best_score_, abs=1e-3)
        np.testing.assert_allclose(other.predict(X), scale * first.predict(X), atol=3e-3 * scale)


@pytest.mark.parametrize("kind", [SVR, NuSVR])
@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e8])
def test_left_out_scores_are_of_the_fitted_model(kind, scale):
    X, z = rows(120)
    options = {"epsilon": 0.05 * scale} if kind is SVR else {}
    model = kind(C=10 * scale, **options).fit(X, scale * z)
    new, targets = rows(500, 1)
    assert model.loo_score("r2") > 0.9 and model.score(new, scale * targets) > 0.9
    assert model.n_iter_ > 100 and model.fit_status_ == 0


def test_the_unit_is_the_deviation_of_the_targets():
    z = np.array([1.0, 2.0, 5.0, 100.0])
    assert spread_of(z, np.array([1.0, 1, 2, 0])) == pytest.approx(np.std([1, 2, 5, 5]))
    assert spread_of(np.full(3, 7.0), np.ones(3)) == 1 and spread_of(np.zeros(2), np.ones(2)) == 1
    for unit in (1e-300, 1e150):
        assert spread_of(unit * z, np.ones(4)) == pytest.approx(unit * np.std(z))


def test_parameters_set_after_fit_change_nothing_that_was_fitted():
    X, z = rows()
    for model, changes in (
        (SVR(C=10), {"epsilon": 1.0, "C": 1e-3}),
        (NuSVR(C=10), {"nu": 0.05, "C": 1e-3}),
        (OneClassSVM(nu=0.1), {"nu": 0.9}),
    ):
        fits = [model.fit(X, z).loo_predictions_.copy()]
        later = model.fit(X, z).set_params(**changes)
        np.testing.assert_array_equal(later.loo_predictions_, fits[0])
        if isinstance(model, SVR):
            again = SVR(C=10).fit(X, z)
            later = SVR(C=10).fit(X, z).set_params(**changes)
            assert later.span_estimate_ == again.span_estimate_
            np.testing.assert_array_equal(
                later.predict_interval(X[:4], 0.2), again.predict_interval(X[:4], 0.2)
            )


def test_intervals_and_left_out_predictions_are_of_one_computation():
    X, z = np.array([[0.0], [2], [2], [2], [1]]), np.array([0.0, 2, -2, 2, 0])
    model = SVR(kernel="linear", C=0.7, epsilon=0.1).fit(X, z, [0.7, 0.3, 0.7, 0.1, 0.3])
    before = model.loo_predictions_.copy()
    assert before[0] == pytest.approx(-0.685)
    model.predict_interval(X[:1], 0.4)
    np.testing.assert_allclose(model.loo_predictions_, before, atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_in_bound_rows_and_their_copies_are_accepted(kernel):
    rng = np.random.default_rng(5)
    rows = np.round(2 * rng.normal(size=(80, 2))) + 3
    X = rows @ rows.T if kernel == "precomputed" else rows
    for nu in (1 / 80, 0.1, 0.4):
        model = OneClassSVM(nu=nu, kernel=kernel).fit(X)
        assert np.mean(model.predict(X) < 0) <= nu
        inside = model.support_[model.dual_coef_[0] < 1]
        assert (model.predict(X)[inside] == 1).all() and (model.decision_function(X)[inside] >= 0).all()
