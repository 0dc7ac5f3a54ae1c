"""Make the data of the growth: cost, support vectors and errors against the size of the training set."""

from lib.bakir2004.exhibits import growth
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, growth(read_rows([snakemake.input.rows])))
