"""Run every method on growing training sets of a data set."""

from lib.bakir2004.cells import run_growth
from lib.joblog import start_log
from lib.library import library_id
from lib.rows import EDIT_ROWS, write_rows

rows, checkpoint = run_growth(
    data=snakemake.input.data,
    identity={
        "paper": "bakir2004",
        "dataset": snakemake.wildcards.dataset,
        "experiment": "growth",
        "library": library_id(snakemake.input.library),
    },
    **snakemake.params.cell,
    checkpoint=f"{snakemake.output.rows}.checkpoint.json",
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, EDIT_ROWS)
checkpoint.remove()
