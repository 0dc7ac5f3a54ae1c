"""Run every method on every model of one cell."""

from lib.joblog import start_log
from lib.library import library_id
from lib.rows import BOUND_ROWS, write_rows
from papers.chapelle1999.cells import run_models

rows = run_models(
    data=snakemake.input.data,
    identity={
        "paper": "chapelle1999",
        "dataset": snakemake.wildcards.dataset,
        "experiment": snakemake.wildcards.experiment,
        "library": library_id(snakemake.params.code),
    },
    realisation=int(snakemake.wildcards.realisation),
    **snakemake.params.cell,
    **snakemake.params.settings,
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, BOUND_ROWS)
