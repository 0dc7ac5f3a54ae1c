"""Check that the methods call the same points errors."""

from lib.franc2008.checks import agreement
from lib.franc2008.exhibits import METHODS
from lib.franc2008.layout import agreement_layout
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_markdown

log = start_log(snakemake.log[0])
degenerate = snakemake.params.degenerate
summary, differences = agreement(read_rows([snakemake.input.rows]), snakemake.params.datasets, degenerate)
summary.to_csv(snakemake.output.csv, index=False, lineterminator="\n")
differences.to_csv(snakemake.output.points, index=False, lineterminator="\n")
write_markdown(
    snakemake.output.md,
    "Agreement of the leave-one-out methods",
    *agreement_layout(summary, differences, degenerate),
)
total = summary.iloc[-1]
message = (
    f"Error patterns: {total['models_compared']} models compared, {total['models_equal']} equal; "
    f"{total['points_differing']} of {total['points_compared']} points differ, "
    f"{total['points_degenerate']} of them degenerate; of the others wrong by "
    + ", ".join(f"{method} {total[f'points_wrong_by_{method}']}" for method in METHODS)
    + "."
)
log.info(message)
print(message)
