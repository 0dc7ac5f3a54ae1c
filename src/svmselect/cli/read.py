"""The user's files: features and labels of a CSV table or of LIBSVM text, or what is wrong in a sentence."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from svmselect.cli.contents import contents, first_lines
from svmselect.cli.csv_table import MISSING, csv_columns
from svmselect.cli.number import is_number
from svmselect.data.formats import parse_libsvm

__all__ = ["Table", "read"]

LIBSVM_LINE = re.compile(r"\s*[^\s,;:#]+(\s+qid:[0-9]+)?(?P<features>(\s+[0-9]+:\S+)*)\s*(#.*)?")
MOST_CLASSES = 50
EXACT = 2**53  # from here on float64 has not every whole number


@dataclass(frozen=True)
class Table:
    """Rows of a file.

    Attributes
    ----------
    X : ndarray or CSR matrix, shape (m, d), float64
    numbers : ndarray of int, shape (m,)
        Which of the file's rows of data each is, from 1.
    labels : ndarray, shape (m,)
        float64 where all of them are whole numbers written in one way each, else str.
    label_column : str
        What the labels were read from, for people.
    dropped : int
        Rows left out because a value was missing.
    doubts : tuple of str
        Sentences: what was decided that may be wrong, and why.
    """

    X: np.ndarray | scipy.sparse.csr_matrix
    numbers: np.ndarray
    labels: np.ndarray
    label_column: str
    dropped: int = 0
    doubts: tuple[str, ...] = ()


def read(
    path,
    format="auto",
    label=None,
    ignore=(),
    header=None,
    delimiter=None,
    drop_missing=False,
    strict=False,
):
    """Read a file.

    Parameters
    ----------
    path : str or Path
        See `contents`.
    format : {"auto", "csv", "libsvm"}
        By default told from the first lines.
    label : str, optional
        Name or number (from 1, negative from the end) of the label's column in a CSV file; by default the
        one named label, target or class, else the last.
    ignore : sequence of str
        Columns that are neither features nor label.
    header : bool, optional
        Whether the first line names the columns; by default told from its cells.
    delimiter : str, optional
        By default a comma, semicolon, tab or white space, told from the first lines.
    drop_missing : bool
        Leave out rows with a missing value, instead of an error.
    strict : bool
        Take a doubt for an error.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        The sentence names the file, and the line and column where there is one.
    """
    text = contents(path)
    lines = first_lines(text)
    if not lines:
        raise ValueError(f"{path}: the file is empty")
    if format == "auto":
        format = "libsvm" if _is_libsvm(lines) else "csv"
    if format == "csv":
        X, words, numbers, column, dropped, doubts = csv_columns(
            path, text, label, ignore, header, delimiter, drop_missing
        )
        labels = _csv_labels(words, f"{path}, {column}", column, doubts)
    else:
        for option, value in (("--label", label), ("--ignore", ignore), ("--delimiter", delimiter)):
            if value:
                raise ValueError(f"{path}: {option} is for CSV files, and this one is LIBSVM text")
        X, labels, doubts = _libsvm_columns(path, text)
        numbers, column, dropped = np.arange(1, labels.size + 1), "first of each line", 0
    if strict and doubts:
        raise ValueError(f"{path}: {doubts[0]} (refused by --strict)")
    return Table(X, numbers, labels, column, dropped, tuple(doubts))


def _is_libsvm(lines):
    """Whether lines are a label and pairs of an index and a value, one pair in all at least."""
    found = [LIBSVM_LINE.fullmatch(line) for line in lines if not line.lstrip().startswith("#")]
    if not found or found[0] is None:
        return False
    # what comes after a first line with pairs is an error of the file where it is something else
    return found[0]["features"] != "" or (all(found) and any(match["features"] for match in found))


def _libsvm_columns(path, text):
    """Features, labels and doubts of LIBSVM text."""
    X, labels = parse_libsvm(io.BytesIO(text.encode()), None, str(path))
    if labels.size == 0:
        raise ValueError(f"{path}: no row of data")
    if X.shape[1] == 0:
        raise ValueError(f"{path}: no row has a feature")
    bad = np.flatnonzero(~np.isfinite(X.data))
    if bad.size:
        row = np.searchsorted(X.indptr, bad[0], side="right")
        raise ValueError(f"{path}, row {row}: the value of feature {X.indices[bad[0]] + 1} is not finite")
    bad = np.flatnonzero(~(np.abs(labels) < EXACT))
    if bad.size:
        raise ValueError(
            f"{path}, row {bad[0] + 1}: the label must be a number below 2^53 in size, got "
            f"{labels[bad[0]]:.17g}"
        )
    doubts = []
    fraction = labels[labels != np.floor(labels)]
    _check_classes(labels, fraction.size > 0, f"{path}: the label", "the label", doubts)
    # scikit-learn takes fractions for a target of regression
    return X, labels.astype(str) if fraction.size else labels, doubts


def _csv_labels(words, where, column, doubts):
    """Labels that differ as text as different classes: float64 where that keeps them apart, else str."""
    labels = np.array(words)
    kinds, counts = np.unique(labels, return_counts=True)
    for word, count in zip(kinds, counts, strict=True):
        if word.lower() in MISSING:
            doubts.append(f"the label {str(word)!r} of {count} rows in {column} is taken for a class")
    if not all(is_number(word) for word in kinds):
        _check_classes(labels, False, where, column, doubts)
        return labels
    values = kinds.astype(np.float64)
    fractions = bool((values != np.floor(values)).any())
    _check_classes(labels, fractions, where, column, doubts)
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


def _check_classes(labels, fractions, where, column, doubts):
    """A ValueError unless the labels are of two classes at least and not of nearly as many as there are rows;
    a doubt where they may be a number to predict."""
    kinds = np.unique(labels)
    if kinds.size < 2:
        only = f"{labels[0]:g}" if labels.dtype.kind == "f" else repr(str(labels[0]))
        raise ValueError(f"{where} holds one class only: {only}")
    what = f"holds {kinds.size} different values in {labels.size} rows"
    if (kinds.size > MOST_CLASSES or (fractions and kinds.size > 2)) and 2 * kinds.size > labels.size:
        raise ValueError(f"{where} {what}: that is no class label (see --label)")
    if kinds.size > MOST_CLASSES or fractions:
        doubts.append(
            f"{column} {what}{', and fractions among them' if fractions else ''}: each is taken for a class, "
            "not for a number to predict"
        )
