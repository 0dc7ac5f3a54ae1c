"""Scores of searches against GridSearchCV, and leave-one-out scores against brute force."""

from functools import partial

import numpy as np
import pytest
import sklearn.svm
from estimators.problems import blobs
from numerics.problems import two_classes
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, StratifiedKFold, cross_val_predict

from svmselect.sklearn import SVC, LOOSearchCV, SeededCV
from svmselect.sklearn.one_vs_one import LEFT_OUT_MODELS, loo_path

GRID = {"C": [10.0, 0.3, 1.0], "gamma": [0.7, 0.05]}
SEVERAL = ["accuracy", "balanced_accuracy", "f1", "roc_auc", "average_precision"]


def problem(seed=0, m=60):
    """Labels 0 and 1; two of three rows are of class 0."""
    rng = np.random.default_rng(seed)
    y = (np.arange(m) % 3 == 0).astype(int)
    return rng.normal(size=(m, 3)) + 0.9 * y[:, None], y


def recall_of_one(estimator, X, y):
    return float((estimator.predict(X)[y == 1] == 1).mean())


def two_numbers(estimator, X, y):
    values = estimator.decision_function(X)
    return {"auc": roc_auc_score(y, values), "errors": -float(np.sum((values >= 0) != y))}


def left_out(X, y, model):
    """Decision values by training LIBSVM without each row."""
    estimator = sklearn.svm.SVC(tol=1e-8, **model)
    return cross_val_predict(estimator, X, y, cv=LeaveOneOut(), method="decision_function")


@pytest.mark.parametrize("scoring", [*SEVERAL, recall_of_one, make_scorer(f1_score, average="macro")])
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_are_scored_as_by_scikit_learn(scoring, weighted):
    X, y = problem()
    weight = np.random.default_rng(1).uniform(0.5, 2, size=y.size) if weighted else None
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-6), GRID, scoring=scoring, cv=cv)
    ours = SeededCV(SVC(tol=1e-6), GRID, scoring=scoring, cv=cv)
    if weighted and scoring is recall_of_one:
        with pytest.warns(UserWarning, match="scorer 'score' takes no sample_weight"):
            ours.fit(X, y, sample_weight=weight)
        with pytest.warns(UserWarning):
            theirs.fit(X, y, sample_weight=weight)
    else:
        ours.fit(X, y, sample_weight=weight)
        theirs.fit(X, y, sample_weight=weight)
    for name in ("mean_test_score", "std_test_score", "split0_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-9)
    assert ours.best_params_ == theirs.best_params_ and ours.scoring_ is scoring
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
@pytest.mark.parametrize("scoring", [SEVERAL, {"a": "roc_auc", "b": recall_of_one}, two_numbers])
def test_several_scores(search, scoring):
    X, y = problem()
    name = {list: "roc_auc", dict: "b"}.get(type(scoring), "auc")
    ours = search(SVC(tol=1e-6), GRID, scoring=scoring, refit=name).fit(X, y)
    assert ours.multimetric_
    names = {column.removeprefix("mean_test_") for column in ours.cv_results_ if "mean_test_" in column}
    expected = {"auc", "errors"} if callable(scoring) else set(scoring)
    assert names == expected
    assert ours.best_index_ == ours.cv_results_[f"rank_test_{name}"].argmin()
    assert ours.best_score_ == ours.cv_results_[f"mean_test_{name}"].max()
    assert np.isfinite(ours.score(X, y))
    if search is SeededCV:
        theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-6), GRID, scoring=scoring, refit=name, cv=3).fit(X, y)
        for column in names:
            key = f"mean_test_{column}"
            np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], atol=1e-9)
        assert ours.best_params_ == theirs.best_params_
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
    open_ended = search(SVC(), GRID, scoring=scoring, refit=False).fit(X, y)
    assert not hasattr(open_ended, "best_params_")
    chosen = search(SVC(), GRID, scoring=scoring, refit=lambda results: 3).fit(X, y)
    assert chosen.best_index_ == 3 and chosen.predict(X).shape == y.shape


METRICS = {
    "accuracy": lambda y, values: accuracy_score(y, values >= 0),
    "balanced_accuracy": lambda y, values: balanced_accuracy_score(y, values >= 0),
    "f1": lambda y, values: f1_score(y, values >= 0),
    "roc_auc": roc_auc_score,
    "average_precision": average_precision_score,
}


@pytest.mark.parametrize("name", METRICS)
def test_a_leave_one_out_score_is_that_of_all_left_out_rows_together(name):
    X, y = problem(1, 45)
    search = LOOSearchCV(SVC(), GRID, scoring=name).fit(X, y)
    for model, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        assert score == pytest.approx(METRICS[name](y, left_out(X, y, model)), abs=1e-9)
    assert (search.cv_results_["std_test_score"] == 0).all()
    assert search.loo_error_ == search.best_estimator_.loo_error_


