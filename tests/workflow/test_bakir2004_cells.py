"""The cells of bakir2004: what they compute, and the plan that lists them."""

import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from data.dataset import Dataset
from data.splits import SplitRecipe
from lib.rows import EDIT_ROWS, ERROR, OK, read_rows, write_rows
from lib.run import planned as planned_by
from papers.bakir2004 import causes, cells
from papers.bakir2004.plan import plan
from papers.bakir2004.problem import dataset_problem, gaussians, swapped
from sklearn.svm import SVC
from workflow.bakir2004_rows import SETUP

from svmselect import RBF, Gram, cross_training, solve_csvc


@pytest.fixture
def data(tmp_path):
    """A data set with a test part of its own and one with splits."""
    rng = np.random.default_rng(0)
    X, y = gaussians(160, 1.0, rng)
    X_test, y_test = gaussians(80, 1.0, rng)
    recipe = SplitRecipe(100, 50, 5, 7)
    entry = Dataset("own", X, y.astype(np.int8), X_test, y_test.astype(np.int8), "generated")
    entry.save(tmp_path / "own.npz")
    Dataset("splits", X, y.astype(np.int8), None, None, "generated", recipe=recipe).save(
        tmp_path / "splits.npz"
    )
    return tmp_path


def test_parts_of_a_data_set(data):
    entry, splits = (Dataset.load(data / f"{name}.npz") for name in ("own", "splits"))
    part = dataset_problem(entry, 2, train=30, test=20)
    assert part.y.size == 30 and part.y_test.size == 20
    assert part.identity["origin"] == "seeded" and part.identity["seed"] == [2004, 2]
    assert not np.array_equal(part.X, dataset_problem(entry, 3, train=30).X)
    np.testing.assert_array_equal(part.X_test, entry.X_test[:20])
    assert dataset_problem(entry, 1).identity["origin"] == "original"
    split_table = dataset_problem(splits, 2, train=40)
    np.testing.assert_array_equal(split_table.X, splits.X[splits.split(2).train[:40]])
    with pytest.raises(ValueError, match="data set 'splits' has 100 training rows, 101 are wanted"):
        dataset_problem(splits, 1, train=101)


def test_swapped_labels_are_exactly_the_share(data):
    problem = dataset_problem(Dataset.load(data / "own.npz"), 1)
    noisy = swapped(problem, 0.1, np.random.default_rng(0))
    assert np.count_nonzero(noisy.y != problem.y) == 16
    assert np.count_nonzero(noisy.y_test != problem.y_test) == 8
    np.testing.assert_array_equal(noisy.clean, problem.y_test)


@pytest.fixture
def run(job_of):
    """A function: the rows of a stage, its setup changed."""

    def rows(stage, data=None, arguments=None, changed=None, **settings):
        job = job_of(data, paper="bakir2004", experiment=stage)
        settings = SimpleNamespace(**settings, setup={**SETUP, **(changed or {})})
        return job.rows(getattr(cells, f"run_{stage}"), **(arguments or {}), settings=settings)

    return rows


@pytest.fixture
def run_table1(run, data):
    """A function: the rows of two realisations."""

    def rows(methods, **changed):
        sizes = {"realisations": [1, 2], "train_rows": 100, "test_rows": 50}
        return run("table1", data / "splits.npz", changed=changed, **sizes, scale="none", methods=methods)

    return rows


def test_rows_are_those_of_the_library(data, run_table1, tmp_path):
    methods = ["svm", "cross_training", "bagging", "multiedit_condense"]
    rows = run_table1(methods)
    write_rows(tmp_path / "rows.parquet", rows, EDIT_ROWS)
    frame = read_rows([tmp_path / "rows.parquet"]).set_index(["realisation", "method"])
    assert (frame["status"] == OK).all() and len(frame) == 8
    problem = dataset_problem(Dataset.load(data / "splits.npz"), 2)
    svm = frame.loc[2, "svm"]
    solution = solve_csvc(Gram(problem.X, RBF(0.5)), problem.y, svm["value"])
    assert (svm["n_sv"], svm["n_inbound"]) == (solution.n_sv, solution.n_inbound)
    predicted = SVC(C=svm["C"], gamma=0.5).fit(problem.X, problem.y).predict(problem.X_test)
    assert svm["errors"] == np.count_nonzero(predicted != problem.y_test)
    entry = frame.loc[2, "cross_training"]
    result = cross_training(
        problem.X,
        problem.y,
        RBF(0.5),
        [1.0, 10.0],
        n_subsets=3,
        subset_size=40,
        seed=[2004, 5, 2],
    )
    assert entry["value"] == result.final.value and entry["first_value"] == result.first.value
    assert entry["n_kept"] == result.rows.size and entry["validation_rows"] == 13
    assert entry["n_kept"] == 87 - entry["n_misclassified"] - entry["n_recognised"] + entry["n_reinserted"]
    assert entry["n_sv"] == pytest.approx(result.n_sv, abs=1)
    bagged = frame.loc[2, "bagging"]
    assert bagged["first_value"] == result.first.value and bagged["n_sv"] == result.first.n_sv
    edited = frame.loc[2, "multiedit_condense"]
    assert 2 <= edited["n_sv"] <= edited["n_kept"] < 87
    assert (frame[["cpu_s", "search_cpu_s", "predict_cpu_s"]] >= 0).all(axis=None)
    # a killed job resumes after the points that it finished
    assert run_table1(methods) == rows


