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
import stat
import sys
import warnings
import zlib
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import numpy as np
import scipy.sparse

from svmselect.cli.arguments import is_number
from svmselect.csr import as_csr

__all__ = ["Table", "opened", "unpacked"]

SAMPLE = 20  # lines from which the format of a text is told
CHUNK = 2**20
# Bytes that pandas takes for a cell and for a column, and SciPy for a feature's value.
CELL, COLUMN, PAIR = 24, 2000, 40
MISSING = (
    "",
    "?",
    *(
        "".join(cases)
        for w in ("na", "n/a", "nan", "null", "none")
        for cases in product(*((c, c.upper()) if c != "/" else (c,) for c in w))
    ),
)
PURE = ("string", "boolean", "empty")  # kinds of columns that are parsed as a whole
OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# the first bytes of compressed files; they are no text
PACKED = {".gz": rb"\x1f\x8b", ".bz2": rb"BZh[1-9]1AY&SY", ".xz": rb"\xfd7zXZ\x00"}
PARQUET = b"PAR1"  # its first bytes
ARFF = re.compile(r"(\s*%[^\n]*\n)*\s*@relation\b", re.IGNORECASE)
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
        if column in names:
            if names.count(column) > 1:
                raise ValueError(
                    f"{self.path}: {names.count(column)} columns are named {column!r}; give a number"
                )
            return names.index(column)
        if re.fullmatch("-?[0-9]+", column) and 1 <= abs(int(column)) <= self.width:
            return int(column) - 1 if int(column) > 0 else self.width + int(column)
        known = (
            f"the names are {', '.join(map(repr, names))}" if names else f"the columns are 1 to {self.width}"
        )
        raise ValueError(f"{self.path}: there is no column {column!r} ({known})")

    def check_names(self, used):
        """Raise a ValueError if a used column has no name, or that of another one."""
        for j in used if self.names is not None else ():
            name = self.names[j]
            if not name or re.fullmatch("Unnamed: [0-9]+", name):
                raise ValueError(
                    f"{self.path}: column {j + 1} has no name, as an index that pandas writes: name it, or "
                    f"leave it out with --ignore {j + 1}"
                )
            if self.names.count(name) > 1:
                numbers = [k + 1 for k, other in enumerate(self.names) if other == name]
                raise ValueError(
                    f"{self.path}: columns {numbers[0]} and {numbers[1]} are both named {name!r}: rename "
                    f"one, or leave it out with --ignore {numbers[1]}"
                )

    def frame(self, used, text=(), labels=()):
        """Return the used columns as a DataFrame whose columns are their numbers from 0.

        Columns of `text` are not parsed as numbers. In `labels` only an empty cell is missing.
        """
        from pandas.api.types import infer_dtype, is_numeric_dtype

        if not isinstance(self.content, bytes):
            frame = self.content.iloc[:, used].set_axis(used, axis=1)
        else:
            frame = self._parsed(text, labels)[used]
            # pandas parses parts of a column, and may read numbers in one and words in another
            mixed = [j for j in used if frame[j].dtype == object and infer_dtype(frame[j]) not in PURE]
            if mixed:
                frame[mixed] = self._parsed({*text, *mixed}, labels)[mixed]
        for j in used:
            if not is_numeric_dtype(frame[j]) or j in text:
                frame[j] = _words(frame[j], j in text, ("",) if j in labels else MISSING)
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
        missing = {j: ("",) if j in labels else MISSING for j in range(self.width)} if has_words else ("",)
        try:
            with warnings.catch_warnings(action="ignore", category=pandas.errors.DtypeWarning):
                frame = pandas.read_csv(
                    io.BytesIO(self.content),
                    sep=r"\s+" if self.delimiter is None else self.delimiter,
                    header=None,
                    index_col=False,
                    skiprows=self.skipped,
                    dtype=dict.fromkeys(text, str),
                    keep_default_na=False,
                    na_values=missing,
                    skipinitialspace=self.content.find(b" ", start) >= 0,
                    **({"float_precision": "round_trip"} if old else {}),
                )
        except pandas.errors.ParserError as error:
            frame, fault = None, error
        if frame is None or frame.shape[1] != self.width:
            _check_rows(self.path, self.content, self.delimiter, self.width)
            raise ValueError(f"{self.path}: {' '.join(str(fault).split())}")
        return frame

    def place(self, n):
        """Return row n of the data, from 0, for people: its line, or its number from 1."""
        if not isinstance(self.content, bytes):
            return f"row {n + 1}"
        lines = (number for number, row in _rows(self.content, self.delimiter) if any(row))
        return f"line {next(islice(lines, n + (self.names is not None), None))}"

    def cell(self, n, j):
        """Return the sentence's beginning for row n and column j: the file, the line and the column."""
        return f"{self.path}, {self.place(n)}, column {self.title(j)}"


