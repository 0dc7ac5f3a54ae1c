"""Readers: round trips, and garbage that must end in one sentence."""

import json
import struct

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from data.formats import FORMATS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import dump_svmlight_file

SAME_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=numbers)


def read(name, paths, n_features=1, /, **options):
    return FORMATS[name].read(paths, n_features, options, "place")


def written(folder, **contents):
    paths = {}
    for role, content in contents.items():
        paths[role] = folder / f"{role}.raw"
        paths[role].write_bytes(content if isinstance(content, bytes) else content.encode())
    return paths


def expect_sentence(name, paths, n_features=1, /, **options):
    """Reading either works or raises a ValueError of one line that names the place."""
    try:
        return read(name, paths, n_features, **options)
    except ValueError as error:
        assert str(error).startswith("place, file ") and "\n" not in str(error)
        return None


@SAME_FOLDER
@given(tables, st.data())
def test_libsvm_round_trip(tmp_path, X, data):
    y = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(X), max_size=len(X))))
    path = tmp_path / "data"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    raw = read("libsvm", {"data": path, "test_data": path}, X.shape[1])
    assert scipy.sparse.issparse(raw.X) and np.allclose(raw.X.toarray(), X, rtol=1e-12)
    assert raw.labels.tolist() == raw.labels_test.tolist() == y.tolist()


@SAME_FOLDER
@given(tables)
def test_table_round_trip(tmp_path, X):
    text = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    raw = read("table", written(tmp_path, data=text, labels="\n".join(["1"] * len(X))), delimiter=",")
    assert np.array_equal(raw.X, X) and raw.labels.tolist() == [1.0] * len(X)
    last = read("table", written(tmp_path, data="1 2 3\r\n4 5 6 \r\n"))
    assert last.X.tolist() == [[1, 2], [4, 5]] and last.labels.tolist() == [3, 6]


@SAME_FOLDER
@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))))
def test_idx_round_trip(tmp_path, images):
    paths = idx_files(tmp_path, images, np.arange(len(images), dtype=np.uint8))
    raw = read("idx", paths)
    assert np.array_equal(raw.X, images.reshape(len(images), -1))
    assert raw.labels.tolist() == list(range(len(images)))


def idx_files(folder, images, labels):
    def content(array):
        return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()

    return written(folder, data=content(images), labels=content(labels))


def write_mat(path, dtype=np.float64, **sets):
    scipy.io.savemat(
        path, {name: {key: np.asarray(value, dtype) for key, value in s.items()} for name, s in sets.items()}
    )


@pytest.mark.parametrize("dtype", [np.float64, np.uint16])
def test_mat(tmp_path, dtype):
    """Three distinct rows stored once; the table has five, in the order of the first split."""
    path = tmp_path / "benchmarks.mat"
    small = {
        "x": [[1, 2], [3, 4], [5, 6]],
        "t": [[1], [2], [1]],
        "train": [[3, 1, 1], [2, 1, 3]],
        "test": [[2, 2], [1, 2]],
    }
    write_mat(path, dtype, small=small, other={"x": [[0]]})
    raw = read("mat", {"data": path}, struct="small")
    assert raw.X.tolist() == [[5, 6], [1, 2], [1, 2], [3, 4], [3, 4]]
    assert raw.labels.tolist() == [1, 1, 1, 2, 2]
    assert raw.originals.numbers.tolist() == [1, 2]
    assert raw.X[raw.originals.train[1]].tolist() == [[3, 4], [1, 2], [5, 6]]
    assert raw.X[raw.originals.test[1]].tolist() == [[1, 2], [3, 4]]


