"""Decide the paper's claims, and ours, from the exhibits."""

import pandas as pd
from lib.bakir2004.claims import Results, decide
from lib.claims import claims_layout
from lib.joblog import start_log
from lib.tables import read_tidy, write_markdown

log = start_log(snakemake.log[0])
tidy = pd.concat([read_tidy(path) for path in snakemake.input.exhibits])
verdicts, numbers = decide(Results(tidy, read_tidy(snakemake.input.published), snakemake.params.limits))
verdicts.to_csv(snakemake.output.csv, index=False, lineterminator="\n")
numbers.to_csv(snakemake.output.numbers, index=False, float_format="%.10g", lineterminator="\n")
write_markdown(snakemake.output.md, "Claims", *claims_layout(verdicts, numbers))
for row in verdicts.itertuples():
    log.info("%s: %s, %d of %d tests held", row.claim, row.verdict, row.held, row.tests)
