"""Plot Figures 2 to 6."""

from lib.figures import alt_text, save
from lib.joblog import start_log
from lib.sarafis2018.plots import plot_curves, plot_sizes, plot_times
from lib.tables import read_tidy

start_log(snakemake.log[0])
figures = {
    name: plot_curves(read_tidy(snakemake.input[name]), experiment)
    for name, (experiment, _) in snakemake.params.figures.items()
}
figures["figure5"] = plot_times(read_tidy(snakemake.input.figure5))
figures["figure6"] = plot_sizes(read_tidy(snakemake.input.figure6))
for (name, fig), caption in zip(figures.items(), snakemake.input.captions, strict=True):
    alt = alt_text(caption)
    pdf, svg = snakemake.output[f"{name}_pdf"], snakemake.output[f"{name}_svg"]
    save(fig, pdf, svg, f"Figure {name.removeprefix('figure')}", alt)
