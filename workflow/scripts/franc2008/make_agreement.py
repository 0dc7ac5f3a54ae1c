"""Check that the standard and the proposed method call the same points errors."""

from lib.franc2008.checks import agreement
from lib.franc2008.layout import agreement_layout
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_markdown

log = start_log(snakemake.log[0])
summary, differences = agreement(read_rows(snakemake.input.rows), snakemake.params.datasets)
summary.to_csv(snakemake.output.csv, index=False, lineterminator="\n")
differences.to_csv(snakemake.output.points, index=False, lineterminator="\n")
write_markdown(
    snakemake.output.md,
    "Agreement of the standard and the proposed method",
    *agreement_layout(summary, differences),
)
log.info("%d of %d points differ", summary["points_differing"].sum(), summary["points_compared"].sum())
