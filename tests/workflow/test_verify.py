"""Cells that are computed again: which, how their rows compare, and what `snakemake verify` makes of it."""

import numpy as np
import pandas as pd
import pytest
from lib.rows import LOO_ROWS, read_rows, write_rows
from lib.verify import compare, drawn

CELLS = {
    f"{paper}/cells/{name}": f"{paper}/{name}.parquet"
    for paper in ("a1999", "b2000")
    for name in ("wdbc/linear", "wdbc/rbf-gamma1", "heart/linear")
}


def rows(**changed):
    """Two rows of a cell, some columns of the second one changed."""
    first = {
        "library": "1+a", "cpu": "x", "dataset": "wdbc", "method": "loo", "fold": "loo", "status": "ok",
        "rows_tested": 2000, "errors": 3, "estimate": 0.0015, "bound": -2.5, "n_iter": 7, "cpu_s": 2.0,
    }  # fmt: skip
    return pd.DataFrame([first, {**first, **changed}])


def test_equal_rows_have_no_difference():
    assert compare(rows(), rows(), 0) == ([], 1)


def test_rows_are_compared_in_their_order_whatever_their_index():
    later = rows(bound=np.nan).set_index(pd.Index([7, 8]))
    assert compare(later, rows(bound=np.nan), 0)[0] == []


def test_origin_and_cost_may_differ():
    assert compare(rows(), rows(cpu_s=6.0, library="1+b", cpu="y", n_iter=9), 0) == ([], 2)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("errors", 4),
        ("estimate", 0.002),
        ("bound", -2.4),
        ("bound", np.nan),
        ("bound", np.inf),
        ("method", "span"),
        ("status", "error"),
        ("dataset", "heart"),
        ("rows_tested", 1999),
    ],
)
def test_a_changed_result_differs(column, value):
    changed = rows(**{column: value})
    assert compare(rows(), changed, 1e-3)[0] == compare(changed, rows(), 1e-3)[0] == [column]
    assert compare(changed, changed, 0)[0] == []


def test_bounds_of_another_library_may_differ_by_what_a_fit_leaves_open():
    near, far = (rows(bound=-2.5 * (1 + share), library="1+b") for share in (0.004, 0.006))
    assert compare(rows(), near, 1e-6)[0] == [] and compare(rows(), far, 1e-6)[0] == ["bound"]
    assert compare(rows(), rows(bound=-2.51), 1e-6)[0] == ["bound"]
    assert compare(rows(), rows(estimate=0.001501, library="1+b"), 1e-6)[0] == ["estimate"]


def test_numbers_may_differ_by_the_tolerance():
    assert compare(rows(), rows(bound=-2.5 * (1 + 1e-7)), 1e-6)[0] == []
    assert compare(rows(), rows(bound=-2.5 * (1 + 1e-5)), 1e-6)[0] == ["bound"]


@pytest.mark.parametrize(("errors", "differing"), [(5, []), (6, ["errors", "estimate"])])
def test_few_test_rows_may_change_sides(errors, differing):
    now = rows(fold="test", errors=errors, estimate=errors / 2000)
    assert compare(rows(fold="test"), now, 0)[0] == differing


def test_a_row_that_is_missing_differs():
    assert compare(rows(), rows()[:1], 1)[0] == ["number of rows"]


@pytest.mark.parametrize(
    ("which", "places"),
    [
        (["a1999/cells/wdbc/linear"], [0]),
        (["*/linear"], [0, 2, 3, 5]),
        (["b2000/*", "*/heart/*"], [3, 4, 5, 2]),
        (1, range(6)),
    ],
)
def test_cells_that_are_named(which, places):
    names = list(CELLS)
    assert drawn(CELLS, which) == {names[place]: CELLS[names[place]] for place in places}


@pytest.mark.parametrize(("share", "each_table"), [(0.01, 1), (0.34, 2), (0.5, 2)])
def test_a_share_is_drawn_of_each_paper(share, each_table):
    names = drawn(CELLS, share)
    assert [sum(name.startswith(paper) for name in names) for paper in ("a1999", "b2000")] == 2 * [each_table]


def test_a_pattern_of_no_cell_is_a_sentence():
    with pytest.raises(ValueError, match=r"verify\.cells\b.*'abc'"):
        drawn(CELLS, ["*/linear", "abc"])


@pytest.mark.slow
def test_cells_are_computed_again_and_compared(computed, franc):
    rows_file = computed.folder / "results/small/franc2008/rows/cells.parquet"
    call = ("--cores", "2", "--quiet", "rules", "--", "verify")
    verify = {"preset": "small", "cells": ["franc2008/cells/*", "franc2008/test/*/rbf"], "tolerance": 0}
    done = computed.snakemake(*call, config={**franc, "preset": "verify", "verify": verify})
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(computed.folder / "logs/verify/verify.csv", keep_default_na=False)
    assert len(table) == 3 and (table["differing"] == "").all() and (table["rows"] > 0).all()

    changed = read_rows([rows_file])
    changed.loc[0, "errors"] += 1
    records = changed.astype(object).where(changed.notna(), None).to_dict("records")
    write_rows(rows_file, records, LOO_ROWS)
    verify["cells"] = ["franc2008/cells/*/linear"]
    done = computed.snakemake(*call, config={**franc, "preset": "verify", "verify": verify})
    output = done.stdout + done.stderr
    assert done.returncode == 1
    assert "1 of 1 cells differ" in output and "titanic-table/realisation-1/linear" in output
    (row,) = pd.read_csv(computed.folder / "logs/verify/verify.csv").itertuples()
    assert row.differing == "errors"