def test_cross_training_without_its_measures_and_with_each_C(data, run):
    sizes = {"realisations": [2], "train_rows": 100, "test_rows": 50, "scale": "none", "methods": []}
    rows = pd.DataFrame(run("sensitivity", data / "splits.npz", **sizes))
    assert rows["method"].tolist() == ["unbalanced", "unadjusted", *["svm"] * 2, *["cross_training"] * 4]
    assert (rows["status"] == OK).all()
    problem = dataset_problem(Dataset.load(data / "splits.npz"), 2)
    options = {"n_subsets": 3, "subset_size": 40, "seed": [2004, 5, 2], "validation": 13}
    measures = {
        "unbalanced": {"balance": False},
        "unadjusted": {"balance": False, "tune_threshold": False},
        "cross_training": {},
    }
    for row in rows[rows["method"] != "svm"].to_dict("records"):
        arguments = {**options, **measures[row["method"]], "first_values": row["first_value"]}
        trained = cross_training(problem.X, problem.y, RBF(0.5), row["value"], **arguments)
        wrong = (trained.decision_function(problem.X_test) >= 0) != (problem.y_test > 0)
        assert (row["n_kept"], row["errors"]) == (trained.rows.size, np.count_nonzero(wrong))
        assert row["n_reinserted"] == np.count_nonzero(trained.reinserted)
    assert rows["n_reinserted"].max() > 0
    svm = rows[rows["method"] == "svm"]
    assert svm["value"].tolist() == [1, 10] and svm["first_value"].isna().all()


def test_rows_do_not_depend_on_the_other_methods(run_table1, tmp_path):
    alone, *_ = run_table1(["cross_training"])
    (tmp_path / "checkpoint.jsonl").unlink()
    rows = run_table1(["svm", "cross_training"])
    assert rows[1]["method"] == "cross_training"
    assert (rows[1]["error_pattern"], rows[1]["n_kept"]) == (alone["error_pattern"], alone["n_kept"])


def test_neighbours_edit_once_and_their_time_is_that_of_training(run_table1, monkeypatch):
    calls, edit = [], cells.multiedit

    def slow(*arguments):
        calls.append(arguments)
        begin = time.process_time()
        while time.process_time() < begin + 0.2:
            pass
        return edit(*arguments)

    monkeypatch.setattr(cells, "multiedit", slow)
    rows = run_table1(["multiedit_condense"])
    # two values were tried, but on one edited set for each realisation; the small one is to warm up
    assert [len(X) for X, *_ in calls] == [60, 87, 87] and len(rows) == 2
    assert all(row["cpu_s"] >= 0.2 for row in rows)


def test_failures_are_rows_too(run_table1, tmp_path, monkeypatch, cold):
    def fails(*arguments, **options):
        raise ValueError("no")

    monkeypatch.setattr(cells, "multiedit", fails)
    rows = run_table1(["svm", "multiedit_condense"])
    assert [row["status"] for row in rows] == [OK, ERROR] * 2
    assert rows[1]["reason"] == "ValueError: no"
    write_rows(tmp_path / "rows.parquet", rows, EDIT_ROWS)


def test_one_value_is_not_searched_for(run_table1, monkeypatch):
    def searches(*arguments, **options):
        raise AssertionError

    monkeypatch.setattr(cells, "cross_validated_errors", searches)
    rows = run_table1(["svm", "cross_training"], values=[5.0], final_values=[2.0])
    assert [row["value"] for row in rows] == [5.0, 2.0] * 2 and rows[1]["first_value"] == 5.0


def test_figure4_has_nu_and_clean_labels(data, run, tmp_path):
    rows = run(
        "figure4",
        data / "own.npz",
        {"realisation": 2},
        {"adjust": False, "subset_size": None},
        noise=[0, 0.1],
        scale="none",
        train_rows=None,
        methods=["nu_svm", "svm", "cross_training"],
        nu={"values": [0.3, 0.4], "final_values": [0.2, 0.4]},
    )
    assert [row["formulation"] for row in rows[:3]] == ["nu", "C", "nu"]
    assert rows[2]["value"] in (0.2, 0.4) and rows[2]["first_value"] in (0.3, 0.4)
    assert rows[0]["C"] is None and rows[1]["C"] == rows[1]["value"]
    assert all(row["errors"] == row["clean_errors"] for row in rows[:3])
    assert any(row["errors"] != row["clean_errors"] for row in rows[3:])
    write_rows(tmp_path / "rows.parquet", rows, EDIT_ROWS)


