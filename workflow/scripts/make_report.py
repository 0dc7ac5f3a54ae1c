"""Write the report: every exhibit with its caption, the scorecard, and the provenance, in one file that needs
nothing else, no network, and no script to be read."""

import base64
import shlex
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pandas as pd
from docutils.core import publish_parts
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lib.exhibits import load_exhibits, read_context
from lib.files import write_text
from lib.joblog import start_log
from lib.scorecard import page_values, with_origins
from lib.shown import about_in_words, cause_in_words, number_in_words
from lib.tables import read_tidy

log = start_log(snakemake.log[0])
inputs, params = snakemake.input, snakemake.params
config, claims = params.config, params.claims
libraries = pd.read_csv(inputs.libraries, keep_default_na=False)
places = with_origins(params.places, libraries)


def picture(path):
    """Return an SVG file as the address of an image."""
    return "data:image/svg+xml;base64," + base64.b64encode(Path(path).read_bytes()).decode()


def prose(text):
    """Return a caption or description (reStructuredText) as HTML; invalid text is docutils'
    `SystemMessage`."""
    settings = {"halt_level": 2, "report_level": 2, "initial_header_level": 4}
    return publish_parts(text, writer="html5", settings_overrides=settings)["body"]


def shown_exhibit(paper, key, part, file):
    """Return a part of an exhibit as the page shows it, with its picture or its table."""
    exhibit, values = load_exhibits(paper)[key], params.contexts[paper]
    is_table = exhibit.kind == "table"
    return {
        "id": "-".join(filter(None, (paper, key, part))),
        "key": key,
        "name": exhibit.name,
        "subject": exhibit.title_of(part).partition(": ")[2],
        "caption": prose(exhibit.caption_of(config, values)),
        "alt": exhibit.alt,
        "table": exhibit.module.table(read_tidy(file), read_context(values, part)) if is_table else None,
        "picture": None if is_table else picture(file),
    }


# a section for each paper that has claims, also if nothing of it is shown
sections = {
    name: {"id": paper, "paper": paper if paper in claims else "", "exhibits": []}
    for paper, name in params.papers.items()
}
for (paper, key, part), file in zip(params.shown, inputs.shown, strict=True):
    exhibit = shown_exhibit(paper, key, part, file)
    sections[params.papers[paper]]["exhibits"].append(exhibit)
    # all parts of an exhibit follow its first one
    places.get((paper, key), {}).setdefault("shown_at", f"#{exhibit['id']}")
for section in sections.values():
    names = [exhibit["name"] for exhibit in section["exhibits"]]
    for exhibit in section["exhibits"]:
        one = names.count(exhibit["name"]) == 1
        exhibit["link"] = exhibit["name"] if one else f"{exhibit['name']}: {exhibit['subject']}"
numbers = {paper: pd.read_csv(path) for paper, path in zip(claims, inputs.numbers, strict=True)}
values = page_values(
    claims,
    pd.read_csv(inputs.scorecard, keep_default_na=False, dtype=str),
    pd.read_csv(inputs.exhibits, keep_default_na=False),
    pd.read_csv(inputs.claims, keep_default_na=False),
    numbers,
    pd.read_csv(inputs.causes, keep_default_na=False),
)
exhibit_key = itemgetter("exhibit_key")
rows = {(row["paper"], row["exhibit"]): row for row in values["exhibits"]}
for section in sections.values():
    # state and published numbers stand with the first part of an exhibit
    published = {
        key: list(group) for key, group in groupby(values["figures"].get(section["paper"], []), exhibit_key)
    }
    for exhibit in section["exhibits"]:
        exhibit["row"] = rows.pop((section["paper"], exhibit["key"]), None)
        exhibit["published"] = published.pop(exhibit["key"], [])
    section["others"] = [row for group in published.values() for row in group]
environment = Environment(
    loader=FileSystemLoader(Path(inputs.templates[0]).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
environment.filters |= {
    "quote": shlex.quote,
    "cause": cause_in_words,
    "words": number_in_words,
    "about": about_in_words,
}
page = environment.get_template("report.html").render(
    preset=config["preset"],
    results=params.results,
    logs=params.logs,
    call=params.call,
    full_scale=config["full_scale"],
    sections=sections,
    provenance=Path(inputs.provenance).read_text(),
    configuration=Path(inputs.config).read_text(),
    places=places,
    picture=picture(inputs.picture),
    **values,
)
write_text(snakemake.output.html, page)
log.info("%d exhibits", len(params.shown))
