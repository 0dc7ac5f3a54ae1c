"""What the library is to reach: the table is what the files say, and says what is missed."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import targets


@pytest.fixture
def results(monkeypatch):
    """The CSV files as a test has them."""
    files = {}
    monkeypatch.setattr(targets, "read_rows", lambda path: files.get(path.stem, []))
    return files


def fit(problem, peer, seconds, **columns):
    row = {"problem": problem, "C": "1.0", "kernel": "rbf", "threads": "1", "status": "ok", "peer": peer}
    return row | {"cpu_s_median": seconds, "cpu_s": seconds} | columns


def test_the_least_case_is_named_and_the_best_peer_counts(results):
    results["compare"] = [
        *(fit("german", "svmselect", "2"), fit("german", "LIBSVM", "8"), fit("german", "other", "16")),
        *(fit("image", "svmselect", "1"), fit("image", "LIBSVM", "1.5"), fit("image", "other", "1")),
        fit("image", "failed", "0.1", status="over the limit"),
        *(fit("usps", "svmselect", "1"), fit("usps", "LIBSVM", "9")),
    ]
    assert targets.warm_fits(False) == ("2.00 (least 1.00: image, C = 1; 2 cases)", pytest.approx(0.8))
    assert targets.warm_fits(True) == ("9.00 (least 9.00: usps, C = 1; 1 cases)", pytest.approx(3.6))


@pytest.mark.parametrize(
    ("ours", "peak", "share"), [("1", "300", 3 / 1.8), ("4", "300", 0.75 / 1.8), ("1", "1200", 0.5)]
)
def test_time_and_memory_both_have_to_reach_their_targets(results, ours, peak, share):
    results["cold"] = [fit("a9a", "svmselect", ours, peak_mb=peak), fit("a9a", "LIBSVM", "3", peak_mb="9999")]
    assert targets.cold_fits()[1] == pytest.approx(min(share, 600 / float(peak)))


@pytest.mark.parametrize(("two", "share"), [("0.5", 2 / 1.5), ("1.0", 2 / 2.7)])
def test_a_grid_has_a_target_for_each_number_of_threads(results, two, share):
    rows = [
        ("svmselect", "1", "1.0"),
        ("svmselect", "2", two),
        ("liquidSVM", "1", "2.0"),
        ("liquidSVM", "2", "0.1"),
    ]
    results["grid"] = [
        {"grid": "liquidSVM", "peer": peer, "threads": threads, "wall_s": wall, "cpu_s": wall}
        for peer, threads, wall in rows
    ]
    assert targets.grids()[1] == pytest.approx(share)


def test_a_region_of_the_map_has_its_own_target(results):
    def cell(rows, kernel, start, ratio):
        return {"rows": rows, "features": "20", "kernel": kernel, "C": "1.0", "start": start, "ratio": ratio}

    results["fit_map"] = [
        *(cell("2500", "linear", "warm", "6"), cell("9500", "linear", "fresh", "1.5")),
        *(cell("500", "linear", "fresh", "0.1"), cell("9500", "rbf-1", "warm", "0.2")),
        cell("4000", "linear", "warm", ""),
    ]
    text, share = targets.mapped(3, ("linear",), targets.MANY_ROWS)()
    assert text == "3.00 (least 1.50: 9500 x 20, linear, C = 1, fresh; 2 cases)" and share == pytest.approx(
        0.5
    )
    assert targets.mapped(0.9, ("linear",), (500,), ("fresh",))()[1] == pytest.approx(0.1 / 0.9)


def test_memory_counts_as_time_does(results):
    def row(program, seconds, growth):
        return {
            "what": "ten classes",
            "case": "usps",
            "program": program,
            "seconds": seconds,
            "growth_mb": growth,
        }

    results["processes"] = [row("svmselect", "1", "40"), row("peer", "3", "10"), row("other", "9", "20")]
    assert targets.ten_classes() == ("3.00, 40 MB, the peer 10 MB", pytest.approx(0.25))
    assert targets.whole("ten classes", 2, 80)() == ("1.00 s, 40 MB", pytest.approx(2))
    assert targets.whole("ten classes", 0.5, 80)()[1] == pytest.approx(0.5)


def test_the_fastest_other_library_counts(results):
    rows = [("a", "svmselect", "2"), ("a", "LIBSVM", "4"), ("a", "other", "3"), ("b", "svmselect", "1")]
    results["regression_peers"] = [
        {"task": "fit", "problem": problem, "peer": peer, "cpu_s": seconds}
        for problem, peer, seconds in [*rows, ("b", "LIBSVM", "0.5")]
    ]
    assert targets.regressions()[1] == pytest.approx(0.5)


def test_a_second_thread_stands_beside_a_second_process(results):
    results["engine"] = [
        {"section": "two threads", "case": "fit", "beside": "one thread", "ratio": "1.5"},
        {"section": "two threads", "case": "fit, twice", "beside": "one process alone", "ratio": "1.6"},
    ]
    text, share = targets.two_threads()
    assert text.endswith("two processes: 1.60, least 1.60") and share == pytest.approx(1.5 / 1.7)


def test_what_was_not_measured_is_said(results, monkeypatch, tmp_path):
    monkeypatch.setattr(targets, "PAPERS", tmp_path)
    lines = [line for line in targets.report().splitlines() if line.startswith("| ")][1:]
    assert len(lines) == len(targets.TARGETS)
    assert all(line.endswith("| not measured |  |") for line in lines)


def test_the_table_is_that_of_the_files():
    result = targets.report().split("\nProcessors")[0]
    assert (targets.RESULTS / "targets.md").read_text().split("\nProcessors")[0] == result


def test_the_page_on_speed_says_of_every_miss_what_limits_it():
    section = (
        (targets.ROOT / "docs" / "speed.md").read_text().split("## What it is to reach")[1].split("\n## ")[0]
    )
    rows = [line.strip("| ").split(" | ") for line in targets.report().splitlines() if line.startswith("| ")]
    missed = {name.partition(":")[0] for name, *_, reached in rows if reached.startswith("no")}
    assert missed
    assert missed == set(re.findall(r"^- \*\*(.+?)\*\*", section, re.M))


def test_the_time_of_a_cell_has_searches_and_each_matrix_once(tmp_path, monkeypatch):
    rows = [
        {"cell": "a", "kernel": "rbf", "gamma": 1.0, "cpu_s": 1.0, "search_cpu_s": 8.0, "gram_cpu_s": 64.0},
        {"cell": "a", "kernel": "rbf", "gamma": 1.0, "cpu_s": 2.0, "search_cpu_s": None, "gram_cpu_s": 64.0},
        {"cell": "a", "kernel": "rbf", "gamma": 2.0, "cpu_s": 4.0, "search_cpu_s": None, "gram_cpu_s": 64.0},
        {"cell": "b", "kernel": "rbf", "gamma": 1.0, "cpu_s": None, "search_cpu_s": None, "gram_cpu_s": None},
    ]
    path = tmp_path / "x2000/rows/cells.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert targets.cell_seconds(path) == {"a": 1 + 2 + 4 + 8 + 64 + 64, "b": None}
    monkeypatch.setattr(targets, "PAPERS", tmp_path)
    text, share = targets.all_papers()
    assert "(2 CPU minutes)" in text and "without 1 cells" in text
    # the longest cell decides
    assert share == pytest.approx(20 / (143 / 60))
