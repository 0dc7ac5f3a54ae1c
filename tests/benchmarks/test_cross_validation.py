"""The benchmarks of seeds, grids and leave-one-out, on tiny problems."""

import csv
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("program", "options", "rows"),
    [
        ("seeds.py", ["--problems", "ringnorm-120", "--folds", "5", "--repeats", "1"], 6),
        ("grid.py", ["--problem", "ringnorm-60", "--grids", "64", "--threads", "1", "--repeats", "1"], 2),
    ],
)
def test_all_agree_on_the_errors(benchmarks, tmp_path, program, options, rows):
    output = tmp_path / "results.csv"
    command = [sys.executable, benchmarks / program, *options, "--output", output]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    with output.open(newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == rows
    assert len({row["errors" if program == "seeds.py" else "error"] for row in table}) == 1
    assert all(float(row["cpu_s"]) > 0 for row in table)
    if program == "seeds.py":
        assert "| ringnorm-120 | 120 |" in output.with_suffix(".md").read_text()


def test_folds_by_unlearning_against_libsvm(benchmarks, tmp_path):
    output = tmp_path / "results.csv"
    command = [sys.executable, benchmarks / "folds.py", "--problems", "ringnorm-120", "--C", "1"]
    command += ["--folds", "6", "120", "--repeats", "1", "--output", output]  # no class has 120 rows
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    with output.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["folds"], row["libsvm_folds_run"], row["folds_trained"]) == ("6", "6", "0")
    assert int(row["points_compared"]) >= 115 and row["points_different"] == "0"
    assert all(float(row[f"{name}_cpu_s"]) > 0 for name in ("cold", "top", "unlearn", "libsvm"))
    assert "| geometric mean | | | 6 |" in output.with_suffix(".md").read_text()


SVM_TRAIN = """#!/bin/sh
echo "$@" >> "$0.calls"
echo 'Cross Validation Accuracy = 90%'
"""


@pytest.mark.parametrize("installed", [True, False])
def test_single_models_against_jobs_of_scikit_learn_and_svm_train(benchmarks, tmp_path, installed):
    """A stand-in for svm-train says what it was asked for: not every machine has it."""
    program, output = tmp_path / "svm-train", tmp_path / "results.csv"
    if installed:
        program.write_text(SVM_TRAIN)
        program.chmod(0o755)
    command = [sys.executable, benchmarks / "cross_validation.py", "--problems", "ringnorm-60", "--C", "1"]
    command += ["--widths", "1", "8", "--folds", "5", "--repeats", "1", "--output", output]
    environment = {**os.environ, "PATH": f"{tmp_path}:/bin"} if installed else {**os.environ, "PATH": ""}
    for _ in range(2):  # the second one finds everything measured
        finished = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert finished.returncode == 0, finished.stderr
        assert ("svm-train is not installed" in finished.stdout) != installed
    assert "problem ringnorm-60" not in finished.stdout
    with output.open(newline="") as file:
        table = list(csv.DictReader(file))
    ours = {(peer, threads) for peer in ("svmselect", "scikit-learn") for threads in ("1", "2")}
    rest = {("LIBSVM -v", "1")} if installed else set()
    assert {(row["peer"], row["threads"]) for row in table} == ours | rest
    for width in ("1", "8"):
        errors = {row["errors"] for row in table if row["gamma_d"] == width and row["peer"] != "LIBSVM -v"}
        assert len(errors) == 1
    assert all(float(row["wall_s"]) > 0 and (row["cpu_s"] != "") == (row["threads"] == "1") for row in table)
    report = output.with_suffix(".md").read_text()
    assert "| ringnorm-60 | 60 | 1 | 8 |" in report and "| least |" in report
    if installed:
        assert {row["errors"] for row in table if row["peer"] == "LIBSVM -v"} == {"6"}
        requested = (tmp_path / "svm-train.calls").read_text()
        assert f"-t 2 -c 1.0 -g {1 / 20!r} -e 0.001 -m 2048 -v 5 " in requested


def test_leave_one_out_against_scikit_learn(benchmarks, tmp_path):
    output = tmp_path / "results.csv"
    command = [sys.executable, benchmarks / "loo_grid.py", "--problems", "ringnorm-40", "--models", "2"]
    finished = subprocess.run([*command, "--output", output], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    with output.open(newline="") as file:
        ten_fold, leave_one_out = csv.DictReader(file)
    assert (ten_fold["method"], leave_one_out["method"]) == ("10-fold", "leave-one-out")
    assert (ten_fold["extrapolated"], leave_one_out["extrapolated"]) == ("no", "yes")
    assert (ten_fold["points_compared"], leave_one_out["points_compared"]) == ("2560", "80")
    assert (ten_fold["points_different"], ten_fold["sklearn_models"]) == ("0", "64")
    assert leave_one_out["settled_for_svmselect"] == leave_one_out["points_different"]
    assert float(leave_one_out["speedup"]) > 1
    assert r" s\* |" in output.with_suffix(".md").read_text()
