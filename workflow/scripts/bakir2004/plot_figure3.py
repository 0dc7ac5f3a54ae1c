"""Plot Figure 3: support vectors, errors and times against the size of the training set."""

from lib.bakir2004.plots import plot_figure3
from lib.figures import alt_text, save
from lib.joblog import start_log
from lib.tables import read_tidy

start_log(snakemake.log[0])
fig = plot_figure3(read_tidy(snakemake.input.csv))
save(fig, snakemake.output.pdf, snakemake.output.svg, "Figure 3", alt_text(snakemake.input.caption))
