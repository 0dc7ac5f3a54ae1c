"""Plot the scorecard: all results beside the published ones, and how the misses divide into causes."""

import pandas as pd

from lib.figures import save, use_form
from lib.joblog import start_log
from lib.overview import plot_misses, plot_results

log = start_log(snakemake.log[0])
use_form(**snakemake.params.form)
scorecard = pd.read_csv(snakemake.input.scorecard, dtype=str, keep_default_na=False)
papers, output = snakemake.params.papers, snakemake.output
for plot, title, description, pdf, svg in (
    (
        plot_results,
        "Published beside reproduced",
        "Each published result as a point.",
        output.pdf,
        output.svg,
    ),
    (plot_misses, "Misses", "Causes of results outside tolerance.", output.misses_pdf, output.misses_svg),
):
    save(plot(scorecard, papers), pdf, svg, title, description)
log.info("%d results", len(scorecard))
