"""The comparison as tidy rows, computed from result rows. Errors are in percent, differences in points."""

from itertools import chain

import numpy as np
import pandas as pd

from lib.rows import OK
from lib.tables import at_minimum, averaged, measured
from papers.comparison.estimator import TEST, estimator_of

ALL_SETS = "all sets"
# what estimators are compared with: training and nothing else, the Gram matrix, a model drawn at random
FIT, GRAM, RANDOM = "fit", "gram", "random"
# a model of the grid
MODEL = ["kernel", "gamma", "C"]
# what is read of the rows of a model, beside the estimate and the time of each method
NUMBERS = ["m", "rows_tested", "gram_cpu_s", "sphere_cpu_s"]


def regret(rows):
    """Return the test error that the choice by each estimator costs, for each data set. As for `rmse` and
    `cost`, values are means over the realisations, the spread is their standard deviation, and estimators
    stand in the order of the rows."""
    return _per_set(rows, "regret", _regret)


def rmse(rows):
    """Return the distance from the test error of each estimate that is an error rate, for each data set."""
    return _per_set(rows, "rmse", _rmse)


def cost(rows):
    """Return CPU times of a model, for each data set."""
    return _per_set(rows, "cost", _cost)


def _per_set(rows, exhibit, numbers_of):
    """Yield the tidy rows of an exhibit. `numbers_of` yields (method, metric, unit, value) of a realisation
    of a data set."""
    ok = rows["status"] == OK
    rows = rows[["dataset", "realisation", *MODEL, *NUMBERS]].assign(
        # the linear kernel has no gamma, which would be no key
        gamma=rows["gamma"].fillna(0),
        method=_names(rows),
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


def _names(rows):
    """Return the estimator of each row: the method, of cross-validation with its number of folds."""
    k = rows["k"].map(lambda k: "" if pd.isna(k) else f"_{k:.0f}")
    return rows["method"] + k


def _by_model(group, column):
    """Return a column of one realisation: the test errors, and the values of the estimators, in their
    order."""
    values = group.pivot(index=MODEL, columns="method", values=column)
    return values.pop(TEST), values[[method for method in group["method"].unique() if method != TEST]]


def _regret(group):
    test, values = _by_model(group, "value")
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


def _rmse(group):
    test, values = _by_model(group, "value")
    rates = [method for method in values if not estimator_of(method)[0].is_bound]
    differences = 100 * values[rates].sub(test, axis="index")
    columns = [np.sqrt((differences**2).mean()), differences.mean()]
    for method, rmse, bias in zip(rates, *columns, strict=True):
        yield method, "rmse", "points", rmse
        yield method, "bias", "points", bias


def _cost(group):
    fit, seconds = _by_model(group, "cpu_s")
    yield GRAM, "time", "s", _shared(group, "gram_cpu_s")
    yield FIT, "time", "s", fit.mean()
    sphere = _shared(group, "sphere_cpu_s")
    alone, with_fit = seconds.mean(), seconds.add(fit, axis="index").mean()
    for method in seconds:
        estimator, _ = estimator_of(method)
        time = (with_fit if estimator.needs_fit else alone)[method]
        time += sphere if estimator.needs_sphere else 0
        yield method, "time", "s", time
        yield method, "fits", "ratio", time / fit.mean()


def _shared(group, column):
    """Return the CPU time that the models of a kernel share, divided by the models."""
    kernels = group.dropna(subset=[column]).drop_duplicates(["kernel", "gamma"])
    return kernels[column].sum() / len(group.drop_duplicates(MODEL))


def estimators(regret, rmse, cost):
    """Yield all estimators, from the tidy rows of these tables: means over the data sets.

    The spread is the standard deviation over the data sets, of ``time`` and ``fits``, which are geometric
    means, that of the natural logarithm. ``behind`` is the regret minus that of the estimator whose mean
    regret is the least, on the same data set; ``rank`` the place of an estimator by regret on a data set,
    those that tie all at the mean of their places.
    """
    regrets = _by_method(regret, "regret")
    without_chance = regrets.drop(columns=RANDOM)
    means = {
        ("regret", "points"): regrets,
        ("mean_regret", "points"): _by_method(regret, "mean_regret"),
        ("tied", "count"): _by_method(regret, "tied"),
        ("behind", "points"): without_chance.sub(without_chance[without_chance.mean().idxmin()], axis=0),
        ("rank", "place"): without_chance.rank(axis=1),
        ("rmse", "points"): _by_method(rmse, "rmse"),
        ("bias", "points"): _by_method(rmse, "bias"),
    }
    row_key = {"exhibit": "estimators", "dataset": ALL_SETS}
    for (metric, unit), values in means.items():
        for method, series in values.items():
            yield averaged({**row_key, "method": method}, metric, series, unit)
    for metric, unit in (("time", "s"), ("fits", "ratio")):
        for method, series in np.log(_by_method(cost, metric)).items():
            yield measured(
                {**row_key, "method": method}, metric, np.exp(series.mean()), unit, series.std(ddof=1)
            )
    for method, worst in regrets.max().items():
        yield measured({**row_key, "method": method}, "largest_regret", worst, "points")
    for method, number in _by_method(regret, "failed").sum().items():
        yield measured({**row_key, "method": method}, "failed", number, "count")
    yield measured({**row_key, "method": "all"}, "datasets", len(regrets), "count")


def _by_method(tidy, metric):
    """Return values of one metric: data sets by methods, both in their order."""
    selected = tidy[tidy["metric"] == metric]
    both = selected.pivot(index="dataset", columns="method", values="value")
    return both.reindex(index=selected["dataset"].unique(), columns=selected["method"].unique())
