"""Pictures of searches: that they show what was found."""

import numpy as np
import pytest
import sklearn.svm
from estimators.problems import blobs
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy.stats import loguniform
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, LeaveOneOut, RandomizedSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect.sklearn import SVC, SVR, LOOSearchCV, NuSVC, SearchDisplay, SeededCV

GRID = {"C": [10.0, 0.3, 1.0], "gamma": [0.7, 0.05]}


@pytest.fixture(autouse=True)
def closed():
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture
def problem():
    return blobs(7, m=48, k=2)


def drawn(display):
    """The display, after its figure was drawn."""
    FigureCanvasAgg(display.figure_).draw()
    return display


def value_at(search, name="mean_test_score", **parameters):
    (n,) = [n for n, model in enumerate(search.cv_results_["params"]) if model == parameters]
    return search.cv_results_[name][n]


@pytest.mark.parametrize("search", [LOOSearchCV, SeededCV])
def test_a_surface_has_every_model(problem, search):
    fitted = search(SVC(), GRID).fit(*problem)
    display = drawn(SearchDisplay.from_search(fitted))
    assert display.kind == "surface" and display.names == ["C", "gamma"]
    assert display.coordinates == [[0.3, 1.0, 10.0], [0.05, 0.7]]
    for row, gamma in enumerate([0.05, 0.7]):
        for column, C in enumerate([0.3, 1.0, 10.0]):
            error = 100 * (1 - value_at(fitted, C=C, gamma=gamma))
            assert display.values[row, column] == pytest.approx(error)
    assert display.chosen[:2] == (fitted.best_params_["C"], fitted.best_params_["gamma"])
    assert display.chosen[2] == pytest.approx(100 * (1 - fitted.best_score_)) == display.values.min()
    (mark,) = [line for line in display.ax_.lines if line.get_label() == "chosen"]
    column, row = (int(points[0]) for points in mark.get_data())
    assert display.values[row, column] == display.chosen[2]
    method = "leave-one-out" if search is LOOSearchCV else "3-fold"
    assert display.label == f"{method} error (%)"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("C", "gamma")


def test_axes_are_as_wished(problem):
    fitted = SeededCV(SVC(), {**GRID, "kernel": ["rbf", "laplacian"]}).fit(*problem)
    _, ax = pyplot.subplots()
    display = drawn(SearchDisplay.from_search(fitted, x="gamma", y="kernel", ax=ax))
    assert display.ax_ is ax and display.names == ["gamma", "kernel"]
    C = fitted.best_params_["C"]
    for row, kernel in enumerate(display.coordinates[1]):
        error = 100 * (1 - value_at(fitted, C=C, gamma=0.7, kernel=kernel))
        assert display.values[row, 1] == pytest.approx(error)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["rbf", "laplacian"]


def test_a_curve_has_its_spread(problem):
    fitted = SeededCV(SVC(gamma=0.3), {"C": [1.0, 0.1, 30.0]}, scoring="roc_auc", return_train_score=True)
    fitted.fit(*problem)
    display = drawn(SearchDisplay.from_search(fitted))
    assert display.kind == "curve" and display.label == "3-fold roc_auc"
    assert display.coordinates == [[0.1, 1.0, 30.0]]
    for n, C in enumerate(display.coordinates[0]):
        splits = [value_at(fitted, f"split{h}_test_score", C=C) for h in range(3)]
        assert display.values[n] == pytest.approx(np.mean(splits))
        assert display.spread[n] == pytest.approx(np.std(splits) / np.sqrt(3))
        assert display.train[n] == pytest.approx(value_at(fitted, "mean_train_score", C=C))
    assert display.ax_.get_xscale() == "log"
    # of errors of rows that are left out, the rows are the splits
    fitted = LOOSearchCV(SVC(), GRID).fit(*problem)
    display = drawn(SearchDisplay.from_search(fitted, kind="curve", x="gamma"))
    error = display.values / 100
    np.testing.assert_allclose(display.spread / 100, np.sqrt(error * (1 - error) / 48))


