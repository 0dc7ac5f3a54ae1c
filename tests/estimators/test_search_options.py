"""Splitters, groups, failures, train scores, times and jobs of searches, against GridSearchCV."""

import warnings

import numpy as np
import pytest
import sklearn.svm
from estimators.problems import blobs
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from slow import slow

from svmselect.sklearn import SVC, EndOfListWarning, LOOSearchCV, NuSVC, SeededCV
from svmselect.sklearn.fold_evaluators import FoldEvaluator

GRID = {"C": [10.0, 0.3, 1.0], "gamma": [0.7, 0.05]}
M = 48
GROUPS = np.arange(M) // 6
RNG = np.random.default_rng(0)
# half of the rows, and some of them twice
BOOTSTRAP = [(rows, np.setdiff1d(np.arange(M), rows)) for rows in RNG.integers(0, M, size=(3, M))]
MASKS = [(np.arange(M) % 4 != h, np.arange(M) % 4 == h) for h in range(4)]
SPLITTERS = {
    "shuffled": ShuffleSplit(4, test_size=0.3, random_state=0),
    "shares of classes": StratifiedShuffleSplit(3, test_size=0.4, random_state=1),
    "repeated": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "folds of groups": GroupKFold(4),
    "one group": LeaveOneGroupOut(),
    "two groups": LeavePGroupsOut(7),
    "given": PredefinedSplit(np.arange(M) % 5 - 1),
    "masks": MASKS,
    "bootstrap": BOOTSTRAP,
    "a number": 4,
    "folds": StratifiedKFold(4, shuffle=True, random_state=3),
}


def problem(classes):
    return blobs(7, m=M, k=classes)


def assert_scores_are_equal(ours, theirs):
    # but for ranks, which are theirs to round-off alone
    columns = [
        name for name in theirs.cv_results_ if ("_test_" in name or "_train_" in name) and "rank" not in name
    ]
    assert set(columns) <= set(ours.cv_results_)
    for name in columns:
        np.testing.assert_allclose(
            ours.cv_results_[name], theirs.cv_results_[name], atol=1e-9, equal_nan=True, err_msg=name
        )
    assert list(ours.cv_results_["params"]) == list(theirs.cv_results_["params"])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("train", [False, True])
def test_any_splitter_scores_as_in_scikit_learn(classes, splitter, train):
    X, y = problem(classes)
    cv = SPLITTERS[splitter]
    options = {"cv": cv, "scoring": "accuracy", "return_train_score": train}
    ours = SeededCV(SVC(tol=1e-7), GRID, **options).fit(X, y, groups=GROUPS)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-7), GRID, **options).fit(X, y, groups=GROUPS)
    assert_scores_are_equal(ours, theirs)
    assert ours.n_splits_ == theirs.n_splits_
    assert theirs.cv_results_["mean_test_score"][ours.best_index_] == pytest.approx(theirs.best_score_)
    assert ("mean_train_score" in ours.cv_results_) == train


@pytest.mark.parametrize("weighted", [False, True])
def test_several_scores_of_several_classes_on_overlapping_splits(weighted):
    X, y = problem(3)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=M) if weighted else None
    scoring = ["accuracy", "f1_macro", "balanced_accuracy"]
    options = {"cv": BOOTSTRAP, "scoring": scoring, "refit": "f1_macro", "return_train_score": True}
    ours = SeededCV(SVC(tol=1e-7), GRID, **options).fit(X, y, sample_weight=weight)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-7), GRID, **options).fit(X, y, sample_weight=weight)
    assert_scores_are_equal(ours, theirs)


def test_the_compiled_grid_and_split_by_split_are_one(monkeypatch):
    X, y = problem(2)
    options = {"scoring": ["roc_auc", "accuracy"], "refit": "roc_auc"}
    calls, compiled = [], FoldEvaluator.by_grid
    monkeypatch.setattr(FoldEvaluator, "by_grid", lambda *args: calls.append(args) or compiled(*args))
    by_grid = SeededCV(SVC(tol=1e-7), GRID, **options).fit(X, y)
    assert len(calls) == len(GRID["gamma"])
    monkeypatch.setattr(FoldEvaluator, "folds_of_a_grid", lambda self, class_weight: None)
    by_split = SeededCV(SVC(tol=1e-7), GRID, **options).fit(X, y)
    assert len(calls) == len(GRID["gamma"])
    assert_scores_are_equal(by_grid, by_split)


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro"])
def test_a_split_may_lack_a_class(scoring):
    X, y = problem(3)
    order = np.argsort(y, kind="stable")
    X, y, cv = X[order], y[order], KFold(3)
    options = {"cv": cv, "scoring": scoring, "return_train_score": True}
    ours = SeededCV(SVC(tol=1e-7), GRID, **options).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-7), GRID, **options).fit(X, y)
    assert_scores_are_equal(ours, theirs)
    assert (ours.cv_results_["split0_test_score"] == 0).all()


