"""Run every method on Gaussian classes of growing training sets."""

from lib.job import run_job
from lib.rows import EDIT_ROWS
from papers.bakir2004.cells import run_figure3

run_job(
    snakemake,
    run_figure3,
    EDIT_ROWS,
    {"paper": "bakir2004", "dataset": "gaussians", "experiment": "figure3"},
    realisation=int(snakemake.wildcards.realisation),
    **snakemake.params.cell,
)
