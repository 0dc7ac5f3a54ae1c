"""Gather the rows of the cells of a stage in one file, which is small enough to keep."""

import shutil
from pathlib import Path

import lib.rows
from lib.joblog import start_log
from lib.rows import cell_name, gather_rows

log = start_log(snakemake.log[0])
files = {cell_name(path): path for path in snakemake.input.rows}
schema = getattr(lib.rows, snakemake.params.schema)
stored, output = Path(snakemake.params.stored), Path(snakemake.output.rows)
# where files are in a store, those that are kept are elsewhere
if stored != output and stored.exists():
    shutil.copy(stored, output)
n_rows = gather_rows(output, snakemake.params.names, files, schema)
log.info("%d rows of %d cells, %d of them anew", n_rows, len(snakemake.params.names), len(files))
