"""Run every estimator on the models of the grid, on one realisation."""

from lib.job import run_job
from lib.rows import COMPARISON_ROWS
from papers.comparison.cells import run_models

run_job(
    snakemake,
    run_models,
    COMPARISON_ROWS,
    {"paper": "comparison", "dataset": snakemake.wildcards.dataset},
    data=snakemake.input.data,
    realisation=int(snakemake.wildcards.realisation),
    kernels=snakemake.params.kernels,
    settings=snakemake.params.settings,
)
