"""Files of users: features and labels of a CSV table, a Parquet file or LIBSVM text."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import re
import stat
import sys
import zlib
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import numpy as np
import scipy.sparse

from svmselect.cli.arguments import MAX_BYTES
from svmselect.cli.csv_table import MISSING, Cells, csv_columns, is_number, known_columns, look_alikes
from svmselect.cli.encoding import Column, Encoding, learned
from svmselect.cli.libsvm_text import check_no_variant, is_libsvm, libsvm_rows
from svmselect.cli.output import NumbersError

__all__ = ["MOST_CLASSES", "PARQUET", "Table", "label_names", "read", "read_rows", "text_of", "unpacked"]

MOST_CLASSES = 50
EXACT = 2**53  # from here on float64 has not every whole number
CHUNK = 2**20
OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# the first bytes or words of files that are neither a table nor LIBSVM text, and the remedy
FOREIGN = {
    rb"PK\x03\x04": "a zip archive or a spreadsheet: unpack it, or save it as CSV",
    rb"\s*(\[\s*)?[{\[]": "JSON: write it as CSV",
    rb"\s*<[!?a-zA-Z]": "HTML or XML: write it as CSV",
    rb"\s*@relation\b": "ARFF of Weka: write it as CSV",
}
# the first bytes of compressed files; they are no text
PACKED = {".gz": rb"\x1f\x8b", ".bz2": rb"BZh[1-9]1AY&SY", ".xz": rb"\xfd7zXZ\x00"}
PARQUET = b"PAR1"  # its first bytes
# types of a cell; a date is a category
KINDS = (str, bool, int, float, Decimal, date, datetime, time)


@dataclass(frozen=True)
class Table:
    """Rows of a file.

    Attributes
    ----------
    X : ndarray or CSR matrix, shape (m, d), float64
    numbers : ndarray of int, shape (m,)
        The number of each row among the file's rows of data, from 1.
    labels : ndarray, shape (m,), or None
        Numbers to predict, or classes: float64 where all of them are whole numbers written in one way each,
        else str; str beside rows of one class, None where these have no labels.
    label_column : str or None
        The name of the column of the labels, for people.
    dropped : int
        Rows left out because a value was missing.
    encoding : Encoding
        The map from cells to features.
    raw : Cells or CSR matrix
        The rows from which the encoding was learned.
    groups : ndarray of str, shape (m,), or None
        The group that each row belongs to.
    doubts : tuple of str
        Sentences on decisions that may be wrong, and their reasons.
    """

    X: np.ndarray | scipy.sparse.csr_matrix
    numbers: np.ndarray
    labels: np.ndarray | None
    label_column: str | None
    dropped: int
    encoding: Encoding
    raw: Cells | scipy.sparse.csr_matrix
    groups: np.ndarray | None = None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Rows:
    """Rows of a file for a trained model.

    Attributes
    ----------
    X : ndarray or CSR matrix, shape (m, n_features), float64
    labels : list of str, or ndarray of float64, or None
        As the file has them; an empty text is no label.
    label_column : str or None
        For people.
    doubts : list of str
    """

    X: np.ndarray | scipy.sparse.csr_matrix
    labels: list[str] | np.ndarray | None
    label_column: str | None
    doubts: list[str]


def read(
    path,
    format="auto",
    label=None,
    ignore=(),
    header=None,
    delimiter=None,
    drop_missing=False,
    strict=False,
    categorical=(),
    impute=False,
    standardise=False,
    groups=None,
    zero_based=None,
    max_bytes=MAX_BYTES,
    task="classification",
):
    """Read a file to train on, as a Table.

    The arguments are the options of the command line, whose help describes them. `format` is "auto", "csv" or
    "libsvm"; by default it is told from the first lines, and a Parquet file by its first bytes. What
    `header`, `delimiter`, `label` and `zero_based` do not say is told from the file, with a doubt where it
    may be wrong; `strict` takes a doubt for an error. Raise a ValueError that names the file, and the line
    and column where there is one.
    """
    # labels and columns, from a table or from LIBSVM text
    text, format = _opened(path, format, max_bytes)
    if format == "csv":
        _refuse(path, "LIBSVM text", "a table", {"--zero-based": zero_based})
        zero_based = False
        raw, categorical, dropped, doubts = csv_columns(
            path,
            text,
            label,
            ignore,
            header,
            delimiter,
            drop_missing,
            categorical,
            impute,
            groups,
            labelled=task != "one-class",
        )
        numbers, label_doubts = raw.numbers, []
        column, labels = _table_labels(path, raw, task, label, label_doubts)
    else:
        options = {"--label": label, "--ignore": ignore, "--delimiter": delimiter}
        options |= {"--categorical": categorical, "--impute": impute, "--groups": groups}
        _refuse(path, "CSV files", "LIBSVM text", options)
        raw, labels, zero_based, doubts = _libsvm_columns(path, text, zero_based, task)
        column = None if labels is None else "first of each line"
        dropped, label_doubts = 0, []
        numbers, groups = np.arange(1, raw.shape[0] + 1), None
    # features, by an encoding that is learned from the rows
    try:
        encoding = learned(raw, categorical, impute, standardise, doubts, zero_based)
    except ValueError as error:
        raise ValueError(_placed(path, error)) from None
    doubts += label_doubts
    if strict and doubts:
        raise ValueError(f"{path}: {doubts[0]} (refused by --strict)")
    X = encoding.applied(raw, [])
    names = None if groups is None else np.array(raw.column(raw.groups))
    return Table(X, numbers, labels, column, dropped, encoding, raw, names, tuple(doubts))


def read_rows(
    path,
    encoding,
    format="auto",
    label=None,
    header=None,
    delimiter=None,
    zero_based=None,
    max_bytes=MAX_BYTES,
):
    """Read a file for a trained model, as `_Rows`.

    `encoding` is the one that the model was trained with. `zero_based` says whether number 0 of LIBSVM text
    is the model's first feature; by default if it was so in training. For other arguments and errors see
    `read`.
    """
    text, format = _opened(path, format, max_bytes)
    if format == "csv":
        _refuse(path, "LIBSVM text", "a table", {"--zero-based": zero_based})
        columns = encoding.columns or [Column()] * encoding.n_features
        categorical = [column.categories is not None for column in columns]
        raw, doubts = known_columns(
            path, text, encoding.layout, len(columns), categorical, label, header, delimiter
        )
        labels = None if raw.label is None else raw.column(raw.label)
        column = None if raw.label is None else f"column {raw.title(raw.label)}"
    else:
        _refuse(path, "CSV files", "LIBSVM text", {"--label": label, "--delimiter": delimiter})
        zero_based = encoding.zero_based if zero_based is None else zero_based
        raw, labels, _ = libsvm_rows(path, text, zero_based)
        doubts, column = [], "first of each line"
    try:
        X = encoding.applied(raw, doubts)
    except ValueError as error:
        raise ValueError(_placed(path, error)) from None
    return _Rows(X, labels, column, doubts)


def _opened(path, format, max_bytes):
    """Return the text of a file, or the cells of a Parquet file, and its format."""
    raw = unpacked(path, max_bytes)
    if format == "auto" and raw.startswith(PARQUET):
        return _parquet_cells(path, raw, max_bytes), "csv"
    if format == "auto":
        _check_no_foreigner(path, raw)
    text = text_of(path, raw)
    if not text.strip():
        raise ValueError(f"{path}: the file is empty")
    if format == "auto":
        format = "libsvm" if is_libsvm(text) else "csv"
        if format == "csv":
            check_no_variant(path, text)
    return text, format


def _refuse(path, kind, other, options):
    """Raise a ValueError if an option is given that is for another kind of file than this one."""
    for option, value in options.items():
        if value:
            raise ValueError(f"{path}: {option} is for {kind}, and this one is {other}")


def _placed(path, error):
    """Return the sentence of an error, beginning with the name of the file."""
    return str(error) if str(error).startswith(str(path)) else f"{path}: {error}"


def _libsvm_columns(path, text, zero_based, task="classification"):
    """Return features, labels, whether features count from 0, and doubts of LIBSVM text to train on."""
    X, labels, from_zero = libsvm_rows(path, text, zero_based)
    if X.shape[1] == 0:
        raise ValueError(f"{path}: no row has a feature")
    bad = np.flatnonzero(~(np.abs(labels) < EXACT))
    if bad.size:
        raise ValueError(
            f"{path}, row {bad[0] + 1}: the label must be a number below 2^53 in size, got "
            f"{labels[bad[0]]:.17g}"
        )
    doubts = []
    if from_zero and not zero_based:
        doubts.append("features count from 0, since there is a feature 0, as --zero-based says")
    if task == "regression":
        return X, labels, from_zero, doubts
    if task == "one-class":
        names = label_names(labels)
        n_kinds = np.unique(names).size
        if n_kinds > MOST_CLASSES:
            doubts.append(f"the labels are not used, since they have {n_kinds} different values")
        return X, None if n_kinds > MOST_CLASSES else names, from_zero, doubts
    fraction = labels[labels != np.floor(labels)]
    _check_classes(labels, fraction.size > 0, f"{path}: the label", "the label", doubts, True)
    # scikit-learn takes fractions for a target of regression
    return X, labels.astype(str) if fraction.size else labels, from_zero, doubts


def _table_labels(path, raw, task, label, doubts):
    """Return the name of the label's column, for people, and the labels of a table; None and None without."""
    if raw.label is None:
        return None, None
    column, words = f"column {raw.title(raw.label)}", raw.column(raw.label)
    where = f"{path}, {column}"
    if task == "regression":
        return column, _targets(words, raw.lines, where)
    if task == "one-class":
        labels = np.array(words)
        if (n_kinds := np.unique(labels).size) > MOST_CLASSES:
            raise ValueError(f"{where} holds {n_kinds} different values: that is no class label")
        return column, labels
    is_named = label is not None or raw.label_is_named
    return column, _csv_labels(words, where, column, doubts, is_named)


