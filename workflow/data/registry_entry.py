"""The entry of the registry of data sets for a file of two classes."""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse
import yaml
from svmselect.cli.csv_table import Cells, guessed_delimiter
from svmselect.cli.output import warn
from svmselect.cli.read import PARQUET, read, text_of, unpacked

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
    raw = unpacked(arguments.file, arguments.max_bytes)
    if raw.startswith(PARQUET):
        raise ValueError(f"{arguments.file}: a Parquet file, which the registry does not read: write CSV")
    table = read(
        arguments.file,
        label=arguments.label,
        ignore=arguments.ignore,
        drop_missing=arguments.drop_missing,
        max_bytes=arguments.max_bytes,
    )
    for doubt in table.doubts:
        warn(doubt)
    stem = Path(arguments.file).name.partition(".")[0]
    name = arguments.name or re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
    entry = _entry(arguments, raw, table, name)
    _check(entry, raw, table, name, arguments.file)
    return {name: entry}


def _entry(arguments, raw, table, name):
    """Return the keys of the entry."""
    kinds, codes = np.unique(table.labels, return_inverse=True)
    if kinds.size != 2:
        raise ValueError(
            f"{arguments.file}: the registry has data sets of two classes, this has {kinds.size}"
        )
    m, d = table.X.shape
    train = round(TRAIN * m)
    file_name = Path(arguments.file).name
    file_name = re.sub(r"\.(gz|bz2|xz)\Z", "", file_name)
    is_table = isinstance(table.raw, Cells)
    source = {
        "folder": name,
        "format": "table" if is_table else "libsvm",
        **({"options": _options(arguments, raw, table)} if is_table else {}),
        "files": {
            "data": {
                "name": file_name,
                "sha256": hashlib.sha256(raw).hexdigest(),
                "bytes": len(raw),
                "urls": arguments.url,
            }
        },
    }
    counts = np.bincount(codes)
    labels = _as_numbers(kinds.tolist())
    return {
        "title": arguments.title or name,
        "features": d,
        "rows": m,
        "classes": {-1: int(counts[0]), 1: int(counts[1])},
        "labels": dict(zip(labels, (-1, 1), strict=True)),
        **({} if is_table else {"sparse": True}),
        "splits": {"train": train, "test": m - train, "realisations": REALISATIONS, "seed": 0},
        "licence": "not stated",
        "citation": "not stated",
        "sources": [source],
    }


def _as_numbers(labels):
    """Return labels as numbers if all of them are, and as text otherwise: so the registry's reader compares
    them."""
    try:
        numbers = [float(label) for label in labels]
    except ValueError:
        return [str(label) for label in labels]
    return [int(number) if number.is_integer() else number for number in numbers]


def _options(arguments, raw, table):
    """Return how the registry's reader of tables reads the file."""
    cells, encoding = table.raw, table.encoding
    delimiter = guessed_delimiter(text_of(arguments.file, raw))
    options = {} if delimiter is None else {"delimiter": delimiter}
    has_text = any(column.categories is not None for column in encoding.columns)
    if cells.names is not None:
        options["header"] = True
    if table.dropped or ((has_text or table.labels.dtype.kind == "U") and cells.names is None):
        options["missing"] = arguments.missing
    options["label"] = encoding.layout.label_place
    features = []
    for j, column in zip(encoding.layout.places, encoding.columns, strict=True):
        features += (
            [j] if column.categories is None else [{"column": j, "equals": c} for c in column.categories]
        )
    if features != [j for j in range(encoding.layout.width) if j != encoding.layout.label_place]:
        options["features"] = features
    return options


def _check(entry, raw, table, name, path):
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
    X, Z = (rows.toarray() if scipy.sparse.issparse(rows) else rows for rows in (dataset.X, table.X))
    if not np.array_equal(X, Z):
        raise ValueError(f"{path}: the registry's reader finds other rows in it than this command")
