"""From the cells of a table to numbers.

An encoding is learned from the rows that a model is trained on, kept with it, and applied to the rows that it
predicts.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass, replace

import numpy as np
import scipy.sparse

from svmselect.cli.csv_table import MISSING, Cells, Layout, is_number, look_alikes
from svmselect.standardise import standardise as standardised

__all__ = ["Column", "Encoding", "codes_of", "counted", "learned", "name_of"]

MOST_CATEGORIES = 50
# From this many rows on, a column of increasing whole numbers is taken for row numbers: by chance, only one
# column in 8! = 40,320 is increasing.
ID_ROWS = 8
# Whole numbers from here on, nearly all different, look like numbers that were assigned, not measured.
ID_SIZE, ID_SHARE = 1e5, 0.9
ID_NAME = re.compile(r"(.*[\s_.-])?[iI][dD]|.*[a-z]I[dD]")
NOT_FINITE = {"inf", "infinity"}
# numbers that stand for a missing value where no other is near
MISSING_CODES = {99, 999, 9999, 99999, 999999}


@dataclass(frozen=True)
class Column:
    """The features that a column of a table becomes.

    Attributes
    ----------
    categories : tuple of str, or None
        Each becomes a feature that is 1 or 0, in this order; None for a column of numbers, which is a
        feature itself.
    fill : float, str or None
        The substitute of a missing value; None where these are refused.
    """

    categories: tuple[str, ...] | None = None
    fill: float | str | None = None


@dataclass(frozen=True)
class Encoding:
    """The map from rows of a file to rows of a model.

    Attributes
    ----------
    n_features : int
    layout : Layout or None
        Where the table had its columns; None for LIBSVM text, whose features are numbers in a fixed order.
    columns : tuple of Column
        One for each feature of `layout`.
    mean, deviation : ndarray, shape (n_features,), or None
        Features are reduced by the mean and divided by the deviation; None where they stay as they are.
    zero_based : bool
        Whether LIBSVM text counts the features from 0.
    """

    n_features: int
    layout: Layout | None = None
    columns: tuple[Column, ...] = ()
    mean: np.ndarray | None = None
    deviation: np.ndarray | None = None
    zero_based: bool = False

    @property
    def is_plain(self):
        """Whether features are the numbers of the file as they stand."""
        return self.mean is None and all(column == Column() for column in self.columns)

    @property
    def is_category(self):
        """Whether each feature is one of a category: bool, shape (n_features,)."""
        if not self.columns:
            return np.zeros(self.n_features, dtype=bool)
        widths = [1 if column.categories is None else len(column.categories) for column in self.columns]
        return np.repeat([column.categories is not None for column in self.columns], widths)

    def applied(self, raw, doubts):
        """Return the features of rows, an ndarray or CSR matrix of shape (m, n_features).

        `doubts` gets a sentence if there are unknown categories, or unknown features of LIBSVM text. Raise a
        ValueError if a cell is no number, or is missing and has no substitute.
        """
        X = self._cell_column(raw, doubts) if isinstance(raw, Cells) else self._number_column(raw, doubts)
        if self.mean is None:
            return X
        with np.errstate(over="ignore"):
            X = ((X.toarray() if scipy.sparse.issparse(X) else X) - self.mean) / self.deviation
        if not np.isfinite(X).all():
            raise ValueError(f"feature {np.argwhere(~np.isfinite(X))[0][1] + 1} overflows when standardised")
        return X

    def _number_column(self, X, doubts):
        if any(column.categories is not None for column in self.columns):
            raise ValueError(
                "the model was trained on columns of categories, which LIBSVM text does not have"
            )
        if X.shape[1] > self.n_features:
            rows, surplus = X[:, self.n_features :].nonzero()
            if rows.size:
                first = self.n_features + surplus.min() + (0 if self.zero_based else 1)
                doubts.append(
                    f"{counted(np.unique(rows).size, 'row has', 'rows have')} features that the model was "
                    f"not trained on, such as {first}: they count nothing"
                )
            X = X[:, : self.n_features]
        return scipy.sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features))

    def _cell_column(self, cells, doubts):
        X = np.empty((len(cells.rows), self.n_features))
        unknown, first, begin = np.zeros(len(cells.rows), dtype=bool), None, 0
        for column, j in zip(self.columns or [Column()] * self.n_features, cells.features, strict=True):
            words = cells.column(j)
            if column.categories is None:
                values = _finite_numbers(words)
                if values is None:
                    values = _numbers_of(cells, j, _filled(cells, j, words, column.fill))
                X[:, begin] = values
                begin += 1
                continue
            words = _filled(cells, j, words, column.fill)
            numbers = {category: k for k, category in enumerate(column.categories)}
            codes = np.array([numbers.get(word, -1) for word in words])
            part = X[:, begin : begin + len(numbers)]
            part[:] = codes[:, None] == np.arange(len(numbers))
            if first is None and (codes < 0).any():
                first = words[(codes < 0).argmax()], cells.title(j)
            unknown |= codes < 0
            begin += len(numbers)
        if first is not None:
            doubts.append(
                f"{counted(unknown.sum(), 'row has', 'rows have')} a category that the model was not trained "
                f"on, such as {first[0]!r} in column {first[1]}: it counts as none of those that it knows"
            )
        return X

    def as_dict(self):
        """Return the encoding in JSON's types."""
        arrays = {name: getattr(self, name) for name in ("mean", "deviation")}
        return asdict(self) | {name: None if a is None else a.tolist() for name, a in arrays.items()}

    @classmethod
    def from_dict(cls, parts, n_features):
        """Return the Encoding that `as_dict` turned into `parts`, for a model trained on `n_features`.

        The parts are read from a file, which may hold anything: raise a ValueError if they are damaged.
        """
        try:
            columns = tuple(Column(_strings(c["categories"]), c["fill"]) for c in parts["columns"])
            layout = parts["layout"]
            if layout:
                places = tuple(layout["places"])
                names = _strings(layout["names"])
                layout = Layout(names, places, layout["label_name"], layout["label_place"], layout["width"])
            moments = [parts[key] and np.array(parts[key], dtype=np.float64) for key in ("mean", "deviation")]
            # older files lack it, and counted from 1
            zero_based = parts.get("zero_based", False)
            encoding = cls(parts["n_features"], layout, columns, *moments, zero_based)
            encoding._check(n_features)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            raise ValueError("its encoding is damaged") from None
        return encoding

    def _check(self, n_features):
        """Raise a ValueError unless the parts are of the right types and fit each other."""
        n_columns = self.is_category.size
        right = self.n_features == n_features == n_columns and (self.mean is None) == (self.deviation is None)
        right = right and isinstance(self.zero_based, bool)
        if self.mean is not None:
            right = right and self.mean.shape == self.deviation.shape == (n_features,)
            right = right and np.isfinite(self.mean).all() and np.isfinite(self.deviation).all()
            right = right and (self.deviation > 0).all()
        for column in self.columns:
            kind = (int, float) if column.categories is None else str
            right = right and (column.fill is None or isinstance(column.fill, kind))
            right = right and (
                column.categories is None or len({*column.categories}) == len(column.categories)
            )
        right = right and (self.layout is None) == (not self.columns)
        if self.layout is not None:
            layout, n = self.layout, len(self.columns)
            places = [*layout.places, *([] if layout.label_place is None else [layout.label_place])]
            right = right and len(layout.places) == n and all(type(j) is int for j in [*places, layout.width])
            right = right and len({*places}) == len(places) and 0 <= min(places) <= max(places) < layout.width
            right = right and (layout.names is None or len({*layout.names}) == n)
            right = right and isinstance(layout.label_name, str | None)
        if not right:
            raise ValueError


