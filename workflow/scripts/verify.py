"""Compare cells that were computed again with the rows of a preset; what differs ends the job."""

from pathlib import Path

import pandas as pd

from lib.files import write_csv
from lib.joblog import start_log
from lib.rows import read_rows
from lib.verify import compare

log = start_log(snakemake.log[0])
stored = {(Path(path).parts[-3], Path(path).stem): read_rows([path]) for path in snakemake.input.rows}
lines = []
for name, path in zip(snakemake.params.names, snakemake.input.again, strict=True):
    paper, stage, cell = name.split("/", 2)
    rows, again = stored[paper, stage], read_rows([path])
    differing, ratio = compare(rows[rows["cell"] == cell], again, snakemake.params.tolerance)
    lines.append((name, len(again), ", ".join(differing), ratio))
    said = f"differs in {lines[-1][2]}" if differing else "the same"
    print(f"{name}: {len(again)} rows, {said}; CPU time now / then: {ratio:.2f}")
table = pd.DataFrame(lines, columns=["cell", "rows", "differing", "time_ratio"])
write_csv(snakemake.log.table, table, float_format="%.6g")
log.info("\n%s", table.to_string())
wrong = table[table["differing"] != ""]
if len(wrong):
    raise SystemExit(
        f"{len(wrong)} of {len(table)} cells differ from the rows, first {wrong.iloc[0]['cell']}: see "
        f"{snakemake.log.table}"
    )
