"""The scorecard: published beside reproduced, tolerances, verdicts, and the README's summary."""

import copy
import importlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from lib.causes import Cause, cause_table
from lib.claims import VERDICTS, check_claims, claim_tests, kind_of, limits, verdict
from lib.config import WORKFLOW, check_config
from lib.papers import FOLDER, load_papers
from lib.rows import write_table
from lib.scorecard import COLUMNS, exhibits, figures, libraries, page_values, paper_table, totals, verdicts
from lib.shown import strip
from lib.tables import KEY, TIDY_COLUMNS
from lib.tolerances import declared, read_printed, read_published

# paper -> lines of its printed.csv, below the heading
PRINTED = {path.parent.name: len(path.read_text().splitlines()) - 1 for path in FOLDER.glob("*/printed.csv")}


@pytest.fixture(scope="module")
def claims(root):
    return {key: paper.scorecard_entry() for key, paper in load_papers().items() if paper.claims}


def test_every_claim_has_a_test_and_every_test_a_claim(claims):
    assert set(claims) == {path.parent.name for path in FOLDER.glob("*/claims.py")}
    for paper, entry in claims.items():
        assert set(entry["claims"]) == set(claim_tests(importlib.import_module(f"papers.{paper}.claims"))), (
            paper
        )


def test_claims_file_is_valid(claims):
    check_claims(claims)


def changed(claims, value, *path):
    claims = copy.deepcopy(claims)
    place = claims
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return claims


@pytest.mark.parametrize(
    ("value", "path", "words"),
    [
        (
            ["speedup"],
            ("franc2008", "claims", "breakdown", "limits"),
            ["No claim names the limit 'breakdown'"],
        ),
        (["tie"], ("wen2017", "claims", "faster", "limits"), ["No claim names the limit 'faster_at_10'"]),
        (["x"], ("wen2017", "claims", "faster", "limits"), ["wen2017.faster names 'x'", "among the limits"]),
        (["table9"], ("bakir2004", "claims", "cost", "exhibits"), ["bakir2004.cost names 'table9'"]),
        ("me", ("bakir2004", "claims", "cost", "by"), ["bakir2004.cost", "'me'"]),
        ("paper", ("bakir2004", "claims", "cost", "by"), ["bakir2004.cost", "no text"]),
        ("fast", ("bakir2004", "claims", "cost", "test"), ["bakir2004.cost", "test", "'fast'"]),
    ],
)
def test_mistakes_in_claims_are_sentences(claims, value, path, words):
    with pytest.raises(ValueError) as caught:
        check_claims(changed(claims, value, *path))
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize("entry", [{"why": "so"}, {"kind": "result", "rows": "mine", "why": "so"}])
def test_mistakes_in_the_rules_of_printed_figures_are_sentences(entry):
    with pytest.raises(ValueError, match="svs"):
        check_config({"svs": entry}, WORKFLOW / "schemas/printed.schema.yaml")


def test_limits_of_a_paper():
    assert limits({"limits": {"large": {"value": 10}, "other": {"value": 1}}}) == {"large": 10, "other": 1}


def test_verdicts_of_counts():
    expected = {
        (3, 3): "reproduced",
        (54, 53): "reproduced but for 1 of 54",
        (10, 6): "reproduced but for 4 of 10",
        (10, 5): "not reproduced",
        (54, 1): "not reproduced",
        (3, 0): "not reproduced",
        (0, 0): "not testable here",
    }
    assert {counts: verdict(*counts) for counts in expected} == expected
    kinds = {kind_of(word) for word in expected.values()}
    assert kinds == set(VERDICTS) and kind_of("reproduced but for 1 of 54") == "reproduced but for"


@pytest.mark.parametrize("paper", PRINTED)
def test_every_printed_figure_is_read_and_has_a_tolerance(root, claims, paper):
    path = root / f"workflow/papers/{paper}/printed.csv"
    printed, published = read_printed(path), read_published(path)
    assert len(printed) == PRINTED[paper]
    assert set(published.index) == set(printed.index) == set(range(len(printed)))
    assert published["value"].notna().all() and not published.duplicated(KEY).any()
    rules = set(claims[paper]["figures"])
    named = published["exhibit"] + "/" + published["metric"]
    assert set(named.where(named.isin(rules), published["metric"])) == rules
    assert set(published["exhibit"]) <= set(claims[paper]["exhibits"])


