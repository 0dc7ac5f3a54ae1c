"""The workflow's modules, and a checkout in a temporary folder in which snakemake runs."""

import fcntl
import json
import logging
import os
import shutil
from copy import deepcopy

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from checkouts import ROOT, Checkout


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


FRANC = {
    "preset": "kept",
    "papers": ["franc2008"],
    "minutes_per_job": None,
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["unlearn"],
        "realisations": 1,
        "test_realisations": 1,
        "linear": {"C": [0.1, 1]},
        "rbf": {"C": [1], "gamma": [0.5]},
        "figure1": {"datasets": ["titanic-table"], "log10_eps": [-3, 0]},
    },
}


@pytest.fixture
def franc():
    """A configuration of five cells in three stages."""
    return deepcopy(FRANC)


@pytest.fixture(scope="session")
def computed_once(tmp_path_factory):
    """A folder with the rows of this configuration, without the files of the cells: one for all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder /= "computed"
    folder.mkdir(exist_ok=True)
    rows = [f"results/kept/franc2008/rows/{stage}.parquet" for stage in ("cells", "stopping", "test")]
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            assert not (folder / "Snakefile").exists(), "another worker could not compute it"
            checkout = Checkout(folder)
            done = checkout.snakemake(
                "--cores", "2", "--quiet", "rules", "progress", "--", *rows, config=FRANC
            )
            assert done.returncode == 0, done.stderr
            for stage in ("cells", "stopping", "test"):
                shutil.rmtree(folder / "results/kept/franc2008" / stage)
            (folder / "done").touch()
    return folder


@pytest.fixture
def computed(computed_once, checkout):
    """A checkout with these rows, and what Snakemake knows of them."""
    for name in ("results", "resources", ".snakemake"):
        shutil.copytree(computed_once / name, checkout.folder / name)
    return checkout


@pytest.fixture
def change_rows():
    """A function: write a file of rows anew, with what it says of its cells (`lib.rows.cell_records`), and
    other rows."""
    from lib.rows import CELLS

    def change(path, made, rows=None, schema=None):
        table = (
            pq.read_table(path) if rows is None else pa.Table.from_pandas(rows, schema, preserve_index=False)
        )
        cells = json.dumps([[own.cell, own.parameters, own.library, own.rows] for own in made.values()])
        pq.write_table(table.replace_schema_metadata({CELLS: cells}), path)

    return change


@pytest.fixture
def job_of(tmp_path):
    """A function: a job of a data set, with columns that name it."""
    from lib.job import Job

    def of(data=None, timing="shared", **identity):
        identity = {"dataset": "d", "library": "x", **identity}
        return Job(identity, timing, logging.getLogger("test"), tmp_path / "checkpoint.jsonl", data)

    return of


@pytest.fixture
def cold(monkeypatch):
    """Jobs that do not warm up."""
    from lib.job import Job

    monkeypatch.setattr(Job, "warm_up", lambda job, *runs: None)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def scorecard_of(root):
    """A function: the scorecard of tidy rows of a paper; it raises where a figure has no counterpart."""
    from lib.papers import load_papers
    from lib.published import declared, read_printed, read_published
    from lib.scorecard import figures

    papers = load_papers()

    def of(paper, tidy):
        path = root / f"workflow/papers/{paper}/published.csv"
        extrapolated = declared(path)["extrapolated"]
        rules = papers[paper].claims["figures"]
        return figures(paper, read_printed(path), read_published(path), tidy, rules, extrapolated)

    return of
