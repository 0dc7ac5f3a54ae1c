"""Rows that are kept are inputs: a cell is computed if the file of its stage lacks it, or has it of other
data, parameters or code."""

import logging
import re
import shutil
from copy import deepcopy
from dataclasses import replace

import pytest
from checkouts import planned
from data import Dataset
from lib.job import run_cell
from lib.library import code_of
from lib.plan import Cell, Run
from lib.rows import (
    LOO_ROWS,
    OK,
    CellRecord,
    cell_records,
    cells_to_compute,
    gather_rows,
    read_cell,
    read_rows,
    write_rows,
)


@pytest.fixture
def written(tmp_path):
    """A function: a file of one cell with so many rows, whose errors count up from a number."""

    def write(name, rows, first=0, parameters="p", library="1+a"):
        path = tmp_path / f"{name}-{first}.parquet"
        found = [{"method": name, "errors": first + number, "status": OK} for number in range(rows)]
        write_rows(path, found, LOO_ROWS, CellRecord(name, parameters, library))
        return path

    return write


def test_a_file_says_what_its_rows_are_of(written, tmp_path):
    assert cell_records(written("a", 3)) == {"a": CellRecord("a", "p", "1+a", 3)}
    assert cell_records(tmp_path / "nothing.parquet") == {}
    write_rows(tmp_path / "anybody's.parquet", [{"errors": 1, "status": OK}], LOO_ROWS)
    assert cell_records(tmp_path / "anybody's.parquet") == {}


def test_gathered_rows_are_those_of_files_and_those_that_are_kept(written, tmp_path):
    path = tmp_path / "rows/cells.parquet"
    assert gather_rows(path, ["a", "b", "c"], {name: written(name, 2) for name in "abc"}, LOO_ROWS) == 6
    # b anew, a longer and first; c as it was; d is new
    files = {"b": written("b", 3, first=10, parameters="q"), "d": written("d", 1, first=20)}
    assert gather_rows(path, ["b", "d", "c"], files, LOO_ROWS) == 6
    assert read_rows([path])["errors"].tolist() == [10, 11, 12, 20, 0, 1]
    assert list(cell_records(path)) == ["b", "d", "c"]
    assert cell_records(path)["b"] == CellRecord("b", "q", "1+a", 3)
    for name, errors in (("b", [10, 11, 12]), ("d", [20]), ("c", [0, 1])):
        assert read_cell(path, name)["errors"].tolist() == errors
        assert set(read_cell(path, name)["method"]) == {name}


def test_a_cell_that_neither_a_file_nor_the_kept_rows_have_is_an_error(written, tmp_path):
    path = tmp_path / "rows/cells.parquet"
    gather_rows(path, ["a"], {"a": written("a", 1)}, LOO_ROWS)
    before = path.read_bytes()
    with pytest.raises(KeyError, match="b"):
        gather_rows(path, ["a", "b"], {}, LOO_ROWS)
    assert path.read_bytes() == before


def test_cells_whose_rows_are_of_other_parameters_or_code_are_computed(written, tmp_path):
    path, kept = tmp_path / "rows/cells.parquet", CellRecord("a", "p", "1+a")
    assert cells_to_compute(path, [kept], any_code=True) == ["a"]
    gather_rows(path, ["a", "b"], {"a": written("a", 1), "b": written("b", 1)}, LOO_ROWS)
    other_code, other_parameters = replace(kept, library="1+b"), replace(kept, parameters="q")
    for wanted, any_code, computed in [
        (kept, False, []),
        (kept, True, []),
        (other_code, False, ["a"]),
        (other_code, True, []),
        (other_parameters, False, ["a"]),
        (other_parameters, True, ["a"]),
        (replace(kept, cell="c"), True, ["c"]),
    ]:
        assert cells_to_compute(path, [wanted, CellRecord("b", "p", "1+a")], any_code) == computed


def test_a_job_of_several_cells_takes_those_that_are_kept(written, tmp_path):
    path, output = tmp_path / "rows/cells.parquet", tmp_path / "b.parquet"
    gather_rows(path, ["a", "b"], {"a": written("a", 2), "b": written("b", 3, library="0.1+other")}, LOO_ROWS)
    code = code_of("lib.rows")
    cell = {
        **{"cell": "b", "paper": "franc2008", "run": "cells.nothing", "schema": "LOO_ROWS", "dataset": None},
        **{
            "identity": {},
            "arguments": {},
            "settings": {"timing": "shared"},
            "parameters": "p",
            "code": code,
        },
    }
    log = logging.getLogger("test")
    run_cell({**cell, "stored": (path, True)}, {}, output, log)
    assert cell_records(output) == {"b": CellRecord("b", "p", "0.1+other", 3)}
    assert read_rows([output])["errors"].tolist() == [0, 1, 2]
    # else it is computed, by a function that there is not
    for changed in ({"stored": (path, False)}, {"stored": (path, True), "parameters": "q"}, {"stored": None}):
        with pytest.raises(AttributeError, match="nothing"):
            run_cell({**cell, **changed}, {}, output, log)


