"""A CSV table as people and programs write it: its delimiter, header, label and features.

Everything that the file does not tell is guessed. Each guess that may be wrong is a doubt: a sentence that
tells the user the decision and its reason, or with ``--strict`` an error.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

__all__ = [
    "MISSING",
    "SAMPLE",
    "Cells",
    "Layout",
    "csv_columns",
    "guessed_delimiter",
    "is_number",
    "known_columns",
    "look_alikes",
]

SAMPLE = 20  # lines from which the format of a text is told
LABEL_NAMES = ("label", "target", "class")
MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
# Python's float also takes 1_000, digits of other scripts and words
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
DECIMAL_COMMA = re.compile(r"[+-]?([0-9]+,[0-9]+|,[0-9]+)([eE][+-]?[0-9]+)?")
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?")
MONEY = "$€£¥"
WITH_UNIT = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>[{MONEY}]?)\s?(?P<number>-?[0-9.,]*[0-9][0-9.,]*([eE][+-]?[0-9]+)?)"
    rf"\s?(?P<after>[%{MONEY}]?)"
)
MARKS = re.compile(rf"[%,{MONEY}]")


@dataclass(frozen=True)
class Layout:
    """The places of features and label in a table, by which they are found in other tables.

    Attributes
    ----------
    names : tuple of str, or None
        The features' names; None where columns have no names, or several have one.
    places : tuple of int
        The columns of the features, counted from 0.
    label_name : str or None
    label_place : int or None
        None where the table has no label.
    width : int
        Columns in all.
    """

    names: tuple[str, ...] | None
    places: tuple[int, ...]
    label_name: str | None
    label_place: int | None
    width: int


@dataclass(frozen=True)
class Cells:
    """The rows of a table as text, and which columns are features.

    Attributes
    ----------
    path : str or Path
        The name of the table in errors.
    names : list of str, or None
    rows : list of lists of str
        Without white space around.
    lines : ndarray of int, shape (m,)
        The line that each row ends in.
    numbers : ndarray of int, shape (m,)
        Which of the table's rows of data each is, from 1.
    features : list of int
    label : int or None
    groups : int or None
        The column of the groups that the rows belong to.
    """

    path: str | Path
    names: list[str] | None
    rows: list[list[str]]
    lines: np.ndarray
    numbers: np.ndarray
    features: list[int]
    label: int | None
    groups: int | None = None

    def take(self, rows):
        """Return some of the rows, by an array of row numbers from 0."""
        rows = np.asarray(rows)
        taken = [self.rows[n] for n in rows]
        return replace(self, rows=taken, lines=self.lines[rows], numbers=self.numbers[rows])

    def column(self, j):
        """Return the cells of a column."""
        return [row[j] for row in self.rows]

    def title(self, j):
        """Return a column for people: its name, or its number from 1."""
        return _title(self.names, j)

    @property
    def label_is_named(self):
        """Whether the label's column has a name of labels."""
        return self.names is not None and self.names[self.label].lower() in LABEL_NAMES

    @property
    def layout(self):
        """The `Layout` of the table."""
        names = None if self.names is None else tuple(self.names[j] for j in self.features)
        if names is not None and ("" in names or any(self.names.count(name) > 1 for name in names)):
            names = None
        is_named = self.names is not None and self.label is not None
        label_name = (self.names[self.label] or None) if is_named else None
        return Layout(names, tuple(self.features), label_name, self.label, len(self.rows[0]))


