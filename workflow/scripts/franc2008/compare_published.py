"""Put the published values of Tables 2 and 3 beside the reproduced ones."""

import pandas as pd
from lib.franc2008.checks import compare
from lib.franc2008.layout import compare_layout
from lib.joblog import start_log
from lib.tables import read_tidy, write_markdown

start_log(snakemake.log[0])
tolerance = snakemake.params.loo_tolerance
reproduced = pd.concat([read_tidy(path) for path in snakemake.input.tables])
comparison = compare(read_tidy(snakemake.input.published), reproduced, tolerance)
comparison.to_csv(snakemake.output.csv, index=False, float_format="%.10g", lineterminator="\n")
write_markdown(
    snakemake.output.md,
    "Published and reproduced values of Tables 2 and 3",
    *compare_layout(comparison, reproduced, tolerance),
)
