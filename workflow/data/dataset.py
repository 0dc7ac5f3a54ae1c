"""A prepared data set: one .npz file with rows, labels, splits and where they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from svmselect.atomic import replacing
from svmselect.csr import as_csr

from data.splits import OriginalSplits, Split, SplitRecipe, seeded_split

Matrix: TypeAlias = np.ndarray | scipy.sparse.csr_matrix


@dataclass(frozen=True)
class Dataset:
    """A two-class data set, ready to use.

    Attributes
    ----------
    name : str
    X : ndarray (m, d) float64, or CSR matrix float64
    y : ndarray (m,) int8
        -1 or +1.
    X_test, y_test : as X and y, or None
        The data set's own test part, where it has one.
    extra : dict from str to ndarray (m,) float64
        Columns that are not features (subject numbers, scores for weights).
    source : {"mirror", "upstream", "bundled", "generated"}
        Where the raw files came from.
    source_files : str
        The raw files, as "folder/name folder/name"; empty for bundled and generated sets.
    recipe : SplitRecipe or None
    originals : OriginalSplits or None

    Raises
    ------
    ValueError
        Sparse rows are not a valid matrix, or there are other numbers of rows and labels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from data.dataset import Dataset
    >>> from data.registry import load_registry
    >>> from data.prepare import prepare
    >>> path = Path(tempfile.mkdtemp()) / "titanic-table.npz"
    >>> prepare(load_registry("config/datasets.yaml")["titanic-table"], None, path)
    >>> data = Dataset.load(path)
    >>> data.name, data.X.shape
    ('titanic-table', (2201, 3))
    """

    name: str
    X: Matrix
    y: np.ndarray
    X_test: Matrix | None
    y_test: np.ndarray | None
    source: str
    source_files: str = ""
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)
    recipe: SplitRecipe | None = None
    originals: OriginalSplits | None = None
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        for key, labels in (("X", self.y), ("X_test", self.y_test)):
            X = getattr(self, key)
            if (X is None) != (labels is None):
                raise ValueError(
                    f"data set {self.name!r} must have rows and labels, {key} or its labels are missing"
                )
            if X is None or labels is None:
                continue
            if scipy.sparse.issparse(X):
                X = as_csr(X, f"{key} of data set {self.name!r}")
                object.__setattr__(self, key, X)
            if X.ndim != 2 or labels.shape != X.shape[:1]:
                raise ValueError(
                    f"data set {self.name!r} must have a label for each row of {key}, got arrays of shape "
                    f"{X.shape} and {labels.shape}"
                )
        object.__setattr__(self, "sha256", _content_hash(self))

    @property
    def n_splits(self) -> int:
        """Number of realisations; 1 (X, X_test) where the data set has a test part of its own."""
        return 1 if self.recipe is None else self.recipe.realisations

    def split(self, r: int) -> Split:
        """Rows of realisation `r`.

        Parameters
        ----------
        r : int
            1 to `n_splits`.

        Returns
        -------
        Split
            The published split where the data set has it, else a draw of the same sizes (`seeded_split`). For
            a data set with a test part of its own: all rows of X, and the rows of X_test counted on from m.

        Raises
        ------
        ValueError
            `r` is not a realisation of this data set.
        """
        if isinstance(r, bool) or not isinstance(r, int | np.integer) or not 1 <= r <= self.n_splits:
            raise ValueError(f"data set {self.name!r} has realisations 1 to {self.n_splits}, not {r!r}")
        m = len(self.y)
        if self.recipe is None:
            assert self.y_test is not None
            return Split(np.arange(m), np.arange(m, m + len(self.y_test)), "original", None)
        if self.originals is not None and r in self.originals.numbers:
            k = int(np.flatnonzero(self.originals.numbers == r)[0])
            return Split(self.originals.train[k].copy(), self.originals.test[k].copy(), "original", None)
        assert self.recipe.seed is not None
        return seeded_split(m, self.recipe.train, self.recipe.test, self.recipe.seed, int(r))

    def realisation(self, r: int) -> tuple[Matrix, np.ndarray, Matrix | None, np.ndarray | None, Split]:
        """Training and test part of realisation `r`: X_train, y_train, X_test, y_test and the `Split`.

        Raises a `ValueError` as `split` does.
        """
        split = self.split(r)
        if self.recipe is None:
            return self.X, self.y, self.X_test, self.y_test, split
        return self.X[split.train], self.y[split.train], self.X[split.test], self.y[split.test], split

    def save(self, path: str | Path) -> None:
        """Write the data set to one .npz file; a temporary file is moved into place when it is complete."""
        arrays: dict[str, Any] = {
            "name": self.name,
            "source": self.source,
            "source_files": self.source_files,
            "sha256": self.sha256,
            "y": self.y,
            **_parts("X", self.X),
        }
        if self.X_test is not None:
            arrays |= {"y_test": self.y_test, **_parts("X_test", self.X_test)}
        arrays |= {f"extra.{key}": column for key, column in self.extra.items()}
        if self.recipe is not None:
            seed = -1 if self.recipe.seed is None else self.recipe.seed
            arrays["recipe"] = np.array([self.recipe.train, self.recipe.test, self.recipe.realisations, seed])
        if self.originals is not None:
            for key in ("numbers", "train", "test"):
                arrays[f"originals.{key}"] = getattr(self.originals, key).astype(np.int32)
        with replacing(Path(path)) as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Dataset:
        """Read a prepared data set.

        Raises
        ------
        ValueError
            The file is not there, is not a prepared data set, or its content does not have the recorded hash.
        """
        path = Path(path)
        if not path.is_file():
            raise ValueError(f"no prepared data set at {path}")
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
            dataset = cls(
                name=str(arrays["name"]),
                X=_matrix("X", arrays),
                y=arrays["y"],
                X_test=_matrix("X_test", arrays) if "y_test" in arrays else None,
                y_test=arrays.get("y_test"),
                source=str(arrays["source"]),
                source_files=str(arrays["source_files"]),
                extra={key.removeprefix("extra."): arrays[key] for key in arrays if key.startswith("extra.")},
                recipe=_recipe(arrays.get("recipe")),
                originals=_originals(arrays),
            )
            if arrays["sha256"].ndim:
                raise ValueError(f"sha256 is an array of shape {arrays['sha256'].shape}")
            recorded = str(arrays["sha256"])
        except Exception as error:  # a damaged archive has no one kind of error
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"{path} is not a prepared data set ({reason})") from error
        if dataset.sha256 != recorded:
            raise ValueError(f"{path} is damaged: its content has the hash {dataset.sha256}, not {recorded}")
        return dataset


def _parts(key: str, X: Any) -> dict[str, np.ndarray]:
    if scipy.sparse.issparse(X):
        return {
            f"{key}.data": X.data,
            f"{key}.indices": X.indices,
            f"{key}.indptr": X.indptr,
            f"{key}.shape": np.array(X.shape),
        }
    return {key: X}


def _matrix(key: str, arrays: Mapping[str, np.ndarray]) -> Matrix:
    if key in arrays:
        return arrays[key]
    parts = tuple(arrays[f"{key}.{part}"] for part in ("data", "indices", "indptr"))
    return scipy.sparse.csr_matrix(parts, shape=tuple(arrays[f"{key}.shape"].tolist()))


def _recipe(numbers: np.ndarray | None) -> SplitRecipe | None:
    if numbers is None:
        return None
    train, test, realisations, seed = numbers.tolist()
    return SplitRecipe(train, test, realisations, None if seed < 0 else seed)


def _originals(arrays: Mapping[str, np.ndarray]) -> OriginalSplits | None:
    if "originals.numbers" not in arrays:
        return None
    return OriginalSplits(
        *(arrays[f"originals.{key}"].astype(np.int64) for key in ("numbers", "train", "test"))
    )


def _content_hash(dataset: Dataset) -> str:
    """Sha256 of X, y, X_test, y_test and the extra columns, with their names, types and shapes."""
    digest = hashlib.sha256()
    arrays = {**_parts("X", dataset.X), "y": dataset.y}
    if dataset.X_test is not None and dataset.y_test is not None:
        arrays |= {**_parts("X_test", dataset.X_test), "y_test": dataset.y_test}
    arrays |= {f"extra.{key}": column for key, column in dataset.extra.items()}
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        if array.dtype.kind == "i" and array.dtype.itemsize > 1:
            array = array.astype(np.int64)  # CSR index types differ between SciPy versions
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(f"{key} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
