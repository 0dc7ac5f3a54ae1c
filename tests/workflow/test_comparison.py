"""Runs on small problems against the library, the tables and the figure on rows made by hand."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from data.dataset import Dataset
from data.splits import SplitRecipe
from lib import cell
from lib.checkpoint import Checkpoint
from lib.rows import COMPARISON_ROWS, ERROR, NOT_CONVERGED, OK, read_rows, write_rows
from lib.run import planned
from papers.comparison import cells
from papers.comparison.estimator import TEST, estimator_of, load_estimators
from papers.comparison.exhibits import EXHIBITS, cost, estimators, regret, rmse, tradeoff
from papers.comparison.exhibits.estimator_words import FIT, GRAM, RANDOM, estimator_name
from papers.comparison.exhibits.estimators import ALL_SETS, advice
from scipy import sparse
from workflow.exhibit_calls import assert_stable, table_of, tidy_of

from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate,
    decision_function,
    even_folds,
    jaakkola_haussler,
    leave_one_out,
    opper_winther,
    radius_margin,
    rescaled_radius_margin,
    solve_csvc,
    span_bound,
    span_rule,
    stratified_folds,
    xi_alpha,
)
from svmselect.bounds import SINGLE_FITS

SETTINGS = {"tol": 1e-3, "max_iter": None, "folds": [3, 30]}
# of a model: its fit, and the estimators, of which one has two numbers of folds
ROWS = 1 + len(load_estimators()) + 1
KERNELS = [
    {"gamma": None, "C": [0.1, 1.0]},
    {"gamma": 0.3, "C": [0.5, 20.0]},
]


@pytest.fixture
def data(tmp_path):
    """A data set with splits, and the same with sparse rows."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(80) % 3, 1, -1).astype(np.int8)
    X = 5 + 3 * rng.normal(size=(80, 3)) + 2 * (y[:, None] > 0)
    X[:, 2] = 4
    recipe = SplitRecipe(50, 30, 5, 7)
    for name, rows in (("d", X), ("s", sparse.csr_matrix(X))):
        Dataset(name, rows, y, None, None, "generated", recipe=recipe).save(tmp_path / f"{name}.npz")
    return tmp_path


@pytest.fixture
def run(data, job_of):
    """A function: the rows of the cells of one realisation, with some settings changed; the checkpoint of the
    last one is left."""

    def rows(*estimators, **settings):
        settings = SimpleNamespace(**{**SETTINGS, **settings})
        given = {"realisation": 2, "kernels": KERNELS, "settings": settings}
        return [
            row
            for name in estimators or (TEST, *load_estimators())
            for row in job_of(data / "d.npz", digest=repr((name, settings)), paper="comparison").rows(
                cells.run_estimator, estimator=name, **given
            )
        ]

    return rows


def test_features_are_scaled_by_the_training_rows(data):
    part = cells.training_part(Dataset.load(data / "d.npz"), 2)
    X, y, X_test, y_test, identity = part.X, part.y, part.X_test, part.y_test, part.identity
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), [1, 1, 0])
    assert (len(y), len(y_test), identity["seed"]) == (50, 30, [7, 2]) and not X_test[:, 2].any()
    sparse_table = cells.training_part(Dataset.load(data / "s.npz"), 2)
    np.testing.assert_allclose(sparse_table.X, X, atol=1e-12)
    np.testing.assert_allclose(sparse_table.X_test, X_test, atol=1e-12)


def test_folds_are_stratified_where_they_can_be():
    y = np.repeat([-1.0, 1.0], [20, 40])
    np.testing.assert_array_equal(cells.assignment(y, 40), stratified_folds(y, 40, cells.FOLDS_SEED))
    np.testing.assert_array_equal(cells.assignment(y, 50), even_folds(60, 50, cells.FOLDS_SEED))
    assert np.bincount(cells.assignment(y, 60)).tolist() == [1] * 60


