"""Write the pages on a run's results: README.md in the folder of the results, and in that of each paper.

stories.py results/paper config/paper.yaml README.md

Numbers come from the results themselves. The pages are templates (Jinja): ``report/results.md``,
``report/paper.md``, and ``papers/<paper>/story.md``, which is a part of it. A sentence that the results
contradict ends the program, so that it is rewritten and not only its numbers. The table of all papers is also
written into the last file, between two comments.
"""

import json
import re
import sys
import textwrap
from functools import cache
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from lib.causes import DISPROVED, SHOWN, UNDECIDABLE
from lib.exhibits import read_context
from lib.papers import FOLDER
from lib.run import planned
from lib.scorecard import paper_table
from lib.tables import arranged, part, read_tidy

WORKFLOW = Path(__file__).resolve().parent

WIDTH = 132
# a table of more lines is a page of its own
LONGEST = 60
# around the table of all papers
SUMMARY = ("<!-- scorecard -->", "<!-- end of the scorecard -->")
NUMBERS = ["no", "one", "two", "three", "four", "five", "six"]
NUMBERS += ["seven", "eight", "nine", "ten", "eleven", "twelve"]


class Untrue(Exception):
    """A sentence of a story that the results contradict."""


class Results:
    """The results of one paper, as its story reads them.

    Parameters
    ----------
    folder : Path
        The folder of all results.
    paper : str
    """

    def __init__(self, folder, paper):
        self.folder, self.paper = folder, paper
        self._causes = _paper_rows(pd.read_csv(folder / "scorecard_causes.csv"), paper).set_index("cause")
        self._card = _paper_rows(
            pd.read_csv(folder / "scorecard.csv", dtype=str, keep_default_na=False), paper
        )

    @cache  # noqa: B019 - a story's results live as long as the program
    def csv(self, name):
        """Return the rows of ``<paper>/<name>.csv``."""
        return pd.read_csv(self.folder / self.paper / f"{name}.csv")

    @cache  # noqa: B019
    def rows(self, stage):
        """Return the rows of a stage."""
        return pd.read_parquet(self.folder / self.paper / f"rows/{stage}.parquet")

    def values(self, name, /, **where):
        """Return the values of all tidy rows that have the given columns, in their order."""
        return _chosen(self.csv(name), where)["value"]

    def value(self, name, /, **where):
        """Return the one value that has the given columns."""
        return _only(self.values(name, **where), f"{self.paper}/{name}", where)

    def card(self, **where):
        """Return rows of the scorecard as text, printed and reproduced."""
        return _chosen(self._card, where)

    def printed(self, **where):
        """Return the printed number of one figure, as it is printed."""
        return _only(self.card(**where)["value"], "the scorecard", where)

    def ours(self, **where):
        """Return the reproduced number of one figure."""
        return float(_only(self.card(**where)["reproduced"], "the scorecard", where))

    def cause_value(self, cause, /, **where):
        """Return the value that a cause has for one figure."""
        frame = self.csv("causes")
        return _only(_chosen(frame[frame["cause"] == cause], where)["value"], cause, where)

    def shown(self, cause):
        """Return the name of a cause that is shown."""
        return self._named(cause, SHOWN)

    def disproved(self, cause):
        """Return the name of a cause that is disproved."""
        return self._named(cause, DISPROVED)

    def undecidable(self, cause):
        """Return the name of a cause of what cannot be decided."""
        return self._named(cause, UNDECIDABLE)

    def _named(self, cause, verdict):
        said = self._causes.loc[cause, "verdict"]
        check(said == verdict, f"the cause {cause} is {verdict}", f"it is {said}")
        return f"`{cause}`"

    def figures(self, cause, column):
        """Return how many figures a cause acts on, lands on, or explains the misses of: ``acts``, ``landed``,
        ``misses``."""
        return int(self._causes.loc[cause, column])

    def claim(self, name):
        """Return the row of a claim in claims.csv: tests, held, verdict."""
        return self.csv("claims").set_index("claim").loc[name]

    def cpu_minutes(self, *stages, **where):
        """Return the CPU time of the methods in rows of some stages that have the given columns."""
        return sum(_chosen(self.rows(stage), where)["cpu_s"].sum() for stage in stages) / 60


