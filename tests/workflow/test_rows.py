"""Rows, checkpoints and clocks."""

import hashlib
import json
import logging
import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from lib.checkpoint import Checkpoint, run_points
from lib.damage import DamagedError, set_aside_if_damaged
from lib.rows import (
    ERROR,
    LOO_ROWS,
    OK,
    TEST_ROWS,
    CellRecord,
    cell_name,
    cell_records,
    cells_to_compute,
    gather_rows,
    pack_bits,
    read_cell,
    read_cells,
    read_rows,
    unpack_bits,
    write_rows,
)
from lib.timing import timed

LOG = logging.getLogger("test")


@pytest.mark.parametrize("m", [1, 7, 8, 9, 150])
def test_bits_survive_packing(m):
    errors = np.random.default_rng(m).random(m) < 0.3
    text = pack_bits(errors)
    assert len(text) == 2 * -(-m // 8)
    np.testing.assert_array_equal(unpack_bits(text, m), errors)


def test_packed_bits_have_the_first_point_first():
    assert pack_bits([True, False, False, False, False, False, False, False, True]) == "8080"


def test_rows_survive_the_file(tmp_path):
    rows = [
        {"dataset": "a", "gamma": None, "errors": 3, "differing_points": [4, 5], "status": OK},
        {"dataset": "b", "gamma": 0.5, "status": ERROR, "reason": "no"},
    ]
    path = tmp_path / "folder" / "rows.parquet"
    write_rows(path, rows, LOO_ROWS)
    frame = read_rows([path, path])
    assert list(frame.columns) == LOO_ROWS.names
    assert len(frame) == 4
    assert frame["errors"].tolist()[0] == 3 and np.isnan(frame["errors"][1])
    assert list(frame["differing_points"][0]) == [4, 5]
    assert [file.name for file in path.parent.iterdir()] == ["rows.parquet"]


def one_cell(folder, name, points, parameters="p", library="l"):
    """The file of a cell with a row for each point."""
    path = folder / f"{name}.parquet"
    rows = [{"dataset": name, "errors": 3, "differing_points": [point], "status": OK} for point in points]
    write_rows(path, rows, LOO_ROWS, CellRecord(name, parameters, library))
    return path


def test_gathered_rows_are_those_of_the_files(tmp_path):
    paths = {"a": one_cell(tmp_path, "a", [4]), "b": one_cell(tmp_path, "b", [5, 6])}
    gathered = tmp_path / "rows" / "all.parquet"
    assert gather_rows(gathered, ["a", "b"], paths, LOO_ROWS) == 3
    pd.testing.assert_frame_equal(read_rows([gathered]), read_rows(paths.values()))
    assert cell_records(gathered) == {"a": CellRecord("a", "p", "l", 1), "b": CellRecord("b", "p", "l", 2)}


def test_rows_of_cells_without_a_file_are_taken_from_the_gathered_ones(tmp_path):
    gathered = tmp_path / "rows.parquet"
    before = {name: one_cell(tmp_path, name, points) for name, points in (("a", [4]), ("b", [5, 6]))}
    gather_rows(gathered, list(before), before, LOO_ROWS)
    new = {"c": one_cell(tmp_path, "c", [7]), "a": one_cell(tmp_path, "a", [8, 9], library="later")}
    assert gather_rows(gathered, ["c", "b", "a"], new, LOO_ROWS) == 5
    found = read_rows([gathered])
    assert found["dataset"].tolist() == ["c", "b", "b", "a", "a"]
    assert [point for points in found["differing_points"] for point in points] == [7, 5, 6, 8, 9]
    pd.testing.assert_frame_equal(read_cell(gathered, "b"), read_rows([before["b"]]))
    assert [own.library for own in cell_records(gathered).values()] == ["l", "l", "later"]


def test_cells_of_other_parameters_or_code_or_without_rows_are_computed(tmp_path):
    path = one_cell(tmp_path, "a", [4])
    wanted = [CellRecord("a", "p", "l"), CellRecord("b", "p", "l")]
    assert cells_to_compute(path, wanted, any_code=False) == ["b"]
    assert cells_to_compute(tmp_path / "none.parquet", wanted, any_code=False) == ["a", "b"]
    assert cells_to_compute(path, [CellRecord("a", "q", "l")], any_code=True) == ["a"]
    assert cells_to_compute(path, [CellRecord("a", "p", "later")], any_code=False) == ["a"]
    assert cells_to_compute(path, [CellRecord("a", "p", "later")], any_code=True) == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"status": OK}, "no error count and no bound"),
        ({"status": ERROR}, "no reason"),
        ({"status": "fine", "errors": 1}, "unknown status 'fine'"),
        ({"status": OK, "errors": 1, "kernal": "rbf"}, "unknown columns: kernal"),
    ],
)
def test_bad_rows_are_refused_before_anything_is_written(tmp_path, row, message):
    with pytest.raises(ValueError, match=message):
        write_rows(tmp_path / "rows.parquet", [row], TEST_ROWS)
    assert list(tmp_path.iterdir()) == []


