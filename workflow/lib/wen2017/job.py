"""One job of the cells of Wen et al.: from what its rule says to one file of rows."""

from lib.joblog import start_log
from lib.library import library_id
from lib.rows import CV_ROWS, write_rows
from lib.wen2017.problem import chosen_model


def run_job(snakemake, run):
    """Write the rows of one cell, of the chosen model where the rule has one; a killed job resumes.

    Parameters
    ----------
    snakemake : object
        What Snakemake gives the script of a rule.
    run : callable
        ``run_seeds``, ``run_cached`` or ``run_libsvm``: gives the rows and their checkpoint.
    """
    chosen = snakemake.input.get("chosen")
    rows, checkpoint = run(
        data=snakemake.input.data,
        identity={
            "paper": "wen2017",
            "dataset": snakemake.wildcards.dataset,
            "library": library_id(snakemake.input.library),
            "settings": snakemake.wildcards.settings,
        },
        model=chosen_model(chosen) if chosen else snakemake.params.model,
        k=snakemake.wildcards.k,
        **snakemake.params.cell,
        **snakemake.params.settings,
        checkpoint=f"{snakemake.output.rows}.checkpoint.json",
        log=start_log(snakemake.log[0]),
    )
    write_rows(snakemake.output.rows, rows, CV_ROWS)
    checkpoint.remove()
