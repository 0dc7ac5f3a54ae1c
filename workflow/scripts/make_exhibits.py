"""Make the exhibits of a paper from its rows: tidy CSV files, tables and figures, and the verdicts on its
claims."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from lib.claims import claim_tests, decide
from lib.exhibits import load_exhibits, read_context
from lib.figures import save, use_form
from lib.files import write_csv, write_text
from lib.joblog import start_log
from lib.papers import output_name
from lib.rows import read_rows
from lib.tables import read_tidy, write_tidy

log = start_log(snakemake.log[0])
inputs, output, params = snakemake.input, snakemake.output, snakemake.params
exhibits = [load_exhibits(params.paper)[key] for key in params.exhibits]
context = read_context(params.context)
stages = [name.removeprefix("rows_") for name in inputs.keys() if name.startswith("rows_")]  # noqa: SIM118
rows = {stage: read_rows([inputs[f"rows_{stage}"]]) for stage in stages}
use_form(**params.form)


def make_part(exhibit, part, earlier):
    """Write the files of a part of an exhibit, and return its tidy rows. `earlier` has those of the exhibits
    before it."""
    part_context = replace(context, part=part, exhibits=earlier)
    csv, *drawn = (Path(output[output_name(file)]) for file in exhibit.files_of(part))
    exhibit_rows = {stage: rows[stage] for stage in exhibit.stages if stage in rows}
    write_tidy(csv, exhibit.module.tidy(exhibit_rows, part_context))
    tidy = read_tidy(csv)
    if exhibit.kind == "figure":
        save(exhibit.module.figure(tidy, part_context), *drawn, exhibit.name, exhibit.alt)
    else:
        table, title = exhibit.module.table(tidy, part_context), exhibit.title_of(part)
        markdown, tex = drawn
        write_text(markdown, f"# {title}\n\n{table.markdown()}\n")
        # LaTeX numbers its tables itself
        subject = title.partition(": ")[2]
        write_text(tex, table.tex(subject[:1].upper() + subject[1:]))
    return tidy


def decide_claims(tidy_rows):
    """Decide the claims by the rows that the CSV files of the exhibits have."""
    claims = import_module(f"papers.{params.paper}.claims")
    results = claims.Results(tidy_rows, context)
    verdicts, numbers = decide(params.claims, claim_tests(claims), results, params.full_scale)
    write_csv(output.claims_csv, verdicts)
    write_csv(output.claims_numbers_csv, numbers, float_format="%.10g")
    for row in verdicts.itertuples():
        log.info("%s: %s, %d of %d tests held", row.claim, row.verdict, row.held, row.tests)


# exhibit -> its tidy rows; of one in parts, part -> rows
tidy_rows = {}
for exhibit in exhibits:
    parts = {part: make_part(exhibit, part, dict(tidy_rows)) for part in exhibit.parts}
    tidy_rows[exhibit.key] = parts.get("", parts)
    log.info("%s", exhibit.title)
if params.claims:
    decide_claims(tidy_rows)
