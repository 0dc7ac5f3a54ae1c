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
from svmselect.standardise import standardise

__all__ = [
    "LABEL_NAMES",
    "MOST_CLASSES",
    "is_number_column",
    "label_column",
    "load",
    "refuse_missing",
]

LABEL_NAMES = ("label", "target", "class")
MOST_CLASSES = 50  # and categories
NUMERALS = {*"0123456789+-.eE"}
EXACT = 2**53  # from here on float64 has not every whole number
UNEVEN = 100  # from this ratio of the features' deviations on, the command makes a remark
# Whole numbers of more values than this, some of them in one or two rows, are numbers to predict.
FEW_CLASSES = 10
# From this many rows on, a column of increasing whole numbers is taken for row numbers: by chance, only one
# column in 8! = 40,320 is increasing.
ID_ROWS = 8
# Whole numbers from here on, nearly all different, look like numbers that were assigned, not measured.
ID_SIZE, ID_SHARE = 1e5, 0.9
ID_NAME = re.compile(r"(.*[\s_.-])?[iI][dD]|.*[a-z]I[dD]")
# numbers that stand for a missing value where no other is near
MISSING_CODES = {99, 999, 9999, 99999, 999999}
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
    dropped : int
        Rows left out because a value was missing.
    doubts : list of str
        Sentences on decisions that may be wrong, and their reasons.
    steps : list of tuple
        Names and transformers of a Pipeline, which turn `frame` into numbers.
    """

    path: str
    task: str
    frame: object
    y: np.ndarray | None
    label: str | None
    groups: np.ndarray | None
    numbers: np.ndarray
    dropped: int
    doubts: list[str]
    steps: list[tuple]

    @cached_property
    def transformed(self):
        """The features as float64, shape (m, d), by `steps`, which are fitted to all rows."""
        X = self.pipeline(None)[:-1].fit_transform(self.frame) if self.steps else self.frame
        return X if scipy.sparse.issparse(X) else np.asarray(X, dtype=np.float64)

    @property
    def rows(self):
        """The rows that the last step is trained on: `transformed`, or the frame where it has names."""
        named = not self.steps and isinstance(getattr(self.frame, "columns", [0])[0], str)
        return self.frame if named else self.transformed

    def pipeline(self, model):
        """Return a Pipeline of `steps` and a model, as it was trained on `rows`."""
        from sklearn.pipeline import Pipeline

        return Pipeline([*self.steps, ("svm", model)])

    def taken(self, rows):
        """Return the Data of some rows, with transformers that are not fitted."""
        from sklearn.base import clone

        frame = self.frame[rows] if scipy.sparse.issparse(self.frame) else self.frame.iloc[rows]
        groups, steps = self.groups, [(name, clone(step)) for name, step in self.steps]
        groups = None if groups is None else groups[rows]
        return replace(self, frame=frame, y=self.y[rows], groups=groups, steps=steps)


def load(arguments):
    """Return the Data of the file of a command that trains; print remarks.

    Raise a ValueError that names the file, the line and the column where the file is not clean.
    """
    given = arguments.header, arguments.delimiter, arguments.zero_based, arguments.max_bytes, arguments.label
    source = opened(arguments.file, *given)
    data = (_table_data if isinstance(source, Table) else _libsvm_data)(arguments, source)
    _doubt_scales(arguments, data)
    for doubt in data.doubts:
        warn(doubt)
    if data.dropped:
        warn(f"{counted(data.dropped, 'row', 'rows')} with a missing value left out")
    return data


def _libsvm_data(arguments, source):
    """Return the Data of LIBSVM text."""
    path, doubts = source.path, []
    for option in ("label", "ignore", "categorical", "impute", "groups"):
        if vars(arguments).get(option):
            raise ValueError(f"{path}: --{option} is for tables, and this one is LIBSVM text")
    bad = np.flatnonzero(~(np.abs(source.labels) < EXACT))
    if bad.size:
        raise ValueError(
            f"{path}, row {bad[0] + 1}: the label {source.labels[bad[0]]:.17g} is not below 2^53"
        )
    words = np.array([name_of(label) for label in source.labels.tolist()], dtype=object)
    where, column = f"{path}: the label", "first of each line"
    if arguments.task == "one-class" and len({*words}) > MOST_CLASSES:
        doubts.append(f"the labels are not used, since they have {len({*words})} different values")
        task, y, column = "one-class", None, None
    else:
        task, y = _told_labels(arguments, words, True, where, lambda n: f"{path}, row {n + 1}", doubts)
    numbers, steps = np.arange(1, y.size + 1 if y is not None else words.size + 1), []
    if arguments.standardise:
        steps = _steps([], [], False, True, sparse=True)
    return _Data(path, task, source.X, y, column, None, numbers, 0, doubts, steps)


def _table_data(arguments, table):
    """Return the Data of a table."""
    # 1) the columns
    path, doubts, width = table.path, [], table.width
    label, is_named = label_column(arguments, table)
    if width < 2 and label is not None:
        raise ValueError(f"{path}: has one column; a label and a feature are needed (is it --delimiter?)")
    ignored = {table.number_of(column) for column in arguments.ignore}
    groups = vars(arguments).get("groups") and table.number_of(arguments.groups)
    for j, name in ((label, "the label"), (groups, "the groups")):
        if j is not None and j in ignored | ({label} if name == "the groups" else set()):
            role = "ignored" if j in ignored else "the label"
            raise ValueError(f"{path}: column {table.title(j)} of {name} is {role}")
    apart = {label, groups} - {None}
    features = [j for j in range(width) if j not in apart | ignored]
    categorical = {table.number_of(column) for column in arguments.categorical}
    if not features:
        raise ValueError(f"{path}: no column is left for the features")
    if categorical - {*features}:
        title = table.title(min(categorical - {*features}))
        raise ValueError(f"{path}: --categorical is for features, and column {title} is none")
    used = sorted([*features, *apart])
    table.check_names(used)
    # 2) rows without a missing value, and features, of which those of words are categories
    frame = table.frame(used, text={*apart, *categorical}, labels=apart)
    rows = _complete(arguments, table, frame, features, apart)
    dropped = len(frame) - rows.size
    frame = frame.iloc[rows] if dropped else frame
    words = [j for j in features if j in categorical or not is_number_column(table, frame[j])]
    for j in words:
        n, m = frame[j].nunique(), frame[j].notna().sum()
        if n > MOST_CLASSES:
            example = str(frame[j].dropna().iloc[0])
            raise ValueError(
                f"{path}, column {table.title(j)}: {n} different values in {m} rows, such as {example!r}, "
                f"are too many categories ({MOST_CLASSES} at most); leave the column out with --ignore "
                f"{j + 1}"
            )
    frame = frame.copy() if categorical else frame
    for j in categorical:
        frame[j] = _codes(frame[j])
    _doubt_columns(table, frame, features, words, categorical, doubts)
    # 3) the label
    task, y, column = "one-class", None, None
    if label is not None:
        column = f"column {table.title(label)}"
        task, y = _told_labels(
            arguments,
            frame[label].to_numpy(dtype=object),
            is_named,
            f"{path}, {column}",
            lambda n: table.cell(rows[n], label),
            doubts,
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
    kinds = None if groups is None else frame[groups].to_numpy(dtype=str)
    frame = frame[features].set_axis(names, axis=1).reset_index(drop=True)
    return _Data(path, task, frame, y, column, kinds, rows + 1, dropped, doubts, steps)


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
    every = [j for j in features if missing[j].all()]
    if every:
        title = table.title(every[0])
        raise ValueError(
            f"{table.path}, column {title}: every value is missing; leave it out with --ignore {every[0] + 1}"
        )
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
    """Raise a ValueError that names the first missing value, and other columns that have some."""
    incomplete = missing.to_numpy().any(axis=1)
    n = int(incomplete.argmax())
    j = missing.columns[missing.iloc[n].to_numpy().argmax()]
    more = [table.title(k) for k in missing.columns if k != j and missing[k].any()]
    where = f", also in column {', '.join(more[:5])}{' and others' * (len(more) > 5)}" if more else ""
    raise ValueError(
        f"{table.cell(n, j)}: the value is missing, as in {incomplete.sum()} of {len(missing)} rows{where}; "
        f"fill it in, or {remedy}"
    )


def is_number_column(table, column):
    """Return whether a column of features holds numbers, and not categories; raise a ValueError for both.

    `column` is one of ``table.frame``, whose index are numbers of rows.
    """
    import pandas

    j = column.name
    leave = f"leave the column out with --ignore {j + 1}"
    if pandas.api.types.is_numeric_dtype(column) and column.dtype != bool:
        _check_numbers(table, column, None, leave)
        return True
    words = column[column.notna()]
    if not words.map(lambda word: isinstance(word, str)).all():  # of bools
        return False
    kinds = words.unique()
    infinite = {word for word in kinds if word.lower().lstrip("+-") in ("inf", "infinity")}
    numbers = {word for word in kinds if is_number(word)} | infinite
    if numbers and len(numbers) == len(kinds):  # too large for an integer of pandas
        _check_numbers(table, words.astype(float), words, leave)
        return True
    dressed = {word for word in kinds if word not in numbers and DRESSED.fullmatch(word)}
    odd = dressed or ({*kinds} - numbers if numbers else set())
    if not odd:
        return False
    n = next(n for n, word in words.items() if word in odd)
    if dressed:
        remedy = "write digits and a decimal point, as pandas.read_csv can by decimal=',' or thousands=','"
        raise ValueError(
            f"{table.cell(n, j)}: {words[n]!r} is a number in another dress; {remedy}, or {leave}"
        )
    raise ValueError(
        f"{table.cell(n, j)}: {words[n]!r} is not a number, as others of the column are; correct it, make "
        f"each value a category with --categorical {j + 1}, or {leave}"
    )


def _check_numbers(table, column, words, leave):
    """Raise a ValueError for a number that is not finite, or a whole number that float64 rounds."""
    values, j = column.to_numpy(), column.name
    if values.dtype.kind == "f":
        infinite = column.index[np.isinf(values)]
        if len(infinite):
            raise ValueError(
                f"{table.cell(infinite[0], j)}: the number is not finite; correct it, or {leave}"
            )
        large = column.index[np.abs(values) >= EXACT]
        if len(large):
            words = table.frame([j], text={j})[j] if words is None else words
            large = [n for n in large if re.fullmatch("[+-]?[0-9]+", str(words[n]))]
    else:
        large, words = column.index[(values > EXACT) | (values < -EXACT)], column
    large = [n for n in large if int(float(words[n])) != int(words[n])]
    if large:
        raise ValueError(
            f"{table.cell(large[0], j)}: {words[large[0]]} is a whole number above 2^53, which float64 "
            f"rounds; divide it, make it a category with --categorical {j + 1}, or {leave}"
        )


def _codes(column):
    """Return a column of --categorical as pandas reads it: whole numbers in their plain form are numbers."""
    import pandas

    plain = all(re.fullmatch("0|-?[1-9][0-9]{0,14}", str(word)) for word in column.dropna().unique())
    return pandas.to_numeric(column) if plain else column


def _steps(numbers, words, impute, scale, sparse=False):
    """Return the names and transformers of a Pipeline, for columns of numbers and of categories."""
    if not (words or impute or scale):
        return []
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    # without the mean a matrix stays sparse; a model with a threshold is the same by all kernels but poly
    number_steps = [("impute", SimpleImputer(strategy="median", keep_empty_features=True))] if impute else []
    number_steps += [("scale", StandardScaler(with_mean=not sparse))] if scale else []
    if not words:
        return number_steps
    word_steps = [("impute", SimpleImputer(strategy="most_frequent"))] if impute else []
    word_steps += [("encode", OneHotEncoder(handle_unknown="warn", sparse_output=False))]
    parts = (
        [("numbers", Pipeline(number_steps) if number_steps else "passthrough", numbers)] if numbers else []
    )
    return [
        (
            "columns",
            ColumnTransformer([*parts, ("categories", Pipeline(word_steps), words)], sparse_threshold=0),
        )
    ]


def _told_labels(arguments, words, is_named, where, cell, doubts):
    """Return the task, and labels of words as it takes them; add a doubt where it is told from the labels."""
    task = arguments.task or _told_task(arguments, words, is_named, where, doubts)
    if task == "one-class":
        if len({*words}) > MOST_CLASSES:
            raise ValueError(f"{where} holds {len({*words})} different values: that is no class label")
        return task, words.astype(str)
    if task == "classification":
        return task, _classes(words, where, doubts)
    values = _numbers(words)
    if values is None or np.isinf(values).any():
        odd = next(n for n, word in enumerate(words) if not is_number(word) or np.isinf(float(word)))
        raise ValueError(f"{cell(odd)}: {words[odd]!r} is no number to predict; correct it")
    return task, values


def _numbers(words):
    """Return words as float64 if all are numbers, else None."""
    if {*"".join(words)} <= NUMERALS:  # the usual case, in a pass of compiled code
        try:
            return words.astype(np.float64)
        except ValueError:
            return None
    return words.astype(np.float64) if all(map(is_number, words)) else None


def _told_task(arguments, words, is_named, where, doubts):
    """Return the task that the labels are for; raise a ValueError where numbers may be another column's."""
    if any(name == "epsilon" for name, _ in arguments.set):
        return "regression"
    kinds, counts = _counts(words)
    values, m = _numbers(kinds), words.size
    if kinds.size < 3 or values is None:
        return "classification"
    fractions = bool((values != np.floor(values)).any())
    if not (fractions or 2 * kinds.size > m or (kinds.size > FEW_CLASSES and counts.min() < 3)):
        return "classification"
    having = f"{where} holds {kinds.size} different {'numbers' if fractions else 'whole numbers'} in {m} rows"
    if not is_named:
        raise ValueError(
            f"{having}, and nothing says that it is the label: --task regression predicts it, --task "
            "classification takes each for a class, and --label names another column"
        )
    doubts.append(f"{having}: they are numbers to predict; --task classification takes each for a class")
    return "regression"


