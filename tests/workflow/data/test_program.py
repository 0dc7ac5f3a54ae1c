"""The program `workflow/datasets.py`: what it lists, writes and refuses."""

import json
import shlex
import subprocess
import sys

import pytest
from checkouts import ROOT
from datasets import main
from sklearn.datasets import load_svmlight_file

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
    status, out, _ = run("add", path, "--json")
    entry = json.loads(out)["titanic-table"]
    assert status == 0 and entry["rows"] == X.shape[0] and set(entry["labels"]) == {"-1", "1"}
    assert sum(entry["classes"].values()) == y.size


@pytest.mark.parametrize("word", ["", "?", "NA"])
def test_a_table_with_missing_values_becomes_an_entry(run, tmp_path, word):
    rows = "".join(f"{n / 7},{'ab'[n % 2]},{n % 3 % 2}\n" for n in range(60))
    (tmp_path / "rows.csv").write_text(f"x,kind,label\n{rows}{word},a,1\n")
    status, _, err = run("add", tmp_path / "rows.csv")
    assert status == 2 and "line 62" in err and "--drop-missing" in err and "--impute" not in err
    status, out, err = run("add", tmp_path / "rows.csv", "--drop-missing", "--json")
    assert status == 0, err
    entry = json.loads(out)["rows"]
    assert entry["rows"] == 60 and entry["features"] == 3
    assert entry["sources"][0]["options"]["missing"] == word


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
    program = shlex.join([sys.executable, f"{ROOT}/workflow/datasets.py", "list", "--json"])
    done = subprocess.run(
        f"{program} | head -n 1", shell=True, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[\n" and done.stderr == ""