GOOD = {"x": [[1, 2], [3, 4]], "t": [[1], [-1]], "train": [[1]], "test": [[2]]}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"train": [[0]]}, "train must hold row numbers from 1 to 2"),
        ({"test": [[3]]}, "test must hold row numbers from 1 to 2"),
        ({"test": [[1.5]]}, "test must hold row numbers from 1 to 2"),
        ({"test": [[np.nan]]}, "test must hold row numbers from 1 to 2"),
        ({"t": [[1]]}, "the shapes do not fit"),
        ({"train": [[1], [1]]}, "the shapes do not fit"),
        ({"train": [[1], [1]], "test": [[2], [1]]}, "split 2 does not hold the same rows"),
        ({"train": None}, "not a structure with the fields"),
    ],
)
def test_wrong_mat(tmp_path, change, sentence):
    path = tmp_path / "benchmarks.mat"
    write_mat(path, small={key: value for key, value in {**GOOD, **change}.items() if value is not None})
    with pytest.raises(ValueError, match=f"place, file benchmarks.mat, structure 'small': .*{sentence}"):
        read("mat", {"data": path}, struct="small")


def changed(content, position, value):
    """The bytes with a 32-bit number in one place."""
    return content[:position] + struct.pack("<I", value) + content[position + 4 :]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (8, "an element of type 8"),
        (14, "an element of type 14"),
        (99, "an element of type 99"),
    ],
)
def test_mat_with_an_unknown_type(tmp_path, value, sentence):
    """SciPy takes the process down with it."""
    path = tmp_path / "benchmarks.mat"
    scipy.io.savemat(path, {"small": {"x": np.full((2, 2), 0.5)}}, do_compression=False)
    content = path.read_bytes()
    position = content.index(struct.pack("<II", 9, 32))  # float64, four of them
    path.write_bytes(changed(content, position, value))
    with pytest.raises(ValueError, match=rf"^place, file benchmarks\.mat: not a MATLAB file .*{sentence}"):
        read("mat", {"data": path}, struct="small")


@pytest.mark.parametrize("compressed", [False, True])
def test_mat_cut_off_anywhere(tmp_path, compressed):
    path = tmp_path / "benchmarks.mat"
    scipy.io.savemat(
        path, {"small": {key: np.array(value) for key, value in GOOD.items()}}, do_compression=compressed
    )
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"^place, file benchmarks\.mat"):
            read("mat", {"data": path}, struct="small")


def test_mat_without_the_structure(tmp_path):
    path = tmp_path / "benchmarks.mat"
    write_mat(path, small=GOOD)
    scipy.io.savemat(tmp_path / "plain.mat", {"small": np.eye(2)})
    for file, name in ((path, "large"), (tmp_path / "plain.mat", "small")):
        with pytest.raises(ValueError, match="not a structure with the fields"):
            read("mat", {"data": file}, struct=name)


def test_columns_by_name_and_value(tmp_path):
    text = '"age";"loan";"long, name";"y"\n30;"yes";1.5;"no"\n40;"unknown";2.5;"yes"\n'
    paths = written(tmp_path, data=text)
    features = ["age", {"column": "loan", "equals": "yes"}]
    options = {"delimiter": ";", "header": True, "label": "y", "extra": {"score": "long, name"}}
    raw = read("table", paths, 2, features=features, **options)
    assert raw.X.tolist() == [[30, 1], [40, 0]] and raw.labels.tolist() == ["no", "yes"]
    assert raw.extra["score"].tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match=r"no column 'sex' \(found \['age', 'loan', 'long, name', 'y'\]\)"):
        read("table", paths, 1, features=["sex"], **options)
    with pytest.raises(ValueError, match="column 'loan': not a number"):
        read("table", paths, 1, features=["loan"], **options)


def test_columns_by_number_and_missing_values(tmp_path):
    paths = written(tmp_path, data="7,1,2,3,a\n8,?,2,3,b\n9,4,5,6,b\n")
    raw = read("table", paths, 2, delimiter=",", missing="?", features=["1-2", -2], extra={"id": 0})
    assert raw.X.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert raw.labels.tolist() == ["a", "b"] and raw.extra["id"].tolist() == [7, 9]
    with pytest.raises(ValueError, match="no column 9, the table has 5"):
        read("table", paths, 2, delimiter=",", missing="?", features=[9])


