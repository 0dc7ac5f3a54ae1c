"""What there is to run: one cell."""

from lib.config import check_datasets, grid
from lib.plan import Cell, Plan, Run


def plan(config, registry):
    own = config["toy2026"]
    check_datasets({"toy2026.dataset": [own["dataset"]]}, registry)
    cells = {f"{own['dataset']}/linear": Cell(own["dataset"], arguments={"grid": grid(own["C"])})}
    settings = {"tol": 1e-3, "max_iter": None, "timing": config["timing"]}
    return Plan([Run("cells.run_fits", "TEST_ROWS", cells, settings)], [own["dataset"]])
