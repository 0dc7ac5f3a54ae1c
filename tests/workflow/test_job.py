"""A cell and its methods: what is caught, what is timed, what a killed job keeps, what a rule may ask for."""

import logging
import os
import re
import subprocess
import sys
import time
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from lib import environment
from lib import job as jobs
from lib.cell import Cell, Method, Part
from lib.environment import commit, cpu_model
from lib.job import run_cell
from lib.rows import (
    ERROR,
    NOT_CONVERGED,
    OK,
    TEST_ROWS,
    digest_of,
    read_rows,
    write_rows,
)


@pytest.mark.parametrize("error", [ValueError("no"), RuntimeError("no"), FloatingPointError("no")])
def test_an_error_in_a_method_is_a_row_with_its_reason(job_of, caplog, error):
    def fails():
        raise error

    result, row = job_of().attempt("span_rule", fails, "C=2")
    assert result is None
    assert row == {"method": "span_rule", "status": ERROR, "reason": f"{type(error).__name__}: no"}
    assert "C=2, span_rule: Traceback" in caplog.text and "in fails" in caplog.text


def test_a_fault_in_a_method_ends_the_job(job_of):
    for fault in (KeyError("column"), MemoryError(), KeyboardInterrupt()):

        def fails(fault=fault):
            raise fault

        with pytest.raises(type(fault)):
            job_of().attempt("span_rule", fails)


def test_an_error_outside_a_method_ends_the_job(job_of, tmp_path):
    def stage(job):
        job.attempt("span_rule", lambda: 1)
        raise RuntimeError("no rows")

    with pytest.raises(RuntimeError, match="no rows"):
        job_of().rows(stage)

    def point(C):
        raise RuntimeError("no point")

    with pytest.raises(RuntimeError, match="no point"):
        list(job_of().points([[1.0]], point))
    assert not (tmp_path / "checkpoint.jsonl").exists()


def test_the_clock_wraps_the_method_alone(job_of, monkeypatch):
    happened = []

    class Clock:
        cpu_s, wall_s = 1.5, 2.5

        def __init__(self, mode):
            self.mode = mode

        def __enter__(self):
            happened.append(f"{self.mode} begins")
            return self

        def __exit__(self, *error):
            happened.append("ends")

    monkeypatch.setattr(jobs, "timed", Clock)
    job = job_of(timing="exclusive")
    job.warm_up(lambda X, y: happened.append(f"warm-up on {len(y)}"))
    result, row = job.attempt("svm", lambda: happened.append("runs") or 7)
    job.attempt("svm", lambda: happened.append("searches"), timing="shared")
    assert happened == [
        "warm-up on 60",
        *("exclusive begins", "runs", "ends"),
        *("shared begins", "searches", "ends"),
    ]
    assert (result, row) == (7, {"method": "svm", "status": OK, "cpu_s": 1.5, "wall_s": 2.5})


def test_time_of_a_method_is_measured(job_of):
    def busy():
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass

    for timing in ("shared", "exclusive"):
        _, row = job_of(timing=timing).attempt("svm", busy)
        assert row["cpu_s"] >= 0.05 and (row["wall_s"] is None) == (timing == "shared")


def test_a_killed_job_resumes(job_of):
    """Finished points come back as they were, failed ones are tried again, and each asks for its own."""
    tried = []

    def point(C, method):
        tried.append((C, method))
        if len(tried) == 3:
            raise KeyboardInterrupt
        return {"status": ERROR if method == "fails" else OK, "reason": "no", "number": len(tried)}

    points = [[1.0, "fails"], [1.0, "svm"], [2.0, "svm"]]
    with pytest.raises(KeyboardInterrupt):
        list(job_of().points(points, point))
    rows = list(job_of().points(points, point))
    assert tried[3:] == [(1.0, "fails"), (2.0, "svm")]
    assert [row["number"] for row in rows] == [4, 2, 5]
    # of other inputs: nothing of it counts
    tried[:] = [()] * 5
    list(job_of(digest="others").points(points, point))
    assert len(tried) == 8


def test_points_are_run_when_they_are_asked_for(job_of):
    tried = []

    def point(number):
        tried.append(number)
        return {"status": OK}

    for number, _ in enumerate(job_of().points([[0], [1], [2]], point)):
        if number == 1:
            break
    assert tried == [0, 1]


def test_batches_are_kept_whole(job_of):
    tried = []

    def batch(models):
        tried.append(models)
        return [{"status": ERROR if model > 2 and len(tried) < 3 else OK, "C": model} for model in models]

    first = job_of().batches([[1, 2], [3]], batch)
    assert [row["status"] for row in first] == [OK, OK, ERROR]
    again = job_of().batches([[1, 2], [3]], batch)
    assert tried == [[1, 2], [3], [3]] and [row["C"] for row in again] == [1, 2, 3]
    assert {row["status"] for row in again} == {OK}


