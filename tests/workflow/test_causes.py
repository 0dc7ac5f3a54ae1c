"""Causes of misses: a variant has to land on every figure on which it claims to act, and each can fail."""

from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
import pytest
import yaml
from lib.causes import (
    Cause,
    cause_of,
    cause_table,
    read_causes,
    runs_of,
    spreads_of,
)
from lib.config import check_config, complete_config
from lib.papers import load_papers
from lib.scorecard import figures
from lib.tables import KEY, TIDY_COLUMNS
from lib.tolerances import Tolerance, read_published
from papers.franc2008.bounds import largest_test_error
from papers.franc2008.whole import errors_of_standard
from slow import slow

ACTS = {"statement": "So.", "acts": [{"exhibit": "t", "methods": ["m"]}]}
WITH_CAUSES = {key: paper for key, paper in load_papers().items() if paper.causes}


def key(dataset, method="m"):
    return ("t", dataset, "s", method, "q")


def landed(values, entry=ACTS, run=True, wide=""):
    """A cause whose variant has values of some data sets, after figures of the sets a and b."""
    cause = Cause("c", entry, {key(name): value for name, value in values.items()}, run=run)
    for name in ("a", "b"):
        cause.land(key(name), Tolerance(9, 11, wide=name in wide))
        cause.land(key(name, "other"), Tolerance(0, 0))
    return cause


@pytest.mark.parametrize(
    ("values", "verdict", "explained"),
    [
        ({"a": 10.5, "b": 9}, "shown", "found afterwards"),
        ({"a": 10.5, "b": 8.9}, "disproved", "not explained"),  # it fits one and breaks the other
        ({"a": 10.5}, "disproved", "not explained"),  # of b it has nothing
        ({}, "disproved", "not explained"),
    ],
)
def test_a_variant_lands_everywhere_or_is_disproved(values, verdict, explained):
    cause = landed(values)
    assert cause.verdict == verdict and len(cause.landed) == 2
    result = cause_of([cause], key("a"))
    assert result["explained_by"] == explained and result["cause"].startswith("c")
    assert ("disproved" in result["cause"]) == (verdict == "disproved")
    assert cause_of([cause], key("a", "other")) == {"explained_by": "not explained"}


@pytest.mark.parametrize(
    ("values", "wide", "verdict", "explained"),
    [
        ({"a": 10, "b": 10}, "b", "shown", ["found afterwards", "too wide to decide"]),
        ({"a": 10, "b": 10}, "ab", "too wide to decide", ["too wide to decide"] * 2),
        ({"a": 10, "b": 12}, "b", "disproved", ["not explained"] * 2),  # it is not even in there
    ],
)
def test_a_tolerance_that_is_too_wide_shows_nothing_and_can_disprove(values, wide, verdict, explained):
    cause = landed(values, wide=wide)
    assert cause.verdict == verdict
    assert [cause_of([cause], key(name))["explained_by"] for name in "ab"] == explained


def test_the_strongest_evidence_explains():
    afterwards = landed({"a": 10, "b": 10}, ACTS)
    proof = landed({"a": 12, "b": 12}, {**ACTS, "proof": "at least"})
    assert cause_of([afterwards], key("a"))["explained_by"] == "found afterwards"
    assert cause_of([afterwards, proof], key("a"))["explained_by"] == "proved"


@pytest.mark.parametrize(
    ("side", "value", "verdict"),
    [
        ("at least", 11.1, "shown"),
        ("at least", 10.9, "disproved"),
        ("at most", 8.9, "shown"),
        ("at most", 9.1, "disproved"),
    ],
)
def test_a_proof_bounds_what_is_printed(side, value, verdict):
    """Where rows are drawn anew the bound is that of ours: the paper's may be a tolerance from it."""
    assert landed({"a": value, "b": value}, {**ACTS, "proof": side}).verdict == verdict


def test_what_was_not_run_or_cannot_be_explains_nothing():
    prepared, missing = landed({}, run=False), landed({}, {**ACTS, "missing": "The splits."})
    assert (prepared.verdict, missing.verdict) == ("prepared, not run", "undecidable")
    assert cause_of([prepared], key("a"))["explained_by"] == "not explained"
    assert cause_of([prepared, missing], key("a"))["explained_by"] == "undecidable"
    # what is shown comes first
    assert cause_of([missing, landed({"a": 10, "b": 10})], key("a"))["explained_by"] == "found afterwards"


