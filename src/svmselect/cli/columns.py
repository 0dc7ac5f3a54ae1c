"""The columns of a clean file: the label, groups, numbers and categories, and what is odd in them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse

from svmselect.cli.arguments import is_number
from svmselect.cli.output import counted, name_of, warn
from svmselect.cli.read import MISSING, Table, opened

__all__ = ["LABEL_NAMES", "MOST_CLASSES", "is_number_column", "label_column", "load", "refuse_missing"]

LABEL_NAMES = ("label", "target", "class")
MOST_CLASSES = 50  # and categories
EXACT = 2**53  # from here on float64 has not every whole number
# Whole numbers of more values than this, some of them in one or two rows, are numbers to predict.
FEW_CLASSES = 10
# From this many rows on, a column of increasing whole numbers is taken for row numbers: by chance, only one
# column in 8! = 40,320 is increasing.
ID_ROWS = 8
# Whole numbers from here on, nearly all different, look like numbers that were assigned, not measured.
ID_SIZE, ID_SHARE = 1e5, 0.9
ID_NAME = re.compile(r"(.*[\s_.-])?[iI][dD]|.*[a-z]I[dD]")
# a number in another dress: grouped digits, a decimal comma, a sign of money or of per cent, or quotes
DIGITS = r"(\d{1,3}([ ,.'_\u00a0\u202f]\d{3})+([.,]\d+)?|\d+(_\d+)+|\d*,\d+|\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
DRESSED = re.compile(rf"[(]?[+-]?[$€£¥]?\s?[+-]?{DIGITS}[)]?\s?[%$€£¥]?|'[^']*'")


@dataclass
class _Data:
    """Rows of a file to train on.

    Attributes
    ----------
    path, task : str
    frame : DataFrame or CSR matrix, shape (m, n_columns)
        The features as the file has them; columns without names are numbered from 0.
    y : ndarray, shape (m,), or None
        Classes, int64 where all are whole numbers, else str; or numbers to predict, float64.
    label : str or None
        The column of y for people.
    groups : ndarray of str, shape (m,), or None
    numbers : ndarray of int, shape (m,)
        The number of each row among the file's rows of data, from 1.
    steps : list of tuple
        Names and transformers of a Pipeline, which turn `frame` into numbers.
    is_plain : bool
        Whether the steps change no number.
    doubts : list of str
        Sentences on decisions that may be wrong, and their reasons.
    dropped : int
        Rows left out because a value was missing.
    """

    path: str
    task: str
    frame: object
    y: np.ndarray | None
    label: str | None
    groups: np.ndarray | None
    numbers: np.ndarray
    steps: list[tuple]
    is_plain: bool
    doubts: list[str]
    dropped: int = 0

    @cached_property
    def X(self):
        """The features by `steps`, which are fitted to all rows: float64, shape (m, d)."""
        X = self.pipeline(None)[:-1].fit_transform(self.frame) if self.steps else self.frame
        return X if scipy.sparse.issparse(X) else np.asarray(X, dtype=np.float64)

    def pipeline(self, model):
        """Return a Pipeline of `steps` and a model that is trained on `X`."""
        from sklearn.pipeline import Pipeline

        return Pipeline([*self.steps, ("svm", model)])

    def taken(self, rows):
        """Return the Data of some rows, with steps that are not fitted."""
        from sklearn.base import clone

        frame = self.frame[rows] if scipy.sparse.issparse(self.frame) else self.frame.iloc[rows]
        groups, steps = self.groups, [(name, clone(step)) for name, step in self.steps]
        groups = None if groups is None else groups[rows]
        return replace(self, frame=frame, y=self.y[rows], groups=groups, steps=steps)


def load(arguments):
    """Return the Data of the file of a command that trains; print remarks.

    Raise a ValueError that names the file, the line and the column where the file is not clean.
    """
    source = opened(arguments)
    data = (_table_data if isinstance(source, Table) else _libsvm_data)(arguments, source)
    _doubt_scales(arguments, data)
    for doubt in data.doubts:
        warn(doubt)
    if data.dropped:
        warn(f"{counted(data.dropped, 'row', 'rows')} with a missing value left out")
    return data


def _libsvm_data(arguments, source):
    """Return the Data of LIBSVM text."""
    path, labels, doubts = source.path, source.labels, []
    for option in ("label", "ignore", "categorical", "impute", "groups"):
        if vars(arguments).get(option):
            raise ValueError(f"{path}: --{option} is for tables, and this one is LIBSVM text")
    bad = np.flatnonzero(~(np.abs(labels) < EXACT))
    if bad.size:
        raise ValueError(f"{path}, row {bad[0] + 1}: the label {labels[bad[0]]:.17g} is not below 2^53")
    words = np.array([name_of(label) for label in labels.tolist()], dtype=object)
    task, y, column = "one-class", None, None
    if arguments.task != "one-class" or len({*words}) <= MOST_CLASSES:
        where, column = f"{path}: the label", "first of each line"
        task, y = _told_labels(arguments, words, True, where, lambda n: f"{path}, row {n + 1}", doubts)
    numbers, scale = np.arange(1, labels.size + 1), arguments.standardise
    return _Data(path, task, source.X, y, column, None, numbers, _scaler(scale, True), not scale, doubts)


def _table_data(arguments, table):
    """Return the Data of a table."""
    # 1) the columns
    path, doubts, width = table.path, [], table.width
    label, is_named = label_column(arguments, table)
    if width < 2 and label is not None:
        raise ValueError(f"{path}: has one column; a label and a feature are needed (is it --delimiter?)")
    ignored = {table.number_of(column) for column in arguments.ignore}
    groups = vars(arguments).get("groups") and table.number_of(arguments.groups)
    categorical = {table.number_of(column) for column in arguments.categorical}
    apart = {label, groups} - {None}
    features = [j for j in range(width) if j not in apart | ignored]
    for j in apart & ignored:
        raise ValueError(f"{path}: column {table.title(j)} of the label or the groups is ignored")
    if groups is not None and groups == label:
        raise ValueError(f"{path}: column {table.title(label)} of the groups is the label")
    if not features:
        raise ValueError(f"{path}: no column is left for the features")
    for j in categorical - {*features}:
        raise ValueError(f"{path}: --categorical is for features, and column {table.title(j)} is none")
    used = sorted([*features, *apart])
    table.check_names(used)
    # 2) rows without a missing value, and features, of which those of words are categories
    frame = table.frame(used, text={*apart, *categorical}, labels=apart)
    rows = _complete(arguments, table, frame, features, apart)
    dropped = len(frame) - rows.size
    frame = frame.iloc[rows].copy() if dropped else frame
    words = [j for j in features if j in categorical or not is_number_column(table, frame[j])]
    for j in words:
        if (n := frame[j].nunique()) > MOST_CLASSES:
            many = f"{n} different values, such as {frame[j].dropna().iloc[0]!r}, are too many categories"
            leave = f"({MOST_CLASSES} at most); leave the column out with --ignore {j + 1}"
            raise ValueError(f"{path}, column {table.title(j)}: {many} {leave}")
    for j in categorical:
        frame[j] = _codes(frame[j])
    _doubt_columns(table, frame, features, words, categorical, doubts)
    # 3) the label
    task, y, column = "one-class", None, None
    if label is not None:
        column, labels = f"column {table.title(label)}", frame[label].to_numpy(dtype=object)
        where = f"{path}, {column}"
        task, y = _told_labels(
            arguments, labels, is_named, where, lambda n: table.cell(rows[n], label), doubts
        )
        if task == "classification" and not is_named:
            _doubt_label(table, frame, label, features, doubts)
    elif likely := [j for j in features if table.names and table.names[j].lower() in LABEL_NAMES]:
        title = table.title(likely[0])
        doubts.append(f"column {title} is a feature, since no --label is given; --ignore leaves it out")
    # 4) names, or numbers where there are none
    names = list(range(len(features))) if table.names is None else [table.names[j] for j in features]
    named = dict(zip(features, names, strict=True))
    numbers = [named[j] for j in features if j not in words]
    steps = _steps(numbers, [named[j] for j in words], arguments.impute, arguments.standardise)
    is_plain = not (words or arguments.impute or arguments.standardise)
    kinds = None if groups is None else frame[groups].to_numpy(dtype=str)
    frame = frame[features].set_axis(names, axis=1).reset_index(drop=True)
    return _Data(path, task, frame, y, column, kinds, rows + 1, steps, is_plain, doubts, dropped)


def label_column(arguments, table):
    """Return the label's column or None, and whether it is named and not guessed from its place."""
    if arguments.label is not None:
        return table.number_of(arguments.label), True
    if arguments.task == "one-class":
        return None, False
    likely = [j for j, name in enumerate(table.names or ()) if name.lower() in LABEL_NAMES]
    return (likely[0], True) if len(likely) == 1 else (table.width - 1, False)


