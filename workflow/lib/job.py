"""One job of many runs: from what its rule says to one file of rows."""

from lib.joblog import start_log
from lib.library import library_id
from lib.rows import write_rows

__all__ = ["run_job"]


def run_job(snakemake, run, schema, identity, **arguments):
    """Write the rows of one cell; a killed job goes on from its checkpoint.

    Parameters
    ----------
    snakemake : object
        What Snakemake gives the script of a rule.
    run : callable
        Gives the rows and their `lib.checkpoint.Checkpoint`.
    schema : pyarrow.Schema
        Of the rows.
    identity : dict
        Columns that name the run; the library is added.
    **arguments
        Of `run`, beside ``identity``, ``checkpoint`` and ``log``.
    """
    log = start_log(snakemake.log[0])
    rows, checkpoint = run(
        identity={**identity, "library": library_id(snakemake.params.code)},
        **arguments,
        checkpoint=f"{snakemake.output.rows}.checkpoint.json",
        log=log,
    )
    write_rows(snakemake.output.rows, rows, schema)
    checkpoint.remove()
