"""Searches against GridSearchCV with scikit-learn's SVC."""

import threading

import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from estimators.problems import blobs
from numerics.problems import two_classes
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, StratifiedKFold
from threadpoolctl import threadpool_limits

from svmselect.sklearn import SVC, BaggedSVC, LOOSearchCV, NuSVC, SeededCV
from svmselect.sklearn.evaluate import Evaluator

# not in order, a value twice, and kernels with parameters of their own
GRID = [
    {"kernel": ["rbf"], "C": [10.0, 0.3, 0.3], "gamma": [0.7, 0.05]},
    {"kernel": ["linear"], "C": [1.0]},
]


def problem(classes, weighted):
    X, y = blobs(20, m=36, k=classes)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=36) if weighted else None
    return X, np.array(["a", "b", "c"])[y], weight


def theirs(X, y, weight, cv, grid=GRID, **parameters):
    return GridSearchCV(sklearn.svm.SVC(tol=1e-6, **parameters), grid, cv=cv).fit(X, y, sample_weight=weight)


def assert_same(ours, reference):
    for name in ("params", "rank_test_score"):
        assert list(ours.cv_results_[name]) == list(reference.cv_results_[name])
    for name in ("param_C", "param_gamma", "param_kernel"):
        ours_column, column = ours.cv_results_[name], reference.cv_results_[name]
        np.testing.assert_array_equal(np.ma.getmaskarray(ours_column), np.ma.getmaskarray(column))
        assert ours_column.compressed().tolist() == column.compressed().tolist()
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], reference.cv_results_[name], atol=1e-12)
    assert ours.best_index_ == reference.best_index_
    assert ours.best_params_ == reference.best_params_
    assert ours.best_score_ == pytest.approx(reference.best_score_)
    assert not ours.cv_results_["n_not_converged"].any()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out(classes, weighted):
    X, y, weight = problem(classes, weighted)
    ours = LOOSearchCV(param_grid=GRID).fit(X, y, sample_weight=weight)
    reference = theirs(X, y, weight, LeaveOneOut())
    if weighted:
        # without the weight of the row that a fold holds out, as GridSearchCV averages them
        right = np.column_stack([reference.cv_results_[f"split{r}_test_score"] for r in range(36)])
        np.testing.assert_allclose(ours.cv_results_["mean_test_score"], right @ weight / weight.sum())
        np.testing.assert_allclose(ours.cv_results_["loo_error"], 1 - right.mean(axis=1), atol=1e-12)
        best = SVC(**ours.best_params_).fit(X, y, sample_weight=weight)
        assert best.weighted_loo_error_ == pytest.approx(1 - ours.best_score_)
    else:
        assert_same(ours, reference)
        assert ours.loo_error_ == pytest.approx(1 - reference.best_score_)
        np.testing.assert_array_equal(ours.predict(X), reference.predict(X))
    assert ours.best_estimator_.loo_error_ == pytest.approx(ours.loo_error_)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, {"a": 0.7, "b": 1.9, "c": 1.1}, "balanced"])
def test_cross_validation(classes, weighted, class_weight):
    X, y, weight = problem(classes, weighted)
    # balanced, all points of both classes are bounded where C is small: round-off decides LIBSVM's threshold
    grid = (
        [{"kernel": ["rbf"], "C": [10.0, 30.0], "gamma": [0.7, 1.5]}] if class_weight == "balanced" else GRID
    )
    template = SVC(tol=1e-6, class_weight=class_weight)
    for cv in (4, StratifiedKFold(3, shuffle=True, random_state=0), KFold(5, shuffle=True, random_state=1)):
        ours = SeededCV(template, grid, scoring="accuracy", cv=cv).fit(X, y, sample_weight=weight)
        reference = theirs(X, y, weight, cv, grid, class_weight=class_weight)
        assert_same(ours, reference)
        assert ours.n_splits_ == reference.n_splits_
        for h in range(ours.n_splits_):
            name = f"split{h}_test_score"
            np.testing.assert_allclose(ours.cv_results_[name], reference.cv_results_[name], atol=1e-12)