def _complete(arguments, table, frame, features, apart):
    """Return the numbers of the rows without a missing value, from 0; raise a ValueError for others."""
    missing = frame.isna()
    for j in features:
        if missing[j].all():
            fault = f"column {table.title(j)}: every value is missing; leave it out with --ignore {j + 1}"
            raise ValueError(f"{table.path}, {fault}")
    if arguments.impute:
        missing[features] = False
    incomplete = missing.to_numpy().any(axis=1)
    if incomplete.any() and not arguments.drop_missing:
        impute = "" if missing[[*apart]].any(axis=None) else ", or have features filled in with --impute"
        refuse_missing(table, missing, f"leave such rows out with --drop-missing{impute}")
    if incomplete.all():
        raise ValueError(f"{table.path}: every row has a missing value")
    return np.flatnonzero(~incomplete)


def refuse_missing(table, missing, remedy):
    """Raise a ValueError that names the first missing value."""
    incomplete = missing.to_numpy().any(axis=1)
    n = int(incomplete.argmax())
    j = missing.columns[missing.iloc[n].to_numpy().argmax()]
    rows = f"{incomplete.sum()} of {len(missing)} rows"
    raise ValueError(f"{table.cell(n, j)}: the value is missing, as in {rows}; fill it in, or {remedy}")


