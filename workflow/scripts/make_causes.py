"""Make the values of the variants and proofs of a paper's causes from their rows, as tidy rows."""

from importlib import import_module
from importlib.util import find_spec

import pandas as pd

from lib.causes import COLUMNS
from lib.given import Given
from lib.joblog import start_log
from lib.rows import read_rows

log = start_log(snakemake.log[0])
inputs, paper = dict(snakemake.input.items()), snakemake.params.paper
published = {name: inputs[name] for name in inputs if not name.startswith("rows_")}
given = Given(published, snakemake.params.facts)
names = [f"papers.{paper}.{name}" for name in ("causes", "exhibits")]
modules = [import_module(name) for name in names if find_spec(name)]
made = []
for name, own in snakemake.params.causes.items():
    rows = read_rows([inputs[f"rows_{stage}"] for stage in own.get("rows", [name])])
    make = next(getattr(module, own["make"]) for module in modules if hasattr(module, own["make"]))
    tidy = list(given.call(make, rows=rows, **own.get("arguments", {})))
    made += [{"cause": name, **row} for row in tidy if not pd.isna(row["value"])]
    log.info("%s: %d values", name, len(tidy))
frame = pd.DataFrame(made, columns=COLUMNS)
frame.to_csv(snakemake.output.csv, index=False, float_format="%.10g", lineterminator="\n")
