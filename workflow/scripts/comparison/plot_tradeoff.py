"""Plot the accuracy of each estimator's choice against its cost."""

from lib.comparison.plots import plot_tradeoff
from lib.figures import alt_text, save
from lib.joblog import start_log
from lib.tables import read_tidy

start_log(snakemake.log[0])
fig = plot_tradeoff(read_tidy(snakemake.input.csv))
alt = alt_text(snakemake.input.caption)
save(fig, snakemake.output.pdf, snakemake.output.svg, "Accuracy of choice against cost", alt)