def test_registry_names_of_the_printed_data_sets(root, registry):
    for paper in PRINTED:
        published = read_published(root / f"workflow/papers/{paper}/printed.csv")
        tables_table = published[published["exhibit"].str.startswith("table")]
        assert set(tables_table["dataset"]) <= set(registry), paper


@pytest.mark.parametrize("paper", PRINTED)
def test_figures_that_are_those_of_the_paper_are_all_within(root, claims, paper):
    path = root / f"workflow/papers/{paper}/printed.csv"
    published = read_published(path)
    result = figures(paper, read_printed(path), published, published, claims[paper]["figures"])
    assert list(result.columns) == COLUMNS and len(result) == PRINTED[paper]
    pd.testing.assert_frame_equal(result[TIDY_COLUMNS], read_printed(path))
    assert (result["reproduced"] != "").all() and set(result["within"]) <= {"yes", ""}
    undecided = result[result["within"] == ""]
    assert ((undecided["reason"] != "") == (undecided["explained_by"] == "")).all()
    assert set(undecided["explained_by"]) <= {"", "too wide to decide"}


@pytest.mark.parametrize("paper", PRINTED)
def test_a_paper_that_was_not_run_has_its_rows(root, claims, paper):
    path = root / f"workflow/papers/{paper}/printed.csv"
    result = figures(paper, read_printed(path), read_published(path), None, claims[paper]["figures"])
    assert len(result) == PRINTED[paper] and (result["reproduced"] == "").all()
    assert set(result["reason"]) <= {"the paper was not run", "the unit of the other times"}


def frame(*rows):
    return pd.DataFrame(rows, columns=TIDY_COLUMNS)


def card(published, reproduced, rules, paper="p"):
    """The scorecard of tidy rows."""
    return figures(paper, *as_read(published), reproduced, rules).iloc[0]


def as_read(published):
    """Published figures as they are printed and read."""
    printed = published.astype(object).fillna("").astype(str)
    return printed, published.assign(printed=printed["value"]).astype({"value": float})


def test_a_figure_shows_its_tolerance():
    """Points and draws are looked up beside the figure, of its method or of none, or in another exhibit."""
    published = frame(("t", "d", "s", "m", "q", "10.0", np.nan, "percent"))
    ours = [
        ("t", "d", "s", "m", "q", 10.1, np.nan, "percent"),
        ("u", "d", "", "", "n", 1000, np.nan, "count"),
        ("t", "d", "s", "", "n", 50, np.nan, "count"),
    ]
    for points, exact, same in (
        ("u/n", "yes", "yes"),
        ("n", "yes", "too wide to decide"),
    ):
        for rows, expected in (("exact", exact), ("same distribution", same)):
            rule = {"kind": "result", "rows": rows, "points": [points], "why": "so"}
            row = card(published, frame(*ours), {"q": rule})
            assert (row["kind"], row["rows"]) == ("result", rows)
            assert expected in (row["within"], row["explained_by"]), (points, rows)
            assert float(row["difference"]) == pytest.approx(0.1)
            assert float(row["ratio"]) == pytest.approx(1.01)
    assert row["within"] == "" and row["tolerance"].startswith("3 standard errors and rounding: 18")
    ours[0] = (*ours[0][:5], 12.06, np.nan, "percent")
    exact = card(published, frame(*ours), {"q": {**rule, "rows": "exact"}})
    assert (exact["within"], exact["least"], exact["most"]) == ("no", "7.95", "12.05")
    assert exact["tolerance"] == "one point and rounding: 2.05"


def test_times_are_compared_as_ratios_to_one_of_them():
    unit = {"method": "slow", "metric": "time"}
    rule = {"kind": "result", "factor": 1.6, "relative_to": unit, "why": "so"}
    published = frame(
        ("t", "d", "s", "fast", "time", 10.0, np.nan, "s"),
        ("t", "d", "s", "slow", "time", 100.0, np.nan, "s"),
    )
    ours = frame(
        ("t", "d", "s", "fast", "time", 1.5, np.nan, "s"), ("t", "d", "s", "slow", "time", 10.0, 0, "s")
    )
    printed = as_read(published)
    fast, slow = (row for _, row in figures("p", *printed, ours, {"time": rule}).iterrows())
    assert (fast["within"], fast["difference"], fast["relative_to"]) == ("yes", "", "slow time")
    assert (fast["published_relative"], fast["reproduced_relative"], fast["ratio"]) == ("0.1", "0.15", "0.15")
    assert (slow["within"], slow["reason"]) == ("", "the unit of the other times")
    without = figures("p", *printed, ours.iloc[:1], {"time": rule})
    assert without["within"].tolist() == ["", ""]
    assert without["reason"].tolist() == [
        "nothing to divide by: method not run: slow",
        "method not run: slow",
    ]