def csv_columns(
    path,
    text,
    label,
    ignore,
    header,
    delimiter,
    drop_missing,
    categorical=(),
    impute=False,
    groups=None,
    labelled=True,
):
    """Return the columns of a table to train on.

    Parameters
    ----------
    path : str or Path
        The name of the table in errors.
    text : str or tuple
        A CSV table; or the names and the cells of another one.
    label, ignore, header, delimiter, drop_missing, categorical, impute, groups
        See `svmselect.cli.read.read`.
    labelled : bool
        Whether a column is the label though `label` names none.

    Returns
    -------
    cells : Cells
    categorical : set of int
        The columns that `categorical` names.
    dropped : int
        Rows left out because a value was missing.
    doubts : list of str

    Raises
    ------
    ValueError
        The sentence names the table, and the line and column where there is one.
    """
    # columns of the label, the groups and the features
    doubts = []
    labelled = labelled or label is not None
    names, cells, lines, delimiter = _parsed(path, text, delimiter, header, label, doubts, labelled=labelled)
    width = len(cells[0])
    if width < 2 and labelled:
        raise ValueError(f"{path}: found one column; a label and a feature are needed (is it --delimiter?)")
    if label is not None:
        label_column = _column_of(path, label, names, width)
    else:
        label_column = _default_label(names, width) if labelled else None
    ignored = {_column_of(path, column, names, width) for column in ignore}
    if labelled and label_column in ignored:
        raise ValueError(f"{path}: the label's column {_title(names, label_column)} cannot be ignored")
    group_column = None if groups is None else _column_of(path, groups, names, width)
    if group_column is not None and group_column in {label_column, *ignored}:
        role = "the label's" if group_column == label_column else "an ignored one"
        raise ValueError(f"{path}: the groups' column {_title(names, group_column)} is {role}")
    apart = {label_column, group_column, *ignored} - {None}
    features = [j for j in range(width) if j not in apart]
    if not labelled:
        _doubt_features(names, features, doubts)
    elif label is None and 0 in features:
        _doubt_label(names, cells, label_column, doubts)
    features = _without_index(names, cells, features, doubts)
    if not features:
        raise ValueError(f"{path}: no column is left for the features")
    categorical = {_column_of(path, column, names, width) for column in categorical}
    if categorical - {*features}:
        j = min(categorical - {*features})
        raise ValueError(f"{path}: --categorical is for features, and column {_title(names, j)} is none")

    # rows without a missing value
    def is_missing(cell, j):
        # a class may be called NA or none, so of labels and groups empty ones alone are missing
        named = j in (label_column, group_column)
        return cell == "" if named else not impute and cell.lower() in MISSING

    used = sorted([*features, *({label_column, group_column} - {None})])
    missing = np.array([any(is_missing(row[j], j) for j in used) for row in cells])
    if missing.any() and not drop_missing:
        n = missing.argmax()
        j = next(j for j in used if is_missing(cells[n][j], j))
        fill = "" if impute else ", or have features filled in with --impute"
        raise ValueError(
            f"{path}, line {lines[n]}, column {_title(names, j)}: the value is missing ({cells[n][j]!r}), as "
            f"in {np.count_nonzero(missing)} of {len(cells)} rows; fill it in, or leave such rows out with "
            f"--drop-missing{fill}"
        )
    if missing.all():
        raise ValueError(f"{path}: every row has a missing value")
    # their cells, with plain numbers
    complete = np.flatnonzero(~missing)
    rows = [cells[n] for n in complete]
    table = Cells(path, names, rows, lines[complete], complete + 1, features, label_column, group_column)
    _read_marked_numbers(table, [j for j in features if j not in categorical], delimiter, doubts)
    return table, categorical, int(missing.sum()), doubts


