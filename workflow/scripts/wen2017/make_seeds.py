"""Make the data of the comparison of seeds on a shared matrix."""

from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_tidy
from lib.wen2017.exhibits import seeds

start_log(snakemake.log[0])
inputs = snakemake.input
stages = (read_rows([path]) for path in (inputs.rows, inputs.cached, inputs.along_C))
write_tidy(snakemake.output.csv, seeds(*stages))
