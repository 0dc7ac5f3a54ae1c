"""Make the data of Figure 4: the radius-margin functional against the width, plain and rescaled."""

from lib.chapelle1999.exhibits import figure4
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, figure4(read_rows([snakemake.input.rows])))