def test_weights_reach_a_leave_one_out_scorer():
    X, y = problem(2, 40)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=40)
    weight[:3] = 0
    search = LOOSearchCV(SVC(), {"C": [1.0], "gamma": [0.3]}, scoring="roc_auc").fit(
        X, y, sample_weight=weight
    )
    values = search.best_estimator_.loo_decision_
    assert search.best_score_ == pytest.approx(roc_auc_score(y, values, sample_weight=weight))
    assert search.best_score_ != pytest.approx(roc_auc_score(y, values))


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_three_classes(shape):
    X, y = blobs(3, m=48, k=3)
    template = SVC(decision_function_shape=shape)
    search = LOOSearchCV(template, {"C": [0.5, 5.0], "gamma": [0.2]}, scoring="f1_macro").fit(X, y)
    for model, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        estimator = sklearn.svm.SVC(tol=1e-8, decision_function_shape=shape, **model)
        labels = cross_val_predict(estimator, X, y, cv=LeaveOneOut())
        assert score == pytest.approx(f1_score(y, labels, average="macro"))
        # three rows of a class come to no fold of scikit-learn's: each row is left out on its own
        values = np.vstack(
            [
                estimator.fit(np.delete(X, r, axis=0), np.delete(y, r)).decision_function(X[[r]])
                for r in range(y.size)
            ]
        )
        ours = SVC(decision_function_shape=shape, **model).fit(X, y)
        np.testing.assert_allclose(ours.loo_decision_, values, atol=1e-5)
        np.testing.assert_array_equal(ours.loo_predictions_, labels)


def test_only_signs_are_found_where_a_scorer_asks_for_labels(monkeypatch):
    X, y = problem(3, 40)
    requested = []

    def noted(*args, decision_values, **options):
        requested.append(decision_values)
        return loo_path(*args, decision_values=decision_values, **options)

    monkeypatch.setitem(LEFT_OUT_MODELS, "C", noted)
    for scoring, exact in ((None, False), ("f1", False), ("roc_auc", True), (["f1", "roc_auc"], True)):
        requested.clear()
        LOOSearchCV(SVC(), {"C": [1.0]}, scoring=scoring, refit=False).fit(X, y)
        assert requested == [exact]


@pytest.mark.parametrize("search", [LOOSearchCV, partial(SeededCV, cv=5)])
def test_unequal_class_weights_weigh_the_default_score(search):
    X, y = problem(4)
    grid = {"C": [0.1, 1.0], "gamma": [0.3]}
    balanced = search(SVC(class_weight="balanced"), grid).fit(X, y)
    assert balanced.scoring_ == "weighted_accuracy" and not balanced.multimetric_
    by_name = search(SVC(class_weight="balanced"), grid, scoring="balanced_accuracy").fit(X, y)
    key = "mean_test_score"
    # all folds have the shares of all rows
    np.testing.assert_allclose(balanced.cv_results_[key], by_name.cv_results_[key], atol=1e-12)
    plain = search(SVC(class_weight="balanced"), grid, scoring="accuracy").fit(X, y)
    assert (plain.cv_results_[key] != balanced.cv_results_[key]).any()
    assert search(SVC(class_weight={0: 2.0, 1: 2.0}), grid).fit(X, y).scoring_ == "accuracy"
    if search is LOOSearchCV:
        assert balanced.best_estimator_.weighted_loo_error_ == pytest.approx(1 - balanced.best_score_)


def imbalanced(rng, m):
    """One row of twenty is of class 1, whose mean is one deviation away."""
    y = (np.arange(m) % 20 == 0).astype(int)
    return rng.normal(size=(m, 4)) + 0.5 * y[:, None], y


@pytest.mark.slow
def test_one_leave_one_out_search_reaches_grid_search_by_balanced_accuracy():
    """400 rows with 20 positives, 2,600 others to judge by: an error in which each row counts once chooses
    a model that never finds a positive. Over many draws the two searches are equal; the deviation of the mean
    difference of six is 0.017."""
    grid = {"C": (2.0 ** np.arange(-3, 12, 2)).tolist(), "gamma": (2.0 ** np.arange(-8, 3, 2)).tolist()}
    reached = np.empty((6, 2))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = imbalanced(rng, 400)
        X_test, y_test = imbalanced(rng, 2600)
        ours = LOOSearchCV(SVC(class_weight="balanced"), grid).fit(X, y)
        libsvm = sklearn.svm.SVC(class_weight="balanced")
        theirs = GridSearchCV(libsvm, grid, scoring="balanced_accuracy").fit(X, y)
        reached[seed] = [balanced_accuracy_score(y_test, s.predict(X_test)) for s in (ours, theirs)]
        assert ours.scoring_ == "weighted_accuracy"
        if seed == 0:
            by_rows = LOOSearchCV(SVC(class_weight="balanced"), grid, scoring="accuracy").fit(X, y)
            assert balanced_accuracy_score(y_test, by_rows.predict(X_test)) < 0.51
    assert reached[0, 0] >= reached[0, 1] > 0.65
    assert reached[:, 0].mean() >= reached[:, 1].mean() - 0.02


