"""Run the leave-one-out methods of one cell: every C on one Gram matrix."""

from lib.franc2008.cells import run_loo
from lib.joblog import start_log
from lib.library import library_id
from lib.rows import LOO_ROWS, write_rows

rows, checkpoint = run_loo(
    data=snakemake.input.data,
    identity={
        "paper": "franc2008",
        "dataset": snakemake.wildcards.dataset,
        "library": library_id(snakemake.input.library),
    },
    realisation=int(snakemake.wildcards.realisation),
    **snakemake.params.cell,
    **snakemake.params.settings,
    checkpoint=f"{snakemake.output.rows}.checkpoint.json",
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, LOO_ROWS)
checkpoint.remove()