def _strings(words):
    """Return a tuple of str or None; raise a TypeError for anything else."""
    if words is not None and not (isinstance(words, list) and all(isinstance(w, str) for w in words)):
        raise TypeError
    return None if words is None else tuple(words)


def learned(raw, categorical, impute, standardise, doubts, zero_based=False):
    """Return the encoding of the rows that a model is trained on.

    Parameters
    ----------
    raw : Cells or CSR matrix
    categorical : set of int
        Columns that are categories, though they may hold numbers.
    impute : bool
        Whether missing numbers become the median of the column, and missing categories its most frequent one
        (of several, the first in alphabetical order).
    standardise : bool
        Whether columns of numbers get mean 0 and deviation 1 (n - 1); features of categories stay 0 and 1.
    doubts : list of str
        Gets a sentence for each column that is taken for categories without being named, or looks like an id.
    zero_based : bool
        Whether the LIBSVM text of the rows counts its features from 0.

    Raises
    ------
    ValueError
        A column mixes numbers and words, has no value, too many categories, or cannot be standardised.
    """
    if isinstance(raw, Cells):
        columns = tuple(_column(raw, j, j in categorical, impute, doubts) for j in raw.features)
        width = sum(1 if column.categories is None else len(column.categories) for column in columns)
        encoding = Encoding(width, raw.layout, columns)
    else:
        encoding = Encoding(raw.shape[1], zero_based=zero_based)
    if not standardise:
        return encoding
    X = encoding.applied(raw, [])
    X = X.toarray() if scipy.sparse.issparse(X) else X
    numeric = ~encoding.is_category
    standardised(X[:, numeric])  # an error where it cannot be
    mean, deviation = np.zeros(X.shape[1]), np.ones(X.shape[1])
    mean[numeric] = X[:, numeric].mean(axis=0)
    deviation[numeric] = X[:, numeric].std(axis=0, ddof=1)
    constant = numeric & (np.ptp(X, axis=0) == 0)
    mean[constant], deviation[constant] = X[0, constant], 1
    return replace(encoding, mean=mean, deviation=deviation)


