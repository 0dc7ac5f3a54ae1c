"""Make the data of supplementary Figure 2: time of leave-one-out."""

from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy
from lib.wen2017.exhibits import figure2

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, figure2(read_rows(snakemake.input.rows)))
