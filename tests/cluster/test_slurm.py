"""The demo, cut down, on a real SLURM of several nodes on this machine; what scancel and a lost node do.

They run where SVMSELECT_SLURM is set: `make test-slurm` sets it and installs SLURM.
"""

import fcntl
import os
import re
import time

import pandas as pd
import pytest
from checkouts import ROOT, Checkout
from cluster.slurm import Slurm, missing
from lib.rows import OK, read_rows
from lib.tables import KEY, read_tidy

pytestmark = [
    pytest.mark.skipif(
        "SVMSELECT_SLURM" not in os.environ, reason="SVMSELECT_SLURM is not set: make test-slurm"
    ),
    pytest.mark.skipif("SVMSELECT_SLURM" in os.environ and missing() is not None, reason=str(missing())),
]

# What depends on this machine: a partition, no accounting; the waits of a real cluster would take minutes.
HERE = [
    "--profile",
    "profiles/slurm",
    "--default-resources",
    "mem_mb=1000",
    "runtime=10",
    "slurm_partition=debug",
    "--slurm-no-account",
    "--slurm-status-command",
    "squeue",
    "--slurm-init-seconds-before-status-checks",
    "2",
    "--seconds-between-status-checks",
    "2",
    "--latency-wait",
    "5",
    "--quiet",
    "rules",
    "progress",
]
DEMO = ["--configfile", str(ROOT / "tests/small.yaml")]
TABLES = [
    "franc2008/table2.csv",
    "franc2008/table3.csv",
    "chapelle1999/figure2.csv",
    "wen2017/table1/published.csv",
    "wen2017/table3/published.csv",
    *(f"sarafis2018/table{number}.csv" for number in range(1, 7)),
    "bakir2004/table1.csv",
]
ROWS = [
    *(f"franc2008/rows/{stage}.parquet" for stage in ("cells", "test")),
    "wen2017/rows/seeds.parquet",
    *(f"{name}/rows/cells.parquet" for name in ("chapelle1999", "sarafis2018", "bakir2004", "comparison")),
]
COST = re.compile(r"cpu_s|wall_s|peak_mb")
COSTS = re.compile(r"time|memory")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    cluster = Slurm(tmp_path_factory.mktemp("slurm"))
    try:
        yield cluster.start()
    finally:
        cluster.stop()


def test_demo_gives_the_tables_of_a_local_run(slurm, tmp_path):
    targets = ["--", *(f"results/small/{name}" for name in [*TABLES, *ROWS])]
    checkouts = {}
    for where, arguments in (("here", ["--cores", "2", "--quiet"]), ("slurm", HERE)):
        (tmp_path / where).mkdir()
        checkouts[where] = Checkout(tmp_path / where)
        environment = slurm.environment if where == "slurm" else {}
        done = checkouts[where].snakemake(*DEMO, *arguments, *targets, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
    results = {where: checkout.folder / "results/small" for where, checkout in checkouts.items()}
    for name in ROWS:
        here, there = (read_rows([folder / name]) for folder in results.values())
        # on sets this small some methods end in an error, here as there
        assert (there["status"] == OK).any()
        same = [column for column in here if not COST.search(column)]
        pd.testing.assert_frame_equal(here[same], there[same], rtol=1e-9)
    for name in TABLES:
        here, there = (read_tidy(folder / name) for folder in results.values())
        assert here[KEY].equals(there[KEY])
        same = ~here["metric"].str.contains(COSTS)
        assert same.any()
        pd.testing.assert_frame_equal(here[same], there[same], rtol=1e-9)
    # grouped: far fewer submissions than jobs
    plan = checkouts["here"].snakemake(*DEMO, "--dry-run", "--forceall", "--quiet", "rules", *targets)
    jobs = int(re.search(r"^total +(\d+)$", plan.stdout, flags=re.MULTILINE)[1])
    assert 0 < (done.stdout + done.stderr).count("has been submitted with SLURM jobid") < 0.75 * jobs


# Timed in the exclusive mode: each cell has a node of its own, and who holds the lock makes it wait.
LONG = {
    "preset": "lost",
    "timing": "exclusive",
    "minutes_per_job": None,
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["standard"],
        "realisations": 1,
        "linear": {"C": [0.1, 1]},
        "rbf": {"C": [1], "gamma": [1]},
    },
}
CELLS = ["linear", "rbf-gamma1"]


def test_cancelled_job_and_lost_node(slurm, checkout):
    """Two cells wait inside their jobs; one is cancelled, one loses its node: both are submitted again."""
    (checkout.folder / "tmp").mkdir()
    data = checkout.snakemake(
        "--cores", "1", "--quiet", "--", "resources/data/titanic-table.npz", config=LONG
    )
    assert data.returncode == 0, data.stderr
    cells = [f"results/lost/franc2008/cells/titanic-table/realisation-1/{cell}.parquet" for cell in CELLS]
    log = checkout.folder / "started.log"
    with open(checkout.folder / f"tmp/svmselect-timing-{os.getuid()}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = {**slurm.environment, "TMPDIR": str(checkout.folder / "tmp")}
        apart = ["--group-components", "franc2008_cells=1"]
        run = checkout.start(*HERE, *apart, "--", *cells, config=LONG, **environment)
        try:
            logs = checkout.folder / "logs/lost/franc2008/cells/titanic-table/realisation-1"
            for cell in CELLS:
                wait_for("Gram matrix", logs / f"{cell}.log", run, log)
            (cancelled, _), (lost, node) = slurm.running().items()
            slurm.call("scancel", cancelled)
            slurm.lose_node(node)
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert run.wait(900) == 0, log.read_text()
        finally:
            if run.poll() is None:
                run.kill()
    for number, state in ((cancelled, "CANCELLED"), (lost, "NODE_FAIL")):
        assert f"JobState={state}" in slurm.call("scontrol", "show", "job", number)
    for cell in cells:
        assert (read_rows([checkout.folder / cell])["status"] == OK).all()
    output = log.read_text()
    assert output.count("Trying to restart job") == 2
    assert output.count("has been submitted with SLURM jobid") == 4
    assert slurm.states()[node] != "idle"
    slurm.start_node(node)


def wait_for(words, path, run, log):
    """Wait until a file has these words, as long as a run goes on."""
    end = time.monotonic() + 900
    while not (path.exists() and words in path.read_text()):
        assert run.poll() is None, log.read_text()
        assert time.monotonic() < end
        time.sleep(0.5)
