# What there is to run: cells and their arguments, the files of their rows, and what exhibits may ask for.

FRANC2008 = config["franc2008"]
known(
    {
        "franc2008.datasets": FRANC2008["datasets"],
        "franc2008.figure1.datasets": FRANC2008["figure1"]["datasets"],
    }
)


def franc2008_cells():
    """Arguments of each cell: kernel, gamma and the values of C."""
    linear, rbf = FRANC2008["linear"], FRANC2008["rbf"]
    cells = {"linear": {"kernel": "linear", "gamma": None, "C": grid(linear["C"])}}
    for i, gamma in enumerate(grid(rbf["gamma"])):
        cells[f"rbf-{i}"] = {"kernel": "rbf", "gamma": gamma, "C": grid(rbf["C"])}
    return cells


FRANC2008_CELLS = franc2008_cells()
FRANC2008_RBF_CELLS = [cell for cell in FRANC2008_CELLS if cell != "linear"]


def franc2008_minutes(wildcards):
    """Run time of a cell of all methods: linear cells retrain for up to half an hour, others take seconds."""
    return 90 if wildcards.cell == "linear" else 5


def franc2008_test_realisations(dataset):
    """Realisations to test on: those that the configuration asks for, or as many as the data set has."""
    splits = REGISTRY[dataset].splits
    return min(FRANC2008["test_realisations"], splits.realisations if splits else 1)


# The row files of each stage.
FRANC2008_ROWS = {
    "cells": expand(
        "<results>/franc2008/cells/{dataset}/realisation-{realisation}/{cell}.parquet",
        dataset=FRANC2008["datasets"],
        realisation=range(1, FRANC2008["realisations"] + 1),
        cell=FRANC2008_CELLS,
    ),
    "stopping": expand(
        "<results>/franc2008/stopping/{dataset}/realisation-{realisation}/{cell}.parquet",
        dataset=FRANC2008["figure1"]["datasets"],
        realisation=range(1, FRANC2008["realisations"] + 1),
        cell=FRANC2008_RBF_CELLS,
    ),
    "test": expand(
        "<results>/franc2008/test/{dataset}/{kernel}.parquet",
        dataset=FRANC2008["datasets"],
        kernel=["linear", "rbf"],
    ),
}
PAPERS["franc2008"].declare(
    rows=FRANC2008_ROWS,
    datasets=[*FRANC2008["datasets"], *FRANC2008["figure1"]["datasets"]],
    facts={
        "datasets": FRANC2008["datasets"],
        "figure1_datasets": FRANC2008["figure1"]["datasets"],
        "methods": FRANC2008["methods"],
    },
    inputs={"selected": expand("<results>/franc2008/selected/{dataset}.csv", dataset=FRANC2008["datasets"])},
    # these compare methods
    without=() if len(FRANC2008["methods"]) > 1 else ("table3", "speedup", "agreement"),
)
