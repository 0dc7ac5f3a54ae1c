"""Run the function of one or several cells and write the rows of each."""

from lib.job import run_cell
from lib.joblog import start_log

log = start_log(snakemake.log[0])
params = snakemake.params
shared = {name: params.get(name) for name in ("paper", "run", "schema", "kept")}
inputs = dict(snakemake.input.items())
checkpoints = [
    run_cell({**shared, **cell}, inputs, output, log)
    for cell, output in zip(params.cells, snakemake.output, strict=True)
]
# only now: if a cell had failed, Snakemake would have deleted the files of the others, which come from these
# at once
for checkpoint in checkpoints:
    checkpoint.unlink(missing_ok=True)
