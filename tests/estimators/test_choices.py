"""What chooses the best model of a search, what it warns of, and when it ends."""

import io
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from threadpoolctl import threadpool_limits

from svmselect.sklearn import (
    SVC,
    SVR,
    ConstantModelWarning,
    EndOfListWarning,
    LOOSearchCV,
    NuSVC,
    OneClassSVM,
    SearchDisplay,
    SeededCV,
    UnscaledWarning,
)
from svmselect.sklearn.progress import Watch, progress_bar

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}


def problem(seed=0, m=80, classes=2):
    return make_classification(
        m, 5, n_informative=4, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1,
        random_state=seed,
    )  # fmt: skip


ESTIMATES = {
    "span": "span_estimate_",
    "opper_winther": "opper_winther_estimate_",
    "xi_alpha": "xi_alpha_bound_",
}


@pytest.mark.parametrize("estimator", [SVC(), SVC(class_weight="balanced"), NuSVC(nu=0.2)], ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("criterion", ESTIMATES)
def test_estimates_choose(criterion, classes, estimator):
    """Each score is 1 - the estimate of the same model fitted alone."""
    X, y = problem(3, classes=classes)
    grid = {"nu": [0.1, 0.3], "gamma": [0.05, 0.5]} if isinstance(estimator, NuSVC) else GRID
    search = LOOSearchCV(estimator, grid, criterion=criterion).fit(X, y)
    for index, parameters in enumerate(search.cv_results_["params"]):
        alone = type(estimator)(**estimator.get_params() | parameters).fit(X, y)
        expected = getattr(alone, ESTIMATES[criterion])
        score = search.cv_results_["mean_test_score"][index]
        assert score == pytest.approx(1 - expected, abs=1e-9 if criterion != "xi_alpha" else 1 / 80)
    assert getattr(search, ESTIMATES[criterion]) == getattr(search.best_estimator_, ESTIMATES[criterion])
    assert search.loo_error_ == search.best_estimator_.loo_error_
    assert search.scoring_ == criterion
    picture = SearchDisplay.from_search(search)
    assert criterion.replace("_", " ") in picture.label
    assert np.nanmin(picture.values) == pytest.approx(100 * (1 - search.best_score_))


def test_the_span_of_regressions_and_of_pipelines_chooses():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:70], y[:70]
    grid = {"svr__C": [50.0, 500.0], "svr__epsilon": [5.0]}
    search = LOOSearchCV(make_pipeline(StandardScaler(), SVR()), grid, criterion="span").fit(X, y)
    for index, C in enumerate(grid["svr__C"]):
        alone = SVR(C=C, epsilon=5.0).fit(scale(X), y)
        assert -search.cv_results_["mean_test_score"][index] == pytest.approx(alone.span_estimate_, rel=1e-6)


def test_the_radius_margin_bound_chooses_a_width():
    X, y = problem(1, 60)
    search = LOOSearchCV(SVC(C=1e6), {"gamma": [0.5, 2.0, 8.0]}, criterion="radius_margin").fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    for gamma, score in zip((0.5, 2.0, 8.0), scores, strict=True):
        alone = SVC(C=1e6, gamma=gamma).fit(X, y)
        assert score == pytest.approx(1 - alone.radius_margin_bound_, rel=1e-6)
    with pytest.raises(ValueError, match=r"hard margins.* C\b"):
        LOOSearchCV(SVC(C=0.1), {"gamma": [0.1, 1.0]}, criterion="radius_margin").fit(X, y)


@pytest.mark.parametrize(
    ("search", "words"),
    [
        (LOOSearchCV(criterion="best"), "'span'.*'best'"),
        (LOOSearchCV(criterion="span", scoring="f1"), "scoring.*'f1'"),
        (LOOSearchCV(criterion="span", stop_early=True), "stop_early"),
        (LOOSearchCV(SVR(), criterion="xi_alpha"), "SVR.*'xi_alpha'"),
        (LOOSearchCV(NuSVC(), criterion="radius_margin"), "NuSVC.*'radius_margin'"),
        (LOOSearchCV(SVC(), GRID, criterion="radius_margin"), r"one C\b"),
        (LOOSearchCV(time_budget=0), "time_budget.*0"),
        (LOOSearchCV(time_budget="1 h"), "time_budget.*'1 h'"),
        (LOOSearchCV(extend=True, factor=2), "extend"),
        (SeededCV(refit="best"), "'middle'.*'best'"),
        (LOOSearchCV(refit="middle", scoring="roc_auc"), "'middle'"),
    ],
)
def test_bad_choices_are_named(search, words):
    X, y = problem(m=30)
    with pytest.raises(ValueError, match=words):
        search.fit(X, y)


