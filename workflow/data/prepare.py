"""From raw files to a prepared data set: parse, map the labels, check against the registry, write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import scipy.sparse
from svmselect.standardise import standardise

from data.bundled import load_bundled
from data.dataset import Dataset, Matrix
from data.fetch import fetched_files
from data.formats import FORMATS, RawTable
from data.registry import Entry
from data.splits import check_originals, splits_by_value
from data.synthetic import GENERATORS


def prepare(entry: Entry, raw_dir: str | Path | None, out: str | Path) -> None:
    """Make the prepared file of a data set.

    Parameters
    ----------
    entry : Entry
    raw_dir : str, Path or None
        Folder that `fetch` filled; not used for generated and bundled sets.
    out : str or Path
        The .npz file to write; it appears complete or not at all.

    Raises
    ------
    ValueError
        The raw files are not there or are not what was fetched, cannot be parsed, or do not have the rows,
        features, classes, finite values and split sizes that the registry states.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from data.dataset import Dataset
    >>> from data.registry import load_registry
    >>> from data.prepare import prepare
    >>> path = Path(tempfile.mkdtemp()) / "titanic.npz"
    >>> prepare(load_registry("config/datasets.yaml")["titanic-table"], None, path)
    >>> Dataset.load(path).X.shape
    (2201, 3)
    """
    # raw rows: generated, bundled, or from files
    where = f"data set {entry.name!r}"
    rows, classes, source_files = entry.rows, entry.classes, ""
    if entry.generator is not None:
        X, y = GENERATORS[entry.generator["name"]](entry.rows, entry.generator["seed"])
        origin, raw = "generated", RawTable(X, y.astype(np.float64))
    elif entry.bundled is not None:
        origin, raw = "bundled", RawTable(*load_bundled(entry.bundled))
    else:
        assert raw_dir is not None
        source, origin, paths = fetched_files(entry, raw_dir)
        rows, classes = source.rows, source.classes
        source_files = " ".join(f"{source.folder}/{file.name}" for file in source.files)
        raw = FORMATS[source.format].read(paths, entry.features, source.options, where)

    # labels of both parts, and checks
    X, y, extra = _labelled(entry, raw.X, raw.labels, raw.extra, where)
    _check(X, y, rows, entry.features, classes, where)
    X_test = y_test = None
    if entry.rows_test:
        assert raw.labels_test is not None
        X_test, y_test, _ = _labelled(entry, raw.X_test, raw.labels_test, {}, f"{where}, test part")
        _check(X_test, y_test, entry.rows_test, entry.features, entry.classes_test, f"{where}, test part")
    for key, column in extra.items():
        if not np.isfinite(column).all():
            raise ValueError(f"{where}: the column {key!r} holds a value that is not finite")

    # splits
    recipe, originals = entry.splits, raw.originals
    if recipe is not None and recipe.by is not None:
        originals = splits_by_value(extra[recipe.by], recipe.train_values, where)
    if recipe is not None and originals is not None:
        check_originals(originals, rows, recipe.train, recipe.test, where)
    Dataset(
        name=entry.name,
        X=standardise(X) if entry.standardise else X,
        y=y,
        X_test=X_test,
        y_test=y_test,
        source=origin,
        source_files=source_files,
        extra=extra,
        recipe=recipe,
        originals=originals,
    ).save(out)


def _labelled(
    entry: Entry, X: Matrix, labels: np.ndarray, extra: Mapping[str, np.ndarray], where: str
) -> tuple[Matrix, np.ndarray, dict[str, np.ndarray]]:
    """Labels mapped to -1/+1 (int8) and features float64, dense or CSR as the registry says."""
    keys = list(entry.labels)
    if isinstance(keys[0], float) and labels.dtype.kind == "U":
        try:
            labels = labels.astype(np.float64)
        except ValueError as error:
            raise ValueError(f"{where}: a label is not a number ({error})") from error
    y = np.zeros(len(labels), dtype=np.int8)
    for key, sign in entry.labels.items():
        y[labels == key] = sign
    if (unknown := labels[y == 0]).size and not entry.drop_other_labels:
        raise ValueError(
            f"{where}: unknown label {unknown[0].item()!r} in {unknown.size} rows (known: {keys})"
        )
    labelled = y != 0
    X = X[labelled]
    if entry.sparse:
        X = scipy.sparse.csr_matrix(X, dtype=np.float64)
        X.sort_indices()
    else:
        X = np.ascontiguousarray(X.toarray() if scipy.sparse.issparse(X) else X, dtype=np.float64)
    return X, y[labelled], {key: column[labelled] for key, column in extra.items()}


def _check(
    X: Matrix, y: np.ndarray, rows: int, features: int, classes: Mapping[int, int], where: str
) -> None:
    if len(y) != rows:
        raise ValueError(f"{where}: expected {rows} rows, found {len(y)}")
    if X.shape[1] != features:
        raise ValueError(f"{where}: expected {features} features, found {X.shape[1]}")
    if not np.isfinite(X.data if scipy.sparse.issparse(X) else X).all():
        raise ValueError(f"{where}: a feature holds a value that is not finite")
    counts = {sign: int((y == sign).sum()) for sign in (-1, 1)}
    if classes and counts != dict(classes):
        raise ValueError(f"{where}: expected {dict(classes)} rows of the classes, found {counts}")
