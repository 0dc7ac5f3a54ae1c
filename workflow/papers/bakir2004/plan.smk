# What there is to run: cells and their arguments, the files of their rows, and what exhibits may ask for.

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
