"""Count iterations on many assignments of the rows to folds."""

from lib.joblog import start_log
from lib.library import library_id
from lib.rows import CV_ROWS, write_rows
from papers.wen2017.variants import run_variants

rows = run_variants(
    data=snakemake.input.data,
    identity={
        "paper": "wen2017",
        "dataset": snakemake.wildcards.dataset,
        "library": library_id(snakemake.params.code),
        "settings": "published",
    },
    model=snakemake.params.model,
    **snakemake.params.cell,
    **snakemake.params.settings,
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, CV_ROWS)
