"""Decide the claims of a paper from its exhibits."""

from importlib import import_module

import pandas as pd

from lib.claims import claims_layout, decide
from lib.given import Given
from lib.joblog import start_log
from lib.papers import Exhibit
from lib.tables import TIDY_COLUMNS, write_markdown

log = start_log(snakemake.log[0])
given = Given(snakemake.input.items(), snakemake.params.facts)
tidy = []
for declared in snakemake.params.exhibits:
    exhibit = Exhibit(**declared)
    key = exhibit.key
    if exhibit.of:
        (name,) = exhibit.of
        given.values[key] = {part[name]: given[exhibit.stem(part)] for part in exhibit.parts}
    elif list(given[key].columns) == TIDY_COLUMNS:
        tidy.append(given[key])
claims = import_module(f"papers.{snakemake.params.paper}.claims")
results = given.call(claims.Results, tidy=pd.concat(tidy))
verdicts, numbers = decide(snakemake.params.claims, claims.TESTS, results)
verdicts.to_csv(snakemake.output.csv, index=False, lineterminator="\n")
numbers.to_csv(snakemake.output.numbers, index=False, float_format="%.10g", lineterminator="\n")
write_markdown(snakemake.output.md, "Claims", *claims_layout(verdicts, numbers))
for row in verdicts.itertuples():
    log.info("%s: %s, %d of %d tests held", row.claim, row.verdict, row.held, row.tests)
