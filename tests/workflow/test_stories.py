"""The pages on the full-scale results have the numbers of the files, and a contradicted sentence stops it."""

import re
import shutil
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import stories
from checkouts import ROOT
from lib import story
from lib.papers import load_papers
from slow import slow_cases

FOLDER, CONFIG = ROOT / "results/paper", ROOT / "config/paper.yaml"


@pytest.fixture
def results(tmp_path):
    """A copy of the committed results, without their figures."""
    only = shutil.ignore_patterns("*.pdf", "*.svg", "*.html", "*.tex")
    return Path(shutil.copytree(FOLDER, tmp_path / "paper", ignore=only))


def test_the_committed_pages_are_those_of_the_committed_results(root):
    texts, summary = stories.pages(FOLDER, CONFIG)
    assert {"", "comparison", "franc2008"} < set(texts)
    for key, text in texts.items():
        path = FOLDER / "causes.md" if key == "causes" else FOLDER / key / "README.md"
        assert path.read_text() == text
    assert summary in texts[""] and summary in (root / "README.md").read_text()


@pytest.mark.slow
def test_a_number_follows_its_file(results):
    def page():
        return stories.pages(results, CONFIG)[0]["bakir2004"]

    table = pd.read_csv(results / "bakir2004/table1.csv")
    chosen = table.eval("setting == 'train=200000' and method == 'cross_training' and metric == 'time'")
    assert chosen.sum() == 1 and "takes 123 s" not in page()
    table.loc[chosen, "value"] = 123.0
    table.to_csv(results / "bakir2004/table1.csv", index=False)
    assert "takes 123 s" in page()


def test_every_exhibit_and_claim_stands_on_its_page():
    claims = pd.read_csv(FOLDER / "scorecard_claims.csv")
    for key, paper in load_papers().items():
        text = (FOLDER / key / "README.md").read_text()
        headings = re.findall(r"^## (.*)$", text, flags=re.M)
        assert headings == [exhibit.title for exhibit in paper.exhibits.values()] + ["Claims"] * bool(
            paper.claims
        )
        drawn = re.findall(r"!\[[^]]+\]\((.*?)\)", text)
        assert drawn == [f"{exhibit.key}.svg" for exhibit in paper.figures]
        assert all((FOLDER / key / name).is_file() for name in drawn)
        assert all(
            f"| {statement} |" in text for statement in claims.loc[claims["paper"] == key, "statement"]
        )


@pytest.mark.parametrize(
    ("file", "change", "sentence"),
    [
        (
            "scorecard_causes.csv",
            {"cause == 'median_of_models'": ("verdict", "disproved")},
            "median_of_models",
        ),
        (
            "franc2008/claims.csv",
            {"claim == 'identical-errors'": ("verdict", "not reproduced")},
            "the methods agree on every point",
        ),
        *slow_cases(
            ("scorecard_claims.csv", {"claim == 'week-and-night'": ("held", 2)}, "week-and-night misses"),
            ("scorecard_claims.csv", {"claim == 'accuracy'": ("held", 0)}, "accuracy holds"),
            (
                "scorecard_claims.csv",
                {"claim == 'week-and-night'": ("by", "us")},
                "bakir2004 claims week-and-night",
            ),
            (
                "franc2008/agreement_points.csv",
                {"not degenerate": ("wrong_by", "unlearn")},
                "unlearning is right wherever",
            ),
        ),
    ],
)
def test_a_sentence_that_is_no_longer_true_stops_the_page(results, file, change, sentence):
    frame = pd.read_csv(results / file)
    for rows, (column, value) in change.items():
        frame.loc[frame.eval(rows), column] = value
    frame.to_csv(results / file, index=False)
    with pytest.raises(story.Untrue, match=sentence):
        stories.pages(results, CONFIG)


def test_rows_of_another_run_are_shown_as_what_they_are(results):
    libraries = pd.read_csv(results / "libraries.csv")
    commit = libraries.loc[0, "commit"]
    for column in ("library", "commit", "cpu"):
        libraries[column] = libraries.loc[0, column]
    libraries.to_csv(results / "libraries.csv", index=False)
    assert f"rows come from one run: commit `{commit[:10]}`" in stories.pages(results, CONFIG)[0]["causes"]
    later = libraries["stage"] == "draws_of_large"
    libraries.loc[later, ["commit", "library"]] = "f" * 40, "0.2.0+abc"
    libraries.to_csv(results / "libraries.csv", index=False)
    page = stories.pages(results, CONFIG)[0]["causes"]
    assert "| `ffffffffff` | `0.2.0+abc` |" in page and "bakir2004/draws_of_large |" in page
    assert f"| `{commit[:10]}` |" in page and "all others |" in page


def test_the_number_that_decides_a_claim_may_be_whole():
    row = {
        "claim": "c",
        "dataset": "iris",
        "kernel": "rbf",
        "quantity": "errors",
        "limit": "<= 3",
        "holds": "no",
    }
    numbers = pd.DataFrame([{**row, "value": 4}, {**row, "value": 1, "holds": "yes"}])
    assert "4 (≤ 3)" in stories._decisive(SimpleNamespace(csv=lambda name: numbers), "c")["number"]


def test_a_number_that_is_not_there_is_named(results):
    entry = story.Results(results, "franc2008")
    with pytest.raises(
        LookupError, match="franc2008/table2 has 0 values, not one, for dataset titanic, setting rfb"
    ):
        entry.value("table2", dataset="titanic", setting="rfb")


def test_stories_name_all_of_their_values_and_are_short(root):
    for key in load_papers():
        text = (root / f"workflow/papers/{key}/story.md").read_text()
        named = {match.split(".")[0] for match in re.findall(r"\{\{ ([\w.]+) \}\}", text)}
        values = import_module(f"papers.{key}.story").values(story.Results(FOLDER, key))
        assert named == set(values), key
        words = re.sub(r"{{.*?}}|[|-]+", lambda match: "1" * match[0].startswith("{{"), text).split()
        assert "{%" not in text and len(words) <= 440, key


@pytest.mark.parametrize(("text", "expected"), [
    (story.digits(1234.5), "1,200"),
    (story.digits(0.0001234, 3), "0.000123"),
    (story.digits(0.0996), "0.10"),
    (story.digits(0), "0"),
    (story.fixed("20870"), "20,870"),
    (story.span([0.5, 0.25, 2]), "0.25 to 2.0"),
    (story.span([3, 3], 1), "3"),
    (story.named(8), "eight"),
    (story.named(13), "13"),
])  # fmt: skip
def test_numbers_in_sentences(text, expected):
    assert text == expected


def test_lines_are_filled_and_tables_are_left():
    text = "a\nb\n\n| c |\n|---|\n\n- d\n  e\n- f\n\n![g\nh](i)\n"
    assert stories.wrapped(text) == "a b\n\n| c |\n|---|\n\n- d e\n- f\n\n![g\nh](i)\n"
