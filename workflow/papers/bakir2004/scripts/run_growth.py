"""Run every method on growing training sets of a data set."""

from lib.job import run_job
from lib.rows import EDIT_ROWS
from papers.bakir2004.cells import run_growth

run_job(
    snakemake,
    run_growth,
    EDIT_ROWS,
    {"paper": "bakir2004", "dataset": snakemake.wildcards.dataset, "experiment": "growth"},
    data=snakemake.input.data,
    **snakemake.params.cell,
)
