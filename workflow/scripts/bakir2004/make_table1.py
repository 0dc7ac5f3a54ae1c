"""Make Table 1: accuracy and support vectors, with the published ones beside them."""

from lib.bakir2004.exhibits import table1
from lib.bakir2004.layout import table1_layout
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import read_tidy, write_markdown, write_tex, write_tidy

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, table1(read_rows([snakemake.input.rows])))
table = table1_layout(read_tidy(snakemake.output.csv), read_tidy(snakemake.input.published))
title = "Table 1: accuracy and support vectors of the SVM and of cross-training"
write_markdown(snakemake.output.md, title, *table)
write_tex(snakemake.output.tex, title, *table)
