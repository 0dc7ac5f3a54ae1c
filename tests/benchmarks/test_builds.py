"""Two builds of the library in turn, of which one may be older than what the benchmarks ask a library for."""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import svmselect

pytestmark = pytest.mark.slow


def test_an_old_build_is_measured_beside_a_new_one(benchmarks, tmp_path):
    for name in ("before", "after"):
        shutil.copytree(Path(svmselect.__file__).parent, tmp_path / name / "svmselect")
    (tmp_path / "before/svmselect/source_hash.txt").unlink()
    output = tmp_path / "builds.csv"
    command = [sys.executable, benchmarks / "builds.py", tmp_path / "before", tmp_path / "after"]
    command += [
        "--problems",
        "ringnorm-120",
        "--rounds",
        "1",
        "--tasks",
        "lazily",
        "computed",
        "--output",
        output,
    ]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    with open(output, newline="") as file:
        rows = list(csv.DictReader(file))
    tasks = {"fit, lazily", "fit, matrix computed", "2000 steps of SMO, float32 matrix computed"}
    assert {(row["kernel"], row["task"]) for row in rows} == {
        (k, t) for k in ("rbf", "linear") for t in tasks
    }
    for row in rows:
        before, after = float(row["before_cpu_s"]), float(row["after_cpu_s"])
        assert min(before, after) > 0 and float(row["ratio"]) == after / before