def runs(done):
    """The numbers of jobs that run cells, in a dry run."""
    assert done.returncode == 0, done.stderr
    return {rule: jobs for rule, jobs in planned(done.stdout).items() if "_run_" in rule}


ALL = {"franc2008_run_loo": 2, "franc2008_run_stopping": 1, "franc2008_run_test": 2}


@pytest.mark.slow
def test_cells_are_planned_whose_rows_are_not_kept(computed, franc, change_rows):
    """All files of cells are deleted: the rows are what there is."""

    def dry(config):
        return runs(computed.snakemake("--dry-run", "--quiet", "rules", "--", "franc2008", config=config))

    def changed(**settings):
        config = deepcopy(franc)
        config["franc2008"].update(settings)
        return config

    rows = computed.folder / "results/kept/franc2008/rows"
    assert not list(rows.parent.glob("cells/**/*.parquet")) and len(list(rows.iterdir())) == 3
    assert dry(franc) == {}

    # the tests are of the models that all cells together select
    longer = {"C": [1], "gamma": [0.5, 0.25]}
    assert dry(changed(rbf=longer)) == {
        "franc2008_run_loo": 1,
        "franc2008_run_stopping": 1,
        "franc2008_run_test": 2,
    }
    target = str((rows / "cells.parquet").relative_to(computed.folder))
    run = ("--cores", "2", "--quiet", "rules", "progress", "--", target)
    done = computed.snakemake(*run, config=changed(rbf=longer))
    assert done.returncode == 0, done.stderr
    assert set(cell_records(rows / "cells.parquet")) == {
        f"titanic-table/realisation-1/{cell}" for cell in ("linear", "rbf-gamma0.5", "rbf-gamma0.25")
    }
    assert dry(franc) == {}

    # there is a file of the new cell: without Snakemake's records it says itself that it is of another eps
    (new,) = rows.parent.glob("cells/**/*.parquet")
    assert new.stem == "rbf-gamma0.25"
    shutil.rmtree(computed.folder / ".snakemake")
    assert dry(changed(rbf=longer, eps=0.002)) == {**ALL, "franc2008_run_loo": 3}

    for path in rows.iterdir():
        made = {name: replace(own, library="0.1+other") for name, own in cell_records(path).items()}
        change_rows(path, made)
    assert dry(franc) == ALL
    assert dry({**franc, "rows_of_other_code": "keep"}) == {}


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "a bit of a page"])
def test_damaged_rows_are_set_aside_and_computed_again(computed, franc, damage):
    """A cut file once stopped this run and every later one, and was not named."""
    path = "results/kept/franc2008/rows/cells.parquet"
    file = computed.folder / path
    before, good = read_rows([file]), file.read_bytes()
    spoiled = good[:100] if damage == "cut" else good[:60] + bytes([good[60] ^ 4]) + good[61:]
    file.write_bytes(spoiled)
    run = ("--cores", "2", "--quiet", "rules", "progress", "--", path)
    done = computed.snakemake(*run, config=franc)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"{path} is damaged (") == 1
    assert file.with_name("cells.parquet.damaged").read_bytes() == spoiled
    results = ["method", "C", "gamma", "errors", "objective", "error_pattern"]
    assert read_rows([file])[results].equals(before[results])
    again = computed.snakemake(*run, config=franc)
    assert again.returncode == 0 and "is damaged" not in again.stderr


@pytest.mark.slow
def test_damaged_data_and_cells_are_set_aside_and_made_again(computed, franc):
    """The run that meets them ends with a sentence that names the file; the same command again goes on."""
    franc["franc2008"]["rbf"]["gamma"] = [0.25]
    path = "results/kept/franc2008/rows/cells.parquet"
    run = ("--cores", "1", "--quiet", "rules", "progress", "--", path)
    data = computed.folder / "resources/data/titanic-table.npz"
    data.write_bytes(data.read_bytes()[:-100])
    done = computed.snakemake(*run, config=franc)
    assert done.returncode == 1 and re.search(r"data/titanic-table\.npz is damaged \(.+\)", done.stderr)
    assert data.with_name("titanic-table.npz.damaged").exists() and not data.exists()
    done = computed.snakemake(*run, config=franc)
    assert done.returncode == 0, done.stderr

    # the file of a cell whose rows are gathered, too
    cell = computed.folder / "results/kept/franc2008/cells/titanic-table/realisation-1/rbf-gamma0.25.parquet"
    cell.write_bytes(cell.read_bytes()[:100])
    done = computed.snakemake(*run, config=franc)
    assert done.returncode == 1 and re.search(r"rbf-gamma0\.25\.parquet is damaged \(.+\)", done.stderr)
    assert computed.snakemake(*run, config=franc).returncode == 0


