"""Tidy rows, which figures and checks read as CSV, and tables for readers in Markdown and LaTeX.

A line of a table is about a data set, a setting, a method or several of these. The function of a column
(`arranged`) finds tidy values (`lookup`) by the line and the rest of their key.
"""

import re
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from lib.shown import dataset_in_words

# the columns of papers/*/printed.csv: reproduced and published values join row by row
TIDY_COLUMNS = ["exhibit", "dataset", "setting", "method", "metric", "value", "spread", "unit"]
KEY = TIDY_COLUMNS[:5]

MISSING = "n/a"
_TEX = {
    **{character: "\\" + character for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "⁶": "$^6$",
}


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


def part_of(tidy, exhibit, metric, **columns):
    """Return the tidy rows of a metric of an exhibit, and of a data set, setting or method."""
    conditions = {"exhibit": exhibit, "metric": metric, **columns}
    return tidy[np.logical_and.reduce([tidy[name] == value for name, value in conditions.items()])]


def by_method(tidy, index):
    """Return the values of tidy rows of one metric: a DataFrame of methods by one or several other
    columns."""
    return tidy.pivot(index=index, columns="method", values="value")


def named(tidy, metric, text):
    """Return the items of a note: a text for each row (namedtuple) whose metric counts something."""
    return [text(row) for row in tidy[(tidy["metric"] == metric) & (tidy["value"] > 0)].itertuples()]


def arranged(lines, columns, notes):
    """Return columns, body and notes of a table, as `write_markdown` and `write_tex` take them. Each of the
    `lines` is a tuple that says what a line of the table is about. Each column is its group ("" for none),
    its heading, and a function of the parts of a line that returns the text of a cell."""
    headings = [(group, heading) for group, heading, _ in columns]
    return headings, [[text(*line) for _, _, text in columns] for line in lines], notes


def write_tidy(path, rows):
    """Write tidy rows, dicts with keys of `TIDY_COLUMNS`, to a CSV file; what is missing is empty. No two
    may have the same exhibit, data set, setting, method and metric."""
    frame = pd.DataFrame(list(rows), columns=TIDY_COLUMNS)
    twice = frame[frame.duplicated(KEY)]
    if len(twice):
        raise ValueError(f"{path}: two rows for {tuple(twice.iloc[0][KEY])}")
    frame.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")


def read_tidy(path):
    """Return tidy rows of a CSV file as a DataFrame; values and spreads are numbers, the other columns
    text."""
    frame = pd.read_csv(path, dtype={name: str for name in TIDY_COLUMNS if name not in ("value", "spread")})
    if list(frame.columns) != TIDY_COLUMNS:
        raise ValueError(f"{path} has the columns {list(frame.columns)}, wanted {TIDY_COLUMNS}")
    return frame


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


def short(text):
    """Return a number that is text, to four digits, and other text as it is."""
    try:
        return f"{float(text):.4g}"
    except ValueError:
        return text


def write_markdown(path, title, columns, body, notes):
    """Write a Markdown table. A column is its group ("" for none) and heading, the body is lists of texts,
    and notes are paragraphs under the table."""
    headings = [f"{group}: {heading}" if group else heading for group, heading in columns]
    lines = [f"# {title}", "", *markdown(headings, body), ""]
    for note in notes:
        lines += [note, ""]
    Path(path).write_text("\n".join(lines))


def markdown(headings, body, left=1):
    """Return lines of a Markdown table; columns after the first ones are flush right."""
    rules = ["---"] * left + ["---:"] * (len(headings) - left)
    return [_markdown_line(cells) for cells in (headings, rules, *body)]


def read_markdown(path):
    """Return a table that `write_markdown` wrote: a dict of ``title``, ``headings``, ``body`` and
    ``notes``."""
    title, *lines = Path(path).read_text().splitlines()
    # a bar within a cell has a backslash before it
    table = [
        [cell.replace("\\|", "|") for cell in re.split(r" \| ", line[2:-2])]
        for line in lines
        if line.startswith("|")
    ]
    notes = [line for line in lines if line and not line.startswith("|")]
    return {"title": title.removeprefix("# "), "headings": table[0], "body": table[2:], "notes": notes}


def shown_table(table):
    """Return a table of `read_markdown` as pages show it: ``head`` and ``body``, both lines of cells. A cell
    is its tag, its attributes and its text. Groups of headings have a line of their own."""
    columns = [[line[number] for line in table["body"]] for number in range(len(table["headings"]))]
    kinds = [{} if _are_words(cells) else {"class": "number"} for cells in columns]
    pairs = [heading.partition(": ")[::2] for heading in table["headings"]]
    lines = 1 + any(heading for _, heading in pairs)
    upper, lower = [], []
    for (group, heading), kind in zip(pairs, kinds, strict=True):
        if not heading:
            upper.append(("th", {"scope": "col", "rowspan": lines, **kind}, group))
            continue
        if not upper or upper[-1][-1] != group:
            upper.append(("th", {"scope": "colgroup", "colspan": 0}, group))
        upper[-1][1]["colspan"] += 1
        lower.append(("th", {"scope": "col", **kind}, heading))
    body = [
        [("th", {"scope": "row"}, first), *(("td", *cell) for cell in zip(kinds[1:], cells, strict=True))]
        for first, *cells in table["body"]
    ]
    return {"head": [upper, lower][:lines], "body": body}


def _are_words(cells):
    """Return whether a column has words and no numbers."""
    said = [cell for cell in cells if cell != MISSING]
    return bool(said) and all(cell[:1].isalpha() for cell in said)


def _markdown_line(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_tex(path, title, columns, body, notes):
    """Write a LaTeX ``table`` float that needs the package booktabs; parameters as in `write_markdown`."""
    groups, spans, position = [], [], 1
    for group, members in groupby(columns, key=lambda column: column[0]):
        width = len(list(members))
        groups.append(rf"\multicolumn{{{width}}}{{c}}{{{_tex(group)}}}")
        if group:
            spans.append(rf"\cmidrule(lr){{{position}-{position + width - 1}}}")
        position += width
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_tex(title)}. {' '.join(_tex(note) for note in notes)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
        r"\toprule",
    ]
    if spans:
        lines += [" & ".join(groups) + r" \\", " ".join(spans)]
    lines += [" & ".join(_tex(heading) for _, heading in columns) + r" \\", r"\midrule"]
    lines += [" & ".join(_tex(cell) for cell in cells) + r" \\" for cells in body]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    Path(path).write_text("\n".join(lines))


def _tex(text):
    return "".join(_TEX.get(character, character) for character in text)


def part(place):
    """Return a column that shows one part of what the line is about."""
    return lambda *line: line[place]


def data_set(*line):
    """Return the text of a column for the data set that the line is about: its first part."""
    return dataset_in_words(line[0])


def shown(find, decimals, *key, spread=False, factor=1):
    """Return a column of numbers, on request with their spreads."""

    def text(*line):
        value, apart = find(*line, *key)
        return number(factor * value, decimals, factor * apart if spread else None)

    return text


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
    texts = named(tidy, metric, text)
    return [f"{heading}: {between.join(texts)}."] if texts else []


def at_minimum(values, test):
    """Return the test errors (DataFrame) of the models where each estimate is least: one for each estimate,
    more if it ties, none without models. Elsewhere they are missing. `values` has a column per estimate, and
    `test` is of the same models; models without both are left out."""
    values = values[test.notna()]
    least = values.eq(values.min())
    return least.where(least).astype(float).mul(test, axis="index")