@pytest.mark.parametrize(
    ("name", "contents", "sentence"),
    [
        ("libsvm", {"data": "+1 3:1\n"}, "data.raw: not LIBSVM text"),
        ("libsvm", {"data": "+1 0:1\n"}, "data.raw: not LIBSVM text"),
        ("libsvm", {"data": "+1 1:1\n", "test_data": "x"}, "test_data.raw: not LIBSVM text"),
        ("table", {"data": ""}, "data.raw: not a table of numbers"),
        ("table", {"data": "1 2\n3\n"}, "data.raw: not a table of numbers"),
        ("table", {"data": "1 b\n"}, "data.raw: not a table of numbers"),
        ("table", {"data": "1 2\n3 4\n", "labels": "1\n"}, "labels.raw: expected 2 x 1 labels, found 1 x 1"),
        ("table", {"data": "1 2\n", "labels": "1\n", "splits": "x"}, "splits.raw: not a file of splits"),
        ("idx", {"data": "", "labels": ""}, "data.raw: not an IDX file"),
        (
            "idx",
            {"data": b"\x00\x00\x08\x01\x00\x00\x00\x09x", "labels": ""},
            r"the header says \(9,\) bytes, found 1",
        ),
        ("mat", {"data": "MATLAB"}, "data.raw: not a MATLAB file"),
    ],
)
def test_malformed(tmp_path, name, contents, sentence):
    with pytest.raises(ValueError, match=f"^place, file .*{sentence}"):
        read(name, written(tmp_path, **contents), 2, **({"struct": "x"} if name == "mat" else {}))


def test_idx_with_other_numbers_of_images_and_labels(tmp_path):
    paths = idx_files(tmp_path, np.zeros((2, 1, 1), np.uint8), np.zeros(3, np.uint8))
    with pytest.raises(ValueError, match=r"labels\.raw: expected 2 labels"):
        read("idx", paths)


text = st.text('0123456789.:,;+-eE \t\r\n"?#abnif\x00é', max_size=60).map(str.encode)
garbage = st.one_of(st.binary(max_size=80), text)


@SAME_FOLDER
@given(garbage, garbage)
def test_garbage_never_escapes(tmp_path, content, labels):
    paths = written(tmp_path, data=content)
    expect_sentence("libsvm", paths, 3)
    expect_sentence("table", paths, 3)
    expect_sentence("table", paths, 3, delimiter=",", missing="?", features=["0-1"], extra={"id": 0})
    expect_sentence("table", paths, 3, delimiter=";", header=True, label="a")
    expect_sentence("mat", paths, 3, struct="small")
    both = written(tmp_path, data=content, labels=labels, splits=content)
    expect_sentence("table", both, 3)
    expect_sentence("idx", both, 3)


@SAME_FOLDER
@given(st.data())
def test_damaged_files_never_escape(tmp_path, data):
    """A good file with some bytes changed, or cut."""
    write_mat(tmp_path / "good.mat", small=GOOD)
    good = {
        "mat": (tmp_path / "good.mat").read_bytes(),
        "libsvm": b"+1 1:0.5 3:1\n-1 2:3 # note\n",
        "table": b"1.5 2.5 1\n2 3 -1\n",
        "idx": bytes([0, 0, 8, 1, 0, 0, 0, 2, 5, 6]),
        "csv": b'"age";"loan";"y"\n30;"yes";"no"\n40;"unknown";"yes"\n',
        "asc": b" 1.5000000e+00  2.5 -1\n-2.0e-01 3 1\n",
    }
    options = {
        "mat": {"struct": "small"},
        "csv": {"delimiter": ";", "header": True, "label": "y", "features": ["age"], "missing": "unknown"},
    }
    name = data.draw(st.sampled_from(sorted(good)))
    content = bytearray(good[name])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(content[: data.draw(st.integers(0, len(content)))])
    paths = (
        written(tmp_path, data=content, labels=content) if name == "idx" else written(tmp_path, data=content)
    )
    reader = {"csv": "table", "asc": "table"}.get(name, name)
    raw = expect_sentence(reader, paths, 3, **options.get(name, {}))
    if raw is not None:
        assert raw.X.ndim == 2 and raw.X.shape[0] == len(raw.labels) and raw.X.dtype.kind in "fu"


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        # headers and indices that would take all memory if they were believed
        ("idx", {"data": b"\x00\x00\x08\x04" + b"\xff" * 16, "labels": b"\x00\x00\x08\x01\xff\xff\xff\xff"}),
        ("idx", {"data": b"\x00\x00\x08\xff" + b"\x00\x00\x00\x01" * 255, "labels": b""}),
        ("libsvm", {"data": "+1 4294967297:1\n"}),
        ("libsvm", {"data": "+1 99999999999999999999:1\n"}),
        ("libsvm", {"data": "+1 -1:1\n"}),
        ("table", {"data": "[" * 5000, "labels": "1\n", "splits": "[" * 100000}),
        (
            "mat",
            {"data": b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"\x0e\x00\x00\x00\xff\xff\xff\x7f"},
        ),
    ],
)
def test_forged_sizes_take_neither_time_nor_memory(tmp_path, name, contents):
    options = {"struct": "small"} if name == "mat" else {}
    assert expect_sentence(name, written(tmp_path, **contents), 3, **options) is None


