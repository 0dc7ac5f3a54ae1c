"""Checkpoints inside a job: results of a cell's points, so that a killed job resumes where it was."""

import json
from pathlib import Path

from lib.rows import ERROR


class Checkpoint:
    """Results of finished points in a file of JSON lines: the first has the `digest` of all that the results
    depend on, each further one a point and its result.

    A file with another digest is ignored, and so is a line that cannot be read, such as the last one of a job
    that was killed: its point is computed again.
    """

    def __init__(self, path, digest):
        self.path, self.digest, self.results = Path(path), digest, {}
        lines = list(map(_value_of, self.path.read_bytes().splitlines())) if self.path.exists() else []
        self.begun = lines[:1] == [{"digest": digest}]
        if self.begun:
            self.results = {
                json.dumps(line["point"]): line["result"] for line in lines[1:] if line is not None
            }

    def get(self, point):
        """Return the result (dict) of a finished point (list of numbers and strings), or None."""
        return self.results.get(json.dumps(point))

    def add(self, point, result):
        """Store the result (dict) of a point."""
        if not self.begun:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps({"digest": self.digest}))
            self.begun = True
        with open(self.path, "a") as file:
            # a line that was cut off does not join this one
            file.write("\n" + json.dumps({"point": point, "result": result}))
        self.results[json.dumps(point)] = result


def _value_of(line):
    """Return the value of a line, or None if it is not a complete JSON object."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


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
