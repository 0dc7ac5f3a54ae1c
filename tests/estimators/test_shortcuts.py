"""Searches that do not judge every model at all rows: drawn models, successive halving, models given up."""

import numpy as np
import pytest
from estimators.problems import blobs
from scipy.stats import loguniform
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold, KFold, ParameterSampler, StratifiedKFold

from svmselect.sklearn import SVC, LOOSearchCV, NuSVC, SearchDisplay, SeededCV
from svmselect.sklearn.search import nested_order, rows_of_rounds
from svmselect.svm import solve_nusvc

GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0, 10.0]}
DRAWN = {"C": loguniform(0.1, 100), "gamma": loguniform(0.01, 10), "kernel": ["rbf", "laplacian"]}
SEARCHES = [LOOSearchCV, SeededCV]


@pytest.mark.parametrize("search", SEARCHES)
def test_models_are_drawn_as_by_scikit_learn(search):
    X, y = blobs(3, m=60, k=2)
    fitted = search(SVC(), DRAWN, n_candidates=7, random_state=5).fit(X, y)
    drawn = list(ParameterSampler(DRAWN, 7, random_state=np.random.RandomState(5)))
    assert fitted.cv_results_["params"] == drawn
    for model, score in zip(drawn, fitted.cv_results_["mean_test_score"], strict=True):
        alone = search(SVC(), {name: [value] for name, value in model.items()}).fit(X, y)
        assert score == pytest.approx(alone.best_score_)
    with pytest.raises(ValueError, match=r"param_grid.*'C'.*n_candidates"):
        search(SVC(), DRAWN).fit(X, y)
    with pytest.raises(ValueError, match=r"n_candidates\b.* 0\b"):
        search(SVC(), DRAWN, n_candidates=0).fit(X, y)
    # from lists without putting back, and from the grid that is there by default
    few = search(SVC(), GRID, n_candidates=5, random_state=0).fit(X, y).cv_results_["params"]
    assert len({tuple(model.values()) for model in few}) == 5
    assert len(search(SVC(), n_candidates=3, refit=False).fit(X, y).cv_results_["params"]) == 3
    display = SearchDisplay.from_search(
        search(SVC(kernel="rbf"), {**DRAWN, "kernel": ["rbf"]}, n_candidates=9).fit(X, y)
    )
    assert display.values.shape == (9,) and display.kind == "surface"


@pytest.mark.parametrize(
    ("n", "factor", "m", "least", "rows"),
    [
        (16, 4, 1600, 20, [100, 400, 1600]),
        (17, 4, 1600, 20, [100, 400, 1600]),
        (64, 3, 900, 20, [33, 100, 300, 900]),
        (64, 2, 100, 30, [50, 100]),
        (64, 2, 50, 30, [50]),
        (1, 2, 50, 10, [50]),
    ],
)
def test_rounds_end_with_all_rows(n, factor, m, least, rows):
    assert rows_of_rounds(n, factor, m, least) == rows


