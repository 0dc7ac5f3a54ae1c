# Sarafis, Diou and Delopoulos, "Span error bound for weighted SVM with applications in hyperparameter selection", 2018. The chain:
# run (cells of rows) -> make -> plot.


def sarafis2018_cell(wildcards):
    """Arguments of one cell."""
    return SARAFIS2018_CELLS[wildcards.experiment, wildcards.dataset, int(wildcards.m)]


rule sarafis2018_run_models:
    input:
        data="resources/data/{dataset}.npz",
        library=SARAFIS2018_SOURCES,
    output:
        rows="<sarafis2018>/cells/{experiment}/{dataset}/rows-{m}/part-{part}.parquet",
    log:
        "<logs>/sarafis2018/run_models/{experiment}/{dataset}/rows-{m}/part-{part}.log",
    conda:
        ENVIRONMENT
    params:
        cell=sarafis2018_cell,
        settings={
            **{key: SARAFIS2018[key] for key in ("tol", "max_iter", "folds", "memory_mb", "cache_mb")},
            "timing": config["timing"],
        },
    script:
        "../scripts/sarafis2018/run_models.py"


rule sarafis2018_gather_rows:
    input:
        rows=SARAFIS2018_ROWS,
        code=lib("rows"),
    output:
        rows="<sarafis2018>/rows/cells.parquet",
    log:
        "<logs>/sarafis2018/gather_rows.log",
    conda:
        ENVIRONMENT
    script:
        "../scripts/gather_rows.py"
