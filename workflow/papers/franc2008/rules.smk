# Franc, Laskov and Mueller, "Stopping conditions for exact computation of leave-one-out error in support vector machines",
# ICML 2008. The chain: run (cells of rows) -> select (models) -> run (test errors) -> make (tables) -> plot.

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


rule franc2008_run_loo:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/franc2008/cells/{dataset}/realisation-{realisation}/{cell}.parquet",
    log:
        "<logs>/franc2008/run_loo/{dataset}/realisation-{realisation}/{cell}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(franc2008_minutes),
    params:
        code=code_of("papers.franc2008.scripts.run_loo"),
        wildcards=named,
        cell=lambda wildcards: FRANC2008_CELLS[wildcards.cell],
        settings={
            **{key: FRANC2008[key] for key in ("methods", "eps", "efficiency_test", "max_iter")},
            "timing": config["timing"],
        },
    script:
        "scripts/run_loo.py"


rule franc2008_run_stopping:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/franc2008/stopping/{dataset}/realisation-{realisation}/{cell}.parquet",
    log:
        "<logs>/franc2008/run_stopping/{dataset}/realisation-{realisation}/{cell}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_of("papers.franc2008.scripts.run_stopping"),
        cell=lambda wildcards: FRANC2008_CELLS[wildcards.cell],
        settings={
            "eps": [10**exponent for exponent in FRANC2008["figure1"]["log10_eps"]],
            "max_iter": FRANC2008["max_iter"],
            "timing": config["timing"],
        },
    script:
        "scripts/run_stopping.py"


# The test errors in rows/ are those of models that were selected: a redraw takes these as they are, too.
if not config["redraw"]:

    rule franc2008_select_models:
        input:
            rows=expand(
                "<results>/franc2008/cells/{{dataset}}/realisation-{realisation}/{cell}.parquet",
                realisation=range(1, FRANC2008["realisations"] + 1),
                cell=FRANC2008_CELLS,
            ),
        output:
            selected="<results>/franc2008/selected/{dataset}.csv",
        log:
            "<logs>/franc2008/select_models/{dataset}.log",
        conda:
            ENVIRONMENT
        params:
            code=code_of("papers.franc2008.scripts.select_models"),
            method=FRANC2008["methods"][0],
        script:
            "scripts/select_models.py"


rule franc2008_run_test:
    input:
        data="resources/data/{dataset}.npz",
        selected="<results>/franc2008/selected/{dataset}.csv",
    output:
        rows="<results>/franc2008/test/{dataset}/{kernel}.parquet",
    log:
        "<logs>/franc2008/run_test/{dataset}/{kernel}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_of("papers.franc2008.scripts.run_test"),
        n_realisations=lambda wildcards: franc2008_test_realisations(wildcards.dataset),
        settings={
            **{key: FRANC2008[key] for key in ("eps", "max_iter")},
            "timing": config["timing"],
        },
    script:
        "scripts/run_test.py"
