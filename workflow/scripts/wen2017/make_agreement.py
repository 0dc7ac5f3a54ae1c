"""Check that all seeds give the same classes."""

from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import write_markdown
from lib.wen2017.exhibits import agreement
from lib.wen2017.layout import agreement_layout

log = start_log(snakemake.log[0])
tie = snakemake.params.tie
summary, points = agreement(read_rows([snakemake.input.rows]), tie)
for frame, path in ((summary, snakemake.output.csv), (points, snakemake.output.points)):
    frame.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")
write_markdown(snakemake.output.md, "Agreement of the seeds", *agreement_layout(summary, points, tie))
log.info("%d points differ, %d of them no ties", summary["differing"].sum(), summary["no_ties"].sum())
