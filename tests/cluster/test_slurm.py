"""The demo, cut down, on a real SLURM of several nodes on this machine; what scancel and a lost node do.

They run where SVMSELECT_SLURM is set, as `make test-slurm` does, and fail there if SLURM does not.
"""

import fcntl
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from checkouts import ROOT, Checkout
from cluster.slurm import STANDARD, Slurm
from lib.rows import OK, read_rows
from same import assert_same_results

pytestmark = pytest.mark.skipif(
    "SVMSELECT_SLURM" not in os.environ, reason="SVMSELECT_SLURM is not set: make test-slurm"
)

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
    here, there = (checkouts[where].folder / "results/small" for where in ("here", "slurm"))
    n_rows, n_tables = assert_same_results(here, there)
    assert n_rows >= len(ROWS) and n_tables >= len(TABLES)
    # grouped: far fewer submissions than jobs
    plan = checkouts["here"].snakemake(*DEMO, "--dry-run", "--forceall", "--quiet", "rules", *targets)
    jobs = int(re.search(r"^total +(\d+)$", plan.stdout, flags=re.MULTILINE)[1])
    assert 0 < (done.stdout + done.stderr).count("has been submitted with SLURM jobid") < 0.75 * jobs


# Timed in the exclusive mode: each job has a node of its own, and who holds the lock makes it wait. By the
# times of the plan, the linear cell and 11 others share a job, and so do the other 20.
LONG = {
    "preset": "lost",
    "timing": "exclusive",
    "minutes_per_job": 200,
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["standard"],
        "realisations": 1,
        "linear": {"C": [0.1, 1]},
        "rbf": {"C": [1, 10, 100], "gamma": [1 + i / 32 for i in range(31)]},
    },
}


def test_cancelled_job_and_lost_node(slurm, checkout):
    """Two jobs of many cells; one is cancelled, one loses its node. Both are submitted again, and compute
    nothing of what was finished."""
    private = checkout.folder / "tmp" / f"svmselect-{os.getuid()}"
    private.parent.mkdir()
    private.mkdir(mode=0o700)
    data = checkout.snakemake(
        "--cores", "1", "--quiet", "--", "resources/data/titanic-table.npz", config=LONG
    )
    assert data.returncode == 0, data.stderr
    folder = "results/lost/franc2008/cells/titanic-table/realisation-1"
    gammas = LONG["franc2008"]["rbf"]["gamma"]
    cells = [
        f"{folder}/{name}.parquet" for name in ("linear", *(f"rbf-gamma{gamma:.10g}" for gamma in gammas))
    ]
    jobs = cells[:12], cells[12:]

    def finished():
        return [[cell for cell in job if (checkout.folder / cell).exists()] for job in jobs]

    log = checkout.folder / "started.log"
    with open(private / "timing.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = {**slurm.environment, "TMPDIR": str(private.parent)}
        run = checkout.start(*HERE, "--", *cells, config=LONG, **environment)
        try:
            wait_for(lambda: len(slurm.running()) == 2, run, log)

            def briefly_free():
                """Whether each job has finished a cell; if not, they go on for less than a cell takes."""
                if not all(finished()):
                    fcntl.flock(lock, fcntl.LOCK_UN)
                    time.sleep(0.002)
                    fcntl.flock(lock, fcntl.LOCK_EX)
                return all(finished())

            wait_for(briefly_free, run, log)
            time.sleep(2)  # for both to come to the lock
            before = [cell for job in finished() for cell in job]
            # a job that has finished all cells has removed its checkpoints
            assert all(0 < len(done) < len(job) for done, job in zip(finished(), jobs, strict=True))
            rows = read_rows([checkout.folder / cell for cell in before])
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
    assert (read_rows([checkout.folder / cell for cell in cells])["status"] == OK).all()
    # what was finished is there or comes from checkpoints; Gram matrices may be made again, with new times
    after = read_rows([checkout.folder / cell for cell in before])
    same = ["gamma", "C", "method", "errors"]
    pd.testing.assert_frame_equal(after[same], rows[same])
    said = "".join(path.read_text() for path in (checkout.folder / "logs").rglob("*.log"))
    resumed = re.findall(r"resumed: (\d+) of \1 points come from (\S+)", said)
    for cell in before:
        kept = any(path.endswith(f"{cell}.checkpoint.jsonl") for _, path in resumed)
        assert kept or f"{cell} has the rows of this cell already" in said, (cell, said)
    output = log.read_text()
    assert output.count("Trying to restart job") == 2
    assert output.count("has been submitted with SLURM jobid") == 4
    assert slurm.states()[node] != "idle"
    slurm.start_node(node)


LONELY = """
import os, sys, time
from pathlib import Path
from cluster.slurm import Slurm
Slurm(Path(sys.argv[1]), nodes=1).start()
print(os.readlink("/etc/slurm/slurm.conf"), flush=True)
time.sleep(600)
"""


def test_a_killed_run_leaves_nothing_behind(tmp_path):
    """Neither a daemon nor a configuration, though nothing has the time to clear up."""
    before = STANDARD.exists(), STANDARD.is_symlink()
    folder = str(tmp_path / "own")
    command = [str(ROOT / "tests/cluster/run.sh"), sys.executable, "-c", LONELY, folder]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == f"{folder}/slurm.conf\n"
        assert {"slurmctld", "slurmd", "munged"} <= {Path(words[0]).name for words in processes(folder)}
        run.kill()
    end = time.monotonic() + 30
    while left := processes(folder):
        assert time.monotonic() < end, left
        time.sleep(0.2)
    assert (STANDARD.exists(), STANDARD.is_symlink()) == before


def processes(word):
    """The command lines of this machine's processes that have a word in them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_text().split("\0"))
    return [words for words in found if word in " ".join(words)]


def wait_for(condition, run, log):
    """Wait until a condition is true, as long as a run goes on."""
    end = time.monotonic() + 900
    while not condition():
        assert run.poll() is None, log.read_text()
        assert time.monotonic() < end
        time.sleep(0.05)
