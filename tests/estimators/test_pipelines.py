"""Searches that own their preprocessing: scores of GridSearchCV, and what the best model has."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context, datasets
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

from svmselect.sklearn import SVC, SVR, LOOSearchCV, NuSVC, OneClassSVM, SeededCV


def two_classes(seed):
    return datasets.make_classification(90, 6, n_informative=4, flip_y=0.1, random_state=seed)


def three_classes(seed):
    return datasets.make_classification(
        90, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=seed
    )


def targets(seed):
    return datasets.make_regression(80, 5, noise=20, random_state=seed)


def every(step, load):
    X, y = load(return_X_y=True)
    return X[::step], y[::step]


DATA = {
    "two classes": lambda: two_classes(0),
    "moons": lambda: datasets.make_moons(100, noise=0.3, random_state=1),
    "circles": lambda: datasets.make_circles(100, noise=0.2, factor=0.5, random_state=2),
    "breast cancer": lambda: every(4, datasets.load_breast_cancer),
    "three classes": lambda: three_classes(3),
    "iris": lambda: every(1, datasets.load_iris),
    "wine": lambda: every(1, datasets.load_wine),
    "digits": lambda: every(9, datasets.load_digits),
    "targets": lambda: targets(4),
    "diabetes": lambda: every(4, datasets.load_diabetes),
    "friedman": lambda: datasets.make_friedman1(90, random_state=5),
    "friedman, large": lambda: datasets.make_friedman2(90, random_state=6),
}
STEPS = {
    "scaler": lambda: [("scaler", StandardScaler())],
    "scaler, PCA": lambda: [("scaler", MinMaxScaler()), ("pca", PCA(3, random_state=0))],
}


def is_regression(y):
    return y.dtype.kind == "f"


def models(y, kind="SVC"):
    import sklearn.svm

    if is_regression(y):
        options = {"C": 10.0, "epsilon": 0.1 * y.std()}
        # the tolerance of ours is relative to the deviation of the targets
        return SVR(tol=1e-8, **options), sklearn.svm.SVR(tol=1e-8 * y.std(), **options)
    ours = {"SVC": SVC, "NuSVC": NuSVC}[kind]
    return ours(tol=1e-8), getattr(sklearn.svm, kind)(tol=1e-8)


def pair(X, y, steps, grid, cv, **options):
    """SeededCV and GridSearchCV of the same pipeline."""
    searches = []
    for model, search in zip(models(y), (SeededCV, GridSearchCV), strict=True):
        pipeline = Pipeline([*STEPS[steps](), ("svm", model)])
        searches.append(search(pipeline, grid, cv=cv, **options))
    return searches


def assert_equal_scores(ours, theirs, names=("score",)):
    for name in names:
        columns = [f"mean_test_{name}", *(f"split{h}_test_{name}" for h in range(ours.n_splits_))]
        for column in columns:
            np.testing.assert_allclose(ours.cv_results_[column], theirs.cv_results_[column], atol=1e-6)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("name", DATA)
def test_scores_are_those_of_grid_search(name, steps):
    X, y = DATA[name]()
    if steps == "scaler, PCA" and X.shape[1] < 3:
        X = np.column_stack([X, X[:, 0] ** 2, X[:, 1] ** 2])
    C = [1.0, 10.0] if not is_regression(y) else [y.std(), 10 * y.std()]
    grid = {"svm__C": C, "svm__gamma": ["scale", 0.1]}
    cv = KFold(4, shuffle=True, random_state=0) if is_regression(y) else StratifiedKFold(4)
    ours, theirs = pair(X, y, steps, grid, cv)
    assert_equal_scores(ours.fit(X, y), theirs.fit(X, y))
    assert ours.best_params_ == theirs.best_params_
    if is_regression(y):
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4 * y.std())
    else:
        assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("name", ["two classes", "iris", "targets"])
def test_scores_with_weights_and_groups(name):
    """GridSearchCV hands weights to the model; its scores count every row once, as an accuracy or r2 here."""
    X, y = DATA[name]()
    rng = np.random.default_rng(0)
    weight, groups = rng.uniform(0.5, 2, y.size), np.arange(y.size) // 5
    scoring = "r2" if is_regression(y) else "accuracy"
    ours, theirs = pair(
        X, y, "scaler", {"svm__C": [1.0, 20.0], "svm__gamma": [0.1]}, GroupKFold(4), scoring=scoring
    )
    theirs.fit(X, y, groups=groups, svm__sample_weight=weight)

    def once(estimator, X, y):  # a scorer that takes no weights
        from sklearn.metrics import get_scorer

        return get_scorer(scoring)(estimator, X, y)

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        ours.set_params(scoring=once).fit(X, y, sample_weight=weight, groups=groups)
    assert_equal_scores(ours, theirs)


def test_parameters_of_steps_are_searched():
    X, y = three_classes(7)
    grid = {"pca__n_components": [2, 4], "scaler": [StandardScaler(), "passthrough"], "svm__C": [1.0, 10.0]}
    ours, theirs = pair(X, y, "scaler, PCA", grid, 3)
    assert_equal_scores(ours.fit(X, y), theirs.fit(X, y))
    assert set(ours.cv_results_) >= {"param_pca__n_components", "param_scaler", "param_svm__C"}
    one_by_one = LOOSearchCV(ours.estimator, grid).fit(X, y)
    for index in (0, 5):
        pipeline = clone(ours.estimator).set_params(**one_by_one.cv_results_["params"][index])
        rows = pipeline[:-1].fit_transform(X)
        expected = clone(pipeline[-1]).fit(rows, y).loo_error_
        assert one_by_one.cv_results_["loo_error"][index] == expected


def test_steps_that_use_labels():
    X, y = two_classes(8)
    pipeline = make_pipeline(SelectKBest(f_classif, k=3), SVC(tol=1e-8))
    import sklearn.svm

    other = make_pipeline(SelectKBest(f_classif, k=3), sklearn.svm.SVC(tol=1e-8))
    grid = {"svc__C": [1.0, 10.0], "svc__gamma": [0.1, "auto"]}
    assert_equal_scores(SeededCV(pipeline, grid).fit(X, y), GridSearchCV(other, grid, cv=3).fit(X, y))
    with pytest.raises(ValueError, match=r"'selectkbest' uses y"):
        LOOSearchCV(pipeline, grid).fit(X, y)
    hidden = make_pipeline(ColumnTransformer([("best", SelectKBest(f_classif, k=2), slice(0, 6))]), SVC())
    with pytest.raises(ValueError, match=r"uses y"):
        LOOSearchCV(hidden, {"svc__C": [1.0]}).fit(X, y)


class _LooksAtLabels(TransformerMixin, BaseEstimator):
    """A step that uses labels where it gets them."""

    def fit(self, X, y=None):
        self.saw_labels_ = y is not None
        return self

    def transform(self, X):
        return X * (2.0 if self.saw_labels_ else 1.0)


def test_the_best_pipeline_of_leave_one_out_has_not_seen_the_labels_either():
    X, y = two_classes(9)
    grid = {"svc__gamma": [0.05, 0.1]}
    search = LOOSearchCV(make_pipeline(_LooksAtLabels(), SVC()), grid).fit(X, y)
    assert not search.best_estimator_[0].saw_labels_
    assert search.loo_error_ == LOOSearchCV(SVC(), {"gamma": [0.05, 0.1]}).fit(X, y).loo_error_
    assert SeededCV(make_pipeline(_LooksAtLabels(), SVC()), grid).fit(X, y).best_estimator_[0].saw_labels_


def table_of_words():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"age": rng.normal(50, 10, 80), "sum": rng.normal(1e4, 3e3, 80)})
    table["town"] = rng.choice(["Bonn", "Jena", "Kiel"], 80)
    table.loc[[3, 30], "age"] = np.nan
    labels = np.where((table["town"] == "Bonn") | (table["sum"] > 1.2e4), "yes", "no")
    labels[::9] = "no"
    return table, labels


def columns():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return ColumnTransformer(
        [("numbers", numbers, ["age", "sum"]), ("words", OneHotEncoder(handle_unknown="ignore"), ["town"])]
    )


@pytest.mark.parametrize("search", [SeededCV, LOOSearchCV])
def test_frames_with_words_and_gaps(search):
    table, labels = table_of_words()
    fitted = search(make_pipeline(columns(), SVC())).fit(table, labels)
    assert len(fitted.cv_results_["params"]) == 64
    assert set(fitted.best_params_) == {"svc__C", "svc__gamma"}
    assert fitted.score(table, labels) > 0.8
    assert (fitted.predict(table) == fitted.best_estimator_.predict(table)).all()
    assert list(fitted.feature_names_in_) == ["age", "sum", "town"]
    # the first program of a newcomer: rows as they come
    assert set(fitted.predict(table.head(3))) <= {"yes", "no"}


def test_columns_equal_those_of_grid_search_and_names_are_kept():
    import sklearn.svm

    table, labels = table_of_words()
    grid = {"svc__C": [1.0, 5.0], "svc__gamma": ["scale"]}
    ours = make_pipeline(columns(), SVC(tol=1e-8)).set_output(transform="default")
    theirs = make_pipeline(columns(), sklearn.svm.SVC(tol=1e-8))
    assert_equal_scores(
        SeededCV(ours, grid).fit(table, labels), GridSearchCV(theirs, grid, cv=3).fit(table, labels)
    )
    named = make_pipeline(StandardScaler(), SVC()).set_output(transform="pandas")
    numbers = table[["sum"]].assign(other=np.arange(80.0))
    fitted = SeededCV(named, {"svc__C": [1.0]}).fit(numbers, labels)
    assert list(fitted.best_estimator_[-1].feature_names_in_) == ["sum", "other"]


@pytest.mark.parametrize("search", [SeededCV, LOOSearchCV])
def test_the_search_has_what_its_best_model_has(search):
    X, y = datasets.load_diabetes(return_X_y=True)
    X, y = X[:80], y[:80]
    pipeline = make_pipeline(StandardScaler(), SVR(epsilon=5))
    fitted = search(pipeline, {"svr__C": [10.0, 100.0]}).fit(X, y)
    model, rows = fitted.best_estimator_[-1], fitted.best_estimator_[:-1].transform(X[:5])
    assert (fitted.predict_interval(X[:5], alpha=0.2) == model.predict_interval(rows, alpha=0.2)).all()
    assert fitted.predict_interval(X[:5]).shape == (5, 2)
    assert (fitted.loo_predictions_ == model.loo_predictions_).all()
    assert fitted.span_estimate_ == model.span_estimate_
    assert fitted.loo_score("r2") == model.loo_score("r2")
    assert not hasattr(fitted, "predict_proba") and not hasattr(fitted, "nothing_")
    alone = search(SVR(epsilon=5), {"C": [10.0]}).fit(X, y)
    assert (alone.predict_interval(X[:5]) == alone.best_estimator_.predict_interval(X[:5])).all()
    X, y = two_classes(1)
    classifier = search(make_pipeline(StandardScaler(), SVC(calibration="loo")), {"svc__C": [1.0]}).fit(X, y)
    assert classifier.predict_proba(X).shape == (90, 2)
    assert classifier.loo_decision_.shape == (90,)
    assert classifier.loo_error_ == classifier.best_estimator_[-1].loo_error_
    assert not hasattr(classifier, "predict_interval")


def test_other_containers_of_rows():
    X, y = two_classes(5)
    grid = {"svc__C": [1.0, 10.0]}
    for search in (SeededCV, LOOSearchCV):
        steps = lambda: make_pipeline(MaxAbsScaler(), SVC())  # noqa: E731
        expected = search(steps(), grid).fit(X, y).cv_results_["mean_test_score"]
        for rows in (X.tolist(), pd.DataFrame(X), sparse.coo_matrix(X), sparse.csc_array(X)):
            scores = search(steps(), grid).fit(rows, y.tolist()).cv_results_["mean_test_score"]
            np.testing.assert_allclose(scores, expected)


def test_transformed_targets_around_a_search_of_a_pipeline():
    X, y = targets(2)
    around = TransformedTargetRegressor(
        SeededCV(make_pipeline(StandardScaler(), SVR()), {"svr__C": [1.0, 10.0]}),
        transformer=StandardScaler(),
    ).fit(X, y)
    assert around.score(X, y) > 0.5


def test_one_class_pipelines():
    X = np.random.default_rng(0).normal(size=(60, 2)) * [1.0, 300.0]
    grid = {"oneclasssvm__gamma": [0.1, 0.5, 1.0]}
    search = LOOSearchCV(make_pipeline(StandardScaler(), OneClassSVM(nu=0.1)), grid).fit(X)
    scaled = StandardScaler().fit_transform(X)
    alone = LOOSearchCV(OneClassSVM(nu=0.1), {"gamma": [0.1, 0.5, 1.0]}).fit(scaled)
    assert (search.cv_results_["mean_test_score"] == alone.cv_results_["mean_test_score"]).all()
    assert (search.decision_function(X) == alone.decision_function(scaled)).all()


def test_metadata_reaches_the_steps_that_request_it():
    X, y = two_classes(4)
    weight = np.random.default_rng(0).uniform(0.1, 3, y.size)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        model = SVC().set_fit_request(sample_weight=True)
        search = LOOSearchCV(make_pipeline(scaler, model), {"svc__C": [1.0, 10.0]})
        search.fit(X, y, sample_weight=weight)
        expected = StandardScaler().fit(X, sample_weight=weight)
        assert (search.best_estimator_[0].mean_ == expected.mean_).all()
        folds = SeededCV(make_pipeline(scaler, model), {"svc__C": [1.0, 10.0]})
        folds.fit(X, y, sample_weight=weight)
        assert (folds.best_estimator_[0].mean_ == expected.mean_).all()
    rows = expected.transform(X)
    alone = LOOSearchCV(SVC(), {"C": [1.0, 10.0]}).fit(rows, y, sample_weight=weight)
    assert (search.cv_results_["loo_error"] == alone.cv_results_["loo_error"]).all()


def test_halving_jobs_and_train_scores_of_pipelines():
    X, y = three_classes(2)
    pipeline = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.1, 1.0, 10.0], "svc__gamma": [0.01, 0.1, 1.0]}
    whole = SeededCV(pipeline, grid, return_train_score=True).fit(X, y)
    jobs = SeededCV(pipeline, grid, return_train_score=True, n_jobs=2).fit(X, y)
    for name in ("mean_test_score", "mean_train_score"):
        assert (whole.cv_results_[name] == jobs.cv_results_[name]).all()
    fewer = SeededCV(pipeline, grid, factor=3, random_state=0).fit(X, y)
    assert fewer.cv_results_["n_resources"].max() == 90
    last = fewer.cv_results_["iter"] == fewer.cv_results_["iter"].max()
    for index in np.flatnonzero(last):
        same = whole.cv_results_["params"].index(fewer.cv_results_["params"][index])
        assert fewer.cv_results_["mean_test_score"][index] == whole.cv_results_["mean_test_score"][same]


@pytest.mark.parametrize(
    ("estimator", "grid", "words"),
    [
        (make_pipeline(StandardScaler(), PCA()), None, "PCA of sklearn"),
        (make_pipeline(StandardScaler(), SVC()), {"C": [1]}, r"svc__C\b.*'C'"),
        (make_pipeline(StandardScaler(), SVC()), {"svc__tol": [1]}, r"'svc__tol'"),
        (make_pipeline(StandardScaler(), SVC()), {"svc": [SVC()]}, r"'svc'"),
        (make_pipeline(StandardScaler(), SVC()), {"scaler__with_mean": [True]}, r"'scaler__with_mean'"),
        (make_pipeline(StandardScaler(), SVC(kernel="precomputed")), {"svc__C": [1]}, "precomputed"),
    ],
)
@pytest.mark.parametrize("search", [SeededCV, LOOSearchCV])
def test_bad_pipelines_are_named(search, estimator, grid, words):
    with pytest.raises(ValueError, match=words):
        search(estimator, grid).fit(*two_classes(0))


def test_steps_that_fail_are_scored_as_failures():
    X, y = two_classes(0)
    pipeline = Pipeline([("pca", PCA()), ("svc", SVC())])
    with pytest.warns(match="could not be trained"):
        search = SeededCV(pipeline, {"pca__n_components": [2, 99], "svc__C": [1.0]}).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]
    with pytest.warns(match="could not be trained"):
        LOOSearchCV(pipeline, {"pca__n_components": [2, 99], "svc__C": [1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="n_components"):
        SeededCV(pipeline, {"pca__n_components": [99], "svc__C": [1.0]}, error_score="raise").fit(X, y)
