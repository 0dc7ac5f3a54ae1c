"""What a run costs, by the rows that were computed last."""

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from lib.cost import Cost, costs, duration, forecast, seconds, total, verdict
from lib.job import function_of
from lib.library import code_of, library_id
from lib.rows import LOO_ROWS, OK, CellRecord, cell_records, gather_rows, write_rows
from lib.run import planned

CONFIG = {
    "preset": "cost",
    "papers": ["franc2008"],
    "minutes_per_job": None,
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["standard"],
        "realisations": 1,
        "linear": {"C": [1]},
        "rbf": {"C": [1], "gamma": [1, 0.5]},
        "figure1": {"datasets": ["titanic-table"], "log10_eps": [0]},
    },
}
FOLDER = "results/cost/franc2008"
CELLS = [f"titanic-table/realisation-1/{name}" for name in ("linear", "rbf-gamma1", "rbf-gamma0.5")]


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """The papers, the registry and the configuration, in an empty folder."""
    (tmp_path / "cost.yaml").write_text(yaml.safe_dump(CONFIG))
    monkeypatch.chdir(tmp_path)
    return planned("cost.yaml")


def made(plan, cell, stale=False):
    papers, registry, _ = plan
    paper = papers["franc2008"]
    run = paper.plan.runs_by_cell("cells")[cell]
    library = "an older one" if stale else library_id(code_of(*paper.modules_of(run, cell)))
    return CellRecord(cell, paper.plan.parameters(run, cell, registry), library)


def row(seconds):
    return {"method": "standard", "status": OK, "errors": 1, "cpu_s": seconds}


def test_cells_cost_what_their_last_rows_did(plan, tmp_path):
    files = {cell: tmp_path / f"{FOLDER}/cells/{cell}.parquet" for cell in CELLS}
    for file in files.values():
        file.parent.mkdir(parents=True, exist_ok=True)
    only = {f"{FOLDER}/cells/{cell}.parquet" for cell in CELLS}
    assert costs(*plan, only)["franc2008"] == Cost(3, 0.0, 3, 1000)
    # the rows of two are of other code; the third is finished, but not gathered
    for cell, times in zip(CELLS, ([1800.0, 1800.0], [None, 900.0], [5.0]), strict=True):
        write_rows(files[cell], list(map(row, times)), LOO_ROWS, made(plan, cell, stale=cell != CELLS[2]))
    (tmp_path / f"{FOLDER}/rows").mkdir()
    gather_rows(
        f"{FOLDER}/rows/cells.parquet", CELLS[:2], {cell: files[cell] for cell in CELLS[:2]}, LOO_ROWS
    )
    for cell in CELLS[:2]:
        files[cell].unlink()
    cost = costs(*plan, only)["franc2008"]
    assert cost == Cost(
        2,
        4500.0,
        0,
        1000,
        [(3600.0, 1000, f"franc2008/cells/{CELLS[0]}"), (900.0, 1000, f"franc2008/cells/{CELLS[1]}")],
    )
    assert str(cost) == "cells: 2, 1.2 CPU hours by the last rows of 2, at most 1,000 MB for one"
    # only the cells of a run
    assert costs(*plan, {f"{FOLDER}/cells/{CELLS[1]}.parquet"})["franc2008"] == Cost(
        1, 900.0, 0, 1000, [(900.0, 1000, f"franc2008/cells/{CELLS[1]}")]
    )
    everything = costs(*plan)["franc2008"]
    # those of the stages stopping and test, too, two each
    assert (everything.cells, everything.unknown) == (6, 4)


def test_sums_and_verdicts():
    cost = total([Cost(2, 60.0, 0, 1000, [(50.0, 10), (10.0, 1000)]), Cost(), Cost(1, 0.0, 1, 17_000)])
    assert cost == Cost(3, 60.0, 1, 17_000, [(50.0, 10), (10.0, 1000)])
    assert "16,000 MB" in verdict(cost, 16_000, 2)
    enough = verdict(cost, 64_000, 16)
    assert "64,000 MB" in enough and "3 of the largest" in enough and "16 cores" in enough