def _paper_rows(frame, paper):
    return frame[frame["paper"] == paper]


def _chosen(frame, where):
    """Return the rows in which each of the given columns has the given value, or one of the given values."""
    for name, value in where.items():
        options = value if isinstance(value, list) else [value]
        frame = frame[frame[name].fillna("").astype(str).isin([str(option) for option in options])]
    return frame


def _only(values, source, where):
    if len(values) != 1:
        condition = ", ".join(f"{name} {value}" for name, value in where.items())
        raise LookupError(f"{source} has {len(values)} values, not one, for {condition}")
    return values.iloc[0]


def check(holds, sentence, contradiction=""):
    """Raise an error that names a sentence if it does not hold; else return nothing to print."""
    if not holds:
        raise Untrue(f"The story says that {sentence}; {contradiction or 'the results do not'}.")
    return ""


def fixed(number, decimals=0):
    """Return a number with some decimals, and commas between thousands."""
    return f"{float(number):,.{decimals}f}"


def digits(number, count=2):
    """Return a number rounded to some significant digits, with commas between thousands."""
    rounded, _, exponent = f"{float(number):.{count - 1}e}".partition("e")
    if not float(rounded):
        return "0"
    return fixed(f"{rounded}e{exponent}", max(count - 1 - int(exponent), 0))


def span(numbers, count=2):
    """Return the range of some numbers, from the least to the greatest."""
    least, most = digits(np.min(numbers), count), digits(np.max(numbers), count)
    return least if least == most else f"{least} to {most}"


def named(number):
    """Return a number as a word, up to twelve."""
    return NUMBERS[number] if number < len(NUMBERS) else fixed(number)


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


def slope(x, y):
    """Return the slope of the straight line through points, by least squares."""
    return np.polyfit(np.asarray(x, float), np.asarray(y, float), 1)[0]


def pages(folder, config_file):
    """Return the texts of the pages on the results in a folder, by paper; that of all papers is the page "".
    Return the table of all papers, too."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([WORKFLOW / "report", FOLDER]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do"],
    )
    environment.filters.update(fixed=fixed, digits=digits, named=named, span=span)
    environment.globals.update(check=check, slope_of=slope)
    papers, _, config = planned(config_file)
    results = {key: Results(folder, key) for key in papers}
    exhibits, verdicts = (pd.read_csv(folder / f"scorecard_{name}.csv") for name in ("exhibits", "claims"))
    names = {key: paper.name for key, paper in papers.items() if paper.claims}
    headings, body = paper_table(names, exhibits, verdicts)
    columns = [("", heading, part(place)) for place, heading in enumerate(headings)]
    summary = "\n\n".join([SUMMARY[0], arranged(body, columns, []).markdown(), SUMMARY[1]])
    causes = pd.read_csv(folder / "scorecard_causes.csv")
    texts = {
        "": environment.get_template("results.md").render(
            results=results,
            summary=summary,
            papers={key: paper.name for key, paper in papers.items()},
            causes=list(causes["paper"] + "/" + causes["cause"]),
            provenance=json.loads((folder / "provenance.json").read_text()),
            libraries=pd.read_csv(folder / "libraries.csv"),
        )
    }
    for key, paper in papers.items():
        texts[key] = environment.get_template("paper.md").render(
            paper=paper,
            p=results[key],
            results=results,
            exhibits=[_shown(folder / key, exhibit, paper, config) for exhibit in paper.exhibits.values()],
            claims=_paper_rows(verdicts, key),
        )
    return {key: wrapped(text) for key, text in texts.items()}, summary


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
        path.write_text(text)


def main(folder, config_file, readme):
    texts, summary = pages(Path(folder), config_file)
    for key, text in texts.items():
        write(Path(folder, key, "README.md"), text)
    text, (first, last) = Path(readme).read_text(), SUMMARY
    write(Path(readme), text[: text.index(first)] + summary + text[text.index(last) + len(last) :])


if __name__ == "__main__":
    main(*sys.argv[1:])
