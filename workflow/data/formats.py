"""Readers of the raw files: LIBSVM text, text tables, IDX images and the IDA benchmarks.mat.

A reader takes the files of one source by role, and gives features and labels as the files have them; the
registry's label map and checks come after it, in `prepare`. Whatever a file holds, the result is a table or a
`ValueError` whose sentence starts with `where`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from svmselect.csr import as_csr

from data.matlab import check_mat
from data.splits import OriginalSplits, read_splits, splits_of_repeated_rows

Matrix: TypeAlias = np.ndarray | scipy.sparse.csr_matrix


@dataclass(frozen=True)
class RawTable:
    """The table that a reader returns: X (n, d), labels (n,) float64 or str, test part, and extra columns."""

    X: Matrix
    labels: np.ndarray
    X_test: Matrix | None = None
    labels_test: np.ndarray | None = None
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)
    originals: OriginalSplits | None = None


@dataclass(frozen=True)
class _Format:
    """A reader with the file roles it needs and may have, and the options it knows."""

    read: Callable[[Mapping[str, Path], int, Mapping[str, Any], str], RawTable]
    required: frozenset[str]
    optional: frozenset[str] = frozenset()
    options: Mapping[str, type | tuple[type, ...]] = field(default_factory=dict)
    required_options: frozenset[str] = frozenset()

    def check(self, roles: set[str], options: Mapping[str, Any], where: str) -> None:
        """Raise a `ValueError` unless a source has the files and options this format needs, and no others."""
        if missing := self.required - roles:
            raise ValueError(f"{where}: files must have {_listed(missing)}")
        if unknown := roles - self.required - self.optional:
            raise ValueError(f"{where}: files cannot have {_listed(unknown)} in this format")
        test_roles = {role for role in roles if role.startswith("test_")}
        if test_roles and (
            missing := {f"test_{role}" for role in roles - test_roles - {"splits"}} - test_roles
        ):
            raise ValueError(
                f"{where}: files must have {_listed(missing)}, since they have {_listed(test_roles)}"
            )
        if missing := self.required_options - set(options):
            raise ValueError(f"{where}: options must have {_listed(missing)}")
        for key, value in options.items():
            if key not in self.options:
                raise ValueError(f"{where}: options cannot have {key!r} in this format")
            if not isinstance(value, self.options[key]) or (
                isinstance(value, bool) and self.options[key] is not bool
            ):
                raise ValueError(f"{where}: the option {key} cannot be {value!r}")
        if len(options.get("delimiter", ",")) != 1 or options.get("delimiter") in ("\r", "\n", '"'):
            raise ValueError(f"{where}: the option delimiter cannot be {options['delimiter']!r}")
        if "features" in options and not options["features"]:
            raise ValueError(f"{where}: features name no column")
        seen = []
        for spec in options.get("features", []):
            if spec in seen:
                raise ValueError(f"{where}: features name {spec!r} twice")
            seen.append(spec)
            first, last = _range(spec) or (0, 0)
            if first > last:
                raise ValueError(f"{where}: features: the range {spec!r} runs backwards")
            keys = set(spec) if isinstance(spec, dict) else None
            if (
                isinstance(spec, bool)
                or not isinstance(spec, int | str | dict)
                or keys not in (None, {"column", "equals"})
            ):
                raise ValueError(f"{where}: features cannot have the column {spec!r}")


def _read_libsvm(
    paths: Mapping[str, Path], features: int, options: Mapping[str, Any], where: str
) -> RawTable:
    """LIBSVM text (`label index:value ...`, indices from 1); roles `data` and `test_data`."""
    X, labels = _libsvm_file(paths["data"], features, where)
    if "test_data" not in paths:
        return RawTable(X, labels)
    return RawTable(X, labels, *_libsvm_file(paths["test_data"], features, where))


def _libsvm_file(path: Path, features: int, where: str) -> tuple[scipy.sparse.csr_matrix, np.ndarray]:
    """Return the rows, shape (m, features), and the labels of a file, or raise a ValueError."""
    from sklearn.datasets import load_svmlight_file  # here, because it takes two seconds to import

    try:
        with open(path, "rb") as file:
            X, labels = load_svmlight_file(file, n_features=features, dtype=np.float64, zero_based=False)
        return as_csr(X), labels
    except Exception as error:  # the reader has no one kind of error for malformed text
        raise _malformed(where, path, "LIBSVM text", error) from error


def _read_table(paths: Mapping[str, Path], features: int, options: Mapping[str, Any], where: str) -> RawTable:
    """Text with one row a line; roles `data`, `labels`, `splits`, `test_data`, `test_labels`.

    Options: `delimiter` (default: white space), `header` (the first line names the columns), `missing` (rows
    with this value in any cell are left out), `label` (the column of the labels, where no labels file is
    given), `features` and `extra`. A column is a number from 0, a name from the header, or a range of numbers
    "1-26"; in `features`, {column: default, equals: "yes"} is 1 where the column has this value and 0
    elsewhere. Without `features`, all columns but the label are features. `extra` names columns to keep
    beside the features.
    """
    parts = [_table_part(paths, "", options, where)]
    if "test_data" in paths:
        parts.append(_table_part(paths, "test_", options, where))
    (X, labels, extra), *test = parts
    originals = read_splits(paths["splits"], _place(where, paths["splits"])) if "splits" in paths else None
    X_test, labels_test = test[0][:2] if test else (None, None)
    return RawTable(X, labels, X_test, labels_test, extra, originals)


def _table_part(
    paths: Mapping[str, Path], prefix: str, options: Mapping[str, Any], where: str
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    path = paths[prefix + "data"]
    place = _place(where, path)
    header, missing = options.get("header", False), options.get("missing")
    is_text = header or missing is not None
    cells = _cells(path, options.get("delimiter"), is_text, where)
    names: list[str] = []
    if header:
        names, cells = cells[0].tolist(), cells[1:]
    if missing is not None:
        cells = cells[~(cells == missing).any(axis=1)]
    if len(cells) == 0:
        raise ValueError(f"{place}: no row of data")

    labels_path = paths.get(prefix + "labels")
    if labels_path is not None:
        labels = _cells(labels_path, None, False, where)
        if labels.shape != (len(cells), 1):
            shape = f"{labels.shape[0]} x {labels.shape[1]}"
            raise ValueError(f"{_place(where, labels_path)}: expected {len(cells)} x 1 labels, found {shape}")
        labels, label_column = labels[:, 0], None
    else:
        label_column = _column(options.get("label", -1), names, cells, place)
        labels = cells[:, label_column]

    if "features" in options:
        specs = _expand(options["features"])
        columns = [spec["column"] if isinstance(spec, dict) else spec for spec in specs]
        if label_column in [_column(column, names, cells, place) for column in columns]:
            raise ValueError(f"{place}: the label, column {label_column}, is among the features")
        X = np.column_stack([_feature(spec, names, cells, place) for spec in specs])
    else:
        feature_columns = [j for j in range(cells.shape[1]) if j != label_column]
        X = _numbers(cells[:, feature_columns], f"{place}")
    extra = {
        str(key): _numbers(cells[:, _column(spec, names, cells, place)], f"{place}, column {spec!r}")
        for key, spec in options.get("extra", {}).items()
    }
    return np.ascontiguousarray(X, dtype=np.float64), labels, extra


def _cells(path: Path, delimiter: str | None, is_text: bool, where: str) -> np.ndarray:
    """The cells (n, columns) of a text table, as str or as float64."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an empty file is only a warning to loadtxt
            warnings.filterwarnings("ignore", "Input line .* contained no data")
            cells = np.loadtxt(
                path,
                dtype=str if is_text else np.float64,
                delimiter=delimiter,
                comments=None,
                quotechar='"' if is_text else None,
                encoding="utf-8-sig",
                ndmin=2,
            )
        return np.char.strip(cells) if is_text else cells
    except (ValueError, UserWarning, OverflowError) as error:
        raise _malformed(
            where, path, "a table of numbers" if not is_text else "a text table", error
        ) from error


