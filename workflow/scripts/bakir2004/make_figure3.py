"""Make the data of Figure 3: support vectors, errors and times against the size of the training set."""

from lib.bakir2004.exhibits import figure3
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, figure3(read_rows([snakemake.input.rows])))
