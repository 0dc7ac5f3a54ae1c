"""What there is to run: one cell."""

from lib.config import check_datasets, grid
from lib.plan import Cell, Plan, Run
from lib.shown import dataset_in_words


def plan(config, registry):
    section = config["toy2026"]
    check_datasets({"toy2026.dataset": [section["dataset"]]}, registry)
    cells = {f"{section['dataset']}/linear": Cell(section["dataset"], arguments={"grid": grid(section["C"])})}
    settings = {"tol": 1e-3, "max_iter": None, "timing": config["timing"]}
    run = Run("fits", "cells.run_fits", "TEST_ROWS", cells, settings)
    # captions name data sets in words
    facts = {"dataset_name": dataset_in_words(section["dataset"])}
    return Plan([run], [section["dataset"]], facts)
