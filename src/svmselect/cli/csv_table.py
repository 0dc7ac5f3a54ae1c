"""A CSV table as people and programs write it: its delimiter, header, label and features.

What the file does not say itself is guessed. Each guess that may be wrong is a doubt: a sentence that tells
the user what was decided and why, or with ``--strict`` an error.
"""

from __future__ import annotations

import csv
import io
import re

import numpy as np

from svmselect.cli.contents import first_lines
from svmselect.cli.number import DECIMAL_COMMA, is_number

__all__ = ["csv_columns"]

LABEL_NAMES = ("label", "target", "class")
MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
# rows from which on a column of increasing whole numbers is doubted: by chance one in 8! = 40,320 is
ID_ROWS = 8


def csv_columns(path, text, label, ignore, header, delimiter, drop_missing):
    """Features and labels of a CSV table.

    Parameters
    ----------
    path : str or Path
        What errors call the table.
    text : str
    label, ignore, header, delimiter, drop_missing
        As `svmselect.cli.read.read` has them.

    Returns
    -------
    X : ndarray, shape (m, d), float64
    labels : list of str
        As the file has them, without white space around.
    rows : ndarray of int, shape (m,)
        Which of the table's rows of data each is, from 1.
    label_column : str
        For people.
    dropped : int
        Rows left out because a value was missing.
    doubts : list of str

    Raises
    ------
    ValueError
        The sentence names the table, and the line and column where there is one.
    """
    doubts = []
    delimiter = delimiter or _guessed_delimiter(text)
    names, cells, lines = _cells_of(path, text, delimiter, header, doubts)
    width = len(cells[0])
    if width < 2:
        raise ValueError(f"{path}: found one column; a label and a feature are needed (is it --delimiter?)")
    label_column = (
        _column_of(path, label, names, width) if label is not None else _default_label(names, width)
    )
    ignored = {_column_of(path, column, names, width) for column in ignore}
    if label_column in ignored:
        raise ValueError(f"{path}: the label's column {_title(names, label_column)} cannot be ignored")
    features = [j for j in range(width) if j != label_column and j not in ignored]
    features = _without_index(names, cells, features, doubts)
    if not features:
        raise ValueError(f"{path}: no column is left for the features")

    def is_missing(cell, j):
        # a class may be called NA or none, so of the labels empty ones alone are missing
        return cell == "" if j == label_column else cell.lower() in MISSING

    used = sorted([*features, label_column])
    missing = np.array([any(is_missing(row[j], j) for j in used) for row in cells])
    if missing.any() and not drop_missing:
        n = missing.argmax()
        j = next(j for j in used if is_missing(cells[n][j], j))
        raise ValueError(
            f"{path}, line {lines[n]}, column {_title(names, j)}: the value is missing ({cells[n][j]!r}), as "
            f"in {np.count_nonzero(missing)} of {len(cells)} rows; fill it in, or leave such rows out with "
            "--drop-missing"
        )
    if missing.all():
        raise ValueError(f"{path}: every row has a missing value")
    kept = np.flatnonzero(~missing)
    if delimiter != ",":
        _read_decimal_commas(path, [cells[n] for n in kept], lines[kept], features, doubts)
    X = np.empty((kept.size, len(features)))
    for k, j in enumerate(features):
        X[:, k] = _numbers_of(path, [cells[n][j] for n in kept], lines[kept], _title(names, j))
        if _is_like_an_id(X[:, k]):
            doubts.append(
                f"column {_title(names, j)} has another whole number in every row, as an id or a row number "
                f"does; it is taken for a feature, and --ignore {_title(names, j)} leaves it out"
            )
    labels = [cells[n][label_column] for n in kept]
    return X, labels, kept + 1, f"column {_title(names, label_column)}", int(missing.sum()), doubts


def _split(line, delimiter):
    return re.split("[ \t]+", line.strip()) if delimiter is None else line.split(delimiter)


def _guessed_delimiter(text):
    """Comma, semicolon or tab, whichever the first line has most of, else white space (None).

    Commas inside what are numbers with a decimal comma on every line do not count.
    """
    lines = first_lines(text)
    for mark in (";", "\t", None):
        rows = [[cell.strip() for cell in _split(line, mark)] for line in lines]
        with_comma = [cell for row in rows[1:] or rows for cell in row if "," in cell]
        if (
            with_comma
            and all(DECIMAL_COMMA.fullmatch(cell) for cell in with_comma)
            and len(rows[0]) > 1
            and {len(row) for row in rows} == {len(rows[0])}
        ):
            return mark
    counts = {mark: lines[0].count(mark) for mark in ",;\t"}
    best = max(counts, key=counts.get)
    return best if counts[best] else None


def _cells_of(path, text, delimiter, header, doubts):
    """Names of the columns or None, the cells of each row as str, and the line that each row ends in."""
    file = io.StringIO(text, newline="")  # a line ends at CR or LF, and at no other character
    if delimiter is None:
        parsed = [(number, _split(line, None)) for number, line in enumerate(file, 1)]
    else:
        reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True)
        try:
            parsed = [(reader.line_num, row) for row in reader]
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    parsed = [(number, [cell.strip() for cell in row]) for number, row in parsed]
    parsed = [(number, row) for number, row in parsed if any(row)]
    if not parsed:
        raise ValueError(f"{path}: no row of data")
    width = len(parsed[0][1])
    for number, row in parsed:
        if len(row) != width:
            raise ValueError(f"{path}, line {number}: expected {width} columns, found {len(row)}")
    names = None
    if header or (header is None and _is_header([row for _, row in parsed], doubts)):
        names = parsed[0][1]
        parsed = parsed[1:]
    if not parsed:
        raise ValueError(f"{path}: no row of data")
    return names, [row for _, row in parsed], np.array([number for number, _ in parsed])


