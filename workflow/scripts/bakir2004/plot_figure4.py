"""Plot Figure 4: support vectors and errors against label noise."""

from lib.bakir2004.plots import plot_figure4
from lib.figures import alt_text, save
from lib.joblog import start_log
from lib.tables import read_tidy

start_log(snakemake.log[0])
fig = plot_figure4(read_tidy(snakemake.input.csv))
save(fig, snakemake.output.pdf, snakemake.output.svg, "Figure 4", alt_text(snakemake.input.caption))