@pytest.fixture
def part():
    rng = np.random.default_rng(0)
    y = np.tile([-1.0, 1.0], 20)
    X = rng.normal(size=(40, 2)) + y[:, None] / 2
    return Part(X[:30], y[:30], X[30:], y[30:], {"realisation": 3})


def test_methods_of_a_fit_share_its_fate(job_of, part):
    """What fails or is unfinished with the fit, and what is not."""
    fits = []

    def method(name, **fixed):
        def run(C, fit):
            fits.append(fit)
            return SimpleNamespace(bound=2.0)

        return Method(name, run, fixed=fixed, from_fit=name == "estimate")

    job = job_of()
    cell = Cell(job, part)
    cell.set_kernel(0.5)
    assert job.identity["m"] == 30 and job.identity["realisation"] == 3
    methods = [method("estimate", fold="train"), method("own", fold="cv", k=5)]
    for C, max_iter, statuses in (
        (1.0, None, [OK, OK, OK]),
        (100.0, 1, [NOT_CONVERGED, NOT_CONVERGED, OK]),
        (-1.0, None, [ERROR, ERROR, OK]),
    ):
        fits.clear()
        rows = cell.run([({"C": C}, C, methods)], {"tol": 1e-3, "max_iter": max_iter})
        assert [row["method"] for row in rows] == ["test", "estimate", "own"]
        assert [row["status"] for row in rows] == statuses
        assert [row["fold"] for row in rows] == ["test", "train", "cv"] and rows[2]["k"] == 5
        assert {row["gamma"] for row in rows} == {0.5} and {row["C"] for row in rows} == {C}
        reasons = {row.get("reason") for row in rows[:2]}
        assert len(reasons) == 1 and rows[2].get("reason") is None
        assert [fit is None for fit in fits] == ([True] if statuses[0] == ERROR else [False, False])
        assert ("errors" in rows[0]) == (statuses[0] != ERROR)


@pytest.fixture
def paper(monkeypatch):
    """A module of a paper with one stage, which asks for rows beside the data."""

    def run_stage(job, C, settings, chosen=()):
        job.identity["m"] = 4
        _, row = job.attempt("svm", lambda: None)
        return [{**row, "C": C, "tol": settings.tol, "errors": len(chosen), "kernel": str(job.data)}]

    module = ModuleType("papers.toy.cells")
    module.run_stage = run_stage
    monkeypatch.setitem(sys.modules, "papers.toy", ModuleType("papers.toy"))
    monkeypatch.setitem(sys.modules, "papers.toy.cells", module)
    return {
        "paper": "toy",
        "cell": "c",
        "function": "cells.run_stage",
        "schema": "TEST_ROWS",
        "dataset": "d",
        "identity": {},
        "arguments": {"C": 2.0},
        "settings": {"tol": 1e-3, "timing": "shared"},
        "modules": ["parts.mine"],
    }


@pytest.fixture
def run(tmp_path):
    """A function: run a cell, and return its rows."""
    (tmp_path / "d.npz").write_bytes(b"data")

    def run_and_read(cell, library="1+a", **inputs):
        inputs = {"data": str(tmp_path / "d.npz"), **inputs}
        files = tmp_path / "rows.parquet", tmp_path / "finished/rows.parquet"
        run_cell(cell, library, inputs, *files, logging.getLogger("test"))
        return read_rows(files[:1])

    return run_and_read


def test_a_cell_runs_without_snakemake(paper, tmp_path, run):
    write_rows(tmp_path / "chosen.parquet", [{"status": OK, "errors": 0}] * 3, TEST_ROWS)
    (row,) = run(paper, chosen=str(tmp_path / "chosen.parquet")).to_dict("records")
    assert (row["paper"], row["cell"], row["dataset"], row["m"]) == ("toy", "c", "d", 4)
    assert (row["C"], row["tol"], row["library"], row["timing_mode"]) == (2.0, 1e-3, "1+a", "shared")
    assert (row["errors"], row["kernel"]) == (3, str(tmp_path / "d.npz"))
    assert (row["cpu"], row["commit"]) == (cpu_model(), commit())


def test_rows_without_times_share_the_time_of_their_cell(job_of):
    def untimed(job, cost):
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
        return [{"method": "a", "cpu_s": cost}, {"method": "b"}]

    shared, again = job_of().rows(untimed, cost=None)
    assert shared["cpu_s"] == again["cpu_s"] >= 0.025
    timed, other = job_of().rows(untimed, cost=7.0)
    assert timed["cpu_s"] == 7.0 and "cpu_s" not in other


