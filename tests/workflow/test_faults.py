"""What goes wrong on a machine, on a few cells of titanic: finished work is kept, nothing half-written counts
as a result, and the user gets one clear sentence."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from lib.environment import set_job_environment
from lib.joblog import explanation
from lib.rows import NOT_CONVERGED, OK, read_rows

from svmselect import RBF, Gram

# Cells of a few models each, timed in the exclusive mode: who holds the lock makes them wait.
CELLS = {
    "preset": "faults",
    "timing": "exclusive",
    "minutes_per_job": None,
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["standard"],
        "realisations": 1,
        "linear": {"C": [0.1, 1]},
        "rbf": {"C": [1, 10, 100], "gamma": [1, 0.5]},
    },
}
FOLDER = "franc2008/cells/titanic-table/realisation-1"
LOGS = f"logs/faults/{FOLDER}"
OUTPUTS = [f"results/faults/{FOLDER}/{cell}.parquet" for cell in ("linear", "rbf-gamma1", "rbf-gamma0.5")]
RUN_LOG = "results/faults/run.log"
RUN = ("--cores", "1", "--quiet", "rules", "--", *OUTPUTS)


def wait_for(condition, what, process, seconds=900):
    """Wait until a condition is true, while a process runs."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, f"ended before: {what}"
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def workers(snakemake):
    """Processes that run a rule's script below a Snakemake process."""
    found = []
    for child in snakemake.children(recursive=True):
        with suppress(psutil.Error):
            if re.search(r"\.snakemake/scripts/\S+\.py$", " ".join(child.cmdline()[1:2])):
                found.append(child)
    return found


def finished(checkout):
    """The cells that are there, with the time at which they were written."""
    paths = {name: checkout.folder / name for name in OUTPUTS}
    return {name: path.stat().st_mtime_ns for name, path in paths.items() if path.exists()}


def half_written(checkout):
    """Files among the results that are neither a cell nor the checkpoint of one, nor the log of runs."""
    paths = [path for path in (checkout.folder / "results").rglob("*") if path.is_file()]
    names = [str(path.relative_to(checkout.folder)) for path in paths]
    others = [name for name in names if name not in OUTPUTS and not name.endswith(".checkpoint.jsonl")]
    return [name for name in others if name != RUN_LOG]


def cells_run(done):
    """Number of cells that a call of Snakemake has run."""
    output = done.stdout + done.stderr
    return int(re.search(r"^franc2008_run_loo +(\d+)$", output, flags=re.MULTILINE).group(1))


@contextmanager
def stopped_inside_a_cell(checkout):
    """A run with at least one finished cell that stands still inside another one.

    Yields the Snakemake process, the worker, and a function that lets it go on.
    """
    (checkout.folder / "tmp").mkdir()
    run = checkout.start(*RUN, config=CELLS, TMPDIR=str(checkout.folder / "tmp"))
    try:
        wait_for(lambda: finished(checkout), "a cell is finished", run)
        with open(checkout.folder / f"tmp/svmselect-{os.getuid()}/timing.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)

            def waiting():
                missing = [name for name in OUTPUTS if name not in finished(checkout)]
                logs = [checkout.folder / LOGS / f"{name.split('/')[-1][:-8]}.log" for name in missing]
                return any(log.exists() and "Gram matrix" in log.read_text() for log in logs)

            wait_for(waiting, "a cell waits for the lock", run)
            snakemake = psutil.Process(run.pid)
            (worker,) = workers(snakemake)
            yield run, worker, lambda: fcntl.flock(lock, fcntl.LOCK_UN)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def resumes(checkout, before, *, unlock):
    """The same command again runs what was not finished, and nothing else."""
    if unlock:
        locked = checkout.snakemake(*RUN, config=CELLS)
        assert locked.returncode == 1 and "--unlock" in locked.stdout + locked.stderr
        assert checkout.snakemake("--unlock", config=CELLS).returncode == 0
    again = checkout.snakemake(*RUN, config=CELLS)
    assert again.returncode == 0, again.stderr
    assert cells_run(again) == len(OUTPUTS) - len(before)
    after = finished(checkout)
    assert set(after) == set(OUTPUTS) and {name: after[name] for name in before} == before
    assert (read_rows([checkout.folder / name for name in OUTPUTS])["status"] == OK).all()


@pytest.mark.slow
def test_worker_is_killed(checkout):
    with stopped_inside_a_cell(checkout) as (run, worker, go_on):
        in_flight = len(finished(checkout))
        worker.send_signal(signal.SIGKILL)
        worker.wait(900)
        go_on()
        assert run.wait(900) == 1
    # the other cells came all the same
    before = finished(checkout)
    assert len(before) == len(OUTPUTS) - 1 >= in_flight and half_written(checkout) == []
    assert "SIGKILL" in (checkout.folder / "started.log").read_text()
    resumes(checkout, before, unlock=False)


@pytest.mark.slow
def test_snakemake_is_killed_with_its_workers(checkout):
    with stopped_inside_a_cell(checkout) as (run, _, _):
        os.killpg(run.pid, signal.SIGKILL)
        run.wait(900)
    before = finished(checkout)
    assert 1 <= len(before) < len(OUTPUTS) and half_written(checkout) == []
    resumes(checkout, before, unlock=True)


@pytest.mark.slow
def test_snakemake_alone_is_killed(checkout):
    """Its worker finishes what it was at; a cell that Snakemake did not see finish is computed anew."""
    with stopped_inside_a_cell(checkout) as (run, worker, go_on):
        before = finished(checkout)
        run.kill()
        run.wait(900)
        go_on()
        worker.wait(900)
        assert len(finished(checkout)) == len(before) + 1
    resumes(checkout, before, unlock=True)


def mounted(arguments, folder):
    """Mount a small file system on a folder, or skip the test."""
    folder.mkdir(parents=True)
    if os.getuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", *arguments, "none", folder], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")


