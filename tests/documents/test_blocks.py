"""Every fenced block of the documents is run: programs in Python here, commands on every kind of file."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import warnings

import pytest
from checkouts import ROOT, Checkout
from documents.fences import SHELL, blocks, commands, programs

# Commands of the documents that no test runs as they stand, and why.
NOT_RUN = {
    "pip install .": "tests/packaging/test_distributions.py makes both distributions and installs the wheel",
    "snakemake --profile profiles/slurm ... --set-resources wen2017_seeds:mem_mb=40000": "the dots stand "
    "for the command above it",
}


def test_every_block_is_a_program_or_commands_or_text():
    result = blocks()
    assert len(result) > 20
    languages = {block.language for block in result if not block.language.startswith("{")}
    assert languages <= {"python", "text", *SHELL}


@pytest.mark.parametrize("document", programs())
def test_programs_run_without_a_warning(document, tmp_path, monkeypatch):
    """One after the other, as they are read; a text that follows a program is what it prints."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    expected = {
        (text.document, text.line - 3): text.text for text in blocks() if text.language == "text"
    }  # by the line that closes the program, before a blank one
    for block in programs()[document]:
        code = compile("\n" * (block.line - 1) + block.text, ROOT / document, "exec")
        printed = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("error")
            exec(code, names)
        assert bool(printed.getvalue().strip()) == ("print(" in block.text)
        end = block.line + block.text.count("\n")
        assert printed.getvalue() == expected.get((document, end), printed.getvalue())


def words_without_variables(line):
    """Words of a command from its program on, which variables of its environment may precede."""
    words = shlex.split(line)
    while re.match(r"[A-Z]+=", words[0]):
        words = words[1:]
    return words


def words_of(program):
    """Words of each command that calls the program, wherever it is installed, without its name."""
    calls = [words_without_variables(line) for line in commands() if line not in NOT_RUN]
    return list(dict.fromkeys(tuple(words[1:]) for words in calls if words[0].split("/")[-1] == program))


def test_every_command_is_run_or_has_a_reason():
    run = {"make", "snakemake", "svmselect", "export", "python"}
    assert set(NOT_RUN) <= set(commands())
    left = [line for line in commands() if line not in NOT_RUN]
    assert {words_without_variables(line)[0].split("/")[-1] for line in left} == run


@pytest.mark.slow
@pytest.mark.parametrize("words", words_of("make"), ids=" ".join)
def test_make_knows_what_to_do(words):
    """A dry run: what the targets do, continuous integration runs."""
    done = subprocess.run(
        ["make", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


# those that draw from the committed rows, and the others
DRAWN = [
    words
    for words in words_of("snakemake")
    if any(word.endswith(("profiles/paper", "config/paper.yaml")) for word in words)
    and "compute=true" not in words
]
# no object store is here
STORED = [words for words in words_of("snakemake") if "--default-storage-prefix" in words]
PLANNED = [words for words in words_of("snakemake") if words not in [*DRAWN, *STORED]]


@pytest.mark.slow
@pytest.mark.parametrize("words", DRAWN, ids=" ".join)
def test_snakemake_draws_from_the_committed_rows(words, tmp_path):
    """A dry run in a checkout that has the rows and their origin alone: no cell, no data set is asked for."""
    for path in [*ROOT.glob("results/paper/*/rows"), ROOT / "results/paper/provenance.json"]:
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path.relative_to(ROOT)).symlink_to(path)
    here = [word.replace("/path/to/svmselect", str(tmp_path)) for word in words]
    done = Checkout(tmp_path).snakemake("--dry-run", *here)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "_make_exhibits" in done.stdout
    assert not re.search(r"/cells/|^rule (?:download|prepare)_data", done.stdout, flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("words", PLANNED, ids=" ".join)
def test_snakemake_plans_what_is_asked_for(words, tmp_path):
    """A dry run on one small data set, with a folder for every variable that the documents export."""
    exports = {word.split("=")[0]: str(tmp_path) for (word,) in words_of("export")}
    (tmp_path / "checkout").mkdir()
    # a dry run asks for the version of Apptainer, and for nothing else of it
    stand_in = tmp_path / "bin" / "singularity"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\necho apptainer version 1.3.0\n")
    stand_in.chmod(0o755)
    exports["PATH"] = f"{stand_in.parent}:{os.environ['PATH']}"
    done = Checkout(tmp_path / "checkout").snakemake("--dry-run", *on_small_data(words), **exports)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "franc2008_loo" in done.stdout


def on_small_data(words):
    """The words of a command with the configuration of one small data set laid over those that it names."""
    small = str(ROOT / "tests/small.yaml")
    if "--configfile" not in words:
        return (*words, "--configfile", small)
    after = words.index("--configfile") + 2
    return (*words[:after], small, *words[after:])


ON_DATA = [words for words in words_of("python") if words[0] == "workflow/datasets.py"]


@pytest.mark.slow
@pytest.mark.parametrize("words", ON_DATA, ids=" ".join)
def test_data_sets_are_listed_written_and_added(words, tmp_path):
    (tmp_path / "patients.csv").write_text("age,size,state\n1,2,ill\n3,5,well\n4,4,ill\n2,3,well\n5,1,ill\n")
    command = [sys.executable, ROOT / words[0], *words[1:]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    shown = {"list": "titanic-table", "fetch": "2201", "add": "patients:"}
    assert shown[words[1]] in done.stdout


@pytest.mark.slow
def test_a_cell_is_found_and_runs_without_snakemake(tmp_path):
    """On a part of the demo that has the cell."""
    checkout, franc = Checkout(tmp_path), "franc2008={datasets: [titanic-table], realisations: 1}"
    rows = "results/demo/franc2008/rows/cells.parquet"
    done = checkout.snakemake("--cores", "2", "--config", "papers=[franc2008]", franc, "--", rows)
    assert done.returncode == 0, done.stderr
    environment = {**os.environ, "PYTHONPATH": "workflow"}
    options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True, "check": False}
    find, compute = (
        subprocess.run([sys.executable, *words], **options)
        for words in words_of("python")
        if words not in ON_DATA
    )
    assert find.returncode == compute.returncode == 0, find.stderr + compute.stderr
    assert "'titanic-table/realisation-1/linear'" in find.stdout
    shown = [line.split() for line in compute.stdout.splitlines()[1:]]
    assert {row[4] for row in shown} == {"unlearn", "standard", "proposed"}
    assert {row[-2] for row in shown} == {"ok"}
