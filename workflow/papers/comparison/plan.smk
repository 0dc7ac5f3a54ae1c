# What there is to run: cells and their arguments, the files of their rows, and what exhibits may ask for.

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
