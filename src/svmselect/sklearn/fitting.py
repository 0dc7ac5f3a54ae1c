"""The rules of every `fit`: one that fails changes nothing, and data that mislead it are warned of."""

import os
import sys
import warnings
from functools import wraps
from pathlib import Path

import numpy as np
from scipy import sparse

__all__ = [
    "ConstantModelWarning",
    "EndOfListWarning",
    "UnscaledWarning",
    "all_or_nothing",
    "uneven_columns",
    "warn",
    "warn_of_numbers",
    "warn_of_rounding",
    "warn_of_scale",
]

LIBRARY = str(Path(__file__).parents[1]) + os.sep
FEW_ROWS = 20  # so few rows may all have different labels, as for scikit-learn
EXACT = 2**53  # float64 holds every integer up to this one
UNEVEN = 100  # a ratio of deviations from which on the largest features decide alone


class UnscaledWarning(UserWarning):
    """The features have very different scales, and the kernel one for all."""


class EndOfListWarning(UserWarning):
    """The best model of a search is at the end of a list of its grid."""


class ConstantModelWarning(UserWarning):
    """The best model of a search predicts one class for every row."""


def all_or_nothing(fit):
    """Decorate `fit`: an estimator whose fit fails or is interrupted stays what it was."""

    @wraps(fit)
    def whole(self, *args, **options):
        before = dict(vars(self))
        try:
            return fit(self, *args, **options)
        except BaseException:
            self.__dict__ = before
            raise

    return whole


def warn(message, category=UserWarning):
    """Warn, at the line that called the library."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(LIBRARY):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_of_numbers(classes, m):
    """Warn if the classes of m rows look like numbers to predict: more than half of the numbers differ."""
    if classes.dtype.kind in "iuf" and m > FEW_ROWS and 2 * classes.size > m:
        warn(
            f"y holds {classes.size} different numbers in {m} rows, and each is taken for a class: are they "
            "numbers to predict, as SVR does?"
        )


def uneven_columns(X):
    """Return the columns of the largest and the least deviation, and these; None unless they are `UNEVEN`.

    A column of two values counts as if each were in half of the rows, and a constant one not at all. Sparse
    rows have none.
    """
    if sparse.issparse(X) or X.shape[1] < 2:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = X.std(axis=0)
    columns = np.flatnonzero((deviation > 0) & np.isfinite(deviation))
    if not columns.size or deviation[columns].max() <= UNEVEN * deviation[columns].min():
        return None
    low, high = X.min(axis=0), X.max(axis=0)
    two_values = ((low == X) | (high == X)).all(axis=0)
    deviation = np.where(two_values, high / 2 - low / 2, deviation)
    largest, least = columns[deviation[columns].argmax()], columns[deviation[columns].argmin()]
    uneven = deviation[largest] > UNEVEN * deviation[least]
    return (largest, least, deviation[largest], deviation[least]) if uneven else None


def warn_of_scale(X):
    """Warn if the deviations of dense columns differ by more than `UNEVEN`; X is a float64 ndarray."""
    uneven = uneven_columns(X)
    if uneven is not None:
        largest, least, most, few = uneven
        warn(
            f"columns {largest} and {least} of X have the deviations {most:.3g} and {few:.3g}, and one gamma "
            "serves both: a StandardScaler in a pipeline makes them equal",
            UnscaledWarning,
        )


def warn_of_rounding(name, values):
    """Warn of the first integer that float64 does not hold, by the column of it; `name` is X or y.

    Raise a ValueError for one beyond the range of float64.
    """
    for column, part in _integers_of(values):
        place = _first_rounded(part)
        if place is None:
            continue
        column = int(place[-1]) if column is None and len(place) > 1 else column
        where = name if column is None else f"column {column!r} of {name}"
        value = int(part[place])
        if abs(value) >= 2**1024:
            raise ValueError(
                f"{where} is too large for float64: it holds an integer of {len(str(value))} digits"
            )
        warn(
            f"{where} holds integers that float64 rounds, such as {value} to {int(float(value))}: "
            "differences between them are lost"
        )
        return


def _integers_of(values):
    """Yield the arrays of `values` that may hold large integers, each with its column, None for all."""
    if sparse.issparse(values):
        if values.dtype.kind in "iu":
            rows = values.tocoo()
            yield from ((column, rows.data[rows.col == column]) for column in _columns_beyond(rows))
    elif hasattr(values, "iloc") and hasattr(values, "columns"):  # pandas
        for number, column in enumerate(values.columns):
            if getattr(values.dtypes.iloc[number], "kind", "O") in "iuO":
                yield column, np.asarray(values.iloc[:, number])
    elif hasattr(values, "get_columns"):  # polars
        for column in values.get_columns():
            if column.dtype.is_integer():
                yield column.name, column.to_numpy()
    elif getattr(getattr(values, "dtype", None), "kind", "O") in "iuO":
        yield None, np.asarray(values)


def _columns_beyond(rows):
    """Return the columns of a COO matrix in which integers exceed `EXACT`."""
    return np.unique(rows.col[(rows.data > EXACT) | (rows.data < -EXACT)]).tolist()


def _first_rounded(values):
    """Return the index of the first integer that float64 does not hold, or None."""
    if values.dtype.kind == "O":
        rounded = [isinstance(value, int) and _is_rounded(value) for value in values.ravel()]
    elif values.dtype.kind in "iu" and values.size and (values.max() > EXACT or values.min() < -EXACT):
        as_float = values.astype(np.float64)
        beyond = as_float >= float(np.iinfo(values.dtype).max)  # would overflow on its way back
        rounded = beyond | (np.where(beyond, 0, as_float).astype(values.dtype) != values)
    else:
        return None
    places = np.flatnonzero(rounded)
    return np.unravel_index(places[0], values.shape) if places.size else None


def _is_rounded(value):
    """Return whether float64 does not hold an int."""
    return abs(value) >= 2**1024 or int(float(value)) != value
