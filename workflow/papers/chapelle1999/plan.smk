# What there is to run: cells and their arguments, the files of their rows, and what exhibits may ask for.

import math

CHAPELLE1999 = config["chapelle1999"]
CHAPELLE1999_EXPERIMENTS = ["width", "C"]
CHAPELLE1999_DATASETS = [CHAPELLE1999[experiment]["dataset"] for experiment in CHAPELLE1999_EXPERIMENTS]
known(
    {
        f"chapelle1999.{experiment}.dataset": [CHAPELLE1999[experiment]["dataset"]]
        for experiment in CHAPELLE1999_EXPERIMENTS
    }
)


def chapelle1999_models(experiment):
    """The models of each cell of an experiment, in the order in which they are run."""
    settings = CHAPELLE1999[experiment]
    if experiment == "width":
        return [
            {"C": settings["C"], "gamma": 0.5 * math.exp(-2 * log_sigma)}
            for log_sigma in settings["log_sigma"]
        ]
    return [{"C": math.exp(log_C), "gamma": settings["gamma"]} for log_C in settings["log_C"]]


CHAPELLE1999_CELLS = {
    experiment: {
        "parts": CHAPELLE1999[experiment].get("parts", 1),
        "models": chapelle1999_models(experiment),
    }
    for experiment in CHAPELLE1999_EXPERIMENTS
}
CHAPELLE1999_ROWS = {
    "cells": [
        f"<results>/chapelle1999/cells/{experiment}/{CHAPELLE1999[experiment]['dataset']}/realisation-{realisation}.parquet"
        for experiment in CHAPELLE1999_EXPERIMENTS
        for realisation in range(1, CHAPELLE1999[experiment]["realisations"] + 1)
    ],
}
PAPERS["chapelle1999"].declare(rows=CHAPELLE1999_ROWS, datasets=CHAPELLE1999_DATASETS)
