"""When a run began and ended, also one that was lost on its way, and what its files say of it."""

import json
from datetime import datetime, timedelta

import pytest
from checkouts import Checkout
from lib.rows import cell_records, read_rows
from lib.run import planned, required_cells
from lib.runlog import BEGIN, COMPLETE, END, note, runs


def test_a_run_that_was_lost_began_when_it_was_first_started(tmp_path, monkeypatch):
    path = tmp_path / "results/run.log"
    assert runs(path) == []

    def line(at, what, **told):
        note(path, what, **told)
        *before, last = path.read_text().splitlines()
        path.write_text("\n".join([*before, json.dumps({**json.loads(last), "at": at})]) + "\n")

    line("1", BEGIN, commit="old", cells=9)
    line("2", END, how=COMPLETE)
    line("3", BEGIN, commit="new", cells=8)
    old = {"commit": "old", "cells": 9, "began": "1", "ended": "2", "calls": 1, "how": COMPLETE}
    new = {"commit": "new", "cells": 8, "began": "3"}
    assert runs(path) == [old, {**new, "ended": None, "calls": 1}]
    # the machine is lost here
    line("4", BEGIN, commit="new", cells=5)
    line("5", END, how="not all could be made")
    line("6", BEGIN, commit="new", cells=1)
    line("7", END, how=COMPLETE)
    whole = {**new, "ended": "7", "calls": 3, "how": COMPLETE}
    assert runs(path) == [old, whole]
    # what is asked for when all was made is a run of its own
    line("8", BEGIN, commit="new", cells=3)
    beyond = {"commit": "new", "cells": 3, "began": "8", "ended": None, "calls": 1}
    assert runs(path) == [old, whole, beyond]


@pytest.mark.slow
def test_a_run_notes_its_begin_and_its_end(checkout):
    own = {"datasets": ["titanic-table"], "methods": ["unlearn"], "realisations": 1, "test_realisations": 1}
    own |= {"linear": {"C": [1]}, "rbf": {"C": [1], "gamma": [1]}}
    own["figure1"] = {"datasets": ["titanic-table"], "log10_eps": [0]}
    config = {"preset": "noted", "papers": ["franc2008"], "minutes_per_job": 60, "franc2008": own}
    log = checkout.folder / "results/noted/run.log"
    target = "results/noted/franc2008/rows/test.parquet"
    for called in ("computes", "has nothing to compute"):
        done = checkout.snakemake("--cores", "1", "--", target, config=config)
        assert done.returncode == 0, done.stderr
        begin, end = map(json.loads, log.read_text().splitlines())
        assert (begin["what"], begin["cells"], begin["cores"], end["what"]) == (BEGIN, 4, 1, END), called


def test_committed_rows_are_those_of_the_configuration(root):
    papers, registry, config = planned(root / "config/paper.yaml")
    assert config["baselines"] == "sampled"
    for paper in papers.values():
        for stage in paper.plan.stages:
            asked = {own.cell: own.parameters for own in required_cells(paper, stage, registry)}
            made = cell_records(root / paper.gathered(stage, "results/paper"))
            assert list(made) == list(asked)
            assert {cell: own.parameters for cell, own in made.items()} == asked


def test_committed_rows_are_of_one_library_commit_and_processor_but_for_later_variants(root):
    papers, _, _ = planned(root / "config/paper.yaml")
    results = root / "results/paper"
    provenance, later = json.loads((results / "provenance.json").read_text()), set()
    for file in sorted(results.glob("*/rows/*.parquet")):
        rows, paper = read_rows([file]), file.parts[-3]
        # each estimator that is compared is code of its own
        made_by = rows.groupby("method" if paper == "comparison" else "paper")["library"]
        assert (made_by.nunique() == 1).all(), file
        versions, digests = zip(
            *(library.split("+") for library in sorted(set(rows["library"]))), strict=True
        )
        assert set(versions) == {provenance["library"].partition("+")[0]}, file
        assert list(digests) == provenance["code"][f"{paper}/{file.stem}"], file
        origins = set(zip(rows["commit"], rows["cpu"], strict=True))
        assert len(origins) == 1, file
        if origins != {(provenance["commit"], provenance["cpu"])}:
            # what a paper prints and claims is of one run; a variant may be declared after it
            assert file.stem in papers[paper].causes, file
            later |= origins
    named = {(run["commit"], run["cpu"]) for run in provenance["runs"]}
    assert named == {(provenance["commit"], provenance["cpu"])} | later
    # make paper was called first, and make beyond after it
    printed = provenance["runs"][0]
    began, ended = (datetime.fromisoformat(printed[key]) for key in ("began", "ended"))
    assert printed["how"] == COMPLETE and ended - began <= timedelta(hours=2.5)


