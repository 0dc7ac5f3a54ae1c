"""Metadata routing: who is handed sample weights, groups and what else is given to searches."""

import numpy as np
import pytest
import sklearn
import sklearn.svm
from estimators.problems import blobs
from packaging.version import Version
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect.sklearn import SVC, LOOSearchCV, NuSVC, SeededCV

GRID = {"C": [10.0, 0.3, 1.0], "gamma": [0.7, 0.05]}
M = 48
GROUPS = np.arange(M) // 6
WEIGHT = np.random.default_rng(0).uniform(0.2, 3, size=M)
OTHER = np.random.default_rng(1).uniform(0.2, 3, size=M)


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def problem():
    return blobs(7, m=M, k=2)


def assert_scores_are_equal(ours, theirs):
    for name in theirs.cv_results_:
        if "_test_" in name and "rank" not in name:
            np.testing.assert_allclose(
                ours.cv_results_[name], theirs.cv_results_[name], atol=1e-9, err_msg=name
            )


@pytest.mark.parametrize("fit", [True, False])
@pytest.mark.parametrize("score", [True, False, "other"])
def test_weights_go_where_they_are_requested(problem, fit, score):
    X, y = problem
    scorer = make_scorer(accuracy_score).set_score_request(sample_weight=score)
    to_score = {True: {"sample_weight": WEIGHT}, "other": {"other": OTHER}, False: {}}[score]
    given = {**({"sample_weight": WEIGHT} if fit else {}), **to_score}
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    ours = SeededCV(SVC(tol=1e-7).set_fit_request(sample_weight=fit), GRID, scoring=scorer, cv=cv)
    theirs = GridSearchCV(
        sklearn.svm.SVC(tol=1e-7).set_fit_request(sample_weight=fit), GRID, scoring=scorer, cv=cv
    )
    ours.fit(X, y, **given)
    theirs.fit(X, y, **given)
    assert_scores_are_equal(ours, theirs)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert ours.score(X, y, **to_score) == pytest.approx(theirs.score(X, y, **to_score))


def test_each_scorer_has_its_own(problem):
    X, y = problem
    scoring = {
        "plain": make_scorer(accuracy_score).set_score_request(sample_weight=False),
        "weighted": make_scorer(accuracy_score).set_score_request(sample_weight=True),
        "other": make_scorer(f1_score).set_score_request(sample_weight="other"),
    }
    options = {"scoring": scoring, "refit": "other"}
    given = {"sample_weight": WEIGHT, "other": OTHER}
    ours = SeededCV(SVC(tol=1e-7).set_fit_request(sample_weight=False), GRID, **options).fit(X, y, **given)
    libsvm = sklearn.svm.SVC(tol=1e-7).set_fit_request(sample_weight=False)
    theirs = GridSearchCV(libsvm, GRID, cv=3, **options).fit(X, y, **given)
    assert_scores_are_equal(ours, theirs)
    left = LOOSearchCV(SVC().set_fit_request(sample_weight=False), GRID, **options).fit(X, y, **given)
    for model, *scores in zip(
        left.cv_results_["params"], *(left.cv_results_[f"mean_test_{name}"] for name in scoring), strict=True
    ):
        predicted = SVC(**model).fit(X, y).loo_predictions_
        expected = [
            accuracy_score(y, predicted),
            accuracy_score(y, predicted, sample_weight=WEIGHT),
            f1_score(y, predicted, sample_weight=OTHER),
        ]
        assert scores == pytest.approx(expected)


@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
@pytest.mark.parametrize("estimator", [SVC, NuSVC])
def test_what_nobody_has_decided_about_is_refused(problem, search, estimator):
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        search(estimator()).fit(*problem, sample_weight=WEIGHT)
    with pytest.raises(TypeError, match=r"colour.*not routed to any object"):
        search(estimator()).fit(*problem, colour=WEIGHT)


def test_groups_reach_the_splitter(problem):
    X, y = problem
    cv = GroupKFold(4)
    ours = SeededCV(SVC(tol=1e-7), GRID, cv=cv, scoring="accuracy").fit(X, y, groups=GROUPS)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-7), GRID, cv=cv, scoring="accuracy").fit(X, y, groups=GROUPS)
    assert_scores_are_equal(ours, theirs)


@pytest.mark.skipif(
    Version(sklearn.__version__) < Version("1.8"),
    reason="before 1.8 scikit-learn's Pipeline does not hand sample_weight on to score",
)
@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
def test_searches_hand_on_inside_of_others(problem, search):
    X, y = problem
    template = SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    asks = search(template, GRID)
    result = cross_validate(
        make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asks),
        X,
        y,
        cv=StratifiedKFold(3),
        params={"sample_weight": WEIGHT},
        return_estimator=True,
    )
    splits = list(StratifiedKFold(3).split(X, y))
    for (train, _), pipeline in zip(splits, result["estimator"], strict=True):
        with config_context(enable_metadata_routing=False):
            scaled = StandardScaler().fit_transform(X[train])
            alone = search(SVC(), GRID).fit(scaled, y[train], sample_weight=WEIGHT[train])
        assert_scores_are_equal(pipeline[-1], alone)
    _, test = splits[-1]
    right = pipeline.predict(X[test]) == y[test]
    assert result["test_score"][-1] == pytest.approx(np.average(right, weights=WEIGHT[test]))


def test_without_routing_other_metadata_is_refused(problem):
    with (
        config_context(enable_metadata_routing=False),
        pytest.raises(TypeError, match=r"fit\(\) got 'other', which is handed on with sklearn.set_config"),
    ):
        SeededCV().fit(*problem, other=OTHER)
