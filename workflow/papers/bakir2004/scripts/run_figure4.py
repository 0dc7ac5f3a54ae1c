"""Run every method on a data set with swapped labels."""

from lib.job import run_job
from lib.rows import EDIT_ROWS
from papers.bakir2004.cells import run_figure4

run_job(
    snakemake,
    run_figure4,
    EDIT_ROWS,
    {"paper": "bakir2004", "dataset": snakemake.wildcards.dataset, "experiment": "figure4"},
    data=snakemake.input.data,
    realisation=int(snakemake.wildcards.realisation),
    **snakemake.params.cell,
)