def test_one_class_models_have_no_estimates():
    with pytest.raises(ValueError, match=r"OneClassSVM.*'span'"):
        LOOSearchCV(OneClassSVM(), criterion="span").fit(problem()[0])


def middle(search, m):
    """The rule, written as a program: nearest to the median of those within half a standard error."""
    results = search.cv_results_
    error = 1 - results["mean_test_score"]
    least = error.min()
    near = np.flatnonzero(error <= least + 0.5 * np.sqrt(least * (1 - least) / m) + 1e-9)
    place = np.log([results[f"param_{name}"][near].astype(float) for name in ("C", "gamma")])
    away = place - np.median(place, axis=1, keepdims=True)
    return near[(away**2).sum(axis=0).argmin()]


@pytest.mark.parametrize("search", [SeededCV, LOOSearchCV])
@pytest.mark.parametrize("seed", range(4))
def test_the_middle_rule(search, seed):
    X, y = problem(seed)
    fitted = search(SVC(), refit="middle").fit(X, y)
    assert fitted.best_index_ == middle(fitted, y.size)
    assert fitted.best_score_ == fitted.cv_results_["mean_test_score"][fitted.best_index_]
    assert fitted.best_params_["C"] == fitted.best_estimator_.C


@pytest.mark.parametrize("seed", range(4))
def test_one_standard_error_takes_the_least_C(seed):
    X, y = problem(seed)
    fitted = SeededCV(SVC(), GRID, refit="one_standard_error").fit(X, y)
    score, C = fitted.cv_results_["mean_test_score"], fitted.cv_results_["param_C"].astype(float)
    best = score.max()
    near = score >= best - np.sqrt(best * (1 - best) / y.size)
    assert fitted.best_params_["C"] == C[near].min()
    same = near & (C[near].min() == C)
    assert fitted.best_score_ == score[same].max()


def test_rules_of_scores_use_the_spread_of_the_splits():
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X[:90]), y[:90]
    grid = {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": [0.01, 0.05]}
    fitted = SeededCV(SVR(epsilon=5), grid, refit="one_standard_error", cv=5).fit(X, y)
    results = fitted.cv_results_
    best = results["mean_test_score"].argmax()
    splits = [results[f"split{h}_test_score"][best] for h in range(5)]
    near = results["mean_test_score"] >= results["mean_test_score"][best] - np.std(splits, ddof=1) / 5**0.5
    assert fitted.best_params_["C"] == results["param_C"][near].min()


def test_rules_stay_with_the_kernel_of_the_best_model():
    X, y = problem(5)
    grid = [{"kernel": ["linear"], "C": [0.1, 1.0, 10.0]}, {"kernel": ["rbf"], **GRID}]
    plain = SeededCV(SVC(), grid).fit(X, y)
    for rule in ("middle", "one_standard_error"):
        ruled = SeededCV(SVC(), grid, refit=rule).fit(X, y)
        assert ruled.best_params_["kernel"] == plain.best_params_["kernel"]


# warnings


def caught(action):
    """The categories of warnings of an action, in order."""
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        action()
    return [warning.category for warning in record]


UNSCALED = problem()[0] * [1, 1, 1, 1, 500.0]


@pytest.mark.parametrize("estimator", [SVC(), NuSVC(nu=0.8), SVR(), OneClassSVM()], ids=repr)
def test_unscaled_columns_are_warned_of_once(estimator):
    y = problem()[1].astype(float)
    with pytest.warns(UnscaledWarning, match=r"columns 4 and \d"):
        estimator.fit(UNSCALED, y)
    quiet = [
        lambda: estimator.fit(scale(UNSCALED), y),
        lambda: make_pipeline(StandardScaler(), estimator).fit(UNSCALED, y),
        lambda: estimator.set_params(kernel="linear").fit(UNSCALED / 100, y),
    ]
    for action in quiet:
        assert UnscaledWarning not in caught(action)
    estimator.set_params(kernel="rbf")


def test_unscaled_columns_in_a_search():
    y = problem()[1]
    search = SeededCV(SVC(), {"C": [1.0], "gamma": [0.1]})
    assert caught(lambda: search.fit(UNSCALED, y)).count(UnscaledWarning) == 1
    pipeline = SeededCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0]})
    assert UnscaledWarning not in caught(lambda: pipeline.fit(UNSCALED, y))
    rare = np.column_stack([problem()[0], np.arange(80) == 3, np.full(80, 7.0)])
    rare[:, :5] *= 5
    assert UnscaledWarning not in caught(lambda: SVC().fit(rare, y))


