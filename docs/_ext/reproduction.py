"""The pages of the reproduction, written from the committed results before the site is built: one of each
paper with its story, its exhibits and its claims."""

import re
import sys
from html import escape
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

PROJECT = Path(__file__).resolve().parents[2]
RESULTS = PROJECT / "results/paper"
# more notes than these are folded
NOTES = 6
# from a page to the results
UP = "../../results/paper"
sys.path.insert(0, str(PROJECT / "workflow"))


def write_pages(app):
    """Write ``reproduction/index.md`` and ``reproduction/<paper>.md`` into the folder of the sources."""
    from lib.run import planned

    papers, _, config = planned(PROJECT / "config/paper.yaml")
    stories = _sections((RESULTS / "README.md").read_text())
    papers = {key: papers[key] for key in stories}
    causes = pd.read_csv(RESULTS / "scorecard_causes.csv", keep_default_na=False)
    folder = Path(app.srcdir) / "reproduction"
    folder.mkdir(exist_ok=True)
    _write(folder / "index.md", _index(papers))
    following = dict(zip(papers, [*list(papers.values())[1:], None], strict=True))
    for key, paper in papers.items():
        own = causes[causes["paper"] == key]
        story = _with_causes(stories[key], key, own["cause"])
        _write(folder / f"{key}.md", _page(paper, story, own, config, following[key]))


def _sections(text):
    """Paper -> its section of the page on the results, without the heading, which names the paper's key."""
    parts = re.split(r"^## (.*)$", text, flags=re.M)
    keys = [re.search(r"`(\w+)`", heading) for heading in parts[1::2]]
    return {key[1]: _told(section) for key, section in zip(keys, parts[2::2], strict=True) if key}


def _told(section):
    """A section without its pictures, which follow, its list of files, and its links to files that are not
    pages of the site."""
    section = re.sub(r"^!\[.*?\]\(.*?\)$", "", section, flags=re.M | re.S)
    section = re.sub(r"^\| exhibit \| files \|\n(\|.*\n)*", "", section, flags=re.M)
    section = re.sub(r"\]\(\.\./\.\./docs/(\w+\.md)", r"](../\1", section)
    return re.sub(r"\[([^]]*)\]\((?!https?:|\.\./\w+\.md)[^)]*\)", r"\1", section).strip()


def _with_causes(story, paper, causes):
    """A story in which each cause has its words for its key, and leads to what it says."""
    from lib.shown import cause_in_words

    for cause in causes:
        link = f"<a href='#{paper}-cause-{cause}'>{escape(cause_in_words(cause))}</a>"
        story = story.replace(f"`{cause}`", link)
    return story


def _write(path, lines):
    text = "\n".join(lines) + "\n"
    # an unchanged page is not read again
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _index(papers):
    totals = (RESULTS / "scorecard.md").read_text()
    table = re.search(r"<!-- scorecard -->(.*?)<!-- end of the scorecard -->(.*?)\n## ", totals, flags=re.S)
    headings, _, *body = [line[2:-2].split(" | ") for line in table[1].strip().splitlines()]
    yield from ("# The reproduction", "")
    yield from (
        "Five papers, each of their tables and figures computed again, every published number beside ours",
        "with a tolerance, and every claim with a verdict. The numbers on these pages come from the rows",
        "that are committed with the project.",
        "",
        LEGEND,
        "<div class='papers'>",
        *(line for key, paper in papers.items() for line in _state(paper, f"{key}.html", paper.name)),
        "</div>",
        "",
        f"![Published results beside ours, one line per table and quantity]({UP}/scorecard.svg)",
        "",
        "*Every result that four papers print, as a point: ours over theirs, with its tolerance. One that is",
        "printed as 0 has no ratio, and is not drawn.*",
        "",
        *_table(headings, body, first="text"),
        table[2].strip(),
        "",
        "<p><a href='../scorecard.html'><b>The scorecard</b></a> has every published number: sort it,",
        "filter it by paper, state and cause, and link to its rows.</p>",
        "",
        f"![Results outside their tolerance, by cause]({UP}/misses.svg)",
        "",
        "*Results outside their tolerance, by what explains them. The page of each paper says what its",
        "causes are.*",
        "",
        "```{toctree}",
        ":maxdepth: 1",
        "",
        *papers,
        "```",
    )