@pytest.mark.parametrize("block", [2**24, 60])
def test_rows_are_those_of_the_library(data, run, monkeypatch, block):
    monkeypatch.setattr(cell, "BLOCK_VALUES", block)
    write_rows(data / "rows.parquet", run(), COMPARISON_ROWS)
    frame = read_rows([data / "rows.parquet"])
    assert len(frame) == 4 * ROWS and (frame["status"] == OK).all()
    assert (frame["cpu_s"] >= 0).all() and (frame["gram_cpu_s"] >= 0).all()
    with_sphere = {name for name, estimator in load_estimators().items() if estimator.needs_sphere}
    assert set(frame.loc[frame["sphere_cpu_s"] >= 0, "method"]) == with_sphere
    part = cells.training_part(Dataset.load(data / "d.npz"), 2)
    X, y, X_test, y_test = part.X, part.y, part.X_test, part.y_test
    for kernel in KERNELS:
        name = "linear" if kernel["gamma"] is None else "rbf"
        gram = Gram(X, Linear() if name == "linear" else RBF(kernel["gamma"]))
        for C in kernel["C"]:
            entry = frame[(frame["kernel"] == name) & (frame["C"] == C)]
            cv = entry[entry["method"] == "kfold"].set_index("k")["errors"]
            entry = entry[entry["method"] != "kfold"].set_index("method")
            solution = solve_csvc(gram, y, C)
            predicted = decision_function(gram, y, solution, X_test) >= 0
            assert entry["errors"]["test"] == np.count_nonzero(predicted != (y_test > 0))
            assert entry["rows_tested"]["test"] == 30 and entry["n_sv"]["test"] == solution.n_sv
            for estimate in (span_rule, xi_alpha, jaakkola_haussler, opper_winther):
                assert entry["estimate"][estimate.__name__] == estimate(gram, y, solution).error
            for bound in (span_bound, radius_margin, rescaled_radius_margin):
                assert entry["bound"][bound.__name__] == pytest.approx(bound(gram, y, solution).bound)
            assert entry["estimate"]["loo"] == leave_one_out(gram, y, C).error
            for k in (3, 30):
                folds = cells.assignment(y, k)
                assert cv[k] == np.count_nonzero(cross_validate(gram, y, C, folds).errors)


def test_unfinished_fits_are_rows_too(run):
    rows = run(max_iter=1)
    assert {row["status"] for row in rows} == {NOT_CONVERGED}
    assert all("iteration limit" in row["reason"] for row in rows)


def test_failures_are_rows_too(data, run, monkeypatch, cold):
    def fails(*arguments, **options):
        raise ValueError("no")

    broken = {**load_estimators(), "loo": replace(load_estimators()["loo"], run=fails)}
    monkeypatch.setattr(cells, "load_estimators", lambda: broken)
    rows = run()
    assert {row["method"] for row in rows if row["status"] == ERROR} == {"loo"}
    assert {row["reason"] for row in rows if row["method"] == "loo"} == {"ValueError: no"}

    def no_fit(*arguments, **options):
        # not the one that pays for page faults
        if "max_iter" in options:
            raise ValueError("no")

    monkeypatch.setattr(cell, "solve_csvc", no_fit)
    rows = run()
    write_rows(data / "rows.parquet", rows, COMPARISON_ROWS)
    assert {row["method"] for row in rows if row["status"] == OK} == {"kfold"}
    assert len(rows) == 4 * ROWS


def test_a_killed_job_resumes(data, run):
    whole = run("loo")
    path = data / "checkpoint.jsonl"
    digest = json.loads(path.read_text().splitlines()[0])["digest"]
    first = Checkpoint(path, digest).get([0])
    first["rows"][0]["errors"] = 29
    path.unlink()
    Checkpoint(path, digest).add([0], first)
    rows = run("loo")
    assert [row["errors"] for row in rows] == [29, *(row["errors"] for row in whole[1:])]


# test error, and what each estimator says of the four models
ERRORS = [0.10, 0.20, 0.30, 0.12]
ESTIMATES = {
    "span_rule": [0.11, 0.21, 0.31, 0.13],
    "loo": [0.10, 0.10, 0.30, 0.12],
    "kfold": [0.2, 0.3, 0.4, 0.1],
}