@pytest.fixture
def full_disk(checkout):
    """A disk for results and logs, full but for a block; yields the file that fills it."""
    folder = checkout.folder / "results"
    mounted(["-o", "size=128k"], folder)
    filler = folder / "filler"
    filler.write_bytes(bytes(112 * 1024))
    yield filler
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.slow
def test_full_disk(checkout, full_disk):
    config = {**CELLS, "timing": "shared"}
    done = checkout.snakemake(*RUN, config=config)
    assert done.returncode == 1
    output = done.stdout + done.stderr
    said = re.search(r"^Cannot write .*$", output, flags=re.MULTILINE).group()
    assert re.fullmatch(
        r"Cannot write results/faults/\S+: No space left on device\. Make room or mend the permissions, and "
        r"call the same command again: what is finished is kept\.",
        said,
    )
    before = finished(checkout)
    assert len(before) < len(OUTPUTS) and half_written(checkout) == ["results/filler"]
    full_disk.unlink()
    again = checkout.snakemake(*RUN, config=config)
    assert again.returncode == 0, again.stderr
    assert cells_run(again) == len(OUTPUTS) - len(before)
    assert (read_rows([checkout.folder / name for name in OUTPUTS])["status"] == OK).all()


@pytest.fixture
def read_only_results(checkout):
    folder = checkout.folder / "results"
    if os.getuid() == 0:
        mounted(["-o", "ro"], folder)
        yield folder
        subprocess.run(["umount", "-l", folder], check=True)
    else:
        folder.mkdir(mode=0o555)
        yield folder
        folder.chmod(0o755)


@pytest.mark.slow
def test_read_only_results(checkout, read_only_results):
    done = checkout.snakemake(*RUN, config=CELLS)
    output = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in output
    assert f"Cannot write to the folder {read_only_results}; mend its permissions" in output
    assert not (checkout.folder / "resources").exists()


@pytest.mark.slow
def test_cells_that_do_not_converge(checkout):
    """Rows with a status and a reason; the tables come, without these models."""
    results = "results/faults/franc2008"
    targets = [f"{results}/{name}" for name in ("rows/cells.parquet", "table2.csv", "claims.csv")]
    config = {**CELLS, "timing": "shared", "franc2008": {**CELLS["franc2008"], "max_iter": 60}}
    figure1 = {"datasets": ["titanic-table"], "log10_eps": [0]}
    config["franc2008"] |= {"test_realisations": 1, "figure1": figure1}
    done = checkout.snakemake("--cores", "2", "--quiet", "rules", "--", *targets, config=config)
    assert done.returncode == 0, done.stderr
    rows = read_rows([checkout.folder / targets[0]])
    assert set(rows["status"]) == {OK, NOT_CONVERGED}
    stopped = rows[rows["status"] == NOT_CONVERGED]
    assert stopped["reason"].str.startswith("iteration limit reached by ").all()
    table = (checkout.folder / results / "table2.md").read_text()
    assert re.search(r"^\| titanic \(contingency table\) \| .*\d", table, flags=re.MULTILINE)