def _expand(specs: list[Any]) -> list[Any]:
    """Features with the ranges "first-last" written out."""
    expanded: list[Any] = []
    for spec in specs:
        ends = _range(spec)
        expanded += [spec] if ends is None else range(ends[0], ends[1] + 1)
    return expanded


def count_features(specs: list[Any]) -> int:
    """Return how many features the columns of the option `features` make."""
    ends = [_range(spec) or (0, 0) for spec in specs]
    return sum(last - first + 1 for first, last in ends)


def _range(spec: Any) -> tuple[int, int] | None:
    """Return the ends of a range of columns "first-last", or None for another spec."""
    match = re.fullmatch("([0-9]+)-([0-9]+)", spec) if isinstance(spec, str) else None
    return None if match is None else (int(match[1]), int(match[2]))


def _feature(spec: Any, names: list[str], cells: np.ndarray, place: str) -> np.ndarray:
    if isinstance(spec, dict):
        return (cells[:, _column(spec["column"], names, cells, place)] == spec["equals"]).astype(np.float64)
    return _numbers(cells[:, _column(spec, names, cells, place)], f"{place}, column {spec!r}")


def _column(spec: int | str, names: list[str], cells: np.ndarray, place: str) -> int:
    """The number of a column given by number (negative: from the end) or by name."""
    if isinstance(spec, str):
        if names.count(spec) != 1:
            times = "no column" if spec not in names else "more than one column"
            raise ValueError(f"{place}: {times} {spec!r} (found {names})")
        return names.index(spec)
    width = cells.shape[1]
    if not -width <= spec < width:
        raise ValueError(f"{place}: no column {spec}, the table has {width}")
    return spec % width


