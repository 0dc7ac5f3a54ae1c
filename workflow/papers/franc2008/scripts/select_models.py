"""Select one model per kernel by the leave-one-out error."""

import pandas as pd

from lib.joblog import start_log
from lib.rows import read_rows
from papers.franc2008.names import KERNELS
from papers.franc2008.selection import COLUMNS, select

log = start_log(snakemake.log[0])
rows = read_rows(snakemake.input.rows)
rows = rows[rows["method"] == snakemake.params.method]
selected = [
    {"dataset": snakemake.wildcards.dataset, "kernel": kernel, **select(rows[rows["kernel"] == kernel])}
    for kernel in KERNELS
]
pd.DataFrame(selected, columns=COLUMNS).to_csv(snakemake.output.selected, index=False, lineterminator="\n")
for model in selected:
    log.info("%s", model)
