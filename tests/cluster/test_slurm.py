"""The demo, cut down, on a real SLURM of several nodes on this machine; what scancel and a lost node do.

They run where SVMSELECT_SLURM is set, as `make test-slurm` does, and fail there if SLURM does not. Where
SVMSELECT_DEMO is set, too, as `make test-slurm-demo` does, the demo is not cut down.
"""

import os
import re
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pandas as pd
import psutil
import pytest
from checkouts import ROOT, Checkout, ObservedCheckout
from cluster.slurm import STANDARD, Slurm
from lib.rows import OK, read_rows
from lib.run import planned
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
WHOLE = "SVMSELECT_DEMO" in os.environ
DEMO = [] if WHOLE else ["--configfile", str(ROOT / "tests/small.yaml")]
RESULTS = "results/demo" if WHOLE else "results/small"
# Cut down, three papers: their rules and stages differ as those of the others do.
TABLES = ["franc2008/table2.csv", "franc2008/table3.csv", "chapelle1999/figure2.csv"]
ROWS = [
    *(f"franc2008/rows/{stage}.parquet" for stage in ("cells", "test")),
    *(f"{name}/rows/cells.parquet" for name in ("chapelle1999", "comparison")),
]
if WHOLE:
    TABLES += ["wen2017/table1/published.csv", "wen2017/table3/published.csv", "bakir2004/table1.csv"]
    TABLES += [f"sarafis2018/table{number}.csv" for number in range(1, 7)]
    ROWS += ["wen2017/rows/seeds.parquet", "sarafis2018/rows/cells.parquet", "bakir2004/rows/cells.parquet"]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    cluster = Slurm(tmp_path_factory.mktemp("slurm"))
    try:
        yield cluster.start()
    finally:
        cluster.stop()


@pytest.mark.timeout(7200 if WHOLE else 1200)
def test_demo_gives_the_tables_of_a_local_run(slurm, tmp_path):
    targets = ["--", *(["all", "report"] if WHOLE else [f"{RESULTS}/{name}" for name in [*TABLES, *ROWS]])]
    checkouts = {}
    for where, arguments in (("here", ["--cores", "2", "--quiet"]), ("slurm", HERE)):
        (tmp_path / where).mkdir()
        checkouts[where] = Checkout(tmp_path / where)
        environment = slurm.environment if where == "slurm" else {}
        done = checkouts[where].snakemake(*DEMO, *arguments, *targets, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
    here, other = (checkouts[where].folder / RESULTS for where in ("here", "slurm"))
    n_rows, n_tables = assert_same_results(here, other)
    print(f"the same but for times: {n_rows} files of rows, {n_tables} tables")
    assert n_rows >= len(ROWS) and n_tables >= len(TABLES)
    # grouped: far fewer submissions than jobs
    plan = checkouts["here"].snakemake(*DEMO, "--dry-run", "--forceall", "--quiet", "rules", *targets)
    jobs = int(re.search(r"^total +(\d+)$", plan.stdout, flags=re.MULTILINE)[1])
    assert 0 < (done.stdout + done.stderr).count("has been submitted with SLURM jobid") < 0.75 * jobs


# A job computes the twenty cells of a realisation, on a node of its own, as timing is exclusive.
LONG = {
    "preset": "lost",
    "timing": "exclusive",
    "job": "realisation",
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["standard"],
        "realisations": 2,
        "linear": {"C": [0.1, 1]},
        "rbf": {"C": [1, 10, 100], "gamma": [1 + i / 32 for i in range(19)]},
    },
}


def cells_of_jobs(configuration):
    """Return the cells of each job, by name, with their values of C."""
    papers, _, _ = planned(configuration)
    run = papers["franc2008"].plan.runs_by_cell("cells")["titanic-table/realisation-1/linear"]
    jobs = [{name: cell.arguments["C"] for name, cell in cells.items()} for cells in run.jobs.values()]
    assert [len(job) for job in jobs] == [20, 20]
    return jobs


def test_cancelled_job_and_lost_node(slurm, tmp_path):
    """Two jobs of twenty cells stand still in the second model of one; one is cancelled, one loses its node.
    Both are submitted again, and compute the model that was running again, nothing else."""
    checkout = ObservedCheckout(tmp_path)
    jobs = cells_of_jobs(checkout.configuration(LONG))
    models = {name: Cs for job in jobs for name, Cs in job.items()}
    names = [list(job) for job in jobs]
    results = checkout.folder / "results/lost/franc2008"
    copies = {name: results / f"finished/loo/{name}.parquet" for name in models}
    # four cells of the first job are finished by then, and thirteen of the second one
    running = names[0][4], names[1][13]
    finished = [*names[0][:4], *names[1][:13]]

    held = {checkout.model(name, 10) for name in running}
    log = checkout.folder / "started.log"
    checkout.hold(*held)

    def standing():
        return {one: process for one, process in checkout.begun() if one in held}

    targets = [f"results/lost/franc2008/cells/loo/{name}.parquet" for name in models]
    run = checkout.start(*HERE, "--", *targets, config=LONG, **slurm.environment)
    try:
        wait_for(lambda: standing().keys() == held, run, log, checkout.log)
        assert {name for name, path in copies.items() if path.exists()} == {*finished}
        processes = standing().values()
        rows = read_rows([copies[name] for name in finished])
        (cancelled, _), (lost, node) = slurm.running().items()
        slurm.call("scancel", cancelled)
        slurm.lose_node(node)
        wait_for(lambda: not any(map(alive, processes)), run, log)
        checkout.go_on()
        assert run.wait(900) == 0, log.read_text()
    finally:
        if run.poll() is None:
            run.kill()
    for number, state in ((cancelled, "CANCELLED"), (lost, "NODE_FAIL")):
        assert f"JobState={state}" in slurm.call("scontrol", "show", "job", number)
    assert (read_rows([checkout.folder / target for target in targets])["status"] == OK).all()
    # every model was computed once, and those that were running once more
    times = Counter(one for one, _ in checkout.begun())
    once = {checkout.model(name, C): 1 for name, Cs in models.items() for C in Cs}
    assert times == once | dict.fromkeys(held, 2)
    # what was finished is there, with its times; Gram matrices were made again
    after = read_rows([copies[name] for name in finished])
    same = [column for column in rows if not column.startswith("gram_")]
    pd.testing.assert_frame_equal(after[same], rows[same])
    output = log.read_text()
    assert output.count("Trying to restart job") == 2
    assert output.count("has been submitted with SLURM jobid") == 1 + 2 * 2
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
    end = time.monotonic() + 300
    while left := processes(folder):
        assert time.monotonic() < end, left
        time.sleep(0.2)
    assert (STANDARD.exists(), STANDARD.is_symlink()) == before


def processes(word):
    """The command lines of this machine's processes that have a word in them."""
    results = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            results.append(path.read_text().split("\0"))
    return [words for words in results if word in " ".join(words)]


def alive(process):
    """Whether a process runs; of what is killed here, nobody need take notice."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    return False


def wait_for(condition, run, *files):
    """Wait until a condition is true, as long as a run goes on and one of these files of it grows."""
    seen, end = None, 0
    while not condition():
        sizes = [path.stat().st_size for path in files if path.exists()]
        if sizes != seen:
            seen, end = sizes, time.monotonic() + 180
        output = files[0].read_text()
        assert run.poll() is None, output
        assert time.monotonic() < end, f"nothing has happened for three minutes after\n{output}"
        time.sleep(0.05)