def _page(paper, story, causes, config, following):
    from lib.claims import limits
    from lib.pages import prose

    facts = {**paper.plan.facts, **(limits(paper.claims) if paper.claims else {})}
    context = SimpleNamespace(config=config, params={"facts": facts})
    # the strips lead to all exhibits, so that the tables may have the room of the list of headings
    yield from ("---", "html_theme.sidebar_secondary.remove: true", "---", "")
    strips = list(_state(paper))
    yield from (f"# {paper.name}", "", *([LEGEND] if strips else []), *strips, story, "")
    for exhibit in paper.exhibits.values():
        yield from (f"({paper.key}-{exhibit.key})=", f"## {exhibit.name}: {exhibit.subject}", "")
        for part in exhibit.parts:
            yield from _shown(paper, exhibit, part)
        yield from (prose(exhibit.caption, snakemake=context), "")
        yield from _published(paper, exhibit.key)
    yield from _causes(paper, causes)
    yield from _claims(paper)
    onward = [f"<a href='{following.key}.html'>{escape(following.name)}</a> is next."] if following else []
    onward += ["<a href='index.html'>The reproduction</a> has all papers, and"]
    onward += ["<a href='../scorecard.html'>the scorecard</a> every published number."]
    yield f"<p class='onward'>{' '.join(onward)}</p>"


LEGEND = (
    "<p class='legend'><span><i class='within'></i> within tolerance, or a test that holds</span> "
    "<span><i class='explained'></i> explained</span> "
    "<span><i class='undecidable'></i> undecidable here</span> "
    "<span><i class='missed'></i> missed</span></p>"
)


def _state(paper, page="", caption="Published results and tests of claims"):
    """A strip for each exhibit of a paper: the shares of what its verdict counts that are within tolerance,
    are explained, cannot be decided here, and miss. `page` is where the exhibits are."""
    from lib.shown import strip

    table = pd.read_csv(RESULTS / "scorecard_exhibits.csv", keep_default_na=False)
    own = table[(table["paper"] == paper.key) & (table["decided"] > 0)]
    if own.empty:
        return
    yield f"<table class='strips'><caption>{escape(caption)}</caption><tbody>"
    for row in own.to_dict("records"):
        counts = strip(row)
        words = ", ".join(f"{count} {kind}" for kind, count in counts)
        parts = "".join(f"<span class='{kind}' style='flex-grow: {count}'></span>" for kind, count in counts)
        name = paper.exhibits[row["exhibit"]].name.replace("Supplementary", "Suppl.")
        yield (
            f"<tr><th scope='row'><a href='{page}#{paper.key}-{row['exhibit']}'>{escape(name)}</a></th>"
            f"<td><span class='strip' aria-hidden='true'>{parts}</span>{words}</td></tr>"
        )
    yield from ("</tbody></table>", "")


def _shown(paper, exhibit, part):
    """A figure, or a table in what scrolls."""
    from lib.tables import read_markdown, shown_table

    stem = f"{paper.key}/{exhibit.stem(part)}"
    if exhibit.kind == "figure":
        yield from (f"![{exhibit.name}: {exhibit.subject}]({UP}/{stem}.svg)", "")
        return
    table = read_markdown(RESULTS / f"{stem}.md")
    if len(exhibit.parts) > 1:
        yield from (f"**{', '.join(part.values()).capitalize()}**", "")
    shown = shown_table(table)
    yield "<div class='wide' tabindex='0'><table class='table'><thead>"
    yield from map(_cells, shown["head"])
    yield "</thead><tbody>"
    yield from map(_cells, shown["body"])
    yield "</tbody></table></div>"
    notes = [f"<p class='note'>{escape(note)}</p>" for note in table["notes"]]
    # single points would part a table from its caption by pages
    shown, folded = (notes, []) if len(notes) <= NOTES else (notes[:1], notes[1:])
    yield from shown
    if folded:
        yield f"<details class='notes'><summary>{len(folded)} more notes</summary>"
        yield from (*folded, "</details>")
    yield ""


