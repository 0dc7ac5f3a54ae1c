"""The cells of franc2008: what they compute, and the plan that lists them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from data.dataset import Dataset
from lib.rows import (
    ERROR,
    LOO_ROWS,
    NOT_CONVERGED,
    OK,
    SKIPPED,
    TEST_ROWS,
    read_rows,
    unpack_bits,
    write_rows,
)
from lib.tables import lookup
from papers.franc2008 import causes, cells
from papers.franc2008.exhibits import table2, table3
from papers.franc2008.exhibits.disagreements import compared_methods
from papers.franc2008.sample import for_all_points
from workflow.exhibit_calls import table_of, tidy_of

from svmselect import RBF, Gram

SETTINGS = {"datasets": ["titanic-table"], "methods": ["standard"]}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, root):
    from data.prepare import prepare
    from data.registry import load_registry

    path = tmp_path_factory.mktemp("data") / "titanic-table.npz"
    prepare(load_registry(root / "config/datasets.yaml")["titanic-table"], None, path)
    return path


@pytest.fixture
def run_loo(prepared, job_of):
    """A function: the rows of a cell with some arguments or settings changed."""

    def run(timing="shared", **changes):
        job = job_of(prepared, timing, paper="franc2008", dataset="titanic-table")
        settings = {"eps": 1e-3, "as_published": True, "efficiency_test": 10, "max_iter": None}
        arguments = {
            "realisation": 1,
            "gamma": 0.5,
            "C": [1.0, 10.0],
            "methods": ["unlearn", "standard", "proposed"],
        }
        for name, value in changes.items():
            (arguments if name in arguments else settings)[name] = value
        return job.rows(cells.run_loo, **arguments, settings=SimpleNamespace(**settings))

    return run


def test_cell_rows_hold_identity_result_cost_and_status(run_loo, tmp_path):
    rows = run_loo(timing="exclusive")
    write_rows(tmp_path / "rows.parquet", rows, LOO_ROWS)
    table = read_rows([tmp_path / "rows.parquet"])
    assert table[["C", "method"]].to_numpy().tolist() == [
        [C, method] for C in (1.0, 10.0) for method in ("unlearn", "standard", "proposed")
    ]
    assert set(table["status"]) == {OK} and set(table["tol"]) == {1e-3} and set(table["m"]) == {150}
    assert set(table["timing_mode"]) == {"exclusive"} and (table["wall_s"] > 0).all()
    assert (table["estimate"] == table["errors"] / table["rows_tested"]).all()
    paper = table["method"] != "unlearn"
    assert (table["n_retrained"] + table["n_certified"] == table["n_solved"])[paper].all()
    assert (table["n_retrained"] + table["n_certified"] <= table["n_solved"]).all()
    assert table["start_C"].dropna().to_dict() == {3: 1.0} and table["method"][3] == "unlearn"
    counts = table[["n_check1", "n_check2", "n_check3", "n_solved"]].sum(axis=1)
    assert (counts == table["m"]).all()
    assert (table.loc[table["method"] == "standard", "n_certified"] == 0).all()
    summary, _ = compared_methods(table, ["titanic-table"], 1e-6)
    assert summary.set_index("kernel").loc["rbf", ["models_compared", "points_compared"]].tolist() == [2, 300]


def test_points_that_differ_are_retrained(prepared, run_loo, monkeypatch):
    """One method is made to err at a point: both rows list it, with the decision value without it."""
    original = cells.leave_one_out

    def erring(*arguments, **options):
        loo = original(*arguments, **options)
        if options["method"] == "certified":
            loo.errors[7] ^= True
        return loo

    monkeypatch.setattr(cells, "leave_one_out", erring)
    rows = run_loo(C=[1.0])
    X, y, *_ = Dataset.load(prepared).realisation(1)
    gram = Gram(X, RBF(0.5))
    exact = original(gram, y, 1.0, method="retrain", tol=1e-10)
    assert exact.resolved_by[7] == "retrained"
    for row in rows:
        assert row["differing_points"] == [7]
        assert row["differing_exact"] == pytest.approx([exact.decision[7]], abs=1e-6)


def test_baselines_on_a_sample_of_the_points(run_loo, tmp_path):
    result = {}
    for sample in (None, 12):
        path = tmp_path / f"{sample}.parquet"
        write_rows(path, run_loo(**({"sample": sample} if sample else {})), LOO_ROWS)
        (tmp_path / "checkpoint.jsonl").unlink()
        result[sample] = read_rows([path])
    whole, part = result.values()
    ours = whole["method"] == "unlearn"
    assert part.loc[ours, "stands_for"].isna().all() and whole["stands_for"].isna().all()
    np.testing.assert_array_equal(part.loc[ours, "errors"], whole.loc[ours, "errors"])
    whole, part = whole[~ours], part[~ours]
    assert (whole["n_solved"] > 24).all() and (part["n_solved"] == 12).all()
    np.testing.assert_allclose(part["stands_for"] * 12, whole["n_solved"])
    every = for_all_points(part)
    np.testing.assert_allclose(every["n_solved"], whole["n_solved"])
    # what is not solving for points costs the same
    assert (part["solving_columns"] < part["columns_requested"]).all()
    assert (every["columns_requested"] > part["columns_requested"]).all()
    error = np.sqrt(every["columns_requested_variance"])
    assert (abs(every["columns_requested"] - whole["columns_requested"]) < 4 * error).all() and (
        error > 0
    ).all()
    for row, other in zip(part.itertuples(), whole.itertuples(), strict=True):
        decided = unpack_bits(row.decided, row.m)
        errors = unpack_bits(other.error_pattern, other.m)
        np.testing.assert_array_equal(unpack_bits(row.error_pattern, row.m), errors & decided)
        assert (row.rows_tested, row.errors) == (decided.sum(), (errors & decided).sum())
    summary, _ = compared_methods(result[12], ["titanic-table"], 1e-6)
    compared = summary.set_index("kernel").loc["rbf", "points_compared"]
    assert compared == part.loc[part["method"] == "standard", "rows_tested"].sum() < 300
    tidy = tidy_of(tmp_path, table3, result[12], settings=SETTINGS)
    spread = lookup(tidy)
    assert all(
        spread("titanic-table", "rbf", "proposed", f"{name}_speedup")[1] > 0
        for name in ("time", "kernel_column")
    )
    body, notes = table_of(table3, tidy, settings=SETTINGS)
    assert any("95 % interval" in note for note in notes) and sum("±" in text for text in body[2]) == 7
    whole_tidy = tidy_of(tmp_path, table3, result[None], settings=SETTINGS)
    _, notes = table_of(table3, whole_tidy, settings=SETTINGS)
    assert not any("95 % interval" in note for note in notes)


@pytest.mark.parametrize("inside", [True, False])
def test_points_outside_the_sample_are_not_compared(run_loo, monkeypatch, inside):
    original, erred = cells.leave_one_out, []

    def erring(*arguments, **options):
        loo = original(*arguments, **options)
        if options["method"] == "certified" and "sample" in options:
            point = np.flatnonzero((loo.stands_for > 1) if inside else (loo.stands_for == 0))[0]
            loo.errors[point] ^= True
            erred.append(point)
        return loo

    monkeypatch.setattr(cells, "leave_one_out", erring)
    rows = run_loo(C=[1.0], sample=12)
    assert {tuple(row["differing_points"]) for row in rows} == {tuple(erred) if inside else ()}


def test_killed_cell_resumes(run_loo, tmp_path, monkeypatch, cold):
    whole = run_loo()
    (tmp_path / "checkpoint.jsonl").unlink()
    original, calls = cells.leave_one_out, []

    def killed(*arguments, **options):
        calls.append(options["method"])
        if len(calls) == 4:
            raise KeyboardInterrupt
        starts.append(options.get("start"))
        return original(*arguments, **options)

    starts = []
    monkeypatch.setattr(cells, "leave_one_out", killed)
    with pytest.raises(KeyboardInterrupt):
        run_loo()
    resumed = run_loo()
    methods = ["unlearn", "retrain", "certified"]
    assert calls == [*methods, "unlearn", *methods]
    # the solution that the killed job had found starts the next model
    assert [start is None for start in starts] == [True, True, True, False, True, True]
    assert 0 < starts[3].max() == 10
    patterns = [[row["error_pattern"] for row in rows] for rows in (whole, resumed)]
    assert patterns[0] == patterns[1]


def test_cell_that_does_not_converge_leaves_rows_and_tables(prepared, run_loo, job_of, tmp_path):
    """One iteration is not enough: rows say so, no model is selected, the tables come without numbers."""
    rows = []
    for gamma in (None, 0.5):
        rows += run_loo(gamma=gamma, max_iter=1)
    write_rows(tmp_path / "rows.parquet", rows, LOO_ROWS)
    table = read_rows([tmp_path / "rows.parquet"])
    assert set(table["status"]) == {NOT_CONVERGED} and table["reason"].str.contains("iteration limit").all()
    tests = []
    for kernel in ("linear", "rbf"):
        job = job_of(prepared, paper="franc2008", dataset="titanic-table")
        settings = SimpleNamespace(method="standard", eps=1e-3, max_iter=1)
        given = {"kernel": kernel, "realisations": [1, 2], "cells": table, "settings": settings}
        tests += job.rows(cells.run_test, **given)
    assert {row["status"] for row in tests} == {SKIPPED}
    write_rows(tmp_path / "tests.parquet", tests, TEST_ROWS)
    stages = {"cells": table, "test": read_rows([tmp_path / "tests.parquet"])}
    for module, count in ((table2, 3), (table3, 2)):
        tidy = tidy_of(tmp_path, module, stages, settings=SETTINGS)
        body, notes = table_of(module, tidy, settings=SETTINGS)
        assert "n/a" in body[0] and len(notes) == count


def test_numerical_failure_is_a_row_and_a_fault_is_not(run_loo, tmp_path, monkeypatch, cold):
    def singular(*arguments, **options):
        raise FloatingPointError("overflow")

    monkeypatch.setattr(cells, "leave_one_out", singular)
    rows = run_loo()
    assert {row["status"] for row in rows} == {ERROR}
    assert {row["reason"] for row in rows} == {"FloatingPointError: overflow"}
    assert not (tmp_path / "checkpoint.jsonl").exists()

    def broken(*arguments, **options):
        raise AttributeError("no such thing")

    monkeypatch.setattr(cells, "leave_one_out", broken)
    with pytest.raises(AttributeError):
        run_loo()


@pytest.mark.parametrize("as_published", [True, False])
def test_methods_of_the_paper_take_its_steps(run_loo, monkeypatch, cold, as_published):
    """Ours never does."""
    requested = []
    original = cells.leave_one_out

    def noting(*arguments, **options):
        requested.append((options["method"], options["as_published"]))
        return original(*arguments, **options)

    monkeypatch.setattr(cells, "leave_one_out", noting)
    run_loo(C=[1.0], as_published=as_published)
    published = {("retrain", as_published), ("certified", as_published)}
    assert set(requested) == {("unlearn", False), *published}


def test_a_draw_of_the_selecting_splits_selects_its_own_model(prepared, job_of, monkeypatch):
    """Leave-one-out is made to prefer another C on the second draw: its test errors are those of that C."""
    job = job_of(prepared, paper="franc2008", dataset="titanic-table")
    seen = []

    def preferring(gram, y, C):
        seen.append(C)
        best = 0.01 if len(seen) <= 4 else 10.0
        return SimpleNamespace(error=float(best != C))

    monkeypatch.setattr(causes, "leave_one_out", preferring)
    arguments = {"Cs": [0.01, 10.0], "gammas": [None], "draws": 2, "splits": 2, "realisations": [1, 2, 3]}
    settings = SimpleNamespace(eps=1e-3, max_iter=None)
    rows = pd.DataFrame(job.rows(causes.run_draws_of_selection, **arguments, settings=settings))
    assert len(seen) == 2 * 2 * 2
    chosen = rows.groupby("fold")["C"].unique().map(list).to_dict()
    assert chosen == {"selected on 1 to 2": [0.01], "selected on 3 to 4": [10.0]}
    (tidy,) = causes.draws_of_selection(rows)
    means = 100 * rows.groupby("fold")["estimate"].mean()
    assert means.nunique() == 2
    assert tidy["value"] == pytest.approx(means.mean()) and tidy["spread"] == pytest.approx(means.std())
