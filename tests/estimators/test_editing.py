"""Training-set editing as estimators."""

import numpy as np
import pytest
from numerics.problems import two_classes
from scipy import sparse

from svmselect import RBF, bagging, condense, cross_training, multiedit
from svmselect.sklearn import BaggedSVC, CrossTrainingSVC, EditedSVC


def test_estimators_are_the_functions():
    X, y = two_classes(np.random.default_rng(15), 300, 2, gap=2.0)
    names = np.where(y > 0, "b", "a")
    estimator = CrossTrainingSVC(
        C=[1.0, 10.0], gamma=0.5, subset_size=60, tune_threshold=True, random_state=7
    ).fit(X, names)
    result = cross_training(X, y, RBF(0.5), [1.0, 10.0], subset_size=60, seed=7)
    np.testing.assert_array_equal(estimator.decision_function(X), result.decision_function(X))
    assert set(estimator.predict(X)) == {"a", "b"}
    bagged = BaggedSVC(gamma=0.5, subset_size=60, random_state=7).fit(X, names)
    expected = bagging(X, y, RBF(0.5), 1.0, subset_size=60, seed=7)
    np.testing.assert_array_equal(bagged.decision_function(X), expected.decision_function(X))
    edited = EditedSVC("multiedit+condense", gamma=0.5, random_state=7).fit(X, names)
    rng = np.random.default_rng(7)
    rows = multiedit(X, y, seed=rng)
    rows = rows[condense(X[rows], y[rows], rng)]
    np.testing.assert_array_equal(edited.rows_, rows)
    assert edited.score(X, names) > 0.8
    with pytest.raises(ValueError, match="multiedit leaves points of one class only"):
        EditedSVC("multiedit").fit(X, np.random.default_rng(0).permutation(names)[:300])


@pytest.mark.parametrize("rows_of_a_class", [1, 3, 7])
def test_by_default_there_is_a_subset_for_each_row_of_the_smaller_class_at_most_five(rows_of_a_class):
    X, y = two_classes(np.random.default_rng(3), 40, 2)
    y = np.where(np.arange(40) < rows_of_a_class, 1, -1)
    for estimator in (BaggedSVC().fit(X, y), CrossTrainingSVC().fit(X, y)):
        result = estimator.classifier_
        subsets = (result if isinstance(estimator, BaggedSVC) else result.first).subsets
        assert len(subsets) == min(5, rows_of_a_class)
        assert all(np.unique(y[subset]).size == 2 for subset in subsets)
        assert np.isfinite(estimator.decision_function(X)).all()
    with pytest.raises(ValueError, match=r"n_subsets = 5 leaves subset . of \d points without a class"):
        BaggedSVC(n_subsets=5).fit(X, np.where(np.arange(40) < 3, 1, -1))


def test_sparse_rows_are_not_changed_and_precomputed_is_named():
    X, y = two_classes(np.random.default_rng(1), 60, 3)
    X = sparse.csr_array(X)
    X.indices[:3], X.data[:3] = X.indices[2::-1].copy(), X.data[2::-1].copy()
    X.has_sorted_indices = False
    before = X.indices.copy()
    assert EditedSVC("condense").fit(X, y).score(X, y) > 0.8
    np.testing.assert_array_equal(X.indices, before)
    with pytest.raises(ValueError, match=r"kernel\b.* 'precomputed'"):
        BaggedSVC(kernel="precomputed").fit(X, y)
