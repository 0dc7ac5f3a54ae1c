"""Published figures as pages show them: states, words, digits."""

import re

import pandas as pd
import pytest
import yaml
from lib.papers import load_papers
from lib.shown import (
    DATASETS,
    EXPLAINED_BY,
    NOT_RUN,
    STATES,
    UNDECIDED,
    WITHIN,
    WORDS,
    about_in_words,
    allowed,
    cause_in_words,
    dataset_in_words,
    digits,
    exhibit_name,
    number_in_words,
    shown_figures,
    state,
)

FIGURE = {
    "paper": "p", "exhibit": "table2", "dataset": "heart", "setting": "k=10", "method": "sir",
    "metric": "time_total", "value": "1.170", "spread": "0.2", "unit": "s", "kind": "result",
    "reproduced": "0.0866496", "least": "0.17157", "most": "0.694239", "tolerance": "at most 2 times",
    "within": "yes", "cause": "", "variant": "", "explained_by": "within",
    "published_relative": "", "reproduced_relative": "", "relative_to": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, WITHIN),
        *(({"explained_by": kind}, kind) for kind in EXPLAINED_BY),
        ({"explained_by": ""}, UNDECIDED),
        ({"explained_by": "", "reproduced": ""}, NOT_RUN),
    ],
)
def test_states(changes, expected):
    assert state({**FIGURE, **changes}) == expected


@pytest.mark.parametrize(
    ("text", "least", "most", "expected"),
    [
        ("22.60165773", "21.58", "24.43", "22.6"),
        ("0.0866496", "0.17157", "0.694239", "0.09"),
        ("0.00123456", "0.0012", "0.0013", "0.00123"),
        ("1234.567", "1000", "3000", "1235"),
        ("98000", "97999.5", "98000.5", "98000"),
        ("1234.567", "", "", "1235"),
        ("1234.567", "5", "5", "1235"),
        ("5x200", "4.5", "5.5", "5x200"),
        ("", "1", "2", ""),
    ],
)
def test_digits_are_those_that_the_tolerance_makes_matter(text, least, most, expected):
    assert digits(text, {"least": least, "most": most}) == expected


def test_figures_in_words():
    relative = {
        "published_relative": "0.3451327",
        "reproduced_relative": "0.13342598",
        "relative_to": "libsvm time_total",
    }
    rows = [FIGURE, {**FIGURE, **relative}, {**FIGURE, "exhibit": "figure3", "metric": "of_a_new_paper"}]
    first, second, third = shown_figures(
        pd.DataFrame(rows), ["", "relative to libsvm time_total", "method not run: nu_svm"]
    )
    assert [row["id"] for row in (first, second, third)] == ["p-table2-1", "p-table2-2", "p-figure3-1"]
    assert (first["quantity"], first["about"]) == ("time in all, s", "heart, 10 folds, SIR")
    # as printed, with the zero at its end
    assert (first["published"], first["spread"], first["reproduced"]) == ("1.170", "0.2", "0.09")
    assert first["allowed"] == "0.17 to 0.69"
    assert (second["quantity"], second["spread"]) == ("time in all", "")
    assert (second["published"], second["reproduced"]) == ("0.35", "0.13")
    assert second["remarks"] == "relative to LIBSVM, time in all"
    assert (third["quantity"], third["exhibit"]) == ("of a new paper, s", "Figure 3")
    assert third["remarks"] == "method not run: nu-SVM"


def test_no_internal_name_is_shown(root):
    printed = pd.read_csv(root / "results/paper/scorecard.csv", keep_default_na=False, dtype=str)
    for row in shown_figures(printed, [""] * len(printed)):
        assert not set("_=") & set(row["about"] + row["quantity"]), row
    for path in (root / "results/paper").glob("*/claims_numbers.csv"):
        numbers = pd.read_csv(path, keep_default_na=False)
        shown = {*map(about_in_words, numbers["dataset"]), *map(number_in_words, numbers["quantity"])}
        assert not [text for text in shown if re.search(r"_|train=|-\d|\b(?:kfold|loo|sir|svm|svs)\b", text)]
    assert (
        number_in_words("mean in_bound_svs, sir / cold, log_C")
        == "mean in-bound support vectors, SIR / cold, log C"
    )
    assert number_in_words("kfold, skewed-ringnorm-80") == "cross-validation, skewed ringnorm, 80 features"


def test_data_sets_in_words(root):
    """Keys of the registry and names that the papers print have no hyphens, and no others have words."""
    registry = yaml.safe_load((root / "config/datasets.yaml").read_text())
    tables = map(pd.read_csv, (root / "workflow/papers").glob("*/printed.csv"))
    printed = {name for table in tables for name in table["dataset"]}
    names = {*registry, *printed}
    assert not [name for name in names if "-" in dataset_in_words(name)]
    assert set(DATASETS) <= names
    assert dataset_in_words("mnist-2v9") == "MNIST 2 against 9"
    assert dataset_in_words("flare-solar") == "flare solar"
    assert dataset_in_words("skewed-ringnorm-20") == "skewed ringnorm, 20 features"
    assert dataset_in_words("twonorm-generated") == "twonorm, generated"
    assert about_in_words("splice-libsvm, train=400") == "splice (LIBSVM), 400 training rows"


@pytest.mark.parametrize(
    "exhibit", [exhibit for paper in load_papers().values() for exhibit in paper.exhibits.values()]
)
def test_captions_have_no_keys(exhibit):
    """Columns of files, keys of the configuration and of data sets are said in words."""
    literals = set(re.findall("``(.+?)``", exhibit.caption, flags=re.S))
    assert not [literal for literal in literals if not re.search(r"[ .]", literal)]
    # the facts of a plan have the words of the data sets that its configuration names
    assert not re.search(r'\["datasets?"\](?! \| length)', exhibit.caption)


def test_causes_in_words():
    assert cause_in_words("cache_for_mir") == "cache for MIR"
    assert cause_in_words("spans_by_general_qp") == "spans by general QP"
    assert cause_in_words("tie_of_C") == "tie of C"


def test_counts_that_are_settings_are_allowed_as_printed():
    setting = {**FIGURE, "kind": "setting", "least": "399.5", "most": "400.5"}
    assert [row["allowed"] for row in shown_figures(pd.DataFrame([setting]), [""])] == ["as printed"]
    assert allowed({**setting, "kind": "result"}) == "399.5 to 400.5"
    assert allowed({**setting, "least": "", "most": ""}) == ""


def test_every_printed_quantity_has_words_and_every_state_a_colour(root):
    printed = pd.read_csv(root / "results/paper/scorecard.csv")["metric"]
    assert set(printed) <= set(WORDS)
    style = (root / "workflow/report/page.html").read_text()
    assert all(f".{word.replace(' ', '-')}" in style for word in STATES)


def test_exhibits_in_words():
    assert [exhibit_name(name) for name in ("table2", "figure10", "growth")] == [
        "Table 2",
        "Figure 10",
        "Growth",
    ]
