"""The plan: the models of each experiment, over the width and over C, on each realisation."""

import math

from lib.config import check_datasets
from lib.plan import Cell, Plan, Run

EXPERIMENTS = ("width", "C")


def plan(config, registry):
    section = config["chapelle1999"]
    datasets = {name: section[name]["dataset"] for name in EXPERIMENTS}
    check_datasets(
        {f"chapelle1999.{name}.dataset": [dataset] for name, dataset in datasets.items()}, registry
    )
    cells = {
        f"{experiment}/{settings['dataset']}/realisation-{realisation}": Cell(
            settings["dataset"],
            identity={"experiment": experiment},
            arguments={
                "realisation": realisation,
                "parts": settings.get("parts", 1),
                "models": _models(experiment, settings),
            },
        )
        for experiment, settings in ((experiment, section[experiment]) for experiment in EXPERIMENTS)
        for realisation in range(1, settings["realisations"] + 1)
    }
    settings = {"tol": section["tol"], "max_iter": section["max_iter"], "timing": config["timing"]}
    run = Run("models", "cells.run_models", "BOUND_ROWS", cells, settings)
    return Plan([run], list(datasets.values()))


def _models(experiment, settings):
    """Return the models of each cell of an experiment, in the order in which they are run."""
    if experiment == "width":
        return [
            {"C": settings["C"], "gamma": 0.5 * math.exp(-2 * log_sigma)}
            for log_sigma in settings["log_sigma"]
        ]
    return [{"C": math.exp(log_C), "gamma": settings["gamma"]} for log_C in settings["log_C"]]
