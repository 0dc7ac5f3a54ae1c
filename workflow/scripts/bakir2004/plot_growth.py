"""Plot the growth: cost, support vectors and errors against the size of the training set."""

from lib.bakir2004.plots import plot_growth
from lib.figures import alt_text, save
from lib.joblog import start_log
from lib.tables import read_tidy

start_log(snakemake.log[0])
fig = plot_growth(read_tidy(snakemake.input.csv))
save(fig, snakemake.output.pdf, snakemake.output.svg, "Growth", alt_text(snakemake.input.caption))
