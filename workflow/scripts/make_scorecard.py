"""Put every published figure beside ours, and count; every claim with its verdict; what computed the rows."""

from pathlib import Path

import pandas as pd

from lib.causes import cause_table, read_causes
from lib.joblog import start_log
from lib.origins import libraries, others, with_origins
from lib.pages import write_page
from lib.published import declared, read_printed, read_published
from lib.scorecard import exhibits, figures, markdown_page, page_values, verdicts
from lib.tables import read_tidy

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
        own, pd.read_csv(next(files), dtype={"setting": str}) if run[paper] else None, run[paper]
    )
    for paper, own in snakemake.params.causes.items()
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
of_figures = pd.concat(parts, ignore_index=True)
of_causes = cause_table(causes, of_figures)
of_claims = verdicts(claims, read["claims"])
of_rows = libraries(snakemake.input.rows, snakemake.params.all_stages, snakemake.params.present)
places = snakemake.params.places
other_rows = {
    (paper, exhibit): others(of_rows, paper, place["stages"])
    for paper, made in places.items()
    for exhibit, place in made.items()
}
of_exhibits = exhibits(claims, of_figures, of_claims, other_rows)
for frame, path in (
    (of_figures, snakemake.output.csv),
    (of_claims, snakemake.output.claims),
    (of_exhibits, snakemake.output.exhibits),
    (of_causes, snakemake.output.causes),
    (of_rows, snakemake.output.libraries),
):
    frame.to_csv(path, index=False, lineterminator="\n")
preset = snakemake.params.preset
Path(snakemake.output.md).write_text(
    markdown_page(preset, claims, of_figures, of_exhibits, of_claims, of_causes)
)
values = page_values(claims, of_figures, of_exhibits, of_claims, read["numbers"], of_causes)
write_page(
    snakemake.output.html,
    "scorecard.html",
    preset=preset,
    places=with_origins(places, of_rows),
    **values,
)
within = of_figures["within"].value_counts()
log.info("%d published figures, compared: %s", len(of_figures), within.drop("", errors="ignore").to_dict())
