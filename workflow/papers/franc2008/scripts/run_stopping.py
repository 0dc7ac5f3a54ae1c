"""Run the standard leave-one-out of one cell for every C and every eps of Figure 1."""

from lib.job import run_job
from lib.rows import LOO_ROWS
from papers.franc2008.cells import run_stopping

run_job(
    snakemake,
    run_stopping,
    LOO_ROWS,
    {"paper": "franc2008", "dataset": snakemake.wildcards.dataset},
    data=snakemake.input.data,
    realisation=int(snakemake.wildcards.realisation),
    **snakemake.params.cell,
    **snakemake.params.settings,
)
