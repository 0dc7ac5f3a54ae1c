"""Make the table of iterations on many assignments of the rows to folds."""

from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import read_tidy, write_markdown, write_tidy
from lib.wen2017.exhibits import folds
from lib.wen2017.layout import folds_layout

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, folds(read_rows([snakemake.input.rows])))
tidy, published = read_tidy(snakemake.output.csv), read_tidy(snakemake.input.published)
title = "Iterations on many assignments of the rows to folds"
write_markdown(snakemake.output.md, title, *folds_layout(tidy, published))
