"""Make the data of Figure 4: support vectors and errors against label noise."""

from lib.bakir2004.exhibits import figure4
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, figure4(read_rows([snakemake.input.rows])))
