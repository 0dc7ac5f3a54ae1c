"""The readers of files, fed with bytes: whatever they hold, a valid table or one sentence.

A parser here is a function of bytes that raises where a reader breaks its promise. What it read is used: the
compiled code follows the indices of sparse rows.
"""

from __future__ import annotations

import io
import re
import struct
import tempfile
import warnings
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
from data.dataset import Dataset
from data.formats import FORMATS
from data.registry import load_registry
from data.splits import check_originals

from svmselect import Gram, Linear
from svmselect.cli import COMMANDS
from svmselect.cli.arguments import parser
from svmselect.cli.columns import load as load_table
from svmselect.sklearn import SVC, NuSVC, load_model, save_model

MOST_FEATURES = 10_000  # what is multiplied
WHERE = "place"


def sentence(error, start):
    """An AssertionError unless an error is one line that names where it is."""
    text = str(error)
    assert text.startswith(start), f"the sentence does not start with {start!r}: {text!r}"
    assert "\n" not in text, f"more than a line: {text!r}"


def check_rows(X, n, finite):
    """Rows are a valid matrix of n rows, which the library can multiply or refuses in a sentence."""
    if X is None:
        return
    assert X.ndim == 2 and X.shape[0] == n, f"{X.shape} for {n} labels"
    values = X
    if scipy.sparse.issparse(X):
        X.check_format(full_check=True)
        values = X.data
    if finite:
        assert np.isfinite(values).all()
    if 0 < X.shape[1] <= MOST_FEATURES and 0 < n <= 200:
        try:
            assert np.isfinite(Gram(X, Linear()).matrix()).all()
        except ValueError as error:
            sentence(error, "X ")


def check_raw(name, files, features=3, options=None):
    """Read files of a format by their roles."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {role: Path(folder) / f"{role}.raw" for role in files}
        for role, content in files.items():
            paths[role].write_bytes(content)
        try:
            raw = FORMATS[name].read(paths, features, options or {}, WHERE)
        except ValueError as error:
            sentence(error, f"{WHERE}, file ")
            return
    check_rows(raw.X, len(raw.labels), finite=False)
    check_rows(raw.X_test, 0 if raw.labels_test is None else len(raw.labels_test), finite=False)
    for key, column in raw.extra.items():
        assert column.shape == raw.labels.shape, key
    if raw.originals is not None:
        try:  # as prepare does
            check_originals(raw.originals, len(raw.labels), 1, 2, WHERE)
        except ValueError as error:
            sentence(error, WHERE)
            return
        for part in (raw.originals.train, raw.originals.test):
            assert part.shape[0] == raw.originals.numbers.size
            assert part.min() >= 0 and part.max() < len(raw.labels)


def libsvm(data):
    check_raw("libsvm", {"data": data})


TABLES = [
    {},
    {"delimiter": ","},
    {"delimiter": ",", "header": True},
    {"delimiter": ";", "header": True, "missing": "?"},
    {"delimiter": ",", "missing": "?", "label": 0},
    {"delimiter": ",", "header": True, "label": "y", "features": ["a", {"column": "b", "equals": "yes"}]},
    {"delimiter": ",", "features": ["0-1"], "extra": {"weight": 1}},
]


def table(data):
    """The first byte chooses the options."""
    if data:
        check_raw("table", {"data": data[1:]}, options=TABLES[data[0] % len(TABLES)])


def splits(data):
    check_raw("table", {"data": b"1 2 3\n4 5 6\n7 8 9\n", "splits": data})


def idx(data):
    """The first byte says how long the labels' file is."""
    if data:
        check_raw("idx", {"labels": data[1 : 1 + data[0]], "data": data[1 + data[0] :]})


def mat(data):
    check_raw("mat", {"data": data}, options={"struct": "small"})


USERS = [
    (),
    ("--drop-missing",),
    ("--header", "--delimiter", ","),
    ("--no-header", "--label", "1"),
    ("--delimiter", ";", "--ignore", "1"),
    ("--impute", "--task", "classification"),
    ("--impute", "--drop-missing", "--standardise", "--task", "one-class"),
    ("--impute", "--categorical", "1", "--label", "-1"),
    ("--standardise", "--no-header"),
]


def csv(data):
    """What the command reads, which is trained on and predicted; the first byte chooses the options."""
    if not data:
        return
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of categories, and numbers that overflow
        path = Path(folder) / "rows"
        path.write_bytes(data[1:])
        words = [*USERS[data[0] % len(USERS)], "--max-bytes", str(2**24)]
        try:
            with redirect_stderr(io.StringIO()):
                result = load_table(parser(COMMANDS).parse_args(["loo", str(path), *words]))
            X = result.X
        except ValueError as error:
            assert "\n" not in str(error), error
            return
    m = result.numbers.size
    check_rows(X, m, finite=result.is_plain)
    assert result.y is None or result.y.size == m
    assert result.task != "classification" or np.unique(result.y).size >= 2