def test_the_end_of_a_list_is_warned_of_and_extended():
    X, y = scale(load_breast_cancer().data[::3]), load_breast_cancer().target[::3]
    grid = {"C": [0.0625, 0.125, 0.25], "gamma": [0.01]}
    with pytest.warns(EndOfListWarning, match=r"C=0.25, next 0.5 and 1\b"):
        short = SeededCV(SVC(), grid).fit(X, y)
    longer = SeededCV(SVC(), grid, extend=True)
    categories = caught(lambda: longer.fit(X, y))
    models, best = longer.cv_results_["params"], longer.best_params_["C"]
    assert models[:3] == short.cv_results_["params"] and len(models) > 3
    np.testing.assert_array_equal(
        longer.cv_results_["mean_test_score"][:3], short.cv_results_["mean_test_score"]
    )
    assert best < max(model["C"] for model in models) or EndOfListWarning in categories
    assert longer.best_score_ >= short.best_score_
    whole = SeededCV(SVC(), {"C": [model["C"] for model in models], "gamma": [0.01]}).fit(X, y)
    np.testing.assert_allclose(whole.cv_results_["mean_test_score"], longer.cv_results_["mean_test_score"])
    # inside of the list, of two values, or where others are as good
    for quiet in ({"C": [0.1, 1.0, 1e6], "gamma": [0.02]}, {"C": [1e-3, 2e-3], "gamma": [0.01]}):
        assert EndOfListWarning not in caught(lambda quiet=quiet: SeededCV(SVC(), quiet).fit(X, y))


def test_each_grid_of_a_list_has_ends_of_its_own():
    X, y = scale(load_breast_cancer().data[::3]), load_breast_cancer().target[::3]
    radial = {"kernel": ["rbf"], "gamma": [0.01]}
    two = [{"kernel": ["linear"], "C": [1e-8, 1e-7, 1e-6]}, {**radial, "C": [0.125, 0.25]}]
    assert EndOfListWarning not in caught(lambda: SeededCV(SVC(), two).fit(X, y))
    inside = [{"kernel": ["linear"], "C": [0.25, 0.5, 1.0]}, {**radial, "C": [0.0625, 0.125, 0.25]}]
    with pytest.warns(EndOfListWarning, match=r"C=0.25, next 0.125"):
        SeededCV(SVC(), inside).fit(X, y)


@pytest.mark.parametrize("kind", ["drawn", "generated"])
def test_longer_lists_have_the_splits_of_the_others(kind):
    """Splits that are drawn, or given by a generator, are there once."""
    cv = KFold(3, shuffle=True) if kind == "drawn" else KFold(3).split(np.zeros(190))
    X, y = scale(load_breast_cancer().data[::3]), load_breast_cancer().target[::3]
    grid = {"C": [0.0625, 0.125, 0.25], "gamma": [0.01]}
    longer = SeededCV(SVC(), grid, extend=True, cv=Recorded(cv)).fit(X, y)
    splits, models = longer.cv.splits, longer.cv_results_["params"]
    assert len(models) > 3 and len(splits) == 3
    whole = SeededCV(SVC(), {"C": [model["C"] for model in models], "gamma": [0.01]}, cv=splits).fit(X, y)
    np.testing.assert_allclose(whole.cv_results_["mean_test_score"], longer.cv_results_["mean_test_score"])


class Recorded:
    """A splitter, or splits, and what it has given."""

    def __init__(self, cv):
        self.cv, self.splits = cv, []

    def split(self, X, y=None, groups=None):
        for split in self.cv.split(X, y) if hasattr(self.cv, "split") else self.cv:
            self.splits.append(split)
            yield split

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3


def test_a_constant_model_is_warned_of():
    X, y = problem(2)
    grid = {"C": [1e-6], "gamma": [0.1]}
    rare = np.r_[np.zeros(70, int), np.ones(10, int)]
    with pytest.warns(ConstantModelWarning, match="0"):
        SeededCV(SVC(), grid).fit(X, rare)
    assert ConstantModelWarning not in caught(lambda: SeededCV(SVC(), GRID).fit(X, y))


# time


def test_models_that_were_given_up_are_not_warned_of():
    X, y = problem(0)
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.05, 0.1, 0.5, 100.0]}
    for search in (SeededCV(SVC(), grid, stop_early=True), LOOSearchCV(SVC(), grid, stop_early=True)):
        assert set(caught(lambda search=search: search.fit(X, y))) <= {EndOfListWarning}
        assert search.cv_results_["stopped"].any()


