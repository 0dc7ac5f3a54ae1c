"""The plan: leave-one-out, Figure 1, and the test errors of the selected models."""

from dataclasses import replace

from lib.config import check_datasets, grid
from lib.plan import Cell, Plan, Run, by_value
from papers.franc2008.names import KERNELS


def plan(config, registry):
    section = config["franc2008"]
    methods, figure1 = section["methods"], section["figure1"]
    check_datasets(
        {
            "franc2008.datasets": section["datasets"],
            "franc2008.first_method_only": section["first_method_only"],
            "franc2008.figure1.datasets": figure1["datasets"],
        },
        registry,
    )
    shared = {"max_iter": section["max_iter"], "timing": config["timing"]}
    steps = {"as_published": section["as_published"], **shared}
    sampled = config["baselines"] == "sampled"
    # splits are drawn at random, so that the first ones are a sample
    figure1_realisations = min(
        section["realisations"], section["sample"]["realisations"] if sampled else section["realisations"]
    )
    # grids of both kernels
    linear = {"linear": {"gamma": None, "C": grid(section["linear"]["C"])}}
    rbf = {
        f"rbf-{by_value('gamma', gamma)}": {"gamma": gamma, "C": grid(section["rbf"]["C"])}
        for gamma in grid(section["rbf"]["gamma"])
    }

    tested = {
        f"{dataset}/{kernel}": Cell(
            dataset,
            arguments={
                "kernel": kernel,
                "realisations": _tested(registry[dataset], section["test_realisations"]),
            },
        )
        for dataset in section["datasets"]
        for kernel in KERNELS
    }
    # leave-one-out of all models, of Figure 1, and the tests of the selected models
    return Plan(
        [
            Run(
                "loo",
                "cells.run_loo",
                "LOO_ROWS",
                _loo_cells(section, linear | rbf, sampled),
                {"eps": section["eps"], "efficiency_test": section["efficiency_test"], **steps},
                # the kernels of a data set and realisation
                level=2,
            ),
            Run(
                "stopping",
                "cells.run_stopping",
                "LOO_ROWS",
                {
                    name: cell
                    for dataset in figure1["datasets"]
                    for name, cell in _cells(dataset, rbf, figure1_realisations).items()
                },
                {"eps": [10**exponent for exponent in figure1["log10_eps"]], **steps},
                stage="stopping",
                # the kernels of a data set and realisation
                level=2,
            ),
            Run(
                "test",
                "cells.run_test",
                "TEST_ROWS",
                tested,
                {"method": methods[0], "eps": section["eps"], **shared},
                stage="test",
                after=["cells"],
                level=1,
            ),
        ],
        [*section["datasets"], *figure1["datasets"]],
        # these compare methods
        without=() if len(methods) > 1 else ("table3", "speedup", "agreement", "agreement_points"),
    )


def _tested(entry, most):
    """Return the realisations to test on: as many as the configuration asks for, or as the data set has."""
    return list(range(1, min(most, entry.splits.realisations if entry.splits else 1) + 1))


def _loo_cells(section, kernels, sampled):
    """Return the cells of leave-one-out: a cell for each data set, realisation and kernel. With `sampled`,
    methods other than the first solve for a sample of the points."""
    methods, cells = section["methods"], {}
    for dataset in section["datasets"]:
        arguments = {"methods": methods[:1] if dataset in section["first_method_only"] else methods}
        linear = section["sample"]["dear"].get(dataset) or section["sample"]["linear"]
        for name, cell in _cells(dataset, kernels, section["realisations"], arguments).items():
            points = linear if cell.arguments["gamma"] is None else section["sample"]["rbf"]
            cells[name] = replace(cell, settings={"sample": points} if sampled else {})
    return cells


def _cells(dataset, kernels, realisations, arguments=None):
    """Return a cell for each realisation and kernel of a data set. Linear ones retrain for up to half an
    hour."""
    return {
        f"{dataset}/realisation-{realisation}/{name}": Cell(
            dataset,
            arguments={"realisation": realisation, **kernel, **(arguments or {})},
            minutes=90 if kernel["gamma"] is None else 3,
        )
        for realisation in range(1, realisations + 1)
        for name, kernel in kernels.items()
    }
