"""Count the support vectors of linear SVMs on two overlapping squares."""

from lib.joblog import start_log
from lib.library import library_id
from lib.rows import EDIT_ROWS, write_rows
from papers.bakir2004.cells import run_figure1

rows = run_figure1(
    identity={
        "paper": "bakir2004",
        "dataset": "squares",
        "experiment": "figure1",
        "library": library_id(snakemake.params.code),
    },
    **snakemake.params.cell,
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, EDIT_ROWS)