def test_no_rows_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no rows"):
        write_rows(tmp_path / "rows.parquet", [], TEST_ROWS)


def test_checkpoint_resumes_and_tries_errors_again(tmp_path):
    path = tmp_path / "cell.checkpoint.jsonl"
    calls = []

    def run(C, method):
        calls.append((C, method))
        if len(calls) == 3:
            raise KeyboardInterrupt
        if method == "b":
            return {"status": ERROR, "reason": "bad", "cpu_s": None}
        return {"status": OK, "cpu_s": 0.1, "value": C / 3}

    points = [[0.1, "a"], [0.1, "b"], [7.0, "a"]]
    with pytest.raises(KeyboardInterrupt):
        list(run_points(points, run, Checkpoint(path, {"library": "1"}), LOG))
    checkpoint = Checkpoint(path, {"library": "1"})
    rows = list(run_points(points, run, checkpoint, LOG))
    assert calls[3:] == [(0.1, "b"), (7.0, "a")]
    assert [row.get("value") for row in rows] == [0.1 / 3, None, 7.0 / 3]
    checkpoint.remove()
    assert list(tmp_path.iterdir()) == []


def test_checkpoint_of_another_identity_is_ignored(tmp_path):
    path = tmp_path / "cell.checkpoint.jsonl"
    Checkpoint(path, {"library": "1"}).add([1.0], {"status": OK})
    assert Checkpoint(path, {"library": "1"}).get([1.0]) == {"status": OK}
    assert Checkpoint(path, {"library": "2"}).get([1.0]) is None


def line(content):
    return hashlib.sha256(content).hexdigest().encode() + b" " + content + b"\n"


