"""The rows of a benchmark: a CSV file, and a report in Markdown beside it."""

from __future__ import annotations

import csv
import io

from svmselect.data.atomic import replacing

__all__ = ["read_rows", "write_rows"]


def read_rows(path):
    """Rows of a CSV file as dicts of strings; none where there is no file yet."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path, rows, report=None):
    """Write the rows, at least one, and their report (str, Markdown), each complete or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    contents = {path: text.getvalue()}
    if report is not None:
        contents[path.with_suffix(".md")] = report
    for name, content in contents.items():
        with replacing(name) as file:
            file.write(content.encode())
