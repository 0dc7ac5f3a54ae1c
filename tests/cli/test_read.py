"""Files of the user, good and bad."""

import bz2
import gzip
import io
import lzma
import os
import threading

import numpy as np
import pytest
from scipy import sparse

from svmselect.cli.read import read

PLAIN = "age,weight,target\n31,70.5,yes\n45,80,no\n28,55,yes\n"


@pytest.fixture
def file(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", "  "),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\n\n"),
        PLAIN.replace(",", ", "),
        PLAIN.split("\n", 1)[1],
        "\ufeff" + PLAIN,
        '"age","weight","target"\n"31","70.5","yes"\n45,"80",no\n28,55,"yes"\n',
        "target,age,weight\nyes,31,70.5\nno,45,80\nyes,28,55\n",
    ],
)
def test_csv_as_people_write_it(file, content):
    table = read(file(content))
    np.testing.assert_array_equal(table.X, [[31, 70.5], [45, 80], [28, 55]])
    assert table.labels.tolist() == ["yes", "no", "yes"]


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed(file, ending):
    for name in (f"data.csv{ending}", "data"):
        table = read(file(PACKERS[ending](PLAIN.encode()), name))
        assert table.labels.tolist() == ["yes", "no", "yes"]


def test_labels_that_are_numbers_are_compared_as_numbers(file):
    assert read(file("1,2,0\n3,4,1.0\n5,6,1\n")).labels.tolist() == [0, 1, 1]


@pytest.mark.parametrize("label", ["b", "2", "-2"])
def test_the_label_is_named_or_counted(file, label):
    table = read(file("a,b,c\n1,0,2\n3,1,4\n"), label=label)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.label_column == "column 'b'"


def test_columns_are_ignored(file):
    table = read(file("id,a,class\nx1,1,0\nx2,3,1\n"), ignore=["id"])
    np.testing.assert_array_equal(table.X, [[1], [3]])


def test_a_header_of_numbers_is_one_if_it_is_said(file):
    assert read(file("2019,2020,c\n1,2,p\n3,4,q\n"), header=True).X.shape == (2, 2)
    assert read(file("x,y\n1,p\n2,q\n"), header=True).label_column == "column 'y'"


def test_missing_values_are_left_out_on_demand(file):
    table = read(file("a,b,y\n1,,0\n2,5,1\n3,NA,1\n4,6,0\n"), drop_missing=True)
    np.testing.assert_array_equal(table.X, [[2, 5], [4, 6]])
    assert table.dropped == 2
    assert table.numbers.tolist() == [2, 4]
    # of columns that are used
    assert read(file("a,b,y\n1,,0\n2,5,1\n"), ignore=["b"]).dropped == 0


def test_libsvm(file):
    text = "+1 1:0.5 3:2\n-1 2:1  # why\n"
    for name, content in (
        ("data", text),
        ("data.csv", "\ufeff" + text),
        ("data.bz2", bz2.compress(text.encode())),
    ):
        table = read(file(content, name))
        assert sparse.issparse(table.X)
        np.testing.assert_array_equal(table.X.toarray(), [[0.5, 0, 2], [0, 1, 0]])
        assert table.labels.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("", {}, "data.csv: the file is empty"),
        ("\n \n", {}, "the file is empty"),
        (b"\xff\xfe\x00a", {}, "not a text file in UTF-8"),
        ("a,b,y\n", {}, "no row of data"),
        ("1\n2\n", {}, r"found one column; .* \(is it --delimiter\?\)"),
        ("a,b,y\n1,2,0\n1,0\n", {}, "line 3: expected 3 columns, found 2"),
        (
            "a,b,y\n1,2,0\n\n3,,1\n4,?,1\n",
            {},
            r"line 4, column 'b': the value is missing \(''\), as in 2 of 3 rows; .* --drop-missing",
        ),
        ("1,2,0\n3,4,\n", {}, r"line 2, column 3: the value is missing \(''\), as in 1 of 2 rows"),
        ("a,y\n,0\n?,1\n", {"drop_missing": True}, "every row has a missing value"),
        (
            "a,b,y\n1,Oslo,0\n2,Rome,1\n",
            {},
            "line 2, column 'b': 'Oslo' is not a number; .* --ignore 'b'",
        ),
        ("a,y\n1,0\ninf,1\n", {}, "line 3, column 'a': 'inf' is not finite"),
        ("a,y\n1,0\n2,0\n", {}, "column 'y' holds one class only: 0"),
        (
            "".join(f"{n},{n / 7}\n" for n in range(60)),
            {},
            "column 2 holds 60 different values in 60 rows: that is no class label",
        ),
        (PLAIN, {"label": "size"}, "there is no column 'size' \\(found age, weight, target\\)"),
        (PLAIN, {"label": "4"}, "there is no column 4, the columns are 1 to 3"),
        (PLAIN, {"label": "0"}, "there is no column 0"),
        (PLAIN, {"ignore": ["target"]}, "the label's column 'target' cannot be ignored"),
        (PLAIN, {"ignore": ["age", "weight"]}, "no column is left for the features"),
        ("1,2,0\n3,4,1\n", {"label": "y"}, "there is no column 'y' \\(the columns have no names\\)"),
        ("a,a,y\n1,2,0\n3,4,1\n", {"label": "a"}, "2 columns are named 'a'; give a number"),
        ("1 1:2\n-1 0:3\n", {}, "not LIBSVM text"),
        ("1 1:2\n-1 1:nan\n", {}, "row 2: the value of feature 1 is not finite"),
        ("1 1:2\n-1 1:3\n", {"label": "1"}, "--label is for CSV files"),
        ("1 1:2\n1 1:3\n", {}, "the label holds one class only: 1"),
        ('a,y\n"1,0\n2,1\n', {}, "data.csv"),
    ],
)
def test_what_is_wrong_is_one_sentence(file, content, options, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        read(file(content), **options)
    assert "\n" not in str(caught.value)


def test_no_such_file(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.csv: there is no such file"):
        read(tmp_path / "nothing.csv")


def damaged(packed):
    return packed[:40] + b"\xff" * 20 + packed[60:]


def test_damaged_compression(file):
    many = (PLAIN + "".join(f"{n},{n * n % 97},yes\n" for n in range(200))).encode()
    for ending, pack in PACKERS.items():
        for content in (b"plain", damaged(pack(many)), pack(many)[:-9], pack(many)[:20], b""):
            with pytest.raises(
                ValueError, match=rf"data\.csv{ending}: cannot be unpacked \(|the file is empty"
            ) as caught:
                read(file(content, f"data.csv{ending}"))
            assert "\n" not in str(caught.value)


def test_standard_input(monkeypatch):
    for content in (PLAIN.encode(), lzma.compress(PLAIN.encode())):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert read("-").labels.tolist() == ["yes", "no", "yes"]


def test_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(PLAIN,))
    writer.start()
    assert read(path).labels.tolist() == ["yes", "no", "yes"]
    writer.join()


def test_what_is_no_file(tmp_path):
    with pytest.raises(ValueError, match="is a folder, not a file"):
        read(tmp_path)
    with pytest.raises(ValueError, match="/dev/zero: is a device, not a file"):
        read("/dev/zero")
