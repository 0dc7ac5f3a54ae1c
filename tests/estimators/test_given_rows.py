"""Searches hand rows on as GridSearchCV does: as the user gave them, by the numbers that NumPy takes."""

import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, ShuffleSplit

from svmselect.sklearn import SVC, LOOSearchCV, SeededCV

GRID = {"C": [0.3, 3.0], "gamma": [1e-4, 1e-3]}


def frame(m=90, names=("no", "yes")):
    """A frame and a series with an index of their own."""
    data = load_breast_cancer(as_frame=True)
    index = [f"patient {r}" for r in range(m)]
    return data.data[:m].set_axis(index), data.target[:m].map(dict(enumerate(names))).set_axis(index)


def cost(estimator, X, y):
    return -(X["mean radius"] * (estimator.predict(X) != y)).sum()


def by_index(estimator, X, y):
    """A score that looks rows up by their names."""
    assert X.index.equals(y.index)
    wrong = estimator.predict(X) != y.to_numpy()
    return -sum(int(name.split()[1]) % 7 for name in y.index[wrong])


def by_values(estimator, X, y):
    values = pd.Series(estimator.decision_function(X), index=X.index)
    # a fold may hold one class only
    return float(np.nan_to_num(values[y == "yes"].mean()) - np.nan_to_num(values[y == "no"].mean()))


@pytest.mark.parametrize("cv", [3, ShuffleSplit(4, test_size=0.3, random_state=0), KFold(5)])
@pytest.mark.parametrize("scorer", [cost, by_index, by_values])
def test_scorers_get_the_frame_of_the_user_in_folds(scorer, cv):
    X, y = frame()
    ours = SeededCV(SVC(tol=1e-8), GRID, scoring=scorer, cv=cv, return_train_score=True).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-8), GRID, scoring=scorer, cv=cv, return_train_score=True)
    theirs.fit(X, y)
    for split in range(theirs.n_splits_):
        for part in ("test", "train"):
            name = f"split{split}_{part}_score"
            np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-5, atol=1e-6)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.slow
def test_scorers_get_the_frame_of_the_user_in_leave_one_out():
    """A sum over the rows is GridSearchCV's mean over its one-row folds, times their number."""
    X, y = frame(60)
    for scorer in (cost, by_index):
        ours = LOOSearchCV(SVC(tol=1e-6), GRID, scoring=scorer).fit(X, y)
        theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-6), GRID, scoring=scorer, cv=LeaveOneOut()).fit(X, y)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], 60 * theirs.cv_results_["mean_test_score"], rtol=1e-9
        )


def test_scorers_get_the_frame_of_the_user_for_a_threshold_and_in_rounds():
    X, y = frame()
    model = SVC(threshold=cost).fit(X, y)
    assert np.isfinite(model.threshold_)
    search = SeededCV(SVC(), {"C": [0.1, 1.0, 10.0, 100.0]}, scoring=by_index, factor=2, random_state=0)
    assert search.fit(X, y).best_score_ <= 0


@pytest.mark.parametrize("kind", ["list", "int", "sparse", "sparse frame", "precomputed"])
def test_scorers_get_rows_of_other_kinds(kind):
    X, y = load_iris(return_X_y=True)
    rows = {
        "list": X.tolist(),
        "int": (10 * X).astype(int),
        "sparse": sparse.csr_matrix(X),
        "sparse frame": pd.DataFrame(X).astype(pd.SparseDtype("float64", 0.0)),
        "precomputed": X @ X.T,
    }
    rows, seen = rows[kind], set()

    def score(estimator, X, y):
        seen.add((type(X), getattr(X, "dtype", None), type(y)))
        return float(np.mean(estimator.predict(X) == np.asarray(y)))

    labels = y.tolist() if kind == "list" else y
    kernel = "precomputed" if kind == "precomputed" else "rbf"
    ours = SeededCV(SVC(kernel=kernel), {"C": [1.0, 10.0]}, scoring=score).fit(rows, labels)
    theirs = GridSearchCV(sklearn.svm.SVC(kernel=kernel), {"C": [1.0, 10.0]}, scoring="accuracy", cv=3)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"],
        theirs.fit(X if kind == "sparse frame" else rows, labels).cv_results_["mean_test_score"],
        atol=1e-12 if kind == "precomputed" else 0.03,
    )
    assert seen == {(type(rows), getattr(rows, "dtype", None), type(labels))}


class BySite(BaseEstimator):
    """A splitter that reads a column, and the index."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3

    def split(self, X, y=None, groups=None):
        for third in range(3):
            site = (X["mean radius"].rank(method="first") % 3 == third).to_numpy()
            assert y.index.equals(X.index)
            yield np.flatnonzero(~site), np.flatnonzero(site)


def test_splitters_get_the_frame_of_the_user():
    X, y = frame()
    ours = SeededCV(SVC(tol=1e-8), GRID, cv=BySite()).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-8), GRID, cv=BySite()).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    "cv",
    [
        [(np.arange(-100, 0), np.arange(0, 50))],
        [(np.arange(100), np.arange(-50, 0)), (np.r_[0:70, -30:0], np.r_[70:120])],
        [(np.r_[0:100, -150:-100], np.r_[-1, 149, 100:149])],
        [(np.arange(150) % 3 > 0, np.arange(150) % 3 == 0)],
    ],
)
def test_rows_of_splits_are_numbered_as_by_numpy(cv):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0).permutation(150)
    X, y = X[rng], y[rng]
    for labels in (y, y > 0):
        ours = SeededCV(SVC(tol=1e-8), {"C": [1, 10], "gamma": [0.1]}, cv=cv).fit(X, labels)
        theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-8), {"C": [1, 10], "gamma": [0.1]}, cv=cv).fit(X, labels)
        np.testing.assert_array_equal(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
        )


@pytest.mark.parametrize(
    ("train", "test", "sentence"),
    [
        (np.arange(50), [], "split 1 of cv holds out no row"),
        (np.arange(50), np.zeros(60, dtype=bool), "split 1 of cv holds out no row"),
        ([], np.arange(50), "split 1 of cv trains on no row"),
        (np.arange(61), np.arange(5), "split 1 of cv trains on rows that X does not have: index 60"),
        (np.arange(50), [-61], "split 1 of cv holds out rows that X does not have: index -61"),
        (np.arange(50) + 0.5, [51], "split 1 of cv trains on row 0.5, which is no whole number"),
        (np.arange(50), ["51"], "split 1 of cv holds out row 51, which is no whole number"),
        (np.ones(59, dtype=bool), [0], "split 1 of cv trains on rows that X does not have: boolean index"),
    ],
)
def test_splits_that_are_none_are_named(train, test, sentence):
    X, y = frame(60)
    with pytest.raises(ValueError, match=sentence):
        SeededCV(cv=[(np.arange(30, 60), np.arange(30)), (train, test)]).fit(X, y)
