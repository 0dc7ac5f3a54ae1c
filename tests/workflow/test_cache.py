"""Snakemake's cache between checkouts: used by two at once, and by a third after them."""

import re

import pandas as pd
import pytest
from checkouts import Checkout
from lib.rows import read_rows

pytestmark = pytest.mark.slow

CELLS = {
    "preset": "cached",
    "minutes_per_job": None,
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["unlearn"],
        "linear": {"C": [0.1, 1]},
        "rbf": {"C": [1], "gamma": [1]},
    },
}
OUTPUTS = [
    f"results/cached/franc2008/cells/titanic-table/realisation-{number}/linear.parquet" for number in (1, 2)
]


def test_three_checkouts_share_a_cache(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    checkouts = []
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
        checkouts.append(Checkout(tmp_path / name))
    arguments = ("--cache", "--cores", "1", "--quiet", "rules", "--", *OUTPUTS)
    environment = {"config": CELLS, "SNAKEMAKE_OUTPUT_CACHE": str(cache)}
    # two at once
    running = [checkout.start(*arguments, **environment) for checkout in checkouts[:2]]
    try:
        assert [run.wait(900) for run in running] == [0, 0]
    finally:
        for run in running:
            if run.poll() is None:
                run.kill()
    # data and cells, once each, and nothing half-written
    assert sorted(path.suffix for path in cache.iterdir()) == [".npz", ".parquet", ".parquet"]
    done = checkouts[2].snakemake(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    assert len(re.findall("Symlinking output file .* from cache", done.stdout + done.stderr)) == 3
    # nothing was run there: Snakemake has made the logs, empty
    assert all(path.stat().st_size == 0 for path in (checkouts[2].folder / "logs").rglob("*.log"))
    rows = [[read_rows([checkout.folder / name]) for name in OUTPUTS] for checkout in checkouts]
    for first, second, third in zip(*rows, strict=True):
        pd.testing.assert_frame_equal(
            first.drop(columns=["cpu_s", "gram_cpu_s"]), second.drop(columns=["cpu_s", "gram_cpu_s"])
        )
        assert third.equals(first) or third.equals(second)
    # cells of one data set that differ by the realisation alone are not mixed up
    assert [set(frame["realisation"]) for frame in rows[2]] == [{1}, {2}]


def test_cache_knows_every_cell_by_its_wildcards(root):
    cached = 0
    for path in (root / "workflow").rglob("*.smk"):
        for text in re.split(r"\n *rule(?: \w+)?:\n", path.read_text())[1:]:
            assert ("cache: CACHE" in text) == ("wildcards=named" in text), text
            cached += "cache: CACHE" in text
    assert cached == 2


def test_folder_of_the_cache_has_to_exist(checkout):
    environment = {"config": CELLS, "SNAKEMAKE_OUTPUT_CACHE": str(checkout.folder / "nowhere")}
    done = checkout.snakemake("--cache", "--dry-run", "--", *OUTPUTS, **environment)
    assert done.returncode == 1
    assert (
        f"The cache {checkout.folder / 'nowhere'} (SNAKEMAKE_OUTPUT_CACHE) is not a folder"
        in done.stdout + done.stderr
    )
