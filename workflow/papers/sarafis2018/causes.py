"""Variants of the protocol for results that ours miss, and what draws of the rows say."""

from copy import deepcopy
from dataclasses import replace
from functools import partial

import pandas as pd

from lib.exhibits import Context
from lib.tables import at_minimum, measured
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


def _run(config, registry, datasets, function="cells.run_models", **settings):
    """Return the run of a variant: all models of some data sets, by a function; without LIBSVM and
    leave-one-out by that of the cells. `settings` are those of the cells."""
    laid = deepcopy(config)
    for experiment in ("class_weights", "instance_weights"):
        for entry in laid["sarafis2018"][experiment]["datasets"]:
            entry |= {"jobs": 1, "loo_every": 0, "libsvm_every": 0, **settings}
    run = plan(laid, registry).runs[0]
    cells = {n: c for n, c in run.cells.items() if c.dataset in datasets}
    return replace(run, function=function, cells=cells)


def times_by_qp(rows):
    """Yield Table 6's times of the span rule over those of LIBSVM's cross-validation, of the models of which
    no run failed."""
    for dataset, group in rows.groupby("dataset", sort=False):
        mean = models(group, "cpu_s")[["span_rule_qp", "kfold_libsvm"]].dropna().mean()
        row_key = {"exhibit": "table6", "dataset": dataset, "setting": "", "method": "span_rule"}
        yield measured(row_key, "time", mean["span_rule_qp"] / mean["kfold_libsvm"], "ratio")


def selection_by_libsvm(rows, ties="max"):
    """Yield Table 2's test errors of the span rule's choice, from LIBSVM's own fits; of several choices the
    largest or, with "min", the least."""
    for dataset, group in rows.groupby("dataset", sort=False):
        values = models(group, "estimate")
        errors = at_minimum(values[["span_rule"]], values["test"])["span_rule"]
        row_key = {"exhibit": "table2", "dataset": dataset, "setting": "class_weights", "method": "span_rule"}
        yield measured(row_key, "test_error", errors.agg(ties), "fraction")


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
    _run,
    function="readings.run_radius",
    datasets=["mushrooms", "waveform", "skin-nonskin", "splice-libsvm", "image"],
)


def plan_fits_of_libsvm(config, registry):
    """Return the run of LIBSVM's fits near the least estimates of ours: log2 of C of each class."""
    boxes = {
        "mnist-2v9": {"C_positive": [7, 10], "C_negative": [5, 7.5]},
        "mnist-1v7": {"C_positive": [3.5, 7], "C_negative": [4.5, 7]},
    }
    run = _run(config, registry, boxes, function="readings.run_libsvm_spans")
    cells = {n: replace(c, settings={**c.settings, "box": boxes[c.dataset]}) for n, c in run.cells.items()}
    return replace(run, cells=cells)


plan_spans_by_qp = partial(
    _run,
    function="readings.run_qp",
    datasets=SMALL,
    every=8,
)
plan_spans_by_general_qp = partial(
    _run,
    function="general_qp.run_general_qp",
    datasets=SMALL,
    every=8,
)
