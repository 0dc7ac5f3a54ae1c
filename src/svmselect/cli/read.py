"""The user's files: features and labels of a CSV table or of LIBSVM text, or what is wrong in a sentence."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from svmselect.cli.contents import contents
from svmselect.data.formats import parse_libsvm

__all__ = ["Table", "read"]

LIBSVM_LINE = re.compile(r"\s*[^\s,;:]+(\s+\d+:\S+)+\s*(#.*)?")
LABEL_NAMES = ("label", "target", "class")
MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
SAMPLE = 65536  # characters that the delimiter is guessed from
MOST_CLASSES = 50


@dataclass(frozen=True)
class Table:
    """Rows of a file.

    Attributes
    ----------
    X : ndarray or CSR matrix, shape (m, d), float64
    numbers : ndarray of int, shape (m,)
        Which of the file's rows of data each is, from 1.
    labels : ndarray, shape (m,)
        float64 where all of them are numbers, else str.
    label_column : str
        What the labels were read from, for people.
    dropped : int
        Rows left out because a value was missing.
    """

    X: np.ndarray | scipy.sparse.csr_matrix
    numbers: np.ndarray
    labels: np.ndarray
    label_column: str
    dropped: int = 0


def read(path, format="auto", label=None, ignore=(), header=None, delimiter=None, drop_missing=False):
    """Read a file.

    Parameters
    ----------
    path : str or Path
        See `contents`.
    format : {"auto", "csv", "libsvm"}
        By default told from the first line.
    label : str, optional
        Name or number (from 1, negative from the end) of the label's column in a CSV file; by default the
        one named label, target or class, else the last.
    ignore : sequence of str
        Columns that are neither features nor label.
    header : bool, optional
        Whether the first line names the columns; by default it does if none of its cells is a number.
    delimiter : str, optional
        By default a comma, semicolon, tab or white space, told from the first lines.
    drop_missing : bool
        Leave out rows with a missing value, instead of an error.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        The sentence names the file, and the line and column where there is one.
    """
    text = contents(path)
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError(f"{path}: the file is empty")
    if format == "auto":
        format = "libsvm" if LIBSVM_LINE.fullmatch(lines[0]) else "csv"
    if format == "csv":
        return csv_table(path, text, label, ignore, header, delimiter, drop_missing)
    for option, value in (("--label", label), ("--ignore", ignore), ("--delimiter", delimiter)):
        if value:
            raise ValueError(f"{path}: {option} is for CSV files, and this one is LIBSVM text")
    X, labels = parse_libsvm(io.BytesIO(text.encode()), None, str(path))
    if X.shape[1] == 0:
        raise ValueError(f"{path}: no row has a feature")
    bad = np.flatnonzero(~np.isfinite(X.data))
    if bad.size:
        row = np.searchsorted(X.indptr, bad[0], side="right")
        raise ValueError(f"{path}, row {row}: the value of feature {X.indices[bad[0]] + 1} is not finite")
    labels = checked_labels(labels, f"{path}: the label")
    return Table(X, np.arange(1, labels.size + 1), labels, "first of each line")


def csv_table(path, text, label, ignore, header, delimiter, drop_missing):
    """Features and labels of a CSV file."""
    delimiter = delimiter or guessed_delimiter(text[:SAMPLE])
    names, cells, lines = cells_of(path, text, delimiter, header)
    width = len(cells[0])
    if width < 2:
        raise ValueError(f"{path}: found one column; a label and a feature are needed (is it --delimiter?)")
    label_column = column_of(path, label, names, width) if label is not None else default_label(names, width)
    ignored = {column_of(path, column, names, width) for column in ignore}
    if label_column in ignored:
        raise ValueError(f"{path}: the label's column {title(names, label_column)} cannot be ignored")
    features = [j for j in range(width) if j != label_column and j not in ignored]
    if not features:
        raise ValueError(f"{path}: no column is left for the features")
    used = [*features, label_column]
    missing = np.array([any(row[j].strip().lower() in MISSING for j in used) for row in cells])
    if missing.any() and not drop_missing:
        n = missing.argmax()
        j = next(j for j in sorted(used) if cells[n][j].strip().lower() in MISSING)
        raise ValueError(
            f"{path}, line {lines[n]}, column {title(names, j)}: the value is missing ({cells[n][j]!r}), as "
            f"in {np.count_nonzero(missing)} of {len(cells)} rows; fill it in, or leave such rows out with "
            "--drop-missing"
        )
    if missing.all():
        raise ValueError(f"{path}: every row has a missing value")
    kept = np.flatnonzero(~missing)
    X = np.empty((kept.size, len(features)))
    for k, j in enumerate(features):
        X[:, k] = numbers_of(path, [cells[n][j] for n in kept], lines, kept, title(names, j))
    labels = np.array([cells[n][label_column].strip() for n in kept])
    name = title(names, label_column)
    labels = checked_labels(labels, f"{path}, column {name}")
    return Table(X, kept + 1, labels, f"column {name}", int(missing.sum()))


def guessed_delimiter(sample):
    """The first of comma, semicolon and tab that the first line has, else white space (None)."""
    first = next(line for line in sample.splitlines() if line.strip())
    counts = {mark: first.count(mark) for mark in ",;\t"}
    best = max(counts, key=counts.get)
    return best if counts[best] else None


def cells_of(path, text, delimiter, header):
    """Names of the columns or None, the cells of each row as str, and the line that each row ends in."""
    if delimiter is None:
        parsed = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1)]
    else:
        reader = csv.reader(text.splitlines(), delimiter=delimiter, skipinitialspace=True)
        try:
            parsed = [(reader.line_num, row) for row in reader]
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    parsed = [(number, row) for number, row in parsed if any(cell.strip() for cell in row)]
    names = None
    if header or (header is None and not any(is_number(cell) for cell in parsed[0][1])):
        names = [cell.strip() for cell in parsed[0][1]]
        parsed = parsed[1:]
    if not parsed:
        raise ValueError(f"{path}: no row of data")
    width = len(parsed[0][1]) if names is None else len(names)
    for number, row in parsed:
        if len(row) != width:
            raise ValueError(f"{path}, line {number}: expected {width} columns, found {len(row)}")
    return names, [row for _, row in parsed], [number for number, _ in parsed]


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return cell.strip().lower() not in MISSING


def title(names, j):
    """A column for people: its name, or its number from 1."""
    return str(j + 1) if names is None else repr(names[j])


def column_of(path, column, names, width):
    """The number of a column from 0, of a name or a number from 1."""
    if names is not None and column in names:
        if names.count(column) > 1:
            raise ValueError(f"{path}: {names.count(column)} columns are named {column!r}; give a number")
        return names.index(column)
    if re.fullmatch(r"-?\d+", column):
        number = int(column)
        if 1 <= abs(number) <= width:
            return number - 1 if number > 0 else width + number
        raise ValueError(f"{path}: there is no column {number}, the columns are 1 to {width}")
    found = f"found {', '.join(names)}" if names is not None else "the columns have no names"
    raise ValueError(f"{path}: there is no column {column!r} ({found})")


def default_label(names, width):
    """The column named like a label, if there is one, else the last."""
    likely = [j for j, name in enumerate(names or ()) if name.lower() in LABEL_NAMES]
    return likely[0] if len(likely) == 1 else width - 1


def numbers_of(path, cells, lines, kept, name):
    """The cells of a feature as float64, or a ValueError."""
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        n = next(n for n, cell in enumerate(cells) if not is_number(cell))
        raise ValueError(
            f"{path}, line {lines[kept[n]]}, column {name}: {cells[n]!r} is not a number; encode it, or "
            f"leave the column out with --ignore {name}"
        ) from None
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"{path}, line {lines[kept[bad[0]]]}, column {name}: {cells[bad[0]]!r} is not finite"
        )
    return values


def checked_labels(labels, where):
    """Labels as float64 if all are numbers, else as str; a ValueError unless they are classes."""
    if labels.dtype.kind == "U" and all(is_number(label) for label in labels):
        labels = labels.astype(np.float64)
    n = np.unique(labels).size
    if n < 2:
        raise ValueError(f"{where} holds one class only: {labels[0]}")
    if n > MOST_CLASSES and 2 * n > labels.size:
        raise ValueError(
            f"{where} holds {n} different values in {labels.size} rows: that is no class label (see --label)"
        )
    return labels
