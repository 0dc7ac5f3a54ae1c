"""Numbers of each estimator on each data set: means over the realisations, and their standard deviation.

Errors are in percent, differences in points. Estimators stand in the order of the rows.
"""

from itertools import chain

import pandas as pd

from lib.rows import OK
from lib.tables import arranged, averaged, data_set, lines_of, lookup, measured, shown
from papers.comparison.estimator import TEST
from papers.comparison.exhibits.estimator_words import estimator_name

# a model of the grid
MODEL = ["kernel", "gamma", "C"]
# what is read of the rows of a model, beside the estimate and the time of each method
NUMBERS = ["m", "rows_tested", "gram_cpu_s", "sphere_cpu_s"]


def means_per_set(rows, exhibit, numbers_of):
    """Yield the tidy rows of an exhibit. `numbers_of` yields (method, metric, unit, value) of a realisation
    of a data set."""
    ok = rows["status"] == OK
    # of cross-validation each number of folds is an estimator
    k = rows["k"].map(lambda k: "" if pd.isna(k) else f"_{k:.0f}")
    rows = rows[["dataset", "realisation", *MODEL, *NUMBERS]].assign(
        # the linear kernel has no gamma, which would be no key
        gamma=rows["gamma"].fillna(0),
        method=rows["method"] + k,
        value=rows["estimate"].fillna(rows["bound"]).where(ok),
        cpu_s=rows["cpu_s"].where(ok),
    )
    key = ["method", "metric", "unit"]
    for dataset, dataset_rows in rows.groupby("dataset", sort=False):
        row_key = {"exhibit": exhibit, "dataset": dataset}
        parts = [group for _, group in dataset_rows.groupby("realisation")]
        numbers = pd.DataFrame(chain.from_iterable(map(numbers_of, parts)), columns=[*key, "value"])
        for (method, metric, unit), values in numbers.groupby(key, sort=False)["value"]:
            yield averaged({**row_key, "method": method}, metric, values, unit)
        yield measured({**row_key, "method": "all"}, "realisations", len(parts), "count")


def by_model(group, column):
    """Return a column of one realisation: the test errors, and the values of the estimators, in their
    order."""
    values = group.pivot(index=MODEL, columns="method", values=column)
    return values.pop(TEST), values[[method for method in group["method"].unique() if method != TEST]]


def table_per_set(tidy, metric, *notes, factor=1, leading=()):
    """Return a table of a metric: a row per data set, and leading columns of (heading, metric, decimals)."""
    find = lookup(tidy, ("dataset", "method", "metric"))
    columns = [("", "Data set", data_set)]
    columns += [("", heading, shown(find, decimals, "all", name)) for heading, name, decimals in leading]
    columns += [
        ("", estimator_name(method, short=True), shown(find, 2, method, metric, factor=factor))
        for method in tidy.loc[tidy["metric"] == metric, "method"].unique()
    ]
    return arranged(lines_of(tidy, "dataset"), columns, list(notes))