@pytest.mark.parametrize("error_score", [np.nan, 0.25])
def test_a_model_that_fails_has_the_error_score(error_score):
    X, y = problem(2)
    splits = [*MASKS[:2], (np.flatnonzero(y == 1), np.arange(10))]
    options = {"cv": splits, "scoring": "accuracy", "error_score": error_score, "return_train_score": True}
    with pytest.warns(FitFailedWarning, match=r"6 of 6 models could not be .* split 2 of cv leaves one"):
        ours = SeededCV(SVC(tol=1e-7), GRID, **options).fit(X, y)
    with pytest.warns(FitFailedWarning):
        theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-7), GRID, **options).fit(X, y)
    assert_scores_are_equal(ours, theirs)
    with pytest.raises(ValueError, match=r"^split 2 of cv leaves one class only to train on: 1"):
        SeededCV(SVC(), GRID, cv=splits, error_score="raise").fit(X, y)


def scorer_that_fails(estimator, X, y):
    if len(y) == 12:
        raise ArithmeticError("no such score")
    return 1.0


def test_a_scorer_that_fails_has_the_error_score():
    X, y = problem(2)
    cv = [*MASKS, (np.arange(0, 40), np.arange(40, 48))]
    with pytest.warns(FitFailedWarning, match="ArithmeticError: no such score"):
        ours = SeededCV(SVC(), GRID, cv=cv, scoring=scorer_that_fails, error_score=-1.0).fit(X, y)
    assert ours.cv_results_["split0_test_score"].tolist() == [-1.0] * 6
    assert ours.cv_results_["split4_test_score"].tolist() == [1.0] * 6
    with pytest.raises(ArithmeticError, match="no such score"):
        SeededCV(SVC(), GRID, cv=cv, scoring=scorer_that_fails, error_score="raise").fit(X, y)


NU_GRID = {"nu": [0.3, 0.1, 0.4, 0.9], "gamma": [0.5, 0.1]}


@pytest.mark.parametrize("classes", [2, *slow(3)])
@pytest.mark.parametrize("search", [SeededCV, LOOSearchCV])
def test_nu_in_a_grid(classes, search):
    X, y = problem(classes)
    y = np.where(np.arange(M) < 16, 0, y)  # classes of unequal size: nu = 0.9 is infeasible
    cv = LeaveOneOut() if search is LOOSearchCV else StratifiedKFold(4, shuffle=True, random_state=0)
    options = {} if search is LOOSearchCV else {"cv": cv}
    with pytest.warns(
        FitFailedWarning, match=r"2 of 8 models could not .* InfeasibleNu: nu must be at most 0."
    ):
        ours = search(NuSVC(tol=1e-7), NU_GRID, scoring="accuracy", **options).fit(X, y)
    with pytest.warns(FitFailedWarning):
        theirs = GridSearchCV(sklearn.svm.NuSVC(tol=1e-7), NU_GRID, cv=cv, scoring="accuracy").fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9
    )
    assert ours.best_params_ == theirs.best_params_
    assert isinstance(ours.best_estimator_, NuSVC)


def test_a_nu_is_searched_by_default():
    X, y = problem(2)
    search = LOOSearchCV(NuSVC(kernel="linear")).fit(X, y)
    assert len(search.cv_results_["params"]) == 8 and "nu" in search.best_params_


WEIGHTS = {
    "C": [0.5, 3.0],
    "gamma": [0.4],
    "class_weight": [None, "balanced", {0: 3.0, 1: 1.0}, {0: 0.4, 1: 1}],
}


@pytest.mark.parametrize("search", [SeededCV, LOOSearchCV])
def test_class_weights_in_a_grid(search):
    X, y = problem(2)
    y = np.where(np.arange(M) < 10, 0, y)
    weights = WEIGHTS["class_weight"]
    grid = WEIGHTS if search is SeededCV else {**WEIGHTS, "class_weight": [weights[0], *weights[2:]]}
    cv = LeaveOneOut() if search is LOOSearchCV else StratifiedKFold(4)
    options = {} if search is LOOSearchCV else {"cv": cv}
    ours = search(SVC(tol=1e-7), grid, **options).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-7), grid, cv=cv).fit(X, y)
    # one score for all: the weights are those of the estimator
    assert ours.scoring_ == "accuracy"
    assert_equal = np.testing.assert_allclose
    assert_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9)
    assert ours.best_params_ == theirs.best_params_
    assert len(set(np.round(ours.cv_results_["mean_test_score"], 6))) > 2


