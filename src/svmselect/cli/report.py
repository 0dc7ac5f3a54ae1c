"""The output of a command: a table for people, or JSON."""

from __future__ import annotations

import json
import math
import sys

import numpy as np

__all__ = ["percent", "show", "table", "text", "visible", "warn"]


def show(result, as_json, lines):
    """Print a result: as JSON, which is ASCII, or the lines for people."""
    if as_json:
        print(json.dumps(_plain(result), indent=1, allow_nan=False))
    else:
        print("\n".join(map(visible, lines)))


def visible(text):
    """Return a text in which every character that is not printed has become an escape such as ``\\x1b``.

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
    """Lines of left-aligned columns; those that hold numbers are right-aligned.

    Parameters
    ----------
    rows : list of sequences
        Cells are str, int or float; all rows have the same length.
    header : sequence of str, optional
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
    """A cell for people: numbers with six digits."""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def percent(share):
    return f"{100 * share:.2f} %"


def warn(sentence):
    """Print a remark on standard error."""
    print(f"svmselect: {visible(str(sentence))}", file=sys.stderr)
