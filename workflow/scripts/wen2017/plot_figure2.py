"""Plot supplementary Figure 2: time of leave-one-out."""

from lib.figures import alt_text, save
from lib.joblog import start_log
from lib.tables import read_tidy
from lib.wen2017.plots import plot_figure2

start_log(snakemake.log[0])
fig = plot_figure2(read_tidy(snakemake.input.csv))
title = "Supplementary Figure 2"
save(fig, snakemake.output.pdf, snakemake.output.svg, title, alt_text(snakemake.input.caption))