def test_a_proof_needs_a_tolerance():
    cause = Cause("c", {**ACTS, "proof": "at most"}, {key("a"): -1.0})
    cause.land(key("a"), Tolerance(undecided="not decidable"))
    assert cause.verdict == "disproved"


def scorecard(ours, causes):
    published = pd.DataFrame(
        [("t", name, "s", "m", "q", 10.0, np.nan, "count") for name in "ab"], columns=TIDY_COLUMNS
    )
    printed = published.astype(object).fillna("").astype(str)
    rows = [("t", name, "s", "m", "q", value, np.nan, "count") for name, value in ours.items()]
    rule = {"q": {"kind": "result", "rows": "same distribution", "why": "so"}}
    reproduced = pd.DataFrame(rows, columns=TIDY_COLUMNS)
    return figures("p", printed, published.assign(printed="10"), reproduced, rule, causes=causes).set_index(
        "dataset"
    )


def test_the_scorecard_names_causes_of_misses_alone():
    built = pd.DataFrame(
        [
            ("c", "t", "a", "s", "m", "q", 10.5, np.nan, "count"),
            ("c", "t", "b", "s", "m", "q", 9.5, np.nan, "count"),
            ("d", "t", "a", "s", "m", "q", 10.0, 1.0, "count"),
            ("d", "t", "b", "s", "m", "q", 10.0, 1.0, "count"),
        ],
        columns=["cause", *TIDY_COLUMNS],
    )
    declared = {"c": ACTS, "d": {"statement": "So.", "spreads": True}}
    causes = read_causes(declared, built, ["c", "d"])
    result = scorecard({"a": 20.0, "b": 10.0}, causes)
    # two draws of deviation 1
    assert result["tolerance"].unique() == ["3 standard errors and rounding: 4.74"]
    names = ["within", "cause", "variant", "explained_by"]
    assert result.loc["a", names].tolist() == ["no", "c", "10.5", "found afterwards"]
    assert result.loc["b", names].tolist() == ["yes", "", "", "within"]
    table = cause_table({"p": causes}, result).set_index("cause")
    assert table.loc["c", ["evidence", "acts", "landed", "misses", "verdict"]].tolist() == [
        "variant",
        2,
        2,
        1,
        "shown",
    ]
    assert table.loc["d", ["evidence", "misses", "verdict"]].tolist() == ["spread", 0, "measured"]
    # without draws of the rows nothing is decided, and nothing needs a cause
    assert spreads_of(causes[:1]) == {}
    undecided = read_causes({"c": ACTS}, built[:2], ["c"])
    result = scorecard({"a": 20.0, "b": 10.0}, undecided)
    assert set(result["within"]) == {""} and set(result["explained_by"]) == {""}
    assert undecided[0].landed == {} and undecided[0].verdict == "disproved"


def test_variances_of_several_draws_add_up():
    """A count is drawn with the rows, and again by the solver that counts."""
    built = pd.DataFrame(
        [("c", *key("a"), 10.0, 3.0, "count"), ("d", *key("a"), 9.0, 4.0, "count")],
        columns=["cause", *TIDY_COLUMNS],
    )
    only = {"statement": "So.", "spreads": True}
    assert spreads_of(read_causes({"c": only, "d": only}, built, ["c", "d"])) == {key("a"): 5.0}


def test_no_C_is_said_by_the_largest_mean_of_all():
    rows = pd.DataFrame({"C": [1.0, 1.0, 9.0, 9.0], "estimate": [0.1, 0.3, 0.4, 0.1]})
    (row,) = largest_test_error(rows.assign(dataset="banana", kernel="linear"))
    assert (row["setting"], row["metric"], row["value"]) == ("linear", "test_error", pytest.approx(25))
    # a run that failed may have been the largest
    rows.loc[0, "estimate"] = np.nan
    (row,) = largest_test_error(rows.assign(dataset="banana", kernel="linear"))
    cause = Cause("c", {**ACTS, "proof": "at most"}, {key("a"): row["value"]})
    cause.land(key("a"), Tolerance(90, 91))
    assert cause.verdict == "disproved"


