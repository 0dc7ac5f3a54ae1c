"""Run every method on realisations of a data set."""

from lib.job import run_job
from lib.rows import EDIT_ROWS
from papers.bakir2004.cells import run_table1

run_job(
    snakemake,
    run_table1,
    EDIT_ROWS,
    {"paper": "bakir2004", "dataset": snakemake.wildcards.dataset, "experiment": "table1"},
    data=snakemake.input.data,
    **snakemake.params.cell,
)