@SAME_FOLDER
@given(
    st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3))
)
def test_odd_splits_never_escape(tmp_path, value):
    content = json.dumps({"numbers": value, "train": value, "test": value})
    expect_sentence("table", written(tmp_path, data="1\n", labels="1\n", splits=content))


TEXT = {"delimiter": ",", "header": True}


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ("a,b,y\n1,2,yes\n3,4,no\n\n", TEXT),
        ("a,b,y\n\n1,2,yes\n\n3,4,no\n", TEXT),
        ("a,b,y\n1, 2, yes\n3, 4, no\n", TEXT),
        ("a,b,y\n1,2,yes \n3,4,no\t\n", TEXT),
        ("\ufeffa,b,y\n1,2,yes\n3,4,no\n", {**TEXT, "features": ["a", "b"]}),
        ("\ufeffa,b,y\r\n1,2,yes\r\n3,4,no\r\n\r\n", {**TEXT, "features": ["a", "b"]}),
    ],
    ids=["blank line at the end", "blank lines", "blanks after commas", "blanks at ends", "BOM", "Windows"],
)
def test_what_other_programs_write_around_values_is_no_value(tmp_path, data, options):
    raw = read("table", written(tmp_path, data=data), 2, **options)
    assert raw.X.tolist() == [[1, 2], [3, 4]] and raw.labels.tolist() == ["yes", "no"]
    bare = read("table", written(tmp_path, data="\ufeff1,2\n\n3,4\n"), 1, delimiter=",")
    assert bare.X.tolist() == [[1], [3]] and bare.labels.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("data", "features", "named"),
    [
        ("1,2,0\n3,4,1\n", [0, 2], "the label, column 2, is among the features"),
        ("1,2,0\n3,4,1\n", [-1, 0], "the label, column 2, is among the features"),
        ("1,2,0\n3,4,1\n", [{"column": 2, "equals": "1"}], "the label, column 2, is among the features"),
        ("a,a,y\n1,2,0\n3,4,1\n", ["a"], "more than one column 'a'"),
        ("a,b,y\n1,2,0\n3,4,1\n", ["y"], "the label, column 2, is among the features"),
    ],
)
def test_features_that_cannot_be_meant_are_refused(tmp_path, data, features, named):
    paths = written(tmp_path, data=data)
    with pytest.raises(ValueError, match=named):
        read("table", paths, len(features), delimiter=",", header=data[0].isalpha(), features=features)


@pytest.mark.parametrize("content", ["", "\n\n", "a,b\n", "\ufeff"])
def test_a_table_without_rows_is_refused(tmp_path, content):
    with pytest.raises(ValueError, match=r"place, file data\.raw"):
        read("table", written(tmp_path, data=content), 1, **TEXT)
