# All estimators of the test error on the same models, which none of the papers has. The chain: run (cells of rows) -> make -> plot.

COMPARISON = config["comparison"]
COMPARISON_DATASETS = {entry["name"]: entry["realisations"] for entry in COMPARISON["datasets"]}
known({"comparison.datasets": COMPARISON_DATASETS})
# The models of every cell: a Gram matrix for each kernel.
COMPARISON_KERNELS = [
    {"kernel": "linear", "gamma": None, "C": grid(COMPARISON["linear"]["C"])},
    *(
        {"kernel": "rbf", "gamma": gamma, "C": grid(COMPARISON["rbf"]["C"])}
        for gamma in grid(COMPARISON["rbf"]["gamma"])
    ),
]
COMPARISON_ROWS = {
    "cells": [
        f"<results>/comparison/cells/{dataset}/realisation-{realisation}.parquet"
        for dataset, realisations in COMPARISON_DATASETS.items()
        for realisation in range(1, realisations + 1)
    ],
}
PAPERS["comparison"].declare(rows=COMPARISON_ROWS, datasets=COMPARISON_DATASETS)


rule comparison_run_models:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/comparison/cells/{dataset}/realisation-{realisation}.parquet",
    log:
        "<logs>/comparison/run_models/{dataset}/realisation-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        code=code_of("papers.comparison.scripts.run_models"),
        kernels=COMPARISON_KERNELS,
        settings={
            **{key: COMPARISON[key] for key in ("tol", "max_iter", "folds")},
            "timing": config["timing"],
        },
    script:
        "scripts/run_models.py"
