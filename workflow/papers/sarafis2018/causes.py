"""Variants of the protocol for results that ours miss, and what draws of the rows say."""

from copy import deepcopy
from dataclasses import replace
from functools import partial

import pandas as pd

from lib.exhibits import Context
from lib.tables import measured
from papers.sarafis2018.exhibits import table2, table3, table4, table5
from papers.sarafis2018.exhibits.models import models
from papers.sarafis2018.plan import plan

# the sets of Table 6 but the pairs of MNIST digits, whose fits take most of the time
SMALL = [
    "breast-cancer-wisconsin",
    "mushrooms",
    "waveform",
    "banana",
    "skin-nonskin",
    "splice-libsvm",
    "image",
    "a1a",
    "parkinson",
    "bank-marketing",
]


def tables(rows):
    """Return Tables 2 to 5 of a variant."""
    experiments = set(rows["experiment"])
    weights = [module for module in (table2, table3) if module.EXPERIMENT in experiments]
    return [row for module in (*weights, table4, table5) for row in module.tidy({"cells": rows}, Context())]


def draws(rows):
    """Return means and standard deviations of Tables 2 to 5 over the realisations of each data set."""
    parts = [pd.DataFrame(tables(group)) for _, group in rows.groupby("realisation")]
    key = ["exhibit", "dataset", "setting", "method", "metric", "unit"]
    both = pd.concat(parts).groupby(key, sort=False)["value"].agg(value="mean", spread="std").reset_index()
    return both.to_dict("records")


def _run(config, registry, datasets, **settings):
    """Return the run of a variant: fits and bounds of all models of some data sets, without LIBSVM and
    leave-one-out. `settings` are those of the cells."""
    laid = deepcopy(config)
    for experiment in ("class_weights", "instance_weights"):
        for entry in laid["sarafis2018"][experiment]["datasets"]:
            entry |= {"jobs": 1, "loo_every": 0, "libsvm_every": 0, **settings}
    run = plan(laid, registry).runs[0]
    return replace(run, cells={n: c for n, c in run.cells.items() if c.dataset in datasets})


def _plan_reading(config, registry, function, datasets, **settings):
    """Return a variant's run by another function than that of the cells."""
    return replace(_run(config, registry, datasets, **settings), function=function)


def times_by_qp(rows):
    """Yield Table 6's times of the span rule over those of LIBSVM's cross-validation, of the models of which
    no run failed."""
    for dataset, group in rows.groupby("dataset", sort=False):
        mean = models(group, "cpu_s")[["span_rule_qp", "kfold_libsvm"]].dropna().mean()
        row_key = {"exhibit": "table6", "dataset": dataset, "setting": "", "method": "span_rule"}
        yield measured(row_key, "time", mean["span_rule_qp"] / mean["kfold_libsvm"], "ratio")


def bound_for_xi_alpha(rows):
    """Yield Table 2 with the span bound's errors as those of xi-alpha."""
    for row in table2.tidy({"cells": rows}, Context()):
        if row["method"] == "span_bound" and row["metric"] == "test_error":
            yield {**row, "method": "xi_alpha"}


def rows_left(rows, dataset):
    """Yield the test rows that a data set has beside its training rows."""
    first = rows[(rows["dataset"] == dataset) & (rows["method"] == "test")].iloc[0]
    row_key = {"exhibit": "table1", "dataset": dataset, "setting": "", "method": ""}
    yield measured(row_key, "test_rows", first["rows_tested"], "count")


def features_of_all_rows(rows, features, dataset):
    """Yield the features that training and test rows of a data set have together."""
    row_key = {"exhibit": "table1", "dataset": dataset, "setting": "", "method": ""}
    yield measured(row_key, "features", features, "count")


plan_scale_over_all = partial(_run, datasets=["parkinson"], scale="all")
plan_balanced_draw = partial(_run, datasets=["bank-marketing"], balanced=True)
plan_radius_of_data = partial(
    _plan_reading,
    function="readings.run_radius",
    datasets=["mushrooms", "waveform", "skin-nonskin", "splice-libsvm", "image"],
)
plan_spans_by_qp = partial(
    _plan_reading,
    function="readings.run_qp",
    datasets=SMALL,
    every=8,
)
plan_spans_by_general_qp = partial(
    _plan_reading,
    function="general_qp.run_general_qp",
    datasets=SMALL,
    every=8,
)