def test_a_finished_cell_is_computed_again_if_an_input_has_changed(paper, tmp_path, run):
    chosen, code = tmp_path / "chosen.parquet", tmp_path / "cells.py"
    code.write_text("1")

    def cell_is_computed(cell, rows=3, **inputs):
        write_rows(chosen, [{"status": OK, "errors": 0}] * rows, TEST_ROWS)
        # as Snakemake, which deletes the outputs of a job
        (tmp_path / "rows.parquet").unlink(missing_ok=True)
        before = digest_of(tmp_path / "finished/rows.parquet")
        frame = run(cell, chosen=str(chosen), code=[str(code)], **inputs)
        assert len(frame) == 1 and frame["errors"].tolist() == [rows]
        return digest_of(tmp_path / "finished/rows.parquet") != before

    assert cell_is_computed(paper)
    assert not cell_is_computed(paper)
    assert cell_is_computed({**paper, "settings": {"tol": 1e-4, "timing": "shared"}})
    assert cell_is_computed(paper)
    assert cell_is_computed(paper, library="1+b") and cell_is_computed(paper)
    assert cell_is_computed(paper, rows=2) and cell_is_computed(paper)
    code.write_text("2")
    assert cell_is_computed(paper) and not cell_is_computed(paper)
    (tmp_path / "d.npz").write_bytes(b"other data")
    assert cell_is_computed(paper) and not cell_is_computed(paper)
    # of the paper's packages the cell has one module
    (tmp_path / "toy/parts").mkdir(parents=True)
    for name, counts in (("mine", True), ("other", False)):
        module = tmp_path / f"toy/parts/{name}.py"
        module.write_text("1")
        run(paper, chosen=str(chosen), code=[str(code), str(module)])
        before = digest_of(tmp_path / "finished/rows.parquet")
        module.write_text("2")
        run(paper, chosen=str(chosen), code=[str(code), str(module)])
        assert (digest_of(tmp_path / "finished/rows.parquet") != before) == counts
    # a damaged copy counts as none
    copy = tmp_path / "finished/rows.parquet"
    copy.write_bytes(copy.read_bytes()[:-9])
    run(paper, chosen=str(chosen), code=[str(code)])
    assert len(read_rows([copy])) > 0 and not list(copy.parent.glob("*.damaged"))


def test_the_checkpoint_is_there_until_the_cell_is_finished(paper, tmp_path, run, monkeypatch):
    def run_stage(job, C, settings):
        (row,) = job.points([[C]], lambda C: {"status": OK, "errors": 0})
        assert (tmp_path / "finished/rows.jsonl").exists()
        return [row]

    module = sys.modules["papers.toy.cells"]
    monkeypatch.setattr(module, "run_stage", run_stage)
    run(paper)
    assert not (tmp_path / "finished/rows.jsonl").exists()
    monkeypatch.setattr(
        module, "run_stage", lambda *inputs, **given: run_stage(*inputs, **given) and [{"status": "?"}]
    )
    with pytest.raises(ValueError, match="unknown status"):
        run(paper, library="1+b")
    assert (tmp_path / "finished/rows.jsonl").exists()


def test_a_cell_refuses_what_its_function_does_not_take(paper, tmp_path, run):
    selected = tmp_path / "selected.parquet"
    write_rows(selected, [{"status": OK, "errors": 0}], TEST_ROWS)
    for changed, inputs in (({"arguments": {"C": 1.0, "D": 2.0}}, {}), ({}, {"selected": str(selected)})):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            run({**paper, **changed}, **inputs)
    assert not (tmp_path / "rows.parquet").exists()


def test_papers_use_what_the_library_offers(root):
    """Nothing in the workflow imports a private module or name of the library."""
    private = re.compile(
        r"^ *(from svmselect\S*\._|import svmselect\S*\._|from svmselect.* import .*\b_)", re.M
    )
    paths = sorted((root / "workflow").rglob("*.py"))
    assert len(paths) > 50
    assert [path for path in paths if private.search(path.read_text())] == []
    assert private.search("from svmselect.gram._columns import Columns")
    assert private.search("from svmselect.svm import _private")


def test_rows_name_the_commit_that_made_them(tmp_path, monkeypatch):
    def git(*arguments):
        who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        command = ["git", "-C", tmp_path, *who, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    monkeypatch.setattr(environment, "PROJECT", tmp_path.resolve())
    assert commit() is None
    git("init", "-q")
    for name in ("code.py", "results/kept.csv", "inner/code.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    git("add", ".")
    git("commit", "-qm", "first")
    head = git("rev-parse", "HEAD")
    assert len(head) == 40 and commit() == head
    (tmp_path / "results/kept.csv").write_text("2")
    (tmp_path / "new.py").write_text("1")
    assert commit() == head
    (tmp_path / "code.py").write_text("2")
    assert commit() == f"{head}+changes"
    # a checkout of somebody else's, which git reads only where it is said to be safe
    if os.getuid() == 0:
        for path in (tmp_path, *tmp_path.rglob("*")):
            os.chown(path, 12345, 12345)
        for scope in ("SYSTEM", "GLOBAL"):
            monkeypatch.setenv(f"GIT_CONFIG_{scope}", os.devnull)
        assert commit() == f"{head}+changes"
    # a copy without a history, in the checkout of something else
    monkeypatch.setattr(environment, "PROJECT", tmp_path.resolve() / "inner")
    assert commit() is None
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(environment, "PROJECT", tmp_path.resolve())
    assert commit() is None
