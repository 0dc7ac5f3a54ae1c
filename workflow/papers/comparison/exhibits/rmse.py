"""RMSE: distance from the test error, per data set, in percentage points.

Table of the distance of each estimate from the test error over the models of the grid, one row per data set,
in percentage points.

``rmse.csv`` also has the mean difference, estimate minus test error. A part of the distance is the test
error's own noise.
"""

import numpy as np

from papers.comparison.estimator import estimator_of
from papers.comparison.exhibits.estimator_words import assumptions
from papers.comparison.exhibits.per_set import by_model, means_per_set, table_per_set

STAGES = ("cells",)


def tidy(rows, context):
    """Return the distance from the test error of each estimate that is an error rate, for each data set."""
    return means_per_set(rows["cells"], "rmse", _distances)


def _distances(group):
    test, values = by_model(group, "value")
    rates = [method for method in values if not estimator_of(method)[0].is_bound]
    differences = 100 * values[rates].sub(test, axis="index")
    columns = [np.sqrt((differences**2).mean()), differences.mean()]
    for method, rmse, bias in zip(rates, *columns, strict=True):
        yield method, "rmse", "points", rmse
        yield method, "bias", "points", bias


def table(tidy, context):
    return table_per_set(
        tidy,
        "rmse",
        "Root mean square difference of the estimate and the test error over the models of the grid, "
        "averaged over the realisations. Bounds that may exceed 1 are no error rates and are left out.",
        assumptions(),
    )