def known_columns(path, text, layout, n_columns, categorical, label, header, delimiter):
    """Return the columns of a table that a model was trained on, as Cells, and doubts.

    They are found by name where both tables have names, else by place: the table has either the columns of
    the table that the model was trained on, with or without the label, or the features alone.

    Parameters
    ----------
    path, text
        See `csv_columns`.
    layout : Layout or None
        The layout of the table that the model was trained on; None if that was no table.
    n_columns : int
        Features of such a table.
    categorical : list of bool
        Whether each feature of `layout` is a column of categories.
    label, header, delimiter
        See `svmselect.cli.read.read`.
    """
    doubts = []
    model_names = layout.names if layout is not None else None
    labelled = label is not None or layout is None or layout.label_place is not None
    names, cells, lines, delimiter = _parsed(
        path, text, delimiter, header, label, doubts, model_names, labelled
    )
    width = len(cells[0])
    label_column = None if label is None else _column_of(path, label, names, width)
    if names is not None and model_names is not None:
        if absent := [name for name in model_names if name not in names]:
            more = f", nor {len(absent) - 1} others," if len(absent) > 1 else ","
            raise ValueError(
                f"{path}: there is no column {absent[0]!r}{more} which the model was trained on "
                f"(found {', '.join(map(repr, names))})"
            )
        features = [_column_of(path, name, names, width) for name in model_names]
        if label_column is None and layout.label_name in names:
            label_column = names.index(layout.label_name)
    else:
        features, label_column = _by_place(path, names, width, layout, n_columns, label_column)
    if label_column in features:
        raise ValueError(
            f"{path}: column {_title(names, label_column)} is a feature of the model, so it has no labels"
        )
    numbers = np.arange(1, len(cells) + 1)
    table = Cells(path, names, cells, lines, numbers, features, label_column)
    numeric = [j for j, is_words in zip(features, categorical, strict=True) if not is_words]
    _read_marked_numbers(table, numeric, delimiter, doubts)
    return table, doubts


def _by_place(path, names, width, layout, n_columns, label):
    """Return the places of the features and of the label, or None, where column names do not tell them."""
    if layout is not None and width == layout.width:
        return list(layout.places), layout.label_place if label is None else label
    labelled = layout is None or layout.label_place is not None
    if layout is not None and labelled and width == layout.width - 1 and label is None:
        return [j - (j > layout.label_place) for j in layout.places], None
    if width == n_columns and label is None:
        return list(range(width)), None
    if width == n_columns + 1 and (labelled or label is not None):
        label = _default_label(names, width) if label is None else label
        return [j for j in range(width) if j != label], label
    raise ValueError(
        f"{path}: the model was trained on {n_columns} features, and the table has {width} columns: expected "
        f"{n_columns}, or {n_columns + 1} with labels"
    )


def _parsed(path, text, delimiter, header, label, doubts, model_names=None, labelled=True):
    """Return the names or None, the cells, the line of each row, and the delimiter of a table."""
    if not isinstance(text, str):
        for option, value in (("--header", header), ("--delimiter", delimiter)):
            if value is not None:
                raise ValueError(f"{path}: {option} is for CSV files, and this one is Parquet")
        names, cells = text
        return names, cells, np.arange(1, len(cells) + 1), ","
    delimiter = delimiter or guessed_delimiter(text)
    return *_cells_of(path, text, delimiter, header, label, doubts, model_names, labelled), delimiter


def _split(line, delimiter):
    return re.split("[ \t]+", line.strip()) if delimiter is None else line.split(delimiter)


def _first_lines(text):
    """Return the first lines of a text that are not blank, from which its format is told."""
    # an end of a line is CR or LF, and no other character that Unicode calls so
    lines = io.StringIO(text, newline="")
    return list(islice((line for line in lines if line.strip()), SAMPLE))


def guessed_delimiter(text):
    """Return the mark that the first line has most of, of comma, semicolon and tab; None for white space.

    Commas do not count if on every line they are inside numbers with a decimal comma.
    """
    lines = _first_lines(text)
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


def _cells_of(path, text, delimiter, header, label, doubts, model_names, labelled):
    """Return the names of the columns or None, the cells of each row, and the line that each row ends in."""
    file = io.StringIO(text, newline="")  # a line ends at CR or LF, and at no other character
    if delimiter is None:
        parsed = [(number, _split(line, None)) for number, line in enumerate(file, 1)]
    else:
        reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True)
        try:
            parsed = [(reader.line_num, row) for row in reader]
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
        last = parsed[-1][1][-1:] if parsed else []
        if re.search("[\r\n]", "".join(last)) and text.count('"') % 2:
            begin = parsed[-2][0] + 1 if len(parsed) > 1 else 1
            raise ValueError(f"{path}, line {begin}: a quote that begins there is not closed")
    parsed = [(number, [cell.strip() for cell in row]) for number, row in parsed]
    parsed = [(number, row) for number, row in parsed if any(row)]
    if not parsed:
        raise ValueError(f"{path}: no row of data")
    width = len(parsed[0][1])
    for number, row in parsed:
        if len(row) != width:
            raise ValueError(f"{path}, line {number}: expected {width} columns, found {len(row)}")
    names, rows = None, [row for _, row in parsed]
    if header or (header is None and _is_header(rows, label, doubts, model_names, labelled)):
        names = parsed[0][1]
        parsed = parsed[1:]
    if not parsed:
        raise ValueError(f"{path}: no row of data")
    return names, [row for _, row in parsed], np.array([number for number, _ in parsed])


