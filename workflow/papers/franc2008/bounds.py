"""Bounds that no model of a grid can exceed.

It is apart from causes.py, so that a change here leaves the committed rows of causes.py up to date.
"""

from lib.config import grid
from lib.plan import Cell, Run, by_value
from lib.tables import measured


def plan_any_C_on_banana(config, registry):
    """Return the run of the test errors of banana with the linear kernel and every C of the grid."""
    section = config["franc2008"]
    most = min(section["test_realisations"], registry["banana"].splits.realisations)
    arguments = {"kernel": "linear", "gamma": None, "realisations": list(range(1, most + 1))}
    cells = {
        f"banana/linear-{by_value('C', C)}": Cell("banana", arguments={**arguments, "C": C})
        for C in grid(section["linear"]["C"])
    }
    settings = {"eps": section["eps"], "max_iter": section["max_iter"], "timing": config["timing"]}
    return Run("test_at", "causes.run_test_at", "TEST_ROWS", cells, settings)


def largest_test_error(rows):
    """Yield the largest of the mean test errors over C, a bound on that of Table 2. It needs every run: it is
    NaN if one run has no error, as that proves nothing."""
    for (dataset, kernel), group in rows.groupby(["dataset", "kernel"]):
        means = 100 * group.groupby("C")["estimate"].agg(lambda errors: errors.mean(skipna=False))
        row_key = {"exhibit": "table2", "dataset": dataset, "setting": kernel, "method": "loo"}
        yield measured(row_key, "test_error", means.max(skipna=False), "percent")
