"""Tidy rows, which figures and checks read as CSV, and tables for readers.

A line of a table is about a data set, a setting, a method or several of these. The function of a column
(`arranged`) finds tidy values (`lookup`) by the line and the rest of their key.
"""

from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd

from lib.files import write_csv
from lib.shown import dataset_in_words

# the columns of papers/*/printed.csv: reproduced and published values join row by row
TIDY_COLUMNS = ["exhibit", "dataset", "setting", "method", "metric", "value", "spread", "unit"]
KEY = TIDY_COLUMNS[:5]

MISSING = "n/a"
# the note below a table that has printed numbers (`beside`)
IN_BRACKETS = "In brackets: the number that the paper prints."
_TEX = str.maketrans(
    {
        **{character: "\\" + character for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "<": "$<$",
        ">": "$>$",
        "⁶": "$^6$",
    }
)


def measured(row_key, metric, value, unit, spread=np.nan):
    """Return a tidy row; `row_key` has the exhibit and the data set, and the setting and the method if there
    are any."""
    named = {"setting": "", "method": "", **row_key}
    return {**named, "metric": metric, "value": value, "spread": spread, "unit": unit}


def averaged(row_key, metric, values, unit):
    """Return a tidy row with the mean of some values (Series), and their standard deviation (n - 1) as its
    spread."""
    return measured(row_key, metric, values.mean(), unit, values.std(ddof=1))


def lookup(tidy, by=tuple(KEY[1:])):
    """Return a function of data set, setting, method and metric, or of other columns of tidy rows
    (DataFrame), that returns value and spread; both are NaN where there is no such row."""
    keys = tidy[list(by)].fillna("").itertuples(index=False, name=None)
    pairs = tidy[["value", "spread"]].itertuples(index=False, name=None)
    pairs_by_key = dict(zip(keys, pairs, strict=True))
    return lambda *key: pairs_by_key.get(key, (np.nan, np.nan))


def printed_text(published, exhibit, by=tuple(KEY[1:])):
    """Return a function of data set, setting, method and metric, or of other columns, that returns what a
    paper prints in one of its exhibits as text, with its spread if it prints one; "" if it prints nothing.
    `published` is from `lib.tolerances.read_published`, or None of a paper that prints no numbers."""
    if published is None:
        return lambda *key: ""
    rows = published[published["exhibit"] == exhibit]
    keys = rows[list(by)].fillna("").itertuples(index=False, name=None)
    texts = map(_as_printed, rows["printed"], rows["spread"])
    text_by_key = dict(zip(keys, texts, strict=True))
    return lambda *key: text_by_key.get(key, "")


def _as_printed(text, spread):
    decimals = len(text.partition(".")[2])
    return text if pd.isna(spread) else f"{text} ± {spread:.{decimals}f}"


def part_of(tidy, exhibit, metric, **columns):
    """Return the tidy rows of a metric of an exhibit, and of a data set, setting or method."""
    conditions = {"exhibit": exhibit, "metric": metric, **columns}
    return tidy[np.logical_and.reduce([tidy[name] == value for name, value in conditions.items()])]


def by_method(tidy, index):
    """Return the values of tidy rows of one metric: a DataFrame of methods by one or several other
    columns."""
    return tidy.pivot(index=index, columns="method", values="value")


def arranged(lines, columns, notes):
    """Return the `Table` of some `lines`, tuples that say what a line of the table is about. Each column is
    its group ("" for none), its heading, and a function of the parts of a line that returns the text of a
    cell."""
    headings = pd.MultiIndex.from_tuples([(group, heading) for group, heading, _ in columns])
    body = [[text(*line) for _, _, text in columns] for line in lines]
    return Table(pd.DataFrame(body, columns=headings), notes)


def write_tidy(path, rows):
    """Write tidy rows to a CSV file, dicts with keys of `TIDY_COLUMNS` or a DataFrame; what is missing is
    empty. No two may have the same exhibit, data set, setting, method and metric. A DataFrame may have other
    columns, if numbers by data set and method are not what the exhibit is about."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows), columns=TIDY_COLUMNS)
    twice = frame[frame.duplicated(KEY)] if is_tidy(frame) else ()
    if len(twice):
        raise ValueError(f"{path}: two rows for {tuple(twice.iloc[0][KEY])}")
    write_csv(path, frame, float_format="%.10g")


def read_tidy(path):
    """Return the rows of a CSV file that `write_tidy` wrote: in tidy rows, values and spreads are numbers,
    the other columns text."""
    return pd.read_csv(path, dtype={name: str for name in TIDY_COLUMNS if name not in ("value", "spread")})


def by_number(rows):
    """Return tidy rows with their settings as numbers, from the least on. A `ValueError` names the exhibit
    and a setting that is no number."""
    try:
        numbers = rows["setting"].astype(float)
    except ValueError as error:
        exhibits = ", ".join(map(str, rows["exhibit"].unique()))
        raise ValueError(
            f"The settings of {exhibits} have to be numbers, as a curve is drawn along them ({error})."
        ) from None
    return rows.assign(setting=numbers).sort_values("setting", kind="stable")


def is_tidy(frame):
    return list(frame.columns) == TIDY_COLUMNS


def number(value, decimals, spread=None):
    """Return a number for a table's cell, with its standard deviation if it has one; a missing one is
    ``n/a``."""
    if value is None or pd.isna(value):
        return MISSING
    text = f"{value:.{decimals}f}"
    # small values would vanish: show two significant digits instead
    if 0 < abs(value) < 10**-decimals:
        text = f"{value:.2g}"
    if spread is not None and not pd.isna(spread):
        text += f" ± {spread:.{decimals}f}"
    return text


@dataclass(frozen=True)
class Table:
    """A table for readers: the text of its cells, and the notes below it.

    Attributes
    ----------
    cells : DataFrame
        The columns are pairs: the group ("" for none) and the heading.
    notes : list of str
    """

    cells: pd.DataFrame
    notes: list

    @property
    def groups(self):
        """Groups of neighbouring columns, each with the number of its columns."""
        return [
            (group, len(list(columns)))
            for group, columns in groupby(self.cells.columns, lambda column: column[0])
        ]

    @property
    def classes(self):
        """The class of each column: "text" if it has words and no numbers, else "number"."""
        return [
            "text" if _are_words(self.cells.iloc[:, i]) else "number" for i in range(len(self.cells.columns))
        ]

    def markdown(self):
        """Return the table and its notes in Markdown."""
        headings = [": ".join(filter(None, column)).replace("|", "\\|") for column in self.cells.columns]
        alignment = ["left" if name == "text" else "right" for name in self.classes]
        cells = self.cells.set_axis(headings, axis="columns").map(lambda cell: cell.replace("|", "\\|"))
        table = cells.to_markdown(index=False, disable_numparse=True, colalign=alignment)
        return "\n\n".join([table, *self.notes])

    def tex(self, title):
        """Return the table as a LaTeX float, whose caption is its title and its notes."""
        cells = self.cells.map(_tex).rename(columns=_tex)
        if len(self.groups) == 1:
            cells = cells.droplevel(0, axis="columns")
        text = cells.to_latex(
            index=False,
            column_format="".join("l" if name == "text" else "r" for name in self.classes),
            multicolumn_format="c",
            caption=" ".join(map(_tex, [f"{title}.", *self.notes])),
        )
        return f"% needs \\usepackage{{booktabs}}\n{text}"


def _tex(text):
    return text.translate(_TEX)


def _are_words(cells):
    said = [cell for cell in cells if cell != MISSING]
    return bool(said) and all(cell[:1].isalpha() for cell in said)


def part(place):
    """Return a column that shows one part of what the line is about."""
    return lambda *line: line[place]


def data_set(*line):
    """Return the text of a column for the data set that the line is about: its first part."""
    return dataset_in_words(line[0])


def shown(find, decimals, *key, spread=False, factor=1, printed=None):
    """Return a column of numbers, on request with their spreads, and with the `printed_text` in brackets."""

    def text(*line):
        value, apart = find(*line, *key)
        return number(factor * value, decimals, factor * apart if spread else None)

    return beside(text, printed, *key) if printed else text


def beside(text, printed, *key):
    """Return a column that shows a text of ours and, in brackets, what the paper prints (`printed_text`), if
    it prints anything."""

    def both(*line):
        theirs = printed(*line, *key)
        return f"{text(*line)} ({theirs})" if theirs else text(*line)

    return both


def filled(pattern, find, *keys):
    """Return a column of a pattern, such as "{:.0f} x {:.0f}", that is filled with the values of some
    keys."""

    def text(*line):
        values = [find(*line, *key)[0] for key in keys]
        return MISSING if pd.isna(values).any() else pattern.format(*values)

    return text


def faster(find, than, metric, *method):
    """Return a column of another method's time over that of the line, or of a method, with half of the
    interval of LIBSVM's time over it (``libsvm_over``) where there is one."""

    def text(*line):
        *key, line_method = (*line, *method)
        ratio = find(*key, than, metric)[0] / find(*key, line_method, metric)[0]
        return number(ratio, 1, find(*key, line_method, "libsvm_over")[1])

    return text


def lines_of(tidy, *columns):
    """Return the lines of a table: the values that tidy rows have in some columns, in their order."""
    return list(tidy[list(columns)].drop_duplicates().itertuples(index=False, name=None))


def listed(tidy, metric, heading, text, between=", "):
    """Return a note, in a list, that gives a text for each row in which a metric counts something; without
    such rows an empty list."""
    counted = tidy[(tidy["metric"] == metric) & (tidy["value"] > 0)]
    texts = [text(row) for row in counted.itertuples()]
    return [f"{heading}: {between.join(texts)}."] if texts else []


def at_minimum(values, test):
    """Return the test errors (DataFrame) of the models where each estimate is least: one for each estimate,
    more if it ties, none without models. Elsewhere they are missing. `values` has a column per estimate, and
    `test` is of the same models; models without both are left out."""
    values = values[test.notna()]
    least = values.eq(values.min())
    return least.where(least).astype(float).mul(test, axis="index")