def test_a_figure_that_is_not_compared_neither_supports_nor_disproves():
    """Of b there is no run of ours, so that the variant's number is not judged there, right or wrong."""
    built = pd.DataFrame(
        [
            ("c", "t", name, "s", "m", "q", value, np.nan, "count")
            for name, value in (("a", 10.0), ("b", 99.0))
        ]
        + [("d", "t", name, "s", "m", "q", 10.0, 1.0, "count") for name in "ab"],
        columns=["cause", *TIDY_COLUMNS],
    )
    declared = {"c": ACTS, "d": {"statement": "So.", "spreads": True}}
    causes = read_causes(declared, built, ["c", "d"])
    result = scorecard({"a": 20.0}, causes)
    assert result["within"].tolist() == ["no", ""] and result.loc["b", "reason"]
    assert causes[0].landed == {key("a"): True} and causes[0].verdict == "shown"
    # compared, it disproves
    causes = read_causes(declared, built, ["c", "d"])
    scorecard({"a": 20.0, "b": 10.0}, causes)
    assert causes[0].verdict == "disproved"


@pytest.mark.parametrize("paper", WITH_CAUSES)
def test_every_declared_cause_acts_on_printed_figures(root, paper):
    published = read_published(root / f"workflow/papers/{paper}/printed.csv").fillna(
        {name: "" for name in KEY}
    )
    keys = [tuple(row) for row in published[KEY].itertuples(index=False)]
    for name, part in WITH_CAUSES[paper].causes.items():
        cause = Cause(name, part)
        assert ("spreads" in part) != any(map(cause.acts_on, keys)), name
        for entry in part.get("acts", []):
            only = Cause(name, {**part, "acts": [entry]})
            named = {key[1] for key in keys if only.acts_on(key)}
            assert set(entry.get("datasets", named)) == named, (name, entry)


@pytest.mark.parametrize("paper", slow(*WITH_CAUSES))
def test_the_cells_of_declared_causes_are_planned(root, registry, paper):
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    config |= yaml.safe_load((root / "config/paper.yaml").read_text())
    complete_config(config, {name: paper.schema for name, paper in load_papers().items()})
    assert {name for name in config["causes"] if name.startswith(paper)} <= {
        f"{paper}/{name}" for name in WITH_CAUSES[paper].causes
    }
    for name, entry in WITH_CAUSES[paper].causes.items():
        check_config({**config[paper], **entry.get("overlay", {})}, WITH_CAUSES[paper].schema)
        runs = runs_of(paper, name, entry, config, registry)
        assert bool(runs) == bool({"plan", "overlay"} & entry.keys()), name
        assert runs or "rows" in entry or "missing" in entry, name
        for run in runs:
            assert run.cells and run.stage == run.cause == name
            assert min(cell.mem_mb for cell in run.cells.values()) >= entry.get("mem_mb", 0)
            assert all(any(fnmatchcase(cell, p) for p in entry.get("cells", ["*"])) for cell in run.cells)


def test_a_least_error_of_the_standard_method_is_not_taken_of_a_sample():
    place = {"dataset": "banana", "method": "standard", "realisation": 1, "status": "ok", "gamma": np.nan}
    rows = pd.DataFrame(
        {**place, "kernel": kernel, "C": C, "estimate": estimate, "stands_for": stands_for}
        for kernel, C, estimate, stands_for in (
            ("linear", 1, 0.25, np.nan),
            ("linear", 10, 0.5, np.nan),
            ("rbf", 1, 0.25, np.nan),
            ("rbf", 10, 0.125, 3.0),
        )
    )
    (only,) = errors_of_standard(rows)
    assert (only["setting"], only["value"]) == ("linear", 25.0)


def test_committed_causes_have_rows_and_verdicts(root):
    results = root / "results/paper"
    config = yaml.safe_load((root / "config/paper.yaml").read_text())
    table = pd.read_csv(results / "scorecard_causes.csv").set_index(["paper", "cause"])
    for name in config["causes"]:
        paper, cause = name.split("/")
        assert table.loc[(paper, cause), "verdict"] in (
            "shown",
            "disproved",
            "too wide to decide",
            "measured",
        )
        assert cause in set(pd.read_csv(results / paper / "causes.csv")["cause"])
    # the fits of titanic cannot have the printed error, and the variant has it to the digit
    assert table.loc[("franc2008", "least_errors"), "verdict"] == "shown"
    assert table.loc[("franc2008", "zeroed_realisation"), ["acts", "landed"]].tolist() == [2, 2]
