"""Run every method on the models of some stripes of a grid of weights."""

from lib.joblog import start_log
from lib.library import library_id
from lib.rows import WEIGHT_ROWS, write_rows
from lib.sarafis2018.cells import run_models

rows, checkpoint = run_models(
    data=snakemake.input.data,
    identity={
        "paper": "sarafis2018",
        "dataset": snakemake.wildcards.dataset,
        "library": library_id(snakemake.input.library),
        "experiment": snakemake.wildcards.experiment,
    },
    m=int(snakemake.wildcards.m),
    part=int(snakemake.wildcards.part),
    **snakemake.params.cell,
    settings=snakemake.params.settings,
    checkpoint=f"{snakemake.output.rows}.checkpoint.json",
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, WEIGHT_ROWS)
checkpoint.remove()
