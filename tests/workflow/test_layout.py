"""What the tables of all papers have in common shows the numbers of the tidy rows."""

import pandas as pd
from lib.tables import MISSING, TIDY_COLUMNS, faster, filled, lines_of, listed, lookup, part, shown

ROWS = [
    ("table1", "heart", "k=10", "", "rows", 270, None, "count"),
    ("table1", "heart", "k=10", "ours", "time", 0.5, 0.25, "s"),
    ("table1", "heart", "k=10", "libsvm", "time", 4, None, "s"),
    ("table1", "heart", "k=10", "ours", "libsvm_over", 8, 0.5, "ratio"),
    ("table1", "adult", "k=10", "ours", "time", 2, None, "s"),
    ("table1", "adult", "k=10", "ours", "failed", 3, None, "count"),
    ("table1", "heart", "k=10", "ours", "failed", 0, None, "count"),
]
TIDY = pd.DataFrame(ROWS, columns=TIDY_COLUMNS)
HEART, ADULT = ("heart", "k=10"), ("adult", "k=10")


def test_a_column_shows_the_number_of_the_line_and_its_key():
    find = lookup(TIDY)
    assert [part(place)(*HEART) for place in (0, 1)] == ["heart", "k=10"]
    assert shown(find, 2, "ours", "time")(*HEART) == "0.50"
    assert shown(find, 1, "ours", "time", spread=True, factor=10)(*HEART) == "5.0 ± 2.5"
    # the whole key may be the line
    assert shown(find, 0, "time")(*ADULT, "ours") == "2"
    assert shown(find, 0, "libsvm", "time")(*ADULT) == MISSING


def test_a_pattern_with_a_missing_value_is_missing():
    column = filled("{:.0f} rows in {:g} s", lookup(TIDY), ("", "rows"), ("ours", "time"))
    assert column(*HEART) == "270 rows in 0.5 s"
    assert column(*ADULT) == MISSING


def test_a_ratio_of_times_has_the_interval_of_its_own_method():
    find = lookup(TIDY)
    assert faster(find, "libsvm", "time", "ours")(*HEART) == "8.0 ± 0.5"
    assert faster(find, "libsvm", "time")(*HEART, "ours") == "8.0 ± 0.5"
    assert faster(find, "ours", "time", "libsvm")(*HEART) == "0.1"
    assert faster(find, "libsvm", "time", "ours")(*ADULT) == MISSING


def test_lines_stand_in_the_order_of_the_rows():
    assert lines_of(TIDY, "dataset", "setting") == [HEART, ADULT]
    assert lines_of(TIDY, "dataset") == [("heart",), ("adult",)]


def test_a_note_lists_what_is_counted():
    def text(row):
        return f"{row.dataset} {row.value:.0f}"

    assert listed(TIDY, "failed", "Failed", text) == ["Failed: adult 3."]
    assert listed(TIDY[TIDY["dataset"] == "heart"], "failed", "Failed", text) == []