def made_rows():
    """Two sets, the first with two realisations; one model of the second has no leave-one-out error."""
    rows = []
    for dataset, realisation in (("a", 1), ("a", 2), ("b", 1)):
        for place, test in enumerate(ERRORS):
            model = {
                "kernel": "rbf" if place else "linear",
                "gamma": 0.5 if place else np.nan,
                "C": float(place + 1),
            }
            shared = {
                **{"dataset": dataset, "realisation": realisation, "m": 100, "k": np.nan, **model},
                **{"gram_cpu_s": 8.0, "sphere_cpu_s": 0.4, "status": OK, "bound": np.nan},
            }
            rows.append({**shared, "method": "test", "estimate": test, "cpu_s": 1.0, "rows_tested": 50})
            for method, values in ESTIMATES.items():
                row = {
                    **shared,
                    "method": method,
                    "estimate": values[place],
                    "cpu_s": 2.0,
                    "rows_tested": 100,
                }
                rows.append({**row, "k": 5 if method == "kfold" else np.nan})
            bound = {"bound": [3.0, 1.0, 2.0, 2.0][place] * realisation, "estimate": np.nan, "cpu_s": 3.0}
            rows.append({**shared, "method": "span_bound", "rows_tested": np.nan, **bound})
    frame = pd.DataFrame(rows)
    lost = (frame["dataset"] == "b") & (frame["method"] == "loo") & (frame["C"] == 1)
    frame.loc[lost, ["status", "estimate"]] = [ERROR, np.nan]
    return frame


def numbers(tidy, *columns):
    return pd.DataFrame(tidy).set_index(list(columns))["value"]


def test_regret_rmse_and_cost_of_a_data_set():
    rows = made_rows()
    regrets = numbers(regret.tidy({"cells": rows}, None), "dataset", "method", "metric")
    assert regrets["a", "all", "realisations"] == 2 and regrets["b", "all", "realisations"] == 1
    assert regrets["a", "all", "least_test_error"] == pytest.approx(10)
    assert regrets["a", "span_rule", "regret"] == pytest.approx(0)
    # two models tie: the worst counts
    assert regrets["a", "loo", "regret"] == pytest.approx(10) and regrets["a", "loo", "tied"] == 2
    assert regrets["a", "loo", "mean_regret"] == pytest.approx(5)
    assert regrets["b", "loo", "regret"] == pytest.approx(10) and regrets["b", "loo", "failed"] == 1
    assert regrets["a", "kfold_5", "regret"] == pytest.approx(2)
    assert regrets["a", "span_bound", "regret"] == pytest.approx(10)
    assert regrets["a", RANDOM, "regret"] == pytest.approx(8)
    distance = numbers(rmse.tidy({"cells": rows}, None), "dataset", "method", "metric")
    assert distance["a", "span_rule", "rmse"] == distance["a", "span_rule", "bias"] == pytest.approx(1)
    assert distance["a", "loo", "rmse"] == pytest.approx(5) and distance["a", "loo", "bias"] == pytest.approx(
        -2.5
    )
    assert ("a", "span_bound", "rmse") not in distance.index
    costs = numbers(cost.tidy({"cells": rows}, None), "dataset", "method", "metric")
    # two kernels, four models
    assert costs["a", GRAM, "time"] == pytest.approx(4) and costs["a", FIT, "time"] == pytest.approx(1)
    assert costs["a", "loo", "time"] == costs["a", "loo", "fits"] == pytest.approx(3)
    assert costs["a", "kfold_5", "time"] == pytest.approx(2)
    assert costs["a", "span_bound", "time"] == pytest.approx(4.2)


def tidy(folder):
    exhibits = {}
    for module in EXHIBITS:
        key = module.__name__.rpartition(".")[2]
        exhibits[key] = tidy_of(folder, module, made_rows(), exhibits=dict(exhibits))
    return exhibits


def test_what_the_library_declares_of_an_estimate_is_what_the_tables_say():
    compared = {entry.name: entry for entry in load_estimators().values() if entry.fold == "train"}
    declared = {entry.name: entry for entry in SINGLE_FITS}
    # the share of support vectors is in the library alone
    assert declared.keys() ^ compared.keys() == {"Share of support vectors"}
    for name, entry in compared.items():
        for said in ("short", "assumption", "is_bound", "needs_sphere"):
            assert getattr(entry, said) == getattr(declared[name], said)


