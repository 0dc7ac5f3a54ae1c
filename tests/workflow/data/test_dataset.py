"""Prepared files: what is checked on the way, and what comes back."""

import hashlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from data.dataset import Dataset
from data.fetch import fetch
from data.prepare import prepare
from data.splits import Split


@pytest.fixture
def prepared(as_registry, small_set, tmp_path):
    """Prepare the small set with its entry and content changed, and load it."""

    def make(content=None, out="small.npz", **changes):
        entry = {**small_set[0], **changes}
        content = small_set[1] if content is None else content
        mirror = tmp_path / "mirror"
        (mirror / "small").mkdir(parents=True, exist_ok=True)
        (mirror / "small" / "small.csv").write_bytes(content)
        entry["sources"][0]["files"]["data"]["sha256"] = hashlib.sha256(content).hexdigest()
        entry = as_registry(small=entry)["small"]
        fetch(entry, tmp_path / "raw", mirror=mirror)
        prepare(entry, tmp_path / "raw", tmp_path / "out" / out)
        return Dataset.load(tmp_path / "out" / out)

    return make


def test_small_set(prepared, tmp_path):
    dataset = prepared()
    assert dataset.name == "small" and dataset.source == "mirror"
    assert dataset.X.dtype == np.float64 and dataset.X.tolist() == [[0.5, 1], [1.5, 2], [2.5, 3], [3.5, 4]]
    assert dataset.y.dtype == np.int8 and dataset.y.tolist() == [1, -1, 1, -1]
    assert dataset.X_test is None and dataset.y_test is None and dataset.n_splits == 3
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["small.npz"]


def test_realisation(prepared):
    dataset = prepared()
    X_train, y_train, X_test, y_test, split = dataset.realisation(2)
    assert isinstance(split, Split) and split.origin == "seeded" and split.seed == (5, 2)
    assert np.array_equal(X_train, dataset.X[split.train]) and np.array_equal(y_test, dataset.y[split.test])
    assert sorted([*split.train, *split.test]) == [0, 1, 2, 3]
    assert len(y_train) == 2 and X_test.shape == (2, 2)


@pytest.mark.parametrize("r", [0, 4, -1, 1.0, "1", True])
def test_realisation_out_of_range(prepared, r):
    with pytest.raises(ValueError, match=f"data set 'small' has realisations 1 to 3, not {r!r}"):
        prepared().split(r)


def test_same_content_gives_the_same_bytes(prepared, tmp_path):
    first, second = prepared(out="a.npz"), prepared(out="b.npz")
    assert first.sha256 == second.sha256
    assert (tmp_path / "out" / "a.npz").read_bytes() == (tmp_path / "out" / "b.npz").read_bytes()


def test_hash_follows_the_content(prepared):
    base = prepared()
    assert prepared(labels={"a": -1, "b": 1}).sha256 != base.sha256
    assert prepared(standardise=True).sha256 != base.sha256
    assert prepared(title="Other").sha256 == base.sha256


def test_sparse(prepared, tmp_path):
    dataset = prepared(sparse=True)
    assert scipy.sparse.isspmatrix_csr(dataset.X) and dataset.X.dtype == np.float64
    assert np.array_equal(dataset.X.toarray(), prepared().X)
    X_train, *_, split = dataset.realisation(1)
    assert np.array_equal(X_train.toarray(), dataset.X.toarray()[split.train])


def test_rows_with_other_labels_can_be_left_out(prepared):
    content = b"1,2,a\n3,4,c\n5,6,b\n"
    options = {
        "rows": 2,
        "classes": {-1: 1, 1: 1},
        "splits": {"train": 1, "test": 1, "realisations": 1, "seed": 0},
    }
    dataset = prepared(content, drop_other_labels=True, **options)
    assert dataset.X.tolist() == [[1, 2], [5, 6]] and dataset.y.tolist() == [1, -1]
    with pytest.raises(ValueError, match=r"'small': unknown label 'c' in 1 rows \(known: \['a', 'b'\]\)"):
        prepared(content, **options)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"1,2,a\n3,4,b\n5,6,b\n", "expected 4 rows, found 3"),
        (b"1,a\n2,b\n3,a\n4,b\n", "expected 2 features, found 1"),
        (b"1,2,a\n3,nan,b\n5,6,a\n7,8,b\n", "a feature holds a value that is not finite"),
        (b"1,2,a\n3,inf,b\n5,6,a\n7,8,b\n", "a feature holds a value that is not finite"),
        (
            b"1,2,a\n3,4,b\n5,6,a\n7,8,a\n",
            r"expected \{-1: 2, 1: 2\} rows of the classes, found \{-1: 1, 1: 3\}",
        ),
        (b"1,2,a\n3,4,b\n5,x,a\n7,8,b\n", "not a number"),
    ],
)
def test_content_that_is_not_what_the_registry_says(prepared, tmp_path, content, sentence):
    with pytest.raises(ValueError, match=f"data set 'small'.*{sentence}"):
        prepared(content)
    assert not list((tmp_path / "out").glob("*")) if (tmp_path / "out").exists() else True


