"""Run every method on the models of some stripes of a grid of weights."""

from lib.job import run_job
from lib.rows import WEIGHT_ROWS
from papers.sarafis2018.cells import run_models

run_job(
    snakemake,
    run_models,
    WEIGHT_ROWS,
    {
        "paper": "sarafis2018",
        "dataset": snakemake.wildcards.dataset,
        "experiment": snakemake.wildcards.experiment,
    },
    data=snakemake.input.data,
    m=int(snakemake.wildcards.m),
    part=int(snakemake.wildcards.part),
    **snakemake.params.cell,
    settings=snakemake.params.settings,
)
