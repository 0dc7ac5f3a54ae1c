"""Make the data of Figure 1: leave-one-out error and CPU time against eps."""

from lib.franc2008.exhibits import figure1
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, figure1(read_rows([snakemake.input.rows]), snakemake.params.datasets))
