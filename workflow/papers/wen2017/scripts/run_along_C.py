"""Cross-validate the models of a path over C from every seed."""

from lib.job import run_job
from lib.rows import CV_ROWS
from papers.wen2017.cells import run_along_C
from papers.wen2017.problem import chosen_model

run_job(
    snakemake,
    run_along_C,
    CV_ROWS,
    {"paper": "wen2017", "dataset": snakemake.wildcards.dataset, "settings": "chosen"},
    data=snakemake.input.data,
    model=chosen_model(snakemake.input.chosen),
    **snakemake.params.cell,
    **snakemake.params.settings,
)
