"""The plan: each estimator on every model of the grid, on each realisation."""

from lib.config import check_datasets, grid
from lib.plan import Cell, Plan, Run
from papers.comparison.estimator import TEST, load_estimators


def plan(config, registry):
    section = config["comparison"]
    datasets = {entry["name"]: entry["realisations"] for entry in section["datasets"]}
    check_datasets({"comparison.datasets": datasets}, registry)
    # a Gram matrix for each kernel
    kernels = [
        {"gamma": None, "C": grid(section["linear"]["C"])},
        *({"gamma": gamma, "C": grid(section["rbf"]["C"])} for gamma in grid(section["rbf"]["gamma"])),
    ]
    cells = {
        f"{dataset}/realisation-{realisation}/{name}": Cell(
            dataset,
            arguments={"realisation": realisation, "estimator": name, "kernels": kernels},
            settings={"folds": section["folds"] if needs_folds else []},
            minutes=30 if needs_folds else 3,
            modules=[] if name == TEST else [f"estimators.{name}"],
        )
        for dataset, realisations in datasets.items()
        for realisation in range(1, realisations + 1)
        for name, needs_folds in _runs()
    }
    settings = {"tol": section["tol"], "max_iter": section["max_iter"], "timing": config["timing"]}
    run = Run("estimators", "cells.run_estimator", "COMPARISON_ROWS", cells, settings, level=2)
    return Plan([run], list(datasets))


def _runs():
    """Yield the test error and every estimator: its name, and whether it needs folds."""
    yield TEST, False
    for name, estimator in load_estimators().items():
        yield name, estimator.needs_folds
