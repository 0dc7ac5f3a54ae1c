"""The command on files as strangers write them: the same numbers, a remark, or a sentence."""

import csv
import os
from pathlib import Path

import pytest
from cli import strangers

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
    assert printed()[: len(rows)] == strangers.shortened(rows.values())


@pytest.mark.slow
@needs_mirror
def test_the_documented_table_has_the_files_of_the_mirror(rows):
    assert printed()[len(rows) :] == strangers.shortened(strangers.mirror_rows(MIRROR))


def test_clothes_change_no_value_of_a_real_file(run, file):
    """The same rows, whatever stands between the cells, at the ends of lines, or around the file."""
    text = strangers.text_of(strangers.plain())
    said = {}
    for clothing, content in strangers.clothes(text, ",").items():
        status, out, err = run("loo", file(content, "rows"), "--json")
        assert (status, err) == (0, ""), clothing
        said[clothing] = strangers.results_of(out)
    assert all(one == said["commas"] for one in said.values())
