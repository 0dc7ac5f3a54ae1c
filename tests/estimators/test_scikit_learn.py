"""What scikit-learn asks of an estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numerics.problems import two_classes
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

import svmselect.sklearn
from svmselect.sklearn import SVC, SVR, LOOSearchCV, NuSVC, NuSVR, OneClassSVM, SeededCV
from svmselect.sklearn.one_vs_one import two_values

GRID = {"C": [1.0, 10.0], "gamma": [0.1]}
# scikit-learn expects the same of its own SVC and NuSVC
TO_TOL = "both fits stop at tol; and gamma='scale' does not weigh rows, nor do scores of a search"
INFEASIBLE = "weights of one class that make nu=0.5 infeasible"


def expected_failures(estimator):
    if isinstance(estimator, SVC | SVR) and estimator.kernel == "precomputed":
        return {}
    failures = {
        "check_sample_weight_equivalence_on_dense_data": TO_TOL,
        "check_sample_weight_equivalence_on_sparse_data": TO_TOL,
    }
    if isinstance(estimator, NuSVC):
        failures["check_class_weight_classifiers"] = INFEASIBLE
    return failures


def public_estimators():
    """Every public class, as it is without parameters."""
    public = (getattr(svmselect.sklearn, name) for name in svmselect.sklearn.__all__)
    return [one() for one in public if isinstance(one, type) and issubclass(one, BaseEstimator)]


def test_all_classes_are_checked():
    names = {type(estimator).__name__ for estimator in public_estimators()}
    assert names >= {"SVC", "NuSVC", "LOOSearchCV", "SeededCV", "CrossTrainingSVC", "BaggedSVC", "EditedSVC"}


@parametrize_with_checks(
    [
        *(one for one in public_estimators() if not isinstance(one, LOOSearchCV | SeededCV)),
        LOOSearchCV(SVC(), GRID),
        SeededCV(SVC(), GRID),
        SVC(kernel="precomputed"),
        SVR(kernel="precomputed"),
    ],
    expected_failed_checks=expected_failures,
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        LOOSearchCV(SVR(), GRID),
        SeededCV(SVR(), GRID),
        LOOSearchCV(OneClassSVM(), {"gamma": [0.1, 1.0]}),
        SVC(kernel="linear"),
        SVR(kernel="linear"),
        OneClassSVM(kernel="linear"),
        SVC(calibration="loo"),
    ],
    expected_failed_checks=expected_failures,
)
def test_passes_with_other_options(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([LOOSearchCV(), SeededCV()], expected_failed_checks=expected_failures)
def test_searches_over_their_default_grid_pass_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "estimator",
    [
        *(SVC(gamma=0.1, tol=1e-10), SVC(kernel="linear", tol=1e-10)),
        *(SVR(gamma=0.1, tol=1e-11), SVR(kernel="linear", tol=1e-11), NuSVR(gamma=0.1, tol=1e-11)),
    ],
)
@pytest.mark.parametrize(
    "check", [check_sample_weight_equivalence_on_dense_data, check_sample_weight_equivalence_on_sparse_data]
)
def test_a_weight_is_a_number_of_copies(estimator, check):
    check(type(estimator).__name__, estimator)


@pytest.fixture(scope="module")
def rows():
    X, y = two_classes(np.random.default_rng(0), 80, 4)
    return X, np.where(y > 0, "yes", "no")


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_every_kind_of_matrix_gives_the_same_classifier(rows, kernel):
    X, y = rows
    X = X.astype(np.float32)
    reference = SVC(kernel=kernel, C=3).fit(X.astype(np.float64), y)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for kind in (
        X,
        np.asfortranarray(X),
        frame,
        sparse.csr_matrix(X),
        sparse.csr_array(X),
        sparse.csc_array(X),
    ):
        fitted = SVC(kernel=kernel, C=3).fit(kind, y)
        np.testing.assert_allclose(
            fitted.decision_function(kind), reference.decision_function(X.astype(np.float64)), atol=1e-9
        )
        assert fitted.loo_error_ == reference.loo_error_
    model = SVC().fit(frame, y)
    assert list(model.feature_names_in_) == list("abcd")
    # arrays that need no conversion are checked without scikit-learn's help, to the same end
    plain = X.astype(np.float64)
    model.fit(plain, y)
    assert not hasattr(model, "feature_names_in_") and model.n_features_in_ == 4
    np.testing.assert_array_equal(model.dual_coef_, SVC().fit(plain.tolist(), y).dual_coef_)
    model.fit(plain, (y == y[0]) + 3.0)
    np.testing.assert_array_equal(model.classes_, [3.0, 4.0])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fit(plain, (y == y[0]) + 0.5)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(np.where(plain == plain[3, 1], np.nan, plain), y)
    # rows of the other kind
    np.testing.assert_allclose(
        reference.decision_function(sparse.csr_array(X)), reference.decision_function(X), atol=1e-12
    )


@pytest.mark.parametrize(
    "labels",
    [
        *([3, -7], [1.0, -1.0], [0.0, -0.0, 2.5e300], [np.nan, 1.0, 2.0], [5, 5, 5], [0.0, -0.0], [2, 0, 1]),
        *([False, True], ["b", "a"], [-np.inf, np.inf], np.array([2**63, 2**64 - 1], dtype=np.uint64)),
        *(np.array([3, 200], dtype=np.uint8), np.array([1, -1], dtype=np.float16)),
    ],
    ids=str,
)
def test_classes_are_those_that_sorting_finds(labels):
    labels = np.asarray(labels)
    y = labels[np.random.default_rng(0).integers(0, labels.size, 50)]
    y[: labels.size] = labels
    expected, codes = np.unique(y, return_inverse=True)
    result = two_values(y)
    if labels.dtype.kind == "U" or expected.size != 2 or np.isnan(np.asarray(expected, dtype=float)).any():
        assert result is None
        return
    np.testing.assert_array_equal(result[0], expected)
    np.testing.assert_array_equal(result[1], codes)
    assert (result[0].dtype, result[1].dtype) == (expected.dtype, codes.dtype)


def test_works_in_a_pipeline_and_in_cross_validation(rows):
    X, y = rows
    scaled = StandardScaler().fit_transform(X)
    pipeline = make_pipeline(StandardScaler(), LOOSearchCV(param_grid=GRID)).fit(X, y)
    assert pipeline[-1].loo_error_ == LOOSearchCV(param_grid=GRID).fit(scaled, y).loo_error_
    assert pipeline.score(X, y) > 0.6
    assert cross_val_score(make_pipeline(StandardScaler(), SVC()), X, y, cv=3).shape == (3,)


def test_pickles_hold_what_was_computed_and_not_the_training_set(rows):
    X, y = rows
    fitted = SVC().fit(X, y)
    error = fitted.loo_error_
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.loo_error_ == error
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    with pytest.raises(AttributeError, match="span_bound_"):
        copy.span_bound_  # noqa: B018
    assert not hasattr(clone(fitted), "loo_error_")


def test_a_new_fit_forgets_the_estimates_of_the_last(rows):
    X, y = rows
    fitted = SVC(gamma=0.1).fit(X, y)
    first = fitted.loo_predictions_
    fitted.fit(X[::2], y[::2])
    assert fitted.loo_predictions_.shape != first.shape


def test_estimates_are_those_of_the_fit_whatever_comes_after(rows):
    X, y = rows
    expected = SVC(3.0, gamma=0.2).fit(X, y).loo_predictions_
    mine = X.copy()
    fitted = SVC(3.0, gamma=0.2).fit(mine, y).set_params(C=1e-3, gamma=50.0)
    mine[:] = 0
    np.testing.assert_array_equal(fitted.loo_predictions_, expected)


def test_displaying_computes_no_estimate(rows):
    fitted = SVC().fit(*rows)
    assert "SVC" in fitted._repr_html_()
    assert "loo_error_" not in vars(fitted)
