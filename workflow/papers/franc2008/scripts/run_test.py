"""Train the selected model on each realisation and count its test errors."""

import pandas as pd

from lib.joblog import start_log
from lib.library import library_id
from lib.rows import TEST_ROWS, write_rows
from papers.franc2008.cells import run_test

kernel = snakemake.wildcards.kernel
selected = pd.read_csv(snakemake.input.selected).set_index("kernel").loc[kernel]
rows = run_test(
    data=snakemake.input.data,
    identity={
        "paper": "franc2008",
        "dataset": snakemake.wildcards.dataset,
        "library": library_id(snakemake.params.code),
    },
    realisations=list(range(1, snakemake.params.n_realisations + 1)),
    kernel=kernel,
    model={
        "C": None if pd.isna(selected["C"]) else float(selected["C"]),
        "gamma": None if pd.isna(selected["gamma"]) else float(selected["gamma"]),
        "status": selected["status"],
        "reason": selected["reason"],
    },
    **snakemake.params.settings,
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, TEST_ROWS)
