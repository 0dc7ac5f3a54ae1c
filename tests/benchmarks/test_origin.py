"""Every row of a benchmark says which code, processor and kernels of BLAS it comes from."""

import csv

import origin
import pytest
import targets
from csv_rows import current_rows, read_rows, write_rows

RESULTS = sorted(targets.RESULTS.glob("*.csv"))


def written(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_every_committed_row_says_where_it_comes_from(path):
    rows = written(path)
    assert rows
    for row in rows:
        assert origin.missing(row) == []
        assert all(row.get(name, "given") for name in (*origin.COLUMNS, "version")), row


def test_every_program_writes_its_rows_by_the_one_writer(benchmarks):
    """A program that formats CSV text has another way around it."""
    papers = (benchmarks.parent / "workflow" / "papers").glob("*/benchmark_*.py")
    programs = [path for path in (*benchmarks.glob("*.py"), *papers) if path.name != "csv_rows.py"]
    assert len(programs) > 15
    rest = [
        path.name for path in programs if "csv.writer" in (text := path.read_text()) or "DictWriter" in text
    ]
    rest += [path.name for path in programs if ".to_csv(" in path.read_text()]
    assert rest == []


def test_rows_are_those_of_this_process_if_they_say_nothing(tmp_path):
    path = tmp_path / "a.csv"
    write_rows(path, [{"problem": "a"}, {"problem": "b"}])
    here = origin.columns()
    assert written(path) == [{"problem": "a", **here}, {"problem": "b", **here}]
    assert all(here.values())


def test_rows_keep_what_they_say(tmp_path):
    path = tmp_path / "a.csv"
    peer = {"peer": "LIBSVM", "version": "3.37.0", "processor": "Z80", "blas": "None"}
    write_rows(path, [peer])
    assert written(path) == [peer]
    write_rows(path, read_rows(path))
    assert written(path) == [peer]


def test_rows_of_an_older_file_are_not_those_of_this_process(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("problem\na\n")
    rows = [*read_rows(path), {"problem": "b"}]
    write_rows(path, rows)
    unknown = dict.fromkeys(origin.COLUMNS, origin.UNKNOWN)
    assert written(path) == [{"problem": "a", **unknown}, {"problem": "b", **origin.columns()}]


def test_rows_of_other_code_or_another_processor_are_measured_again(tmp_path):
    path = tmp_path / "a.csv"
    here = origin.columns()
    rows = [{"problem": "a", **here, **other} for other in ({}, {"library": "0.0"}, {"processor": "Z80"})]
    write_rows(path, rows)
    assert len(read_rows(path)) == 3 and current_rows(path) == rows[:1]


@pytest.mark.parametrize("name", [*origin.COLUMNS, "version"])
@pytest.mark.parametrize("empty", ["", None])
def test_a_row_cannot_leave_it_empty(tmp_path, name, empty):
    path = tmp_path / "a.csv"
    with pytest.raises(ValueError, match=rf"a row of a\.csv has no {name}"):
        write_rows(path, [{"problem": "a", **origin.columns(), name: empty}])
    assert not path.exists()


def test_what_follows_from_rows_of_two_machines_says_so():
    rows = [{"library": "1", "blas": "Haswell", "processor": name} for name in ("Z80", "6502", "Z80")]
    assert origin.of_rows(rows) == {"library": "1", "blas": "Haswell", "processor": "6502+Z80"}


@pytest.mark.parametrize(
    ("row", "stale"),
    [
        ({}, False),
        ({"library": "0.1+0123456789ab"}, True),
        ({"processor": origin.UNKNOWN}, True),
        ({"blas": origin.UNKNOWN}, True),
        ({"blas": origin.UNKNOWN, "status": "over the limit"}, False),
    ],
)
def test_files_of_other_code_or_of_an_unknown_machine_are_stale(monkeypatch, tmp_path, row, stale):
    monkeypatch.setattr(targets, "RESULTS", tmp_path)
    path = tmp_path / "seeds.csv"
    write_rows(path, [origin.columns() | {"status": "ok"}, origin.columns() | {"status": "ok"} | row])
    assert ("seeds.csv" in targets.report()) == stale
