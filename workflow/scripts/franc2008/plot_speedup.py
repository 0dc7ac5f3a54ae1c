"""Plot the speed-ups of Table 3 beside the published ones."""

from lib.figures import alt_text, save
from lib.franc2008.exhibits import ALL_SETS
from lib.franc2008.plots import plot_speedup
from lib.joblog import start_log
from lib.published import read_published
from lib.tables import read_tidy

start_log(snakemake.log[0])
fig = plot_speedup(
    read_tidy(snakemake.input.csv),
    read_published(snakemake.input.published),
    [*snakemake.params.datasets, ALL_SETS],
)
save(
    fig,
    snakemake.output.pdf,
    snakemake.output.svg,
    "Speed-up over the standard method",
    alt_text(snakemake.input.caption),
)
