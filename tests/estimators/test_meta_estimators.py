"""Every meta-estimator of scikit-learn, with a classifier of ours in the place of its own SVC."""

import numpy as np
import pytest
import sklearn.svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    learning_curve,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils import all_estimators

from svmselect.sklearn import SVC, LOOSearchCV, NuSVC, SeededCV, load_model, save_model

GRID = {"C": [0.3, 3.0], "gamma": [0.05, 0.5]}
LINEAR = {"kernel": "linear"}


def several(y):
    return np.column_stack([y > 0, y > 1]).astype(int)


def partly(y):
    """Labels of which each third is unknown."""
    return np.where(np.arange(y.size) % 3 == 0, -1, y)


def two(y):
    return (y > 0).astype(int)


# What is built around a classifier, by the name of the class; "binary" ones get two classes, and `y` is what
# labels become.
AROUND = {
    "AdaBoostClassifier": lambda svc: AdaBoostClassifier(svc(C=0.1), n_estimators=4, random_state=0),
    "BaggingClassifier": lambda svc: BaggingClassifier(svc(), n_estimators=5, random_state=0),
    "CalibratedClassifierCV": lambda svc: CalibratedClassifierCV(svc(), cv=3),
    "ClassifierChain": lambda svc: ClassifierChain(svc(), cv=3, random_state=0),
    "ColumnTransformer": lambda svc: make_pipeline(
        ColumnTransformer([("some", StandardScaler(), [0, 2, 3])]), svc()
    ),
    "FeatureUnion": lambda svc: make_pipeline(
        FeatureUnion([("scaled", StandardScaler()), ("squares", FunctionTransformer(np.square))]), svc()
    ),
    "FixedThresholdClassifier": lambda svc: FixedThresholdClassifier(svc(), threshold=0.3),
    "FrozenEstimator": lambda svc: FrozenEstimator(svc().fit(*load_iris(return_X_y=True))),
    "GridSearchCV": lambda svc: GridSearchCV(svc(), GRID, cv=3),
    "HalvingGridSearchCV": lambda svc: HalvingGridSearchCV(svc(), GRID, cv=3, random_state=0),
    "HalvingRandomSearchCV": lambda svc: HalvingRandomSearchCV(svc(), GRID, cv=3, random_state=0),
    "MultiOutputClassifier": lambda svc: MultiOutputClassifier(svc()),
    "OneVsOneClassifier": lambda svc: OneVsOneClassifier(svc()),
    "OneVsRestClassifier": lambda svc: OneVsRestClassifier(svc()),
    "OutputCodeClassifier": lambda svc: OutputCodeClassifier(svc(), random_state=0),
    "Pipeline": lambda svc: Pipeline([("scale", StandardScaler()), ("svm", svc())]),
    "RandomizedSearchCV": lambda svc: RandomizedSearchCV(svc(), GRID, n_iter=3, cv=3, random_state=0),
    "RFE": lambda svc: RFE(svc(**LINEAR), n_features_to_select=2),
    "RFECV": lambda svc: RFECV(svc(**LINEAR), cv=3),
    "SelectFromModel": lambda svc: make_pipeline(SelectFromModel(svc(**LINEAR)), svc()),
    "SelfTrainingClassifier": lambda svc: SelfTrainingClassifier(CalibratedClassifierCV(svc(), cv=3)),
    "SequentialFeatureSelector": lambda svc: make_pipeline(
        SequentialFeatureSelector(svc(), n_features_to_select=2, cv=3), svc()
    ),
    "StackingClassifier": lambda svc: StackingClassifier(
        [("one", svc()), ("two", svc(**LINEAR))], LogisticRegression(), cv=3
    ),
    "TunedThresholdClassifierCV": lambda svc: TunedThresholdClassifierCV(
        svc(), scoring="balanced_accuracy", cv=3
    ),
    "VotingClassifier": lambda svc: VotingClassifier(
        [("one", svc()), ("two", svc(C=0.01)), ("three", svc(**LINEAR))]
    ),
}
LABELS = {
    "ClassifierChain": several,
    "MultiOutputClassifier": several,
    "SelfTrainingClassifier": partly,
    "FixedThresholdClassifier": two,
    "TunedThresholdClassifierCV": two,
}