def test_what_is_not_there_has_a_reason():
    ours = frame(
        ("t", "d", "s", "m", "q", np.nan, np.nan, ""),
        ("t", "d", "s", "n", "other", 1.0, np.nan, ""),
        ("t", "e", "s", "m", "q_extrapolated", 7.0, np.nan, ""),
        ("t", "e", "k=10", "m", "q", 1.0, np.nan, ""),
        ("t", "e", "k=10", "m", "rounds", 3, np.nan, "count"),
    )

    def row(*key):
        return card(
            frame((*key, "1.0", np.nan, "")),
            ours,
            {name: {"kind": "result", "factor": 1.2, "why": "so"} for name in ("q", "z")},
        )

    for key, reason in (
        (("u", "d", "s", "m", "q"), "u was not made"),
        (("t", "f", "s", "m", "q"), "data set not run: f"),
        (("t", "d", "r", "m", "q"), "setting not run: r"),
        (("t", "d", "s", "l", "q"), "method not run: l"),
        (("t", "d", "s", "m", "q"), "no run succeeded"),
        (("t", "e", "s", "m", "z"), "not run at this size, and not extrapolated"),
    ):
        values_found = row(*key)
        assert (values_found["reason"], values_found["reproduced"], values_found["within"]) == (
            reason,
            "",
            "",
        ), key
    guessed, partial = row("t", "e", "s", "m", "q"), row("t", "e", "k=10", "m", "q")
    assert (guessed["reproduced"], guessed["extrapolated"], guessed["within"]) == ("7", "reproduced", "no")
    assert (partial["extrapolated"], partial["within"]) == ("reproduced", "yes")
    with pytest.raises(ValueError, match=r"no q of the published \('t', 'd', 's', 'n'\)"):
        row("t", "d", "s", "n", "q")
    with pytest.raises(ValueError, match="no tolerance of the published metric p x"):
        row("t", "d", "s", "m", "x")


def test_a_set_of_the_same_distribution_stands_for_one_that_was_not_run():
    published = frame(("t", "real", "s", "m", "q", "10.0", np.nan, "percent"))
    rule = {"q": {"kind": "result", "rows": "exact", "points": ["n"], "why": "so"}}
    ours = [
        ("t", "made", "s", "m", "q", 11.0, np.nan, "percent"),
        ("t", "made", "s", "", "n", 1000, np.nan, "count"),
        ("u", "made", "s", "all", "runs", 5, np.nan, "count"),
    ]
    whole = {"exhibit": "u", "method": "all", "metric": "runs", "runs": {"s": 5}}

    def row(rows, runs=5):
        declared = {"datasets": {"real": {"is": "made"}}, "whole": {**whole, "runs": {"s": runs}}}
        return figures("p", *as_read(published), frame(*rows), rule, stand_ins=declared).iloc[0]

    values_found = row(ours)
    # two draws, and not one point
    assert (values_found["rows"], values_found["dataset"]) == ("same distribution", "real")
    assert (values_found["reproduced"], values_found["within"]) == ("11", "yes")
    assert row(ours, runs=6)["reason"] == "data set not run: real"
    values_found = row([*ours, ("t", "real", "s", "m", "q", 11.0, np.nan, "percent")])
    assert values_found["rows"] == "exact" and values_found["within"] == ""


def test_units_have_to_be_the_same():
    published, ours = (
        frame(("t", "d", "s", "m", "q", 1.0, np.nan, unit)) for unit in ("percent", "fraction")
    )
    with pytest.raises(ValueError, match="printed in 'percent' and reproduced in 'fraction'"):
        card(published, ours, {"q": {"kind": "result", "factor": 2, "why": "so"}})


def test_figures_that_a_paper_extrapolated(root, claims):
    path = root / "workflow/papers/wen2017/printed.csv"
    published = read_published(path)
    extrapolated = declared(path)["extrapolated"]
    result = figures(
        "wen2017", read_printed(path), published, published, claims["wen2017"]["figures"], extrapolated
    )
    marked = result[result["extrapolated"] != "no"]
    assert marked[["exhibit", "dataset", "setting", "method"]].to_numpy().tolist() == [
        ["table3", "mnist", "k=100", "libsvm"],
        ["table3", "mnist", "k=100", "sir"],  # its unit is
    ]