def label_names(labels):
    """Return labels that are numbers as text."""
    return np.array([f"{label:.17g}" for label in labels])


def _targets(words, lines, where):
    """Return labels as numbers to predict; raise a ValueError that names the line of another word."""
    for word, line in zip(words, lines, strict=True):
        if not is_number(word) or not math.isfinite(float(word)):
            raise ValueError(f"{where}, line {line}: a number to predict is wanted, got {word!r}")
    return np.array(words, dtype=np.float64)


def _csv_labels(words, where, column, doubts, is_named):
    """Return labels that differ as text as different classes: float64 where it keeps them apart, else str.

    `is_named` says that the column of the labels was not guessed from its place.
    """
    labels = np.array(words)
    kinds, counts = np.unique(labels, return_counts=True)
    for word, count in zip(kinds, counts, strict=True):
        if word.lower() in MISSING:
            doubts.append(f"the label {str(word)!r} of {count} rows in {column} is taken for a class")
    if alike := look_alikes(kinds.tolist()):
        doubts.append(
            f"the labels {alike[0]!r} and {alike[1]!r} in {column} are taken for two classes, though they "
            "look alike"
        )
    if not all(is_number(word) for word in kinds):
        _check_classes(labels, False, where, column, doubts)
        return labels
    values = kinds.astype(np.float64)
    fractions = bool((values != np.floor(values)).any())
    _check_classes(labels, fractions, where, column, doubts, is_named)
    order = np.argsort(values, kind="stable")
    same = np.flatnonzero(np.diff(values[order]) == 0)
    if same.size:
        one, other = kinds[order[same[0]]], kinds[order[same[0] + 1]]
        doubts.append(
            f"the labels {str(one)!r} and {str(other)!r} in {column} are taken for two classes, since they "
            "differ as text, though not as numbers"
        )
    exact = bool((np.abs(values) < EXACT).all())
    return labels.astype(np.float64) if exact and not fractions and not same.size else labels


