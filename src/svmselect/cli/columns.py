"""What the columns of a clean file are: the label, the groups, numbers and categories, and what is odd in them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse

from svmselect.cli.arguments import is_number
from svmselect.cli.output import counted, name_of, warn
from svmselect.cli.read import MISSING, Table, opened
from svmselect.standardise import standardise

__all__ = ["LABEL_NAMES", "MOST_CLASSES", "Data", "is_number_column", "load", "refuse_missing"]

LABEL_NAMES = ("label", "target", "class")
MOST_CLASSES = MOST_CATEGORIES = 50
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
# a number that is written as people do: with a sign of money or of per cent, quotes, or another mark than a point
DRESSED = re.compile(
    r"(?P<quote>')?[(+-]?[$€£¥]?\s?[+-]?(?P<number>\d{1,3}([ ,.'_\u00a0\u202f]\d{3})+([.,]\d+)?|\d+,\d+|\d+\.?\d*|[.,]\d+)"
    r"([eE][+-]?\d+)?\)?\s?[%$€£¥]?(?P=quote)?|(?P<bare>\d+(_\d+)+)|'[^']*'"
)


@dataclass
class Data:
    """Rows of a file to train on.

    Attributes
    ----------
    path : str
    task : {"classification", "regression", "one-class"}
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
        from sklearn.pipeline import Pipeline

        X = self.frame
        if self.steps:
            X = Pipeline(self.steps).fit_transform(X)
        return X if scipy.sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)

    @property
    def rows(self):
        """The features that the last step of a Pipeline is trained on: `transformed`, or else the frame with its names."""
        named = not self.steps and isinstance(getattr(self.frame, "columns", [0])[0], str)
        return self.frame if named else self.transformed

    def taken(self, rows):
        """Return the Data of some rows, with transformers that are not fitted."""
        from sklearn.base import clone

        frame = self.frame[rows] if scipy.sparse.issparse(self.frame) else self.frame.iloc[rows]
        groups = None if self.groups is None else self.groups[rows]
        steps = [(name, clone(step)) for name, step in self.steps]
        return replace(
            self, frame=frame, y=self.y[rows], groups=groups, numbers=self.numbers[rows], steps=steps
        )

    def pipeline(self, model):
        """Return a Pipeline of `steps` and a model, as it was trained on `rows`."""
        from sklearn.pipeline import Pipeline

        return Pipeline([*self.steps, ("svm", model)])


def load(arguments):
    """Return the Data of the file of a command that trains; print remarks.

    Raise a ValueError that names the file, the line and the column where the file is not clean.
    """
    source = opened(
        arguments.file,
        arguments.header,
        arguments.delimiter,
        arguments.zero_based,
        arguments.max_bytes,
        arguments.label,
    )
    data = (_of_table if isinstance(source, Table) else _of_libsvm)(arguments, source)
    _doubt_scales(arguments, data)
    for doubt in data.doubts:
        warn(doubt)
    if data.dropped:
        warn(f"{counted(data.dropped, 'row', 'rows')} with a missing value left out")
    return data


def _of_libsvm(arguments, source):
    """Return the Data of LIBSVM text."""
    path, labels, doubts = source.path, source.labels, []
    options = {
        "--label": arguments.label,
        "--ignore": arguments.ignore,
        "--categorical": arguments.categorical,
    }
    options |= {"--impute": arguments.impute, "--groups": getattr(arguments, "groups", None)}
    for option, value in options.items():
        if value:
            raise ValueError(f"{path}: {option} is for tables, and this one is LIBSVM text")
    bad = np.flatnonzero(~(np.abs(labels) < EXACT))
    if bad.size:
        raise ValueError(
            f"{path}, row {bad[0] + 1}: the label must be below 2^53 in size, got {labels[bad[0]]:.17g}"
        )
    words = np.array([name_of(label) for label in labels.tolist()], dtype=object)
    column = "first of each line"
    task = arguments.task or _told_task(arguments, words, True, f"{path}: the label", doubts)
    if task == "one-class":
        y = np.asarray(words, dtype=str)
        if (n := np.unique(y).size) > MOST_CLASSES:
            doubts.append(f"the labels are not used, since they have {n} different values")
            y = column = None
    else:
        y = labels if task == "regression" else _classes(words, f"{path}: the label", doubts)
    X = source.X
    numbers = np.arange(1, X.shape[0] + 1)
    steps = _steps([], [], False, arguments.standardise, sparse=True)
    return Data(path, task, X, y, column, None, numbers, 0, doubts, steps)


