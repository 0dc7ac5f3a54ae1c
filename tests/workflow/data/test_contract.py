"""One contract for every data set of the registry, on the real files."""

import dataclasses
import hashlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
import yaml
from data.dataset import Dataset
from data.fetch import fetch
from data.prepare import prepare

REGISTRY = yaml.safe_load((Path(__file__).parents[3] / "config" / "datasets.yaml").read_text())

# Some seconds each: of these, only the raw files are checked here. mnist-3v8 stands for the digit pairs.
LARGE = {"forest", "mnist", "mnist-2v9", "mnist-1v7", "mnist-3v6", "mnist-0v8"}
# Splits that the mirror has; upstream benchmarks.mat has them all.
ORIGINALS = {
    **dict.fromkeys(["banana", "breast-cancer", "german", "heart", "ringnorm", "titanic", "waveform"], 10),
    **dict.fromkeys(["diabetis", "flare-solar", "splice", "thyroid"], 0),
    "image": 9,
    "twonorm": 1,
}


@pytest.mark.parametrize("name", REGISTRY)
def test_contract(name, registry, request, tmp_path):
    entry = registry[name]
    mirror = request.getfixturevalue("mirror") if entry.sources else None
    paths = fetch(entry, tmp_path / "raw", mirror=mirror)
    assert bool(paths) == bool(entry.sources) and all(path.is_file() for path in paths)
    stated = {file.name: file.bytes for source in entry.sources for file in source.files}
    assert all(path.stat().st_size == stated[path.name] for path in paths)
    if name in LARGE:
        return
    prepare(entry, tmp_path / "raw", tmp_path / f"{name}.npz")
    dataset = Dataset.load(tmp_path / f"{name}.npz")

    assert dataset.name == name
    assert dataset.source == ("mirror" if entry.sources else "bundled" if entry.bundled else "generated")
    parts = [(dataset.X, dataset.y, entry.rows)]
    if entry.rows_test:
        parts.append((dataset.X_test, dataset.y_test, entry.rows_test))
    for X, y, rows in parts:
        assert X.shape == (rows, entry.features) and X.dtype == np.float64
        assert scipy.sparse.issparse(X) == entry.sparse
        assert y.shape == (rows,) and y.dtype == np.int8 and set(y) == {-1, 1}
    if entry.classes:
        assert {sign: int((dataset.y == sign).sum()) for sign in (-1, 1)} == entry.classes
    for column in dataset.extra.values():
        assert column.shape == dataset.y.shape and np.isfinite(column).all()

    recipe = entry.splits
    for r in {1, 2, dataset.n_splits} if dataset.n_splits > 1 else {1}:
        X_train, y_train, X_test, y_test, split = dataset.realisation(r)
        both = np.concatenate([split.train, split.test])
        assert len(np.unique(both)) == len(both)
        assert X_train.shape[0] == len(y_train) == len(split.train)
        assert X_test.shape[0] == len(y_test) == len(split.test)
        assert set(y_train) == set(y_test) == {-1, 1}
        if recipe is not None:
            assert (len(split.train), len(split.test)) == (recipe.train, recipe.test)
            is_original = recipe.by is not None or r <= ORIGINALS.get(name, 0)
            assert split.origin == ("original" if is_original else "seeded")
            assert split.seed == (None if is_original else (recipe.seed, r))
    with pytest.raises(ValueError, match="has realisations 1 to"):
        dataset.split(dataset.n_splits + 1)


@pytest.mark.parametrize("name", ["breast-cancer", "titanic", "heart"])
def test_benchmarks_mat_gives_the_table_of_the_mirror(name, registry, mirror, tmp_path):
    """The real rows and splits, written as benchmarks.mat has them (distinct rows, numbers from 1)."""
    entry = registry[name]
    fetch(entry, tmp_path / "raw", mirror=mirror)
    prepare(entry, tmp_path / "raw", tmp_path / "table.npz")
    table = Dataset.load(tmp_path / "table.npz")

    rows = np.column_stack([table.X, table.y])
    distinct, number = np.unique(rows, axis=0, return_inverse=True)
    splits = [table.split(r) for r in range(1, 11)]
    ida, mat = entry.sources[0], tmp_path / "mirror" / "ida" / "benchmarks.mat"
    mat.parent.mkdir(parents=True)
    parts = {
        "x": distinct[:, :-1],
        "t": distinct[:, -1:],
        "train": np.array([number[split.train] + 1 for split in splits]),
        "test": np.array([number[split.test] + 1 for split in splits]),
    }
    scipy.io.savemat(mat, {ida.options["struct"]: parts})
    file = dataclasses.replace(ida.files[0], sha256=hashlib.sha256(mat.read_bytes()).hexdigest())
    entry = dataclasses.replace(entry, sources=(dataclasses.replace(ida, files=(file,)),))
    fetch(entry, tmp_path / "raw", mirror=mat.parents[1])
    prepare(entry, tmp_path / "raw", tmp_path / "mat.npz")
    dataset = Dataset.load(tmp_path / "mat.npz")

    assert dataset.sha256 == table.sha256 and dataset.source_files == "ida/benchmarks.mat"
    for r in range(1, 11):
        for part in (0, 2):
            assert np.array_equal(dataset.realisation(r)[part], table.realisation(r)[part])
        assert dataset.split(r).origin == "original"


def test_no_number_of_a_weight_column_is_a_feature(registry, mirror, tmp_path):
    for name, column in (("parkinson", "updrs"), ("bank-marketing", "duration")):
        fetch(registry[name], tmp_path / "raw", mirror=mirror)
        prepare(registry[name], tmp_path / "raw", tmp_path / f"{name}.npz")
        dataset = Dataset.load(tmp_path / f"{name}.npz")
        weights = dataset.extra[column]
        assert not any(np.array_equal(feature, weights) for feature in dataset.X.T)
        if name == "parkinson":
            assert (weights[dataset.y == -1] == 1).all() and (weights[dataset.y == 1] >= 5).all()
            subjects = dataset.extra["subject"]
            split = dataset.split(1)
            assert not set(subjects[split.train]) & set(subjects[split.test])


def test_the_training_rows_of_a1a_end_before_the_last_feature(registry, mirror, tmp_path):
    """d of the kernel of `config/paper.yaml` for Sarafis et al."""
    fetch(registry["a1a"], tmp_path / "raw", mirror=mirror)
    prepare(registry["a1a"], tmp_path / "raw", tmp_path / "a1a.npz")
    dataset = Dataset.load(tmp_path / "a1a.npz")
    last = [int(X.tocoo().col.max()) + 1 for X in (dataset.X, dataset.X_test)]
    paper = yaml.safe_load((Path(__file__).parents[3] / "config" / "paper.yaml").read_text())
    (entry,) = (e for e in paper["sarafis2018"]["class_weights"]["datasets"] if e["name"] == "a1a")
    assert last == [entry["features"], registry["a1a"].features] == [119, 123]