@pytest.mark.parametrize("search", [*slow(SeededCV), LOOSearchCV])
def test_jobs_do_not_change_what_is_found(search):
    X, y = problem(3)
    grid = [{**GRID, "class_weight": [None, "balanced"]}, {"kernel": ["linear"], "C": [1.0, 0.1]}]
    options = {"scoring": ["accuracy", "f1_macro"], "refit": "f1_macro", "return_train_score": True}
    one = search(SVC(), grid, **options).fit(X, y)
    two = search(SVC(), grid, n_jobs=2, **options).fit(X, y)
    assert one.cv_results_.keys() == two.cv_results_.keys()
    for name, column in one.cv_results_.items():
        if not name.endswith("_time") and name != "params":
            np.testing.assert_array_equal(np.ma.asarray(column), np.ma.asarray(two.cv_results_[name]))
    assert one.best_params_ == two.best_params_
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("search", [SeededCV, LOOSearchCV])
def test_times_are_those_of_grid_search(search):
    X, y = problem(3)
    fitted = search(SVC(), GRID).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(), GRID).fit(X, y)
    ours = fitted.cv_results_
    assert {name for name in theirs.cv_results_ if name.endswith("_time")} <= ours.keys()
    splits = 1 if search is LOOSearchCV else fitted.n_splits_
    assert (ours["mean_fit_time"] > 0).all() and (ours["mean_score_time"] > 0).all()
    spent = splits * (ours["mean_fit_time"] + ours["mean_score_time"]).sum()
    assert 0 < spent < fitted.search_time_
    if search is SeededCV:
        assert (ours["std_fit_time"] > 0).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_the_train_score_of_leave_one_out_is_that_of_the_model_of_all_rows(classes):
    X, y = problem(classes)
    for scoring in (None, "balanced_accuracy"):
        fitted = LOOSearchCV(SVC(), GRID, scoring=scoring, return_train_score=True).fit(X, y)
        for model, score in zip(
            fitted.cv_results_["params"], fitted.cv_results_["mean_train_score"], strict=True
        ):
            assert score == pytest.approx(sklearn.svm.SVC(tol=1e-8, **model).fit(X, y).score(X, y))
        assert (fitted.cv_results_["mean_train_score"] > fitted.cv_results_["mean_test_score"]).any()


def test_leave_one_out_knows_no_groups():
    X, y = problem(2)
    with pytest.raises(ValueError, match=r"leave-one-out knows no groups: SeededCV\(cv=LeaveOneGroupOut"):
        LOOSearchCV().fit(X, y, groups=GROUPS)


def test_probabilities_on_splits_that_overlap():
    X, y = problem(2)
    template = SVC(calibration="loo", gamma=0.3)
    for cv in (BOOTSTRAP, MASKS, [MASKS[0]]):
        fitted = SeededCV(template, {"C": [0.1, 1.0]}, scoring="neg_log_loss", cv=cv).fit(X, y)
        assert (fitted.cv_results_["mean_test_score"] < -0.1).all()
        assert (fitted.cv_results_["mean_test_score"] > -2).all()
    X, y = problem(3)
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match=r"3 classes.*split 0\b"):
        SeededCV(template, {"C": [1.0]}, scoring="neg_log_loss", cv=KFold(3)).fit(X[order], y[order])


def test_a_kernel_that_cannot_be_computed_fails_alone():
    X, y = problem(2)
    for kernels in (["rbf", "chi2"], ["chi2", "rbf"]):  # chi2 is for rows that are not negative
        grid = {"kernel": kernels, "C": [1.0], "gamma": [0.1]}
        with pytest.warns(FitFailedWarning, match=r"1 of 2 models could not be trained .* ValueError: "):
            fitted = LOOSearchCV(SVC(), grid).fit(X, y)
        assert np.isnan(fitted.cv_results_["mean_test_score"]).tolist() == [k == "chi2" for k in kernels]
        assert fitted.best_params_["kernel"] == "rbf"
    indefinite = -rbf_kernel(X)
    with pytest.raises(ValueError, match="semi-definite"):
        LOOSearchCV(SVC(kernel="precomputed"), {"C": [1.0]}).fit(indefinite, y)


def test_a_repeated_row_counts_as_often_as_it_comes():
    X, y = problem(2)
    rows = np.r_[np.arange(40), np.arange(10), np.arange(5)]
    fitted = SeededCV(SVC(tol=1e-8), {"C": [2.0]}, cv=[(rows, np.arange(40, M))]).fit(X, y)
    ours = SVC(C=2.0, tol=1e-8, gamma=1 / (3 * X.var())).fit(X[rows], y[rows])
    assert fitted.cv_results_["split0_test_score"][0] == ours.score(X[40:], y[40:])


def test_nothing_is_warned_of_where_nothing_fails():
    X, y = problem(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", EndOfListWarning)
        SeededCV(SVC(), GRID, scoring="f1_macro", return_train_score=True).fit(X, y)
        LOOSearchCV(SVC(), GRID, scoring="f1_macro", return_train_score=True).fit(X, y)
