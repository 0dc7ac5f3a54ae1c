"""Plot Figure 1: leave-one-out error and CPU time against eps, one panel per data set."""

from lib.figures import alt_text, save
from lib.franc2008.plots import plot_figure1
from lib.joblog import start_log
from lib.tables import read_tidy

start_log(snakemake.log[0])
fig = plot_figure1(read_tidy(snakemake.input.csv), snakemake.params.datasets)
save(fig, snakemake.output.pdf, snakemake.output.svg, "Figure 1", alt_text(snakemake.input.caption))
