"""The execution of one cell: the arguments of its function, and the one way in which each of its methods is
run."""

import hashlib
import json
import shutil
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import lib.rows
from data.dataset import Dataset
from lib.checkpoint import Checkpoint, run_points
from lib.damage import DamagedError, set_aside_if_damaged
from lib.environment import commit, cpu_model
from lib.rows import ERROR, OK, digest_of, read_rows, write_rows
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
    checkpoint : Checkpoint
        Finished points.
    data : path-like or None
        The prepared data set, if the cell reads one.
    """

    def __init__(self, identity, timing, log, checkpoint, data=None):
        self.identity = {**identity, "timing_mode": timing}
        self.timing, self.log, self.checkpoint, self.data = timing, log, checkpoint, data
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

    def points(self, points, run):
        """Run points one after the other, store each finished one in the checkpoint, and yield the row of
        each. A caller that needs no more may stop.

        A point is a list of numbers and strings that name it, different from all others of the cell; `run` is
        called with them and returns its row.
        """

        def run_here(*point):
            return {**self.origin, **run(*point)}

        return run_points(points, run_here, self.checkpoint, self.log)

    def batches(self, batches, run):
        """Return all rows of some batches; each finished batch is stored in the checkpoint. A batch is a JSON
        value that says which rows it has; `run` is called with it and returns them."""

        def run_batch(number):
            with timed("shared") as clock:
                rows = run(batches[number])
            failed = sum(row["status"] == ERROR for row in rows)
            status = {"status": ERROR, "reason": f"{failed} runs failed"} if failed else {"status": OK}
            return {**status, "cpu_s": clock.cpu_s, "rows": [{**self.origin, **row} for row in rows]}

        numbers = [[number] for number in range(len(batches))]
        return [row for done in self.points(numbers, run_batch) for row in done["rows"]]

    def warm_up(self, *runs):
        """Call methods, each on 60 rows and their labels, for what Python and LAPACK load on first use: no
        clock should run meanwhile."""
        y = np.tile([-1.0, 1.0], 30)
        X = np.random.default_rng(0).standard_normal((60, 2)) + y[:, None] / 2
        for run in runs:
            run(X, y)

    def rows(self, function, **given):
        """Return the rows of the cell: those that its function returns, each with the columns of the
        identity. Where the function times none of its methods, all rows share the time that it took."""
        with timed("shared") as clock:
            rows = function(self, **given)
        if rows and all(row.get("cpu_s") is None for row in rows):
            rows = [{**row, "cpu_s": clock.cpu_s / len(rows)} for row in rows]
        return [{**self.origin, **self.identity, **row} for row in rows]


@cache
def origin():
    """Return the commit and the processor of all rows that this process makes."""
    return {"commit": commit(), "cpu": cpu_model()}


def run_cell(cell, library, inputs, output, finished, log):
    """Write the rows of one cell to the file `output`.

    The file `finished` gets a copy. Snakemake deletes all outputs of a job before it runs the job again: from
    the copies it takes the cells that had been computed from the same inputs before it was killed, or before
    other cells were added to it.

    Parameters
    ----------
    cell : dict
        See `lib.plan.description`: ``paper``; ``cell``, its name in the stage; ``function``, see
        `function_of`; ``schema``, the name of one in `lib.rows`; ``dataset``, or None; ``identity``, further
        columns of all rows; ``arguments`` of the function by name; ``settings``, the attributes of its
        argument ``settings``, and ``timing``.
    library : str
        From `lib.environment.library_id`.
    inputs : dict of str to path-like
        ``data``, if the cell has a data set; ``code``, a list of files; others are files of rows, arguments
        of the function. Of the code in packages of a paper, a cell depends on its ``modules`` alone.
    """
    files, settings = dict(inputs), dict(cell["settings"])
    digest = _digest_of_inputs(cell, library, {**files, "code": _code_of(cell, files.pop("code", []))})
    if _finished(finished, digest, log):
        shutil.copyfile(finished, output)
        log.info("%s has the rows of this cell", finished)
        return
    named = {} if cell["dataset"] is None else {"dataset": cell["dataset"]}
    identity = {"paper": cell["paper"], "cell": cell["cell"], **named, **cell["identity"], "library": library}
    checkpoint = Checkpoint(Path(finished).with_suffix(".jsonl"), digest)
    job = Job(identity, settings.pop("timing"), log, checkpoint, files.pop("data", None))
    given = {stage: read_rows([path]) for stage, path in files.items()}
    try:
        rows = job.rows(
            function_of(cell["paper"], cell["function"]),
            **cell["arguments"],
            **given,
            settings=SimpleNamespace(**settings),
        )
    except ValueError:
        if job.data is not None:
            with set_aside_if_damaged(job.data):
                Dataset.load(job.data)
        raise
    Path(finished).parent.mkdir(parents=True, exist_ok=True)
    write_rows(finished, rows, getattr(lib.rows, cell["schema"]), digest)
    shutil.copyfile(finished, output)
    checkpoint.path.unlink(missing_ok=True)


def _code_of(cell, paths):
    """Return the files of the code that a cell depends on: of packages in the paper's folder, such as
    ``estimators/``, only its own modules."""
    paths = [Path(path) for path in paths]
    return [
        str(path)
        for path in paths
        if path.parents[1].name != cell["paper"] or f"{path.parent.name}.{path.stem}" in cell["modules"]
    ]


def _digest_of_inputs(cell, library, files):
    """Return a digest of all that the rows of a cell depend on."""
    paths = [file for value in files.values() for file in ([value] if isinstance(value, str) else value)]
    contents = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in sorted(paths)]
    return hashlib.sha256(json.dumps([cell, library, contents], sort_keys=True).encode()).hexdigest()


def _finished(path, digest, log):
    """Return whether a file has the rows of the inputs that the digest is of; a damaged one has not."""
    try:
        return digest_of(path) == digest
    except DamagedError as error:
        log.warning("%s", error)
        return False


def function_of(paper, name):
    """Return a function of a paper, such as ``cells.run_loo`` of a module in its folder."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"papers.{paper}.{module}"), function)
