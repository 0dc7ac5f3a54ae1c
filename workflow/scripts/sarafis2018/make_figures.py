"""Make the data of Figures 2 to 6."""

from lib.joblog import start_log
from lib.rows import read_rows
from lib.sarafis2018.exhibits import curves, size_curves
from lib.tables import write_tidy

start_log(snakemake.log[0])
rows = read_rows([snakemake.input.rows])
for figure, (experiment, dataset) in snakemake.params.figures.items():
    write_tidy(snakemake.output[figure], curves(figure, rows, experiment, dataset))
figure5, figure6 = size_curves(rows)
write_tidy(snakemake.output.figure5, figure5)
write_tidy(snakemake.output.figure6, figure6)