@pytest.mark.slow
def test_a_run_begins_with_what_it_costs_and_the_program_says_what_is_left(checkout, root):
    target = f"{FOLDER}/cells/{CELLS[0]}.parquet"
    done = checkout.snakemake("--cores", "1", "--", target, config=CONFIG)
    assert done.returncode == 0, done.stderr
    assert "To compute: cells: 1, 0 CPU hours by the last rows of 0, at most 1,000 MB for one." in done.stderr
    assert "MB: 1 of the largest run beside each other on 1 cores." in done.stderr
    left = subprocess.run(
        [sys.executable, "-m", "lib.cost", "--configfile", "test.yaml"],
        cwd=checkout.folder,
        env=checkout.environment(PYTHONPATH=str(root / "workflow")),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert left[0] == "franc2008: cells: 6, 0 CPU hours by the last rows of 0, at most 1,000 MB for one"
    assert left[1].startswith("together: cells: 6, ") and left[2].startswith("This machine has ")


@pytest.mark.parametrize(
    ("cells", "cores", "mem_mb", "expected"),
    [
        ([], 2, 100, 0),
        ([(3, 1), (2, 1), (1, 1)], 1, 100, 6),
        ([(1, 1), (2, 1), (3, 1)], 2, 100, 3),
        ([(4, 1), (3, 1), (3, 1)], 2, 100, 6),
        ([(5, 60), (5, 60), (4, 40)], 3, 100, 10),  # two of the first do not fit beside each other
        ([(5, 200), (1, 10)], 2, 100, 6),  # what does not fit at all runs alone
        ([(9, 1)] + [(1, 1)] * 9, 64, 100, 9),
        # what takes more than half of the memory begins first: left to the end it would run alone
        ([(6, 5), (5, 40), (5, 40), (2, 90)], 2, 100, 11),
    ],
)
def test_the_time_on_more_cores_is_that_of_a_schedule(cells, cores, mem_mb, expected):
    assert duration(cells, cores, mem_mb) == expected


def test_forecasts():
    hour = [(3600.0, 10, "franc2008/cells/a")] * 32
    cost = Cost(33, 32 * 3600.0, 1, 10, hour)
    text = forecast(cost, 2, 1000)
    assert "16 h on 2 cores, 2 h on 16 cores, 1 h on 64 cores" in text
    assert "franc2008/cells/a" in text and "60 minutes" in text
    # as much memory per core, of which a cell takes four cores' share
    dear = Cost(8, 8 * 3600.0, 0, 2000, [(3600.0, 2000, "b")] * 8)
    assert "2 cores, 4 h on 8 cores, 2 h on 16 cores, 1 h on 64 cores" in forecast(dear, 8, 4000)


def forecast_of(paper, function, rows, took, **settings):
    found = function_of(paper, function)(pd.DataFrame(rows), pd.Series(took), SimpleNamespace(**settings))
    return found.tolist()


def test_a_sample_of_points_is_forecast_from_all_and_all_from_a_sample():
    whole = {"method": ["unlearn", "standard", "standard"], "n_solved": [200, 200, 20]}
    took = [10.0, 100.0, 10.0]
    assert forecast_of("franc2008", "sample.forecast", whole, took, sample=50) == [10, 25, 10]
    assert forecast_of("franc2008", "sample.forecast", whole, took) == took
    # 50 of 200 points, which took 20 of 21 s
    part = {"method": ["standard"], "n_solved": [50], "stands_for": [4.0], "solving_cpu_s": [20.0]}
    assert forecast_of("franc2008", "sample.forecast", part, [21.0], sample=50) == [21]
    assert forecast_of("franc2008", "sample.forecast", part, [21.0], sample=100) == [41]
    assert forecast_of("franc2008", "sample.forecast", part, [21.0]) == [81]


def test_folds_and_budgets_are_forecast():
    rows = {"method": ["cold", "top", "sir"], "rounds": [100, 100, 100], "k": [100, 100, 100]}
    rows["full_cpu_s"] = [None, 10.0, None]
    took = [100.0, 110.0, 50.0]
    given = {"rounds": None, "sample": {"cold": 10, "top": 50}}
    assert forecast_of("wen2017", "cells.forecast", rows, took, **given) == [10, 60, 50]
    assert forecast_of("wen2017", "cells.forecast", rows, took, rounds=30) == [30, 40, 15]
    libsvm = {"rounds": [4, 1, 10], "k": [10, 10, 10]}
    assert forecast_of("wen2017", "libsvm.forecast", libsvm, [100.0, 500.0, 1.0], budget_s=60) == [50, 500, 1]
    weights = {"method": ["kfold", "kfold_libsvm"], "folds_run": [None, None]}
    assert forecast_of("sarafis2018", "cells.forecast", weights, [5.0, 5.0], folds=5, libsvm_folds=1) == [
        5,
        1,
    ]
    weights["folds_run"] = [None, [3]]
    assert forecast_of("sarafis2018", "cells.forecast", weights, [5.0, 1.0], folds=5) == [5, 5]
    # what was edited for the search as well is edited once
    edited = {"method": ["svm", "multiedit_condense"], "search_cpu_s": [2.0, 4.0]}
    assert forecast_of("bakir2004", "cells.forecast", edited, [5.0, 9.0]) == [5, 5]
    assert forecast_of("bakir2004", "cells.forecast", edited, [5.0, 9.0], methods=["svm"]) == [5, 0]


def test_what_no_clock_has_is_forecast_too(plan, tmp_path):
    papers, *_ = plan
    runs, path = papers["franc2008"].plan.runs_by_cell("cells"), tmp_path / "rows.parquet"
    solved = {"n_solved": 100, "kernel": "linear", "gram_cpu_s": 2.0}
    rows = [{**row(seconds_), **solved} for seconds_ in (10.0, 20.0)]
    # of before the process was timed; then of a process that took 40 s
    for cpu_s, expected in ((None, 32.0), (40.0, 40.0), (3.0, 30.0)):
        write_rows(path, rows, LOO_ROWS, replace(made(plan, CELLS[0]), cpu_s=cpu_s))
        assert seconds(path, "franc2008", runs) == {CELLS[0]: expected}


@pytest.mark.slow
def test_long_cells_start_first(checkout):
    target = f"{FOLDER}/rows/cells.parquet"
    done = checkout.snakemake("--cores", "1", "--", target, config=CONFIG)
    assert done.returncode == 0, done.stderr
    path = checkout.folder / target
    longest_last = [1.0, 60.0, 3600.0]
    schema, cells = LOO_ROWS, cell_records(path)
    files = {}
    for (name, own), cpu_s in zip(cells.items(), longest_last, strict=True):
        files[name] = checkout.folder / f"{own.parameters}.parquet"
        write_rows(files[name], [row(cpu_s)], schema, replace(own, library="an older one", cpu_s=cpu_s))
    gather_rows(path, list(cells), files, schema)
    for name in cells:
        (checkout.folder / f"{FOLDER}/cells/{name}.parquet").unlink()
    again = checkout.snakemake("--cores", "1", "--", target, config=CONFIG)
    assert again.returncode == 0, again.stderr
    # one core: what started first has ended first
    logs = {name: checkout.folder / f"logs/cost/franc2008/cells/{name}.log" for name in cells}
    assert sorted(cells, key=lambda name: logs[name].stat().st_mtime_ns) == list(reversed(cells))
