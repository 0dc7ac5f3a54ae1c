"""Output of a command: a table for people or JSON, remarks, and a check of the files to be written."""

import json
import math
import os
import sys
from pathlib import Path

import numpy as np

__all__ = [
    "Share",
    "check_outputs",
    "counted",
    "measures",
    "name_of",
    "show",
    "table",
    "text",
    "visible",
    "warn",
]

READ = {"file": "the file that is read", "model": "the model that is read"}
WRITTEN = ("save", "output", "report")
TITLES = {
    "baseline_error": "always the largest class",
    "baseline_mean_absolute_error": "always the median: mean absolute error",
    "seconds": "time in seconds",
}
WORDS = {"loo": "leave-one-out", "cv": "cross-validation", "outer": "whole selection:"}


class Share(float):
    """A number from 0 to 1 that people read in per cent."""


def show(result, as_json, lines):
    """Print a result: as JSON, which is ASCII, or the lines for people."""
    if as_json:
        print(json.dumps(_plain(result), indent=1, allow_nan=False))
    else:
        print("\n".join(map(visible, lines)))


def visible(text):
    r"""Return a text in which every character that is not printed has become an escape such as ``\x1b``.

    Names of files, columns and classes are a stranger's: they must not move the cursor, change the colours or
    the title of a terminal, or begin another line.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _plain(value):
    """Return a value in Python's own types only; a number that is not finite becomes None."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def table(rows, header=None):
    """Return lines of left-aligned columns; those that hold numbers are right-aligned.

    Cells are str, bool, int or float; all rows have the same length.
    """
    cells = [[text(cell) for cell in row] for row in rows]
    right = [all(isinstance(row[j], int | float) for row in rows) for j in range(len(rows[0]))]
    if header is not None:
        cells.insert(0, list(header))
        cells.insert(1, ["-" * max(len(row[j]) for row in cells) for j in range(len(header))])
    widths = [max(len(row[j]) for row in cells) for j in range(len(right))]
    return [
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]


def text(cell):
    """Return a cell for people: numbers with six digits, shares in per cent, yes or no."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Share):
        return f"{100 * cell:.2f} %"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def measures(facts):
    """Return the numbers of a result as rows of a table: names and values for people."""
    rows = []
    for key, value in facts.items():
        words = facts.get("scoring") or key if key == "score" else key
        title = TITLES.get(key, " ".join(WORDS.get(word, word) for word in words.split("_")))
        if isinstance(value, dict):
            rows += [(f"{title} {name}", one) for name, one in value.items()]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            rows.append((title, text(value)))
    return rows


def warn(sentence):
    """Print a remark on standard error."""
    print(f"svmselect: {visible(str(sentence))}", file=sys.stderr)


def counted(n, one, more):
    """Return a number with its noun."""
    return f"{n} {one if n == 1 else more}"


def name_of(label):
    """Return a class for people: whole numbers without a point."""
    return f"{label:.0f}" if isinstance(label, float) and label == math.floor(label) else str(label)


def check_outputs(arguments):
    """Raise a ValueError, before anything is read, for a file that cannot be written, or would be lost."""
    given = vars(arguments)
    taken = {Path(given[name]).resolve(): role for name, role in READ.items() if given.get(name, "-") != "-"}
    for name in WRITTEN:
        paths = given.get(name) or []
        for path in [paths] if isinstance(paths, str) else paths:
            place, folder = Path(path).resolve(), Path(path).absolute().parent
            if Path(path).exists() and not Path(path).is_file():
                kind = "folder" if Path(path).is_dir() else "device"
                raise ValueError(f"--{name} {path}: is a {kind}, not a file")
            if place in taken:
                raise ValueError(f"--{name} {path}: would be written over {taken[place]}")
            if not folder.is_dir():
                raise ValueError(f"--{name} {path}: there is no folder {folder}")
            if not os.access(folder, os.W_OK):
                raise ValueError(f"--{name} {path}: nothing can be written in the folder {folder}")
            taken[place] = f"what --{name} writes"