def ours(C=1.0, **parameters):
    return SVC(C, tol=1e-6, **parameters)


def theirs(C=1.0, **parameters):
    return sklearn.svm.SVC(C=C, tol=1e-6, **parameters)


def rows(name):
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=0.2, size=X.shape)
    return X, LABELS.get(name, lambda y: y)(y)


def test_no_meta_estimator_is_forgotten():
    parts = {"estimator", "estimators", "transformers", "transformer_list", "steps"}
    around = {name for name, kind in all_estimators() if parts & set(kind._get_param_names())}
    assert {name for name in around if not name.endswith(("Regressor", "RegressorChain"))} == set(AROUND)


@pytest.mark.parametrize("name", AROUND)
def test_around_a_classifier(name):
    X, y = rows(name)
    model, expected = (AROUND[name](svc).fit(X, y) for svc in (ours, theirs))
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    if hasattr(expected, "best_params_"):
        assert model.best_params_ == expected.best_params_
        assert model.best_score_ == pytest.approx(expected.best_score_)
    for method in ("decision_function", "predict_proba"):
        if hasattr(expected, method):
            values, right = (getattr(each, method)(X) for each in (model, expected))
            np.testing.assert_allclose(values, right, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("search", [SeededCV, LOOSearchCV])
@pytest.mark.parametrize(
    "name",
    [
        *("BaggingClassifier", "OneVsRestClassifier", "OneVsOneClassifier", "CalibratedClassifierCV"),
        *("VotingClassifier", "StackingClassifier", "MultiOutputClassifier", "ClassifierChain"),
    ],
)
def test_around_a_search(name, search):
    """A search of one model is that model."""
    X, y = rows(name)
    chosen = AROUND[name](lambda C=1.0, **kind: search(ours(**kind), {"C": [C]})).fit(X, y)
    expected = AROUND[name](lambda C=1.0, **kind: ours(C, **kind)).fit(X, y)
    assert np.mean(chosen.predict(X) == expected.predict(X)) > (
        0.95 if name == "BaggingClassifier" else 0.999
    )


def test_functions_that_take_a_classifier():
    X, y = rows("")
    for subject in (
        lambda svc: cross_val_predict(svc, X, y, cv=3),
        lambda svc: learning_curve(svc, X, y, cv=3, train_sizes=[0.3, 1.0], shuffle=True, random_state=0)[1],
        lambda svc: validation_curve(svc, X, y, param_name="C", param_range=[0.1, 1.0], cv=3)[1],
        lambda svc: permutation_importance(svc.fit(X, y), X, y, n_repeats=2, random_state=0).importances,
    ):
        np.testing.assert_allclose(subject(ours()), subject(theirs()), atol=1e-12)


# A class that is left without weight, as bagging does to a rare one: it stays in `classes_` and is never
# predicted.


def rare(k=4, m=120):
    """Rows of k classes, labels, and weights that are 0 for class 1."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(m) % k)
    X = rng.normal(size=(m, 3)) + 2 * rng.normal(size=(k, 3))[y]
    return X, y, np.where(y == 1, 0.0, rng.uniform(0.5, 2, m))


def without(values, k, gone):
    """The columns of the pairs of the other classes."""
    numbers = [(i, j) for i in range(k) for j in range(i + 1, k)]
    return values[:, [n for n, pair in enumerate(numbers) if gone not in pair]]


@pytest.mark.parametrize(
    "estimator", [SVC(), SVC(kernel="linear"), SVC(break_ties=True), NuSVC(0.2)], ids=str
)
def test_a_class_without_weight_is_never_predicted(estimator):
    X, y, weight = rare()
    rest = y != 1
    model = estimator.set_params(tol=1e-7, gamma=0.3).fit(X, y, sample_weight=weight)
    part = type(estimator)(**estimator.get_params()).fit(X[rest], y[rest], sample_weight=weight[rest])
    new = np.vstack([X, 10 * X])
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 3])
    np.testing.assert_array_equal(model.predict(new), part.predict(new))
    assert model.n_support_[1] == 0 and model.n_iter_.shape == (6,)
    values = model.set_params(decision_function_shape="ovo").decision_function(new)
    expected = part.set_params(decision_function_shape="ovo").decision_function(new)
    np.testing.assert_allclose(without(values, 4, 1), expected, atol=1e-5)
    np.testing.assert_array_equal(values[:, [0, 3, 4]], np.tile([1, -1, -1], (240, 1)))
    if not estimator.break_ties:
        by_class = model.set_params(decision_function_shape="ovr").decision_function(new)
        assert by_class.shape == (240, 4) and (by_class[:, 1] < by_class.max(axis=1) - 0.5).all()


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [SVC(gamma=0.3), NuSVC(0.2, gamma=0.3)], ids=str)
def test_estimates_with_a_class_without_weight(estimator):
    """Its rows are wrong, whatever is left out; all other numbers are those without them."""
    X, y, weight = rare()
    rest = y != 1
    model = estimator.set_params(tol=1e-7).fit(X, y, sample_weight=weight)
    part = type(estimator)(**estimator.get_params()).fit(X[rest], y[rest], sample_weight=weight[rest])
    np.testing.assert_array_equal(model.loo_predictions_[rest], part.loo_predictions_)
    np.testing.assert_array_equal(model.loo_predictions_[~rest], model.predict(X[~rest]))
    assert model.weighted_loo_error_ == pytest.approx(part.weighted_loo_error_)
    assert model.loo_error_ == pytest.approx((part.loo_error_ * rest.sum() + (~rest).sum()) / y.size)
    for name in ("span_estimate_", "opper_winther_estimate_", "xi_alpha_bound_", "radius_margin_bound_"):
        assert getattr(model, name) == pytest.approx(getattr(part, name), rel=1e-4)
    for search, options in ((SeededCV, {"cv": 3}), (LOOSearchCV, {}), (LOOSearchCV, {"stop_early": True})):
        grid = {estimator._formulation: [0.05, 0.1], "gamma": [0.1, 1.0]}
        fitted = search(estimator, grid, **options).fit(X, y, sample_weight=weight)
        if search is LOOSearchCV:
            expected = search(estimator, grid, **options).fit(X[rest], y[rest], sample_weight=weight[rest])
            assert fitted.best_params_ == expected.best_params_
            assert fitted.best_score_ == pytest.approx(expected.best_score_)
        assert not (fitted.predict(X) == 1).any()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_with_a_class_without_weight(method):
    X, y, weight = rare()
    model = SVC(calibration="loo", calibration_method=method).fit(X, y, sample_weight=weight)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p[:, 1] < 0.05).all() and (p[:, 1] >= 0).all()


@pytest.mark.parametrize("format", ["skops", "libsvm"])
def test_files_of_models_with_a_class_without_weight(format, tmp_path):
    X, y, weight = rare()
    model = SVC(decision_function_shape="ovo").fit(X, y, sample_weight=weight)
    save_model(model, tmp_path / "model", format)
    again = load_model(tmp_path / "model").set_params(decision_function_shape="ovo")
    np.testing.assert_array_equal(again.classes_, model.classes_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("gone", [[1], [0, 3], [2, 3]])
def test_classes_of_weight_zero_by_class_weight(gone):
    X, y, _ = rare()
    model = SVC(class_weight=dict.fromkeys(gone, 0.0)).fit(X, y)
    assert set(model.predict(np.vstack([X, 100 * X]))) == set(range(4)) - set(gone)
    with pytest.raises(ValueError, match=r"weight\b.* \[2\]"):
        SVC(class_weight={0: 0, 1: 0, 3: 0}).fit(X, y)


def test_bagging_with_a_rare_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.r_[np.zeros(55, int), np.ones(3, int), [2, 2]]
    for estimator in (SVC(), SVC(calibration="loo"), NuSVC(0.02), SeededCV(SVC(), {"C": [1, 10]}, cv=2)):
        bag = BaggingClassifier(estimator, random_state=0).fit(X, y)
        assert bag.score(X, y) > 0.9
        assert bag.decision_function(X).shape == (60, 3)
        np.testing.assert_allclose(bag.predict_proba(X).sum(axis=1), 1)