@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"scoring": "ballanced"}, r"scoring\b.* 'ballanced'"),
        ({"scoring": 3}, r"scoring\b.* 3\b"),
        ({"scoring": []}, r"scoring\b.* \[\]"),
        ({"scoring": ["f1", "f1"]}, r"scoring\b.*once"),
        ({"scoring": {"mine": "ballanced"}}, r"scoring\b.* 'ballanced'"),
        (
            {"scoring": ["f1", "accuracy"]},
            r"refit\b.* True\b",
        ),
        ({"scoring": ["f1"], "refit": "recall"}, r"refit\b.* 'recall'"),
        ({"scoring": "f1", "refit": "f1"}, r"refit\b.* 'f1'"),
        ({"refit": lambda results: 99}, r"refit\b.* 99\b"),
        ({"scoring": lambda e, X, y: "good"}, r"scorer\b.* 'good'"),
        (
            {"scoring": lambda e, X, y: e.predict(X[:5]).sum()},
            "scorer.*rows",
        ),
    ],
)
def test_bad_input_is_named(search, parameters, sentence):
    X, y = problem(0, 20)
    with pytest.raises(ValueError, match=sentence):
        search(SVC(), GRID, **parameters).fit(X, y)


@pytest.mark.parametrize("kind", [LOOSearchCV, SeededCV])
def test_a_score_that_is_no_number_is_the_worst(kind):
    X, y = problem(0, 30)
    seen = []

    def scorer(estimator, X, y):
        seen.append(0)
        return np.nan if len(seen) == 2 else accuracy_score(y, estimator.predict(X))

    with pytest.warns(UserWarning, match=r"\bscore of 1 of 3\b.* finite") as caught:
        search = kind(SVC(), {"C": [0.1, 1.0, 10.0]}, scoring=scorer, refit=False).fit(X, y)
    assert len(caught) == 1
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False, False]
    assert search.cv_results_["rank_test_score"][0] == 3 and search.best_index_ > 0


def test_a_fold_of_one_class_scores_as_in_scikit_learn():
    X, y = two_classes(np.random.default_rng(0), 40, 2)
    y = np.sort(y)
    cv = KFold(4)
    ours = SeededCV(SVC(tol=1e-6), GRID, scoring="accuracy", cv=cv).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-6), GRID, scoring="accuracy", cv=cv).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


@pytest.mark.parametrize("fit", ["search", "estimator"])
def test_values_in_doubt_are_warned_of(fit):
    X, y = problem(0, 40)
    template = SVC(max_iter=3)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3.*tol=1e-08"):
        if fit == "search":
            LOOSearchCV(template, {"C": [1.0]}, scoring="roc_auc", refit=False).fit(X, y)
        else:
            template.fit(X, y).leave_one_out(decision_values=True)


@pytest.mark.slow
def test_a_rare_class_is_found_as_by_GridSearchCV():
    """5 % of the rows; by accuracy a search prefers models that never find them."""

    def drawn(m, seed):
        rng, y = np.random.default_rng(seed), (np.arange(m) % 20 == 0).astype(int)
        return rng.normal(size=(m, 5)) + 0.8 * np.outer(y, [1, 1, 0, 0, 0]), y

    def reached(search):
        """Mean balanced accuracy over four draws."""
        scores = []
        for seed in range(4):
            (X, y), (X_test, y_test) = drawn(400, seed), drawn(2600, 100 + seed)
            scores.append(balanced_accuracy_score(y_test, search.fit(X, y).predict(X_test)))
        return np.mean(scores)

    grid = {"C": [0.125, 2, 32], "gamma": [2e-4, 3e-3, 5e-2, 0.8]}
    ours, libsvm = SVC(class_weight="balanced"), sklearn.svm.SVC(class_weight="balanced")
    theirs = reached(GridSearchCV(libsvm, grid, scoring="balanced_accuracy"))
    assert reached(LOOSearchCV(ours, grid, scoring="accuracy")) < theirs - 0.1
    for scoring in (None, "balanced_accuracy", "roc_auc"):
        assert reached(LOOSearchCV(ours, grid, scoring=scoring)) > theirs - 0.01, scoring
