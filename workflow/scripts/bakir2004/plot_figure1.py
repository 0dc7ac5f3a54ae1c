"""Plot Figure 1: bounded and in-bound support vectors against the overlap of two squares."""

from lib.bakir2004.plots import plot_figure1
from lib.figures import alt_text, save
from lib.joblog import start_log
from lib.tables import read_tidy

start_log(snakemake.log[0])
fig = plot_figure1(read_tidy(snakemake.input.csv))
save(fig, snakemake.output.pdf, snakemake.output.svg, "Figure 1", alt_text(snakemake.input.caption))
