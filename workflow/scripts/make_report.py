"""Write the report: every exhibit with its caption, the scorecard, and the provenance, in one file."""

from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from lib.joblog import start_log
from lib.pages import picture, prose, write_page
from lib.papers import alt_text
from lib.scorecard import page_values, with_origins
from lib.tables import read_markdown, shown_table

log = start_log(snakemake.log[0])
inputs, config, claims = snakemake.input, snakemake.params.config, snakemake.params.claims
sections = {entry["name"]: {"id": paper, "paper": paper, "exhibits": []} for paper, entry in claims.items()}
libraries = pd.read_csv(inputs.libraries, keep_default_na=False)
places = with_origins(snakemake.params.places, libraries)
for mark, file in zip(snakemake.params.shown, inputs.shown, strict=True):
    path = Path(file)
    section = sections.setdefault(mark["category"], {"id": mark["paper"], "paper": "", "exhibits": []})
    context = SimpleNamespace(config=config, params={"facts": snakemake.params.facts[mark["paper"]]})
    table = None if path.suffix == ".svg" else read_markdown(path)
    shown = {
        "id": f"{section['id']}-{len(section['exhibits']) + 1}",
        "name": mark["exhibit"],
        "subject": mark["subject"],
        "caption": prose(mark["caption"], snakemake=context),
        "picture": None if table else picture(path),
        "alt": alt_text(mark["caption"]),
        "table": {**shown_table(table), "notes": table["notes"]} if table else None,
        "key": mark["key"],
    }
    section["exhibits"].append(shown)
    if mark["key"]:
        # all parts of an exhibit follow its first one
        places.get((mark["paper"], mark["key"]), {}).setdefault("shown_at", f"#{shown['id']}")
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
values["pictures"] = [picture(path) for path in inputs.pictures]
write_page(
    snakemake.output.html,
    "report.html",
    preset=config["preset"],
    description=prose(inputs.description, snakemake=SimpleNamespace(config=config)),
    sections=sections,
    provenance=Path(inputs.provenance).read_text(),
    configuration=Path(inputs.config).read_text(),
    places=places,
    **values,
)
log.info("%d exhibits", len(snakemake.params.shown))
