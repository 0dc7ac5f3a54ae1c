"""Files of the user, good and bad."""

import bz2
import gzip
import io
import lzma
import os
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from svmselect.cli.read import read

PLAIN = "age,weight,target\n31,70.5,yes\n45,80,no\n28,55,yes\n"


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


def test_libsvm_text_without_a_row(file):
    path = file("# nothing but a remark\n")
    with pytest.raises(ValueError, match=f"^{path}: no row of data$"):
        read(path, format="libsvm")


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed(file, ending):
    for name in (f"data.csv{ending}", "data"):
        table = read(file(PACKERS[ending](PLAIN.encode()), name))
        assert table.labels.tolist() == ["yes", "no", "yes"]


@pytest.mark.parametrize(
    ("labels", "expected", "doubt"),
    [
        (["0", "1", "1"], [0.0, 1.0, 1.0], None),
        (["-1", "+1", "+1"], [-1.0, 1.0, 1.0], None),
        (["1.0", "2.0", "1.0"], [1.0, 2.0, 1.0], None),
        (["01", "1", "1"], None, "the labels '01' and '1' in column 2 are taken for two classes"),
        (["1.0", "1", "0"], None, "the labels '1' and '1.0' in column 2 are taken for two classes"),
        (["9007199254740992", "9007199254740993", "7"], None, "are taken for two classes"),
        (["9007199254740992", "9007199254740994", "7"], None, None),
        (["NA", "DE", "DE"], None, "the label 'NA' of 1 rows in column 2 is taken for a class"),
        (["nan", "ok", "nan"], None, "the label 'nan' of 2 rows in column 2 is taken for a class"),
        (["inf", "1", "1"], None, None),
        (["1_0", "10", "10"], None, None),
        (["\u0661", "1", "1"], None, None),
        (["True", "False", "True"], None, None),
        (["a\u2028b", "a", "a"], None, None),
        (["0.5", "1.5", "0.5"], None, "holds 2 different values in 3 rows, and fractions among them"),
    ],
)
def test_labels_that_differ_as_text_are_different_classes(file, labels, expected, doubt):
    rows = [f"{value},{label}\n" for value, label in zip((3.5, 1, 2), labels, strict=True)]
    table = read(file("".join(rows)), header=False)
    assert table.labels.tolist() == (labels if expected is None else expected)
    assert len({*table.labels.tolist()}) == len({*labels})
    assert len(table.doubts) == (doubt is not None) and all(doubt in told for told in table.doubts)


def test_a_label_is_missing_if_its_cell_is_empty(file):
    with pytest.raises(ValueError, match=r"line 2, column 2: the value is missing \(''\)"):
        read(file("1,NA\n2,\n3,DE\n"))
    table = read(file("1.5,NA\n2,\n3,DE\nNA,DE\n"), drop_missing=True, header=False)
    assert table.labels.tolist() == ["NA", "DE"] and table.dropped == 2


def test_quoted_ends_of_lines_and_their_look_alikes_stay_in_their_cell(file):
    table = read(file('1,"one\ntwo"\n2,one\u2028two\n3,"one\r\ntwo"\n4,one\x85two\n'), header=False)
    assert table.labels.tolist() == ["one\ntwo", "one\u2028two", "one\r\ntwo", "one\x85two"]
    assert read(file("1 a\x0c\r2 b\x1cc\r3 b\u2029c\r"), header=False).numbers.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "cell", ["1_000", "\u0661\u0662", "1\u00a0000", "0x1p3", "1.234,5", "1,234,567", "infinity-"]
)
def test_what_is_no_number(file, cell):
    with pytest.raises(ValueError, match=r"line 2, column 1: .* is not a number, as others"):
        read(file(f"1.5;0\n{cell};1\n2;1\n"), header=False)