def model(data):
    """A saved model; then it predicts."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers that overflow
        path = Path(folder) / "model"
        path.write_bytes(data)
        try:
            result = load_model(path)
        except ValueError as error:
            sentence(error, str(path))
            return
        d = result.n_features_in_
        if not 0 < d <= MOST_FEATURES:
            return
        try:
            values = result.decision_function(np.zeros((2, d)))
        except ValueError as error:
            assert "\n" not in str(error)
            return
        assert len(values) == 2 and len(result.predict(np.zeros((2, d)))) == 2


def saved_models():
    """The files of a few models."""
    X, y = np.array([[0.0, 1], [1, 0.5], [2, 0], [3, 1], [4, 2], [5, 0]]), np.array([0, 1, 2, 0, 1, 2])
    for estimator, rows, labels, form in (
        (SVC(gamma=0.5), X, y % 2, "skops"),
        (NuSVC(0.4), scipy.sparse.csr_array(X), y, "skops"),
        (SVC(kernel="linear"), X + 1000, y.astype(str), "skops"),
        (SVC(gamma=0.5), X, y, "libsvm"),
        (NuSVC(0.5, gamma=1), X, y % 2 * 2 - 1, "libsvm"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            save_model(estimator.fit(rows, labels), Path(folder) / "model", form)
            yield (Path(folder) / "model").read_bytes()


def load(content):
    """A prepared set from the bytes of its file; None where it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.npz"
        path.write_bytes(content)
        try:
            result = Dataset.load(path)
        except ValueError as error:
            sentence(error, str(path))
            return error
    check_rows(result.X, len(result.y), finite=False)
    check_rows(result.X_test, 0 if result.y_test is None else len(result.y_test), finite=False)
    return result


def npz(data):
    load(data)


SPARSE = scipy.sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
ARRAYS = {
    "name": np.array("small"),
    "source": np.array("mirror"),
    "source_files": np.array(""),
    "sha256": np.array("0" * 64),
    "y": np.array([1, -1], dtype=np.int8),
    "X.data": SPARSE.data,
    "X.indices": SPARSE.indices,
    "X.indptr": SPARSE.indptr,
    "X.shape": np.array(SPARSE.shape),
    "recipe": np.array([1, 1, 2, 0]),
}
TYPES = [np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_, "S4"]


def arrays(data):
    """A prepared set of sparse rows in which one array is another; its file has the hash of what it holds.

    The first two bytes choose the array and its type, the others are its content.
    """
    if len(data) < 2:
        return
    key, kind = sorted(ARRAYS)[data[0] % len(ARRAYS)], np.dtype(TYPES[data[1] % len(TYPES)])
    whole = (len(data) - 2) // kind.itemsize * kind.itemsize
    content = {**ARRAYS, key: np.frombuffer(data[2 : 2 + whole], kind)}
    for _ in range(2):
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **content)
        result = load(file.getvalue())
        right = re.search(r"has the hash ([0-9a-f]{64})", str(result))
        if right is None:
            return
        content["sha256"] = np.array(right[1])


def registry(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "registry.yaml"
        path.write_bytes(data)
        try:
            result = load_registry(path)
        except ValueError as error:
            assert "\n" not in str(error), f"more than a line: {error!s:.500}"
            return
    for name, entry in result.items():
        assert entry.name == name and entry.rows > 0 and entry.features > 0


@dataclass(frozen=True)
class Parser:
    """A function of bytes, and inputs that it reads well, from which mutation begins."""

    check: callable
    seeds: tuple[bytes, ...]


def saved_mat():
    file = io.BytesIO()
    small = {"x": [[1.0, 2], [3, 4]], "t": [[1.0], [-1]], "train": [[1.0]], "test": [[2.0]]}
    scipy.io.savemat(file, {"small": small})
    return file.getvalue()


def saved_npz():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.npz"
        Dataset("small", SPARSE, ARRAYS["y"], None, None, "mirror").save(path)
        return path.read_bytes()


def images():
    labels = bytes([0, 0, 8, 1]) + struct.pack(">I", 2) + bytes([0, 1])
    pixels = bytes([0, 0, 8, 3]) + struct.pack(">3I", 2, 1, 2) + bytes([1, 2, 3, 4])
    return bytes([len(labels)]) + labels + pixels


LINES = b"+1 1:0.5 3:2e-3\n-1 2:1 3:-4 # seen\n\n+1 qid:3 1:1\n"
TABLE = b'a,b,y\n1,yes,"2"\n3,no,4\n'
NUMBERS = b"a,b,y\n1,2.5,p\n3,-4e1,n\n5,,p\n"
REGISTRY = b"""small:
  title: Small
  rows: 4
  features: 2
  classes: {-1: 2, 1: 2}
  labels: {0: -1, 1: 1}
  splits: {train: 2, test: 2, realisations: 3, seed: 5}
  licence: none
  citation: nobody
  sources:
    - folder: small
      format: table
      options: {delimiter: ","}
      files:
        data: {name: small.csv, sha256: "%s", bytes: 40, urls: [https://example.org/small.csv]}
""" % (b"0" * 64)
PARSERS = {
    "libsvm": Parser(libsvm, (LINES, b"1 1:1\n-1 1:nan 2:inf\n")),
    "table": Parser(table, (b"\x001 2 3\n4 5 6\n", *(bytes([k]) + TABLE for k in range(len(TABLES))))),
    "splits": Parser(splits, (b'{"numbers": [1, 2], "train": [[1], [2]], "test": [[2, 3], [1, 3]]}', b"[]")),
    "idx": Parser(idx, (images(),)),
    "mat": Parser(mat, (saved_mat(),)),
    "csv": Parser(
        csv,
        (
            *(bytes([k]) + NUMBERS for k in range(len(USERS))),
            b"\x00" + LINES,
            b"\x00x;y\n1,5;a\n2,5;b\n",
            b"\x00,x,y\n0,1,a\n1,?,b\n",
            b"\x05a,b,y\n1,x,p\n,z,q\n2,,p\n",
            b"\x07a,b,y\n1,x,p\n1,z,q\n2,?,p\n",
        ),
    ),
    "model": Parser(model, tuple(saved_models())),
    "npz": Parser(npz, (saved_npz(),)),
    "arrays": Parser(
        arrays,
        tuple(bytes([k, 1]) + np.array([0, 1, 2], dtype=np.int32).tobytes() for k in range(len(ARRAYS))),
    ),
    "registry": Parser(registry, (REGISTRY, b"a: &a [1]\nb: *a\n", b"%YAML 1.1\n---\n? [x]\n: y\n")),
}
