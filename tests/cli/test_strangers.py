"""The command on files as strangers write them: the same numbers, a remark, or a sentence."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from cli import strangers
from scipy import sparse

from svmselect.cli.read import read

FILES = [*strangers.tables(), *strangers.libsvm_texts()]
TABLE = Path(__file__).parents[2] / "docs/strangers.csv"
MIRROR = Path(os.environ.get("SVMSELECT_MIRROR") or "no mirror").resolve()
needs_mirror = pytest.mark.skipif(not MIRROR.is_dir(), reason="SVMSELECT_MIRROR names no folder")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The table's rows, by what distinguishes a file."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("strangers"))
    try:
        return {row[0]: row for row in strangers.table(FILES)}
    finally:
        os.chdir(before)


def test_there_are_files_enough(rows):
    assert len(rows) == len(FILES) > 80


@pytest.mark.parametrize("stranger", FILES, ids=lambda stranger: stranger.name)
def test_no_file_ends_silently_wrong(stranger, rows):
    _, did, said = rows[stranger.name]
    assert (
        did
        == {
            strangers.SAME: "same numbers",
            strangers.REMARK: "same numbers, remark" if stranger.same else "other numbers, remark",
            strangers.REFUSED: "refused",
        }[stranger.outcome]
    )
    assert all(word in said for word in stranger.says) and bool(said) == (stranger.outcome != strangers.SAME)


def printed():
    with TABLE.open(newline="") as file:
        head, *rows = csv.reader(file)
    assert tuple(head) == strangers.COLUMNS
    return [tuple(row) for row in rows]


def test_the_documented_table_is_what_the_command_does(rows):
    assert printed()[: len(rows)] == [*rows.values()]


@pytest.mark.slow
@needs_mirror
def test_the_documented_table_has_the_files_of_the_mirror(rows):
    assert printed()[len(rows) :] == strangers.mirror_rows(MIRROR)


@pytest.mark.slow
@needs_mirror
@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("ida_diabetis/pima-indians-diabetes.data.csv", ","),
        ("breast-cancer/breast-cancer-wisconsin.data", ","),
        ("parkinson_multiple_sound/train_data.txt", ","),
        ("heart/heart", None),
    ],
)
def test_a_file_of_the_mirror_in_other_clothes(file, name, mark):
    """Also LIBSVM text as a table, and from 0."""
    path = MIRROR / name
    options = {} if mark is None else {"drop_missing": True}
    expected = read(path, **options)
    X = expected.X.toarray() if sparse.issparse(expected.X) else expected.X
    text = path.read_text()
    if mark is None:
        text = "".join(
            ",".join([*map(repr, row), f"{label:g}"]) + "\n"
            for row, label in zip(X.tolist(), expected.labels, strict=True)
        )
    for clothing, content in strangers.clothes(text, ",").items():
        result = read(file(content, "rows"), **options)
        np.testing.assert_array_equal(result.X, X, err_msg=clothing)
        assert result.labels.tolist() == expected.labels.tolist()
        assert mark is None or result.doubts == expected.doubts


def test_a_file_of_another_format_is_named_whatever_its_name(file):
    for content, word in (
        (b"PK\x03\x04...", "zip"),
        (b'\xef\xbb\xbf[{"a": 1}]', "JSON"),
        (b"<?xml?>", "XML"),
    ):
        with pytest.raises(ValueError, match=f"looks like .*{word}"):
            read(file(content, "rows.csv"))
    assert read(file("{a,y\n1,0\n2,1\n"), format="csv").X.shape == (2, 1)
