"""Run every method on realisations of a data set."""

from lib.bakir2004.cells import run_table1
from lib.joblog import start_log
from lib.library import library_id
from lib.rows import EDIT_ROWS, write_rows

rows, checkpoint = run_table1(
    data=snakemake.input.data,
    identity={
        "paper": "bakir2004",
        "dataset": snakemake.wildcards.dataset,
        "experiment": "table1",
        "library": library_id(snakemake.input.library),
    },
    **snakemake.params.cell,
    checkpoint=f"{snakemake.output.rows}.checkpoint.json",
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, EDIT_ROWS)
checkpoint.remove()
