# What there is to run: cells and their arguments, the files of their rows, and what exhibits may ask for.

SARAFIS2018 = config["sarafis2018"]
# The data sets of each experiment, and what is said of them.
SARAFIS2018_DATASETS = {
    **{
        experiment: {settings["name"]: settings for settings in SARAFIS2018[experiment]["datasets"]}
        for experiment in ("class_weights", "instance_weights")
    },
    "size": dict.fromkeys(SARAFIS2018["size"]["datasets"], {}),
}
known(
    {f"sarafis2018.{experiment}.datasets": datasets for experiment, datasets in SARAFIS2018_DATASETS.items()}
)
# Figures 2 to 4: the experiment and the data set of each.
SARAFIS2018_FIGURES = {
    "figure2": ("class_weights", SARAFIS2018["figures"]["figure2"]),
    "figure3": ("class_weights", SARAFIS2018["figures"]["figure3"]),
    "figure4": ("instance_weights", SARAFIS2018["figures"]["figure4"]),
}
for figure, (experiment, dataset) in SARAFIS2018_FIGURES.items():
    known({f"sarafis2018.figures.{figure}": [dataset]}, among=SARAFIS2018_DATASETS[experiment])


def sarafis2018_cells():
    """Arguments of the cells of each experiment, data set and number of training rows."""
    axes = {
        "class_weights": {"log2_C": SARAFIS2018["class_weights"]["log2_C"]},
        "instance_weights": {name: SARAFIS2018["instance_weights"][name] for name in ("A", "B", "log2_C")},
    }
    cells = {}
    for experiment, own in axes.items():
        for dataset, settings in SARAFIS2018_DATASETS[experiment].items():
            cells[experiment, dataset, training_rows(dataset)] = {"axes": own, "every": 1, **settings}
    for size in SARAFIS2018["size"]["sizes"]:
        for dataset in SARAFIS2018["size"]["datasets"]:
            cells["size", dataset, 2 ** size["log2_m"]] = {"axes": axes["class_weights"], **size}
    # these say nothing to the runs
    apart = ("name", "log2_m", "published_rows")
    return {
        key: {name: value for name, value in cell.items() if name not in apart} for key, cell in cells.items()
    }


def training_rows(dataset):
    """Training rows of a data set's realisations."""
    entry = REGISTRY[dataset]
    return entry.splits.train if entry.splits else entry.rows


def sarafis2018_mb(wildcards):
    """Memory of a job with the Gram matrix of so many rows and blocks of it, in 2**20 bytes."""
    whole = int(wildcards.m) ** 2 * 8 / 2**20
    return int(1.3 * min(SARAFIS2018["memory_mb"], whole)) + 1500


SARAFIS2018_CELLS = sarafis2018_cells()


def sarafis2018_cell(wildcards):
    """Arguments of one cell."""
    return SARAFIS2018_CELLS[wildcards.experiment, wildcards.dataset, int(wildcards.m)]


SARAFIS2018_ROWS = {
    "cells": [
        f"<results>/sarafis2018/cells/{experiment}/{dataset}/rows-{m}/part-{part}.parquet"
        for (experiment, dataset, m), cell in SARAFIS2018_CELLS.items()
        for part in range(1, cell["jobs"] + 1)
    ],
}
SARAFIS2018_PUBLISHED_ROWS = [
    dataset
    for datasets in SARAFIS2018_DATASETS.values()
    for dataset, settings in datasets.items()
    if settings.get("published_rows")
]
PAPERS["sarafis2018"].declare(
    rows=SARAFIS2018_ROWS,
    datasets=[dataset for datasets in SARAFIS2018_DATASETS.values() for dataset in datasets],
    facts={"figures": SARAFIS2018_FIGURES, "published_rows": SARAFIS2018_PUBLISHED_ROWS},
)