def _cells(line):
    """A line of a table of `lib.tables.shown_table`."""
    cells = []
    for tag, attributes, text in line:
        named = "".join(f" {name}='{value}'" for name, value in attributes.items())
        cells.append(f"<{tag}{named}>{escape(text)}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"


def _published(paper, key):
    """The published numbers of an exhibit beside ours, folded."""
    from lib.shown import cause_in_words, shown_figures

    figures = pd.read_csv(RESULTS / "scorecard.csv", keep_default_na=False, dtype=str)
    own = figures[(figures["paper"] == paper.key) & (figures["exhibit"] == key)]
    if own.empty:
        return
    rows = shown_figures(own, [""] * len(own))
    states = pd.Series([row["state"] for row in rows]).value_counts(sort=False)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    yield f"<details class='published'><summary>{len(rows)} published numbers beside ours: {counts}</summary>"
    headings = ["State", "What of it", "Quantity", "Published", "Reproduced", "Allowed", "Cause"]
    columns = ["state", "about", "quantity", "published", "reproduced", "allowed", "cause"]
    body = [[cause_in_words(row[name]) if name == "cause" else row[name] for name in columns] for row in rows]
    yield from _table(headings, body, first="state")
    yield from ("</details>", "")


def _causes(paper, causes):
    """What was looked for where ours differ: what each cause says, and what came of it."""
    from lib.shown import cause_in_words

    if causes.empty:
        return
    yield from ("## Causes of what is not within tolerance", "")
    body = [[cause_in_words(row.cause), row.verdict, row.statement] for row in causes.itertuples(index=False)]
    places = [f"{paper.key}-cause-{cause}" for cause in causes["cause"]]
    yield from _table(["Cause", "Verdict", "What it says"], body, first="text", places=places)


def _claims(paper):
    """The claims of a paper with their verdicts; none of the comparison, which has none."""
    verdicts = pd.read_csv(RESULTS / "scorecard_claims.csv", keep_default_na=False)
    own = verdicts[verdicts["paper"] == paper.key]
    if own.empty:
        return
    yield from ("## Claims", "")
    body = [
        [row.verdict, row.statement, row.by, f"{row.held} of {row.tests}"]
        for row in own.itertuples(index=False)
    ]
    yield from _table(["Verdict", "Claim", "By", "Tests that hold"], body, first="verdict")


def _table(headings, body, first, places=None):
    """A table in what scrolls sideways; the class of its first cells is that of a `first`, or its words. Its
    lines are `places` that links lead to, if these are given."""
    yield "<div class='wide' tabindex='0'><table class='table'><thead><tr>"
    yield from (f"<th scope='col'>{escape(heading)}</th>" for heading in headings)
    yield "</tr></thead><tbody>"
    for number, cells in enumerate(body):
        place = f" id='{places[number]}'" if places else ""
        words = re.sub(r" for \d.*", "", cells[0]).replace(" ", "-") if first != "text" else "text"
        rest = "".join(f"<td>{escape(cell)}</td>" for cell in cells[1:])
        yield f"<tr{place}><th scope='row' class='{words}'>{escape(cells[0])}</th>{rest}</tr>"
    yield from ("</tbody></table></div>", "")


def lead_back(app, exception):
    """Give the scorecard, a page that stands alone, a link to the site whose copy of it this is."""
    page = Path(app.outdir) / "scorecard.html"
    if exception is None and page.exists():
        link = '<li><a href="reproduction/index.html">Back to the reproduction</a></li>'
        nav = '<nav id="contents" aria-label="Contents">\n<ul>\n'
        text = page.read_text()
        page.write_text(text if link in text else text.replace(nav, f"{nav}{link}\n"))


def setup(app):
    app.connect("builder-inited", write_pages)
    # before links are checked
    app.connect("build-finished", lead_back, priority=100)
    return {"parallel_read_safe": True}
