"""Checkpoints inside a job: results of a cell's points, so that a killed job resumes where it was."""

from __future__ import annotations

import json
from pathlib import Path

from lib.rows import ERROR
from svmselect.data.atomic import replacing

__all__ = ["Checkpoint", "run_points"]


class Checkpoint:
    """Results of finished points in one JSON file, rewritten atomically after each.

    Parameters
    ----------
    path : path-like
    identity : dict
        All that the results depend on. A file written under another identity is ignored.
    """

    def __init__(self, path, identity):
        self.path = Path(path)
        # through JSON, so that what is compared is what a file can hold
        self.identity = json.loads(json.dumps(identity))
        self.results = {}
        if self.path.exists():
            try:
                saved = json.loads(self.path.read_text())
            except json.JSONDecodeError:
                saved = {}
            if saved.get("identity") == self.identity:
                self.results = saved["results"]

    def get(self, point):
        """Result (dict) of a finished point (list of numbers and strings), or None."""
        return self.results.get(json.dumps(point))

    def add(self, point, result):
        """Keep the result (dict) of a point."""
        self.results[json.dumps(point)] = result
        with replacing(self.path) as file:
            file.write(json.dumps({"identity": self.identity, "results": self.results}).encode())

    def remove(self):
        """Delete the file, once the cell's output is written."""
        self.path.unlink(missing_ok=True)


def run_points(points, run, checkpoint, log):
    """Run each point unless the checkpoint has its result.

    Parameters
    ----------
    points : list of list
        Numbers and strings that name a point.
    run : callable
        Called with the parts of a point; returns its row, a dict with a ``status``.
    checkpoint : Checkpoint
        Rows are added as they come; those with status ``error`` are not, a resumed job tries them again.
    log : logging.Logger

    Returns
    -------
    list of dict
    """
    found = sum(checkpoint.get(point) is not None for point in points)
    if found:
        log.info("resumed: %d of %d points come from %s", found, len(points), checkpoint.path)
    rows = []
    for number, point in enumerate(points, start=1):
        row = checkpoint.get(point)
        if row is None:
            row = run(*point)
            if row["status"] != ERROR:
                checkpoint.add(point, row)
            cost = "" if row.get("cpu_s") is None else f", {row['cpu_s']:.3f} s of CPU time"
            reason = f" ({row['reason']})" if row.get("reason") else ""
            log.info("point %d of %d, %s: %s%s%s", number, len(points), point, row["status"], reason, cost)
        rows.append(row)
    return rows
