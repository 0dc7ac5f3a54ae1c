"""Make Table 3: total time for every k."""

from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import read_tidy, write_markdown, write_tex, write_tidy
from lib.wen2017.exhibits import table3
from lib.wen2017.layout import table3_layout

start_log(snakemake.log[0])
settings = snakemake.wildcards.settings
write_tidy(snakemake.output.csv, table3(read_rows(snakemake.input.rows), settings))
tidy, published = read_tidy(snakemake.output.csv), read_tidy(snakemake.input.published)
columns, body, notes = table3_layout(tidy, published, settings)
title = f"CPU time (s) of cross-validation for every k, {settings} settings"
write_markdown(snakemake.output.md, f"Table 3. {title}", columns, body, notes)
write_tex(snakemake.output.tex, title, columns, body, notes)