def test_every_beginning_of_the_order_has_the_shares_of_the_classes():
    codes = np.repeat([0, 1, 2], [300, 95, 5])
    order = nested_order(codes, np.random.RandomState(0))
    assert sorted(order) == list(range(400))
    for size in (20, 100, 200):
        counts = np.bincount(codes[order[:size]], minlength=3)
        assert (counts >= 2).all()
        assert np.abs(counts - size * np.bincount(codes) / 400).max() < 6
    assert (order != nested_order(codes, np.random.RandomState(1))).any()


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("classes", [2, 3])
def test_halving_judges_ever_fewer_models_on_ever_more_rows(search, classes):
    X, y = blobs(8, m=200, k=classes)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=200)
    options = {} if search is LOOSearchCV else {"cv": StratifiedKFold(3)}
    halved = search(SVC(), GRID, factor=2, random_state=0, **options).fit(X, y, sample_weight=weight)
    results = halved.cv_results_
    rounds = np.unique(results["iter"])
    counts = [np.count_nonzero(results["iter"] == number) for number in rounds]
    assert counts == [16, 8, 4, 2, 1][: len(counts)] and len(counts) >= 3
    assert results["n_resources"].max() == 200
    order = nested_order(y, np.random.RandomState(0))
    for number in rounds:
        in_round = np.flatnonzero(results["iter"] == number)
        size = results["n_resources"][in_round[0]]
        rows = np.sort(order[:size]) if size < 200 else np.arange(200)
        alone = search(SVC(), GRID, refit=False, **options).fit(X[rows], y[rows], sample_weight=weight[rows])
        scores = {
            tuple(p.values()): s
            for p, s in zip(alone.cv_results_["params"], alone.cv_results_["mean_test_score"], strict=True)
        }
        expected = [scores[tuple(results["params"][n].values())] for n in in_round]
        np.testing.assert_allclose(results["mean_test_score"][in_round], expected)
        if number < rounds[-1]:  # the best go on
            remaining = [results["params"][n] for n in np.flatnonzero(results["iter"] == number + 1)]
            best = in_round[np.argsort(-np.round(expected, 12), kind="stable")[: len(remaining)]]
            assert remaining == [results["params"][n] for n in np.sort(best)]
    assert results["iter"][halved.best_index_] == rounds[-1]
    last = results["mean_test_score"][results["iter"] == rounds[-1]]
    assert halved.best_score_ == last.max() and results["rank_test_score"][halved.best_index_] == 1
    assert sorted(results["rank_test_score"])[-1] <= len(results["params"])
    assert SearchDisplay.from_search(halved, kind="curve").values.size >= 1


def test_halving_takes_groups_scores_and_kernel_matrices():
    X, y = blobs(8, m=200, k=2)
    groups = np.arange(200) // 5
    fitted = SeededCV(SVC(), GRID, cv=GroupKFold(3), scoring=["roc_auc", "f1"], refit="f1", factor=3)
    fitted.fit(X, y, groups=groups)
    assert fitted.cv_results_["n_resources"].min() < 200 == fitted.cv_results_["n_resources"].max()
    rows = LOOSearchCV(SVC(gamma=0.3), {"C": GRID["C"]}, factor=2, random_state=1).fit(X, y)
    given = LOOSearchCV(SVC(kernel="precomputed"), {"C": GRID["C"]}, factor=2, random_state=1)
    given.fit(rbf_kernel(X, gamma=0.3), y)
    assert given.cv_results_["n_resources"].tolist() == rows.cv_results_["n_resources"].tolist()
    np.testing.assert_allclose(given.cv_results_["mean_test_score"], rows.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"factor": 1}, r"factor\b.* 1\b"),
        ({"factor": 2, "refit": lambda results: 0}, r"factor\b.*score"),
        (
            {"factor": 2, "scoring": ["f1"], "refit": False},
            r"factor\b.* refit=False\b",
        ),
        ({"stop_early": True, "scoring": "f1"}, r"stop_early\b.* scoring='f1'"),
        (
            {"stop_early": True, "estimator": SVC(break_ties=True)},
            r"stop_early\b.* break_ties\b",
        ),
    ],
)
def test_bad_input_is_named(options, sentence):
    X, y = blobs(0, m=40, k=2)
    with pytest.raises(ValueError, match=sentence):
        LOOSearchCV(**{"param_grid": GRID, **options}).fit(X, y)
    with pytest.raises(ValueError, match=r"factor\b.* list\b"):
        SeededCV(param_grid=GRID, factor=2, cv=[(np.arange(20), np.arange(20, 40))]).fit(X, y)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_model_chosen_is_the_same_if_others_are_given_up(search, classes, seed):
    X, y = blobs(20 + seed, m=70, k=classes)
    X[:6], y[:3] = X[6:12], y[6:9]  # duplicates, of other classes too
    weight = None if seed % 2 else np.random.default_rng(seed).uniform(0, 2, size=70)
    template = SVC(class_weight="balanced" if seed % 3 == 0 else None)
    options = {} if search is LOOSearchCV else {"cv": KFold(4, shuffle=True, random_state=seed)}
    whole = search(template, GRID, **options).fit(X, y, sample_weight=weight)
    early = search(template, GRID, stop_early=True, **options).fit(X, y, sample_weight=weight)
    assert early.best_params_ == whole.best_params_
    assert early.best_score_ == pytest.approx(whole.best_score_, abs=1e-12)
    stopped = early.cv_results_["stopped"]
    scores = whole.cv_results_["mean_test_score"]
    np.testing.assert_allclose(early.cv_results_["mean_test_score"][~stopped], scores[~stopped], atol=1e-12)
    assert np.isnan(early.cv_results_["mean_test_score"][stopped]).all()
    assert (scores[stopped] < whole.best_score_ - 1e-9).all()
    assert stopped.any() and not stopped[early.best_index_]
    # all that tie for the best have their score
    tied = np.flatnonzero(scores > whole.best_score_ - 1e-9)
    assert not stopped[tied].any()


