"""Decide the paper's claims, and ours, from the exhibits."""

import pandas as pd
from lib.claims import claims_layout
from lib.joblog import start_log
from lib.tables import read_tidy, write_markdown
from lib.wen2017.claims import Results, decide

log = start_log(snakemake.log[0])
inputs = snakemake.input
tables = {
    settings: pd.concat([read_tidy(first), read_tidy(third)])
    for settings, first, third in zip(snakemake.params.settings, inputs.table1, inputs.table3, strict=True)
}
verdicts, numbers = decide(
    Results(
        tables=tables,
        figure2=read_tidy(inputs.figure2),
        seeds=read_tidy(inputs.seeds),
        folds=read_tidy(inputs.folds),
        agreement=pd.read_csv(inputs.agreement),
        published=read_tidy(inputs.published),
        limits=snakemake.params.limits,
    )
)
verdicts.to_csv(snakemake.output.csv, index=False, lineterminator="\n")
numbers.to_csv(snakemake.output.numbers, index=False, float_format="%.10g", lineterminator="\n")
write_markdown(snakemake.output.md, "Claims", *claims_layout(verdicts, numbers))
for row in verdicts.itertuples():
    log.info("%s: %s, %d of %d tests held", row.claim, row.verdict, row.held, row.tests)