def test_figures_of_generated_classes(run):
    rows = run(
        "figure3",
        None,
        {"realisation": 1},
        {"gamma": None, "adjust": False, "subset_size": None},
        sizes=[60, 120],
        deviations=[1.0, 2.0],
        test_rows=100,
        methods=["svm", "cross_training"],
    )
    assert [(row["level"], row["m"]) for row in rows[::2]] == [(1, 60), (1, 120), (2, 60), (2, 120)]
    assert all(row["kernel"] == "linear" and row["status"] == OK for row in rows)
    squares = run("figure1", n=50, overlaps=[0, 0.5], runs=2, C=10.0, tol=1e-3)
    assert [row["level"] for row in squares] == [0, 0, 0.5, 0.5]
    assert squares[3]["n_sv"] - squares[3]["n_inbound"] > squares[0]["n_sv"] - squares[0]["n_inbound"]


def test_growth_ends_where_each_method_does(data, run):
    rows = run(
        "growth",
        data / "own.npz",
        None,
        {"values": [1.0], "final_values": [1.0], "subset_size": None},
        sizes=[50, 100, 150],
        test_rows=60,
        scale="none",
        methods={"svm": 100, "cross_training": 150},
    )
    assert [(row["m"], row["method"]) for row in rows] == [
        (50, "svm"),
        (50, "cross_training"),
        (100, "svm"),
        (100, "cross_training"),
        (150, "cross_training"),
    ]


def planned(cell_per_method=False, **changed):
    """The cells of the demo's plan by name, each with its methods, where figures have three runs."""
    _, registry, config = planned_by()
    entry = config["bakir2004"]
    entry["figure3"]["runs"] = entry["figure4"]["runs"] = 3
    entry["table1"]["sets"][0]["cell_per_method"] = cell_per_method
    entry = plan({**config, **changed}, registry)
    return {
        name: run.settings_of(name)["methods"]
        for run in entry.runs
        if run.function != "cells.run_figure1"
        for name in run.cells
    }


def test_a_sample_of_the_runs_has_the_methods_of_others():
    every, sampled = planned(), planned(baselines="sampled")
    assert list(every) == list(sampled)
    fewer = {name for name, methods in every.items() if methods != sampled[name]}
    assert fewer == {f"{figure}/run-{r}" for figure in ("figure3", "figure4/digits-3v8") for r in (2, 3)}
    for name in fewer:
        assert [*sampled[name], "multiedit_condense"] == every[name]


def test_methods_of_a_large_set_may_be_cells_of_their_own():
    whole, apart = planned(), planned(cell_per_method=True)
    name = "table1/waveform-generated/train-400"
    methods = whole.pop(name)
    assert {f"{name}/{method}": [method] for method in methods} | whole == apart


def test_growth_is_beyond_the_paper_unless_a_row_of_table_1_is_extrapolated_from_it():
    _, registry, config = planned_by()
    part = config["bakir2004"]
    growing = part["growth"]["dataset"]
    (entry,) = (entry for entry in part["table1"]["sets"] if entry["dataset"] == growing)
    for methods, left in ((["svm", "cross_training"], True), (["cross_training"], False)):
        entry["methods"] = methods
        beyond = {
            name: cell.beyond for run in plan(config, registry).runs for name, cell in run.cells.items()
        }
        assert [name for name in beyond if name.startswith("growth/")] == [f"growth/{growing}"]
        assert {name for name in beyond if beyond[name]} == ({f"growth/{growing}"} if left else set())


def test_solvers_of_one_model_are_counted_and_their_deviation_is_that_of_a_draw(data, job_of):
    settings = SimpleNamespace(tol=1e-3)
    rows = causes.run_solvers(job_of(data / "own.npz"), 120, 0.5, 10.0, settings)
    assert [row["method"] for row in rows] == ["libsvm", "mvp", "wss2", "blocks"]
    problem = dataset_problem(Dataset.load(data / "own.npz"), 1, 120)
    exact = solve_csvc(Gram(problem.X, RBF(0.5)), problem.y, 10.0, tol=1e-9)
    wrong = np.count_nonzero((exact.decision >= 0) != (problem.y > 0))
    for row in rows:
        assert row["status"] == OK and row["m"] == 120 and row["errors"] == wrong
        assert abs(row["n_sv"] - exact.n_sv) <= 2
    frame = pd.DataFrame(rows).assign(dataset="own")
    frame["n_sv"] = [50, 52, 54, 56]
    (row,) = causes.solvers_of_table1(frame)
    place = {"exhibit": "table1", "setting": "train=120", "method": "svm", "metric": "svs"}
    assert {name: row[name] for name in place} == place
    assert (row["value"], row["spread"]) == (53, pytest.approx(np.sqrt(20 / 3)))
