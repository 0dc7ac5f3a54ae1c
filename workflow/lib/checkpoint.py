"""Checkpoints inside a job: results of a cell's points, so that a killed job resumes where it was."""

import hashlib
import json
import os
import warnings
from pathlib import Path

from svmselect.atomic import replacing

from lib.damage import DamagedError, set_aside_if_damaged
from lib.rows import ERROR


class Checkpoint:
    """Results of finished points in a file to which a line is added for each.

    A line is the SHA-256 of a JSON value and that value: first the `identity`, which is all that the results
    depend on, then one ``[point, result]`` after the other. A last line that a kill has cut off is dropped.
    A file with another line that does not have its hash, or one that cannot be read at all, is renamed to
    ``<name>.damaged``, with a warning, and its points are computed again. One that was written under another
    identity is ignored.
    """

    def __init__(self, path, identity):
        self.path = Path(path)
        # through JSON, so that what is compared is what a file can hold
        self.identity = json.loads(json.dumps(identity))
        self.results = {}
        self.begun = False
        if not self.path.exists():
            return
        try:
            with set_aside_if_damaged(self.path):
                saved, results = self._read()
        except DamagedError as error:
            warnings.warn(str(error), stacklevel=2)
            return
        if saved == self.identity:
            self.results, self.begun = results, True

    def _read(self):
        """Return the identity of the file and its results by point, without a last line that was cut off."""
        lines = self.path.read_bytes().splitlines(keepends=True)
        if len(lines) > 1 and not lines[-1].endswith(b"\n"):
            os.truncate(self.path, sum(map(len, lines[:-1])))
            lines.pop()
        saved, *finished = map(_value_of, lines)
        results = {json.dumps(point): result for point, result in finished}
        if not all(isinstance(value, dict) for value in [saved, *results.values()]):
            raise ValueError("it does not hold an identity and results")
        return saved, results

    def get(self, point):
        """Return the result (dict) of a finished point (list of numbers and strings), or None."""
        return self.results.get(json.dumps(point))

    def add(self, point, result):
        """Keep the result (dict) of a point."""
        if not self.begun:
            with replacing(self.path) as file:
                file.write(_line_of(self.identity))
            self.begun = True
        with open(self.path, "ab") as file:
            file.write(_line_of([point, result]))
        self.results[json.dumps(point)] = result

    def remove(self):
        """Delete the file, once the cell's output is written."""
        self.path.unlink(missing_ok=True)


def _line_of(value):
    content = json.dumps(value).encode()
    return hashlib.sha256(content).hexdigest().encode() + b" " + content + b"\n"


def _value_of(line):
    """Return the value of a line that `_line_of` wrote; any other line raises an exception."""
    recorded, content = line.removesuffix(b"\n").split(b" ", 1)
    if hashlib.sha256(content).hexdigest().encode() != recorded:
        raise ValueError(f"a line does not have the SHA-256 {recorded.decode(errors='replace')[:64]}")
    return json.loads(content)


def run_points(points, run, checkpoint, log):
    """Run each point unless the checkpoint has its result, and yield the row of each.

    A point is a list of numbers and strings; `run`, called with its parts, returns its row, a dict with a
    ``status``. Rows are added to the checkpoint as they come; those with status ``error`` are not, a resumed
    job tries them again.
    """
    n_finished = sum(checkpoint.get(point) is not None for point in points)
    if n_finished:
        log.info("resumed: %d of %d points come from %s", n_finished, len(points), checkpoint.path)
    for number, point in enumerate(points, start=1):
        row = checkpoint.get(point)
        if row is None:
            row = run(*point)
            if row["status"] != ERROR:
                checkpoint.add(point, row)
            cost = "" if row.get("cpu_s") is None else f", {row['cpu_s']:.3f} s of CPU time"
            reason = f" ({row['reason']})" if row.get("reason") else ""
            log.info("point %d of %d, %s: %s%s%s", number, len(points), point, row["status"], reason, cost)
        yield row