def _check_classes(labels, fractions, where, column, doubts, may_be_numbers=False):
    """Raise a ValueError unless there are at least two classes, and not nearly as many as rows.

    It is a NumbersError where the labels may be numbers to predict. Add a doubt where they look like that.
    """
    kinds = np.unique(labels)
    if kinds.size < 2:
        only = f"{labels[0]:g}" if labels.dtype.kind == "f" else repr(str(labels[0]))
        raise ValueError(f"{where} holds one class only: {only}")
    finding = f"holds {kinds.size} different values in {labels.size} rows"
    if (kinds.size > MOST_CLASSES or (fractions and kinds.size > 2)) and 2 * kinds.size > labels.size:
        if may_be_numbers:
            raise NumbersError(f"{where} {finding}")
        raise ValueError(f"{where} {finding}: that is no class label (see --label and --task)")
    if kinds.size > MOST_CLASSES or fractions:
        doubts.append(
            f"{column} {finding}{', and fractions among them' if fractions else ''}: each is taken for a "
            "class, not for a number to predict"
        )


def unpacked(path, max_bytes=MAX_BYTES):
    """Return the bytes of a file, unpacked; raise a ValueError if it cannot be read or is too large.

    The path is that of a file or a pipe; "-" is standard input. Files compressed with gzip, bzip2 or xz, told
    by the end of the name or by the first bytes, are unpacked. No more than `max_bytes` are held, packed or
    not.
    """
    raw = _bytes_of(path, max_bytes)
    endings = [ending for ending, magic in PACKED.items() if re.match(magic, raw)]
    ending = Path(path).suffix if Path(path).suffix in OPENERS else endings[0] if endings else None
    if ending is not None:
        try:
            with OPENERS[ending](io.BytesIO(raw)) as file:
                raw = _limited(file, path, max_bytes)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise ValueError(f"{path}: cannot be unpacked ({' '.join(str(error).split())})") from None
    return raw


