"""The benchmark of regressions beside other libraries, on a tiny problem."""

import csv
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def test_the_libraries_agree_on_fits_and_intervals(benchmarks, tmp_path):
    output = tmp_path / "results.csv"
    command = [
        sys.executable,
        benchmarks / "regression_peers.py",
        "--problems",
        "linnerud",
        "--output",
        output,
    ]
    for _ in range(2):  # the second time nothing is measured again
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
    assert finished.stdout == ""
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    peers = {task: {row["peer"] for row in rows if row["task"] == task} for task in ("fit", "intervals")}
    assert peers["fit"] >= {"svmselect", "scikit-learn"} and "svmselect" in peers["intervals"]
    assert len(rows) == sum(map(len, peers.values()))
    assert all(float(row["cpu_s"]) > 0 and float(row["difference"]) < 0.01 for row in rows)
    exact = [row for row in rows if (row["task"], row["peer"]) == ("intervals", "svmselect")]
    assert all(float(row["difference"]) < 1e-5 for row in exact)
    assert "| linnerud |" in output.with_suffix(".md").read_text()
