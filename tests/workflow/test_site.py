"""The site's pages of the reproduction: every paper, exhibit, published number and claim is on one."""

import importlib
import re
import sys
from types import SimpleNamespace

import pandas as pd
import pytest
from lib.claims import verdict
from lib.papers import load_papers
from lib.shown import strip


@pytest.fixture(scope="module")
def pages(root, tmp_path_factory):
    sys.path.insert(0, str(root / "docs/_ext"))
    folder = tmp_path_factory.mktemp("docs")
    try:
        importlib.import_module("reproduction").write_pages(SimpleNamespace(srcdir=folder))
    finally:
        sys.path.remove(str(root / "docs/_ext"))
    return {path.stem: path.read_text() for path in (folder / "reproduction").glob("*.md")}


def test_every_exhibit_has_its_place(pages, root):
    papers = load_papers()
    assert set(pages) == {"index", *papers}
    looked_for = set(pd.read_csv(root / "results/paper/scorecard_causes.csv")["paper"])
    for key, paper in papers.items():
        headings = re.findall(r"^## (.*)$", pages[key], flags=re.M)
        expected = [f"{exhibit.name}: {exhibit.subject}" for exhibit in paper.exhibits.values()]
        causes = ["Causes of what is not within tolerance"] if key in looked_for else []
        assert headings == [*expected, *causes, *(["Claims"] if paper.claims else [])]
        drawn = re.findall(r"!\[[^]]+\]\(\.\./\.\./(.*?)\)", pages[key])
        figures = [exhibit for exhibit in paper.exhibits.values() if exhibit.kind == "figure"]
        assert len(drawn) == sum(len(exhibit.parts) for exhibit in figures)
        assert all((root / path).is_file() for path in drawn)
        assert key in re.findall(r"^\w+$", pages["index"], flags=re.M)


def test_every_published_number_and_claim_stands_on_its_page(pages, root):
    results = root / "results/paper"
    for name, of_page in (
        ("scorecard.csv", r"<details class='published'>(.*?)</details>"),
        (
            "scorecard_claims.csv",
            r"^## Claims(.*)",
        ),
    ):
        frame = pd.read_csv(results / name, keep_default_na=False, dtype=str)
        for key, own in frame.groupby("paper"):
            parts = "".join(re.findall(of_page, pages[key], flags=re.M | re.S))
            assert parts.count("<tr><th scope='row'") == len(own)
    (summary,) = re.findall(r"<summary>(\d+ published numbers beside ours[^<]*)", pages["bakir2004"])[:1]
    of = pd.read_csv(results / "scorecard.csv", keep_default_na=False)
    of = of[(of["paper"] == "bakir2004") & (of["exhibit"] == "table1")]
    assert f"{(of['within'] == 'yes').sum()} within" in summary and summary.startswith(f"{len(of)} ")


def test_causes_have_words_in_a_story_and_lead_to_what_they_say(pages, root):
    causes = pd.read_csv(root / "results/paper/scorecard_causes.csv", keep_default_na=False)
    for row in causes.itertuples():
        page, place = pages[row.paper], f"{row.paper}-cause-{row.cause}"
        assert page.count(f"<tr id='{place}'>") == 1 and f"`{row.cause}`" not in page
    linked = re.findall(r"<a href='#(\w+-cause-\w+)'>", "".join(pages.values()))
    assert linked and all(f"<tr id='{place}'>" in "".join(pages.values()) for place in linked)


def test_every_page_leads_on(pages):
    assert all("<p class='onward'>" in page for key, page in pages.items() if key != "index")
    assert "[Which estimator should I\nuse?](../which_estimator.md)" in pages["comparison"]


def test_the_first_page_has_the_totals(pages, root):
    scorecard = (root / "results/paper/scorecard.md").read_text()
    (total,) = re.findall(r"^- (Published results: .*)$", scorecard, flags=re.M)
    assert total in pages["index"] and "../scorecard.html" in pages["index"]


def test_strips_have_the_counts_of_every_exhibit(pages, root):
    exhibits = pd.read_csv(root / "results/paper/scorecard_exhibits.csv", keep_default_na=False)
    shown = exhibits[exhibits["decided"] > 0]
    for row in shown.to_dict("records"):
        counts = strip(row)
        # the verdict beside a strip has its numbers
        upheld, of = dict(counts).get("within", 0), sum(count for _, count in counts)
        assert row["verdict"] == verdict(of, upheld)
        words = ", ".join(f"{count} {kind}" for kind, count in counts)
        parts = [(kind, str(count)) for kind, count in counts]
        paper, place = row["paper"], f"{row['paper']}-{row['exhibit']}"
        assert f"({place})=\n## " in pages[paper]
        for page, link in ((paper, f"#{place}"), ("index", f"{paper}.html#{place}")):
            (line,) = [line for line in pages[page].splitlines() if f"<a href='{link}'>" in line]
            assert re.findall(r"class='(\w+)' style='flex-grow: (\d+)'", line) == parts
            assert line.endswith(f"</span>{words}</td></tr>")
