"""Run the function of one or several cells and write the rows of each."""

from lib.job import run_cell
from lib.joblog import start_log

log = start_log(snakemake.log[0])
params = snakemake.params
inputs = dict(snakemake.input.items())
datasets = dict.fromkeys(cell["dataset"] for cell in params.cells if cell["dataset"] is not None)
data = dict(zip(datasets, inputs.pop("data"), strict=True))
checkpoints = []
for cell, output in zip(params.cells, snakemake.output, strict=True):
    data_input = {"data": data[cell["dataset"]]} if cell["dataset"] in data else {}
    checkpoints.append(
        run_cell({**cell, "stored": params.get("stored")}, {**data_input, **inputs}, output, log)
    )
# only now: if a cell had failed, Snakemake would have deleted the files of the others, which come from these
# at once
for checkpoint in checkpoints:
    checkpoint.unlink(missing_ok=True)
