"""Plot the comparison of seeds on a shared matrix."""

from lib.figures import alt_text, save
from lib.joblog import start_log
from lib.tables import read_tidy
from lib.wen2017.plots import plot_seeds

start_log(snakemake.log[0])
fig = plot_seeds(read_tidy(snakemake.input.csv))
title = "Cost of the seeds"
save(fig, snakemake.output.pdf, snakemake.output.svg, title, alt_text(snakemake.input.caption))
