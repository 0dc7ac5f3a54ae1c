"""docs/robustness.md: what mending cost, as it was measured."""

import re

import pandas as pd
from checkouts import ROOT


def test_costs_are_those_measured():
    measured = pd.read_csv(ROOT / "benchmarks" / "results" / "builds.csv")
    text = (ROOT / "docs" / "robustness.md").read_text()
    section = text.partition("## What it costs")[2].partition("\n## ")[0]
    said = re.findall(r"^\| (.+?) \| ([0-9.]+) \| ([0-9.]+) \|$", section, re.MULTILINE)
    by_task = {task: rows.ratio for task, rows in measured.groupby("task")} | {"all": measured.ratio}
    assert {name: (f"{r.median():.2f}", f"{r.max():.2f}") for name, r in by_task.items()} == {
        name: (median, largest) for name, median, largest in said
    }
    assert set(measured.problem) == {"heart", "german", "image", "ringnorm-1000", "waveform-1000"}
