"""The registry of data sets: what `config/datasets.yaml` may say, checked when it is loaded."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data.bundled import BUNDLED
from data.formats import FORMATS, count_features
from data.splits import SplitRecipe
from data.synthetic import GENERATORS
from data.yaml_file import read_yaml

SHA256 = re.compile(r"[0-9a-f]{64}")
MOST_BYTES = 2**28  # limit for a file whose size the registry does not state
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
# Of a data set: the wildcard of the rules, and a part of the names of cells.
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
MOST_NUMBER = 2**63 - 1  # what prepared files can hold


@dataclass(frozen=True)
class _Url:
    """An upstream address; `member` names the file inside a zip archive of at most `bytes`, if it is one."""

    address: str
    member: str | None = None
    bytes: int = MOST_BYTES


@dataclass(frozen=True)
class File:
    """One raw file of a source, with the hash of its decompressed content.

    Where upstream's content hash is not known but that of the gzip file is, `sha256_gz` stands instead of
    `sha256`. The content has at most `bytes`.
    """

    role: str
    name: str
    sha256: str | None
    sha256_gz: str | None
    urls: tuple[_Url, ...]
    bytes: int = MOST_BYTES


@dataclass(frozen=True)
class Source:
    """One way to get the whole data set: a folder of files and how to read them."""

    folder: str
    format: str
    files: tuple[File, ...]
    options: Mapping[str, Any]
    rows: int
    classes: Mapping[int, int]


@dataclass(frozen=True)
class Entry:
    """One data set of the registry.

    `sources` is empty when the data set is computed (`generator`) or comes with scikit-learn (`bundled`).
    `rows` and `classes` are those of the first source; a source may state its own. `labels` maps the labels
    in the files to -1/+1.
    """

    name: str
    title: str
    features: int
    rows: int
    classes: Mapping[int, int]
    labels: Mapping[str | float, int]
    licence: str
    citation: str
    notes: str = ""
    homepage: str = ""
    rows_test: int = 0
    classes_test: Mapping[int, int] = field(default_factory=dict)
    drop_other_labels: bool = False
    sparse: bool = False
    standardise: bool = False
    sources: tuple[Source, ...] = ()
    generator: Mapping[str, Any] | None = None
    bundled: str | None = None
    splits: SplitRecipe | None = None


class Registry(dict[str, Entry]):
    """Entries by name; an unknown name raises a `ValueError` that lists the known ones."""

    def __missing__(self, name: str) -> Entry:
        raise ValueError(f"unknown data set {name!r}; the registry has: {', '.join(sorted(self))}")


class _Reader:
    """A mapping read key by key; a key that is missing, of the wrong type or left over is an error."""

    def __init__(self, mapping: Any, where: str):
        if not isinstance(mapping, dict):
            raise ValueError(f"{where}: expected a mapping of keys, found {mapping!r}")
        self.left = dict(mapping)
        self.where = where

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        if key not in self.left:
            if default is ...:
                raise ValueError(f"{self.where}: the key {key!r} is missing")
            return default
        value = self.left.pop(key)
        # bool is a subclass of int, but `rows: true` is a mistake.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            name = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise ValueError(f"{self.where}: {key} must be of type {name}, found {value!r}")
        return value

    def positive(self, key: str, default: Any = ...) -> int:
        value = self.take(key, int, default)
        if value is not None and value > MOST_NUMBER:
            raise ValueError(f"{self.where}: {key} must be at most {MOST_NUMBER}, found {value}")
        if key in ("seed", "rows_test"):
            if value is not None and value < 0:
                raise ValueError(f"{self.where}: {key} must not be negative, found {value}")
        elif value < 1:
            raise ValueError(f"{self.where}: {key} must be at least 1, found {value}")
        return value

    def done(self) -> None:
        if self.left:
            unknown = ", ".join(repr(key) for key in self.left)
            raise ValueError(f"{self.where}: unknown key {unknown}")


def load_registry(path: str | Path) -> Registry:
    """Read and check a registry of data sets.

    Parameters
    ----------
    path : str or Path
        YAML file; its keys are documented at its head.

    Returns
    -------
    Registry
        Dict from name to `Entry`.

    Raises
    ------
    ValueError
        The file cannot be read, or an entry is not well formed; the sentence names the entry and the key.

    Examples
    --------
    >>> from data.registry import load_registry
    >>> registry = load_registry("config/datasets.yaml")
    >>> registry["heart"].rows
    270
    """
    path = Path(path)
    try:
        content = read_yaml(path)
    except OSError as error:
        raise ValueError(f"the registry {path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise ValueError(f"the registry {error}") from error
    if not isinstance(content, dict) or not content:
        raise ValueError(f"the registry {path} must be a mapping from data set names to entries")
    return Registry({name: _entry(name, value) for name, value in content.items()})


def _entry(name: Any, value: Any) -> Entry:
    where = f"data set {name!r} in the registry"
    if not isinstance(name, str):
        raise ValueError(f"{where}: YAML does not read the name as text; put it in quotes")
    if not NAME.fullmatch(name):
        raise ValueError(f"{where}: the name may hold lower-case letters, digits and '-' only")
    reader = _Reader(value, where)
    rows, rows_test = reader.positive("rows"), reader.positive("rows_test", 0)
    classes = _classes(reader, "classes", rows, {})
    entry = Entry(
        name=name,
        title=reader.take("title", str),
        features=reader.positive("features"),
        rows=rows,
        classes=classes,
        labels=_labels(reader),
        licence=reader.take("licence", str),
        citation=reader.take("citation", str),
        notes=reader.take("notes", str, ""),
        homepage=reader.take("homepage", str, ""),
        rows_test=rows_test,
        classes_test=_classes(reader, "classes_test", rows_test, {}),
        drop_other_labels=reader.take("drop_other_labels", bool, False),
        sparse=reader.take("sparse", bool, False),
        standardise=reader.take("standardise", bool, False),
        sources=tuple(
            _source(source, f"{where}, source {number}", rows, classes)
            for number, source in enumerate(reader.take("sources", list, []), start=1)
        ),
        generator=_generator(reader),
        bundled=reader.take("bundled", str, None),
        splits=_splits(reader, where),
    )
    reader.done()
    _check_where_from(entry, where)
    _check_splits(entry, where)
    return entry


def _check_where_from(entry: Entry, where: str) -> None:
    if entry.bundled is not None and entry.bundled not in BUNDLED:
        known = ", ".join(sorted(BUNDLED))
        raise ValueError(f"{where}: bundled must be one of {known}, found {entry.bundled!r}")
    if sum((bool(entry.sources), entry.generator is not None, entry.bundled is not None)) != 1:
        raise ValueError(f"{where}: exactly one of the keys 'sources', 'generator' and 'bundled' is needed")
    if entry.standardise and (entry.sparse or entry.rows_test):
        raise ValueError(f"{where}: 'standardise' excludes 'sparse' and 'rows_test'")
    for source in entry.sources:
        columns = source.options.get("features")
        if columns is not None and (count := count_features(columns)) != entry.features:
            raise ValueError(
                f"{where}: 'features' is {entry.features}, but the source {source.folder!r} lists {count}"
            )
        has_test = any(file.role.startswith("test_") for file in source.files)
        if has_test != bool(entry.rows_test):
            raise ValueError(f"{where}: 'rows_test' is {entry.rows_test} but the test files say otherwise")


def _check_splits(entry: Entry, where: str) -> None:
    recipe = entry.splits
    if (recipe is None) == (entry.rows_test == 0):
        raise ValueError(f"{where}: either 'splits' or a test part ('rows_test') is needed, and not both")
    if recipe is None:
        for source in entry.sources:
            if source.format == "mat" or any(file.role == "splits" for file in source.files):
                raise ValueError(f"{where}: the source {source.folder!r} has splits, but the entry has not")
        return
    rows = min([entry.rows, *(source.rows for source in entry.sources)])
    if recipe.train + recipe.test > rows:
        raise ValueError(
            f"{where}: splits of {recipe.train} + {recipe.test} rows cannot be drawn from {rows}"
        )
    if recipe.by is not None:
        extra = [source.options.get("extra", {}) for source in entry.sources]
        if not extra or not all(recipe.by in columns for columns in extra):
            raise ValueError(f"{where}: splits by {recipe.by!r} need it as an extra column of every source")


def _labels(reader: _Reader) -> dict[str | float, int]:
    labels = reader.take("labels", dict)
    signs = list(labels.values())
    if not all(type(sign) is int and sign in (-1, 1) for sign in signs) or len(set(signs)) < 2:
        raise ValueError(
            f"{reader.where}: labels must map the labels in the files to -1 and +1, found {labels!r}"
        )
    for key in labels:
        if isinstance(key, bool) or not isinstance(key, int | float | str):
            raise ValueError(f"{reader.where}: labels: YAML reads a label as {key!r}; put it in quotes")
        if isinstance(key, float) and not math.isfinite(key):
            raise ValueError(f"{reader.where}: the label {key!r} is not a number")
    if all(isinstance(key, int | float) for key in labels):
        return {float(key): value for key, value in labels.items()}
    return {str(key): value for key, value in labels.items()}


def _classes(reader: _Reader, key: str, rows: int, default: Mapping[int, int]) -> Mapping[int, int]:
    classes = reader.take(key, dict, default)
    counts = classes.values()
    if classes and (set(classes) != {-1, 1} or not all(type(count) is int and count > 0 for count in counts)):
        raise ValueError(
            f"{reader.where}: {key} must give the number of rows of -1 and of 1, found {classes!r}"
        )
    if classes and sum(classes.values()) != rows:
        raise ValueError(f"{reader.where}: {key} {classes!r} do not add up to {rows} rows")
    return classes


def _generator(reader: _Reader) -> dict[str, Any] | None:
    value = reader.take("generator", dict, None)
    if value is None:
        return None
    inner = _Reader(value, f"{reader.where}, generator")
    name = inner.take("name", str)
    if name not in GENERATORS:
        raise ValueError(
            f"{inner.where}: name must be one of {', '.join(sorted(GENERATORS))}, found {name!r}"
        )
    generator = {"name": name, "seed": inner.positive("seed")}
    inner.done()
    return generator


def _splits(reader: _Reader, where: str) -> SplitRecipe | None:
    value = reader.take("splits", dict, None)
    if value is None:
        return None
    inner = _Reader(value, f"{where}, splits")
    sizes = inner.positive("train"), inner.positive("test")
    if "by" in inner.left:
        recipe = SplitRecipe(*sizes, 1, None, inner.take("by", str), tuple(inner.take("train_values", list)))
    else:
        recipe = SplitRecipe(*sizes, inner.positive("realisations"), inner.positive("seed"))
    inner.done()
    return recipe


def _source(value: Any, where: str, rows: int, classes: Mapping[int, int]) -> Source:
    reader = _Reader(value, where)
    folder = _file_name(reader, "folder")
    format_name = reader.take("format", str)
    if format_name not in FORMATS:
        raise ValueError(
            f"{where}: format must be one of {', '.join(sorted(FORMATS))}, found {format_name!r}"
        )
    options = reader.take("options", dict, {})
    files = tuple(
        _file(str(role), file, f"{where}, file {role!r}") for role, file in reader.take("files", dict).items()
    )
    FORMATS[format_name].check({file.role for file in files}, options, where)
    own_rows = reader.positive("rows", rows)
    own_classes = _classes(reader, "classes", own_rows, classes if own_rows == rows else {})
    reader.done()
    return Source(folder, format_name, files, options, own_rows, own_classes)


def _file(role: str, value: Any, where: str) -> File:
    reader = _Reader(value, where)
    name = _file_name(reader, "name")
    hashes = {key: reader.take(key, str, None) for key in ("sha256", "sha256_gz")}
    given = [key for key, value in hashes.items() if value is not None]
    if len(given) != 1:
        raise ValueError(f"{where}: exactly one of the keys 'sha256' and 'sha256_gz' is needed")
    if not SHA256.fullmatch(hashes[given[0]]):
        raise ValueError(f"{where}: {given[0]} must be 64 hexadecimal digits, found {hashes[given[0]]!r}")
    urls = tuple(_url(url, where) for url in reader.take("urls", list, []))
    size = reader.positive("bytes", MOST_BYTES)
    reader.done()
    return File(role, name, hashes["sha256"], hashes["sha256_gz"], urls, size)


def _url(value: Any, where: str) -> _Url:
    if isinstance(value, dict):
        reader = _Reader(value, f"{where}, urls")
        url = _Url(reader.take("zip", str), reader.take("member", str), reader.positive("bytes", MOST_BYTES))
        reader.done()
    else:
        url = _Url(str(value))
    if not url.address.startswith(("https://", "http://")):
        raise ValueError(
            f"{where}: an address in urls must start with http:// or https://, found {url.address!r}"
        )
    return url


def _file_name(reader: _Reader, key: str) -> str:
    name = reader.take(key, str)
    if not FILE_NAME.fullmatch(name):
        raise ValueError(f"{reader.where}: {key} must be a plain file name, found {name!r}")
    return name