def _counts(words):
    """Return the different words as text, sorted, and how often each stands."""
    counts = Counter(words)
    kinds = sorted(counts)
    return np.array(kinds, dtype=str), np.array([counts[word] for word in kinds])


def _classes(words, where, doubts):
    """Return labels that differ as text as different classes: int64 where it keeps them apart, else str."""
    column, (kinds, counts) = where.partition(", ")[2] or "the label", _counts(words)
    many = f"holds {kinds.size} different values in {words.size} rows"
    if kinds.size < 2:
        raise ValueError(f"{where} holds one class only: {str(kinds[0])!r}")
    if kinds.size > MOST_CLASSES and 2 * kinds.size > words.size:
        raise ValueError(f"{where} {many}: that is no class label (see --label and --task regression)")
    if kinds.size > MOST_CLASSES:
        doubts.append(f"{column} {many}: each is a class")
    for word, count in zip(kinds.tolist(), counts, strict=True):
        if word in MISSING:
            doubts.append(f"the label {word!r} of {count} rows in {column} is a class")
    alike = _look_alikes(kinds.tolist())
    values = None if alike else _numbers(kinds)
    if values is not None and (np.abs(values) < EXACT).all():
        same = _look_alikes(values.tolist(), kinds.tolist())
        if not same and (values == np.floor(values)).all():
            return words.astype(np.float64).astype(np.int64)
        alike = same
    if alike:
        doubts.append(
            f"the labels {alike[0]!r} and {alike[1]!r} in {column} are two classes, though they look alike"
        )
    return words.astype(str)


