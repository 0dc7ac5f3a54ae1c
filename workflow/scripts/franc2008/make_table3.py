"""Make Table 3: cost of the model selection by each method."""

from lib.franc2008.exhibits import table3
from lib.franc2008.layout import table3_layout
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import read_tidy, write_markdown, write_tex, write_tidy

start_log(snakemake.log[0])
datasets = snakemake.params.datasets
write_tidy(snakemake.output.csv, table3(read_rows([snakemake.input.rows]), datasets))
columns, body, notes = table3_layout(read_tidy(snakemake.output.csv), datasets)
title = "Efficiency of computing the leave-one-out error with the standard, the proposed and our approach"
write_markdown(snakemake.output.md, f"Table 3. {title}", columns, body, notes)
write_tex(snakemake.output.tex, title, columns, body, notes)
