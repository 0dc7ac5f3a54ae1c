# What the rules of the comparison of all estimators are given: sources, cells, the files that the stages and the exhibits make.

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
        f"<comparison>/cells/{dataset}/realisation-{realisation}.parquet"
        for dataset, realisations in COMPARISON_DATASETS.items()
        for realisation in range(1, realisations + 1)
    ],
}
COMPARISON_TABLES = ["estimators", "regret", "rmse", "cost"]
COMPARISON_RESULTS = [
    *expand("<comparison>/rows/{stage}.parquet", stage=COMPARISON_ROWS),
    *expand("<comparison>/{table}.csv", table=COMPARISON_TABLES),
    "<comparison>/tradeoff.pdf",
]

PAPERS["comparison"] = {
    "rows": COMPARISON_ROWS,
    "results": COMPARISON_RESULTS,
    "datasets": list(COMPARISON_DATASETS),
}