def _is_header(rows, doubts):
    """Whether the first row names the columns: surely if none of its cells is a number, else by its look."""
    first, rest = rows[0], rows[1:]
    numeric = [cell for cell in first if is_number(cell)]
    if not numeric:
        return True
    if len(rest) < 2:
        return False
    words = [j for j, cell in enumerate(first) if not is_number(cell) and cell.lower() not in MISSING]
    whole = all(re.fullmatch("[0-9]+", cell) for cell in numeric)
    label = _default_label(first, len(first))
    alone = all(row[label] != first[label] for row in rest)
    above_numbers = [j for j in words if all(is_number(row[j]) or row[j].lower() in MISSING for row in rest)]
    if alone and whole and len({*numeric}) == len(numeric) and above_numbers:
        doubts.append(
            f"the first line is taken for names of columns, since {first[above_numbers[0]]!r} stands above "
            "numbers, though some of its cells are numbers; --header or --no-header settles it"
        )
        return True
    counts = [str(n) for n in range(len(numeric))], [str(n + 1) for n in range(len(numeric))]
    if alone and ((numeric == counts[0] and words) or (len(numeric) > 2 and numeric in counts)):
        doubts.append(
            f"the first line is taken for names of columns, since its numbers count from {numeric[0]} and "
            f"{first[label]!r} is no label of another row; --header or --no-header settles it"
        )
        return True
    if alone:
        doubts.append(
            f"the first line is taken for a row of data, though its label {first[label]!r} is that of no "
            "other row, as the name of a column would be; --header or --no-header settles it"
        )
    return False


def _without_index(names, cells, features, doubts):
    """The features without the unnamed first column of different whole numbers that pandas writes."""
    if names is None or names[0] not in ("", "Unnamed: 0") or 0 not in features:
        return features
    column = [row[0] for row in cells]
    if not all(re.fullmatch("-?[0-9]+", cell) for cell in column) or len({*column}) < len(column):
        doubts.append("the first column has no name; it is taken for a feature, and --ignore 1 leaves it out")
        return features
    doubts.append(
        "the first column is left out: it has no name and another whole number in every row, as an index; "
        "give it a name to make it a feature, or --ignore 1 to say so"
    )
    return features[1:]


def _title(names, j):
    """A column for people: its name, or its number from 1."""
    return str(j + 1) if names is None or names[j] == "" else repr(names[j])


def _column_of(path, column, names, width):
    """The number of a column from 0, of a name or a number from 1."""
    if names is not None and column in names:
        if names.count(column) > 1:
            raise ValueError(f"{path}: {names.count(column)} columns are named {column!r}; give a number")
        return names.index(column)
    if re.fullmatch("-?[0-9]+", column):
        number = int(column)
        if 1 <= abs(number) <= width:
            return number - 1 if number > 0 else width + number
        raise ValueError(f"{path}: there is no column {number}, the columns are 1 to {width}")
    found = f"found {', '.join(map(repr, names))}" if names is not None else "the columns have no names"
    raise ValueError(f"{path}: there is no column {column!r} ({found})")


def _default_label(names, width):
    """The column named like a label, if there is one, else the last."""
    likely = [j for j, name in enumerate(names or ()) if name.lower() in LABEL_NAMES]
    return likely[0] if len(likely) == 1 else width - 1


def _read_decimal_commas(path, cells, lines, features, doubts):
    """Put points for decimal commas, in place, or a ValueError where the features have both."""
    places = [(n, j) for n, row in enumerate(cells) for j in features if "," in row[j]]
    places = [(n, j) for n, j in places if DECIMAL_COMMA.fullmatch(cells[n][j])]
    if not places:
        return
    n, j = places[0]
    with_comma = cells[n][j]
    for other, row in enumerate(cells):
        with_point = next((row[j] for j in features if "." in row[j] and is_number(row[j])), None)
        if with_point is not None:
            raise ValueError(
                f"{path}: is the decimal mark of {with_comma!r} in line {lines[n]} a comma, or that of "
                f"{with_point!r} in line {lines[other]} a point? The file has both"
            )
    for n, j in places:
        cells[n][j] = cells[n][j].replace(",", ".")
    doubts.append(
        f"{with_comma!r} and the like are read as {with_comma.replace(',', '.')}, with a decimal comma and "
        "not one of thousands, since something else stands between the columns"
    )


def _numbers_of(path, cells, lines, name):
    """The cells of a feature as float64, or a ValueError."""
    try:
        # what float takes and this reader does not
        odd = next((n for n, cell in enumerate(cells) if "_" in cell or not cell.isascii()), None)
        values = np.array(cells, dtype=np.float64) if odd is None else None
    except ValueError:
        odd = next(n for n, cell in enumerate(cells) if not is_number(cell))
    if odd is not None:
        raise ValueError(
            f"{path}, line {lines[odd]}, column {name}: {cells[odd]!r} is not a number; encode it, or "
            f"leave the column out with --ignore {name}"
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"{path}, line {lines[bad[0]]}, column {name}: {cells[bad[0]]!r} is not finite")
    return values


def _is_like_an_id(column):
    """Whether a feature has different whole numbers that increase, decrease, or are all those of a range."""
    if column.size < ID_ROWS or not (column == np.floor(column)).all():
        return False
    steps = np.diff(column)
    if (steps > 0).all() or (steps < 0).all():
        return True
    return np.ptp(column) == column.size - 1 and np.unique(column).size == column.size