@pytest.mark.slow
def test_cells_of_several_data_sets_share_a_job(checkout, franc):
    """One job prepares both data sets, one computes all cells; then only what a longer grid adds is computed,
    and nothing when it is short again."""
    franc["minutes_per_job"] = 3000
    franc["franc2008"]["datasets"] = ["titanic-table", "iris-versicolor"]
    rows = checkout.folder / "results/kept/franc2008/rows/cells.parquet"
    longer = deepcopy(franc)
    longer["franc2008"]["rbf"]["gamma"] = [0.5, 0.25]

    def run(config, *options):
        target = str(rows.relative_to(checkout.folder))
        done = checkout.snakemake(*options, "--quiet", "rules", "--", target, config=config)
        assert done.returncode == 0, done.stderr
        return planned(done.stdout)

    jobs = {"prepare_data_together": 1, "franc2008_run_loo_1": 1, "gather_rows": 1, "total": 3}
    assert run(franc, "--dry-run") == jobs
    run(franc, "--cores", "1")
    found = read_rows([rows])
    for name, own in found.groupby("dataset"):
        data = Dataset.load(checkout.folder / f"resources/data/{name}.npz")
        assert set(own["data_sha256"]) == {data.sha256} and set(own["kernel"]) == {"linear", "rbf"}
        assert set(own["m"]) == {len(data.realisation(1)[1])}
    assert found["dataset"].nunique() == 2
    assert "total" not in run(franc, "--dry-run")

    run(longer, "--cores", "1")
    again = read_rows([rows])
    old = again[again["gamma"] != 0.25].reset_index(drop=True)
    assert old.equals(found) and set(again[again["gamma"] == 0.25]["dataset"]) == set(found["dataset"])
    run(franc, "--cores", "1")
    assert read_rows([rows]).equals(found)  # times are the same, too


WEN = {
    "datasets": [
        {
            **{"name": "iris-versicolor", "C": 1, "gamma": 0.5, "dtype": "float64"},
            "seedings": [{"k": 3, "methods": ["cold", "sir"]}],
            "cells": {
                "seeds": {"published": [3], "chosen": [3]},
                "libsvm": {"published": [3], "chosen": []},
                "cached": {"published": [], "chosen": [3]},
                "unlearn": {"published": [], "chosen": []},
            },
        }
    ],
    "choice": {"rows": 100, "folds": 3, "C": [1], "gamma": [0.1, 1]},
    "along_C": {"datasets": ["iris-versicolor"], "rows": 100, "k": 3, "C": [1, 10], "seedings": ["cold"]},
    "variants": {
        "k": 3,
        "datasets": [{"name": "iris-versicolor", "seedings": ["cold"], "stratified": 1, "unstratified": 0}],
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("minutes", [None, 3000])
def test_cells_beyond_the_paper_are_left_if_asked(checkout, change_rows, minutes):
    """They are not computed without rows, their rows stay whatever code made them, and a later run computes
    them."""
    published, chosen = (f"iris-versicolor/{of}/k-3" for of in ("published", "chosen"))
    rows = checkout.folder / "results/beyond/wen2017/rows"

    def made_by(target, **more):
        config = {"preset": "beyond", "papers": ["wen2017"], "minutes_per_job": minutes, "wen2017": WEN}
        done = checkout.snakemake("--cores", "2", "--quiet", "rules", "--", target, config={**config, **more})
        assert done.returncode == 0, done.stderr
        return {name: own.library for name, own in cell_records(rows / "seeds.parquet").items()}

    first = made_by("printed", cells_beyond="leave")
    assert list(first) == [published]
    assert {path.stem for path in rows.iterdir()} == {"choice", "libsvm", "seeds"}

    everything = "results/beyond/wen2017/rows/seeds.parquet"
    assert made_by(everything) == {published: first[published], chosen: first[published]}

    shutil.rmtree(rows.parent / "seeds")
    there = cell_records(rows / "seeds.parquet").items()
    change_rows(rows / "seeds.parquet", {name: replace(own, library="1+old") for name, own in there})
    assert made_by("printed", cells_beyond="leave") == {published: first[published], chosen: "1+old"}
    assert made_by(everything) == {published: first[published], chosen: first[published]}


def test_jobs_of_cells():
    cells = {
        "a": ("x", 10),
        "b": ("big", 10),
        "c": ("y", 15),
        "d": ("big", 10),
        "e": (None, 10),
        "f": ("x", 50),
    }
    run = Run("cells.run", "LOO_ROWS", {name: Cell(of, minutes=most) for name, (of, most) in cells.items()})
    assert run.jobs(None, {"big"}) == [[name] for name in cells]
    assert run.jobs(30, {"big"}) == [["a", "c"], ["b", "d"], ["e"], ["f"]]
    assert run.jobs(1000, {"big"}) == [["a", "c", "e", "f"], ["b", "d"]]
    assert run.jobs(1000) == [[*cells]]
    beyond = Run("cells.run", "LOO_ROWS", {**run.cells, "c": Cell("y", beyond=True)})
    assert beyond.jobs(1000) == [["a", "b", "d", "e", "f"], ["c"]]
    assert run.datasets(cells) == ["x", "big", "y"]