def is_number_column(table, column):
    """Return whether a column of features holds numbers, and not categories; raise a ValueError for both.

    `column` is one of ``table.frame``, whose index are numbers of rows.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    j = column.name
    leave = f"leave the column out with --ignore {j + 1}"
    if not is_numeric_dtype(column) or is_bool_dtype(column):
        words = column.dropna()
        kinds = {word for word in words.unique() if isinstance(word, str)}
        numbers = {word for word in kinds if is_number(word)}
        dressed = {word for word in kinds - numbers if DRESSED.fullmatch(word)}
        odd = dressed or (kinds - numbers if numbers else set())
        if odd:
            n = next(n for n, word in words.items() if word in odd)
            remedy = f"correct it, make each value a category with --categorical {j + 1}"
            fault = "is not a number, as others of the column are"
            if dressed:
                fault = "is a number in another dress"
                remedy = (
                    "write digits and a decimal point, as pandas.read_csv can by decimal=',' or thousands=','"
                )
            raise ValueError(f"{table.cell(n, j)}: {words[n]!r} {fault}; {remedy}, or {leave}")
        if not numbers:
            return False
        column = column.astype(float)  # whole numbers that are too large for one of pandas
    values = column.to_numpy()
    if not column.abs().max() >= EXACT:
        return True
    for n in column.index[np.isinf(values)]:
        raise ValueError(f"{table.cell(n, j)}: the number is not finite; correct it, or {leave}")
    large = column.index[(values >= EXACT) | (values <= -EXACT)]
    words = table.frame([j], text={j})[j] if len(large) else column
    for n in large:
        if re.fullmatch("[+-]?[0-9]+", words[n]) and int(float(words[n])) != int(words[n]):
            raise ValueError(
                f"{table.cell(n, j)}: {words[n]} is a whole number above 2^53, which float64 rounds; divide "
                f"it, make it a category with --categorical {j + 1}, or {leave}"
            )
    return True


def _codes(column):
    """Return a column of --categorical as pandas reads it: whole numbers in their plain form are numbers."""
    import pandas

    plain = all(re.fullmatch("0|-?[1-9][0-9]{0,14}", str(word)) for word in column.dropna().unique())
    return pandas.to_numeric(column) if plain else column


def _scaler(scale, sparse=False):
    """Return the step that standardises numbers, in a list; sparse ones keep their mean, and stay sparse."""
    from sklearn.preprocessing import StandardScaler

    return [("scale", StandardScaler(with_mean=not sparse))] if scale else []


def _steps(numbers, words, impute, scale):
    """Return the step of a Pipeline that turns columns of numbers and of categories into numbers."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    number_steps = [("impute", SimpleImputer(strategy="median", keep_empty_features=True))] if impute else []
    number_steps += _scaler(scale)
    word_steps = [("impute", SimpleImputer(strategy="most_frequent"))] if impute else []
    word_steps += [("encode", OneHotEncoder(handle_unknown="warn", sparse_output=False))]
    parts = [("numbers", Pipeline(number_steps) if number_steps else "passthrough", numbers)]
    parts = parts * bool(numbers) + [("categories", Pipeline(word_steps), words)] * bool(words)
    return [("columns", ColumnTransformer(parts, sparse_threshold=0))]


