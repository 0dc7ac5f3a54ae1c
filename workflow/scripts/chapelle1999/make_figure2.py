"""Make the data of Figure 2: test error, span rule and leave-one-out error against the width and C."""

from lib.chapelle1999.exhibits import figure2
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy

start_log(snakemake.log[0])
write_tidy(snakemake.output.csv, figure2(read_rows([snakemake.input.rows])))
