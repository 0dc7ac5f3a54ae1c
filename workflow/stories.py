"""Write the pages on a run's results: README.md in the folder of the results, and in that of each paper.

stories.py results/paper config/paper.yaml README.md

The pages are templates (Jinja): ``report/results.md``, ``report/causes.md``, ``report/paper.md``, and
``papers/<paper>/story.md``, which is a part of the latter. Its numbers come from the results by ``story.py``
beside it. A sentence that the results contradict ends the program, so that it is rewritten and not only its
numbers. The table of all papers is also written into the last file, between two comments.
"""

import re
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from lib.exhibits import read_context
from lib.files import write_text
from lib.papers import FOLDER
from lib.run import planned
from lib.scorecard import paper_table, row_origins
from lib.shown import about_in_words, number_in_words
from lib.story import Results, Untrue, check, digits, fixed, named
from lib.tables import arranged, part, read_tidy

WORKFLOW = Path(__file__).resolve().parent

WIDTH = 132
# a table of more lines is a page of its own
LONGEST = 60
# around the table of all papers
SUMMARY = ("<!-- scorecard -->", "<!-- end of the scorecard -->")


def wrapped(text):
    """Return Markdown whose sentences fill their lines; tables, headings, pictures and comments stay as they
    are."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        # a list is a block of several paragraphs
        parts = re.split(r"\n(?=- )", block)
        fixed_lines = parts[0].lstrip().startswith(("|", "#", "!", "<!--"))
        blocks.append(block if fixed_lines else "\n".join(map(_filled, parts)))
    return "\n\n".join(blocks) + "\n"


def _filled(paragraph):
    inner = "  " if paragraph.startswith("- ") else ""
    words = re.sub(r"\s+", " ", paragraph.strip())
    # a word at the start of a line may not be read as a list's number or mark
    return textwrap.fill(
        words, WIDTH, subsequent_indent=inner, break_long_words=False, break_on_hyphens=False
    )


def pages(folder, config_file):
    """Return the texts of the pages on the results in a folder, by paper; the page "" is of all papers, and
    "causes" of all explanations. Return the table of all papers, too."""
    # templates, and the results that they tell
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([WORKFLOW / "report", FOLDER]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do"],
    )
    environment.filters.update(named=named)
    environment.globals.update(check=check)
    papers, _, config = planned(config_file)
    results = {key: Results(folder, key) for key in papers}
    exhibits, verdicts = (pd.read_csv(folder / f"scorecard_{name}.csv") for name in ("exhibits", "claims"))
    names = {key: paper.name for key, paper in papers.items() if paper.claims}
    # the table of all papers, and the reasons of claims that miss
    headings, body = paper_table(names, exhibits, verdicts)
    columns = [("", heading, part(place)) for place, heading in enumerate(headings)]
    summary = "\n\n".join([SUMMARY[0], arranged(body, columns, []).markdown(), SUMMARY[1]])
    causes = pd.read_csv(folder / "scorecard_causes.csv")
    told = {key: import_module(f"papers.{key}.story") for key in papers}
    claims = [
        row._asdict() | _decisive(results[row.paper], row.claim) | {"why": _why(row, told[row.paper])}
        for row in verdicts[verdicts["by"] == "paper"].itertuples(index=False)
    ]
    for key, story in told.items():
        without = set(getattr(story, "WHY", {})) - {row["claim"] for row in claims if row["paper"] == key}
        check(not without, f"{key} claims {', '.join(sorted(without))}")
    # the pages
    texts = {
        "": environment.get_template("results.md").render(
            summary=summary,
            papers={key: paper.name for key, paper in papers.items()},
            in_brief={key: told[key].IN_BRIEF for key in names},
            claims=claims,
        ),
        "causes": environment.get_template("causes.md").render(
            causes=causes,
            names=names,
            origins=row_origins(pd.read_csv(folder / "libraries.csv", keep_default_na=False)),
        ),
    }
    for key, paper in papers.items():
        values = told[key].values(results[key])
        texts[key] = environment.get_template("paper.md").render(
            paper=paper,
            story=environment.get_template(f"{key}/story.md").render(values),
            exhibits=[_shown(folder / key, exhibit, paper, config) for exhibit in paper.exhibits.values()],
            claims=verdicts[verdicts["paper"] == key],
        )
    return {key: wrapped(text) for key, text in texts.items()}, summary


def _why(claim, story):
    """Return why a claim misses, from ``WHY`` of the paper's story. Each claim that misses has a reason, and
    no other has one."""
    why, missed = getattr(story, "WHY", {}).get(claim.claim, ""), claim.held < claim.tests
    check(bool(why) == missed, f"{claim.paper}/{claim.claim} {'misses' if why else 'holds'}", claim.verdict)
    return why


def _decisive(results, claim):
    """Return the ``number`` in words that is nearest to its limit, or furthest beyond it, among those that
    decide a claim."""
    numbers = results.csv("claims_numbers").fillna("").query("claim == @claim and holds != ''")
    if numbers.empty:
        return {"number": ""}
    row = min(numbers.to_dict("records"), key=lambda row: (row["holds"] == "yes", -_beyond(row)))
    place = (
        "" if row["holds"] == "yes" or row["dataset"] == "all sets" else f", {about_in_words(row['dataset'])}"
    )
    limit = row["limit"].replace("<=", "≤").replace(">=", "≥")
    value = fixed(row["value"]) if float(row["value"]).is_integer() else digits(row["value"])
    return {"number": f"{number_in_words(row['quantity'])}{place}: {value} ({limit})"}


def _beyond(row):
    """Return how far a number is beyond its limit, relative to the limit if this is not 0."""
    match = re.match(r"(\D*)([\d.]+)", row["limit"])
    if match is None:
        return -np.inf
    relation, limit = match[1].strip(), float(match[2])
    apart = (row["value"] - limit) / (limit or 1)
    return apart if relation.startswith("<") else -apart if relation.startswith(">") else abs(apart)


def _shown(folder, exhibit, paper, config):
    """Return an exhibit as its page shows it: title, parts and caption in Markdown."""
    if exhibit.kind == "figure":
        parts = [f"![{exhibit.alt}]({exhibit.key}.svg)"]
    else:
        parts = [_table(folder, exhibit, part, paper, config) for part in exhibit.parts]
    # the first paragraph describes the picture to those who do not see it
    first, _, rest = exhibit.caption_of(config, paper.context(config)).partition("\n\n")
    return {"title": exhibit.title, "parts": parts, "caption": rest or first}


def _table(folder, exhibit, part, paper, config):
    """Return a part of a table in Markdown; a long one as a link to its file."""
    tidy = read_tidy(folder / f"{exhibit.stem(part)}.csv")
    table = exhibit.module.table(tidy, read_context(paper.context(config), part))
    if len(table.cells) + 2 * len(table.notes) > LONGEST:
        return f"[{exhibit.title_of(part)}]({exhibit.stem(part)}.md)"
    return f"**{part.capitalize()}**\n\n{table.markdown()}" if part else table.markdown()


def write(path, text):
    """Write a text to a file, unless the file has it."""
    if not path.exists() or path.read_text() != text:
        write_text(path, text)


def main(folder, config_file, readme):
    texts, summary = pages(Path(folder), config_file)
    for key, text in texts.items():
        write(Path(folder, "causes.md") if key == "causes" else Path(folder, key, "README.md"), text)
    text, (first, last) = Path(readme).read_text(), SUMMARY
    write(Path(readme), text[: text.index(first)] + summary + text[text.index(last) + len(last) :])


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (Untrue, ValueError, OSError) as error:
        sys.exit(str(error))