def test_what_is_given_up_takes_less_work(monkeypatch):
    """A kernel far too narrow makes every row a support vector, whose paths are long."""
    X, y = blobs(31, m=200, k=2)
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.05, 50.0]}
    module = __import__("svmselect.sklearn.one_vs_one", fromlist=["leave_one_out"])
    decided, leave_one_out = [], module.leave_one_out

    def counted(*args, **options):
        result = leave_one_out(*args, **options)
        decided.append(np.count_nonzero(~np.isin(result.resolved_by, ["", "check1", "check2", "check3"])))
        return result

    monkeypatch.setattr(module, "leave_one_out", counted)
    LOOSearchCV(SVC(), grid, refit=False).fit(X, y)
    whole, decided[:] = sum(decided), []
    early = LOOSearchCV(SVC(), grid, refit=False, stop_early=True).fit(X, y)
    assert early.cv_results_["stopped"].sum() >= 3
    assert sum(decided) < 0.7 * whole


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_nu_gives_up_rows_that_are_left_out(classes, monkeypatch):
    X, y = blobs(23, m=48, k=classes)
    X[:4], y[:2] = X[4:8], y[4:6]
    weight = np.where(np.arange(48) % 7 == 3, 0.0, 1.0)
    grid = {"nu": [0.1, 0.3, 0.5], "gamma": [0.1, 1.0, 20.0]}
    whole = LOOSearchCV(NuSVC(), grid).fit(X, y, sample_weight=weight)
    solves = []

    def counted(*args, **options):
        solves.append(args)
        return solve_nusvc(*args, **options)

    monkeypatch.setattr("svmselect.sklearn.one_vs_one.solve_nusvc", counted)
    early = LOOSearchCV(NuSVC(), grid, stop_early=True).fit(X, y, sample_weight=weight)
    assert early.best_params_ == whole.best_params_ and early.loo_error_ == whole.loo_error_
    stopped, scores = early.cv_results_["stopped"], whole.cv_results_["mean_test_score"]
    assert stopped.any() and (scores[stopped] < whole.best_score_ - 1e-9).all()
    np.testing.assert_allclose(early.cv_results_["mean_test_score"][~stopped], scores[~stopped])
    assert len(solves) < 9 * np.count_nonzero(weight) * (classes - 1)  # all rows of all pairs of all models


def test_jobs_and_nu_give_up_too():
    X, y = blobs(20, m=70, k=2)
    for estimator, grid in ((SVC(), GRID), (NuSVC(), {"nu": [0.1, 0.3, 0.5], "gamma": [0.1, 1.0, 10.0]})):
        whole = SeededCV(estimator, grid).fit(X, y)
        early = SeededCV(estimator, grid, stop_early=True).fit(X, y)
        both = SeededCV(estimator, grid, stop_early=True, n_jobs=2).fit(X, y)
        assert early.best_params_ == both.best_params_ == whole.best_params_
        assert early.cv_results_["stopped"].any()
