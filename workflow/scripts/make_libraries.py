"""Write which libraries the rows of each stage come from, and whether they are of the present code."""

from lib.joblog import start_log
from lib.origins import libraries

log = start_log(snakemake.log[0])
params = snakemake.params
found = libraries(snakemake.input.rows, params.stages, params.present)
found.to_csv(snakemake.output.csv, index=False, lineterminator="\n")
rows = found.groupby("present")["rows"].sum()
log.info("rows of the present code: %d, of other code: %d", rows.get("yes", 0), rows.get("no", 0))
