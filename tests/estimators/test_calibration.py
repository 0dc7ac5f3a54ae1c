"""Probabilities and thresholds from left-out decision values, against scikit-learn's and brute force."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.svm
from estimators.problems import blobs
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    make_scorer,
    recall_score,
)
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict
from slow import slow

from svmselect.sklearn import SVC, LOOSearchCV, NuSVC, SeededCV
from svmselect.sklearn.calibration import Calibration, blocks_of
from svmselect.sklearn.scoring import Scoring, best_threshold

METHODS = ["sigmoid", "isotonic"]


def problem(seed=0, m=80, shift=1.0):
    rng = np.random.default_rng(seed)
    y = (rng.random(m) < 0.4).astype(int)
    y[:2] = 0, 1
    return rng.normal(size=(m, 3)) + shift * y[:, None], y


def platt(values, positive, weight):
    """The sigmoid of Platt's targets by a general minimiser of the likelihood."""
    n, p = weight[~positive].sum(), weight[positive].sum()
    t = np.where(positive, (p + 1) / (p + 2), 1 / (n + 2))

    def loss(ab):
        z = ab[0] * values + ab[1]
        return weight @ (np.logaddexp(0, z) - t * z)

    result = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
    return lambda points: expit(result.x[0] * points + result.x[1])


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("separable", [False, True])
def test_the_sigmoid_is_that_of_greatest_likelihood(unit, separable):
    rng = np.random.default_rng(0)
    positive = np.arange(60) % 3 == 0
    values = rng.normal(size=60) + (6 if separable else 1) * (positive - 0.5)
    weight = rng.uniform(0.5, 2, size=60)
    weight[:4] = 0
    calibration = Calibration(unit * values, positive.astype(int), 2, weight, "sigmoid")
    points = np.linspace(-4, 4, 9)
    result = calibration(unit * points)
    np.testing.assert_allclose(result[:, 1], platt(values, positive, weight)(points), atol=1e-5)
    np.testing.assert_allclose(result.sum(axis=1), 1)
    assert (result > 0).all()


