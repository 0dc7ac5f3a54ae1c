"""Rows, checkpoints and clocks."""

import json
import logging
import threading
import time

import numpy as np
import pandas as pd
import pytest
from lib.checkpoint import Checkpoint, run_points
from lib.rows import (
    ERROR,
    LOO_ROWS,
    OK,
    TEST_ROWS,
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


def test_gathered_rows_are_those_of_the_files(tmp_path):
    paths = [tmp_path / f"{name}.parquet" for name in "ab"]
    for path, point in zip(paths, (4, 5), strict=True):
        row = {"dataset": path.stem, "errors": 3, "differing_points": [point], "status": OK}
        write_rows(path, [row], LOO_ROWS)
    assert gather_rows(paths, tmp_path / "rows" / "all.parquet") == 2
    pd.testing.assert_frame_equal(read_rows([tmp_path / "rows" / "all.parquet"]), read_rows(paths))


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
    path = tmp_path / "cell.checkpoint.json"
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
        run_points(points, run, Checkpoint(path, {"library": "1"}), LOG)
    checkpoint = Checkpoint(path, {"library": "1"})
    rows = run_points(points, run, checkpoint, LOG)
    assert calls[3:] == [(0.1, "b"), (7.0, "a")]
    assert [row.get("value") for row in rows] == [0.1 / 3, None, 7.0 / 3]
    checkpoint.remove()
    assert list(tmp_path.iterdir()) == []


def test_checkpoint_of_another_identity_is_ignored(tmp_path):
    path = tmp_path / "cell.checkpoint.json"
    Checkpoint(path, {"library": "1"}).add([1.0], {"status": OK})
    assert Checkpoint(path, {"library": "1"}).get([1.0]) == {"status": OK}
    assert Checkpoint(path, {"library": "2"}).get([1.0]) is None


def test_damaged_checkpoint_is_ignored(tmp_path):
    path = tmp_path / "cell.checkpoint.json"
    Checkpoint(path, {}).add([1.0], {"status": OK})
    path.write_text(json.dumps(json.loads(path.read_text()))[:-5])
    assert Checkpoint(path, {}).get([1.0]) is None


def test_clock_counts_cpu_time_and_not_sleep():
    with timed("shared") as clock:
        time.sleep(0.2)
    assert clock.mode == "shared" and clock.wall_s is None and 0 <= clock.cpu_s < 0.15


def test_exclusive_clocks_exclude_each_other_and_do_not_count_the_wait():
    spans = []

    def work():
        with timed("exclusive") as clock:
            begin = time.perf_counter()
            time.sleep(0.2)
            end = time.perf_counter()
        spans.append((begin, end, clock.wall_s))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (_, first_end, _), (second_begin, _, _) = sorted(spans)
    assert second_begin >= first_end
    assert all(end - begin <= wall < end - begin + 0.15 for begin, end, wall in spans)


def test_unknown_timing_mode_is_refused():
    with pytest.raises(ValueError, match="got 'quiet'"), timed("quiet"):
        pytest.fail("the block ran")
