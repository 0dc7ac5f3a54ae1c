"""Write the scorecard: every published figure beside ours, counts, the verdict on every claim, the libraries
that computed the rows, and a picture of the whole."""

import pandas as pd

from lib.causes import cause_table, read_causes
from lib.figures import save, use_form
from lib.files import write_csv
from lib.joblog import start_log
from lib.overview import plot_results
from lib.scorecard import COLUMNS, exhibits, figures, libraries, verdicts
from lib.tables import read_tidy
from lib.tolerances import declared, read_printed, read_published

log = start_log(snakemake.log[0])
claims, run = snakemake.params.claims, snakemake.params.causes_run
tidy, read = {}, {}
for paper, path in zip(snakemake.params.paper_of, snakemake.input.exhibits, strict=True):
    tidy.setdefault(paper, []).append(read_tidy(path))
for kind in ("claims", "numbers"):
    read[kind] = {paper: pd.read_csv(path) for paper, path in zip(claims, snakemake.input[kind], strict=True)}
files = iter(snakemake.input.get("causes", []))
causes = {
    paper: read_causes(
        declarations, pd.read_csv(next(files), dtype={"setting": str}) if run[paper] else None, run[paper]
    )
    for paper, declarations in snakemake.params.causes.items()
}
parts = [
    figures(
        paper,
        read_printed(path),
        read_published(path),
        pd.concat(tidy[paper]) if paper in tidy else None,
        claims[paper]["figures"],
        declared(path)["extrapolated"],
        causes[paper],
        declared(path)["stand_ins"],
    )
    for paper, path in zip(causes, snakemake.input.published, strict=True)
]
figures_table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
causes_table = cause_table(causes, figures_table)
claims_table = verdicts(claims, read["claims"])
libraries_table = libraries(snakemake.input.rows, snakemake.params.all_stages)
exhibits_table = exhibits(claims, figures_table, claims_table)
for frame, path in (
    (figures_table, snakemake.output.csv),
    (claims_table, snakemake.output.claims),
    (exhibits_table, snakemake.output.exhibits),
    (causes_table, snakemake.output.causes),
    (libraries_table, snakemake.output.libraries),
):
    write_csv(path, frame)
use_form(**snakemake.params.form)
# the picture shows the numbers as their file has them
papers = snakemake.params.papers
scorecard = pd.read_csv(snakemake.output.csv, dtype=str, keep_default_na=False)
results = "Published beside reproduced", "Each published result as a point."
save(plot_results(scorecard, papers), snakemake.output.pdf, snakemake.output.svg, *results)
within = figures_table["within"].value_counts()
log.info("%d published figures, compared: %s", len(figures_table), within.drop("", errors="ignore").to_dict())