def test_products_are_one_figure(root, claims):
    path = root / "workflow/papers/bakir2004/printed.csv"
    published = read_published(path)
    ours = published.copy()
    banana = ours["dataset"].eq("banana") & ours["metric"].eq("subset_size")
    ours.loc[banana, "value"] = 100
    result = figures("bakir2004", read_printed(path), published, ours, claims["bakir2004"]["figures"])
    subsets = result[result["metric"] == "subsets"].set_index("dataset")
    assert subsets.loc["banana", ["value", "reproduced", "within"]].tolist() == ["5x200", "5x100", "no"]
    assert subsets.loc["waveform", ["value", "reproduced", "within"]].tolist() == ["5x200", "5x200", "yes"]


def test_totals_and_pages(root, claims):
    path = root / "workflow/papers/franc2008/printed.csv"
    published = read_published(path)
    figures_table = figures(
        "franc2008", read_printed(path), published, published, claims["franc2008"]["figures"]
    )
    decided = pd.DataFrame({"claim": list(claims["franc2008"]["claims"]), "tests": 2, "held": 2})
    claims_table = verdicts(claims, {"franc2008": decided})
    assert len(claims_table) == sum(len(entry["claims"]) for entry in claims.values())
    assert set(claims_table.loc[claims_table["paper"] == "wen2017", "verdict"]) == {"not testable here"}
    exhibits_table = exhibits(claims, figures_table, claims_table)
    by_exhibit = exhibits_table.set_index(["paper", "exhibit"])
    assert len(by_exhibit) == sum(len(entry["exhibits"]) for entry in claims.values())
    # five claims of the paper are about Table 3, and its times are not compared
    names = ["settings", "results", "reproduced", "compared", "within", "tests", "held", "verdict"]
    assert by_exhibit.loc[("franc2008", "table3"), names].tolist() == [
        0,
        130,
        130,
        104,
        103,
        10,
        10,
        "reproduced",
    ]
    # nor is Table 2, since it is not known of how many points its errors are shares
    assert by_exhibit.loc[("franc2008", "table2"), names].tolist() == [0, 52, 52, 0, 0, 8, 8, "reproduced"]
    assert by_exhibit.loc[("wen2017", "table1"), "verdict"] == "not testable here"
    assert by_exhibit.loc[("sarafis2018", "figure6"), "verdict"] == "not testable here"

    causes_table = cause_table({"franc2008": [Cause("c", {"statement": "So.", "acts": []})]}, figures_table)
    headings, body = paper_table(
        {paper: entry["name"] for paper, entry in claims.items()}, exhibits_table, claims_table
    )
    columns = dict(zip(headings, zip(*body, strict=True), strict=True))
    assert columns["Franc et al. (2008)"] == ("103 of 104", "1", "12 of 12", "0")
    claims_by_paper = {
        paper: sum(claim["by"] == "paper" for claim in entry["claims"].values())
        for paper, entry in claims.items()
    }
    assert columns["Wen et al. (2017)"] == ("n/a", "n/a", "0 of 9", "9") and claims_by_paper["wen2017"] == 9
    # verdicts that no paper has are left out
    results = ["Results: within tolerance", "Results: too wide to decide"]
    assert len(columns) == 1 + len(claims)
    assert columns[""] == (*results, "Claims: reproduced", "Claims: not testable here")
    said = "\n".join(totals(exhibits_table, claims_table))
    assert "results: 182; a number of ours stands beside 182; 104 are compared: 103 within, 0 proved" in said
    count = sum(claims_by_paper.values())
    assert f"Claims of the papers: {count}; 12 reproduced, {count - 12} not testable here." in said
    numbers = {"franc2008": pd.DataFrame([{"claim": "breakdown", "value": 1.0, "limit": np.nan}])}
    values = page_values(claims, figures_table, exhibits_table, claims_table, numbers, causes_table)
    assert values["numbers"]["franc2008", "breakdown"][0]["limit"] == ""
    assert values["numbers"]["wen2017", "faster"] == []


