"""The rows of a benchmark: a CSV file, and a report in Markdown beside it.

Every row says which code, processor and kernels of BLAS it comes from (see `origin`): this is the one place
that writes them.
"""

from __future__ import annotations

import csv
import io

import origin

from svmselect.atomic import replacing

__all__ = ["current_rows", "read_rows", "write_rows"]


def read_rows(path):
    """Rows of a CSV file as dicts of strings; none where there is no file yet. What an older file does not
    say of their origin is unknown."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        return [row | dict.fromkeys(origin.missing(row), origin.UNKNOWN) for row in rows]


def current_rows(path):
    """The rows of a CSV file that this code has measured on this processor: the others are measured again."""
    here = (origin.library(), origin.processor())
    return [row for row in read_rows(path) if (row["library"], row["processor"]) == here]


def write_rows(path, rows, report=None):
    """Write the rows, at least one, and their report (str, Markdown), each complete or not at all. Rows that
    do not say where they come from are those of this process."""
    here = origin.columns()
    rows = [row | {name: here[name] for name in origin.missing(row)} for row in rows]
    for row in rows:
        unsaid = [name for name in (*here, "version") if row.get(name, name) in ("", None)]
        if unsaid:
            raise ValueError(f"a row of {path.name} has no {unsaid[0]}: {row}")
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