def _told_labels(arguments, words, is_named, where, cell, doubts):
    """Return the task, and labels of words as it takes them; add a doubt where it is told from the labels."""
    task = arguments.task or _told_task(arguments, words, is_named, where, doubts)
    if task == "one-class":
        if len({*words}) > MOST_CLASSES:
            raise ValueError(f"{where} holds {len({*words})} different values: that is no class label")
        return task, words.astype(str)
    if task == "classification":
        return task, _classes(words, where, doubts)
    odd = next((n for n, word in enumerate(words) if not is_number(word) or np.isinf(float(word))), None)
    if odd is not None:
        raise ValueError(f"{cell(odd)}: {words[odd]!r} is no number to predict; correct it")
    return task, words.astype(np.float64)


def _told_task(arguments, words, is_named, where, doubts):
    """Return the task that the labels are for; raise a ValueError where numbers may be another column's."""
    if any(name == "epsilon" for name, _ in arguments.set):
        return "regression"
    counts, m = Counter(words), words.size
    if len(counts) < 3 or not all(map(is_number, counts)):
        return "classification"
    fractions = any(float(word) % 1 != 0 for word in counts)
    few_of_each = len(counts) > FEW_CLASSES and min(counts.values()) < 3
    if not (fractions or 2 * len(counts) > m or few_of_each):
        return "classification"
    having = (
        f"{where} holds {len(counts)} different {'numbers' if fractions else 'whole numbers'} in {m} rows"
    )
    if not is_named:
        raise ValueError(
            f"{having}, and nothing says that it is the label: --task regression predicts it, --task "
            "classification takes each for a class, and --label names another column"
        )
    doubts.append(f"{having}: they are numbers to predict; --task classification takes each for a class")
    return "regression"


