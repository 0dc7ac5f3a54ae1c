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


def function(name):
    """Return a function by the name ``module.function``; without a module it is from causes.py or else from
    exhibits.py."""
    *parents, name = name.split(".")
    modules = [f"papers.{paper}.{module}" for module in parents or ("causes", "exhibits")]
    candidates = [import_module(module) for module in modules if find_spec(module)]
    return next(getattr(module, name) for module in candidates if hasattr(module, name))


cause_rows = []
for name, cause in snakemake.params.causes.items():
    rows = read_rows([inputs[f"rows_{stage}"] for stage in cause.get("rows", [name])])
    tidy = list(given.call(function(cause["make"]), rows=rows, **cause.get("arguments", {})))
    cause_rows += [{"cause": name, **row} for row in tidy if not pd.isna(row["value"])]
    log.info("%s: %d values", name, len(tidy))
frame = pd.DataFrame(cause_rows, columns=COLUMNS)
frame.to_csv(snakemake.output.csv, index=False, float_format="%.10g", lineterminator="\n")
