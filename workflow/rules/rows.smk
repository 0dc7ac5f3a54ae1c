# All rows of a stage in one file, which is small enough to keep: what exhibits are made from, and what is committed.
# A redraw takes these files as they are: no rule makes them, so that nothing asks for cells or data.

from snakemake.logging import logger

if config["redraw"]:
    PAPERS, absent = with_rows(PAPERS, Path("results", config["preset"]))
    for name, file in absent.items():
        logger.info(f"{name} is not redrawn: {file} is not there.")
else:

    rule gather_rows:
        input:
            rows=lambda wildcards: PAPERS[wildcards.paper].rows[wildcards.stage],
        output:
            rows="<results>/{paper}/rows/{stage}.parquet",
        log:
            "<logs>/{paper}/gather_rows/{stage}.log",
        wildcard_constraints:
            paper="|".join(PAPERS),
        conda:
            ENVIRONMENT
        params:
            code=code_of("scripts.gather_rows"),
        script:
            "../scripts/gather_rows.py"