def _column(cells, j, categorical, impute, doubts):
    """Return the Column that column j of the cells becomes."""
    title = cells.title(j)
    words = cells.column(j)
    values = None if categorical else _finite_numbers(words)
    if values is not None:
        return _numeric_column(cells, j, values, impute, doubts)
    present = [n for n, word in enumerate(words) if word.lower() not in MISSING]
    words = [words[n] for n in present]
    if not words:
        raise ValueError(f"{cells.path}, column {title}: every value is missing; leave it out with --ignore")
    if not categorical and any(is_number(w) or w.lower().lstrip("+-") in NOT_FINITE for w in words):
        values = _numbers_of(cells.take(present), j, words, training=True)
        return _numeric_column(cells, j, values, impute, doubts)
    counts = Counter(words)
    if len(counts) > MOST_CATEGORIES:
        raise ValueError(
            f"{cells.path}, column {title}: {len(counts)} different values in {len(words)} rows are too many "
            f"categories, of which there may be {MOST_CATEGORIES}; leave the column out with --ignore {title}"
        )
    categories = tuple(sorted(counts))
    if not categorical:
        doubts.append(
            f"column {title} has no number: its {counted(len(categories), 'category', 'categories')} in "
            f"{len(words)} rows become features that are 0 or 1, as --categorical {title} says"
        )
        every = len(counts) == len(words) >= ID_ROWS
        _doubt_id(cells, j, "another category in every row" if every else None, doubts)
    if alike := look_alikes(categories):
        doubts.append(
            f"{alike[0]!r} and {alike[1]!r} in column {title} are two categories, though they look alike"
        )
    return Column(categories, max(categories, key=counts.get) if impute else None)


def _numeric_column(cells, j, values, impute, doubts):
    """Return the Column for column j of the cells, which holds these numbers."""
    _doubt_id(cells, j, _likeness_to_id(values), doubts)
    for code in (values.min(), values.max()):
        if _is_missing_code(values, code):
            doubts.append(
                f"{code:.0f} stands {np.count_nonzero(values == code)} times in column {cells.title(j)}, far "
                "from all other values, as for a missing one; it is taken for a number"
            )
    # half of each, since their sum may overflow
    return Column(None, float(np.median(values / 2) * 2) if impute else None)


def _filled(cells, j, words, fill):
    """Return the words of column j with `fill` for missing ones; raise a ValueError where there is none."""
    missing = [n for n, word in enumerate(words) if word.lower() in MISSING]
    if missing and fill is None:
        n = missing[0]
        raise ValueError(
            f"{cells.path}, line {cells.lines[n]}, column {cells.title(j)}: the value is missing "
            f"({words[n]!r}), as in {len(missing)} of {len(words)} rows, and the model was trained without "
            "--impute; fill it in"
        )
    for n in missing:
        words[n] = fill if isinstance(fill, str) else repr(fill)
    return words


