"""Checkpoints inside a job: results of a cell's points, so that a killed job resumes where it was."""

import hashlib
import json
import os
import warnings
from pathlib import Path

from svmselect.data.atomic import replacing

from lib.rows import ERROR


class Checkpoint:
    """Results of finished points in one JSON file, rewritten atomically after each.

    The file carries the SHA-256 of its content. A file that does not have its hash, or cannot be read at all,
    is renamed to ``<name>.damaged``, with a warning, and its points are computed again. One that was written
    under another `identity`, which is all that the results depend on, is ignored.
    """

    def __init__(self, path, identity):
        self.path = Path(path)
        # through JSON, so that what is compared is what a file can hold
        self.identity = json.loads(json.dumps(identity))
        self.results = {}
        if not self.path.exists():
            return
        try:
            saved = _read(self.path)
        except Exception as error:  # damage has no one kind of error
            self._set_aside(" ".join(str(error).split()) or type(error).__name__)
            return
        if saved["identity"] == self.identity:
            self.results = saved["results"]

    def _set_aside(self, why):
        aside = self.path.with_name(f"{self.path.name}.damaged")
        os.replace(self.path, aside)
        warnings.warn(
            f"the checkpoint {self.path} is damaged ({why}): it is kept as {aside.name}, and its points are "
            "computed again",
            stacklevel=3,
        )

    def get(self, point):
        """Result (dict) of a finished point (list of numbers and strings), or None."""
        return self.results.get(json.dumps(point))

    def add(self, point, result):
        """Keep the result (dict) of a point."""
        self.results[json.dumps(point)] = result
        content = {"identity": self.identity, "results": self.results}
        with replacing(self.path) as file:
            file.write(json.dumps({**content, "sha256": _sha256(content)}).encode())

    def remove(self):
        """Delete the file, once the cell's output is written."""
        self.path.unlink(missing_ok=True)


def _read(path):
    """What `Checkpoint.add` wrote: a dict of identity and results; any exception if it is something else."""
    saved = json.loads(path.read_bytes())
    if not isinstance(saved, dict) or set(saved) != {"identity", "results", "sha256"}:
        raise ValueError("it does not hold an identity, results and their SHA-256")
    recorded = saved.pop("sha256")
    if recorded != _sha256(saved):
        raise ValueError(f"its content does not have the SHA-256 {recorded}")
    return saved


def _sha256(content):
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def run_points(points, run, checkpoint, log):
    """Run each point unless the checkpoint has its result, and yield the row of each.

    A point is a list of numbers and strings; `run`, called with its parts, returns its row, a dict with a
    ``status``. Rows are added to the checkpoint as they come; those with status ``error`` are not, a resumed
    job tries them again.
    """
    found = sum(checkpoint.get(point) is not None for point in points)
    if found:
        log.info("resumed: %d of %d points come from %s", found, len(points), checkpoint.path)
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