def _classes(words, where, doubts):
    """Return labels that differ as text as different classes: int64 where it keeps them apart, else str."""
    column, counts = where.partition(", ")[2] or "the label", Counter(words)
    kinds = sorted(counts)
    many = f"holds {len(kinds)} different values in {words.size} rows"
    if len(kinds) < 2:
        raise ValueError(f"{where} holds one class only: {kinds[0]!r}")
    if len(kinds) > MOST_CLASSES and 2 * len(kinds) > words.size:
        raise ValueError(f"{where} {many}: that is no class label (see --label and --task regression)")
    if len(kinds) > MOST_CLASSES:
        doubts.append(f"{column} {many}: each is a class")
    for word in (word for word in kinds if word in MISSING):
        doubts.append(f"the label {word!r} of {counts[word]} rows in {column} is a class")
    numbers = [float(word) for word in kinds] if all(map(is_number, kinds)) else []
    alike = _look_alikes(kinds) or _look_alikes(kinds, numbers or kinds)
    if alike:
        doubts.append(
            f"the labels {alike[0]!r} and {alike[1]!r} in {column} are two classes, though they look alike"
        )
    elif numbers and all(value % 1 == 0 and abs(value) < EXACT for value in numbers):
        return words.astype(np.float64).astype(np.int64)
    return words.astype(str)


def _look_alikes(words, forms=None):
    """Return two words that differ only by case, white space or characters, or whose `forms` are equal."""
    by_form = {}
    for form, word in zip(forms or words, words, strict=True):
        form = " ".join(unicodedata.normalize("NFKC", str(form)).casefold().split())
        if by_form.setdefault(form, word) != word:
            return by_form[form], word
    return None


def _doubt_label(table, frame, label, features, doubts):
    """Add a doubt if the last column is taken for the label by its place, and the first is more like one."""
    first, last = frame[features[0]].dropna(), frame[label]
    n, n_last = first.nunique(), last.nunique()
    if features[0] == 0 and not (first.dtype.kind == "f" and (first % 1 != 0).any()) and n > 1:
        same = n > 2 and {*map(str, first)} == {*last}  # two values are often 0 and 1 everywhere
        if same or (n < n_last and 2 * n <= len(frame)):
            doubts.append(
                f"column {table.title(label)} is taken for the label since it is the last one, and column "
                f"{table.title(0)} has {n} different values, and not {n_last}; --label settles it"
            )


def _doubt_columns(table, frame, features, words, categorical, doubts):
    """Add a doubt for columns of categories, and of ids."""

    def listed(columns):
        names = ", ".join(table.title(j) for j in columns[:8]) + " and others" * (len(columns) > 8)
        return f"{'columns' if len(columns) > 1 else 'column'} {names}"

    guessed = [j for j in words if j not in categorical]
    if guessed:
        n = counted(sum(frame[j].nunique() for j in guessed), "value", "values")
        doubts.append(
            f"words in {listed(guessed)}: {n} become features that are 0 or 1, as --categorical says"
        )
    ids = [j for j in features if j not in categorical and _is_id(table, frame[j], j in words)]
    if ids:
        doubts.append(
            f"{listed(ids)}: like ids or row numbers, and taken for features; --ignore leaves them out"
        )


def _is_id(table, column, is_word):
    """Return whether a column has the name of an id, or values like those of one."""
    if table.names is not None and ID_NAME.fullmatch(table.names[column.name]):
        return True
    if is_word:
        return column.nunique() == len(column) >= ID_ROWS
    if (column.to_numpy()[:ID_ROWS] % 1 > 0).any():  # sooner than all values
        return False
    values = column.dropna().to_numpy(dtype=np.float64)
    if values.size < ID_ROWS or (values % 1 != 0).any():
        return False
    n, steps = np.unique(values).size, np.diff(values)
    in_order = (steps > 0).all() or (steps < 0).all() or (n == values.size == np.ptp(values) + 1)
    return bool(in_order or (np.median(np.abs(values)) >= ID_SIZE and n >= ID_SHARE * values.size))


def _doubt_scales(arguments, data):
    """Add a doubt if features are not standardised, and their deviations are very different."""
    from svmselect.sklearn.fitting import uneven_columns

    uneven = None if arguments.standardise or arguments.kernel == "linear" else uneven_columns(data.X)
    if uneven is not None:
        data.doubts.append(
            f"the features' deviations differ by a factor of {uneven[2] / uneven[3]:.3g}, and the largest "
            "decide alone: --standardise makes them equal"
        )