def test_text_where_labels_are_numbers(prepared):
    with pytest.raises(ValueError, match="'small': a label is not a number"):
        prepared(labels={1: 1, 2: -1})


def test_split_by_a_column(prepared, small_set):
    small_set[0]["sources"][0]["options"] |= {"extra": {"who": 1}, "features": [0, 1]}
    dataset = prepared(splits={"train": 2, "test": 2, "by": "who", "train_values": [1, 4]})
    split = dataset.split(1)
    assert dataset.n_splits == 1 and split.origin == "original" and split.seed is None
    assert split.train.tolist() == [0, 3] and split.test.tolist() == [1, 2]
    assert dataset.extra["who"].tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="1 splits of 2 training rows"):
        prepared(splits={"train": 2, "test": 2, "by": "who", "train_values": [1]})


def test_own_test_part(as_registry, small_set, tmp_path):
    entry, content = small_set
    del entry["splits"]
    entry |= {"rows_test": 2, "classes_test": {-1: 1, 1: 1}}
    test_content = b"9,8,b\n7,6,a\n"
    folder = tmp_path / "mirror" / "small"
    folder.mkdir(parents=True)
    (folder / "small.csv").write_bytes(content)
    (folder / "test.csv").write_bytes(test_content)
    sha256 = hashlib.sha256(test_content).hexdigest()
    entry["sources"][0]["files"]["test_data"] = {"name": "test.csv", "sha256": sha256}
    entry = as_registry(small=entry)["small"]
    fetch(entry, tmp_path / "raw", mirror=tmp_path / "mirror")
    prepare(entry, tmp_path / "raw", tmp_path / "small.npz")
    dataset = Dataset.load(tmp_path / "small.npz")
    X_train, _, X_test, y_test, split = dataset.realisation(1)
    assert dataset.n_splits == 1 and split.origin == "original"
    assert split.train.tolist() == [0, 1, 2, 3] and split.test.tolist() == [4, 5]
    assert X_train is dataset.X and X_test.tolist() == [[9, 8], [7, 6]] and y_test.tolist() == [-1, 1]


@pytest.mark.parametrize("distinct", [False, True])
def test_benchmarks_mat_gives_every_original_split(registry, as_registry, tmp_path, distinct):
    """An IDA-like set in a benchmarks.mat, with repeated rows stored once or every row stored."""
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    named = np.array([[1, 2, 2, 3, 1], [2, 3, 1, 1, 2]])
    if not distinct:
        x, named = x[named[0] - 1], np.array([[1, 2, 3, 4, 5], [2, 4, 1, 5, 3]])
    t = np.where(x[:, :1] == 3, -1.0, 1.0)
    path = tmp_path / "mirror" / "ida" / "benchmarks.mat"
    path.parent.mkdir(parents=True)
    scipy.io.savemat(path, {"small_set": {"x": x, "t": t, "train": named[:, :3], "test": named[:, 3:]}})
    source = {
        "folder": "ida",
        "format": "mat",
        "options": {"struct": "small_set"},
        "files": {"data": {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}},
    }
    common = {"title": "t", "licence": "l", "citation": "c", "features": 2, "labels": {-1: -1, 1: 1}}
    splits = {"train": 3, "test": 2, "realisations": 3, "seed": 1}
    entry = as_registry(
        small={**common, "rows": 5, "classes": {-1: 2, 1: 3}, "splits": splits, "sources": [source]}
    )
    fetch(entry["small"], tmp_path / "raw", mirror=tmp_path / "mirror")
    prepare(entry["small"], tmp_path / "raw", tmp_path / "small.npz")
    dataset = Dataset.load(tmp_path / "small.npz")
    assert dataset.X.tolist() == [[1, 2], [3, 4], [3, 4], [5, 6], [1, 2]] and dataset.y.tolist() == [
        1,
        -1,
        -1,
        1,
        1,
    ]
    assert [dataset.split(r).origin for r in (1, 2, 3)] == ["original", "original", "seeded"]
    assert dataset.split(1).train.tolist() == [0, 1, 2]
    assert dataset.X[dataset.split(2).train, 0].tolist() == [3, 5, 1]
    for r in (1, 2, 3):
        assert sorted([*dataset.split(r).train, *dataset.split(r).test]) == [0, 1, 2, 3, 4]


