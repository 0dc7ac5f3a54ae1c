"""Rows, checkpoints and clocks."""

import json
import logging
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from filelock import FileLock
from lib import timing
from lib.checkpoint import Checkpoint, run_points
from lib.config import WORKFLOW
from lib.damage import DamagedError, set_aside_if_damaged
from lib.rows import (
    ERROR,
    LOO_ROWS,
    OK,
    TEST_ROWS,
    digest_of,
    gather_rows,
    pack_bits,
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


def one_cell(folder, name, points, digest="d"):
    """The file of a cell with a row for each point."""
    path = folder / f"{name}.parquet"
    rows = [
        {"dataset": name, "cell": name, "errors": 3, "differing_points": [point], "status": OK}
        for point in points
    ]
    write_rows(path, rows, LOO_ROWS, digest)
    return path


def test_gathered_rows_are_those_of_the_files(tmp_path):
    paths = [one_cell(tmp_path, "a", [4]), one_cell(tmp_path, "b", [5, 6])]
    gathered = tmp_path / "rows" / "all.parquet"
    assert gather_rows(gathered, paths, LOO_ROWS) == 3
    pd.testing.assert_frame_equal(read_rows([gathered]), read_rows(paths))
    assert read_rows([gathered])["cell"].tolist() == ["a", "b", "b"]


def test_reading_rows_starts_no_thread(tmp_path):
    """A thread of pyarrow that is still there as a process ends can abort it."""
    path = one_cell(tmp_path, "a", range(5000))
    code = (
        "import os, sys; from lib.rows import read_rows; import pandas\n"
        "before = len(os.listdir('/proc/self/task')); assert len(read_rows(sys.argv[1:])) == 5000\n"
        "print(len(os.listdir('/proc/self/task')) - before)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, path], cwd=WORKFLOW, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "0\n"


def test_rows_have_the_digest_of_their_inputs(tmp_path):
    assert digest_of(one_cell(tmp_path, "a", [4], digest="0123")) == "0123"
    assert digest_of(tmp_path / "none.parquet") is None


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
        list(run_points(points, run, Checkpoint(path, "1"), LOG))
    checkpoint = Checkpoint(path, "1")
    rows = list(run_points(points, run, checkpoint, LOG))
    assert calls[3:] == [(0.1, "b"), (7.0, "a")]
    assert [row.get("value") for row in rows] == [0.1 / 3, None, 7.0 / 3]


def test_checkpoint_of_other_inputs_is_ignored(tmp_path):
    path = tmp_path / "cell.checkpoint.jsonl"
    Checkpoint(path, "1").add([1.0], {"status": OK})
    assert Checkpoint(path, "1").get([1.0]) == {"status": OK}
    assert Checkpoint(path, "2").get([1.0]) is None


FIRST, SECOND = (b'{"point": [%d], "result": {"status": "ok"}}' % number for number in (1, 2))
DAMAGED = {
    "empty": b"",
    "zeros": bytes(100),
    "a cut first line": b'{"digest": "d',
    "zeros between": b'{"digest": "d"}\n' + bytes(50) + b"\n" + SECOND,
    "a cut line between": b'{"digest": "d"}\n' + FIRST[:-5] + b"\n" + SECOND,
    "a number": b'{"digest": "d"}\n7\n' + SECOND,
    "no digest": FIRST + b"\n" + SECOND,
    "not UTF-8": b'{"digest": "d"}\n\xff\xfe\n' + SECOND,
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_points_of_damaged_lines_run_again(tmp_path, damage):
    path = tmp_path / "cell.jsonl"
    path.write_bytes(DAMAGED[damage])
    checkpoint = Checkpoint(path, "d")
    assert checkpoint.get([1]) is None
    assert (checkpoint.get([2]) is None) == (
        b"digest" not in DAMAGED[damage] or b"[2]" not in DAMAGED[damage]
    )
    rows = list(run_points([[1]], lambda C: {"status": OK, "value": C}, checkpoint, LOG))
    assert rows == [{"status": OK, "value": 1}] and Checkpoint(path, "d").get([1]) == rows[0]


def test_a_checkpoint_whose_last_line_was_cut_goes_on_behind_it(tmp_path):
    path = tmp_path / "cell.jsonl"
    before = b'{"digest": "d"}\n' + FIRST
    for cut in range(len(SECOND)):
        path.write_bytes(before + b"\n" + SECOND[:cut])
        checkpoint = Checkpoint(path, "d")
        assert checkpoint.get([1]) and not checkpoint.get([2])
        checkpoint.add([2], {"status": OK})
        again = Checkpoint(path, "d")
        assert again.get([1]) and again.get([2]) == {"status": OK}


def test_a_checkpoint_grows_by_what_is_new(tmp_path, monkeypatch):
    """Each result was once written again with every later one: half the time of the demo's longest job."""
    written = []
    monkeypatch.setattr(json, "dumps", lambda value, dumps=json.dumps: written.append(value) or dumps(value))
    checkpoint = Checkpoint(tmp_path / "cell.jsonl", "d")
    for C in range(20):
        checkpoint.add([C], {"status": OK, "value": C})
    assert sum("value" in str(value) for value in written) == 20


def values_of(path):
    """All that a file of rows says, as text."""
    return str((digest_of(path), read_rows([path]).to_dict("records")))


def test_any_changed_bit_of_a_file_of_rows_is_noticed(tmp_path):
    """With checksums of nothing, 38 % of the bits of a committed file turned into other numbers."""
    path, rng = tmp_path / "rows.parquet", np.random.default_rng(0)
    rows = [
        {"dataset": "a", "errors": k, "objective": x, "error_pattern": "00" * 40, "status": OK}
        for k, x in enumerate(rng.standard_normal(20))
    ]
    write_rows(path, rows, LOO_ROWS, "d")
    good = path.read_bytes()
    for bit in rng.choice(8 * len(good), 1500, replace=False):
        changed = bytearray(good)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(DamagedError, match=str(path)):
            read_rows([path])
        assert os.listdir(tmp_path) == ["rows.parquet"]


def test_pages_have_checksums_of_their_own(tmp_path):
    """Other readers check them."""
    path = one_cell(tmp_path, "a", range(5))
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"~" + content[101:])
    with pytest.raises(OSError, match="CRC"):
        pq.ParquetFile(path, page_checksum_verification=True).read()


SPOILED = {
    "cut": lambda content: content[:100],
    "empty": lambda content: b"",
    "a bit of a page": lambda content: content[:60] + bytes([content[60] ^ 4]) + content[61:],
    "a bit of the footer": lambda content: content[:-200] + bytes([content[-200] ^ 4]) + content[-199:],
    "its last byte": lambda content: content[:-1] + b"2",
    "without a checksum": lambda content: content.replace(b"svmselect_sha256", b"svmselect_sha255"),
}


@pytest.mark.parametrize("damage", SPOILED)
@pytest.mark.parametrize("reader", [lambda path: read_rows([path]), digest_of])
def test_a_damaged_file_of_rows_is_named_and_stays_where_it_is(tmp_path, damage, reader):
    path = one_cell(tmp_path, "a", [4])
    spoiled = SPOILED[damage](path.read_bytes())
    path.write_bytes(spoiled)
    with pytest.raises(DamagedError, match=rf"^{path} is damaged \(.+\)$"):
        reader(path)
    assert os.listdir(tmp_path) == ["a.parquet"] and path.read_bytes() == spoiled


@pytest.mark.parametrize("damage", SPOILED)
def test_a_damaged_cell_is_set_aside_where_cells_are_gathered(tmp_path, damage):
    path = one_cell(tmp_path, "a", [4])
    spoiled = SPOILED[damage](path.read_bytes())
    path.write_bytes(spoiled)
    with pytest.raises(DamagedError, match=rf"^{path} is damaged \(.+\): .+ a\.parquet\.damaged"):
        gather_rows(tmp_path / "all.parquet", [path], LOO_ROWS)
    assert os.listdir(tmp_path) == ["a.parquet.damaged"]
    assert (tmp_path / "a.parquet.damaged").read_bytes() == spoiled


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


@pytest.fixture
def clocks(monkeypatch):
    """The clocks of `timed`: they stand still unless a test moves them."""
    clocks = SimpleNamespace(wall=100.0, cpu=10.0)
    module = SimpleNamespace(perf_counter=lambda: clocks.wall, process_time=lambda: clocks.cpu)
    monkeypatch.setattr(timing, "time", module)
    return clocks


def test_clock_counts_cpu_time_and_wall_time_in_the_exclusive_mode_alone(clocks):
    for mode, wall_s in (("shared", None), ("exclusive", 3.0)):
        with timed(mode) as clock:
            clocks.cpu += 0.25
            clocks.wall += 3
        assert (clock.mode, clock.cpu_s, clock.wall_s) == (mode, 0.25, wall_s)


@pytest.fixture
def on_wait(monkeypatch):
    """A list of functions: each is called once, when the lock of timed blocks was tried and is another's."""
    calls = []

    class Lock(FileLock):
        def _acquire(self):
            super()._acquire()
            if not self.is_locked and calls:
                calls.pop()()

    monkeypatch.setattr(timing, "FileLock", Lock)
    return calls


def test_exclusive_clocks_exclude_each_other_and_do_not_count_the_wait(clocks, on_wait):
    events, waits = [], threading.Event()
    on_wait.append(waits.set)

    def work():
        with timed("exclusive") as clock:
            events.append("second begins")
            clocks.wall += 2
        events.append(clock.wall_s)

    second = threading.Thread(target=work)
    with timed("exclusive") as clock:
        second.start()
        assert waits.wait(600)
        clocks.wall += 50
        events.append("first ends")
    second.join()
    assert events == ["first ends", "second begins", 2.0] and clock.wall_s == 50


HOLDER = """
import sys
sys.path.insert(0, "workflow")
from lib.timing import timed

with timed("exclusive"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_process_waits_for_the_lock_of_another(tmp_path, root, monkeypatch, clocks, on_wait):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}

    def let_go():
        clocks.wall += 50
        holder.stdin.close()

    with subprocess.Popen([sys.executable, "-c", HOLDER], cwd=root, **pipes) as holder:
        assert holder.stdout.readline() == "held\n"
        on_wait.append(let_go)
        with timed("exclusive") as clock:
            clocks.wall += 2
    assert on_wait == [] and clock.wall_s == 2


def test_unknown_timing_mode_is_refused():
    with pytest.raises(ValueError, match="got 'quiet'"), timed("quiet"):
        pytest.fail("the block ran")
