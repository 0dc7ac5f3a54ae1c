"""One job of the cells of Wen et al.: of the chosen model where its rule has one, else of the published."""

from lib.job import run_job
from lib.rows import CV_ROWS
from papers.wen2017.problem import chosen_model

__all__ = ["run_cell"]


def run_cell(snakemake, run):
    """Write the rows of one cell.

    Parameters
    ----------
    snakemake : object
        What Snakemake gives the script of a rule.
    run : callable
        ``run_seeds``, ``run_cached`` or ``run_libsvm``.
    """
    chosen = snakemake.input.get("chosen")
    run_job(
        snakemake,
        run,
        CV_ROWS,
        {
            "paper": "wen2017",
            "dataset": snakemake.wildcards.dataset,
            "settings": snakemake.wildcards.settings,
        },
        data=snakemake.input.data,
        model=chosen_model(chosen) if chosen else snakemake.params.model,
        k=snakemake.wildcards.k,
        **snakemake.params.cell,
        **snakemake.params.settings,
    )
