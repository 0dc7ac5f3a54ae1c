"""Regret: test error lost by the model chosen, per data set, in percentage points.

Table of the regret of the model that each estimator chooses, one row per data set, in percentage points of
test error.

``regret.csv`` also has standard deviations over the realisations, the number of models that tie at the
smallest estimate, the mean regret of these models, and how many models have no value.
"""

from lib.tables import at_minimum
from papers.comparison.estimator import TEST
from papers.comparison.exhibits.estimator_words import RANDOM, assumptions
from papers.comparison.exhibits.per_set import by_model, means_per_set, table_per_set

STAGES = ("cells",)

LEADING = [
    ("Training rows", "train_rows", 0),
    ("Test rows", "test_rows", 0),
    ("Realisations", "realisations", 0),
    ("Least test error (%)", "least_test_error", 2),
]


def tidy(rows, context):
    """Return the test error that the choice by each estimator costs, for each data set."""
    return means_per_set(rows["cells"], "regret", _regrets)


def _regrets(group):
    test, values = by_model(group, "value")
    test = 100 * test
    best = test.min()
    yield "all", "train_rows", "count", group["m"].max()
    yield "all", "test_rows", "count", group.loc[group["method"] == TEST, "rows_tested"].max()
    yield "all", "models", "count", test.count()
    yield "all", "least_test_error", "percent", best
    regrets = at_minimum(values, test) - best
    columns = [regrets.max(), regrets.mean(), regrets.count(), values.isna().sum()]
    for method, worst, mean, tied, failed in zip(values, *columns, strict=True):
        yield method, "regret", "points", worst
        yield method, "mean_regret", "points", mean
        yield method, "tied", "count", tied
        yield method, "failed", "count", failed
    for metric in ("regret", "mean_regret"):
        yield RANDOM, metric, "points", (test - best).mean()


def table(tidy, context):
    return table_per_set(
        tidy,
        "regret",
        "Means over the realisations. Regret: test error of the model with the smallest estimate minus the "
        "smallest test error on the grid. If several models tie, the largest of their test errors counts. "
        "Random: the mean over all models of the grid.",
        assumptions(),
        leading=LEADING,
    )
