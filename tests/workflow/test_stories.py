"""The page on the full-scale results has the numbers of the files, and a contradicted sentence stops it."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import stories
from checkouts import ROOT

FOLDER = ROOT / "results/paper"


@pytest.fixture
def results(tmp_path):
    """A copy of the committed results, without their figures."""
    only = shutil.ignore_patterns("*.pdf", "*.svg", "*.html", "*.tex")
    return Path(shutil.copytree(FOLDER, tmp_path / "paper", ignore=only))


def test_the_committed_page_is_that_of_the_committed_results(tmp_path):
    stories.main(FOLDER, tmp_path / "README.md")
    assert (tmp_path / "README.md").read_text() == (FOLDER / "README.md").read_text()


def test_a_number_follows_its_file(results):
    before = stories.page(results)
    table = pd.read_csv(results / "bakir2004/table1.csv")
    chosen = table.eval("setting == 'train=200000' and method == 'cross_training' and metric == 'time'")
    assert chosen.sum() == 1 and "it takes 123 s" not in before
    table.loc[chosen, "value"] = 123.0
    table.to_csv(results / "bakir2004/table1.csv", index=False)
    assert "it takes 123 s" in stories.page(results)


@pytest.mark.parametrize(
    ("file", "change", "sentence"),
    [
        ("libraries.csv", {"stage == 'cells'": ("commit", "0" * 40)}, "all rows are of one commit"),
        ("libraries.csv", {"stage == 'any_C_on_banana'": ("present", "yes")}, "no row is of the present"),
        (
            "libraries.csv",
            {"stage == 'draws_of_large'": ("cpu", "another")},
            "the rows of one commit are of one",
        ),
        ("scorecard.csv", {"cause == 'deviation_of_ten'": ("metric", "time_total")}, "no time of variants"),
        (
            "scorecard_causes.csv",
            {"cause == 'zeroed_realisation'": ("verdict", "disproved")},
            "the cause zeroed_realisation is shown; it is disproved",
        ),
        (
            "franc2008/claims.csv",
            {"claim == 'identical-errors'": ("verdict", "not reproduced")},
            "standard and proposed agree on every point",
        ),
        (
            "franc2008/agreement_points.csv",
            {"not degenerate": ("wrong_by", "unlearn")},
            "unlearning is right wherever",
        ),
    ],
)
def test_a_sentence_that_is_no_longer_true_stops_the_page(results, file, change, sentence):
    frame = pd.read_csv(results / file)
    for rows, (column, value) in change.items():
        frame.loc[frame.eval(rows), column] = value
    frame.to_csv(results / file, index=False)
    with pytest.raises(stories.Untrue, match=sentence):
        stories.page(results)


def test_a_number_that_is_not_there_is_named(results):
    own = stories.Results(results, "franc2008")
    with pytest.raises(
        LookupError, match="franc2008/table2 has 0 values, not one, for dataset titanic, setting rfb"
    ):
        own.value("table2", dataset="titanic", setting="rfb")


@pytest.mark.parametrize(("text", "wanted"), [
    (stories.digits(1234.5), "1,200"),
    (stories.digits(0.0001234, 3), "0.000123"),
    (stories.digits(0.0996), "0.10"),
    (stories.digits(0), "0"),
    (stories.fixed("20870"), "20,870"),
    (stories.span([0.5, 0.25, 2]), "0.25 to 2.0"),
    (stories.span([3, 3], 1), "3"),
    (stories.named(8), "eight"),
    (stories.named(13), "13"),
])  # fmt: skip
def test_numbers_in_sentences(text, wanted):
    assert text == wanted


def test_lines_are_filled_and_tables_are_left():
    text = "a\nb\n\n| c |\n|---|\n\n- d\n  e\n- f\n\n![g\nh](i)\n"
    assert stories.wrapped(text) == "a b\n\n| c |\n|---|\n\n- d e\n- f\n\n![g\nh](i)\n"
