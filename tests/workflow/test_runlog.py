"""When a run began and ended, also one that was lost on its way."""

import json

from lib.rows import made_cells
from lib.run import planned, wanted
from lib.runlog import BEGIN, END, last_run, note


def test_a_run_that_was_lost_began_when_it_was_first_started(tmp_path, monkeypatch):
    path = tmp_path / "results/run.log"
    assert last_run(path) is None

    def line(at, what, **told):
        note(path, what, **told)
        *before, last = path.read_text().splitlines()
        path.write_text("\n".join([*before, json.dumps({**json.loads(last), "at": at})]) + "\n")

    line("1", BEGIN, commit="old", cells=9)
    line("2", END, how="all was made")
    line("3", BEGIN, commit="new", cells=8)
    assert last_run(path) == {"commit": "new", "began": "3", "ended": None, "calls": 1, "cells": 8}
    # the machine is lost here
    line("4", BEGIN, commit="new", cells=5)
    line("5", END, how="all was made")
    assert last_run(path) == {"commit": "new", "began": "3", "ended": "5", "calls": 2, "cells": 5}


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


def test_the_next_run_takes_over_all_cells_that_are_the_same(root):
    """What it lays over that of the committed rows changes samples, and variants that are new."""
    papers, registry, _ = planned(root / "config/paper.yaml")
    next_papers, _, config = planned(root / "config/paper.yaml", root / "config/run.yaml")
    assert (config["baselines"], config["rows_of_other_code"]) == ("sampled", "compute")
    changed = {}
    for name, paper in papers.items():
        for stage in paper.plan.stages:
            new = {own.cell: own.parameters for own in wanted(next_papers[name], stage, registry)}
            old = {own.cell: own.parameters for own in wanted(paper, stage, registry)}
            assert list(new) == list(old) == list(made_cells(root / paper.gathered(stage, "results/paper")))
            changed[name, stage] = {cell for cell in new if new[cell] != old[cell]}
    assert changed["wen2017", "variants"] == {"webdata"}
    untouched = {key for key, cells in changed.items() if not cells}
    assert {("chapelle1999", "cells"), ("franc2008", "stopping"), ("comparison", "cells")} <= untouched