def test_points_and_decimal_commas_in_one_file_are_refused(file):
    sentence = "is the decimal mark of '1,5' in line 2 a comma, or that of '2.5' in line 3 a point"
    with pytest.raises(ValueError, match=sentence):
        read(file("a;y\n1,5;0\n2.5;1\n"))


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
            "a,b,y\n1,7,0\n2,Rome,1\n",
            {},
            "line 3, column 'b': 'Rome' is not a number, as .* --categorical 'b', .* --ignore 'b'",
        ),
        ("a,y\n1,0\ninf,1\n", {}, "line 3, column 'a': 'inf' is not finite"),
        ("a,y\n1,0\n2,0\n", {}, "column 'y' holds one class only: '0'"),
        (
            "".join(f"{n},{n / 7}\n" for n in range(60)),
            {},
            "column 2 holds 60 different values in 60 rows: that is no class label",
        ),
        (PLAIN, {"label": "size"}, "there is no column 'size' \\(found 'age', 'weight', 'target'\\)"),
        # Python strips a file separator, and NumPy takes no number with one
        (",0 \x1c0", {"label": "1"}, "column 1 holds one class only: ',0'"),
        # a quoted cell may hold the end of a line; the sentence has none
        ('a,y\n1,"b\nc"\n', {}, "column 'y' holds one class only: 'b\\\\nc'"),
        ('a,"b\nc"\n1,0\n', {"label": "size"}, "there is no column 'size' \\(found 'a', 'b\\\\nc'\\)"),
        (PLAIN, {"label": "4"}, "there is no column 4, the columns are 1 to 3"),
        (PLAIN, {"label": "0"}, "there is no column 0"),
        (PLAIN, {"ignore": ["target"]}, "the label's column 'target' cannot be ignored"),
        (PLAIN, {"ignore": ["age", "weight"]}, "no column is left for the features"),
        ("1,2,0\n3,4,1\n", {"label": "y"}, "there is no column 'y' \\(the columns have no names\\)"),
        ("a,a,y\n1,2,0\n3,4,1\n", {"label": "a"}, "2 columns are named 'a'; give a number"),
        ("1 1:2\n-1 0:3\n", {"zero_based": False}, "data.csv, line 2: the first feature is 1, got 0"),
        (PLAIN, {"zero_based": True}, "--zero-based is for LIBSVM text, and this one is a table"),
        ("1 1:2\n-1 1:nan\n", {}, "row 2: the value of feature 1 is not finite"),
        ("1 1:2\nnan 1:3\n", {}, r"row 2: the label\b.* nan\b"),
        ("9007199254740993 1:2\n1 1:3\n", {}, "row 1: the label must be a number below 2"),
        ("1 2147483648:1\n0 1:1\n", {}, "data.csv, line 1: feature 2147483648 is beyond"),
        (b"1,2\x00,0\n2,3,1\n", {}, "not a text file in UTF-8"),
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


@pytest.mark.parametrize("ending", PACKERS)
def test_no_more_is_unpacked_than_is_allowed(file, ending):
    path = file(PACKERS[ending](bytes(8 * 10**7)), f"data.csv{ending}")
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"has more than 1000000 bytes, unpacked; --max-bytes"):
            read(path, max_bytes=10**6)
        assert tracemalloc.get_traced_memory()[1] < 5 * 10**7  # xz has a dictionary of 8 MB
    finally:
        tracemalloc.stop()


def test_the_size_of_a_file_is_limited_packed_or_not(file, monkeypatch):
    many = (PLAIN + "28,55,yes\n" * 100).encode()
    size = len(many)
    for content in (many, gzip.compress(many)):
        assert read(file(content), max_bytes=size).labels.size == 103
        with pytest.raises(ValueError, match=f"has more than {size - 1} bytes"):
            read(file(content), max_bytes=size - 1)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PLAIN.encode())))
    with pytest.raises(ValueError, match="-: has more than 9 bytes"):
        read("-", max_bytes=9)


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


cells = st.text('0123456789.,;:+-eE_ \t"?#abn\x00é\u2028', max_size=6) | st.sampled_from(["NA", "1,5", "2"])
rows = st.lists(st.lists(cells, min_size=1, max_size=4), max_size=12)
texts = st.builds(lambda mark, rows: "\n".join(map(mark.join, rows)), st.sampled_from(",;\t "), rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    texts.map(str.encode) | st.binary(max_size=60),
    st.booleans(),
    st.sampled_from([None, True, False]),
    st.sampled_from(["data.csv", "data.gz", "data.xz"]),
)
def test_garbage_is_a_sentence_or_a_sound_table(file, content, drop_missing, header, name):
    try:
        table = read(file(content, name), drop_missing=drop_missing, header=header)
    except ValueError as error:
        assert str(error).startswith(str(file(content, name))) and "\n" not in str(error)
        return
    assert table.X.shape[0] == table.labels.size == table.numbers.size and len({*table.labels.tolist()}) > 1
    assert np.isfinite(table.X.data if sparse.issparse(table.X) else table.X).all()
