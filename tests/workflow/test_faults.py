"""What goes wrong on a machine, on a few cells of titanic: finished work is kept, nothing half-written counts
as a result, and the user gets one clear sentence."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import psutil
import pytest
from checkouts import FRANC_ROWS, ROOT, Checkout, ObservedCheckout
from lib.joblog import explanation, newest_line
from lib.rows import NOT_CONVERGED, OK, read_rows

# Cells of a few models each, one after the other.
CELLS = {
    "preset": "faults",
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["standard"],
        "realisations": 1,
        "linear": {"C": [0.1, 1]},
        "rbf": {"C": [1, 10, 100], "gamma": [1, 0.5]},
    },
}
NAMES = ("linear", "rbf-gamma1", "rbf-gamma0.5")
FOLDER = "results/faults/franc2008"
OUTPUTS = [f"{FOLDER}/cells/loo/titanic-table/realisation-1/{name}.parquet" for name in NAMES]
COPIES = [output.replace("/cells/", "/finished/") for output in OUTPUTS]
LOG = "logs/faults/franc2008/loo.log"
RUN = ("--cores", "1", "--quiet", "rules", "--", *OUTPUTS)


def wait_for(condition, subject, process, seconds=900):
    """Wait until a condition is true, while a process runs."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, f"ended before: {subject}"
        assert time.monotonic() < end, f"not within {seconds} s: {subject}"
        time.sleep(0.02)


def workers(snakemake):
    """Processes that run a rule's script below a Snakemake process."""
    result = []
    for child in snakemake.children(recursive=True):
        with suppress(psutil.Error):
            if re.search(r"\.snakemake/scripts/\S+\.py$", " ".join(child.cmdline()[1:2])):
                result.append(child)
    return result


def finished(checkout):
    """Copies of the finished cells, with the time at which they were written."""
    paths = {name: checkout.folder / name for name in COPIES}
    return {name: path.stat().st_mtime_ns for name, path in paths.items() if path.exists()}


def half_written(checkout):
    """Files among the results that are neither a cell, nor the copy or the checkpoint of one."""
    paths = [path for path in (checkout.folder / "results").rglob("*") if path.is_file()]
    names = [str(path.relative_to(checkout.folder)) for path in paths]
    return [name for name in names if name not in (*OUTPUTS, *COPIES) and not name.endswith(".jsonl")]


@pytest.fixture
def observed(tmp_path):
    return ObservedCheckout(tmp_path)


@contextmanager
def stopped_inside_a_cell(observed):
    """A run that stands still in the second model of its second cell; yields Snakemake and the worker."""
    held = observed.model(f"titanic-table/realisation-1/{NAMES[1]}", 10)
    observed.hold(held)
    run = observed.start(*RUN, config=CELLS)
    try:
        wait_for(lambda: held in dict(observed.begun()), f"{held} begins", run)
        (worker,) = workers(psutil.Process(run.pid))
        assert finished(observed).keys() == {COPIES[0]}
        yield run, worker
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def resumes(checkout, before, *, unlock):
    """The same command again computes the cells that were not finished, and no other."""
    if unlock:
        locked = checkout.snakemake(*RUN, config=CELLS)
        assert locked.returncode == 1 and "--unlock" in locked.stdout + locked.stderr
        assert checkout.snakemake("--unlock", config=CELLS).returncode == 0
    again = checkout.snakemake(*RUN, config=CELLS)
    assert again.returncode == 0, again.stderr
    after = finished(checkout)
    assert set(after) == set(COPIES) and {name: after[name] for name in before} == before
    assert (checkout.folder / LOG).read_text().count("has the rows of this cell") == len(before)
    assert (read_rows([checkout.folder / name for name in OUTPUTS])["status"] == OK).all()


@pytest.mark.slow
def test_worker_is_killed(observed):
    with stopped_inside_a_cell(observed) as (run, worker):
        worker.send_signal(signal.SIGKILL)
        worker.wait(900)
        assert run.wait(900) == 1
    observed.go_on()
    before = finished(observed)
    assert before.keys() == {COPIES[0]} and half_written(observed) == []
    assert "SIGKILL" in (observed.folder / "started.log").read_text()
    resumes(observed, before, unlock=False)


@pytest.mark.slow
def test_snakemake_is_killed_with_its_workers(observed):
    with stopped_inside_a_cell(observed) as (run, _):
        os.killpg(run.pid, signal.SIGKILL)
        run.wait(900)
    observed.go_on()
    before = finished(observed)
    assert before.keys() == {COPIES[0]} and half_written(observed) == []
    resumes(observed, before, unlock=True)


@pytest.mark.slow
def test_snakemake_alone_is_killed(observed):
    """Its worker finishes the job."""
    with stopped_inside_a_cell(observed) as (run, worker):
        run.kill()
        run.wait(900)
        observed.go_on()
        worker.wait(900)
        before = finished(observed)
        assert len(before) == len(OUTPUTS)
    resumes(observed, before, unlock=True)


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
        r"call the same command again: finished cells are not computed again\.",
        said,
    )
    assert len(finished(checkout)) < len(OUTPUTS) and half_written(checkout) == ["results/filler"]
    full_disk.unlink()
    again = checkout.snakemake(*RUN, config=config)
    assert again.returncode == 0, again.stderr
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
    assert f"Cannot write to the folder {read_only_results}: mend" in output and "--directory" in output
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


# appended to a paper's cells.py
FAULT = """
_run_loo = run_loo


def run_loo(job, **given):
    if job.identity["cell"].endswith("rbf-gamma0.5"):
        raise MemoryError
    return _run_loo(job, **given)
"""


@pytest.mark.slow
def test_a_failing_job_names_its_cell(tmp_path, franc):
    checkout = Checkout(tmp_path, linked=False)
    with open(tmp_path / "workflow/papers/franc2008/cells.py", "a") as code:
        code.write(FAULT)
    done = checkout.snakemake("--cores", "1", "--", FRANC_ROWS[0], config={**franc, "job": "run"})
    output = done.stdout + done.stderr
    cell = "franc2008/cells/titanic-table/realisation-1/rbf-gamma0.5"
    assert done.returncode == 1
    sentence = re.search(r"^The machine has too little memory.*$", output, flags=re.MULTILINE).group()
    assert cell in sentence and "titanic-table:" in sentence
    log = (tmp_path / "logs/small/franc2008/loo.log").read_text()
    assert f"finished {cell.replace('rbf-gamma0.5', 'linear')}\n" in log
    assert f"cell 2 of 2: {cell}\n" in log and f"finished {cell}" not in log


def test_without_a_terminal_a_run_prints_the_newest_line_of_its_logs(tmp_path):
    assert newest_line(tmp_path) == "no job has begun"
    for age, (name, text) in enumerate([("b", "cell 1\ncell 2\n"), ("a", "cell 3\n"), ("empty", "")]):
        path = tmp_path / f"demo/{name}.log"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        os.utime(path, (1000 - age, 1000 - age))
    assert newest_line(tmp_path) == f"{tmp_path}/demo/b.log: cell 2"
    program = (
        f"import lib.joblog, sys; lib.joblog.say_every_minute({str(tmp_path)!r}, 0.01); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program]
    streams = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT / "workflow", text=True, **streams) as process:
        lines = [process.stderr.readline() for _ in range(2)]
        process.kill()
    assert all(line.endswith(f"{tmp_path}/demo/b.log: cell 2\n") for line in lines)


def test_a_shortage_of_memory_is_a_sentence():
    assert "--resources mem_mb=N" in explanation(MemoryError())
    assert explanation(ValueError("C")) is None
