"""What there is to run: one cell."""

from lib.config import check_datasets, grid
from lib.plan import Cell, Plan, Run


def plan(config, registry):
    section = config["toy2026"]
    check_datasets({"toy2026.dataset": [section["dataset"]]}, registry)
    cells = {f"{section['dataset']}/linear": Cell(section["dataset"], arguments={"grid": grid(section["C"])})}
    settings = {"tol": 1e-3, "max_iter": None, "timing": config["timing"]}
    return Plan([Run("fits", "cells.run_fits", "TEST_ROWS", cells, settings)], [section["dataset"]])
