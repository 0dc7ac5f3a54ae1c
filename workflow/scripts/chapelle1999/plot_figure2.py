"""Plot Figure 2: test error, span rule and leave-one-out error against the width and C."""

from lib.chapelle1999.plots import plot_figure2
from lib.figures import alt_text, save
from lib.joblog import start_log
from lib.tables import read_tidy

start_log(snakemake.log[0])
fig = plot_figure2(read_tidy(snakemake.input.csv))
save(fig, snakemake.output.pdf, snakemake.output.svg, "Figure 2", alt_text(snakemake.input.caption))
