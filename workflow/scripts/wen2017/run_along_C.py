"""Cross-validate the models of a path over C from every seed."""

from lib.joblog import start_log
from lib.library import library_id
from lib.rows import CV_ROWS, write_rows
from lib.wen2017.cells import run_along_C
from lib.wen2017.problem import chosen_model

rows, checkpoint = run_along_C(
    data=snakemake.input.data,
    identity={
        "paper": "wen2017",
        "dataset": snakemake.wildcards.dataset,
        "library": library_id(snakemake.input.library),
        "settings": "chosen",
    },
    model=chosen_model(snakemake.input.chosen),
    **snakemake.params.cell,
    **snakemake.params.settings,
    checkpoint=f"{snakemake.output.rows}.checkpoint.json",
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, CV_ROWS)
checkpoint.remove()