IDENTITY, RESULT = line(b'{"a": 1}'), line(b'[[1.0], {"status": "ok"}]')
DAMAGED = {
    "empty": b"",
    "zeros": bytes(100),
    "a cut first line": IDENTITY[:-5],
    "a cut line between": IDENTITY + RESULT[:-5] + b"\n" + RESULT,
    "zeros at the end": IDENTITY + RESULT + bytes(100) + b"\n",
    "a list": line(b"[1]"),
    "null": line(b"null"),
    "endless digits": line(b"1" * 10_000),
    "no identity": RESULT,
    "results are a number": IDENTITY + line(b"7"),
    "a row is not a dict": IDENTITY + line(b"[[1.0], 3]"),
    "no hash": b'{"a": 1}\n',
    "hash of something else": b"00" + IDENTITY[2:],
    "not UTF-8": line(b"\xff\xfe"),
    "UTF-16 of a lone half": line(b"\xff\xfe\x00\xd8"),
    "deep lists": line(b"[" * 100_000),
    "deep objects": line(b'{"a":' * 100_000),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_checkpoint_is_set_aside_and_its_points_run_again(tmp_path, damage):
    path = tmp_path / "cell.checkpoint.jsonl"
    path.write_bytes(DAMAGED[damage])
    with pytest.warns(
        UserWarning, match=r"cell\.checkpoint\.jsonl is damaged \(.+\): .+ cell\.checkpoint\.jsonl\.damaged"
    ) as caught:
        checkpoint = Checkpoint(path, {"a": 1})
    assert len(caught) == 1 and "\n" not in str(caught[0].message)
    assert (tmp_path / "cell.checkpoint.jsonl.damaged").read_bytes() == DAMAGED[damage]
    assert not path.exists() and checkpoint.get([1.0]) is None
    rows = list(run_points([[1.0]], lambda C: {"status": OK, "value": C}, checkpoint, LOG))
    assert rows == [{"status": OK, "value": 1.0}]
    assert Checkpoint(path, {"a": 1}).get([1.0]) == rows[0]


def test_a_checkpoint_whose_last_line_was_cut_goes_on_behind_the_one_before(tmp_path):
    path = tmp_path / "cell.checkpoint.jsonl"
    whole = IDENTITY + RESULT + line(b'[[2.0], {"status": "ok"}]')
    for cut in range(len(IDENTITY + RESULT), len(whole)):
        path.write_bytes(whole[:cut])
        checkpoint = Checkpoint(path, {"a": 1})
        assert checkpoint.get([1.0]) and not checkpoint.get([2.0])
        checkpoint.add([2.0], {"status": OK})
        assert path.read_bytes() == whole


def test_a_checkpoint_grows_by_what_is_new(tmp_path, monkeypatch):
    """Each result was once written again with every later one: half the time of the demo's longest job."""
    written = []
    monkeypatch.setattr(json, "dumps", lambda value, dumps=json.dumps: written.append(value) or dumps(value))
    checkpoint = Checkpoint(tmp_path / "cell.checkpoint.jsonl", {"a": 1})
    for C in range(20):
        checkpoint.add([C], {"status": OK, "value": C})
    assert sum("value" in str(value) for value in written) == 20


def values_of(path):
    """All that a file of rows says, as text."""
    return [(own, rows.to_pylist()) for own, rows in read_cells(path).values()]


def test_any_changed_bit_of_a_file_of_rows_is_noticed(tmp_path):
    """With checksums of nothing, 38 % of the bits of a committed file turned into other numbers."""
    path, rng = tmp_path / "rows.parquet", np.random.default_rng(0)
    rows = [
        {"dataset": "a", "errors": k, "objective": x, "error_pattern": "00" * 40, "status": OK}
        for k, x in enumerate(rng.standard_normal(20))
    ]
    write_rows(path, rows, LOO_ROWS, CellRecord("a", "p", "l"))
    good, expected = path.read_bytes(), str(values_of(path))
    unnoticed = 0
    for bit in rng.choice(8 * len(good), 1500, replace=False):
        changed = bytearray(good)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            assert str(values_of(path)) == expected, bit
            unnoticed += 1
        except DamagedError as error:
            assert str(path) in str(error) and path.with_name("rows.parquet.damaged").read_bytes() == changed
    assert unnoticed < 40  # in the name of the checksum, and in headers of pages


def test_pages_have_checksums_of_their_own(tmp_path):
    """Other readers check them, and so does ours where the name of the file's checksum is damaged."""
    path = one_cell(tmp_path, "a", range(5))
    content = path.read_bytes().replace(b"svmselect_sha256", b"svmselect_sha255")
    path.write_bytes(content)
    assert len(read_rows([path])) == 5
    path.write_bytes(content[:100] + b"~" + content[101:])
    with pytest.raises(OSError, match="CRC"):
        pq.ParquetFile(path, page_checksum_verification=True).read()
    with pytest.raises(DamagedError, match="CRC"):
        read_rows([path])


SPOILED = {
    "cut": lambda content: content[:100],
    "empty": lambda content: b"",
    "a bit of a page": lambda content: content[:60] + bytes([content[60] ^ 4]) + content[61:],
    "a bit of the footer": lambda content: content[:-200] + bytes([content[-200] ^ 4]) + content[-199:],
    "its last byte": lambda content: content[:-1] + b"2",
}


@pytest.mark.parametrize("damage", SPOILED)
def test_a_damaged_file_of_rows_is_named_set_aside_and_computed_again(tmp_path, damage):
    path = one_cell(tmp_path, "a", [4])
    spoiled = SPOILED[damage](path.read_bytes())
    path.write_bytes(spoiled)
    with pytest.warns(UserWarning, match=rf"^{path} is damaged \(.+\): .+ a\.parquet\.damaged") as caught:
        assert cells_to_compute(path, [CellRecord("a", "p", "l")], any_code=True) == ["a"]
    assert len(caught) == 1 and "\n" not in str(caught[0].message)
    assert os.listdir(tmp_path) == ["a.parquet.damaged"]
    assert (tmp_path / "a.parquet.damaged").read_bytes() == spoiled
    gather_rows(tmp_path / "all.parquet", ["a"], {"a": one_cell(tmp_path, "a", [4])}, LOO_ROWS)
    assert read_rows([tmp_path / "all.parquet"])["errors"].tolist() == [3]


@pytest.mark.parametrize("reader", [lambda path: read_rows([path]), cell_name, read_cells])
def test_who_needs_the_rows_of_a_damaged_file_is_told_its_name(tmp_path, reader):
    path = one_cell(tmp_path, "a", [4])
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DamagedError, match=f"{path} is damaged"):
        reader(path)
    assert os.listdir(tmp_path) == ["a.parquet.damaged"]