@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
def test_a_precomputed_kernel(search):
    X, y, _ = problem(3, False)
    rows = search(SVC(gamma=0.3), {"C": [0.1, 1, 10]}).fit(X, y)
    given = search(SVC(kernel="precomputed"), {"C": [0.1, 1, 10]}).fit(rbf_kernel(X, gamma=0.3), y)
    np.testing.assert_allclose(given.cv_results_["mean_test_score"], rows.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(given.predict(rbf_kernel(X, gamma=0.3)), rows.predict(X))


@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
def test_the_default_grid(search):
    X, y = two_classes(np.random.default_rng(0), 30, 2)
    fitted = search(refit=False).fit(X, y)
    table = pd.DataFrame(fitted.cv_results_)
    assert len(table) == 64
    assert np.log2(table.param_gamma.astype(float)).median() == pytest.approx(-3 - np.log2(2 * X.var()))
    with pytest.raises(AttributeError, match="no best_estimator_ with refit=False"):
        fitted.predict(X)
    assert len(search(SVC(kernel="linear"), refit=False).fit(X, y).cv_results_["params"]) == 8


@pytest.mark.parametrize(
    ("search", "sentence"),
    [
        (
            LOOSearchCV(BaggedSVC()),
            r"estimator\b.* BaggedSVC\b",
        ),
        (LOOSearchCV(sklearn.svm.SVC()), r"estimator\b.* SVC\b"),
        (
            LOOSearchCV(param_grid={"C": [1], "nu": [2]}),
            r"param_grid\b.* 'nu'",
        ),
        (LOOSearchCV(param_grid={"C": [1, -1]}), r"C\b.* -1.0\b"),
        (LOOSearchCV(param_grid={"gamma": [0.0]}), r"gamma\b.* 0.0\b"),
        (LOOSearchCV(NuSVC(), {"nu": [0.5, 1.5]}), r"nu\b.* 1.5\b"),
        (LOOSearchCV(param_grid={"class_weight": ["even"]}), "class_weight"),
        (LOOSearchCV(error_score="ignore"), r"error_score\b.* 'ignore'"),
        (SeededCV(cv=[]), r"cv\b.* \[\]"),
        (
            SeededCV(cv=KFold(2)),
            "no model could be trained and scored: .* split 0 of cv leaves one class only",
        ),
        (SeededCV(cv=KFold(2), error_score="raise"), "^split 0 of cv leaves one class only to train on: 1"),
    ],
)
def test_bad_input_is_named(search, sentence):
    X, _ = two_classes(np.random.default_rng(0), 20, 2)
    with pytest.raises(ValueError, match=sentence):
        search.fit(X, np.repeat([-1, 1], 10))


def test_a_fold_without_weight_is_named():
    X, y, _ = problem(2, False)
    weight = np.r_[np.zeros(12), np.ones(24)]
    with pytest.raises(ValueError, match="fold 0 of cv holds out rows of weight zero only"):
        SeededCV(cv=KFold(3)).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
def test_threads_share_the_kernels_and_find_the_same(search, monkeypatch):
    X, y = two_classes(np.random.default_rng(5), 60, 3)
    grid = {"C": [0.5, 5.0], "gamma": [0.05, 0.2, 0.8], "kernel": ["rbf", "laplacian"]}
    monkeypatch.setattr("svmselect.threads.WORK_FOR_THREADS", 1)
    workers = set()
    evaluate_kernel = Evaluator.evaluate_kernel

    def noted(self, *args, **options):
        if threading.get_ident() not in workers:  # no thread goes on before all have a kernel
            workers.add(threading.get_ident())
            all_there.wait(600)
        return evaluate_kernel(self, *args, **options)

    monkeypatch.setattr(Evaluator, "evaluate_kernel", noted)
    scores = []
    for threads in (1, 2):
        workers.clear()
        all_there = threading.Barrier(threads)
        with threadpool_limits(threads, user_api="blas"):
            scores.append(search(SVC(), grid).fit(X, y).cv_results_["mean_test_score"])
        assert threading.get_ident() in workers and len(workers) == threads
    np.testing.assert_array_equal(*scores)
    assert np.unique(scores[0]).size > 1