def _of_table(arguments, table):
    """Return the Data of a table."""
    # 1) the columns
    path, doubts, width = table.path, [], table.width
    labelled = arguments.task != "one-class" or arguments.label is not None
    if width < 2 and labelled:
        raise ValueError(f"{path}: has one column; a label and a feature are needed (is it --delimiter?)")
    label, is_named = _label_column(arguments, table) if labelled else (None, False)
    ignored = {table.number_of(column) for column in arguments.ignore}
    groups = getattr(arguments, "groups", None)
    groups = None if groups is None else table.number_of(groups)
    if label in ignored:
        raise ValueError(f"{path}: the label's column {table.title(label)} cannot be ignored")
    if groups is not None and groups in {label, *ignored}:
        role = "the label's" if groups == label else "an ignored one"
        raise ValueError(f"{path}: the groups' column {table.title(groups)} is {role}")
    apart = {label, groups} - {None}
    features = [j for j in range(width) if j not in apart | ignored]
    categorical = {table.number_of(column) for column in arguments.categorical}
    if not features:
        raise ValueError(f"{path}: no column is left for the features")
    if categorical - {*features}:
        j = min(categorical - {*features})
        raise ValueError(f"{path}: --categorical is for features, and column {table.title(j)} is none")
    used = sorted([*features, *apart])
    table.check_names(used)
    # 2) rows without a missing value
    frame = table.frame(used, text={*apart, *categorical}, labels=apart)
    dropped, rows = _complete(arguments, table, frame, features, apart)
    if dropped:
        frame = frame.iloc[rows]
    # 3) features, of which those of words are categories
    words = [j for j in features if not is_number_column(table, frame[j], j in categorical)]
    for j in categorical:
        frame[j] = _codes(frame[j])
    _doubt_columns(table, frame, features, words, categorical, doubts)
    # 4) the label
    task, column = arguments.task, None if label is None else f"column {table.title(label)}"
    y, where = None, f"{path}, {column}"
    if label is not None:
        labels = frame[label].to_numpy(dtype=object)
        task = task or _told_task(arguments, labels, is_named, where, doubts)
        if task == "regression":
            y = _targets(table, labels, rows, label)
        elif task == "one-class":
            y = labels.astype(str)
            if np.unique(y).size > MOST_CLASSES:
                raise ValueError(
                    f"{where} holds {np.unique(y).size} different values: that is no class label"
                )
        else:
            y = _classes(labels, where, doubts)
            if not is_named:
                _doubt_label(table, frame, label, features, doubts)
    elif table.names is not None:
        likely = [table.title(j) for j in features if table.names[j].lower() in LABEL_NAMES]
        if likely:
            doubts.append(
                f"column {likely[0]} is a feature, since no --label is given; --ignore leaves it out"
            )
    # 5) names, or numbers where there are none
    names = list(range(len(features))) if table.names is None else [table.names[j] for j in features]
    named = dict(zip(features, names, strict=True))
    steps = _steps(
        [named[j] for j in features if j not in words],
        [named[j] for j in words],
        arguments.impute,
        arguments.standardise,
    )
    kinds = None if groups is None else frame[groups].to_numpy(dtype=str)
    frame = frame[features].set_axis(names, axis=1).reset_index(drop=True)
    return Data(path, task, frame, y, column, kinds, rows + 1, dropped, doubts, steps)


