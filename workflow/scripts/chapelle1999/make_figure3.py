"""Make the data of Figure 3: CPU times against the width."""

from lib.chapelle1999.exhibits import figure3
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, figure3(read_rows([snakemake.input.rows])))
