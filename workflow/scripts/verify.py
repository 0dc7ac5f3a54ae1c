"""Compare cells that were computed again with the rows that are kept; what differs ends the job."""

from pathlib import Path

import pandas as pd

from lib.joblog import start_log
from lib.rows import read_cell, read_rows
from lib.verify import COLUMNS, compare

log = start_log(snakemake.log[0])
comparisons = []
for name, path in zip(snakemake.params.names, snakemake.input.again, strict=True):
    paper, stage, cell = name.split("/", 2)
    stored = read_cell(snakemake.input[f"{paper}_{stage}"], cell)
    row = compare(stored, read_rows([path]), snakemake.params.tolerance)
    comparisons.append({"paper": paper, "stage": stage, "cell": cell, **row})
    Path(path).unlink()  # so that the next call computes it again
    same = f"{row['differing']} differ, in {row['columns']}" if row["differing"] else "all the same"
    other = "" if row["library_kept"] == row["library_now"] else " (of other code: errors and estimates)"
    told = (
        f"{name}: {row['rows']} rows, {row['numbers']} values{other}, {same}; "
        f"CPU time now / then: {row['time_ratio']:.2f}"
    )
    log.info("%s", told)
    print(told)
table = pd.DataFrame(comparisons, columns=COLUMNS)
table.to_csv(snakemake.log.table, index=False, float_format="%.6g", lineterminator="\n")
differing = table[table["differing"] > 0]
if len(differing):
    raise SystemExit(
        f"{len(differing)} of {len(table)} cells differ from the rows that are kept, first "
        f"{differing.iloc[0]['cell']}: see {snakemake.log.table}"
    )
