"""Make the exhibits of a paper from its rows: tidy CSV files, and of tables what readers see."""

from functools import cache
from importlib import import_module
from pathlib import Path

from lib.given import Given
from lib.joblog import start_log
from lib.papers import Exhibit
from lib.rows import read_rows
from lib.tables import read_tidy, write_markdown, write_tex, write_tidy

log = start_log(snakemake.log[0])
inputs = dict(snakemake.input.items())
given = Given({name: inputs[name] for name in inputs if not name.startswith("rows_")}, snakemake.params.facts)


def module(name):
    return import_module(f"papers.{snakemake.params.paper}.{name}")


@cache
def rows_of(*stages):
    return read_rows([inputs[f"rows_{stage}"] for stage in stages])


for declared in snakemake.params.exhibits:
    exhibit = Exhibit(**declared)
    key = exhibit.key
    rows = {stage: rows_of(stage) for stage in exhibit.beside}
    if exhibit.rows:
        rows["rows"] = rows_of(*exhibit.rows)
    for part in exhibit.parts:
        csv, *others = (snakemake.output[name] for name in exhibit.made(part))
        found = given.call(getattr(module("exhibits"), key), **rows, **part)
        if isinstance(found, list):
            write_tidy(csv, found)
            frames = [read_tidy(csv)]
        else:
            frames = found
            for path, frame in zip((csv, *others[len(others) - len(exhibit.also) :]), frames, strict=True):
                frame.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")
        given.values |= dict(zip((key, *exhibit.also), frames, strict=True))
        if exhibit.kind == "table":
            table = given.call(getattr(module("layout"), f"{key}_layout"), tidy=frames[0], **part)
            heading = exhibit.heading.format(**part)
            # LaTeX numbers its tables itself
            write_markdown(others[0], heading if exhibit.own else f"{exhibit.name}. {heading}", *table)
            write_tex(others[1], heading, *table)
        if exhibit.text:
            sentences = given.call(getattr(module("layout"), exhibit.text), tidy=frames[0])
            Path(others[2]).write_text("\n\n".join(sentences) + "\n")
    log.info("%s", exhibit.title)
