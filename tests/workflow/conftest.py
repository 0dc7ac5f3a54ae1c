"""The workflow's modules, and a checkout in a temporary folder in which snakemake runs."""

import logging
import os
import shutil
from copy import deepcopy

import pytest
from checkouts import FRANC_ROWS, ROOT, SMALL, Checkout
from filelock import FileLock


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


FRANC = {
    "preset": "small",
    "papers": ["franc2008"],
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
def run_once(tmp_path_factory):
    """A function: run snakemake in a folder of this name, once for all workers, and return the folder."""

    def run(name, *targets, config):
        folder = tmp_path_factory.getbasetemp()
        if "PYTEST_XDIST_WORKER" in os.environ:
            folder = folder.parent
        folder /= name
        folder.mkdir(exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not (folder / "done").exists():
                assert not (folder / "Snakefile").exists(), "another worker could not compute it"
                checkout = Checkout(folder)
                done = checkout.snakemake("--cores", "2", "--quiet", "rules", "--", *targets, config=config)
                assert done.returncode == 0, done.stderr
                (folder / "done").touch()
        return folder

    return run


def copied(folder, checkout):
    """Copy results, data and Snakemake's records from the folder of a run; return the checkout."""
    for name in ("results", "resources", ".snakemake"):
        shutil.copytree(folder / name, checkout.folder / name)
    return checkout


@pytest.fixture
def computed(run_once, checkout):
    """A checkout with the rows of `FRANC`."""
    return copied(run_once("computed", *FRANC_ROWS, config=FRANC), checkout)


@pytest.fixture
def small_run(run_once, checkout):
    """A checkout with every result of tests/small.yaml, of all papers."""
    return copied(run_once("small", "all", "report", config=SMALL), checkout)


@pytest.fixture
def job_of(tmp_path):
    """A function: a job of a data set, with columns that name it."""
    from lib.checkpoint import Checkpoint
    from lib.job import Job

    def new_job(data=None, timing="shared", digest="inputs", **identity):
        identity = {"dataset": "d", "library": "x", **identity}
        checkpoint = Checkpoint(tmp_path / "checkpoint.jsonl", digest)
        return Job(identity, timing, logging.getLogger("test"), checkpoint, data)

    return new_job


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
    from lib.scorecard import figures
    from lib.tolerances import declared, read_printed, read_published

    papers = load_papers()

    def known(paper, tidy):
        path = root / f"workflow/papers/{paper}/printed.csv"
        extrapolated = declared(path)["extrapolated"]
        rules = papers[paper].claims["figures"]
        return figures(paper, read_printed(path), read_published(path), tidy, rules, extrapolated)

    return known
