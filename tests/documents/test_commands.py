"""Every documented command of svmselect, and every option of ``--help``, on every documented kind of file."""

import argparse
import bz2
import gzip
import json
import lzma
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from documents.fences import SHELL, blocks, commands, inline
from estimators.problems import blobs
from sklearn.datasets import dump_svmlight_file
from slow import slow

from svmselect.cli import COMMANDS, main
from svmselect.cli.arguments import parser

X, y = blobs(7, m=48, k=2)
CSV_ROWS = [",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y, strict=True)]
HEADER = "age,height,weight,target"
PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
PLAIN = ("header.csv", "rows.csv", "rows.libsvm")
FOR_CSV_ALONE = {
    "--label",
    "--ignore",
    "--delimiter",
    "--header",
    "--drop-missing",
    "--categorical",
    "--impute",
    "--groups",
}
# what a result says of the file itself, beside what it says of the rows
OF_THE_FILE = {"file", "label", "seconds"}


def parts(part, name=()):
    """The parser of each command, by the words that call it."""
    inner = [action for action in part._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        return {name: part}
    return {
        words: actual
        for word, choice in inner[0].choices.items()
        for words, actual in parts(choice, (*name, word)).items()
    }


PARTS = parts(parser(COMMANDS))
# those that train on a file, to which the words that each needs are added
OF_FILES = [name[0] for name in PARTS if name[0] != "predict"]
NEEDED = {"train": ("--save", "model.skops")}
PACKINGS = [
    suffix
    for suffix in PACKED
    if any(re.search(rf"{re.escape(suffix)}\b", PARTS[name,].format_help()) for name in OF_FILES)
]
KINDS = [*PLAIN, *(name + suffix for suffix in PACKINGS for name in PLAIN)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same rows as every documented kind of file."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "header.csv").write_text("\n".join([HEADER, *CSV_ROWS, ""]))
    (folder / "rows.csv").write_text("\n".join([*CSV_ROWS, ""]))
    dump_svmlight_file(X, y, str(folder / "rows.libsvm"), zero_based=False)
    for name in PLAIN:
        for suffix in PACKINGS:
            (folder / (name + suffix)).write_bytes(PACKED[suffix]((folder / name).read_bytes()))
    return {name: str(folder / name) for name in KINDS}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert (status, err) == (0, "")
        return out

    return call


def result(run, *words):
    """What a command says of the rows: a dict, without what it says of the file."""
    said = json.loads(run(*words, "--json"))
    return {key: value for key, value in said.items() if key not in OF_THE_FILE}


def nearly(one, other):
    """Whether two results are equal, numbers to round-off."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(nearly(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(nearly, one, other))
    return one == (pytest.approx(other, rel=1e-9) if isinstance(other, float) else other)


@cache
def documented():
    """Words of each documented command that takes any file, with FILE in the file's place."""
    calls = [shlex.split(line)[1:] for line in commands() if line.startswith("svmselect ")]
    return list(
        dict.fromkeys(
            tuple("FILE" if re.fullmatch(r"\w+\.(csv|libsvm|parquet)", word) else word for word in words)
            for words in calls
            if words[0] in OF_FILES and not (FOR_CSV_ALONE | {"one-class", "--intervals"}) & {*words}
        )
    )


def test_gzip_is_documented_and_so_is_every_command():
    assert ".gz" in PACKINGS
    assert {words[0] for words in documented()} == set(OF_FILES)
    assert all(words.count("FILE") == 1 for words in documented())


def takes_seconds(words):
    """Return whether a command searches or draws figures, which takes seconds for each kind of file."""
    return words[0] == "select" or not {"--report", "--plot"}.isdisjoint(words)


QUICK = [words for words in documented() if not takes_seconds(words)]


@pytest.mark.parametrize("words", [*QUICK, *slow(*filter(takes_seconds, documented()))], ids=" ".join)
def test_a_documented_command_says_the_same_of_every_kind_of_file(words, files, run):
    # four models instead of the 64 of the default grid
    grid = (
        () if words[0] != "select" or {"--C", "--kernel"} & {*words} else ("--C", "0.5,5", "--gamma", "0.1,1")
    )

    def call(kind):
        return [files[kind] if word == "FILE" else word for word in (*words, *grid) if word != "--json"]

    said = {kind: result(run, *call(kind)) for kind in KINDS}
    assert (said["header.csv"]["rows"], said["header.csv"]["features"]) == X.shape
    assert [kind for kind in KINDS if not nearly(said[kind], said["header.csv"])] == []
    for kind in KINDS:
        labels = "numbers from 0 to 1" if "regression" in words else "classes 0 (24), 1 (24)"
        expected = f"{files[kind]}: 48 rows, 3 features; {labels}; label: "
        assert run(*call(kind)).startswith(expected)


@pytest.mark.parametrize("labels", [np.array(["ill", "quite well"])[y], 2 * y - 1])
def test_labels_of_any_kind(labels, tmp_path, files, run):
    path = tmp_path / "data.csv"
    rows = [f"{row.rpartition(',')[0]},{label}" for row, label in zip(CSV_ROWS, labels, strict=True)]
    path.write_text("\n".join([HEADER, *rows]))
    said, numbered = (result(run, "loo", file) for file in (path, files["header.csv"]))
    assert said.pop("classes") == dict.fromkeys(map(str, np.unique(labels)), 24)
    assert {**said, "classes": numbered["classes"]} == numbered


# a value for each option whose default is no example of one
EXAMPLES = {
    "--label": "target",
    "--ignore": "height",
    "--delimiter": ",",
    "--C": "5",
    "--gamma": "0.1,1",
    "--folds": "2",
    "--seed": "1",
    "--scoring": "roc_auc",
    "--categorical": "height",
    "--set": "class_weight=balanced",
    "--save": "model.skops",
    "--report": "page.html",
    "--outer": "2",
    "--groups": "height",
    "--threshold": "balanced_accuracy",
}


def options(command):
    """Every option of a command, once with each of its choices or else with a value, as words."""
    for action in PARTS[command,]._actions:
        for flag in action.option_strings:
            if action.nargs == 0:
                yield (flag,)
            elif action.choices:
                yield from ((flag, choice) for choice in action.choices)
            else:
                yield (flag, EXAMPLES[flag] if action.default in (None, []) else str(action.default))


# this file has a header, and is of one format
WRONG = {
    "header.csv": {("--no-header",), ("--zero-based",)},
    "rows.libsvm": {("--header",), ("--no-header",)},
}
# these rows have negative values, and a sigmoid kernel has no exact leave-one-out
REFUSED = {("--kernel", "chi2"): OF_FILES, ("--kernel", "sigmoid"): ("loo", "span", "select")}


@pytest.mark.parametrize("kind", ["header.csv", *slow("rows.libsvm")])
@pytest.mark.parametrize("command", OF_FILES)
def test_every_option_of_the_help_works(command, kind, files, run):
    tried = [words for words in options(command) if words[0] not in ("-h", "--help")]
    tried = [words for words in tried if words not in WRONG[kind] and command not in REFUSED.get(words, ())]
    if kind == "rows.libsvm":
        tried = [words for words in tried if words[0] not in FOR_CSV_ALONE]
    assert len(tried) >= 12
    for words in tried:
        more = ("--C", "1") if command == "select" and words[0] != "--C" else ()
        if words == ("--intervals",):
            more += ("--task", "regression")
        if "one-class" in words:
            if command in ("cv", "span"):
                continue
            more = ("--task", "one-class", *(("--label", "target") if kind == "header.csv" else ()))
        assert run(command, files[kind], *words, *more, *NEEDED.get(command, ()))


@pytest.mark.parametrize("name", PARTS, ids=" ".join)
def test_help(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([*name, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: svmselect {' '.join(name)} ")


@pytest.mark.parametrize("line", inline("svmselect"))
def test_a_command_within_a_sentence_exists(line, capsys):
    with pytest.raises(SystemExit) as end:
        main([*shlex.split(line)[1:], "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: svmselect {line.split()[1]} ")


# of the rows without labels
CLASSES = {
    "patients": {"ill", "well"},
    "measurements": {"ill", "well"},
    "rows": {"-1", "1"},
    "data": {"0", "1"},
}
CITIES = np.array(["Oslo", "Rome", "New York, NY"])
# their rows, and whether they have labels
PARTS_OF_ROWS = {"": (slice(36), True), "more_": (slice(36, 44), True), "new_": (slice(44, 48), False)}


def mixed(folder):
    """Tables of numbers and words in which values are missing."""
    for part, (rows, labelled) in PARTS_OF_ROWS.items():
        lines = ["age,size,weight,city" + ",state" * labelled]
        for n in range(len(X))[rows]:
            cells = [*map(repr, X[n].tolist()), f'"{CITIES[n % 3]}"']
            cells[n % 4] = cells[n % 4] if n % 5 else ""
            lines.append(",".join(cells + [("ill", "well")[y[n]]] * labelled))
        (folder / f"{part}patients.csv").write_text("\n".join([*lines, ""]))


def numbers(folder):
    """The same rows as LIBSVM text."""
    for part, (rows, labelled) in PARTS_OF_ROWS.items():
        labels = 2 * y[rows] - 1 if labelled else np.zeros(len(y[rows]))
        dump_svmlight_file(X[rows], labels, str(folder / f"{part}rows.libsvm"), zero_based=False)


def plain(folder):
    """The same rows as tables of numbers."""
    for part, (rows, labelled) in PARTS_OF_ROWS.items():
        lines = [row if labelled else row.rpartition(",")[0] for row in CSV_ROWS[rows]]
        header = HEADER if labelled else HEADER.rpartition(",")[0]
        (folder / f"{part}data.csv").write_text("\n".join([header, *lines, ""]))


def grouped(folder):
    """Three rows of each patient."""
    rows = [f"p{n // 6}-{n % 2},{row}" for n, row in enumerate(CSV_ROWS)]
    (folder / "visits.csv").write_text("\n".join([f"patient,{HEADER}", *rows, ""]))


def columns(folder):
    """A Parquet file to train on, and a table without labels."""
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    frame[44:].to_csv(folder / "new_measurements.csv", index=False)
    frame.assign(state=np.array(["ill", "well"])[y])[:36].to_parquet(folder / "measurements.parquet")


def prices(folder):
    """Rows with a number to predict, and four without."""
    z = 10 * X[:, 0] + 3 * X[:, 1]
    for part, rows in {"": slice(36), "new_": slice(44, 48)}.items():
        frame = pd.DataFrame(X[rows, :2], columns=["rooms", "area"])
        (frame if part else frame.assign(price=z[rows])).to_csv(folder / f"{part}prices.csv", index=False)


def machines(folder):
    """Rows of one class without a label, and rows some of which are labelled as outliers."""
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    frame[:36].to_csv(folder / "machines.csv", index=False)
    frame[44:].to_csv(folder / "new_machines.csv", index=False)
    frame.assign(state=np.where(np.arange(48) % 6, "fine", "worn")).to_csv(
        folder / "inspected.csv", index=False
    )


@pytest.mark.slow
def test_the_commands_of_the_page_run_one_after_the_other(tmp_path, monkeypatch):
    """In a shell, from each kind of file to a saved model, a page, predictions and their error."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for write in (mixed, numbers, plain, grouped, columns, prices, machines):
        write(tmp_path)
    lines = [
        line
        for block in blocks()
        if block.document == "docs/command_line.md" and block.language in SHELL
        for line in block.text.splitlines()
    ]
    said = {}
    for line in lines:
        done = subprocess.run(line, cwd=tmp_path, shell=True, capture_output=True, text=True, check=False)
        assert line.startswith("svmselect ") and done.returncode == 0, done.stderr
        said[line], words = done.stdout.splitlines(), shlex.split(line)
        if "--output" in words:
            said[line] = (tmp_path / words[words.index("--output") + 1]).read_text().splitlines()[1:]
        if "--report" in words:
            page = (tmp_path / words[words.index("--report") + 1]).read_text()
            assert page.startswith("<!doctype html>")
    predicted = {line: out for line, out in said.items() if line.startswith("svmselect predict ")}
    assert {re.search(r"\w+\.(csv|libsvm)", line)[0] for line in predicted} >= {
        "more_patients.csv",
        "new_patients.csv",
        "more_rows.libsvm",
        "new_rows.libsvm",
        "new_prices.csv",
        "new_machines.csv",
    }
    for line, out in predicted.items():
        if "prices" in line:
            assert len(out) == 4 and all(np.isfinite(float(row.split(",")[0])) for row in out)
        elif "machines" in line:
            assert len(out) == 5 and re.fullmatch(r"[0-4] of 4 rejected", out[-1])
        elif "more_" in line:
            assert len(out) == 9 and re.fullmatch(r"error .* % \([0-8] of 8 rows\)", out[-1])
        else:
            (classes,) = [classes for name, classes in CLASSES.items() if f"new_{name}" in line]
            assert len(out) == 4 and {row.split(",")[0] for row in out} <= classes
    regressions = [line for line in said if "--task regression" in line]
    assert re.search(r"Best of \d+ models by leave-one-out mean absolute error", said[regressions[0]][1])
    selected = [line for line in said if line.startswith("svmselect select ") and "--task" not in line]
    assert all("Best of 64 models by" in said[line][1] for line in selected) and len(selected) >= 2