@pytest.mark.parametrize("paper", ["bakir2004", "franc2008", "sarafis2018", "wen2017"])
def test_cells_that_samples_leave_out_are_baselines(root, tmp_path, paper):
    path = tmp_path / "full.yaml"
    path.write_text("baselines: full")
    full, sampled = (planned(root / "config/paper.yaml", *more)[0][paper].plan for more in ([path], []))
    left_out = {
        f"{stage}/{name}"
        for stage in full.stages
        for name in full.runs_by_cell(stage)
        if name not in sampled.runs_by_cell(stage)
    }
    expected = {
        "franc2008": {name for name in left_out if name.startswith("stopping/")},
        "wen2017": {name for name in left_out if name.startswith("libsvm/")},
    }
    assert left_out == expected.get(paper, set()) and bool(left_out) == (paper in expected)


def test_within_8_gb_no_cell_takes_more(root):
    papers, _, _ = planned(root / "config/paper.yaml")
    small, _, config = planned(root / "config/paper.yaml", root / "config/paper-8gb.yaml")
    head = (root / "config/paper-8gb.yaml").read_text().partition("preset:")[0]

    def cells(plans):
        return {
            f"{name}/{stage}/{cell}": run.cells[cell]
            for name, paper in plans.items()
            for stage in paper.plan.stages
            for cell, run in paper.plan.runs_by_cell(stage).items()
        }

    all_cells, fitting = cells(papers), cells(small)
    assert max(cell.mem_mb for cell in all_cells.values()) <= 17_000
    assert max(cell.mem_mb for cell in fitting.values()) <= 8_000
    # the head of the file says what is not there
    missing = {cell.dataset for name, cell in all_cells.items() if name not in fitting}
    assert missing == {"mnist", "webdata"} and all(name in head for name in missing)
    assert config["preset"] == "paper-8gb"


@pytest.mark.slow
def test_files_and_provenance_of_a_run_are_of_one_library_commit_and_processor(tmp_path):
    """A small run as `make paper` does it, in a clone, which has a commit."""
    checkout = Checkout(tmp_path, linked=False)
    own = {
        "datasets": ["titanic-table"],
        "methods": ["unlearn", "standard"],
        "realisations": 1,
        "test_realisations": 1,
    }
    own |= {"linear": {"C": [1]}, "rbf": {"C": [1], "gamma": [1]}}
    own["figure1"] = {"datasets": ["titanic-table"], "log10_eps": [0]}
    config = {
        "preset": "one",
        "baselines": "sampled",
        "papers": ["franc2008"],
        "minutes_per_job": 60,
        "franc2008": own,
    }
    for targets in (["printed"], ["results/one/provenance.json"]):
        done = checkout.snakemake("--cores", "1", "--resources", "mem_mb=2000", "--", *targets, config=config)
        assert done.returncode == 0, done.stderr
    results = checkout.folder / "results/one"
    provenance = json.loads((results / "provenance.json").read_text())
    files = sorted(results.glob("*/rows/*.parquet"))
    assert [file.stem for file in files] == ["cells", "stopping", "test"]
    for file in files:
        rows = read_rows([file])
        assert set(rows["commit"]) == {provenance["commit"]} == {checkout.commit}
        assert set(rows["cpu"]) == {provenance["cpu"]}
        (library,) = set(rows["library"])
        version, _, code = library.rpartition("+")
        assert version == provenance["library"]
        assert [code] == provenance["code"][f"franc2008/{file.stem}"]
        assert {own.library for own in cell_records(file).values()} == {library}
    (run,) = provenance["runs"]
    assert (run["commit"], run["cells"], run["memory_mb"], run["how"]) == (
        provenance["commit"],
        5,
        2000,
        COMPLETE,
    )
    assert run["began"] <= run["ended"] <= provenance["written"]
