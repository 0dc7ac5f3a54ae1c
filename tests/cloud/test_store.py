"""Runs whose files are in an object store: the results are those of a run on a disk."""

import os
import re

import pandas as pd
import pytest
from checkouts import Checkout
from cloud.conftest import BUCKET
from documents.test_blocks import STORED, on_small_data
from lib.rows import read_rows
from same import assert_same_results

pytestmark = pytest.mark.slow

TINY = {
    "preset": "tiny",
    "papers": ["franc2008"],
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["unlearn"],
        "realisations": 1,
        "test_realisations": 1,
        "linear": {"C": [0.1, 1]},
        "rbf": {"C": [1], "gamma": [0.5]},
        "figure1": {"datasets": ["titanic-table"], "log10_eps": [-3, 0]},
    },
}
CELLS = "results/tiny/franc2008/rows/cells.parquet"
TARGETS = [CELLS, "results/tiny/franc2008/rows/test.parquet", "results/tiny/franc2008/table2.csv"]
DATA = "resources/data/titanic-table.npz"
# a run into a store does not note when it began and ended
DISKS_ALONE = "run.log"


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory):
    """The results of a run on this disk."""
    checkout = Checkout(tmp_path_factory.mktemp("disk"))
    done = checkout.snakemake("--cores", "2", "--quiet", "--", *TARGETS, config=TINY)
    assert done.returncode == 0, done.stderr
    return checkout.folder / "results/tiny"


def in_store(folder, *arguments, profile="s3"):
    return [
        *("--profile", f"profiles/{profile}", "--default-storage-prefix", f"s3://{BUCKET}/{folder}"),
        *arguments,
    ]


def files(folder):
    """Files of results and data on the disk."""
    return [
        path for name in ("results", "resources") for path in (folder / name).rglob("*") if path.is_file()
    ]


def test_a_run_from_and_into_a_store_gives_the_results_of_a_disk(on_disk, store, checkout, tmp_path):
    call = in_store("alone", "--cores", "2", "--quiet", "rules", "progress", "--", *TARGETS)
    done = checkout.snakemake(*call, config=TINY, **store.environment)
    assert done.returncode == 0, done.stderr
    # the cost before a run counts what the store lacks
    assert "To compute: cells: 5," in done.stderr
    downloaded = store.download("alone/results/tiny", tmp_path / "found")
    assert assert_same_results(on_disk, downloaded) == (3, 2)
    assert DATA in store.names("alone")
    here = {str(path.relative_to(on_disk)) for path in on_disk.rglob("*") if path.is_file()}
    assert here - store.names("alone/results/tiny") == {DISKS_ALONE}
    assert files(checkout.folder) == []

    # another checkout finds them
    (tmp_path / "elsewhere").mkdir()
    second = Checkout(tmp_path / "elsewhere")
    again = in_store("alone", "--cores", "2", "--", CELLS)
    done = second.snakemake(*again, config=TINY, **store.environment)
    assert done.returncode == 0 and "Nothing to be done" in done.stderr, done.stderr
    # and takes the rows that are kept from there when there is another cell
    for name in store.names("alone"):
        if "/cells/" in name:
            store.remove("alone", name)
    rbf = {"C": [1], "gamma": [0.5, 0.25]}
    more = {**TINY, "franc2008": {**TINY["franc2008"], "rbf": rbf}}
    done = second.snakemake(*again, config=more, **store.environment)
    assert done.returncode == 0, done.stderr
    store.download("alone/results/tiny/franc2008/rows", tmp_path / "more")
    before = read_rows([downloaded / "franc2008/rows/cells.parquet"])
    after = read_rows([tmp_path / "more/cells.parquet"])
    assert set(after["gamma"].dropna()) == {0.5, 0.25}
    # times as well: none of them was computed again
    pd.testing.assert_frame_equal(after[after["gamma"] != 0.25].reset_index(drop=True), before)


def test_pods_share_nothing_but_the_store(on_disk, store, kubernetes, tmp_path):
    (tmp_path / "clone").mkdir()
    checkout = Checkout(tmp_path / "clone", linked=False)
    call = in_store("pods", "--container-image", "registry/svmselect", profile="kubernetes")
    done = checkout.snakemake(
        *call, "--seconds-between-status-checks", "1", "--", *TARGETS,
        config=TINY, **store.environment, **kubernetes.environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + kubernetes.logs()
    downloaded = store.download("pods/results/tiny", tmp_path / "found")
    assert assert_same_results(on_disk, downloaded) == (3, 2)
    assert files(checkout.folder) == []
    # cells and data were jobs of the cluster; tables, whose captions are sources, were made here
    specs = [job["spec"]["template"]["spec"]["containers"][0] for job in kubernetes.jobs]
    submitted = [re.search(r"--target-jobs '(\w+):", spec["args"][1])[1] for spec in specs]
    assert sorted(submitted) == [
        "franc2008_run_loo_1",
        "franc2008_run_stopping",
        "franc2008_run_test_1",
        "prepare_data_together",
    ]
    for spec in specs:
        assert spec["image"] == "registry/svmselect"
        assert spec["resources"]["requests"]["memory"] == "1000M"
        assert {entry["name"] for entry in spec["env"]} >= {*store.environment, "SVMSELECT_COMMIT"}
    # pods have no git repository: they were told
    (head,) = read_rows([downloaded / "franc2008/rows/cells.parquet"])["commit"].unique()
    assert head == checkout.commit


@pytest.mark.parametrize("words", STORED, ids=" ".join)
def test_documented_commands_plan_a_run(words, store, kubernetes, checkout):
    environment = {**store.environment, **kubernetes.environment}
    done = checkout.snakemake("--dry-run", *on_small_data(words), **environment)
    assert done.returncode == 0, done.stderr
    assert "franc2008_run_loo" in done.stdout


def test_each_profile_of_a_store_is_documented():
    profiles = {words[words.index("--profile") + 1] for words in STORED}
    assert profiles == {"profiles/s3", "profiles/kubernetes"}


@pytest.mark.skipif("SVMSELECT_DEMO" not in os.environ, reason="SVMSELECT_DEMO is not set: make test-s3")
@pytest.mark.timeout(7200)
def test_the_demo_in_a_store(store, checkout, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    done = Checkout(disk).snakemake("--cores", "2", "--quiet", "rules", "progress", "--", "all", "report")
    assert done.returncode == 0, done.stderr
    for targets in (["all", "report"], ["verify"]):
        call = in_store("demo", "--cores", "2", "--quiet", "rules", "progress", "--", *targets)
        done = checkout.snakemake(*call, **store.environment)
        assert done.returncode == 0, done.stderr
    other = store.download("demo/results/demo", tmp_path / "found")
    n_rows, n_tables = assert_same_results(disk / "results/demo", other)
    print(f"the same but for times: {n_rows} files of rows, {n_tables} tables")
    here = {str(path.relative_to(disk)) for path in files(disk) if path.suffix != ".json"}
    assert here - store.names("demo") == {f"results/demo/{DISKS_ALONE}"}
    assert (other / "report.html").stat().st_size > 10**5
    assert files(checkout.folder) == []
