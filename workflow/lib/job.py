"""The execution of one cell: the arguments of its function, and the one way in which each of its methods is
run."""

import time
import traceback
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import lib.rows
from data import Dataset
from lib.checkpoint import Checkpoint, run_points
from lib.damage import set_aside_if_damaged
from lib.environment import commit, cpu_model
from lib.library import library_id
from lib.rows import ERROR, OK, CellRecord, cell_records, copy_cell, read_rows, write_rows
from lib.timing import timed

# What a numerical method may raise on input it cannot handle: a row says so. Anything else is a fault of the
# program or the machine and ends the job.
NUMERICAL_ERRORS = (ArithmeticError, RuntimeError, ValueError)


class Job:
    """The first argument of a cell's function: it runs methods under the clock and keeps finished points.

    Parameters
    ----------
    identity : dict
        Columns that all rows of the cell share: paper, dataset, library and whatever else names the run. The
        function adds what it finds out, such as the rows of the data set that it uses.
    timing : {"shared", "exclusive"}
        See `lib.timing.timed`; the rows have it as ``timing_mode``.
    log : logging.Logger
    checkpoint, data : path-like
        The file of finished points; the prepared data set, if the cell reads one.
    """

    def __init__(self, identity, timing, log, checkpoint, data=None):
        self.identity = {**identity, "timing_mode": timing}
        self.timing, self.log, self.checkpoint, self.data = timing, log, Path(checkpoint), data
        # in the rows, not in the identity: a job may go on elsewhere
        self.origin = origin()

    def attempt(self, method, run, model_name="", timing=None):
        """Run a method, called without arguments, under the clock. `model_name` names the model in the log if
        the method fails; the timing is that of the job by default.

        Returns
        -------
        result : object
            What the method returned; None if it failed.
        row : dict
            The method, its status, and what it cost or why it failed.
        """
        try:
            with timed(timing or self.timing) as clock:
                result = run()
        except NUMERICAL_ERRORS as error:
            self.log.error("%s, %s: %s", model_name, method, traceback.format_exc())
            return None, {"method": method, "status": ERROR, "reason": f"{type(error).__name__}: {error}"}
        return result, {"method": method, "status": OK, "cpu_s": clock.cpu_s, "wall_s": clock.wall_s}

    def points(self, points, run, **dependencies):
        """Run points one after the other, store each finished one in the checkpoint, and yield the row of
        each. A caller that needs no more may stop.

        A point is a list of numbers and strings that name it; `run` is called with them and returns its row.
        The rows depend on the identity and on `dependencies`.
        """

        def run_here(*point):
            return {**self.origin, **run(*point)}

        return run_points(
            points, run_here, Checkpoint(self.checkpoint, {**self.identity, **dependencies}), self.log
        )

    def batches(self, batches, run, **dependencies):
        """Return all rows of some batches; each finished batch is stored in the checkpoint. A batch is a JSON
        value that says which rows it has; `run` is called with it and returns them. For `dependencies` see
        `points`."""

        def run_batch(number):
            with timed("shared") as clock:
                rows = run(batches[number])
            failed = sum(row["status"] == ERROR for row in rows)
            status = {"status": ERROR, "reason": f"{failed} runs failed"} if failed else {"status": OK}
            return {**status, "cpu_s": clock.cpu_s, "rows": [{**self.origin, **row} for row in rows]}

        numbers = [[number] for number in range(len(batches))]
        return [
            row
            for done in self.points(numbers, run_batch, batches=batches, **dependencies)
            for row in done["rows"]
        ]

    def warm_up(self, *runs):
        """Call methods, each on 60 rows and their labels, for what Python and LAPACK load on first use: no
        clock should run meanwhile."""
        y = np.tile([-1.0, 1.0], 30)
        X = np.random.default_rng(0).standard_normal((60, 2)) + y[:, None] / 2
        for run in runs:
            run(X, y)

    def rows(self, function, **given):
        """Return the rows of the cell: those that its function returns, each with the columns of the
        identity."""
        rows = function(self, **given)
        return [{**self.origin, **self.identity, **row} for row in rows]


@cache
def origin():
    """Return the commit and the processor of all rows that this process makes."""
    return {"commit": commit(), "cpu": cpu_model()}


def run_cell(cell, inputs, output, log):
    """Write the rows of one cell, unless the file or that of its gathered rows has them.

    Returns the checkpoint beside the `output`, from which a killed job goes on, to be removed when the job
    has ended well. Raises a `RuntimeError` if the code has changed since the job was planned.

    Parameters
    ----------
    cell : dict
        ``cell``, its name in the stage; ``paper`` and ``run``, which name the function, see `function_of`;
        ``schema``, the name of one in `lib.rows`; ``dataset``, or None; ``identity``, further columns of all
        rows; ``arguments`` of the function by name; ``settings``, the attributes of its argument
        ``settings``, and ``timing``; ``parameters``, a digest of these; ``code``, from `lib.library.code_of`.
    inputs : dict of str to path-like
        ``data``, if the cell has a data set; others are files of rows, arguments of the function.
    """
    files, settings = dict(inputs), dict(cell["settings"])
    library = library_id(cell["code"])
    checkpoint = Path(f"{output}.checkpoint.jsonl")
    record = CellRecord(cell["cell"], cell["parameters"], library)
    output_record = cell_records(output).get(cell["cell"])
    if output_record is not None and output_record.matches(record, any_code=False):
        log.info("%s has the rows of this cell already", output)
        return checkpoint
    path, any_code = cell.get("stored") or (output, False)
    gathered = cell_records(path).get(cell["cell"])
    if gathered is not None and gathered.matches(record, any_code):
        copy_cell(path, cell["cell"], output, getattr(lib.rows, cell["schema"]))
        log.info("%s has the rows of this cell", path)
        return checkpoint
    named = {} if cell["dataset"] is None else {"dataset": cell["dataset"]}
    job = Job(
        {"paper": cell["paper"], **named, **cell["identity"], "library": library},
        settings.pop("timing"),
        log,
        checkpoint,
        files.pop("data", None),
    )
    begin = time.process_time()
    function = function_of(cell["paper"], cell["run"])
    given = {stage: read_rows([path]) for stage, path in files.items()}
    try:
        rows = job.rows(function, **cell["arguments"], **given, settings=SimpleNamespace(**settings))
    except ValueError:
        if job.data is not None:
            with set_aside_if_damaged(job.data):
                Dataset.load(job.data)
        raise
    record = replace(record, cpu_s=round(time.process_time() - begin, 2))
    write_rows(output, rows, getattr(lib.rows, cell["schema"]), record)
    return checkpoint


def function_of(paper, name):
    """Return a function of a paper, such as ``cells.run_loo`` of a module in its folder."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"papers.{paper}.{module}"), function)