def test_load_what_is_not_a_prepared_set(prepared, tmp_path):
    with pytest.raises(ValueError, match=r"no prepared data set at .*none\.npz"):
        Dataset.load(tmp_path / "none.npz")
    prepared()
    good = (tmp_path / "out" / "small.npz").read_bytes()
    np.savez(tmp_path / "other.npz", a=np.eye(2))
    np.save(tmp_path / "array.npy", np.eye(2))
    # objects are pickles, which could run anything
    np.savez(tmp_path / "pickled.npz", name="small", y=np.array([{}], dtype=object), X=np.eye(2))
    (tmp_path / "cut.npz").write_bytes(good[:-40])
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "text.npz").write_bytes(b"<html>")
    (tmp_path / "hit.npz").write_bytes(good[:120] + b"\xff\xff\xff\xff" + good[124:])
    for name in ("other.npz", "array.npy", "pickled.npz", "cut.npz", "empty.npz", "text.npz", "hit.npz"):
        with pytest.raises(ValueError, match=f"{name} is (not a prepared data set|damaged)"):
            Dataset.load(tmp_path / name)


def test_content_with_another_hash_is_refused(prepared, tmp_path):
    prepared()
    path = tmp_path / "out" / "small.npz"
    with np.load(path) as file:
        arrays = dict(file)
    arrays["X"] = arrays["X"] + 1
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="is damaged: its content has the hash"):
        Dataset.load(path)


@pytest.mark.parametrize(
    ("member", "value", "sentence"),
    [
        (
            "X.indices",
            [50_000_000, 1, 0],
            "X of data set 'small' is not a valid .*: column 50000000 of 2",
        ),
        ("X.indices", [-1, 1, 0], "column -1 of 2"),
        ("X.indices", [0, 1], "same size"),
        ("X.indptr", [0, 9, 1, 3, 3], "the pointer of row 2 is smaller"),
        ("X.indptr", [0, 1, 2, 3, 10**6], "index pointer|pointer is"),
        ("X.shape", [9, 2], "index pointer size 5 should be 10"),
        ("X.shape", [4, 2, 2], "shape"),
        ("y", [1, -1], r"a label for each row of X, got arrays of shape \(4, 2\) and \(2,\)"),
    ],
)
def test_sparse_members_of_a_file_are_checked(tmp_path, member, value, sentence):
    """Such a file can have the hash of its own content: that it is one file does not make it sound."""
    X = scipy.sparse.csr_matrix(([1.0, 2.0, 3.0], [0, 1, 0], [0, 1, 2, 3, 3]), shape=(4, 2))
    Dataset("small", X, np.array([1, -1, 1, -1], np.int8), None, None, "mirror").save(tmp_path / "small.npz")
    with np.load(tmp_path / "small.npz") as file:
        arrays = dict(file)
    arrays[member] = np.array(value, dtype=arrays[member].dtype)
    np.savez(tmp_path / "changed.npz", **arrays)
    with pytest.raises(ValueError, match=rf"changed\.npz is not a prepared data set.*({sentence})"):
        Dataset.load(tmp_path / "changed.npz")


def test_indices_of_64_bits_are_saved_as_what_they_are(tmp_path):
    X = scipy.sparse.csr_matrix(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2))
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    narrow, wide = (Dataset("d", rows, np.array([1, -1]), None, None, "mirror") for rows in (X, wide))
    assert wide.sha256 == narrow.sha256
    wide.save(tmp_path / "wide.npz")
    assert np.array_equal(Dataset.load(tmp_path / "wide.npz").X.toarray(), X.toarray())


def test_a_failed_write_leaves_nothing(prepared, monkeypatch, tmp_path):
    def broken(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr("data.dataset.np.savez_compressed", broken)
    with pytest.raises(OSError, match="disk full"):
        prepared()
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("part", ["X", "X_test"])
def test_a_broken_sparse_matrix_is_one_sentence(part):
    X = scipy.sparse.csr_matrix(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2))
    broken = X.copy()
    broken.indices[1] = 44
    parts = {"X": X, "X_test": X, part: broken}
    y = np.array([1, -1])
    with pytest.raises(ValueError, match=rf"{part} of data set 'd' is not a valid sparse matrix"):
        Dataset("d", parts["X"], y, parts["X_test"], y, "mirror")
