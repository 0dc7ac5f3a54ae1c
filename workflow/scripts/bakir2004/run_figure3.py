"""Run every method on Gaussian classes of growing training sets."""

from lib.bakir2004.cells import run_figure3
from lib.joblog import start_log
from lib.library import library_id
from lib.rows import EDIT_ROWS, write_rows

rows, checkpoint = run_figure3(
    identity={
        "paper": "bakir2004",
        "dataset": "gaussians",
        "experiment": "figure3",
        "library": library_id(snakemake.input.library),
    },
    realisation=int(snakemake.wildcards.realisation),
    **snakemake.params.cell,
    checkpoint=f"{snakemake.output.rows}.checkpoint.json",
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, EDIT_ROWS)
checkpoint.remove()
