"""Make the exhibits of a paper from its rows: tidy CSV files, tables for readers, and the verdicts on its
claims."""

from functools import cache
from importlib import import_module
from pathlib import Path

import pandas as pd

from lib.claims import claim_tests, decide
from lib.given import Given
from lib.joblog import start_log
from lib.papers import Exhibit
from lib.rows import read_rows
from lib.tables import TIDY_COLUMNS, read_tidy, write_markdown, write_tex, write_tidy

log = start_log(snakemake.log[0])
inputs, facts = dict(snakemake.input.items()), snakemake.params.facts
published = {name: inputs[name] for name in inputs if not name.startswith("rows_")}
exhibits = [Exhibit(**declared) for declared in snakemake.params.exhibits]


def module(name):
    return import_module(f"papers.{snakemake.params.paper}.{name}")


@cache
def rows_of(*stages):
    return read_rows([inputs[f"rows_{stage}"] for stage in stages])


def make_exhibits():
    """Write all exhibits, and return the CSV files by name."""
    given, files = Given(published, facts), {}
    for exhibit in exhibits:
        key = exhibit.key
        rows = {stage: rows_of(stage) for stage in exhibit.beside}
        if exhibit.rows:
            rows["rows"] = rows_of(*exhibit.rows)
        for part in exhibit.parts:
            csv, *other_files = (snakemake.output[name] for name in exhibit.exhibit_files(part))
            also = other_files[len(other_files) - len(exhibit.also) :]
            files |= {exhibit.stem(part): csv, **dict(zip(exhibit.also, also, strict=True))}
            contents = given.call(getattr(module("exhibits"), key), **rows, **part)
            if not exhibit.also:
                write_tidy(csv, contents)
                frames = [read_tidy(csv)]
            else:
                frames = contents
                for path, frame in zip((csv, *also), frames, strict=True):
                    frame.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")
            given.values |= dict(zip((key, *exhibit.also), frames, strict=True))
            if exhibit.kind == "table":
                table = given.call(getattr(module("layout"), f"{key}_layout"), tidy=frames[0], **part)
                heading = exhibit.heading.format(**part)
                # LaTeX numbers its tables itself
                write_markdown(
                    other_files[0], heading if exhibit.unpublished else f"{exhibit.name}. {heading}", *table
                )
                write_tex(other_files[1], heading, *table)
            if exhibit.text:
                sentences = given.call(getattr(module("layout"), exhibit.text), tidy=frames[0])
                Path(other_files[2]).write_text("\n\n".join(sentences) + "\n")
        log.info("%s", exhibit.title)
    return files


def decide_claims(files):
    """Decide the claims by what the CSV files of the exhibits say."""
    given, tidy = Given({**published, **files}, facts), []
    for exhibit in exhibits:
        key = exhibit.key
        if exhibit.split_by:
            (name,) = exhibit.split_by
            given.values[key] = {part[name]: given[exhibit.stem(part)] for part in exhibit.parts}
        elif list(given[key].columns) == TIDY_COLUMNS:
            tidy.append(given[key])
    claims = module("claims")
    results = given.call(claims.Results, tidy=pd.concat(tidy))
    verdicts, numbers = decide(snakemake.params.claims, claim_tests(claims), results, facts["full_scale"])
    output = snakemake.output
    verdicts.to_csv(output.claims_csv, index=False, lineterminator="\n")
    numbers.to_csv(output.claims_numbers_csv, index=False, float_format="%.10g", lineterminator="\n")
    for row in verdicts.itertuples():
        log.info("%s: %s, %d of %d tests held", row.claim, row.verdict, row.held, row.tests)


csv_files = make_exhibits()
if snakemake.params.claims:
    decide_claims(csv_files)