def _label_column(arguments, table):
    """Return the label's column, and whether it is named and not guessed from its place."""
    if arguments.label is not None:
        return table.number_of(arguments.label), True
    likely = [j for j, name in enumerate(table.names or ()) if name.lower() in LABEL_NAMES]
    return (likely[0], True) if len(likely) == 1 else (table.width - 1, False)


def _complete(arguments, table, frame, features, apart):
    """Return how many rows have a missing value, and the numbers of those without one, from 0."""
    missing = frame.isna()
    if arguments.impute:
        missing[features] = False
    incomplete = missing.to_numpy().any(axis=1)
    every = frame[features].isna().all()
    if every.any():
        j = every.idxmax()
        raise ValueError(
            f"{table.path}, column {table.title(j)}: every value is missing; leave it out with --ignore {j + 1}"
        )
    if incomplete.any() and not arguments.drop_missing:
        impute = not any(missing[j].any() for j in apart)
        refuse_missing(table, missing, "leave such rows out with --drop-missing", impute)
    if incomplete.all():
        raise ValueError(f"{table.path}: every row has a missing value")
    return int(incomplete.sum()), np.flatnonzero(~incomplete)


def refuse_missing(table, missing, remedy, impute=False):
    """Raise a ValueError that names the first missing value, and all columns that have some."""
    n = int(missing.to_numpy().any(axis=1).argmax())
    j = missing.columns[missing.iloc[n].to_numpy().argmax()]
    count = int(missing.to_numpy().any(axis=1).sum())
    others = [table.title(k) for k in missing.columns if k != j and missing[k].any()]
    where = (
        f", also in column {', '.join(others[:5])}{' and others' if len(others) > 5 else ''}"
        if others
        else ""
    )
    raise ValueError(
        f"{table.cell(n, j)}: the value is missing, as in {count} of {len(missing)} rows{where}; fill it in, or {remedy}"
        + (", or have features filled in with --impute" if impute else "")
    )


def is_number_column(table, column, categorical=False):
    """Return whether a column of features holds numbers, and not categories; raise a ValueError for both."""
    import pandas

    j = column.name
    if categorical:
        _check_categories(table, column)
        return False
    if pandas.api.types.is_numeric_dtype(column) and column.dtype != bool:
        _check_numbers(table, column)
        return True
    words = column[column.notna()]
    if not words.map(lambda word: isinstance(word, str)).all():  # of bools
        return False
    odd = next((n for n, word in zip(words.index, words, strict=True) if not is_number(word)), None)
    if odd is None:  # too large for an integer of pandas
        _check_numbers(table, words.astype(float), words)
        return True
    kinds = words.unique()
    cell = _first(words, lambda word: not is_number(word) and DRESSED.fullmatch(word))
    infinite = _first(words, lambda word: word.lower().lstrip("+-") in ("inf", "infinity"))
    some = any(is_number(word) for word in kinds)
    if infinite is not None and (some or len(kinds) == 1):
        raise ValueError(f"{table.cell(infinite, j)}: {words[infinite]!r} is not finite; correct it")
    if cell is not None:
        raise ValueError(
            f"{table.cell(cell, j)}: {words[cell]!r} is a number in another dress; write it with the digits 0 to 9 and a "
            f"decimal point alone, as pandas can, or leave the column out with --ignore {j + 1}"
        )
    if some:
        raise ValueError(
            f"{table.cell(odd, j)}: {words[odd]!r} is not a number, as others of the column are; correct it, make each "
            f"value a category with --categorical {j + 1}, or leave the column out with --ignore {j + 1}"
        )
    _check_categories(table, column)
    return False


def _first(words, test):
    """Return the index of the first word that passes a test, or None."""
    passed = {word for word in words.unique() if test(word)}
    return (
        next((n for n, word in zip(words.index, words, strict=True) if word in passed), None)
        if passed
        else None
    )


