"""Run the leave-one-out methods of one cell: every C on one Gram matrix."""

from lib.job import run_job
from lib.rows import LOO_ROWS
from papers.franc2008.cells import run_loo

run_job(
    snakemake,
    run_loo,
    LOO_ROWS,
    {"paper": "franc2008", "dataset": snakemake.wildcards.dataset},
    data=snakemake.input.data,
    realisation=int(snakemake.wildcards.realisation),
    **snakemake.params.cell,
    **snakemake.params.settings,
)
