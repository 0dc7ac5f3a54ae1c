"""Make Table 2: leave-one-out and test errors of the selected models."""

import pandas as pd
from lib.franc2008.exhibits import table2
from lib.franc2008.layout import table2_layout
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import read_tidy, write_markdown, write_tex, write_tidy

start_log(snakemake.log[0])
datasets = snakemake.params.datasets
selected = pd.concat([pd.read_csv(path) for path in snakemake.input.selected])
write_tidy(snakemake.output.csv, table2(selected, read_rows([snakemake.input.rows]), datasets))
columns, body, notes = table2_layout(read_tidy(snakemake.output.csv), datasets)
title = "Classification performance of the best models selected by the leave-one-out error"
write_markdown(snakemake.output.md, f"Table 2. {title}", columns, body, notes)
write_tex(snakemake.output.tex, title, columns, body, notes)