def _check_categories(table, column):
    """Raise a ValueError if a column has too many different values for categories."""
    kinds, m = column.dropna().nunique(), column.notna().sum()
    if kinds > MOST_CATEGORIES:
        raise ValueError(
            f"{table.path}, column {table.title(column.name)}: {kinds} different values in {m} rows are too many "
            f"categories ({MOST_CATEGORIES} at most), such as {str(column.dropna().iloc[0])!r}; leave the column out with "
            f"--ignore {column.name + 1}"
        )


def _check_numbers(table, column, words=None):
    """Raise a ValueError for a number that is not finite, or a whole number that float64 rounds."""
    values = column.to_numpy()
    infinite = np.flatnonzero(np.isinf(values)) if values.dtype.kind == "f" else []
    if len(infinite):
        n = column.index[infinite[0]]
        raise ValueError(
            f"{table.cell(n, column.name)}: the number is not finite, or beyond 1.8e308; correct it"
        )
    if values.dtype.kind == "f":
        large = column.index[np.abs(values) >= EXACT]
        if not len(large):
            return
        if words is None:
            words = table.frame([column.name], text={column.name})[column.name]
        large = [
            n
            for n in large
            if re.fullmatch("[+-]?[0-9]+", str(words[n])) and int(float(words[n])) != int(words[n])
        ]
    else:
        large = [
            n
            for n in column.index[(values > EXACT) | (values < -EXACT)]
            if int(float(column[n])) != int(column[n])
        ]
        words = column
    if len(large):
        raise ValueError(
            f"{table.cell(large[0], column.name)}: {words[large[0]]} is a whole number above 2^53, which float64 "
            f"rounds; divide it, make it a category with --categorical {column.name + 1}, or leave the column out with "
            f"--ignore {column.name + 1}"
        )


def _codes(column):
    """Return a column of --categorical as pandas reads it: whole numbers in their plain form are numbers."""
    import pandas

    words = column.dropna()
    plain = all(re.fullmatch("0|-?[1-9][0-9]{0,14}", str(word)) for word in words.unique())
    return pandas.to_numeric(column) if plain else column


def _number_columns(frame):
    """Return the columns of a DataFrame that hold numbers."""
    return [
        name
        for name, kind in zip(frame.columns, frame.dtypes, strict=True)
        if getattr(kind, "kind", "O") in "iuf"
    ]


def _steps(numbers, words, impute, standardise, sparse=False):
    """Return the names and transformers of a Pipeline, for columns of numbers and of categories."""
    if not (words or impute or standardise):
        return []
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    # without the mean a matrix stays sparse, and a model with a threshold is the same by all kernels but poly
    of_numbers = [("impute", SimpleImputer(strategy="median", keep_empty_features=True))] if impute else []
    of_numbers += [("scale", StandardScaler(with_mean=not sparse))] if standardise else []
    if not words:
        return of_numbers
    of_words = [("impute", SimpleImputer(strategy="most_frequent"))] if impute else []
    of_words += [("encode", OneHotEncoder(handle_unknown="warn", sparse_output=False))]
    parts = [("categories", Pipeline(of_words), words)]
    if numbers:
        parts.insert(0, ("numbers", Pipeline(of_numbers) if of_numbers else "passthrough", numbers))
    return [("columns", ColumnTransformer(parts, sparse_threshold=0))]


def _targets(table, words, rows, label):
    """Return the words of the label as float64; raise a ValueError for one that is no number."""
    odd = next((n for n, word in enumerate(words) if not is_number(word) or np.isinf(float(word))), None)
    if odd is not None:
        dress = ", and a number in another dress" if DRESSED.fullmatch(words[odd]) else ""
        raise ValueError(f"{table.cell(rows[odd], label)}: {words[odd]!r} is no number to predict{dress}")
    return words.astype(np.float64)


