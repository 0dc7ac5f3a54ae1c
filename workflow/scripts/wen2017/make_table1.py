"""Make Table 1: k = 10, every method."""

from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import read_tidy, write_markdown, write_tex, write_tidy
from lib.wen2017.exhibits import table1
from lib.wen2017.layout import table1_layout

start_log(snakemake.log[0])
settings = snakemake.wildcards.settings
write_tidy(snakemake.output.csv, table1(read_rows(snakemake.input.rows), settings))
tidy, published = read_tidy(snakemake.output.csv), read_tidy(snakemake.input.published)
columns, body, notes = table1_layout(tidy, published, settings)
title = f"Efficiency of 10-fold cross-validation from each seed, {settings} settings"
write_markdown(snakemake.output.md, f"Table 1. {title}", columns, body, notes)
write_tex(snakemake.output.tex, title, columns, body, notes)
