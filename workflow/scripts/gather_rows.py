"""Gather the rows of many cells in one file, which is small enough to keep."""

from lib.joblog import start_log
from lib.rows import gather_rows

log = start_log(snakemake.log[0])
n_rows = gather_rows(snakemake.input.rows, snakemake.output.rows)
log.info("%d rows of %d files", n_rows, len(snakemake.input.rows))