def _told_task(arguments, words, is_named, where, doubts):
    """Return the task that the labels are for; raise a ValueError where numbers may be another column's."""
    if any(name == "epsilon" for name, _ in arguments.set):
        return "regression"
    kinds, counts = np.unique(words.astype(str), return_counts=True)
    if kinds.size < 3 or not all(map(is_number, kinds)):
        return "classification"
    values, m = kinds.astype(np.float64), words.size
    fractions = bool((values != np.floor(values)).any())
    if not (fractions or 2 * kinds.size > m or (kinds.size > FEW_CLASSES and counts.min() < 3)):
        return "classification"
    having = f"{where} holds {kinds.size} different {'numbers' if fractions else 'whole numbers'} in {m} rows"
    if not is_named:
        raise ValueError(
            f"{having}, and nothing says that it is the label: --task regression predicts it, --task classification "
            "takes each for a class, and --label names another column"
        )
    doubts.append(f"{having}: they are numbers to predict; --task classification takes each for a class")
    return "regression"


def _classes(words, where, doubts):
    """Return labels that differ as text as different classes: int64 where it keeps them apart, else str."""
    labels = words.astype(str)
    kinds, counts = np.unique(labels, return_counts=True)
    column = where.partition(", ")[2] or "the label"
    if kinds.size < 2:
        raise ValueError(f"{where} holds one class only: {str(kinds[0])!r}")
    if kinds.size > MOST_CLASSES and 2 * kinds.size > labels.size:
        raise ValueError(
            f"{where} holds {kinds.size} different values in {labels.size} rows: that is no class label; --label names "
            "another column, and --task regression predicts numbers"
        )
    if kinds.size > MOST_CLASSES:
        doubts.append(f"{column} holds {kinds.size} different values in {labels.size} rows: each is a class")
    for word, count in zip(kinds, counts, strict=True):
        if word in MISSING:
            doubts.append(f"the label {str(word)!r} of {count} rows in {column} is a class")
    if alike := _look_alikes(kinds.tolist()):
        doubts.append(
            f"the labels {alike[0]!r} and {alike[1]!r} in {column} are two classes, though they look alike"
        )
    if not all(map(is_number, kinds)):
        return labels
    values = kinds.astype(np.float64)
    order = np.argsort(values, kind="stable")
    same = np.flatnonzero(np.diff(values[order]) == 0)
    if same.size and (np.abs(values) < EXACT).all():
        one, other = kinds[order[same[0]]], kinds[order[same[0] + 1]]
        doubts.append(
            f"the labels {str(one)!r} and {str(other)!r} in {column} are two classes, since they differ as text, though "
            "not as numbers"
        )
    whole = (np.abs(values) < EXACT).all() and (values == np.floor(values)).all() and not same.size
    return labels.astype(np.float64).astype(np.int64) if whole else labels


def _look_alikes(words):
    """Return two words that differ only by case, white space or the form of characters, or None."""
    by_form = {}
    for word in words:
        form = " ".join(unicodedata.normalize("NFKC", str(word)).casefold().split())
        if by_form.setdefault(form, word) != word:
            return by_form[form], word
    return None


def _doubt_label(table, frame, label, features, doubts):
    """Add a doubt if the last column is taken for the label by its place, and the first is more like one."""
    first, last = frame[features[0]].dropna(), frame[label]
    n, n_last = first.nunique(), last.nunique()
    if features[0] or (first.dtype.kind == "f" and (first % 1 != 0).any()):
        return
    likeness = None
    if 2 <= n < n_last and 2 * n <= len(frame):
        likeness = f"fewer different values, {n} to {n_last}"
    elif n > 2 and {*map(str, first)} == {*last}:  # two values are often 0 and 1 everywhere
        likeness = "the same values, as features without a label would"
    if likeness is not None:
        doubts.append(
            f"column {table.title(label)} is taken for the label since it is the last one, and column "
            f"{table.title(0)} has {likeness}; --label settles it"
        )


