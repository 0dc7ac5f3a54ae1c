"""Every fenced block of the documents is run: programs in Python here, commands on every kind of file."""

import contextlib
import io
import shlex
import subprocess
import warnings

import pytest
from checkouts import ROOT, Checkout
from documents.fences import SHELL, blocks, commands, programs

# Commands of the documents that no test runs as they stand, and why.
NOT_RUN = {
    "pip install .": "tests/packaging/test_distributions.py makes both distributions and installs the wheel",
    "snakemake --profile profiles/slurm ... --set-resources wen2017_run_seeds:mem_mb=40000 --resources "
    "mem_mb=40000": "the dots stand for the command above it",
}


def test_every_block_is_a_program_or_commands_or_text():
    found = blocks()
    assert len(found) > 20
    languages = {block.language for block in found if not block.language.startswith("{")}
    assert languages <= {"python", "text", *SHELL}


@pytest.mark.parametrize("document", programs())
def test_programs_run_without_a_warning(document, tmp_path, monkeypatch):
    """One after the other, as they are read; what they print is not empty."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in programs()[document]:
        code = compile("\n" * (block.line - 1) + block.text, ROOT / document, "exec")
        printed = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("error")
            exec(code, names)
        assert bool(printed.getvalue().strip()) == ("print(" in block.text)


def words_of(program):
    """Words of each command that calls the program, wherever it is installed, without its name."""
    calls = [shlex.split(line) for line in commands() if line not in NOT_RUN]
    return list(dict.fromkeys(tuple(words[1:]) for words in calls if words[0].split("/")[-1] == program))


def test_every_command_is_run_or_has_a_reason():
    run = {"make", "snakemake", "svmselect", "export"}
    assert set(NOT_RUN) <= set(commands())
    left = [line for line in commands() if line not in NOT_RUN]
    assert {shlex.split(line)[0].split("/")[-1] for line in left} == run


@pytest.mark.parametrize("words", words_of("make"), ids=" ".join)
def test_make_knows_what_to_do(words):
    """A dry run: what the targets do, continuous integration runs."""
    done = subprocess.run(
        ["make", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("words", words_of("snakemake"), ids=" ".join)
def test_snakemake_plans_what_is_asked_for(words, tmp_path):
    """A dry run on one small data set, with a folder for every variable that the documents export."""
    exports = {word.split("=")[0]: str(tmp_path) for (word,) in words_of("export")}
    small = str(ROOT / "tests/small.yaml")
    (tmp_path / "checkout").mkdir()
    # the option takes all words that follow it, the last one laid over the others
    words += (small,) if "--configfile" in words else ("--configfile", small)
    done = Checkout(tmp_path / "checkout").snakemake("--dry-run", *words, **exports)
    assert done.returncode == 0, done.stderr
    assert "franc2008_run_loo" in done.stdout
