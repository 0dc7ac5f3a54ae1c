"""A run whose rows are to be of one commit computes those of other commits anew, and goes on with its own."""

import pytest
from lib import fresh
from lib.rows import (
    LOO_ROWS,
    OK,
    CellRecord,
    cell_records,
    cells_to_compute,
    gather_rows,
    read_rows,
    write_rows,
)

CELLS = [CellRecord(name, "digest", "the present code") for name in "abcd"]


@pytest.fixture
def rows(tmp_path):
    """Rows of four cells: of this commit, of another one, of both, and of before commits were noted."""
    files = {}
    for cell, commits in zip(CELLS, (["new"] * 2, ["old"] * 3, ["new", "old"], [None]), strict=True):
        files[cell.cell] = tmp_path / f"{cell.cell}.parquet"
        own = [{"status": OK, "errors": 1, "commit": commit, "cpu_s": 2.0} for commit in commits]
        write_rows(files[cell.cell], own, LOO_ROWS, cell)
    path = tmp_path / "results/paper/franc2008/rows/cells.parquet"
    path.parent.mkdir(parents=True)
    gather_rows(path, list("abcd"), files, LOO_ROWS)
    return path


def test_rows_of_other_commits_count_as_those_of_other_code(rows, tmp_path, monkeypatch, capsys):
    assert cells_to_compute(rows, CELLS, any_code=False) == []
    before = read_rows([rows])
    monkeypatch.setattr(fresh, "commit", lambda: "new")
    for _ in range(2):
        fresh.main(tmp_path / "results/paper")
        assert capsys.readouterr().out.startswith("3 cells of 1 files are of other commits than new")
        assert cells_to_compute(rows, CELLS, any_code=False) == ["b", "c", "d"]
    # what they took is still known, and they may be kept on request
    assert cells_to_compute(rows, CELLS, any_code=True) == []
    assert read_rows([rows]).equals(before)
    assert [own.rows for own in cell_records(rows).values()] == [2, 3, 2, 1]


@pytest.mark.parametrize("present", [None, "abc+changes"])
def test_without_a_commit_to_name_nothing_begins(rows, tmp_path, monkeypatch, present):
    written = rows.read_bytes()
    monkeypatch.setattr(fresh, "commit", lambda: present)
    with pytest.raises(SystemExit, match="commit them first"):
        fresh.main(tmp_path / "results/paper")
    assert rows.read_bytes() == written
