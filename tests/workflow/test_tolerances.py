"""Tolerances follow from rounding, sampling error, and whose rows were used; each class of them can fail."""

import numpy as np
import pandas as pd
import pytest
from lib.papers import load_papers
from lib.scorecard import figures
from lib.tables import read_tidy
from lib.tolerances import (
    EXACT,
    KINDS,
    OTHER,
    ROWS,
    SAME,
    read_printed,
    read_published,
    rounding,
    rows_of,
    tolerance,
)

RESULT = {"kind": "result"}
PRINTED = [key for key, paper in load_papers().items() if paper.published]


@pytest.mark.parametrize(
    ("printed", "half"), [("15.47", 0.005), ("0.1", 0.05), ("400", 0.5), ("1291068", 0.5), ("0.0", 0.05)]
)
def test_half_a_unit_of_the_last_digit(printed, half):
    assert rounding(printed) == pytest.approx(half)


# the class, what is printed, what is known, and how far ours may be from it
CASES = {
    "a setting": ({"kind": "setting"}, EXACT, "400", {"unit": "count"}, 0.5),
    "one of 850 points, in percent": ({}, EXACT, "14.24", {"points": [850]}, 100 / 850 + 0.005),
    "one of 2,175 points, as a share": (
        {},
        EXACT,
        "0.1085",
        {"points": [2175], "unit": "fraction"},
        1 / 2175 + 5e-5,
    ),
    "a training or a test point": (
        {},
        EXACT,
        "0.0156",
        {"points": [1000, 500], "unit": "fraction"},
        0.003 + 5e-5,
    ),
    "one support vector": ({}, EXACT, "148.2", {"unit": "count"}, 1.05),
    "one of 1,089 models": ({}, EXACT, "0.222", {"unit": "count", "points": [1089]}, 1 / 1089 + 5e-4),
    "two means over draws": (
        {},
        SAME,
        "2.90",
        {"spread": 0.27, "own": 0.15, "draws": 100, "theirs": 100},
        3 * np.hypot(0.027, 0.015) + 0.005,
    ),
    "splits of two tables": (
        {},
        SAME,
        "10.0",
        {"own": 1.0, "draws": 100, "theirs": 100, "drawn": 1000},
        3 * np.sqrt(0.02 + 1e4 * 2 * 0.09 / 1000) + 0.05,
    ),
    "means of what another draw chose": (
        {},
        SAME,
        "32.33",
        {"spread": 2.0, "own": 1.0, "draws": 100, "theirs": 100, "chosen": 0.3},
        3 * np.sqrt(0.04 + 0.01 + 2 * 0.09) + 0.005,
    ),
    "one printed draw": (
        {},
        SAME,
        "111",
        {"own": 10.0, "draws": 4, "theirs": 1, "unit": "count"},
        3 * np.sqrt(125) + 0.5,
    ),
    "two draws of a share": (
        {},
        SAME,
        "10.0",
        {"points": [1000]},
        3 * 100 * np.sqrt(2 * 0.1 * 0.9 / 1000) + 0.05,
    ),
    "two draws of a count": (
        {},
        SAME,
        "100",
        {"points": [1000], "unit": "count"},
        3 * np.sqrt(2 * 1000 * 0.1 * 0.9) + 0.5,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_tolerance_follows_and_can_fail(case):
    rule, rows, printed, known, apart = CASES[case]
    known, entry = dict(known), known.get("own", np.nan)
    known.pop("own", None)
    spread = known.pop("spread", np.nan)
    unit = known.pop("unit", "percent")
    result = tolerance(
        {**RESULT, **rule}, rows, printed, unit=unit, spread=spread, ours={**known, "spread": entry}
    )
    value = float(printed)
    assert (result.most - result.least) / 2 == pytest.approx(apart)
    assert not result.undecided and not result.wide
    assert result.holds(value) and result.holds(value + 0.999 * apart) and result.holds(value - 0.999 * apart)
    assert not result.holds(value + 1.001 * apart) and not result.holds(value - 1.001 * apart)
    assert not result.holds(0) and not result.holds(np.nan)


@pytest.mark.parametrize(
    ("rule", "printed", "base", "least", "most"),
    [
        ({"factor": 1.25}, "0.1", None, 0.05 / 1.25, 0.15 * 1.25),  # one digit: rounding alone is a half
        ({"factor": 2}, "10", "100", 9.5 / 100.5 / 2, 10.5 / 99.5 * 2),
    ],
)
def test_ratios_know_how_both_numbers_are_rounded(rule, printed, base, least, most):
    result = tolerance({**RESULT, **rule}, EXACT, printed, base=base)
    assert (result.least, result.most) == (pytest.approx(least), pytest.approx(most))
    assert result.holds(least) and result.holds(most) and not result.holds(0)
    assert not result.holds(0.99 * least) and not result.holds(1.01 * most)


@pytest.mark.parametrize(
    ("rows", "printed", "known", "words"),
    [
        (OTHER, "10", {"points": [100]}, "the rows are others"),
        (EXACT, "10", {"points": [np.nan]}, "how many points"),
        (SAME, "10", {}, "no standard error"),
        (SAME, "10", {"points": [100, 100]}, "no standard error"),
    ],
)
def test_what_decides_nothing_says_so(rows, printed, known, words):
    result = tolerance(RESULT, rows, printed, unit="percent", ours=known)
    assert words in result.undecided and result.undecided.startswith("not decidable: ")
    assert not result.holds(float(printed))


def test_an_axis_ends_where_it_ends():
    result = tolerance({"kind": "anchor"}, EXACT, "3000", unit="count", ours={})
    assert result.holds(2999) and result.holds(3000) and not result.holds(3001)


def test_a_printed_zero_asks_for_zero():
    result = tolerance(RESULT, EXACT, "0.0", unit="count", ours={"points": [1089]})
    assert result.holds(0) and not result.holds(0.06) and not result.wide


@pytest.mark.parametrize(
    ("printed", "unit", "known", "wide"),
    [
        # one of so many points is half of what is printed, or more
        ("2", "count", {"points": [2]}, False),
        ("1", "count", {"points": [2]}, True),
        ("1.01", "percent", {"points": [200]}, False),
        ("1.00", "percent", {"points": [200]}, True),
        # of a printed 0 one unit of its last digit, or half of all points
        ("0.0", "count", {"points": [20]}, False),
        ("0.0", "count", {"points": [19]}, True),
        ("0.00", "percent", {"points": [3]}, False),
        ("0.00", "percent", {"points": [1]}, True),
    ],
)
def test_a_tolerance_of_more_than_half_of_a_number_is_too_wide(printed, unit, known, wide):
    result = tolerance(RESULT, EXACT, printed, unit=unit, ours=known)
    assert result.wide == wide and result.holds(float(printed))


def test_a_ratio_is_too_wide_by_its_factor_and_its_base():
    assert [tolerance({**RESULT, "factor": factor}, EXACT, "100").wide for factor in (1.25, 1.6, 2)] == [
        False,
        False,
        True,
    ]
    assert not tolerance({**RESULT, "factor": 1.6}, EXACT, "100", base="1000").wide
    assert tolerance({**RESULT, "factor": 1.6}, EXACT, "100", base="3").wide


def test_the_first_entry_that_fits_says_whose_rows_they_are():
    rule = {"rows": [{"methods": ["cv"], "are": SAME}, {"datasets": ["a"], "are": EXACT}, {"are": OTHER}]}
    assert [rows_of(rule, *key) for key in (("a", "cv"), ("a", "svm"), ("b", "svm"))] == [SAME, EXACT, OTHER]
    assert rows_of({}, "a", "b") == EXACT and rows_of({"rows": SAME}, "a", "b") == SAME
    with pytest.raises(ValueError, match="whose rows those of 'b', method 'svm', are"):
        rows_of({"rows": rule["rows"][:2]}, "b", "svm")


@pytest.mark.parametrize("paper", PRINTED)
@pytest.mark.parametrize("committed", [False, True], ids=["as printed", "as committed"])
def test_zero_passes_nowhere(root, paper, committed):
    """Every number of ours is replaced by 0, with the spreads, draws and points that it has."""
    declared = load_papers()[paper]
    path = root / f"workflow/papers/{paper}/printed.csv"
    printed, published = read_printed(path), read_published(path)
    ours = published.assign(spread=published["spread"].fillna(1e-6))
    if committed:
        files = sorted((root / f"results/paper/{paper}").rglob("table*.csv"))
        ours = pd.concat(read_tidy(file) for file in files if "chosen" not in file.name)
    rules = declared.claims["figures"]
    counts = {name.rpartition("/")[2] for rule in rules.values() for name in rule.get("points", [])}
    counts |= {rule["draws"]["ours"] for rule in rules.values() if "draws" in rule}
    # the unit of relative times stays, since nothing is divided by 0
    units = {tuple(rule["relative_to"].values()) for rule in rules.values() if "relative_to" in rule}
    stored = ours["metric"].isin(counts)
    stored |= pd.MultiIndex.from_frame(ours[["method", "metric"]]).isin(units or [("", "")])
    zero = ours.assign(value=ours["value"].where(stored, 0.0))
    result = figures(paper, printed, published, zero, rules)
    passes = result[
        (result["within"] == "yes") & ~result["metric"].isin(counts) & (result["kind"] != "anchor")
    ]
    assert set(pd.to_numeric(passes["value"])) <= {0.0}
    assert (result["within"] == "no").any()


@pytest.mark.parametrize("paper", PRINTED)
def test_every_figure_says_what_it_is(root, paper):
    path = root / f"workflow/papers/{paper}/printed.csv"
    rules = load_papers()[paper].claims["figures"]
    result = figures(paper, read_printed(path), read_published(path), None, rules)
    assert set(result["kind"]) <= set(KINDS) and set(result["rows"]) <= set(ROWS)


def test_work_on_rows_drawn_anew_has_a_standard_error_beside_the_factor():
    rule = {"kind": "result", "factor": 1.25}
    known = {"value": 5.0, "spread": 0.5, "draws": 1, "theirs": 1}
    exact, wider = (tolerance(rule, rows, "10.0", ours=known) for rows in (EXACT, SAME))
    apart = 3 * 10 * 0.1 * np.sqrt(2)  # relative to ours, whatever its size
    assert (wider.least, wider.most) == pytest.approx((exact.least - apart, exact.most + apart))
    assert tolerance(rule, SAME, "10.0", ours={"value": 5.0}) == exact
    assert wider.wide and not tolerance(rule, SAME, "10.0", ours=known | {"spread": 0.1}).wide


def test_whose_splits_those_of_franc_are_follows_from_the_rows(root):
    rows = pd.read_parquet(
        root / "results/paper/franc2008/rows/cells.parquet", columns=["dataset", "realisation", "origin"]
    )
    paper = load_papers()["franc2008"]
    for dataset, origins in rows.groupby("dataset")["origin"]:
        whose = EXACT if set(origins) == {"original"} else SAME
        for metric in ("loo_error", "kernel_columns", "time_speedup", "certified"):
            assert rows_of(paper.claims["figures"][metric], dataset, "proposed") == whose, (dataset, metric)


def test_what_another_selection_moves_widens_the_tolerance_of_splits(root):
    """Flare-solar's linear models differ by less than its splits: both count, in every set that has both."""
    card = pd.read_csv(root / "results/paper/scorecard.csv").query(
        "paper == 'franc2008' and metric == 'test_error'"
    )
    causes = pd.read_csv(root / "results/paper/franc2008/causes.csv").query("cause == 'draws_of_selection'")
    both = card.merge(causes, on=["dataset", "setting"], suffixes=("", "_chosen"))
    assert len(both) == 4
    splits = np.hypot(both["spread"], both["reproduced_spread"]) / 10
    expected = 3 * np.sqrt(splits**2 + 2 * both["spread_chosen"] ** 2) + 0.005
    np.testing.assert_allclose((both["most"] - both["least"]) / 2, expected, rtol=0.01)