@dataclass(frozen=True)
class _LIBSVMText:
    """LIBSVM text: the features as a CSR matrix, shape (m, d), and the labels, shape (m,), of float64."""

    path: str
    X: scipy.sparse.csr_matrix
    labels: np.ndarray


def _words(column, as_text, missing):
    """Return a column of words without white space around, and None where one is missing."""
    import pandas

    if column.dtype == bool or pandas.api.types.is_numeric_dtype(column):
        return column.map(str, na_action="ignore").astype(object) if as_text else column
    kinds = [word for word in column.unique() if isinstance(word, str)]
    if all(word == word.strip() and word not in missing for word in kinds):
        return column
    words = column.map(lambda word: word.strip() if isinstance(word, str) else word, na_action="ignore")
    return words.where(~words.isin(missing))


def opened(path, header=None, delimiter=None, zero_based=False, max_bytes=2**30, label=None, names=()):
    """Return a file as a Table or as _LIBSVMText, told from its content.

    Parameters
    ----------
    path : str
        "-" is standard input. gzip, bzip2 and xz are unpacked.
    header, delimiter, zero_based, max_bytes, label
        The options of the command line. A delimiter says that the file is a table.
    names : list of str
        Names of columns that are looked for: a first line that has some names the columns.

    Raises
    ------
    ValueError
        The sentence names the file, and the line and the cell where there is one.
    """
    raw = unpacked(path, max_bytes)
    if raw.startswith(PARQUET):
        _refuse(path, "CSV files", "Parquet", {"--header": header is not None, "--delimiter": delimiter})
        return _parquet(path, raw, max_bytes)
    for beginning, kind in FOREIGN.items():
        if delimiter is None and re.match(beginning, raw.removeprefix(b"\xef\xbb\xbf")):
            raise ValueError(f"{path}: looks like {kind}")
    content = _checked_text(path, raw)
    if ARFF.match(content[: 2**16].decode(errors="replace")):
        return _arff(path, content, max_bytes)
    if delimiter is None and _is_libsvm(path, content):
        _check_memory(path, len(content) + PAIR * content.count(b":"), max_bytes)
        return _libsvm(path, content, zero_based)
    _refuse(path, "LIBSVM text", "a table", {"--zero-based": zero_based})
    return _csv(path, content, header, delimiter, max_bytes, label, names)


def _refuse(path, kind, other, options):
    """Raise a ValueError if an option is given that is for another kind of file than this one."""
    for option, value in options.items():
        if value:
            raise ValueError(f"{path}: {option} is for {kind}, and this one is {other}")


def unpacked(path, max_bytes=2**30):
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


