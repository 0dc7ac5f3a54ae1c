"""Compute the cells of a job, and write the rows of each."""

from pathlib import Path

from lib.job import run_cell
from lib.joblog import start_log

log = start_log(snakemake.log[0])
params, inputs = snakemake.params, dict(snakemake.input.items())
prepared = {Path(path).stem: path for path in inputs.pop("data")}
for cell, output in zip(params.cells, snakemake.output, strict=True):
    data = {"data": prepared[cell["dataset"]]} if cell["dataset"] else {}
    # results/demo/franc2008/cells/... -> results/demo/franc2008/finished/...
    before, _, after = output.rpartition("/cells/")
    run_cell(cell, params.library, {**inputs, **data}, output, Path(before, "finished", after), log)
