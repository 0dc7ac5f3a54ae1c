"""The papers' data sets: `svmselect datasets list` and `fetch`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from svmselect.cli.report import show, table
from svmselect.data import Dataset, fetch, load_registry, prepare
from svmselect.data.atomic import replacing

__all__ = ["fetch_sets", "list_sets"]


def _registry():
    """The registry that is installed with the library."""
    return load_registry(Path(__file__).with_name("datasets.yaml"))


def list_sets(arguments):
    """Names, sizes and titles."""
    entries = _registry()
    result = [
        {
            "name": entry.name,
            "rows": entry.rows,
            "rows_test": entry.rows_test,
            "features": entry.features,
            "title": entry.title,
            "licence": entry.licence,
            "citation": entry.citation,
        }
        for entry in entries.values()
    ]
    rows = [(item["name"], item["rows"], item["features"], item["title"]) for item in result]
    show(result, arguments.json, table(rows, ("name", "rows", "features", "title")))


def fetch_sets(arguments):
    """Download, verify, and write NAME.libsvm, and NAME.test.libsvm where the set has a test part."""
    entries, folder = _registry(), Path(arguments.to)
    wanted = [entries[name] for name in dict.fromkeys(arguments.names)]
    for entry in wanted:
        for path in _targets(entry, folder):
            if path.exists() and not arguments.force:
                raise ValueError(f"{path} exists; --force writes it anew")
    result = []
    for entry in wanted:
        with tempfile.TemporaryDirectory(prefix="svmselect-") as work:
            fetch(entry, Path(work, "raw"), arguments.mirror, progress=not arguments.quiet)
            prepare(entry, Path(work, "raw"), Path(work, "set.npz"))
            dataset = Dataset.load(Path(work, "set.npz"))
        parts = [(dataset.X, dataset.y), (dataset.X_test, dataset.y_test)]
        for path, (X, y) in zip(_targets(entry, folder), parts, strict=False):
            _write(path, X, y)
            result.append({"name": entry.name, "file": str(path), "rows": X.shape[0], "features": X.shape[1]})
    rows = [(item["file"], item["rows"], item["features"]) for item in result]
    show(result, arguments.json, table(rows, ("file", "rows", "features")))


def _targets(entry, folder):
    """The files of a data set: the rows, and the test part where it has one."""
    names = [f"{entry.name}.libsvm"] + [f"{entry.name}.test.libsvm"] * bool(entry.rows_test)
    return [folder / name for name in names]


def _write(path, X, y):
    """LIBSVM text, complete or not at all."""
    from sklearn.datasets import dump_svmlight_file  # here, because it takes two seconds to import

    with replacing(path) as file:
        dump_svmlight_file(X, y, file, zero_based=False)
