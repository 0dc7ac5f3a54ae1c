"""Functions of columns and notes that tables for readers have in common.

A line of a table is about a data set, a setting, a method or several of these. The function of a column
(`lib.tables.arranged`) finds tidy values (`lib.tables.lookup`) by the line and the rest of their key.
"""

import pandas as pd

from lib.shown import dataset_in_words
from lib.tables import MISSING, named, number


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
