"""The workflow from another working directory, by another path, and as a module of another workflow."""

import csv
import os
import subprocess
import sys

import pytest
import yaml
from checkouts import ROOT, planned
from lib.rows import OK, read_rows

pytestmark = pytest.mark.slow

CHAPELLE = {
    "tol": 1e-3,
    "width": {"dataset": "iris-versicolor", "realisations": 1, "C": 10, "log_sigma": [0, 1]},
    "C": {"dataset": "iris-versicolor", "realisations": 1, "gamma": 0.5, "log_C": [0, 2]},
}
EXHIBIT = "chapelle1999/figure3"
# another project's, with one rule of its own
OTHER = """
configfile: workflow.source_path("config of ours.yaml")

module svmselect:
    snakefile: {snakefile!r}
    config: config["svmselect"]

use rule * from svmselect as svm_*

rule ours:
    input:
        table=config["exhibit"] + ".csv",
        drawn=config["exhibit"] + ".svg",
    output: "ours/größtes.txt"
    shell: "wc -l < {{input.table:q}} > {{output:q}}; ls {{input.drawn:q}} >> {{output:q}}"
"""


@pytest.fixture
def snakemake(tmp_path):
    """A function: run snakemake from the folder above the checkout; what it says."""

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "2", *map(str, arguments)],
            cwd=ROOT.parent,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run


def test_an_exhibit_from_anywhere(snakemake, tmp_path):
    """In a folder with spaces and umlauts, with results on another disk: first by the path of the Snakefile,
    then as a module of another workflow, which goes on from there."""
    place, disk = tmp_path / "Läufe im März", tmp_path / "große Platte"
    place.mkdir()
    config = {
        "preset": "anywhere",
        "papers": ["chapelle1999"],
        "folders": {"results": str(disk / "results"), "logs": "our logs"},
        "chapelle1999": CHAPELLE,
    }
    (tmp_path / "svmselect.yaml").write_text(yaml.safe_dump(config))
    exhibit = disk / "results/anywhere" / EXHIBIT
    snakefile = f"{ROOT.name}/Snakefile"
    snakemake(
        *("-s", snakefile, "--directory", place, "--configfile", tmp_path / "svmselect.yaml"),
        *("--", f"{exhibit}.csv"),
    )
    with open(f"{exhibit}.csv") as file:
        lines = list(csv.DictReader(file))
    assert {line["dataset"] for line in lines} == {"iris-versicolor"}
    assert (read_rows([exhibit.parent / "rows/cells.parquet"])["status"] == OK).all()
    assert (place / "our logs/anywhere/chapelle1999/make_exhibits.log").stat().st_size > 0
    assert (place / "resources/data/iris-versicolor.npz").exists()
    assert sorted(path.name for path in place.iterdir()) == [".snakemake", "our logs", "resources"]

    (tmp_path / "other").mkdir()
    (tmp_path / "other/Snakefile").write_text(OTHER.format(snakefile=str(ROOT / "Snakefile")))
    config = {"exhibit": str(exhibit), "svmselect": config}
    (tmp_path / "other/config of ours.yaml").write_text(yaml.safe_dump(config))
    said = snakemake("-s", tmp_path / "other/Snakefile", "--directory", place, "--", "ours/größtes.txt")
    assert (place / "ours/größtes.txt").read_text() == f"{1 + len(lines)}\n{exhibit}.svg\n"
    assert planned(said) == {"ours": 1, "total": 1}


def test_both_snakefiles_plan_the_same(snakemake, tmp_path):
    """What is said on the command line included."""
    said = (
        *("papers=[chapelle1999]", "preset=2026", "chapelle1999={C: {realisations: 1}}"),
        *("timing=exclusive", "job=realisation"),
    )
    jobs = {
        path: planned(
            snakemake("-s", f"{ROOT.name}/{path}", "--directory", tmp_path, "--dry-run", "--config", *said)
        )
        for path in ("Snakefile", "workflow/Snakefile")
    }
    top, below = jobs.values()
    assert top.pop("all") == below.pop("everything") == 1 and top == below
    assert top["chapelle1999_models"] == 3 + 1 and "make_scorecard" in top
    assert not any(rule.startswith("franc2008") for rule in top)
    assert not list(tmp_path.glob("res*"))
