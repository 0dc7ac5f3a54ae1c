"""Make the data of Figure 1: bounded and in-bound support vectors against the overlap of two squares."""

from lib.bakir2004.exhibits import figure1
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, figure1(read_rows([snakemake.input.rows])))