def test_a_sigmoid_never_falls():
    rng = np.random.default_rng(3)
    codes, weight = np.repeat([0, 1], [60, 20]), rng.uniform(0.5, 2, size=80)
    for values in (rng.normal(size=80) - codes, np.full(80, -0.3), 1e6 + 1e-9 * rng.normal(size=80)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            p = Calibration(values, codes, 2, weight, "sigmoid")(values)[:, 1]
        positive, negative = weight[codes == 1].sum(), weight[codes == 0].sum()
        target = np.where(codes == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
        np.testing.assert_allclose(p, np.average(target, weights=weight))
    rising = Calibration(
        values=codes + rng.normal(size=80), codes=codes, k=2, weight=weight, method="sigmoid"
    )
    assert (np.diff(rising(np.linspace(-3, 3, 20))[:, 1]) > 0).all()


def test_log_loss_does_not_praise_models_whose_left_out_values_tell_the_other_class():
    """With a tiny C a left-out row moves the threshold against itself: it is an error, for certain."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 2)) + 1.5 * y[:, None]
    search = LOOSearchCV(SVC(calibration="loo", gamma=1e-4), {"C": [1e-3, 1e3]}, scoring="neg_log_loss").fit(
        X, y
    )
    worst, best = search.cv_results_["mean_test_score"]
    assert search.cv_results_["loo_error"][0] > 0.9
    assert worst == pytest.approx(-np.log(2), abs=0.02) and best > -0.5
    assert search.best_params_["C"] == 1e3


def test_the_isotonic_map_is_scikit_learns():
    rng = np.random.default_rng(1)
    values, codes = np.round(rng.normal(size=50), 1), (rng.random(50) < 0.5).astype(int)
    weight = rng.integers(0, 3, size=50).astype(float)
    result = Calibration(values, codes, 2, weight, "isotonic")(np.linspace(-5, 5, 21))[:, 1]
    repeated = np.repeat(np.arange(50), weight.astype(int))
    reference = IsotonicRegression(out_of_bounds="clip").fit(values[repeated], codes[repeated])
    np.testing.assert_allclose(result, reference.predict(np.linspace(-5, 5, 21)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn_with_as_many_folds_as_rows(method, classes):
    """`ensemble=False` calibrates on what `cross_val_predict` says: 60 fits, which we do not need."""
    X, y = blobs(4, m=60, k=classes)
    labels = np.array(["a", "b", "c"])[y]
    new = np.random.default_rng(1).normal(size=(40, 3))
    ours = SVC(C=2.0, gamma=0.3, calibration="loo", calibration_method=method).fit(X, labels)
    base = sklearn.svm.SVC(C=2.0, gamma=0.3, tol=1e-8)
    theirs = CalibratedClassifierCV(base, method=method, cv=list(KFold(60).split(X)), ensemble=False).fit(
        X, labels
    )
    result, expected = ours.predict_proba(new), theirs.predict_proba(new)
    # a step of the isotonic map may be on either side of a value
    close = np.abs(result - expected).max(axis=1) < (1e-3 if method == "sigmoid" else 0.02)
    assert close.mean() >= (1 if method == "sigmoid" else 0.9)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(new)), result)
    np.testing.assert_allclose(result.sum(axis=1), 1)
    # nothing else is changed by it
    plain = SVC(C=2.0, gamma=0.3).fit(X, labels)
    np.testing.assert_array_equal(ours.predict(new), plain.predict(new))
    np.testing.assert_allclose(ours.decision_function(new), plain.decision_function(new))
    assert ours.loo_error_ == plain.loo_error_


def test_probabilities_are_better_than_the_share_of_the_class():
    X, y = problem(0, 200)
    new, truth = problem(1, 2000)
    for method in METHODS:
        p = SVC(calibration="loo", calibration_method=method).fit(X, y).predict_proba(new)[:, 1]
        assert log_loss(truth, np.clip(p, 1e-3, 1 - 1e-3)) < 0.85 * log_loss(truth, np.full(2000, y.mean()))


def test_weights_are_those_of_the_rows():
    """A row of weight 2 is two, to the calibration; class weights are not."""
    X, y = problem(2, 40)
    weight = np.ones(40)
    weight[[5, 9]] = 0
    model = SVC(C=0.5, calibration="loo", gamma=0.2).fit(X, y, sample_weight=weight)
    rest = weight > 0
    without = SVC(C=0.5, calibration="loo", gamma=0.2).fit(X[rest], y[rest])
    np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), atol=1e-4)
    balanced = SVC(class_weight={0: 1.0, 1: 5.0}, calibration="loo").fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.1)


def test_copies_and_pickles_have_probabilities():
    X, y = problem(3, 40)
    fitted = SVC(calibration="loo", threshold="f1").fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(SVC().fit(X, y), "predict_proba") and hasattr(SVC(calibration="loo"), "predict_proba")


def test_few_rows():
    X = np.array([[0.0], [1.0], [2.0]])
    model = SVC(calibration="loo", threshold="accuracy").fit(X, [0, 1, 1])
    assert np.isfinite(model.predict_proba(X)).all() and set(model.predict(X)) <= {0, 1}
    assert (blocks_of(np.array([0, 1, 1])) == 0).all()
    assert sorted(np.bincount(blocks_of(np.array([0, 1] * 10)))) == [4, 4, 4, 4, 4]


SCORES = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "f1": f1_score,
    "recall of 0": lambda y, p: recall_score(y, p, pos_label=0),
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("seed", [0, 1, *slow(*range(2, 8))])
def test_no_threshold_is_better(name, seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 60))
    codes = (rng.random(m) < 0.4).astype(int)
    codes[:2] = 0, 1
    values = rng.normal(size=m) + codes
    if seed % 2:
        values = np.round(values)  # ties
    classes, X = np.array([0, 1]), np.zeros((m, 1))
    scoring = Scoring(make_scorer(SCORES[name]))
    t = best_threshold(SVC(), classes, X, codes, values, codes, None, scoring)
    result = SCORES[name](codes, (values >= t).astype(int))
    ends = np.sort(values)
    everywhere = np.concatenate([[ends[0] - 1], (ends[:-1] + ends[1:]) / 2, ends, [ends[-1] + 1]])
    assert result == pytest.approx(max(SCORES[name](codes, (values >= u).astype(int)) for u in everywhere))


def test_a_threshold_finds_the_rare_class():
    rng = np.random.default_rng(0)
    y, truth = ((np.arange(m) % 20 == 0).astype(int) for m in (400, 4000))
    X, new = (rng.normal(size=(labels.size, 4)) + 1.2 * labels[:, None] for labels in (y, truth))
    plain = SVC(C=10, gamma=0.05).fit(X, y)
    tuned = SVC(C=10, gamma=0.05, threshold="balanced_accuracy").fit(X, y)
    values = plain.loo_decision_
    assert tuned.threshold_ < 0 and plain.threshold_ == 0
    here = [balanced_accuracy_score(y, values >= t) for t in (0, tuned.threshold_)]
    assert here[1] > here[0] + 0.1
    np.testing.assert_array_equal(tuned.predict(new), tuned.decision_function(new) >= tuned.threshold_)
    reached = [balanced_accuracy_score(truth, model.predict(new)) for model in (plain, tuned)]
    assert reached[1] > reached[0] + 0.1


@pytest.mark.parametrize("method", METHODS)
def test_a_leave_one_out_search_by_log_loss(method):
    """The probabilities of each block of rows are calibrated by the others."""
    X, y = problem(5, 60)
    grid = {"C": [0.3, 3.0], "gamma": [0.1, 1.0]}
    template = SVC(calibration="loo", calibration_method=method)
    search = LOOSearchCV(template, grid, scoring="neg_log_loss").fit(X, y)
    blocks = blocks_of(y)
    for model, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        values, p = SVC(**model).fit(X, y).loo_decision_, np.empty(60)
        for block in range(5):
            inside = blocks == block
            rest = Calibration(values[~inside], y[~inside], 2, np.ones((~inside).sum()), method)
            p[inside] = rest(values[inside])[:, 1]
        assert score == pytest.approx(-log_loss(y, p))
    np.testing.assert_array_equal(search.predict_proba(X), search.best_estimator_.predict_proba(X))
    np.testing.assert_allclose(np.exp(search.predict_log_proba(X)), search.predict_proba(X))
    # one model by its own method
    best = search.best_estimator_
    assert best.loo_score("neg_log_loss") == pytest.approx(search.best_score_)


def test_a_cross_validated_search_by_log_loss():
    X, y = problem(6, 60)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    grid = {"C": [0.3, 3.0], "gamma": [0.1]}
    search = SeededCV(SVC(calibration="loo", tol=1e-8), grid, scoring="neg_log_loss", cv=cv).fit(X, y)
    for c, C in enumerate(grid["C"]):
        libsvm = sklearn.svm.SVC(C=C, gamma=0.1, tol=1e-8)
        values = cross_val_predict(libsvm, X, y, cv=cv, method="decision_function")
        for h, (train, test) in enumerate(cv.split(X, y)):
            p = Calibration(values[train], y[train], 2, np.ones(train.size), "sigmoid")(values[test])
            score = search.cv_results_[f"split{h}_test_score"][c]
            assert score == pytest.approx(-log_loss(y[test], p), abs=1e-5)


def test_thresholds_and_calibrations_within_grid_search():
    X, y = problem(7, 60)
    grid = {"C": [0.5, 5.0], "threshold": [None, "balanced_accuracy"]}
    search = GridSearchCV(SVC(calibration="loo"), grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (SVC(calibration="cv"), r"calibration\b.* 'cv'"),
        (
            SVC(calibration="loo", calibration_method="platt"),
            r"calibration_method\b.* 'platt'",
        ),
        (SVC(threshold=["f1"]), r"threshold\b.* \['f1'\]"),
        (SVC(threshold="roc_auc"), r"threshold\b.*'roc_auc'"),
        (SVC(threshold="fbeta"), r"scoring\b.* 'fbeta'"),
        (
            LOOSearchCV(SVC(), {"C": [1.0]}, scoring="neg_log_loss"),
            r"scoring\b.*calibration='loo'",
        ),
        (LOOSearchCV(SVC(calibration="cv"), {"C": [1.0]}), r"calibration\b.* 'cv'"),
    ],
)
def test_bad_input_is_named(estimator, sentence):
    X, y = problem(0, 20)
    with pytest.raises(ValueError, match=sentence):
        estimator.fit(X, y)


def test_a_threshold_is_for_two_classes():
    X, y = blobs(0, m=30, k=3)
    with pytest.raises(ValueError, match=r"threshold\b.* 3\b"):
        SVC(threshold="accuracy").fit(X, y)
    with pytest.raises(ValueError, match=r"scoring\b.*probabilities"):
        NuSVC(nu=0.2).fit(X, y).loo_score("neg_log_loss")