def test_estimators_are_compared_over_the_data_sets(tmp_path):
    result = tidy(tmp_path)["estimators"]
    assert set(result["dataset"]) == {ALL_SETS}
    value = numbers(result, "method", "metric")
    assert value["all", "datasets"] == 2 and value["loo", "failed"] == 1
    assert value["loo", "regret"] == value["loo", "largest_regret"] == pytest.approx(10)
    assert value["span_rule", "rank"] == 1 and value["kfold_5", "rank"] == 2
    assert value["loo", "rank"] == value["span_bound", "rank"] == 3.5
    assert value["span_bound", "fits"] == pytest.approx(4.2)
    assert value["loo", "behind"] == pytest.approx(10) and value["span_rule", "behind"] == 0
    assert (RANDOM, "rank") not in value.index and (GRAM, "fits") not in value.index


def test_tables_for_readers(tmp_path):
    exhibits = tidy(tmp_path)
    body, notes = table_of(estimators, exhibits["estimators"])
    assert [line[0] for line in body] == [
        "Span rule",
        "5-fold CV",
        "Exact LOO",
        "Span bound",
        "A model drawn at random",
    ]
    assert body[0][1:5] == ["1.00 ± 0.00", "+1.00", "0.00 ± 0.00", "0.00"]
    assert notes[-1].endswith("Exact LOO: 1.0.")
    body, _ = table_of(regret, exhibits["regret"])
    assert body[0][:5] == ["a", "100", "50", "2", "10.00"]
    assert estimator_name("kfold_100") == "100-fold CV" and estimator_name("loo", short=True) == "LOO"


def test_advice_is_in_sentences(tmp_path):
    best, good, closest, costs, chance = advice(tidy(tmp_path)["estimators"])
    assert "Span rule: on average over 2 data sets" in best and "0.00 percentage points more" in best
    assert "8.00 more" in best
    # no spread over the sets: the first alone
    assert good.endswith(" Span rule (3.0 fits).")
    assert closest.split("RMSE: ")[1].startswith("Span rule (1.00 points), Exact LOO (")
    assert costs.split("points? ")[1].startswith("5-fold CV (2.0), Span rule (3.0), Exact LOO (3.0)")
    assert chance.split("grid? ")[1].startswith("Exact LOO (10.00 points of regret), Span bound")


@pytest.mark.slow
def test_figure_is_stable_and_described(tmp_path):
    assert_stable(tmp_path, tradeoff, tidy(tmp_path)["tradeoff"])


def test_the_figure_has_every_estimator_in_its_mark(tmp_path, monkeypatch):
    fig = tradeoff.figure(tidy(tmp_path)["tradeoff"], None)
    legend = [text.get_text() for text in fig.legends[0].get_texts()]
    assert legend == [
        "Span rule",
        "k-fold CV, k beside",
        "Exact LOO",
        "Span bound",
        "A model drawn at random",
    ]
    # no mark twice, and a spare one for an estimator without any
    estimators = load_estimators()
    assert tradeoff.MARKS.keys() == estimators.keys()
    marks = tradeoff.marks_of({**estimators, "new": replace(estimators["loo"], name="New")})
    assert len({(entry["color"], entry["marker"]) for entry in marks.values()}) == len(estimators) + 1


def test_an_unknown_estimator_is_named():
    assert estimator_of("kfold_10") == (load_estimators()["kfold"], "10")
    for method in ("span", "loo_10", "kfold"):
        with pytest.raises(ValueError, match=rf"unknown estimator '{method}'; those in .* are: span_rule, "):
            estimator_of(method)


def test_no_cell_depends_on_marks():
    papers, _, _ = planned()
    (run,) = papers["comparison"].plan.runs
    code = papers["comparison"].code(run)
    assert any(path.endswith("estimators/loo.py") for path in code)
    assert not any("exhibits" in path for path in code)