def _bytes_of(path, max_bytes):
    if str(path) == "-":
        return _limited(sys.stdin.buffer, path, max_bytes)
    path = Path(path)
    try:
        facts = path.stat()
        if stat.S_ISREG(facts.st_mode):
            _check_memory(path, facts.st_size, max_bytes)
            return path.read_bytes()
        if stat.S_ISFIFO(facts.st_mode):
            with path.open("rb") as file:
                return _limited(file, path, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from None
    raise ValueError(f"{path}: is a {'folder' if stat.S_ISDIR(facts.st_mode) else 'device'}, not a file")


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
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        if not raw.isascii():
            raw.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file in UTF-8") from None
    if b"\0" in raw:
        raise ValueError(f"{path}: not a text file in UTF-8")
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if raw.isspace() or not raw:
        raise ValueError(f"{path}: the file is empty")
    return raw


def _csv(path, content, header, delimiter, max_bytes, label, names):
    """Return the Table of a CSV text; raise a ValueError unless all rows have as many cells as the first."""
    # 1) the size, before anything is split
    lines = ((n, line) for n, line in enumerate(io.BytesIO(content), 1) if not line.isspace())
    number, first = next(lines)
    marks = max(first.count(mark) for mark in (b",", b";", b"\t", b" ", (delimiter or ",").encode()))
    _check_memory(path, len(content) + COLUMN * marks, max_bytes)
    if delimiter is None:
        delimiter = _told_delimiter(content)
    values, marks, ends = np.frombuffer(content, dtype=np.uint8), 0, not content.endswith(b"\n")
    for begin in range(0, values.size, CHUNK):
        part = values[begin : begin + CHUNK]
        marks += int(np.count_nonzero(part == ord(delimiter or " ")))
        ends += int(np.count_nonzero(part == ord("\n")))
    cells = marks + ends
    _check_memory(path, len(content) + CELL * cells, max_bytes)
    # 2) the names, and rows of equal length; pandas refuses only those that are longer
    try:
        rows = [row for _, row in islice(_rows(content, delimiter), SAMPLE)]
        width = len(rows[0])
        uneven = cells % width or marks != cells // width * (width - 1)
        if delimiter is None or b'"' in content or uneven:
            _check_rows(path, content, delimiter, width)
    except csv.Error as error:
        raise ValueError(f"{path}: {error}") from None
    if header is None:
        header = _has_header(path, rows, label, names)
    if len(rows) == header:
        raise ValueError(f"{path}: no row of data")
    return Table(str(path), rows[0] if header else None, width, content, delimiter, number if header else 0)


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


def _has_header(path, rows, label, names):
    """Return whether the first row names the columns; raise a ValueError where that cannot be told."""
    first, rest = rows[0], rows[1:]
    if (label in first and not is_number(label)) or any(
        name in first and not is_number(name) for name in names
    ):
        return True
    numeric = [cell for cell in first if is_number(cell)]
    if not numeric:
        return True
    settle = (
        f"{path}, line 1: {{}}; --header says that it names the columns, and --no-header that it is a row"
    )
    empty = {j for j, cell in enumerate(first) if is_number(cell) or cell in MISSING}
    above = [j for j in range(len(first)) if j not in empty and len(rest) > 1]
    above = [j for j in above if all(is_number(row[j]) or row[j] in MISSING for row in rest)]
    if above:
        raise ValueError(
            settle.format(f"{first[above[0]]!r} stands above numbers, and {numeric[0]!r} is one")
        )
    counts = [[str(n + begin) for n in range(len(numeric))] for begin in (0, 1)]
    if numeric in counts and len(first) > 2 and all(row[-1] != first[-1] for row in rest):
        raise ValueError(settle.format(f"its numbers count from {numeric[0]}, as names that pandas writes"))
    return False


def _parquet(path, raw, max_bytes):
    """Return the Table of a Parquet file of numbers, bools and text."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{path}: a Parquet file, which needs pyarrow: install it, or write CSV instead"
        ) from None
    try:
        facts = pyarrow.parquet.ParquetFile(io.BytesIO(raw)).metadata
        n_bytes = sum(facts.row_group(n).total_byte_size for n in range(facts.num_row_groups))
        cells = CELL * facts.num_rows * facts.num_columns + COLUMN * facts.num_columns
        _check_memory(path, max(n_bytes, cells), max_bytes)
        # threads of pyarrow can abort a process that ends (apache/arrow issue 50482)
        table = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(raw)).read(use_threads=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a Parquet file ({' '.join(str(error).split())})") from None
    types, columns = pyarrow.types, {}
    for j, (field, column) in enumerate(zip(table.schema, table.columns, strict=True)):
        column = column.cast(field.type.value_type) if types.is_dictionary(field.type) else column
        column = column.cast(pyarrow.float64()) if types.is_decimal(column.type) else column
        if not any(test(column.type) for test in _tests(types)):
            raise ValueError(
                f"{path}, column {field.name!r}: holds {field.type}, which is neither a number nor text: "
                "make it one"
            )
        if types.is_integer(column.type) and column.null_count:  # which pandas reads as float64
            extremes = [value or 0 for value in pyarrow.compute.min_max(column).as_py().values()]
            if max(map(abs, extremes)) > 2**53:
                raise ValueError(
                    f"{path}, column {field.name!r}: holds whole numbers above 2^53 beside missing ones"
                )
        columns[j] = column
    if table.num_rows == 0:
        raise ValueError(f"{path}: no row of data")
    frame = pyarrow.table([*columns.values()], names=[*map(str, columns)]).to_pandas(use_threads=False)
    return Table(str(path), [name.strip() for name in table.column_names], len(columns), frame)


def _tests(types):
    """Return the tests of pyarrow for types that are read."""
    text = (types.is_string, types.is_large_string, types.is_string_view)
    return types.is_integer, types.is_floating, types.is_boolean, types.is_null, *text


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
    if not len(rows):
        raise ValueError(f"{path}: no row of data")
    columns = {
        j: [w.decode() for w in rows[name]]
        if kind in ("nominal", "string")
        else rows[name].astype(np.float64)
        for j, (name, kind) in enumerate(zip(meta.names(), meta.types(), strict=True))
    }
    return Table(str(path), meta.names(), len(columns), pandas.DataFrame(columns))


def _content_lines(content):
    """Yield the number and the text of each line that is neither blank nor a comment."""
    for number, line in enumerate(io.TextIOWrapper(io.BytesIO(content), "utf-8"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.partition("#")[0].strip()


def _is_libsvm(path, content):
    """Return whether a text is LIBSVM's: its first line of more than a label has pairs behind the label.

    Raise a ValueError for pairs that are written in another way.
    """
    for number, line in _content_lines(content):
        words = line.split()
        if len(words) < 2 and not re.search("[,;|]", line):
            continue  # a label alone
        pairs = [word for word in words[1:] if not word.startswith("qid:")]
        if pairs and all(map(PAIR_OF_NUMBERS.fullmatch, pairs)) and all(map(PAIRED.fullmatch, pairs)):
            return not all(map(CLOCK.fullmatch, pairs)) or is_number(words[0])
        cells = [cell for cell in re.split(r"[\s,;|]+", line)[1:] if cell]
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
    if not labels.size:
        raise ValueError(f"{path}: no row of data")
    bad = np.flatnonzero(~np.isfinite(X.data))
    if bad.size:
        row = np.searchsorted(X.indptr, bad[0], side="right")
        raise ValueError(f"{path}, row {row}: the value of feature {X.indices[bad[0]]} is not finite")
    if X.nnz == 0:
        raise ValueError(f"{path}: no row has a feature")
    shape = X.shape[0], max(X.shape[1] - lowest, 0)
    return _LIBSVMText(
        str(path), scipy.sparse.csr_matrix((X.data, X.indices - lowest, X.indptr), shape=shape), labels
    )


def _fault(content, lowest):
    """Return the first thing that is wrong with LIBSVM text, and its line."""
    for number, line in _content_lines(content):
        label, *pairs = line.split()
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
            last = int(index)
            if last > MOST_FEATURES:
                return (
                    f"line {number}: feature {index} is beyond the {MOST_FEATURES} that a row may have here"
                )
    return "which is no LIBSVM text that scikit-learn reads"
