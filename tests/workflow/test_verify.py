"""Cells that are computed again: which, how their rows compare with those that are kept, and what `snakemake
verify` makes of it."""

import math

import numpy as np
import pandas as pd
import pytest
from lib.rows import LOO_ROWS, cell_records, pack_bits, read_rows
from lib.verify import COLUMNS, compare, drawn

CELLS = [
    f"{paper}/cells/{name}"
    for paper in ("a1999", "b2000")
    for name in ("wdbc/linear", "wdbc/rbf-gamma1", "heart/linear")
]


def rows(**changed):
    """Two rows of a cell, some columns of the second one changed."""
    first = {
        "library": "1+a", "cpu": "x", "method": "loo", "C": 1.0, "gamma": np.nan, "errors": 3,
        "objective": -2.5, "points": np.array([1, 2]), "cpu_s": 2.0, "gram_cpu_s": 1.0,
        "round_training_cpu_s": np.array([1.0]), "wall_s": np.nan, "reason": None,
    }  # fmt: skip
    return pd.DataFrame([first, {**first, "C": 2.0, **changed}])


def test_equal_rows_have_no_difference():
    found = compare(rows(), rows(), 0)
    assert (found["rows"], found["differing"], found["columns"], found["largest_difference"]) == (2, 0, "", 0)
    assert found["numbers"] == 2 * 6 and found["time_ratio"] == 1
    assert {"paper", "stage", "cell", *found} == set(COLUMNS)


def test_who_computed_a_cell_and_what_it_took_may_differ():
    now = rows(
        cpu_s=6.0,
        gram_cpu_s=9.0,
        round_training_cpu_s=[3.0],
        wall_s=1.0,
        reason="in 3 s",
        library="1+b",
        cpu="y",
    )
    found = compare(rows(), now, 0)
    assert found["differing"] == 0 and found["time_ratio"] == 2
    assert (found["library_kept"], found["library_now"]) == ("1+a", "1+a, 1+b")
    assert (found["cpu_kept"], found["cpu_now"]) == ("x", "x, y")


def of_test_rows(wrong, library, fold="test"):
    """A row of the errors at 2,000 test rows, of which these are wrong."""
    pattern = np.isin(np.arange(2000), wrong)
    row = {
        "library": library,
        "cpu": "x",
        "fold": fold,
        "rows_tested": 2000,
        "errors": len(wrong),
        "cpu_s": 1.0,
    }
    return pd.DataFrame([row | {"estimate": len(wrong) / 2000, "error_pattern": pack_bits(pattern)}])


@pytest.mark.parametrize(("wrong", "library", "fold", "differing"), [
    ([1, 2, 9], "1+b", "test", 0),  # one label in a thousand may flip, to and fro
    ([1, 9], "1+b", "test", 0),
    ([1, 9, 10, 11], "1+b", "test", 3),
    ([9, 10, 11], "1+b", "test", 1),  # as many errors, elsewhere: the pattern alone
    ([1, 2, 9], "1+a", "test", 0),
    ([1, 9], "1+a", "test", 3),
    ([1, 2, 9, 10], "1+a", "test", 3),  # but not by the same code
    ([1, 2, 9, 10], "1+b", "loo", 3),  # and not where errors are exact
])  # fmt: skip
def test_few_test_rows_may_flip_by_other_code(wrong, library, fold, differing):
    kept = of_test_rows([1, 2, 9], "1+a", fold)
    found = compare(kept, of_test_rows(wrong, library, fold), 0)
    assert found["differing"] == differing