class Clock:
    """A clock that shows the end of all time once a scorer was called so many times."""

    def __init__(self, calls):
        self.left = calls

    def time(self):
        return time.time() if self.left > 0 else float("inf")

    def scorer(self, estimator, X, y):
        self.left -= 1
        return float((estimator.predict(X) == y).mean())


@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
def test_a_time_budget_keeps_the_best_so_far(search, pipeline, monkeypatch):
    """Of a pipeline, too, the first kernel is done on all splits before the second one begins."""
    X, y = problem(0, 60)
    estimator = make_pipeline(StandardScaler(), SVC()) if pipeline else SVC()
    prefix = "svc__" if pipeline else ""
    grid = {f"{prefix}C": [1.0, 10.0], f"{prefix}gamma": [0.1, 0.2, 0.4, 0.8]}
    clock = Clock(1 + 2 * (3 if search is SeededCV else 1))  # a rehearsal, and two models
    monkeypatch.setattr("svmselect.sklearn.progress.time", clock)
    budget = search(estimator, grid, scoring=clock.scorer, time_budget=3600)
    with threadpool_limits(1):
        budget.fit(X, y)
    stopped = budget.cv_results_["stopped"]
    assert 0 < stopped.sum() < 8 and not stopped[budget.best_index_]
    assert np.isnan(budget.cv_results_["mean_test_score"][stopped]).all()
    assert budget.best_score_ == np.nanmax(budget.cv_results_["mean_test_score"])
    whole = search(estimator, grid, scoring="accuracy").fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(budget.cv_results_["mean_test_score"][~stopped], whole[~stopped])


def test_a_time_budget_that_is_too_short_is_named():
    with pytest.raises(ValueError, match="time_budget"):
        LOOSearchCV(SVC(), GRID, time_budget=1e-9).fit(*problem(0, 60))


INTERRUPTED = """
import os, signal, sys
import numpy as np
from sklearn.datasets import make_classification
from svmselect.sklearn import SVC, LOOSearchCV

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
X, y = make_classification(60, random_state=0)
calls = []

def scorer(estimator, rows, labels):
    calls.append(1)
    if len(calls) == 4:  # one rehearsal and three models
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
    return float((estimator.predict(rows) == labels).mean())

grid = {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": [0.01]}
search = LOOSearchCV(SVC(), grid, scoring=scorer, time_budget=BUDGET)
try:
    search.fit(X, y)
    print("kept", int(search.cv_results_["stopped"].sum()), search.best_estimator_.C in (1.0, 10.0))
except KeyboardInterrupt:
    print("raised")
"""


@pytest.mark.parametrize(("budget", "said"), [("float('inf')", "kept 2 True"), ("None", "raised")])
def test_an_interrupt_keeps_the_best_so_far_where_that_is_asked_for(budget, said):
    command = [sys.executable, "-c", INTERRUPTED.replace("BUDGET", budget)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.stdout.strip() == said, done.stderr


class Terminal(io.StringIO):
    """Standard error of a terminal."""

    def isatty(self):
        return True


def test_a_bar_shows_models_and_the_best(monkeypatch):
    X, y = problem()
    for search in (
        SeededCV(SVC(), GRID),
        LOOSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 2]}),
    ):
        monkeypatch.setattr(sys, "stderr", Terminal())
        search.set_params(verbose=True).fit(X, y)
        n = len(search.cv_results_["params"])
        assert f"{n} of {n} models" in sys.stderr.getvalue()
        assert f"best {search.best_score_:.4g}" in sys.stderr.getvalue()


def test_the_clock_ticks_while_one_model_takes_long(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("svmselect.sklearn.progress.TICK", 0.01)
    with progress_bar(10, visible=True) as bar:
        bar.say("one model")
        begin = time.monotonic()
        while sys.stderr.getvalue().count("one model") < 3:  # nothing moves the bar but its clock
            assert time.monotonic() < begin + 60
            time.sleep(0.01)


def test_a_notebook_shows_the_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())  # no terminal
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    with progress_bar(2, visible=True) as bar:
        bar(1)
    assert "50%" in sys.stderr.getvalue()


def test_a_watch_knows_the_best():
    said = []

    class Bar:
        def __call__(self, done):
            pass

        def say(self, text):
            said.append(text)

    watch = Watch(3, Bar())
    watch.finished(0, {"C": 1.0}, 0.5)
    watch.finished(1, {"C": 2.0}, float("nan"))
    watch.finished(2, {"C": 4.0}, 0.75)
    assert "2 of 3" in said[1] and "0.5" in said[1] and "C 1" in said[1]
    assert "0.75" in said[2] and "C 4" in said[2]
