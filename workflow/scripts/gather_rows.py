"""Put the rows of all cells of a stage into one file."""

import lib.rows
from lib.joblog import start_log
from lib.rows import gather_rows

log = start_log(snakemake.log[0])
cells = snakemake.input.cells
n_rows = gather_rows(snakemake.output.rows, cells, getattr(lib.rows, snakemake.params.schema))
log.info("%d rows of %d cells", n_rows, len(cells))
