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
WHOLE = "SVMSELECT_DEMO" in os.environ
DEMO = [] if WHOLE else ["--configfile", str(ROOT / "tests/small.yaml")]
RESULTS = "results/demo" if WHOLE else "results/small"
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
    here, there = (checkouts[where].folder / RESULTS for where in ("here", "slurm"))
    n_rows, n_tables = assert_same_results(here, there)
    print(f"the same but for times: {n_rows} files of rows, {n_tables} tables")
    assert n_rows >= len(ROWS) and n_tables >= len(TABLES)
    # grouped: far fewer submissions than jobs
    plan = checkouts["here"].snakemake(*DEMO, "--dry-run", "--forceall", "--quiet", "rules", *targets)
    jobs = int(re.search(r"^total +(\d+)$", plan.stdout, flags=re.MULTILINE)[1])
    assert 0 < (done.stdout + done.stderr).count("has been submitted with SLURM jobid") < 0.75 * jobs


# In the exclusive mode each job has a node of its own. By the times of the plan, the linear cell and 11
# others share a job, and so do the other 20.
LONG = {
    "preset": "lost",
    "timing": "exclusive",
    "minutes_per_job": 123,
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["standard"],
        "realisations": 1,
        "linear": {"C": [0.1, 1]},
        "rbf": {"C": [1, 10, 100], "gamma": [1 + i / 32 for i in range(31)]},
    },
}
# Added to the paper's cells in a copy of the workflow: each model says that it begins, and waits where the
# test asks it to.
OBSERVED = """

import os
import time
from pathlib import Path

_unobserved = _leave_one_out


def _leave_one_out(cell, C, method, eps, **options):
    name = f"{cell.job.checkpoint.name.partition('.parquet')[0]}-C{C:g}"
    with open("begun.log", "a") as log:
        log.write(f"{os.getpid()} {name}\\n")
    while Path("hold", name).exists():
        time.sleep(0.05)
    return _unobserved(cell, C, method, eps, **options)
"""


def test_cancelled_job_and_lost_node(slurm, tmp_path):
    """Two jobs of many cells stand still in the second model of a cell; one is cancelled, one loses its node.
    Both are submitted again, and compute the model that was running again, nothing else."""
    checkout = Checkout(tmp_path, linked=False)
    with open(checkout.folder / "workflow/papers/franc2008/cells.py", "a") as file:
        file.write(OBSERVED)
    gammas = [f"{gamma:.10g}" for gamma in LONG["franc2008"]["rbf"]["gamma"]]
    models = {"linear": [0.1, 1], **{f"rbf-gamma{gamma}": [1, 10, 100] for gamma in gammas}}
    names = list(models)
    folder = checkout.folder / "results/lost/franc2008/cells/titanic-table/realisation-1"
    cells = {name: folder / f"{name}.parquet" for name in names}
    # the first job has 12 cells, of which 4 are finished by then, the second one 20 and 13
    running = names[4], names[12 + 13]
    finished = {*names[:4], *names[12 : 12 + 13]}
    held = {f"{name}-C10" for name in running}
    hold, log = checkout.folder / "hold", checkout.folder / "started.log"
    hold.mkdir()
    for model in held:
        (hold / model).touch()

    def begun():
        """Models in the order in which they began, each with the process that computed it."""
        path = checkout.folder / "begun.log"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(model, int(process)) for process, model in map(str.split, lines)]

    def standing():
        return {model: process for model, process in begun() if model in held}

    targets = [str(path.relative_to(checkout.folder)) for path in cells.values()]
    run = checkout.start(*HERE, "--", *targets, config=LONG, **slurm.environment)
    try:
        wait_for(lambda: standing().keys() == held, run, log)
        assert {name for name in names if cells[name].exists()} == finished
        processes = standing().values()
        rows = read_rows([cells[name] for name in sorted(finished)])
        (cancelled, _), (lost, node) = slurm.running().items()
        slurm.call("scancel", cancelled)
        slurm.lose_node(node)
        wait_for(lambda: not any(map(alive, processes)), run, log)
        for model in held:
            (hold / model).unlink()
        assert run.wait(900) == 0, log.read_text()
    finally:
        if run.poll() is None:
            run.kill()
    for number, state in ((cancelled, "CANCELLED"), (lost, "NODE_FAIL")):
        assert f"JobState={state}" in slurm.call("scontrol", "show", "job", number)
    assert (read_rows(cells.values())["status"] == OK).all()
    # every model was computed once, and those that were running once more
    times = Counter(model for model, _ in begun())
    assert times == {f"{name}-C{C:g}": 1 for name, Cs in models.items() for C in Cs} | dict.fromkeys(held, 2)
    # what was finished is there, with its times; Gram matrices were made again
    after = read_rows([cells[name] for name in sorted(finished)])
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


def alive(process):
    """Whether a process runs; of what is killed here, nobody need take notice."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    return False


def wait_for(condition, run, log):
    """Wait until a condition is true, as long as a run goes on."""
    end = time.monotonic() + 900
    while not condition():
        assert run.poll() is None, log.read_text()
        assert time.monotonic() < end
        time.sleep(0.05)
