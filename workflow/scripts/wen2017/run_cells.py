"""Cross-validate one model from every seed, on one Gram matrix or with a cache of columns, or with LIBSVM."""

from lib.joblog import start_log
from lib.library import library_id
from lib.rows import CV_ROWS, write_rows
from lib.wen2017.cells import run_cached, run_seeds
from lib.wen2017.libsvm import run_libsvm
from lib.wen2017.problem import chosen_model

run = {"seeds": run_seeds, "cached": run_cached, "libsvm": run_libsvm}[snakemake.params.stage]
chosen = snakemake.input.get("chosen")
rows, checkpoint = run(
    data=snakemake.input.data,
    identity={
        "paper": "wen2017",
        "dataset": snakemake.wildcards.dataset,
        "library": library_id(snakemake.input.library),
        "settings": snakemake.wildcards.settings,
    },
    model=chosen_model(chosen) if chosen else snakemake.params.model,
    k=snakemake.wildcards.k,
    **snakemake.params.cell,
    **snakemake.params.settings,
    checkpoint=f"{snakemake.output.rows}.checkpoint.json",
    log=start_log(snakemake.log[0]),
)
write_rows(snakemake.output.rows, rows, CV_ROWS)
checkpoint.remove()