def test_older_files_without_checksums_are_read_and_checked_for_what_can_be_seen(tmp_path, change_rows):
    path = one_cell(tmp_path, "a", [4, 5])
    change_rows(path, {"a": CellRecord("a", "p", "l", 2)})
    assert cell_name(path) == "a" and len(read_rows([path])) == 2
    change_rows(path, {"a": CellRecord("a", "p", "l", 3)})
    with pytest.raises(DamagedError, match="its cells have other than its 2 rows"):
        read_cells(path)


@pytest.mark.parametrize("error", [MemoryError("no room"), PermissionError(13, "Permission denied")])
def test_what_is_no_damage_leaves_a_file_where_it_is(tmp_path, error):
    path = one_cell(tmp_path, "a", [4])
    with pytest.raises(type(error)), set_aside_if_damaged(path):
        raise error
    assert os.listdir(tmp_path) == ["a.parquet"]


def test_a_file_with_its_checksum_that_cannot_be_read_is_not_damaged(tmp_path, monkeypatch):
    """A newer version may have written it."""
    path = one_cell(tmp_path, "a", [4])

    def fails(*arguments, **options):
        raise ValueError("unknown encoding")

    monkeypatch.setattr(pq, "ParquetFile", fails)
    with pytest.raises(ValueError, match=r"^unknown encoding$"):
        read_rows([path])
    assert os.listdir(tmp_path) == ["a.parquet"]


def test_the_damaged_raw_folder_of_before_makes_room(tmp_path):
    for content in ("first", "second"):
        (tmp_path / "raw").mkdir()
        (tmp_path / "raw/file").write_text(content)
        with pytest.raises(DamagedError), set_aside_if_damaged(tmp_path / "raw"):
            raise ValueError("no")
    assert os.listdir(tmp_path) == ["raw.damaged"]
    assert (tmp_path / "raw.damaged/file").read_text() == "second"


