"""Run every estimator on the models of the grid, on one realisation."""

from lib.comparison.cells import run_models
from lib.joblog import start_log
from lib.library import library_id
from lib.rows import COMPARISON_ROWS, write_rows

rows, checkpoint = run_models(
    data=snakemake.input.data,
    identity={
        "paper": "comparison",
        "dataset": snakemake.wildcards.dataset,
        "library": library_id(snakemake.input.library),
    },
    realisation=int(snakemake.wildcards.realisation),
    kernels=snakemake.params.kernels,
    settings=snakemake.params.settings,
    checkpoint=f"{snakemake.output.rows}.checkpoint.json",
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, COMPARISON_ROWS)
checkpoint.remove()