def _is_header(rows, label, doubts, model_names, labelled):
    """Return whether the first row names the columns.

    It surely does if it has names that are looked for, or if none of its cells is a number while others are.
    Else its look decides, with a doubt.
    """
    # names that are looked for, or no number
    first, rest = rows[0], rows[1:]
    if label in first and not is_number(label):
        return True
    if model_names is not None:
        named = [name for name in model_names if name in first]
        if len(named) == len(model_names) or not all(map(is_number, named)):
            return True
    numeric = [cell for cell in first if is_number(cell)]
    if not numeric:
        if rest and not any(_is_marked_number(cell) for row in rest for cell in row):
            doubts.append(
                "the first line is taken for names of columns, though no cell of the table is a number; "
                "--header or --no-header settles it"
            )
        return True
    if len(rest) < 2:
        return False
    # words above numbers, or numbers that count the columns, with a label that no other row has
    words = [j for j, cell in enumerate(first) if not is_number(cell) and cell.lower() not in MISSING]
    whole = all(re.fullmatch("[0-9]+", cell) for cell in numeric)
    is_place = label is not None and re.fullmatch("-?[1-9][0-9]*", label) and abs(int(label)) <= len(first)
    label = int(label) - (int(label) > 0) if is_place else _default_label(first, len(first))
    alone = not labelled or all(row[label] != first[label] for row in rest)
    above_numbers = [j for j in words if all(is_number(row[j]) or row[j].lower() in MISSING for row in rest)]
    if alone and whole and len({*numeric}) == len(numeric) and above_numbers:
        doubts.append(
            f"the first line is taken for names of columns, since {first[above_numbers[0]]!r} stands above "
            "numbers, though some of its cells are numbers; --header or --no-header settles it"
        )
        return True
    counts = [str(n) for n in range(len(numeric))], [str(n + 1) for n in range(len(numeric))]
    if alone and ((numeric == counts[0] and words) or (len(numeric) > 2 and numeric in counts)):
        reason = f" and {first[label]!r} is no label of another row" if labelled else ""
        doubts.append(
            f"the first line is taken for names of columns, since its numbers count from {numeric[0]}"
            f"{reason}; --header or --no-header settles it"
        )
        return True
    if alone and labelled:
        doubts.append(
            f"the first line is taken for a row of data, though its label {first[label]!r} is that of no "
            "other row, as the name of a column would be; --header or --no-header settles it"
        )
    return False


def _without_index(names, cells, features, doubts):
    """Return the features without an unnamed first column of different whole numbers, as pandas writes it."""
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
    """Return a column for people: its name, or its number from 1."""
    return str(j + 1) if names is None or names[j] == "" else repr(names[j])


def _column_of(path, column, names, width):
    """Return the number of a column from 0, given its name or its number from 1."""
    if names is not None and column in names:
        if names.count(column) > 1:
            raise ValueError(f"{path}: {names.count(column)} columns are named {column!r}; give a number")
        return names.index(column)
    if re.fullmatch("-?[0-9]+", column):
        number = int(column)
        if 1 <= abs(number) <= width:
            return number - 1 if number > 0 else width + number
        raise ValueError(f"{path}: there is no column {number}, the columns are 1 to {width}")
    description = f"found {', '.join(map(repr, names))}" if names is not None else "the columns have no names"
    raise ValueError(f"{path}: there is no column {column!r} ({description})")


