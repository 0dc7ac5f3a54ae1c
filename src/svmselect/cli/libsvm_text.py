"""LIBSVM text: in each line a label and pairs of a feature's number and its value."""

import io
import re
from itertools import islice

import numpy as np
import scipy.sparse

from svmselect.cli.csv_table import SAMPLE, is_number
from svmselect.csr import as_csr

__all__ = ["any_rows", "check_no_variant", "is_libsvm", "libsvm_rows", "plain_rows"]

LABEL = r"[^\s,;:#]+(\s+qid:[0-9]+)?"
BARE = re.compile(rf"{LABEL}\s*(#.*)?")
ROW = re.compile(rf"{LABEL}(\s+[+-]?[0-9]+:\S+)+\s*(#.*)?")
PAIR = re.compile(r"[0-9]+:[+-]?[0-9.]+([eE][+-]?[0-9]+)?")
CLOCK = re.compile(r"[0-2]?[0-9]:[0-5][0-9]")
# A line of plain text. Up to MOST_PLAIN characters of it are read here, faster than scikit-learn is imported.
# Its reader also knows remarks behind rows, queries and other ways to write numbers.
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
PLAIN = re.compile(rf"{NUMBER}(?:[ \t]+[0-9]{{1,9}}:{NUMBER})*[ \t]*\r?")
MOST_PLAIN = 2**22
# Limit for LIBSVM text: rows are made dense one at a time, and a row of this size takes 1 GB.
MOST_FEATURES = 2**27


def is_libsvm(text):
    """Return whether a text is LIBSVM's: its first line of more than a label is a label and pairs."""
    rows_of_more = (line for _, line in _lines(text) if not BARE.fullmatch(line))
    return _is_row(next(rows_of_more, ""))


def check_no_variant(path, text):
    """Raise a ValueError if most of a text's first lines have pairs, though it is not LIBSVM text."""
    lines = list(islice(_lines(text), SAMPLE))
    faults = {number: _variant(line) for number, line in lines if not _is_row(line)}
    if 2 * sum(fault is None for fault in faults.values()) >= len(lines):
        return
    number, fault = next(iter(faults.items()))
    fault = fault or "has no label and pairs, as 1 3:0.5 are"
    raise ValueError(
        f"{path}: nearly LIBSVM text, but line {number} {fault}; --format csv reads it as a table"
    )


def _is_row(line):
    """Return whether a line is a label and pairs."""
    return ROW.fullmatch(line) is not None


def _variant(line):
    """Return what distinguishes a line with pairs from LIBSVM text, or None if it has none."""
    label, *pairs = line.partition("#")[0].split() or [""]
    if _are_pairs(pairs):
        odd = next((pair for pair in pairs if not PAIR.fullmatch(pair)), None)
        if is_number(label):
            return f"has {odd!r} among its pairs"
        kind = "several labels" if "," in label else "weights of rows"
        return f"starts with {label!r}, where one number is the label ({kind} are not read)"
    for mark in ",;|":
        if _are_pairs([cell.strip() for cell in line.split(mark)[1:]]):
            return f"has {mark!r} between its pairs, where spaces are expected"
    return None


def _are_pairs(words):
    """Return whether most words are pairs of a number and a value, and not times of the day."""
    pairs = [word for word in words if PAIR.fullmatch(word)]
    return 2 * len(pairs) > len(words) and not all(map(CLOCK.fullmatch, pairs))


def libsvm_rows(path, text, zero_based=None):
    """Return the rows of LIBSVM text as a CSR matrix, their labels, and whether features count from 0.

    The first column of the matrix is the first feature, which is number 0 if `zero_based`, else number 1; by
    default it is number 0 if any row has a feature 0. Raise a ValueError that names the file and the line.
    """
    lowest = 1 if zero_based is False else 0
    try:
        X, labels = plain_rows(text) or any_rows(text)
        X = as_csr(X)
    except Exception as error:  # the reader has no one kind of error for malformed text
        fault = _fault(text, lowest)
        if fault is None:
            raise ValueError(f"{path}: not LIBSVM text ({' '.join(str(error).split())})") from None
        raise ValueError(f"{path}, {fault}") from None
    if labels.size == 0:
        raise ValueError(f"{path}: no row of data")
    has_feature_0 = bool((X.indices == 0).any())
    if X.shape[1] > MOST_FEATURES + 1 or (has_feature_0 and zero_based is False):
        raise ValueError(f"{path}, {_fault(text, lowest)}")
    bad = np.flatnonzero(~np.isfinite(X.data))
    if bad.size:
        row = np.searchsorted(X.indptr, bad[0], side="right")
        raise ValueError(f"{path}, row {row}: the value of feature {X.indices[bad[0]]} is not finite")
    zero_based = has_feature_0 if zero_based is None else zero_based
    if not zero_based:
        shape = X.shape[0], max(X.shape[1] - 1, 0)
        X = scipy.sparse.csr_matrix((X.data, X.indices - 1, X.indptr), shape=shape)
    return X, labels, zero_based


def any_rows(text):
    """Return the matrix and the labels of LIBSVM text, features from 0, by scikit-learn's reader."""
    from sklearn.datasets import load_svmlight_file  # here, because it takes two seconds to import

    return load_svmlight_file(io.BytesIO(text.encode()), dtype=np.float64, zero_based=True)


def plain_rows(text):
    """Return the matrix and the labels of short LIBSVM text; None where it is long, not plain or wrong."""
    if len(text) > MOST_PLAIN:
        return None
    # 1) words of each line: the label, then features and values in turn
    labels, features, values, ends = [], [], [], [0]
    for line in text.split("\n"):
        if not PLAIN.fullmatch(line):
            if line.strip(" \t\r") and not line.startswith("#"):
                return None
            continue
        label, *words = line.replace(":", " ").split()
        labels.append(float(label))
        features.extend(map(int, words[::2]))
        values.extend(map(float, words[1::2]))
        ends.append(len(values))
    # 2) features increase within each row
    features, ends = np.array(features, dtype=np.int64), np.array(ends)
    falls = 1 + np.flatnonzero(np.diff(features) <= 0)
    if not np.isin(falls, ends).all():
        return None
    shape = len(labels), 1 + int(features.max(initial=0))
    return scipy.sparse.csr_matrix((np.array(values), features, ends), shape=shape), np.array(labels)


def _lines(text):
    """Yield the number and the content of each line that is neither blank nor a comment."""
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        content = line.strip()
        if content and not content.startswith("#"):
            yield number, content


def _fault(text, lowest):
    """Return the first thing that is wrong with LIBSVM text, and its line; or None."""
    for number, line in _lines(text):
        label, *pairs = line.partition("#")[0].split()
        if not is_number(label):
            return f"line {number}: the label {label!r} is not a number, as LIBSVM text has it"
        last = lowest - 1
        for pair in (pair for pair in pairs if not pair.startswith("qid:")):
            index, _, value = pair.partition(":")
            if not re.fullmatch("[+-]?[0-9]+", index) or not is_number(value):
                return f"line {number}: {pair!r} is not a feature and its value, as 3:0.5 is"
            if int(index) < lowest:
                hint = "; --zero-based counts from 0" if int(index) == 0 else ""
                return f"line {number}: the first feature is {lowest}, got {index}{hint}"
            if int(index) <= last:
                return f"line {number}: features must increase, and {index} comes after {last}"
            last = int(index)
            if last > MOST_FEATURES:
                return (
                    f"line {number}: feature {index} is beyond the {MOST_FEATURES} that a row may have here; "
                    "number the features that occur"
                )
    return None