def test_any_changed_byte_of_a_checkpoint_is_noticed(tmp_path):
    """A digit that became another one is well-formed JSON and would be a wrong result."""
    path = tmp_path / "cell.checkpoint.jsonl"
    row = {"status": OK, "value": 1 / 3, "bad": float("nan"), "points": [4, 5], "why": 'ä"\u2028'}
    Checkpoint(path, {"library": "1"}).add([1.0, "é"], row)
    good = path.read_bytes()
    assert Checkpoint(path, {"library": "1"}).get([1.0, "é"])["value"] == 1 / 3
    for place in range(len(good)):
        changed = bytearray(good)
        changed[place] ^= 1
        path.write_bytes(changed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = Checkpoint(path, {"library": "1"}).get([1.0, "é"])
        assert found is None or json.dumps(found) == json.dumps(row), chr(good[place])


def test_clock_counts_cpu_time_and_not_sleep():
    with timed("shared") as clock:
        time.sleep(0.2)
    assert clock.mode == "shared" and clock.wall_s is None and 0 <= clock.cpu_s < 0.15


def test_exclusive_clocks_exclude_each_other_and_do_not_count_the_wait():
    spans = []

    def work():
        with timed("exclusive") as clock:
            begin = time.perf_counter()
            time.sleep(0.5)
            end = time.perf_counter()
        spans.append((begin, end, clock.wall_s))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (_, first_end, _), (second_begin, _, _) = sorted(spans)
    assert second_begin >= first_end
    assert all(end - begin <= wall < end - begin + 0.4 for begin, end, wall in spans)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files that anybody may have written into."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


HOLDER = """
import sys
sys.path.insert(0, "workflow")
from lib.timing import timed

with timed("exclusive"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_lock_that_another_folder_holds_is_announced(
    temporary, tmp_path, root, monkeypatch, capsys, elsewhere
):
    monkeypatch.chdir(tmp_path if elsewhere else root)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen([sys.executable, "-c", HOLDER], cwd=root, env=environment, **pipes) as holder:
        assert holder.stdout.readline() == "held\n"
        threading.Timer(0.5, holder.stdin.close).start()
        with timed("exclusive") as clock:
            pass
    sentence = f"waiting: the run in {root} takes times, which no two runs do at once\n"
    assert clock.wall_s < 0.4 and capsys.readouterr().err == (sentence if elsewhere else "")


def test_the_lock_is_in_a_private_folder(temporary):
    with timed("exclusive"):
        pass
    folder = temporary / f"svmselect-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700 and os.listdir(folder) == ["timing.lock"]
    (folder / "timing.lock").write_text("a long name of another folder, which held it before " * 20)
    with timed("exclusive"):
        assert (folder / "timing.lock").read_text() == os.getcwd()


@pytest.mark.parametrize(
    "trap", ["open folder", "link to a folder", "file", "link to nothing", "lock is a link"]
)
def test_a_lock_that_somebody_else_prepared_is_refused(temporary, trap):
    folder, victim = temporary / f"svmselect-{os.getuid()}", temporary / "victim"
    victim.write_text("precious")
    (temporary / "other").mkdir(mode=0o700)
    if trap == "open folder":
        folder.mkdir()
        folder.chmod(0o777)
    elif trap == "link to a folder":
        folder.symlink_to(temporary / "other")
    elif trap == "file":
        folder.write_text("")
    elif trap == "link to nothing":
        folder.symlink_to(temporary / "nothing")
    else:
        folder.mkdir(mode=0o700)
        (folder / "timing.lock").symlink_to(victim)
    sentence = "Too many levels" if trap == "lock is a link" else "to be a folder of this user with mode 700"
    with pytest.raises(OSError, match=sentence), timed("exclusive"):
        pytest.fail("the block ran")
    assert victim.read_text() == "precious" and os.listdir(temporary / "other") == []
    assert not (temporary / "nothing").exists()


def test_a_folder_of_another_user_is_refused(temporary, monkeypatch):
    with timed("exclusive"):
        pass
    theirs = os.getuid() + 1
    (temporary / f"svmselect-{os.getuid()}").rename(temporary / f"svmselect-{theirs}")
    monkeypatch.setattr("os.getuid", lambda: theirs)
    with pytest.raises(PermissionError, match=f"it belongs to user {theirs - 1}"), timed("exclusive"):
        pytest.fail("the block ran")


def test_unknown_timing_mode_is_refused():
    with pytest.raises(ValueError, match="got 'quiet'"), timed("quiet"):
        pytest.fail("the block ran")
