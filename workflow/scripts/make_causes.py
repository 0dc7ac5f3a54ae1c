"""Make the values of the variants and proofs of a paper's causes from their rows, as tidy rows."""

from importlib import import_module

import pandas as pd

from lib.causes import COLUMNS
from lib.files import write_csv
from lib.joblog import start_log
from lib.rows import read_rows

log = start_log(snakemake.log[0])
inputs, paper = snakemake.input, snakemake.params.paper
cause_rows = []
for name, cause in snakemake.params.causes.items():
    rows = read_rows([inputs[f"rows_{stage}"] for stage in cause.get("rows", [name])])
    module, _, function = cause["make"].rpartition(".")
    make = getattr(import_module(f"papers.{paper}.{module or 'causes'}"), function)
    tidy = list(make(rows, **cause.get("arguments", {})))
    cause_rows += [{"cause": name, **row} for row in tidy if not pd.isna(row["value"])]
    log.info("%s: %d values", name, len(tidy))
frame = pd.DataFrame(cause_rows, columns=COLUMNS)
write_csv(snakemake.output.csv, frame, float_format="%.10g")
