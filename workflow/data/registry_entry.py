"""The entry of the registry of data sets for a file of two classes."""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse
import yaml
from svmselect.cli import COMMANDS
from svmselect.cli.arguments import parser
from svmselect.cli.columns import label_column, load
from svmselect.cli.read import MISSING, Table, opened, unpacked

from data.dataset import Dataset
from data.fetch import fetch
from data.prepare import prepare
from data.registry import load_registry

__all__ = ["registry_entry"]

TRAIN = 0.6  # share of the rows that a realisation trains on
REALISATIONS = 10


def registry_entry(arguments):
    """Return the entry of the registry for a file of two classes, in a dictionary by its name.

    Parameters
    ----------
    arguments : Namespace
        See the action ``add`` of ``datasets.py``.

    Raises
    ------
    ValueError
        A file cannot be read, has another number of classes, or has other rows when it is prepared by the
        entry.
    """
    path, limit = str(arguments.file), arguments.max_bytes
    words = ["loo", path, "--task", "classification", "--kernel", "linear", "--max-bytes", str(limit)]
    words += [] if arguments.label is None else ["--label", arguments.label]
    words += [word for column in arguments.ignore for word in ("--ignore", column)]
    words += ["--drop-missing"] * arguments.drop_missing
    options = parser(COMMANDS).parse_args(words)
    raw, source = unpacked(path, limit), opened(options)
    is_table = isinstance(source, Table)
    if is_table and not isinstance(source.content, bytes):
        raise ValueError(f"{path}: the registry reads CSV tables and LIBSVM text: write CSV")
    try:
        data = load(options)
    except ValueError as error:
        raise ValueError(str(error).replace(", or have features filled in with --impute", "")) from None
    columns, X = _features(options, source, data) if is_table else ({}, data.frame)
    stem = Path(path).name.partition(".")[0]
    name = arguments.name or re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
    kinds, codes = np.unique(data.y, return_inverse=True)
    if kinds.size != 2:
        raise ValueError(f"{path}: the registry has data sets of two classes, this has {kinds.size}")
    (m, d), counts = X.shape, np.bincount(codes)
    file = {
        "name": re.sub(r"\.(gz|bz2|xz)\Z", "", Path(path).name),
        "sha256": hashlib.sha256(raw).hexdigest(),
        "bytes": len(raw),
        "urls": arguments.url,
    }
    recipe = {"folder": name, "format": "table" if is_table else "libsvm"}
    recipe |= {"options": columns} if is_table else {}
    train = round(TRAIN * m)
    entry = {
        "title": arguments.title or name,
        "features": d,
        "rows": m,
        "classes": {-1: int(counts[0]), 1: int(counts[1])},
        "labels": dict(zip(_as_numbers(kinds.tolist()), (-1, 1), strict=True)),
        **({} if is_table else {"sparse": True}),
        "splits": {"train": train, "test": m - train, "realisations": REALISATIONS, "seed": 0},
        "licence": "not stated",
        "citation": "not stated",
        "sources": [recipe | {"files": {"data": file}}],
    }
    _check(entry, raw, X, name, path)
    return {name: entry}


def _features(options, table, data):
    """Return how the registry's reader of tables reads the file, and the features that it then finds."""
    label, _ = label_column(options, table)
    apart = {label, *map(table.number_of, options.ignore)}
    places = [j for j in range(table.width) if j not in apart]
    keys = {} if table.delimiter is None else {"delimiter": table.delimiter}
    features, columns = [], []
    for j, name in zip(places, data.frame.columns, strict=True):
        values = data.frame[name]
        if values.dtype.kind in "iuf":
            features.append(j)
            columns.append(values.to_numpy(dtype=np.float64))
            continue
        for kind in sorted(values.astype(str).unique()):
            features.append({"column": j, "equals": kind})
            columns.append((values.astype(str) == kind).to_numpy(dtype=np.float64))
    has_text = len(features) > len(places) or data.y.dtype.kind == "U"
    if table.names is not None:
        keys["header"] = True
    if data.dropped or (has_text and table.names is None):
        keys["missing"] = _missing_word(table, [*places, label])
    keys["label"] = label
    if features != [j for j in range(table.width) if j != label]:
        keys["features"] = features
    return keys, np.column_stack(columns)


def _missing_word(table, used):
    """Return the word that stands for a missing value in the used columns of a table, by default "?"."""
    cells = table.frame(sorted(used), text=set(used), labels=set(used)).fillna("")
    words = sorted({word for j in used for word in cells[j].unique() if word in MISSING})
    if len(words) > 1:
        raise ValueError(
            f"{table.path}: a missing value is {' or '.join(map(repr, words))}: write one of them alone"
        )
    return words[0] if words else "?"


def _as_numbers(labels):
    """Return labels as numbers if all of them are, and as text otherwise: so the registry's reader compares
    them."""
    try:
        numbers = [float(label) for label in labels]
    except ValueError:
        return [str(label) for label in labels]
    return [int(number) if number.is_integer() else number for number in numbers]


def _check(entry, raw, X, name, path):
    """Raise a ValueError unless the entry is a valid one that gives the rows of the file."""
    (source,) = entry["sources"]
    with tempfile.TemporaryDirectory(prefix="svmselect-") as work:
        mirrored = Path(work, "mirror", source["folder"], source["files"]["data"]["name"])
        try:
            mirrored.parent.mkdir(parents=True)
            mirrored.write_bytes(raw)
            Path(work, "registry.yaml").write_text(yaml.safe_dump({name: entry}), encoding="utf-8")
            loaded = load_registry(Path(work, "registry.yaml"))[name]
            fetch(loaded, Path(work, "raw"), str(Path(work, "mirror")), progress=False)
            prepare(loaded, Path(work, "raw"), Path(work, "set.npz"))
        except ValueError as error:
            raise ValueError(f"{path}: the registry cannot read it ({error})") from None
        dataset = Dataset.load(Path(work, "set.npz"))
    read, expected = (rows.toarray() if scipy.sparse.issparse(rows) else rows for rows in (dataset.X, X))
    if not np.array_equal(read, expected):
        raise ValueError(f"{path}: the registry's reader finds other rows in it than this command")
