"""Clean files: a CSV, Parquet or ARFF table as a DataFrame, or LIBSVM text as a sparse matrix.

Anything else is refused by a sentence that names the place and what to do.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import sys
import warnings
import zlib
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import scipy.sparse

from svmselect.cli.arguments import MAX_BYTES, is_number
from svmselect.csr import as_csr

__all__ = ["MISSING", "Table", "opened", "unpacked"]

SAMPLE = 20  # lines from which the format of a text is told
CHUNK = 2**20
# Bytes that pandas takes for a cell and for a column.
CELL, COLUMN = 24, 2000
WORDS = ("NA", "N/A", "NaN", "Null", "None")
MISSING = ("", "?", *{case for word in WORDS for case in (word, word.upper(), word.lower(), word.title())})
# the first bytes of compressed files; they are no text
OPENERS = {rb"\x1f\x8b": gzip.open, rb"BZh[1-9]1AY&SY": bz2.open, rb"\xfd7zXZ\x00": lzma.open}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PARQUET = b"PAR1"  # its first bytes
ARFF = re.compile(rb"(\s*%[^\n]*\n)*\s*@relation\b", re.IGNORECASE)
# the beginnings of files that are no table, and the remedy
FOREIGN = {
    rb"PK\x03\x04": "a zip archive or a spreadsheet: unpack it, or save it as CSV",
    rb"\s*(\[\s*)?[{\[]": "JSON: write it as CSV",
    rb"\s*<[!?a-zA-Z]": "HTML or XML: write it as CSV",
    rb"MATLAB": "a file of MATLAB: write it as CSV",
}
PAIRED = re.compile(r"[^\s:,;|]+:[^\s:,;|]*")  # a feature and its value, as LIBSVM text has them
PAIR_OF_NUMBERS = re.compile(r"[+-]?[0-9]+:\S+")
CLOCK = re.compile(r"[0-2]?[0-9]:[0-5][0-9]")
MOST_FEATURES = 2**27  # of LIBSVM text: a dense row of so many takes 1 GB


@dataclass(frozen=True)
class Table:
    """A table whose columns are read once it is known which are text.

    Attributes
    ----------
    path : str
    names : list of str, or None
        Without white space around; None where the columns have no names.
    width : int
    content : bytes or DataFrame
        CSV text in UTF-8 with LF line ends, or the cells.
    delimiter : str or None
        None between columns of white space.
    skipped : int
        Lines of CSV text before the rows.
    """

    path: str
    names: list[str] | None
    width: int
    content: object
    delimiter: str | None = None
    skipped: int = 0

    def title(self, j):
        """Return a column for people: its name, or its number from 1."""
        return str(j + 1) if self.names is None or not self.names[j] else repr(self.names[j])

    def number_of(self, column):
        """Return the number of a column from 0, given its name or its number from 1."""
        names = self.names or []
        if names.count(column) == 1:
            return names.index(column)
        if column in names:
            raise ValueError(
                f"{self.path}: {names.count(column)} columns are named {column!r}; give a number"
            )
        if re.fullmatch("-?[0-9]+", column) and 1 <= abs(int(column)) <= self.width:
            return int(column) - 1 if int(column) > 0 else self.width + int(column)
        known = f"the names are {', '.join(map(repr, names))}" if names else f"there are {self.width} columns"
        raise ValueError(f"{self.path}: there is no column {column!r} ({known})")

    def check_names(self, used):
        """Raise a ValueError if a used column has no name, or that of another one."""
        for j in used if self.names is not None else ():
            name = self.names[j]
            if not name or re.fullmatch("Unnamed: [0-9]+", name):
                fault, leave = f"column {j + 1} has no name, as an index that pandas writes: name it", j + 1
            elif self.names.count(name) > 1:
                first, leave = [k + 1 for k, other in enumerate(self.names) if other == name][:2]
                fault = f"columns {first} and {leave} are both named {name!r}: rename one"
            else:
                continue
            raise ValueError(f"{self.path}: {fault}, or leave it out with --ignore {leave}")

    def frame(self, used, text=(), labels=()):
        """Return the used columns as a DataFrame whose columns are their numbers from 0.

        Columns of `text` are not parsed as numbers. In `labels` only an empty cell is missing.
        """
        from pandas.api.types import is_bool_dtype, is_numeric_dtype

        if isinstance(self.content, bytes):
            frame = self._parsed(text, labels)[used]
        else:
            frame = self.content.iloc[:, used].set_axis(used, axis=1)
        for j in used:
            column, missing = frame[j], ("",) if j in labels else MISSING
            if is_numeric_dtype(column) or is_bool_dtype(column):
                if j in text:
                    frame[j] = column.map(str, na_action="ignore").astype(object)
            elif any(
                type(w) is int or (isinstance(w, str) and (w != w.strip() or w in missing))
                for w in column.unique()
            ):
                words = column.map(lambda w: w if isinstance(w, bool) else str(w).strip(), na_action="ignore")
                frame[j] = words.where(~words.isin(missing))
        return frame

    def _parsed(self, text, labels):
        """Return all columns of CSV text; see `frame`."""
        import pandas

        old = pandas.__version__ < "3"  # which rounds to 16 digits by default
        # pandas is faster where it looks for no blanks and for no words such as NA, which few tables have
        start = 0
        for _ in range(self.skipped):
            start = self.content.find(b"\n", start) + 1
        has_words = any(self.content.find(mark, start) >= 0 for mark in (b"n", b"N", b"?"))
        read = partial(
            pandas.read_csv,
            sep=r"\s+" if self.delimiter is None else self.delimiter,
            header=None,
            skiprows=self.skipped,
            dtype=dict.fromkeys(text, str),
            keep_default_na=False,
            na_values={j: ("",) if j in labels else MISSING for j in range(self.width)} if has_words else "",
            skipinitialspace=self.content.find(b" ", start) >= 0,
            float_precision="round_trip" if old else None,
        )
        try:
            with warnings.catch_warnings(action="error", category=pandas.errors.DtypeWarning):
                frame = read(io.BytesIO(self.content))
        except pandas.errors.DtypeWarning:  # parts of a column are numbers, and others are words
            frame = read(io.BytesIO(self.content), low_memory=False)
        except pandas.errors.ParserError as error:  # of a row that is longer
            _check_rows(self.path, self.content, self.delimiter, self.width)
            raise ValueError(f"{self.path}: {' '.join(str(error).split())}") from None
        if frame.shape[1] != self.width or frame[self.width - 1].isna().any():  # as in a row that is shorter
            _check_rows(self.path, self.content, self.delimiter, self.width)
        return frame

    def cell(self, n, j):
        """Return how a sentence on row n, from 0, of column j begins: the file, the line and the column."""
        place = f"row {n + 1}"
        if isinstance(self.content, bytes):
            lines = (number for number, row in _rows(self.content, self.delimiter) if any(row))
            place = f"line {next(islice(lines, n + (self.names is not None), None))}"
        return f"{self.path}, {place}, column {self.title(j)}"


@dataclass(frozen=True)
class _LIBSVMText:
    """LIBSVM text: the features as a CSR matrix, shape (m, d), and the labels, shape (m,), of float64."""

    path: str
    X: scipy.sparse.csr_matrix
    labels: np.ndarray


def opened(arguments, names=()):
    """Return a file as a Table or as _LIBSVMText, told from its content.

    Parameters
    ----------
    arguments : Namespace
        The file, "-" for standard input, and the options of the command line on files. A delimiter says that
        the file is a table.
    names : list of str
        Names of columns that are looked for: a first line that has some names the columns.

    Raises
    ------
    ValueError
        The sentence names the file, and the line and the cell where there is one.
    """
    path, limit, delimiter = str(arguments.file), arguments.max_bytes, arguments.delimiter
    raw = unpacked(path, limit)
    # 1) formats with names of their own
    told = {"--header": arguments.header is not None, "--delimiter": delimiter is not None}
    told |= {"--zero-based": arguments.zero_based}
    if raw.startswith(PARQUET):
        _refuse(path, "a Parquet file", told)
        return _parquet(path, raw, limit)
    for beginning, kind in FOREIGN.items():
        if delimiter is None and re.match(beginning, raw.removeprefix(BYTE_ORDER_MARK)):
            raise ValueError(f"{path}: looks like {kind}")
    content = _checked_text(path, raw)
    if ARFF.match(content[: 2**16]):
        _refuse(path, "an ARFF file", told)
        return _arff(path, content, limit)
    # 2) text
    if delimiter is None and _is_libsvm(path, content):
        _refuse(path, "LIBSVM text", told | {"--zero-based": False})
        return _libsvm(path, content, arguments.zero_based)
    _refuse(path, "a table", {"--zero-based": arguments.zero_based})
    return _csv(path, content, arguments, names)


def _refuse(path, kind, told):
    """Raise a ValueError for options that a kind of file does not have."""
    for option in (option for option, given in told.items() if given):
        raise ValueError(f"{path}: {option} is not for {kind}, as this one is")


def unpacked(path, max_bytes=MAX_BYTES):
    """Return the bytes of a file, unpacked; raise a ValueError if they are more than allowed."""
    try:
        with sys.stdin.buffer if str(path) == "-" else Path(path).open("rb") as file:
            raw = _limited(file, path, max_bytes)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from None
    for magic, opener in OPENERS.items():
        if re.match(magic, raw):
            try:
                with opener(io.BytesIO(raw)) as file:
                    return _limited(file, path, max_bytes)
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise ValueError(f"{path}: cannot be unpacked ({' '.join(str(error).split())})") from None
    return raw


def _limited(file, path, max_bytes):
    """Return the content of a binary file, without reading much more than is allowed."""
    parts, size = [], 0
    while part := file.read(CHUNK):
        size += len(part)
        _check_memory(path, size, max_bytes)
        parts.append(part)
    return b"".join(parts)


def _check_memory(path, n_bytes, max_bytes):
    """Raise a ValueError if a file takes more bytes of memory, unpacked, than are allowed."""
    if n_bytes > max_bytes:
        raise ValueError(
            f"{path}: takes more than {max_bytes} bytes of memory, unpacked; --max-bytes allows more where "
            "the memory is there"
        )


def _checked_text(path, raw):
    """Return the bytes of a text without a byte order mark, and with LF line ends; it must be UTF-8."""
    raw = raw.removeprefix(BYTE_ORDER_MARK)
    try:
        if not raw.isascii():
            raw.decode()
        is_text = b"\0" not in raw
    except UnicodeDecodeError:
        is_text = False
    if not is_text:
        raise ValueError(f"{path}: not a text file in UTF-8")
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if raw.isspace() or not raw:
        raise ValueError(f"{path}: the file is empty")
    return raw


def _csv(path, content, arguments, names):
    """Return the Table of a CSV text; raise a ValueError unless all rows have as many cells as the first."""
    # 1) the size, before anything is split
    delimiter, limit = arguments.delimiter, arguments.max_bytes
    number, first = next((n, line) for n, line in enumerate(io.BytesIO(content), 1) if not line.isspace())
    marks = max(first.count(mark) for mark in (b",", b";", b"\t", b" ", (delimiter or ",").encode()))
    _check_memory(path, len(content) + COLUMN * marks, limit)
    if delimiter is None:
        delimiter = _told_delimiter(content)
    if CELL * len(content) > limit:  # else there are too few cells
        marks = content.count((delimiter or " ").encode()) + content.count(b"\n")
        _check_memory(path, len(content) + CELL * marks, limit)
    # 2) the names, and rows of equal length where pandas would not see it
    try:
        rows = [row for _, row in islice(_rows(content, delimiter), SAMPLE)]
        width = len(rows[0])
        if delimiter is None or b'"' in content or any(len(row) != width for row in rows):
            _check_rows(path, content, delimiter, width)
    except csv.Error as error:
        raise ValueError(f"{path}: {error}") from None
    header = arguments.header
    if header is None:
        header = _has_header(path, rows, {arguments.label, *names})
    if len(rows) == header:
        raise ValueError(f"{path}: no row of data")
    return Table(path, rows[0] if header else None, width, content, delimiter, number if header else 0)


def _told_delimiter(content):
    """Return the mark that stands equally often in the first lines; None for white space.

    Where none does, it is the one that the first line has most of.
    """
    lines = [line for line in islice(io.BytesIO(content), 2 * SAMPLE) if line.strip()][:SAMPLE]
    lines = [re.sub(rb'"[^"]*"', b"", line) for line in lines]
    for mark in (b"\t", b";", b","):
        counts = {line.count(mark) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return mark.decode()
    counts = {len(line.split()) for line in lines}
    most = max((b",", b";", b"\t"), key=lines[0].count)
    return None if (len(counts) == 1 and counts != {1}) or not lines[0].count(most) else most.decode()


def _rows(content, delimiter):
    """Yield the line in which each row ends, from 1, and its cells without white space around.

    Rows of blanks alone are left out, as pandas does.
    """
    file = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="\n")
    if delimiter is None:
        file = (re.sub("[ \t]+", " ", line.strip(" \t\n")) for line in file)
    reader = csv.reader(file, delimiter=delimiter or " ", skipinitialspace=True)
    for row in reader:
        row = [cell.strip() for cell in row]
        if len(row) > 1 or any(row):
            yield reader.line_num, row


def _check_rows(path, content, delimiter, width):
    """Raise a ValueError for a row that has not as many cells as the first, or a quote that is not closed."""
    last, odd = 0, content.count(b'"') % 2
    for number, row in _rows(content, delimiter):
        if odd and number > last + 1 and "\n" in row[-1]:
            raise ValueError(f"{path}, line {last + 1}: a quote that begins there is not closed")
        if len(row) != width:
            raise ValueError(
                f"{path}, line {number}: the row has {len(row)} cells, and the first line {width}"
            )
        last = number


def _has_header(path, rows, names):
    """Return whether the first row names the columns; raise a ValueError where that cannot be told."""
    first, rest = rows[0], rows[1:]
    numbers = [cell for cell in first if is_number(cell)]
    if not numbers or any(name in first and not is_number(name) for name in names if name):
        return True
    fault = None
    for cell, column in zip(first, zip(*rest, strict=True), strict=False):
        named = not is_number(cell) and cell not in MISSING and len(rest) > 1
        if named and all(is_number(word) or word in MISSING for word in column):
            fault = f"{cell!r} stands above numbers, and {numbers[0]!r} is one"
            break
    counts = [[str(n + begin) for n in range(len(numbers))] for begin in (0, 1)]
    if fault is None and numbers in counts and len(first) > 2 and all(row[-1] != first[-1] for row in rest):
        fault = f"its numbers count from {numbers[0]}, as names that pandas writes"
    if fault is not None:
        how = "--header says that it names the columns, and --no-header that it is a row"
        raise ValueError(f"{path}, line 1: {fault}; {how}")
    return False


def _parquet(path, raw, max_bytes):
    """Return the Table of a Parquet file of numbers, bools and text."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ValueError(f"{path}: Parquet needs pyarrow: install it, or write CSV instead") from None
    from pandas.api.types import is_numeric_dtype

    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(raw))
        facts = file.metadata
        n_bytes = sum(facts.row_group(n).total_byte_size for n in range(facts.num_row_groups))
        cells = CELL * facts.num_rows * facts.num_columns + COLUMN * facts.num_columns
        _check_memory(path, max(n_bytes, cells), max_bytes)
        # threads of pyarrow can abort a process that ends (apache/arrow issue 50482); whole numbers beside
        # missing ones would be rounded
        frame = file.read(use_threads=False).to_pandas(use_threads=False, integer_object_nulls=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a Parquet file ({' '.join(str(error).split())})") from None
    names = [str(name) for name in frame.columns]
    frame = frame.reset_index(drop=True).set_axis(range(len(names)), axis=1)
    for j in frame:
        cells = [] if is_numeric_dtype(frame[j]) else frame[j].astype(object).dropna()
        for odd in (cell for cell in cells if not isinstance(cell, str | bool | int | Decimal)):
            kind = type(odd).__name__
            raise ValueError(
                f"{path}, column {names[j]!r}: holds a {kind}, neither a number nor text: make it one"
            )
        frame[j] = frame[j] if len(cells) == 0 or isinstance(cells.iloc[0], bool) else cells.map(str)
    return _checked_table(path, [name.strip() for name in names], frame)


def _checked_table(path, names, frame):
    """Return the Table of a DataFrame; raise a ValueError if it has no row."""
    if len(frame) == 0:
        raise ValueError(f"{path}: no row of data")
    return Table(path, names, len(names), frame)


def _arff(path, content, max_bytes):
    """Return the Table of an ARFF file of Weka, of numbers and nominal attributes."""
    import pandas
    from scipy.io import arff

    _check_memory(path, len(content) + CELL * content.count(b","), max_bytes)
    try:
        rows, meta = arff.loadarff(io.StringIO(content.decode()))
    except Exception as error:  # the reader has no one kind of error for malformed text
        raise ValueError(
            f"{path}: an ARFF file that cannot be read ({' '.join(str(error).split())})"
        ) from None
    columns = [rows[name] for name in meta.names()]
    columns = [
        column.astype(np.float64) if kind == "numeric" else [word.decode() for word in column]
        for column, kind in zip(columns, meta.types(), strict=True)
    ]
    return _checked_table(path, meta.names(), pandas.DataFrame(dict(enumerate(columns))))


def _content_lines(content):
    """Yield the number and the words of each line that is neither blank nor a comment."""
    for number, line in enumerate(io.TextIOWrapper(io.BytesIO(content), "utf-8"), 1):
        if line.partition("#")[0].strip():
            yield number, line.partition("#")[0].split()


def _is_libsvm(path, content):
    """Return whether a text is LIBSVM's: its first line of more than a label has pairs behind the label.

    Raise a ValueError for pairs that are written in another way.
    """
    for number, words in _content_lines(content):
        if len(words) < 2 and not re.search("[,;|]", words[0]):
            continue  # a label alone
        pairs = [word for word in words[1:] if not word.startswith("qid:")]
        if pairs and all(PAIR_OF_NUMBERS.fullmatch(pair) and PAIRED.fullmatch(pair) for pair in pairs):
            return not all(map(CLOCK.fullmatch, pairs)) or is_number(words[0])
        cells = [cell for cell in re.split(r"[\s,;|]+", " ".join(words))[1:] if cell]
        if cells and all(map(PAIRED.fullmatch, cells)) and not all(map(CLOCK.fullmatch, cells)):
            raise ValueError(
                f"{path}, line {number}: {cells[0]!r} is nearly a pair of LIBSVM text, which has a label and "
                "pairs as 3:0.5 between blanks; --delimiter reads it as a table"
            )
        return False
    return False


def _libsvm(path, content, zero_based):
    """Return the _LIBSVMText of a text; feature 1, or 0 if `zero_based`, is the first column."""
    from sklearn.datasets import load_svmlight_file

    lowest = 0 if zero_based else 1
    try:
        X, labels = load_svmlight_file(io.BytesIO(content), dtype=np.float64, zero_based=True)
        X = as_csr(X)
        fault = (lowest and (X.indices == 0).any()) or X.shape[1] > MOST_FEATURES + 1
    except Exception:  # the reader has no one kind of error for malformed text
        fault = True
    if fault:
        raise ValueError(f"{path}, {_fault(content, lowest)}")
    bad = np.flatnonzero(~np.isfinite(X.data))
    if bad.size:
        row = np.searchsorted(X.indptr, bad[0], side="right")
        raise ValueError(f"{path}, row {row}: the value of feature {X.indices[bad[0]]} is not finite")
    if X.nnz == 0:
        raise ValueError(f"{path}: no row has a feature")
    shape = X.shape[0], X.shape[1] - lowest
    return _LIBSVMText(path, scipy.sparse.csr_matrix((X.data, X.indices - lowest, X.indptr), shape), labels)


def _fault(content, lowest):
    """Return the first thing that is wrong with LIBSVM text, and its line."""
    for number, (label, *pairs) in _content_lines(content):
        if not is_number(label):
            return f"line {number}: the label {label!r} is not one number, as LIBSVM text has it"
        last = lowest - 1
        for pair in (pair for pair in pairs if not pair.startswith("qid:")):
            index, _, value = pair.partition(":")
            if not re.fullmatch("[+-]?[0-9]+", index) or not is_number(value):
                return f"line {number}: {pair!r} is not a feature and its value, as 3:0.5 is"
            if int(index) < lowest:
                hint = "; --zero-based counts features from 0" if int(index) == 0 else ""
                return f"line {number}: the first feature is {lowest}, got {index}{hint}"
            if int(index) <= last:
                return f"line {number}: features must increase, and {index} comes after {last}"
            if int(index) > MOST_FEATURES:
                return (
                    f"line {number}: feature {index} is beyond the {MOST_FEATURES} that a row may have here"
                )
            last = int(index)
    return "which is no LIBSVM text that scikit-learn reads"