def _doubt_columns(table, frame, features, words, categorical, doubts):
    """Add a doubt for columns that are taken for categories, look like ids, or may hold codes of missing values."""

    def listed(columns):
        names = ", ".join(table.title(j) for j in columns[:8])
        return f"{'columns' if len(columns) > 1 else 'column'} {names}{' and others' if len(columns) > 8 else ''}"

    guessed = [j for j in words if j not in categorical]
    if guessed:
        n = sum(frame[j].nunique() for j in guessed)
        doubts.append(
            f"{listed(guessed)} {'hold' if len(guessed) > 1 else 'holds'} words: their "
            f"{counted(n, 'value', 'values')} become features that are 0 or 1, as --categorical says"
        )
    ids = [j for j in features if _is_id(table, frame[j], j in words, j in categorical)]
    if ids:
        doubts.append(
            f"{listed(ids)} {'look' if len(ids) > 1 else 'looks'} like an id or a row number, and "
            f"{'are features' if len(ids) > 1 else 'is a feature'}; --ignore leaves it out"
        )
    for j in words:
        if alike := _look_alikes(frame[j].dropna().unique()):
            doubts.append(
                f"{alike[0]!r} and {alike[1]!r} in column {table.title(j)} are two categories, though they look alike"
            )
    codes = [
        (j, code) for j in features if j not in words for code in _missing_codes(frame[j].dropna().to_numpy())
    ]
    if codes:
        doubts.append(
            f"{codes[0][1]:.0f} stands in {listed([j for j, _ in codes])} far from all other values, as for a missing "
            "one; it is a number"
        )


def _is_id(table, column, is_word, categorical):
    """Return whether a column has the name of an id, or values like those of one."""
    if categorical:
        return False
    if table.names is not None and ID_NAME.fullmatch(table.names[column.name]):
        return True
    m, n = len(column), column.nunique()
    if is_word:
        return n == m >= ID_ROWS
    values = column.dropna().to_numpy(dtype=np.float64)
    if values.size < ID_ROWS or not (values == np.floor(values)).all():
        return False
    steps = np.diff(values)
    in_order = (steps > 0).all() or (steps < 0).all()
    if in_order or (n == values.size and np.ptp(values) == values.size - 1):
        return True
    return bool(np.median(np.abs(values)) >= ID_SIZE and n >= ID_SHARE * values.size)


def _missing_codes(values):
    """Return the numbers that often mean a missing value, stand several times, and far from all others."""
    codes = []
    for code in {values.min(), values.max()} if values.size else ():
        others = values[values != code].astype(np.float64)
        if abs(code) in MISSING_CODES and values.size - others.size > 1 and np.unique(others).size > 2:
            codes += [code] if np.abs(others - code).min() > np.ptp(others) else []
    return codes


def _doubt_scales(arguments, data):
    """Add a doubt if features are not standardised, and their deviations are very different."""
    if scipy.sparse.issparse(data.frame):
        return
    numbers = data.frame[_number_columns(data.frame)].to_numpy(dtype=np.float64)
    if arguments.standardise:
        standardise(numbers[~np.isnan(numbers).any(axis=1)])  # an error where it cannot be
        return
    if arguments.kernel == "linear":
        return
    with np.errstate(over="ignore", invalid="ignore"):  # the kernel refuses such values
        deviation = np.nanstd(numbers, axis=0) if numbers.size else np.zeros(0)
    if len(_number_columns(data.frame)) < data.frame.shape[1]:
        deviation = np.append(deviation, 0.5)  # of a category that half of the rows have
    deviation = deviation[(deviation > 0) & np.isfinite(deviation)]
    if deviation.size and deviation.max() > UNEVEN * deviation.min():
        data.doubts.append(
            f"the features' deviations differ by a factor of {deviation.max() / deviation.min():.3g}, and the largest "
            "decide alone: --standardise makes them equal"
        )