def test_a_budget_within_the_job_is_not_that_of_the_job():
    params = {"cells": [{"dataset": "heart", "cell": "heart/published/k-10"}]}
    job = SimpleNamespace(params=params, rule="wen2017_run_seeds", wildcards={})
    with pytest.raises(MemoryError) as caught:
        np.empty(10**16)
    said = explanation(caught.value, job, 300)
    named = r"Data set 'heart' \(wen2017_run_seeds, cell heart/published/k-10\)"
    assert re.match(named + r" needs at least \d{11} MB of memory", said)
    with pytest.raises(MemoryError) as caught:
        Gram(np.eye(100), RBF(1.0), memory_mb=0.02).matrix()
    assert explanation(caught.value, job, 300) is None


RESERVED = """
import sys
sys.path.insert(0, "workflow")
import numpy as np
from lib.memory import limit_memory, needed_mb

limit_memory(300)
untouched = np.empty(200 * 2**20, dtype=np.uint8)
try:
    np.empty(150 * 2**20, dtype=np.uint8)
except MemoryError as error:
    print(needed_mb(error, 300))
"""


@pytest.mark.slow
def test_reserved_memory_counts_among_what_is_needed(root):
    done = subprocess.run(
        [sys.executable, "-c", RESERVED], cwd=root, capture_output=True, text=True, check=True
    )
    assert 350 <= float(done.stdout) < 500


FIRST_USE = """
import sys
sys.path.insert(0, "workflow")
from lib.memory import _sizes, limit_memory

limit_memory(10_000)
before = _sizes()["VmData"]
import numpy as np
import pandas as pd
import scipy.linalg
from svmselect import RBF, Gram, solve_csvc

X = np.random.default_rng(0).standard_normal((300, 5))
gram = Gram(X, RBF(0.1), memory_mb=1)
fit = solve_csvc(gram, np.where(X[:, 0] > 0, 1.0, -1.0), 1.0)
scipy.linalg.cholesky(X.T @ X)
pd.DataFrame({"a": ["text"]}).to_parquet(sys.argv[1])
pd.read_parquet(sys.argv[1])
print((_sizes()["VmData"] - before) / 2**10)
"""


@pytest.mark.slow
def test_what_libraries_reserve_on_first_use_leaves_a_job_its_memory(root, tmp_path, monkeypatch):
    """What is not touched counts towards the limit of a job; Arrow's own allocator reserves 1 GB."""
    environment = dict(os.environ)
    with monkeypatch.context() as patched:
        patched.setattr(os, "environ", environment)
        set_job_environment(root / "workflow")

    def reserved_mb(**other):
        command = [sys.executable, "-c", FIRST_USE, str(tmp_path / "rows.parquet")]
        own = {**environment, **other}
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, env=own)
        return float(done.stdout)

    assert reserved_mb() < 300
    assert reserved_mb(ARROW_DEFAULT_MEMORY_POOL="mimalloc") > 1000


@pytest.mark.slow
def test_cell_that_needs_more_memory_than_it_may_take(checkout):
    """A Gram matrix of 8,192 rows takes 512 MB."""
    config = {
        "preset": "faults",
        "minutes_per_job": None,  # a job for each cell
        "sarafis2018": {
            "class_weights": {"log2_C": [0]},
            "size": {
                "datasets": ["skewed-ringnorm-20"],
                "sizes": [{"log2_m": 13, "every": 1, "jobs": 1, "loo_every": 0, "libsvm_every": 0}],
            },
        },
    }
    output = "results/faults/sarafis2018/cells/size/skewed-ringnorm-20/rows-8192/part-1-of-1.parquet"
    done = checkout.snakemake(
        "--cores",
        "1",
        "--set-resources",
        "sarafis2018_run_models:mem_mb=300",
        "--quiet",
        "rules",
        "--",
        output,
        config=config,
    )
    assert done.returncode == 1
    said = re.search(r"^Data set .* MB of memory.*$", done.stdout + done.stderr, flags=re.MULTILINE).group()
    assert re.fullmatch(
        r"Data set 'skewed-ringnorm-20' \(sarafis2018_run_models, "
        r"cell size/skewed-ringnorm-20/rows-8192/part-1-of-1\) needs at "
        r"least (\d+) MB of memory, and its budget is mem_mb=300; give it more with --set-resources "
        r"sarafis2018_run_models:mem_mb=N, or take it out of the configuration\.",
        said,
    )
    assert int(re.search(r"(\d+) MB", said).group(1)) >= 512
    assert not (checkout.folder / output).exists()
    log = "logs/faults/sarafis2018/cells/size/skewed-ringnorm-20/rows-8192/part-1-of-1.log"
    assert said in (checkout.folder / log).read_text()
