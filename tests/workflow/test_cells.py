"""Cells: what a longer grid computes, what a change runs again, and each paper alone."""

import re
import shutil
from copy import deepcopy

import pytest
import yaml
from checkouts import FRANC_ROWS, SMALL, Checkout, planned
from lib.papers import load_papers
from lib.run import planned as planned_by
from slow import slow_cases


def cells(config, tmp_path):
    """The names of the cells of a configuration, by paper and stage."""
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    papers, _, _ = planned_by(path)
    return {
        f"{paper.key}/{run.name}/{name}"
        for paper in papers.values()
        for run in paper.plan.runs
        for name in run.cells
    }


@pytest.mark.parametrize(
    ("paper", "key", "longer", "new"),
    [
        ("franc2008", "rbf.gamma", [0.25], {"loo/titanic-table/realisation-1/rbf-gamma0.25",
         "stopping/titanic-table/realisation-1/rbf-gamma0.25"}),
        *slow_cases(
        ("franc2008", "linear.C", [7], set()),
        ("chapelle1999", "C.log_C", [3], set()),
        ("chapelle1999", "width.realisations", 1, {"models/width/iris-versicolor/realisation-3"}),
        ("sarafis2018", "class_weights.log2_C", [3], set()),
        ("bakir2004", "figure3.runs", 1, {"figure3/figure3/run-2"}),
        ("bakir2004", "growth.sizes", [77], set()),
        ("comparison", "rbf.C", [77], set()),
        ("wen2017", "along_C.C", [77], set()),
        ),
    ],
)  # fmt: skip
def test_a_longer_grid_names_new_cells_and_leaves_the_others(tmp_path, paper, key, longer, new):
    config = deepcopy(SMALL)
    section = config[paper]
    *parents, last = key.split(".")
    for parent in parents:
        section = section[parent]
    before = cells(config, tmp_path)
    section[last] = section[last] + longer
    after = cells(config, tmp_path)
    assert before <= after and after - before == {f"{paper}/{name}" for name in new}


@pytest.mark.slow
def test_a_longer_grid_computes_the_new_cells_only(computed, franc):
    copies = computed.folder / "results/small/franc2008/finished"
    before = {path: path.stat().st_mtime_ns for path in copies.rglob("*.parquet")}
    assert len(before) == 5
    franc["franc2008"]["rbf"]["gamma"].append(0.25)
    done = computed.snakemake(
        *("--cores", "2", "--quiet", "rules", "--", "results/small/franc2008/rows/cells.parquet"),
        config=franc,
    )
    assert done.returncode == 0, done.stderr
    after = {path: path.stat().st_mtime_ns for path in copies.rglob("*.parquet")}
    assert {path.name for path in after.keys() - before.keys()} == {"rbf-gamma0.25.parquet"}
    assert {path: after[path] for path in before} == before


@pytest.mark.slow
def test_what_runs_again_after_a_change(tmp_path, franc):
    """The table of docs/develop/rows.md, by dry runs."""
    checkout = Checkout(tmp_path, linked=False)
    done = checkout.snakemake("--cores", "2", "--quiet", "rules", "--", *FRANC_ROWS, config=franc)
    assert done.returncode == 0, done.stderr

    def again(*changes, config=franc):
        for path in changes:
            source = checkout.folder / "workflow" / path
            source.write_text(source.read_text() + "# changed\n")
        done = checkout.snakemake("--dry-run", "--quiet", "rules", "--", *FRANC_ROWS, config=config)
        assert done.returncode == 0, done.stderr
        return {name.removeprefix("franc2008_") for name in planned(done.stdout)} - {"total"}

    assert again() == set()
    assert again("papers/franc2008/exhibits/table3.py", "papers/wen2017/cells.py") == set()
    other = deepcopy(franc)
    other["franc2008"]["eps"] = 0.01
    assert again(config=other) == {"loo", "test", "gather_rows"}
    other["franc2008"] = {**franc["franc2008"], "linear": {"C": [0.1]}}
    assert again(config=other) == {"loo", "test", "gather_rows"}
    assert again("papers/franc2008/cells.py") == {"loo", "stopping", "test", "gather_rows"}


@pytest.mark.slow
def test_another_configuration_undoes_nothing(small_run):
    """It prepares one data set more, and shares the folder of data and a data set with the first one."""
    other = deepcopy({**SMALL, "preset": "other", "papers": ["chapelle1999"]})
    other["chapelle1999"]["C"]["dataset"] = "waveform-generated"
    targets = ("--", "all", "report")
    before = planned(small_run.snakemake("--dry-run", "--quiet", "rules", *targets, config=other).stdout)
    assert before["prepare_data"] == 1 and before["chapelle1999_models"] >= 1
    done = small_run.snakemake("--cores", "2", "--quiet", "rules", *targets, config=other)
    assert done.returncode == 0, done.stderr
    again = small_run.snakemake("--dry-run", *targets, config=SMALL)
    assert "Nothing to be done" in again.stdout + again.stderr
    # fewer papers of the same preset: what all papers share is another, and no data, cells or exhibits
    papers = {**SMALL, "papers": ["chapelle1999"]}
    jobs = planned(small_run.snakemake("--dry-run", "--quiet", "rules", *targets, config=papers).stdout)
    assert {*jobs} <= {"make_scorecard", "make_provenance", "make_report", "all", "report", "total"}


@pytest.mark.slow
@pytest.mark.parametrize("paper", [*load_papers(), "franc2008 wen2017"])
def test_each_paper_alone_is_reported(small_run, paper):
    """A paper alone has the cells and exhibits that it has among all papers; scorecard and report are new."""
    papers = paper.split()
    results = small_run.folder / "results" / SMALL["preset"]
    for path in results.iterdir():
        if path.name not in papers:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    config = {**SMALL, "papers": papers}
    done = small_run.snakemake("--cores", "2", "--quiet", "progress", "--", "all", "report", config=config)
    assert done.returncode == 0, done.stderr
    jobs = set(re.findall(r"^(?:local)?rule (\w+):$", done.stdout + done.stderr, flags=re.MULTILINE))
    assert {"make_scorecard", "make_report"} <= jobs
    assert not any(name.startswith((*papers, "prepare_data")) for name in jobs), jobs
    assert {path.name for path in results.iterdir() if path.is_dir()} == {*papers}
    assert (results / "report.html").stat().st_size > 0 and (results / "scorecard.csv").exists()
