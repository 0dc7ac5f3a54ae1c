"""The program `workflow/datasets.py`: what it lists, writes and refuses."""

import json
import subprocess
import sys

import pytest
from checkouts import ROOT
from datasets import main
from sklearn.datasets import load_svmlight_file

from svmselect.cli.read import read

ESCAPE = "n\x1b[31mX\x07\u202e"


@pytest.fixture
def run(capsys):
    """Return the exit status, output and errors of an action."""

    def call(*words):
        return main([*map(str, words)]), *capsys.readouterr()

    return call


def test_the_registry_is_listed(run, registry):
    status, out, _ = run("list", "--json")
    assert status == 0
    assert [entry["name"] for entry in json.loads(out)] == list(registry)
    assert "banana" in run("list")[1]


def test_data_sets_are_written_as_libsvm_text(run, tmp_path):
    words = ("fetch", "titanic-table", "--to", tmp_path, "--quiet")
    status, out, _ = run(*words)
    path = tmp_path / "titanic-table.libsvm"
    assert status == 0 and str(path) in out
    X, y = load_svmlight_file(path)
    assert X.shape == (2201, 3) and set(y) == {-1, 1}
    status, _, err = run(*words)
    assert status == 2 and "exists; --force writes it anew" in err
    assert run(*words, "--force")[0] == 0
    table = read(str(path))
    assert (table.X != X).nnz == 0 and (table.labels.astype(float) == y).all()


def test_an_unknown_name_is_one_sentence(run):
    status, out, err = run("fetch", "nowhere")
    assert (status, out) == (2, "") and err.count("\n") == 1
    assert "unknown data set 'nowhere'; the registry has: " in err


@pytest.mark.parametrize(
    "words", [("add", "strange.csv"), ("add", "strange.csv", "--title", ESCAPE), ("fetch", ESCAPE)], ids=repr
)
def test_no_terminal_obeys_the_text_of_a_file(run, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i},{'x' if i % 2 else ESCAPE}\n" for i in range(8))
    (tmp_path / "strange.csv").write_text(f"{ESCAPE},s\n{rows}", encoding="utf-8")
    _, out, err = run(*words)
    assert "Traceback" not in err and (out or err)
    assert all(c.isprintable() for c in (out + err).replace("\n", ""))


def test_the_program_is_called_by_its_path(tmp_path):
    command = f"{sys.executable} {ROOT}/workflow/datasets.py list --json | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[\n" and done.stderr == ""
