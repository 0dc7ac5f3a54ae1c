"""The workflow from another working directory, by another path, and as a module of another workflow."""

import csv
import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml
from checkouts import ROOT, Checkout, planned
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


def test_a_checkout_below_a_path_with_a_blank(tmp_path, monkeypatch):
    """Run a job in it: a shell gets the path of .venv, and an image's path may not have a blank."""
    folder = tmp_path / "a b/ü"
    folder.mkdir(parents=True)
    checkout = Checkout(folder)
    (folder / ".venv").symlink_to(sys.prefix)
    monkeypatch.setattr(sys, "executable", str(folder / ".venv/bin/python"))
    done = checkout.snakemake("--cores", "1", "--quiet", "rules", "--", "resources/data/wine-1.npz")
    assert done.returncode == 0, done.stderr
    assert (folder / "resources/data/wine-1.npz").exists()
    plan = planned(checkout.snakemake("--dry-run", "--quiet", "rules").stdout)
    assert plan["all"] == 1 and plan["prepare_data"] == 9
    assert checkout.snakemake("--dry-run", "--sdm", "apptainer").returncode == 1


def test_both_snakefiles_plan_the_same(snakemake, tmp_path):
    """What is said on the command line included."""
    said = (
        *("papers=[chapelle1999]", "preset=2026-11", "chapelle1999={C: {realisations: 1}}"),
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


def refused(folder, *arguments, **environment):
    """Return the sentence with which snakemake stops, called in a folder."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            "1",
            "--dry-run",
            "--quiet",
            "all",
            *map(str, arguments),
        ],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in output, output
    return output


def test_rows_that_are_elsewhere_are_looked_for_in_a_named_folder(tmp_path):
    output = refused(tmp_path, "-s", ROOT / "Snakefile", "--configfile", ROOT / "config/paper.yaml")
    assert f"{tmp_path / 'results/paper'} has no rows" in output
    assert f"folders={{results: {ROOT / 'results'}}}" in output and "MissingInput" not in output


@pytest.mark.parametrize("hash_of_sources", [None, "0" * 64])
def test_another_svmselect_on_the_path_is_named(tmp_path, hash_of_sources):
    package = tmp_path / "other/svmselect"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    if hash_of_sources:
        (package / "source_hash.txt").write_text(hash_of_sources)
    output = refused(tmp_path, "-s", ROOT / "Snakefile", PYTHONPATH=str(package.parent))
    assert f"svmselect in {package} " in output and f"unset PYTHONPATH ({package.parent})" in output


def test_verify_needs_cells(tmp_path):
    files = [ROOT / f"config/{name}.yaml" for name in ("verify", "paper")]
    # rows that are there, so that this is what is missing
    link = tmp_path / "results/paper"
    link.parent.mkdir()
    link.symlink_to(ROOT / "results/paper")
    output = refused(tmp_path, "-s", ROOT / "Snakefile", "verify", "--configfile", *files)
    assert "compute: false" in output and "config/verify.yaml" in output and "NameError" not in output


def test_a_snakefile_behind_an_address_is_refused(tmp_path):
    handler = partial(QuietHandler, directory=str(ROOT))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        output = refused(tmp_path, "-s", f"http://127.0.0.1:{server.server_port}/Snakefile")
        server.shutdown()
    assert "clone" in output and "ModuleNotFoundError" not in output


class QuietHandler(SimpleHTTPRequestHandler):
    """A handler that prints nothing."""

    def log_message(self, *arguments):
        pass