@pytest.mark.parametrize(
    ("kinds", "verdict", "parts"),
    [
        # ends of axes count, and may be explained
        (
            [("anchor", "no", "found afterwards"), ("anchor", "no", "not explained"), ("setting", "no", "")],
            "reproduced but for 2 of 6",
            [("within", 4), ("found afterwards", 1), ("missed", 1)],
        ),
        (
            [
                ("result", "yes", "within"),
                ("result", "no", "undecidable"),
                ("result", "", "too wide to decide"),
            ],
            "reproduced but for 1 of 6",
            [("within", 5), ("undecidable", 1)],
        ),
    ],
)
def test_a_strip_shows_what_the_verdict_counts(claims, kinds, verdict, parts):
    """Four tests hold of the claims about the exhibit, beside these figures."""
    rows = [("bakir2004", "figure3", kind, "1", within, explained) for kind, within, explained in kinds]
    columns = ["paper", "exhibit", "kind", "reproduced", "within", "explained_by"]
    entry = claims["bakir2004"]
    named = [
        name
        for name, claim in entry["claims"].items()
        if claim["by"] == "paper" and "figure3" in claim["exhibits"]
    ]
    counts = [4 if name == named[0] else 0 for name in entry["claims"]]
    decided = pd.DataFrame({"claim": list(entry["claims"]), "tests": counts, "held": counts})
    claims_table = verdicts({"bakir2004": entry}, {"bakir2004": decided})
    values_found = exhibits({"bakir2004": entry}, pd.DataFrame(rows, columns=columns), claims_table)
    row = values_found.set_index("exhibit").loc["figure3"]
    assert row["verdict"] == verdict
    assert strip(row) == parts


def test_the_strip_of_an_exhibit_of_settings_has_its_settings(claims):
    """Table 2 of Wen et al. has no others."""
    entry = claims["wen2017"]
    decided = [("yes", "within"), ("yes", "within"), ("no", "not explained")]
    rows = [("wen2017", "table2", "setting", "1", *words) for words in decided]
    columns = ["paper", "exhibit", "kind", "reproduced", "within", "explained_by"]
    claims_table = verdicts({"wen2017": entry}, {})
    result = exhibits({"wen2017": entry}, pd.DataFrame(rows, columns=columns), claims_table)
    row = result.set_index("exhibit").loc["table2"]
    assert (row["verdict"], strip(row)) == ("reproduced but for 1 of 3", [("within", 2), ("missed", 1)])


def test_origins_of_rows_are_counted(tmp_path):
    origin = {
        "library": ["1+a", "1+b", "1+b", "1+b"],
        "commit": ["c", "c", "d", "c"],
        "cpu": ["x", None, "x", None],
    }
    write_table(tmp_path / "cells.parquet", pa.table(origin))
    nothing = pa.array([None], pa.string())
    write_table(tmp_path / "test.parquet", pa.table({"library": ["2+b"], "commit": nothing, "cpu": nothing}))
    paths = [tmp_path / f"{name}.parquet" for name in ("cells", "test")]
    assert libraries(paths, [("one", "cells"), ("other", "test")]).to_numpy().tolist() == [
        ["one", "cells", "1+a", "c", "x", 1],
        ["one", "cells", "1+b", "c", "", 2],
        ["one", "cells", "1+b", "d", "x", 1],
        ["other", "test", "2+b", "", "", 1],
    ]


def test_committed_scorecard_has_every_figure_and_claim(root, claims):
    results = root / "results/paper"
    result = pd.read_csv(results / "scorecard.csv", dtype=str, keep_default_na=False)
    printed = [
        read_printed(root / f"workflow/papers/{paper}/printed.csv").assign(paper=paper)
        for paper in claims
        if "figures" in claims[paper]
    ]
    pd.testing.assert_frame_equal(
        result[["paper", *TIDY_COLUMNS]], pd.concat(printed, ignore_index=True)[["paper", *TIDY_COLUMNS]]
    )
    assert ((result["reproduced"] != "") | (result["reason"] != "")).all()
    decided = pd.read_csv(results / "scorecard_claims.csv")
    assert list(zip(decided["paper"], decided["claim"], strict=True)) == [
        (paper, claim) for paper, entry in claims.items() for claim in entry["claims"]
    ]


@pytest.mark.slow
def test_targets_of_the_exhibits_are_made(checkout, claims):
    targets = [
        f"results/demo/{paper}/{part['target']}"
        for paper, entry in claims.items()
        for part in entry["exhibits"].values()
    ]
    done = checkout.snakemake("--dry-run", "--quiet", "all", "--", *targets)
    assert done.returncode == 0, done.stderr