def _default_label(names, width):
    """Return the column named like a label, if there is one, else the last."""
    likely = [j for j, name in enumerate(names or ()) if name.lower() in LABEL_NAMES]
    return likely[0] if len(likely) == 1 else width - 1


def _doubt_label(names, cells, label, doubts):
    """Add a doubt if the last column is taken for the label by its place, and the first is more like one."""
    if label != len(cells[0]) - 1 or (names is not None and names[label].lower() in LABEL_NAMES):
        return
    first, last = ({row[j] for row in cells} for j in (0, label))
    if any(is_number(cell) and float(cell) % 1 for cell in first):
        return
    likeness = None
    if 2 <= len(first) < len(last) and 2 * len(first) <= len(cells):
        likeness = f"fewer different values, {len(first)} to {len(last)}"
    elif len(first) > 2 and first == last:  # two values are often 0 and 1 everywhere
        likeness = "the same values, as features without a label would"
    if likeness is not None:
        doubts.append(
            f"column {_title(names, label)} is taken for the label since it is the last one, and column "
            f"{_title(names, 0)} has {likeness}; --label settles it"
        )


def _doubt_features(names, features, doubts):
    """Add a doubt for each feature that is named like a label."""
    doubts += [
        f"column {names[j]!r} is taken for a feature, since no --label is given; --ignore {names[j]} leaves "
        "it out"
        for j in features
        if names is not None and names[j].lower() in LABEL_NAMES
    ]


def look_alikes(words):
    """Return two words that differ only by case, white space or the form of characters, or None."""
    by_form = {}
    for word in words:
        form = " ".join(unicodedata.normalize("NFKC", word).casefold().split())
        if by_form.setdefault(form, word) != word:
            return by_form[form], word
    return None


def _read_marked_numbers(table, numeric, delimiter, doubts):
    """Replace numbers with a decimal comma, commas of thousands or a unit by plain ones, in place."""
    if delimiter != ",":
        _read_decimal_commas(table.path, table.rows, table.lines, numeric, doubts)
    for j in numeric:
        present = [row for row in table.rows if row[j].lower() not in MISSING]
        numbers = _bare_numbers([row[j] for row in present], thousands=delimiter == ",")
        if numbers is None:
            continue
        n = next(n for n, (row, number) in enumerate(zip(present, numbers, strict=True)) if row[j] != number)
        doubts.append(
            f"{present[n][j]!r} and the like in column {table.title(j)} are read as numbers, this one as "
            f"{numbers[n]}"
        )
        for row, number in zip(present, numbers, strict=True):
            row[j] = number


def _read_decimal_commas(path, cells, lines, features, doubts):
    """Replace decimal commas by points, in place; raise a ValueError where the features have both."""
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


def is_number(word: str) -> bool:
    """Return whether a word is a number in digits 0 to 9, with at most a decimal point and an exponent."""
    return NUMBER.fullmatch(word.strip()) is not None


def _is_marked_number(word: str) -> bool:
    """Return whether a word may be a number with commas, a sign of money or a per cent sign."""
    return WITH_UNIT.fullmatch(word) is not None


def _bare_numbers(words, thousands):
    """Return numbers without a sign of money, a per cent sign and commas.

    It is None unless all words are numbers that are written in one such way. Commas may group thousands if
    `thousands`; else they are decimal commas only.
    """
    if not MARKS.search("".join(words)):
        return None
    matches = [WITH_UNIT.fullmatch(word) for word in words]
    if not all(matches) or len({(match["before"], match["after"]) for match in matches}) > 1:
        return None
    numbers = [match["sign"] + match["number"] for match in matches]
    with_comma = [number for number in numbers if "," in number]
    if with_comma and thousands and all(map(THOUSANDS.fullmatch, with_comma)):
        numbers = [number.replace(",", "") for number in numbers]
    elif with_comma and all(map(DECIMAL_COMMA.fullmatch, with_comma)) and "." not in "".join(numbers):
        numbers = [number.replace(",", ".") for number in numbers]
    return numbers if all(map(is_number, numbers)) else None