@pytest.mark.parametrize(("column", "value", "by"), [
    ("errors", 4, 0.25),
    ("objective", -2.0, 0.2),
    ("objective", 2.5, 2),
    ("objective", np.nan, math.inf),
    ("objective", np.inf, math.inf),
    ("objective", -np.inf, math.inf),
    ("gamma", 1.0, math.inf),
    ("method", "kfold", math.inf),
    ("method", None, math.inf),
    ("points", np.array([1, 4]), 0.5),
    ("points", np.array([1]), math.inf),
    ("points", np.array([1.0, np.nan]), math.inf),
    ("points", None, math.inf),
])  # fmt: skip
def test_a_changed_value_differs(column, value, by):
    for kept, now in ((rows(), rows(**{column: value})), (rows(**{column: value}), rows())):
        found = compare(kept, now, 1e-6)
        assert (found["differing"], found["columns"], found["largest_difference"]) == (1, column, by)


def test_infinite_values_may_be_equal():
    assert compare(rows(objective=np.inf), rows(objective=np.inf), 0)["differing"] == 0


def test_numbers_may_differ_by_the_tolerance():
    for tolerance, differing in ((1e-5, 0), (1e-7, 1)):
        found = compare(rows(), rows(objective=-2.5 * (1 + 1e-6)), tolerance)
        assert found["differing"] == differing and found["largest_difference"] == pytest.approx(
            1e-6, rel=1e-3
        )


def test_a_row_that_is_missing_differs():
    found = compare(rows(), rows()[:1], 1)
    assert (found["differing"], found["columns"], found["largest_difference"]) == (
        1,
        "number of rows",
        math.inf,
    )


@pytest.mark.parametrize(("which", "found"), [
    ("a1999/cells/wdbc/linear", CELLS[:1]),
    ("*/linear", [CELLS[at] for at in (0, 2, 3, 5)]),
    (["b2000/*", "*/heart/*"], [*CELLS[3:], CELLS[2]]),
    (1, CELLS),
])  # fmt: skip
def test_cells_that_are_named(which, found):
    assert sorted(drawn(CELLS, which)) == sorted(found)


@pytest.mark.parametrize(("share", "of_each"), [(0.01, 1), (0.34, 2), (0.5, 2)])
def test_a_share_is_drawn_of_each_paper(share, of_each):
    found = drawn(CELLS, share)
    assert [sum(cell.startswith(paper) for cell in found) for paper in ("a1999", "b2000")] == [
        of_each,
        of_each,
    ]
    assert len({*found}) == len(found) and {*found} <= {*CELLS}


def test_a_pattern_of_no_cell_is_a_sentence():
    with pytest.raises(ValueError, match=r"verify\b.*'abc'.*'a1999/cells/wdbc/linear'"):
        drawn(CELLS, ["*/linear", "abc"])


@pytest.mark.slow
def test_cells_are_computed_again_and_compared(computed, franc, change_rows):
    results = computed.folder / "results/kept/franc2008"
    kept = results / "rows/cells.parquet"
    run = ("--cores", "2", "--quiet", "rules", "progress", "--", "verify")
    done = computed.snakemake(*run, config={**franc, "verify": ["franc2008/cells/*", "franc2008/test/*/rbf"]})
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(computed.folder / "logs/kept/verify.csv")
    assert list(table.columns) == COLUMNS and (table["differing"] == 0).all() and (table["numbers"] > 0).all()
    assert table["stage"].tolist() == ["cells", "cells", "test"]
    assert not list(results.glob("again/**/*.parquet")) and not list(results.glob("cells/**/*.parquet"))

    changed = read_rows([kept])
    changed.loc[0, "errors"] += 1
    change_rows(kept, cell_records(kept), changed, LOO_ROWS)
    done = computed.snakemake(*run, config={**franc, "verify": "franc2008/cells/*/linear"})
    output = done.stdout + done.stderr
    assert done.returncode == 1
    assert (
        "1 of 1 cells differ from the rows that are kept, first titanic-table/realisation-1/linear: see "
        in output
    )
    (row,) = pd.read_csv(computed.folder / "logs/kept/verify.csv").itertuples()
    assert (row.cell, row.differing, row.columns) == ("titanic-table/realisation-1/linear", 1, "errors")
    assert not list(results.glob("again/**/*.parquet"))