def test_one_of_several_scores(problem):
    fitted = LOOSearchCV(SVC(), GRID, scoring=["roc_auc", "accuracy"], refit="roc_auc").fit(*problem)
    display = SearchDisplay.from_search(fitted)
    assert display.label == "leave-one-out roc_auc"
    assert display.chosen[2] == pytest.approx(fitted.best_score_) == display.values.max()
    display = SearchDisplay.from_search(fitted, score="accuracy")
    assert display.label == "leave-one-out error (%)"
    with pytest.raises(ValueError, match=r"score\b.* 'f1'"):
        SearchDisplay.from_search(fitted, score="f1")
    weighted = LOOSearchCV(SVC(class_weight={0: 1, 1: 3}), GRID).fit(*problem)
    assert SearchDisplay.from_search(weighted).label == "leave-one-out error weighted by class (%)"


@pytest.mark.parametrize("classes", [2, 3])
def test_margins_are_those_of_left_out_rows(classes):
    X, y = blobs(7, m=48, k=classes)
    fitted = SeededCV(SVC(), GRID).fit(X, y)
    display = drawn(SearchDisplay.from_search(fitted, kind="margins"))
    model = sklearn.svm.SVC(tol=1e-8, **fitted.best_params_)
    np.testing.assert_array_equal(display.values < 0, cross_val_predict(model, X, y, cv=LeaveOneOut()) != y)
    if classes == 2:
        values = cross_val_predict(model, X, y, cv=LeaveOneOut(), method="decision_function")
        np.testing.assert_allclose(display.values, np.where(y == 1, values, -values), atol=1e-5)
    heights = [bar.get_height() for bars in display.ax_.containers for bar in bars]
    assert sum(heights) == 48
    nu = LOOSearchCV(NuSVC(), {"nu": [0.2, 0.4]}).fit(X, y)
    assert drawn(SearchDisplay.from_search(nu)).ax_.get_xlabel() == "nu"


def test_pipelines_rules_and_estimates_are_drawn(problem):
    """Names are those of the pipeline's grid, and what chose the model changes no score but its name."""
    X, y = problem
    pipeline = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__gamma": GRID["gamma"], "svc__C": GRID["C"], "svc__class_weight": [None, "balanced"]}
    fitted = SeededCV(pipeline, grid, refit="middle").fit(X, y)
    display = drawn(SearchDisplay.from_search(fitted))
    assert display.names == ["svc__C", "svc__gamma"] and display.label == "3-fold error (%)"
    margins = drawn(SearchDisplay.from_search(fitted, kind="margins"))
    assert np.mean(margins.wrong) == fitted.loo_error_
    spans = SearchDisplay.from_search(LOOSearchCV(SVC(), GRID, criterion="span").fit(X, y))
    assert spans.label == "span estimate of the error (%)"
    spans = SearchDisplay.from_search(LOOSearchCV(SVR(), GRID, criterion="span").fit(X, 1.0 * y))
    assert spans.label == "span estimate of the mean absolute error" and spans.values.min() >= 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "bars"}, r"kind\b.* 'bars'"),
        ({"x": "degree"}, r"x\b.* 'degree'"),
        ({"kind": "surface"}, r"surface\b.*\['C'\]"),
    ],
)
def test_bad_input_is_named(problem, options, sentence):
    fitted = LOOSearchCV(SVC(), {"C": [1.0, 2.0], "gamma": [0.3]}, refit=False).fit(*problem)
    with pytest.raises(ValueError, match=sentence):
        SearchDisplay.from_search(fitted, **options)
    for foreign in (SVC(), SeededCV(), GridSearchCV(SVC(), GRID), make_pipeline(StandardScaler(), SVC())):
        with pytest.raises(ValueError, match=rf"search\b.* {type(foreign).__name__}\b"):
            SearchDisplay.from_search(foreign)
    for search in (fitted, GridSearchCV(sklearn.svm.SVC(), GRID).fit(*problem)):
        with pytest.raises(ValueError, match=r"margins\b.*best_estimator_"):
            SearchDisplay.from_search(search, kind="margins")


def values_of(search):
    """100 minus the mean accuracy of each model in percent, by C and gamma."""
    errors = 100 * (1 - search.cv_results_["mean_test_score"])
    return {
        tuple(model.values()): error
        for model, error in zip(search.cv_results_["params"], errors, strict=True)
    }


