"""Plot Figure 1: one panel per data set, leave-one-out error on the left axis and CPU time on the right one."""

from lib.figures import alt_text, save
from lib.franc2008.plots import plot_figure1
from lib.joblog import start_log
from lib.tables import read_tidy

start_log(snakemake.log[0])
fig = plot_figure1(read_tidy(snakemake.input.csv), snakemake.params.datasets)
save(fig, snakemake.output.pdf, snakemake.output.svg, "Figure 1", alt_text(snakemake.input.caption))