def _numbers(cells: np.ndarray, place: str) -> np.ndarray:
    try:
        return cells.astype(np.float64)
    except ValueError as error:
        raise ValueError(f"{place}: not a number ({_one_line(error)})") from error


def _read_idx(paths: Mapping[str, Path], features: int, options: Mapping[str, Any], where: str) -> RawTable:
    """IDX files of unsigned bytes (LeCun); roles `data`, `labels`, `test_data`, `test_labels`."""
    X, labels = _idx_part(paths, "", where)
    if "test_data" not in paths:
        return RawTable(X, labels)
    return RawTable(X, labels, *_idx_part(paths, "test_", where))


def _idx_part(paths: Mapping[str, Path], prefix: str, where: str) -> tuple[np.ndarray, np.ndarray]:
    images, labels = (_idx_file(paths[prefix + role], where) for role in ("data", "labels"))
    if labels.shape != images.shape[:1]:
        place = _place(where, paths[prefix + "labels"])
        raise ValueError(
            f"{place}: expected {images.shape[0]} labels, found an array of shape {labels.shape}"
        )
    return images.reshape(len(images), -1), labels.astype(np.float64)


def _idx_file(path: Path, where: str) -> np.ndarray:
    content = path.read_bytes()
    if len(content) < 4 or content[:3] != b"\x00\x00\x08" or content[3] == 0:
        raise ValueError(
            f"{_place(where, path)}: not an IDX file of unsigned bytes (it starts with {content[:4]!r})"
        )
    dimensions = content[3]
    start = 4 + 4 * dimensions
    shape = (
        tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
        if len(content) >= start
        else ()
    )
    size = 1
    for length in shape:  # Python integers: a forged header cannot overflow
        size *= length
    if not shape or size == 0 or size != len(content) - start:
        raise ValueError(
            f"{_place(where, path)}: the header says {shape} bytes, found {max(len(content) - start, 0)}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def _read_mat(paths: Mapping[str, Path], features: int, options: Mapping[str, Any], where: str) -> RawTable:
    """One structure of benchmarks.mat (option `struct`): `x`, `t`, and row numbers from 1 in `train`, `test`.

    Equal rows may be stored once and be named several times: the full table is put together from the first
    split.
    """
    import scipy.io

    path, name = paths["data"], options["struct"]
    try:
        check_mat(path.read_bytes())
        content = scipy.io.loadmat(path, variable_names=[name])
    except Exception as error:  # the reader has no one kind of error for malformed files
        raise _malformed(where, path, "a MATLAB file", error) from error
    place = f"{_place(where, path)}, structure {name!r}"
    try:
        fields = {key: content[name][key].item() for key in ("x", "t", "train", "test")}
        x, t = np.asarray(fields["x"], dtype=np.float64), np.asarray(fields["t"], dtype=np.float64).ravel()
        train, test = (np.asarray(fields[key]).astype(np.float64) for key in ("train", "test"))
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise ValueError(
            f"{place}: not a structure with the fields x, t, train, test ({_one_line(error)})"
        ) from error
    if x.ndim != 2 or len(t) != len(x) or train.ndim != 2 or test.ndim != 2 or len(train) != len(test):
        shapes = ", ".join(f"{key} {np.shape(fields[key])}" for key in fields)
        raise ValueError(f"{place}: the shapes do not fit each other ({shapes})")
    for key, part in (("train", train), ("test", test)):
        if part.size == 0 or not (np.equal(part, np.round(part)) & (part >= 1) & (part <= len(x))).all():
            raise ValueError(f"{place}: {key} must hold row numbers from 1 to {len(x)}")
    patterns, originals = splits_of_repeated_rows(
        train.astype(np.int64) - 1, test.astype(np.int64) - 1, place
    )
    return RawTable(x[patterns], t[patterns], originals=originals)


def _listed(names: set[str] | frozenset[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))


def _place(where: str, path: Path) -> str:
    return f"{where}, file {path.name}"


def _malformed(where: str, path: Path, kind: str, error: Exception) -> ValueError:
    return ValueError(f"{_place(where, path)}: not {kind} ({_one_line(error)})")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


TEST_ROLES = frozenset({"test_data", "test_labels"})
FORMATS = {
    "idx": _Format(_read_idx, frozenset({"data", "labels"}), TEST_ROLES),
    "libsvm": _Format(_read_libsvm, frozenset({"data"}), frozenset({"test_data"})),
    "mat": _Format(
        _read_mat, frozenset({"data"}), options={"struct": str}, required_options=frozenset({"struct"})
    ),
    "table": _Format(
        _read_table,
        frozenset({"data"}),
        TEST_ROLES | {"labels", "splits"},
        {
            "delimiter": str,
            "header": bool,
            "missing": str,
            "label": (int, str),
            "features": list,
            "extra": dict,
        },
    ),
}