def _look_alikes(forms, words=None):
    """Return two words that differ only by case, white space or characters, or whose `forms` are equal."""
    by_form = {}
    for form, word in zip(forms, words or forms, strict=True):
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
    """Add a doubt for columns of categories, of ids, and with codes of missing values."""

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
    for j in words:
        if alike := _look_alikes(frame[j].dropna().unique().tolist()):
            doubts.append(
                f"{alike[0]!r} and {alike[1]!r} in {listed([j])} are two categories, though they look alike"
            )
    for j in features:
        values = np.zeros(0) if j in words else frame[j].dropna().to_numpy(dtype=np.float64)
        for code in MISSING_CODES.intersection(np.abs([values.min(), values.max()])) if values.size else ():
            code = code if values.max() == code else -code
            remaining = values[values != code]
            several = values.size - remaining.size > 1 and np.unique(remaining).size > 2
            if several and np.abs(remaining - code).min() > np.ptp(remaining):
                doubts.append(
                    f"{code} in {listed([j])}, far from all others as for a missing one, is a number"
                )


def _is_id(table, column, is_word):
    """Return whether a column has the name of an id, or values like those of one."""
    if table.names is not None and ID_NAME.fullmatch(table.names[column.name]):
        return True
    if is_word:
        return column.nunique() == len(column) >= ID_ROWS
    if (column[:ID_ROWS] % 1 > 0).any():  # sooner than all values
        return False
    values = column.dropna().to_numpy(dtype=np.float64)
    if values.size < ID_ROWS or (values % 1 != 0).any():
        return False
    n, steps = column.nunique(), np.diff(values)
    in_order = (steps > 0).all() or (steps < 0).all()
    if in_order or (n == values.size and np.ptp(values) == values.size - 1):
        return True
    return bool(np.median(np.abs(values)) >= ID_SIZE and n >= ID_SHARE * values.size)


def _doubt_scales(arguments, data):
    """Add a doubt if features are not standardised, and their deviations are very different."""
    if scipy.sparse.issparse(data.frame):
        return
    numbers = data.frame.select_dtypes("number")
    if arguments.standardise:
        standardise(numbers.dropna().to_numpy(dtype=np.float64))  # an error where it cannot be
        return
    with np.errstate(over="ignore", invalid="ignore"):  # the kernel refuses such values
        deviation = np.array([numbers[name].std(ddof=0) for name in numbers.columns])
    # the deviation of a category that half of the rows have
    deviation = np.append(deviation, [0.5] * (numbers.shape[1] < data.frame.shape[1]))
    deviation = deviation[(deviation > 0) & np.isfinite(deviation)]
    if arguments.kernel != "linear" and deviation.size and deviation.max() > UNEVEN * deviation.min():
        data.doubts.append(
            f"the features' deviations differ by a factor of {deviation.max() / deviation.min():.3g}, and "
            "the largest decide alone: --standardise makes them equal"
        )