def _finite_numbers(words):
    """Return the words as float64 if each is a finite number, else None."""
    together = "".join(words)
    if "_" in together or not together.isascii():  # float takes them, this reader does not
        return None
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _numbers_of(cells, j, words, training=False):
    """Return the words of column j of the cells as float64; raise a ValueError for other words."""
    values = _finite_numbers(words)
    if values is not None:
        return values
    try:
        odd = next((n for n, word in enumerate(words) if "_" in word or not word.isascii()), None)
        values = np.array(words, dtype=np.float64) if odd is None else None
    except ValueError:
        odd = next(n for n, word in enumerate(words) if not is_number(word))
    title = cells.title(j)
    if odd is not None:
        raise ValueError(
            f"{cells.path}, line {cells.lines[odd]}, column {title}: {words[odd]!r} is not a number, as "
            "others of the column are; "
            + (
                f"correct it, make each value a category with --categorical {title}, or leave the column out "
                f"with --ignore {title}"
                if training
                else "correct it"
            )
        )
    n = np.flatnonzero(~np.isfinite(values))[0]
    raise ValueError(f"{cells.path}, line {cells.lines[n]}, column {title}: {words[n]!r} is not finite")


def _doubt_id(cells, j, likeness, doubts):
    """Add a doubt if column j of the cells has the name of an id, or values like those of one."""
    if likeness is None and cells.names is not None and ID_NAME.fullmatch(cells.names[j]):
        likeness = "the name of an id"
    if likeness is not None:
        doubts.append(
            f"column {cells.title(j)} has {likeness}, as an id or a row number does; it is taken for a "
            f"feature, and --ignore {cells.title(j)} leaves it out"
        )


def _likeness_to_id(column):
    """Return what a column of numbers has in common with ids, or None."""
    if column.size < ID_ROWS or not (column == np.floor(column)).all():
        return None
    steps, n_different = np.diff(column), np.unique(column).size
    in_order = (steps > 0).all() or (steps < 0).all()
    if in_order or (n_different == column.size and np.ptp(column) == column.size - 1):
        return "another whole number in every row"
    if np.median(np.abs(column)) >= ID_SIZE and n_different >= ID_SHARE * column.size:
        return "a large whole number in each row, of which nearly no two are equal"
    return None


def _is_missing_code(values, code):
    """Return whether a value is one that often means a missing value, repeated and far from all others."""
    rest = values[values != code]
    if abs(code) not in MISSING_CODES or values.size - rest.size < 2 or np.unique(rest).size < 3:
        return False
    return np.abs(rest - code).min() > np.ptp(rest)


def counted(n, one, more):
    """Return a number with its noun."""
    return f"{n} {one if n == 1 else more}"


def name_of(label):
    """Return a class for people: whole numbers without a point."""
    return f"{label:.0f}" if isinstance(label, float) else str(label)


def codes_of(labels, classes, path, doubts):
    """Return the number of each row's class: -1 if the model does not know the label, -2 if there is none.

    It is None if no row has a label. Raise a ValueError if no label is known: the file means something else
    by them.
    """
    are_text = classes.dtype.kind not in "iuf"
    numbers = {(str(label) if are_text else float(label)): k for k, label in enumerate(classes.tolist())}
    if isinstance(labels, np.ndarray):
        words = [name_of(value) if value == np.floor(value) else str(value) for value in labels.tolist()]
    else:
        words = labels

    def key(word):
        return word if are_text else float(word) if is_number(word) else None

    codes = np.array([-2 if word == "" else numbers.get(key(word), -1) for word in words])
    if (codes == -2).all():
        return None
    unknown = sorted({word for word, code in zip(words, codes, strict=True) if code == -1})
    known = ", ".join(name_of(label) for label in classes.tolist())
    if (codes < 0).all():
        if isinstance(labels, np.ndarray) and len(unknown) == 1:
            doubts.append(
                f"every label is {unknown[0]}, which is no class of the model ({known}): they are taken to "
                "stand for none"
            )
            return None
        raise ValueError(f"{path}: no label, such as {unknown[0]!r}, is a class of the model ({known})")
    if unknown:
        doubts.append(
            f"{counted(np.count_nonzero(codes == -1), 'row has', 'rows have')} a label that is no class of "
            f"the model ({known}), such as {unknown[0]!r}: each counts as an error"
        )
    if (codes == -2).any():
        n = np.count_nonzero(codes == -2)
        doubts.append(f"{counted(n, 'row has', 'rows have')} no label: the error is that of the others")
    return codes
