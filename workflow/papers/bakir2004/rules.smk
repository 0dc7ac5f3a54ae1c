# Bakir, Bottou and Weston, "Breaking SVM complexity with cross-training", NIPS 2004. The chain: run (cells of rows) -> make -> plot.

BAKIR2004 = config["bakir2004"]
known(
    {
        "bakir2004.figure4.dataset": [BAKIR2004["figure4"]["dataset"]],
        "bakir2004.table1.sets": [settings["dataset"] for settings in BAKIR2004["table1"]["sets"]],
        "bakir2004.growth.dataset": [BAKIR2004["growth"]["dataset"]],
    }
)


def bakir2004_mb(rows):
    """Memory of a job whose largest Gram matrix has so many rows, and a quarter of it for restrictions, in 2**20
    bytes."""
    whole = rows**2 * (8 if rows <= 20000 else 4) / 2**20
    return int(1.25 * min(BAKIR2004["memory_mb"], 1.04 * whole)) + 3500


def bakir2004_setup(settings, gamma, adjust, subset_size=None):
    """What the setup of every cell of an experiment holds, but the seed."""
    return {
        "gamma": gamma,
        "values": grid(settings["C"]),
        "final_values": grid(settings.get("final_C", settings["C"])),
        "n_subsets": settings["subsets"],
        "subset_size": subset_size,
        "adjust": adjust,
        **{key: BAKIR2004[key] for key in ("folds", "cv_rows", "parts", "patience", "tol", "memory_mb")},
        "timing": config["timing"],
    }


def bakir2004_figure1():
    """Arguments of the cell of Figure 1."""
    return {**BAKIR2004["figure1"], "tol": BAKIR2004["tol"], "timing": config["timing"]}


def bakir2004_figure3():
    """Arguments of each cell of Figure 3: a linear kernel, subsets that are parts, nothing of section 4.3."""
    settings = BAKIR2004["figure3"]
    cell = {key: settings[key] for key in ("sizes", "deviations", "test_rows", "methods")}
    return {**cell, "setup": bakir2004_setup(settings, None, False)}


def bakir2004_figure4():
    """Arguments of each cell of Figure 4: subsets that are parts, nothing of section 4.3."""
    settings = BAKIR2004["figure4"]
    nu = {"values": grid(settings["nu"]), "final_values": grid(settings["final_nu"])}
    cell = {key: settings[key] for key in ("noise", "scale", "train_rows", "methods")}
    return {**cell, "nu": nu, "setup": bakir2004_setup(settings, settings["gamma"], False)}


def bakir2004_table1(dataset, train):
    """Arguments of a cell of Table 1."""
    (settings,) = [
        own for own in BAKIR2004["table1"]["sets"] if (own["dataset"], own["train"]) == (dataset, train)
    ]
    return {
        "realisations": list(range(1, settings["realisations"] + 1)),
        "train_rows": train,
        "test_rows": settings["test"],
        "scale": settings["scale"],
        "methods": settings["methods"],
        "setup": bakir2004_setup(settings, settings["gamma"], True, settings["subset_size"]),
    }


def bakir2004_growth():
    """Arguments of the cell of the growth: one C, subsets of the size of a part, drawn as in Table 1."""
    settings = BAKIR2004["growth"]
    cell = {key: settings[key] for key in ("sizes", "test_rows", "scale", "methods")}
    return {**cell, "setup": bakir2004_setup(settings, settings["gamma"], True)}


BAKIR2004_ROWS = {
    "cells": [
        "<results>/bakir2004/cells/figure1.parquet",
        *expand(
            "<results>/bakir2004/cells/figure3/run-{run}.parquet",
            run=range(1, BAKIR2004["figure3"]["runs"] + 1),
        ),
        *expand(
            f"<results>/bakir2004/cells/figure4/{BAKIR2004['figure4']['dataset']}/run-{{run}}.parquet",
            run=range(1, BAKIR2004["figure4"]["runs"] + 1),
        ),
        *(
            f"<results>/bakir2004/cells/table1/{settings['dataset']}/train-{settings['train']}.parquet"
            for settings in BAKIR2004["table1"]["sets"]
        ),
        f"<results>/bakir2004/cells/growth/{BAKIR2004['growth']['dataset']}.parquet",
    ],
}
PAPERS["bakir2004"].declare(
    rows=BAKIR2004_ROWS,
    datasets=[
        BAKIR2004["figure4"]["dataset"],
        *(settings["dataset"] for settings in BAKIR2004["table1"]["sets"]),
        BAKIR2004["growth"]["dataset"],
    ],
)


rule bakir2004_run_figure1:
    output:
        rows="<results>/bakir2004/cells/figure1.parquet",
    log:
        "<logs>/bakir2004/run_figure1.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        code=code_of("papers.bakir2004.scripts.run_figure1"),
        cell=bakir2004_figure1(),
    script:
        "scripts/run_figure1.py"


rule bakir2004_run_figure3:
    output:
        rows="<results>/bakir2004/cells/figure3/run-{realisation}.parquet",
    log:
        "<logs>/bakir2004/run_figure3/run-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(bakir2004_mb(max(BAKIR2004["figure3"]["sizes"]))),
        runtime=growing(60),
    params:
        code=code_of("papers.bakir2004.scripts.run_figure3"),
        cell=bakir2004_figure3(),
    script:
        "scripts/run_figure3.py"


rule bakir2004_run_figure4:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/bakir2004/cells/figure4/{dataset}/run-{realisation}.parquet",
    log:
        "<logs>/bakir2004/run_figure4/{dataset}/run-{realisation}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(bakir2004_mb(REGISTRY[BAKIR2004["figure4"]["dataset"]].rows)),
        runtime=growing(180),
    params:
        code=code_of("papers.bakir2004.scripts.run_figure4"),
        wildcards=named,
        cell=bakir2004_figure4(),
    script:
        "scripts/run_figure4.py"


rule bakir2004_run_table1:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/bakir2004/cells/table1/{dataset}/train-{train}.parquet",
    log:
        "<logs>/bakir2004/run_table1/{dataset}/train-{train}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(lambda wildcards: bakir2004_mb(int(wildcards.train))),
        runtime=growing(720),
    params:
        code=code_of("papers.bakir2004.scripts.run_table1"),
        wildcards=named,
        cell=lambda wildcards: bakir2004_table1(wildcards.dataset, int(wildcards.train)),
    script:
        "scripts/run_table1.py"


rule bakir2004_run_growth:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/bakir2004/cells/growth/{dataset}.parquet",
    log:
        "<logs>/bakir2004/run_growth/{dataset}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(bakir2004_mb(max(BAKIR2004["growth"]["methods"].values()))),
        runtime=growing(360),
    params:
        code=code_of("papers.bakir2004.scripts.run_growth"),
        wildcards=named,
        cell=bakir2004_growth(),
    script:
        "scripts/run_growth.py"
