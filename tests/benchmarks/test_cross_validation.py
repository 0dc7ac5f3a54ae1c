"""The benchmarks of seeds and of grids, on a tiny problem."""

import csv
import subprocess
import sys

import pytest


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