def _check_no_foreigner(path, raw):
    """Raise a ValueError if the beginning of a file's bytes is that of a format that is not read."""
    for beginning, kind in FOREIGN.items():
        if re.match(beginning, raw.removeprefix(b"\xef\xbb\xbf"), flags=re.IGNORECASE):
            raise ValueError(f"{path}: looks like {kind}")


def text_of(path, raw):
    """Return the text of a file's bytes, without a byte order mark and with line ends as they are.

    Raise a ValueError unless it is UTF-8.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(f"{path}: not a text file in UTF-8")
    return text


def _check_size(path, n_bytes, max_bytes):
    """Raise a ValueError if a file has more bytes, unpacked, than are allowed."""
    if n_bytes > max_bytes:
        raise ValueError(
            f"{path}: has more than {max_bytes} bytes, unpacked; --max-bytes allows more where the memory is "
            "there"
        )


def _limited(file, path, max_bytes):
    """Return the content of a binary file, without reading much more than is allowed."""
    parts, size = [], 0
    while part := file.read(CHUNK):
        size += len(part)
        _check_size(path, size, max_bytes)
        parts.append(part)
    return b"".join(parts)


def _bytes_of(path, max_bytes):
    if str(path) == "-":
        return _limited(sys.stdin.buffer, path, max_bytes)
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) or stat.S_ISFIFO(mode):
            with path.open("rb") as file:
                return _limited(file, path, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from None
    raise ValueError(f"{path}: is a {'folder' if stat.S_ISDIR(mode) else 'device'}, not a file")


def _parquet_cells(path, raw, max_bytes=MAX_BYTES):
    """Return the names of the columns of a Parquet file, and rows of cells as text.

    Numbers have all their digits; a null is an empty text. Each value counts as at least one byte of
    `max_bytes`. Raise a ValueError if pyarrow is not installed, the file is damaged or too large, or a column
    holds something else than numbers and text.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{path}: a Parquet file, which needs pyarrow: install it, or write CSV instead"
        ) from None
    try:
        facts = pyarrow.parquet.ParquetFile(io.BytesIO(raw)).metadata
        n_bytes = sum(facts.row_group(n).total_byte_size for n in range(facts.num_row_groups))
        # a column of one value takes no bytes, and its cells do
        _check_size(path, max(n_bytes, facts.num_rows * facts.num_columns), max_bytes)
        # threads of pyarrow can abort a process that ends (apache/arrow issue 50482)
        table = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(raw)).read(use_threads=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a Parquet file ({' '.join(str(error).split())})") from None
    if table.num_rows == 0:
        raise ValueError(f"{path}: no row of data")
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.to_pylist()
        odd = next((value for value in values if value is not None and not isinstance(value, KINDS)), None)
        if odd is not None:
            raise ValueError(
                f"{path}, column {name!r}: a value of type {type(odd).__name__} is neither a number nor text"
            )
        columns.append(["" if value is None else str(value).strip() for value in values])
    return [name.strip() for name in table.column_names], [list(row) for row in zip(*columns, strict=True)]