@pytest.mark.parametrize("last", [SVC(), sklearn.svm.SVC()])
def test_searches_of_scikit_learn_and_pipelines(problem, last):
    estimator = make_pipeline(StandardScaler(), last)
    fitted = GridSearchCV(estimator, {f"svc__{name}": values for name, values in GRID.items()}, cv=3).fit(
        *problem
    )
    display = drawn(SearchDisplay.from_search(fitted))
    assert display.names == ["C", "gamma"] and display.label == "3-fold error (%)"
    for (C, gamma), error in values_of(fitted).items():
        row, column = display.coordinates[1].index(gamma), display.coordinates[0].index(C)
        assert display.values[row, column] == pytest.approx(error)
    for name in ("gamma", "svc__gamma"):
        curve = drawn(SearchDisplay.from_search(fitted, kind="curve", x=name))
        assert curve.names == ["gamma"] and curve.coordinates == [[0.05, 0.7]]
    if hasattr(last, "threshold"):
        margins = SearchDisplay.from_search(fitted, kind="margins")
        assert np.mean(margins.values < 0) == fitted.best_estimator_[-1].loo_error_
    # a Pipeline around a search
    fitted = make_pipeline(StandardScaler(), SeededCV(SVC(), GRID)).fit(*problem)
    display = drawn(SearchDisplay.from_search(fitted))
    np.testing.assert_array_equal(display.values, SearchDisplay.from_search(fitted[-1]).values)


def test_random_searches_and_names_that_two_steps_have(problem):
    distributions = {"svc__C": loguniform(0.1, 1000), "svc__gamma": loguniform(0.01, 1)}
    estimator = make_pipeline(StandardScaler(), SVC())
    fitted = RandomizedSearchCV(estimator, distributions, n_iter=9, cv=2, random_state=0).fit(*problem)
    display = drawn(SearchDisplay.from_search(fitted))
    assert display.names == ["C", "gamma"] and display.values.shape == (9,)
    assert sorted(display.values) == pytest.approx(sorted(values_of(fitted).values()))
    both = {"nystroem__gamma": [0.1, 1.0], "svc__gamma": [0.5, 2.0]}
    fitted = GridSearchCV(make_pipeline(Nystroem(n_components=9), SVC()), both, cv=2).fit(*problem)
    assert drawn(SearchDisplay.from_search(fitted)).names == ["nystroem__gamma", "svc__gamma"]
    regression = GridSearchCV(sklearn.svm.SVR(), {"C": [1, 10], "kernel": ["rbf", "linear"]}, cv=2).fit(
        *problem
    )
    assert drawn(SearchDisplay.from_search(regression)).label == "2-fold r2"
    mixed = {"C": loguniform(0.1, 1000), "kernel": ["rbf", "linear"], "shrinking": [True, False]}
    fitted = RandomizedSearchCV(SVC(), mixed, n_iter=9, cv=2, random_state=0).fit(*problem)
    for x, y in (("C", "kernel"), ("kernel", "shrinking")):
        assert drawn(SearchDisplay.from_search(fitted, x=x, y=y)).values.ndim == 2


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([32.0, 2048.0], ["32", "2048"]),
        ([0.03125, 1, 2048], ["$2^{-5}$", "$2^{0}$", "$2^{11}$"]),
        ([1e-5, 0.1, 100], ["$10^{-5}$", "$10^{-1}$", "$10^{2}$"]),
        ([0.05, 0.7], ["0.05", "0.7"]),
        ([0.3, 12345.6, 3.2e-7], [r"$3.2 \cdot 10^{-7}$", "0.3", "12346"]),
        ([1e-5, 2e-5], ["$10^{-5}$", r"$2 \cdot 10^{-5}$"]),
        (["scale", 2], ["scale", "2"]),
    ],
)
def test_ticks_are_for_people(problem, values, texts):
    kernel = {"kernel": ["rbf", "linear"]}
    grid = {"gamma" if "scale" in values else "C": values}
    fitted = SeededCV(SVC(), grid | kernel).fit(*problem)
    labels = [text.get_text() for text in SearchDisplay.from_search(fitted).ax_.get_xticklabels()]
    assert labels == texts
