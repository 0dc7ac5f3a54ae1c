"""Make Table 2: the settings, and the kernel values that they lead to."""

from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import read_tidy, write_markdown, write_tex, write_tidy
from lib.wen2017.exhibits import table2
from lib.wen2017.layout import table2_layout

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, table2(read_rows([snakemake.input.rows]), snakemake.params.features))
tidy, published = read_tidy(snakemake.output.csv), read_tidy(snakemake.input.published)
columns, body, notes = table2_layout(tidy, published)
title = "Data sets and settings"
write_markdown(snakemake.output.md, f"Table 2. {title}", columns, body, notes)
write_tex(snakemake.output.tex, title, columns, body, notes)
