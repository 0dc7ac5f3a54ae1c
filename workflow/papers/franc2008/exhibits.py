"""The paper's tables and figure as tidy rows, computed from result rows. Errors are in percent here."""

from itertools import product

import numpy as np
import pandas as pd

from lib.rows import OK
from lib.sample import half_width
from lib.tables import averaged, measured
from papers.franc2008.checks import agreement as agreement
from papers.franc2008.names import ALL_SETS, KERNELS, METHODS, MODEL
from papers.franc2008.sample import COUNTED, for_all_points
from papers.franc2008.selection import error_table, first_best, selected_models

COSTS = ["cpu_s", "columns_requested", *COUNTED]
VARIANCES = ["cpu_s_variance", "columns_requested_variance"]


def table2(cells, rows, datasets, selects):
    """Yield leave-one-out and test errors of the models that the method `selects` selects by its rows in
    `cells`, see `errors_of_selected`; also ``loo_points``, the points of all its realisations, and
    ``loo_realisations``."""
    yield from errors_of_selected(selected_models(cells, datasets, selects), rows, datasets)
    for (dataset, kernel), group in cells[cells["method"] == selects].groupby(["dataset", "kernel"]):
        points = group.groupby("realisation")["rows_tested"].first()
        row_key = {"exhibit": "table2", "dataset": dataset, "setting": kernel, "method": "loo"}
        yield measured(row_key, "loo_points", points.sum(), "count")
        yield measured(row_key, "loo_realisations", len(points), "count")


def errors_of_selected(selected, rows, datasets):
    """Yield leave-one-out and test errors of the `selected` models (from `selection.selected_models`), from
    rows of the tests. ``loo_error`` is the mean over the realisations of each one's minimum, as printed in
    the paper; ``loo_error_min_of_mean`` the error of the one selected model. Spreads are standard deviations
    over realisations."""
    for dataset, kernel in product(datasets, KERNELS):
        choice = selected[(selected["dataset"] == dataset) & (selected["kernel"] == kernel)].iloc[0]
        test = rows[(rows["dataset"] == dataset) & (rows["kernel"] == kernel)]
        ok = 100 * test.loc[test["status"] == OK, "estimate"]
        row_key = {"exhibit": "table2", "dataset": dataset, "setting": kernel, "method": "loo"}
        yield _chosen(row_key, choice, "loo_error")
        yield averaged(row_key, "test_error", ok, "percent")
        yield _chosen(row_key, choice, "loo_error_min_of_mean")
        yield measured(row_key, "C", choice["C"], "")
        yield measured(row_key, "models", choice["n_models"], "count")
        yield measured(row_key, "failed_models", choice["n_failed_models"], "count")
        yield measured(row_key, "test_realisations", len(ok), "count")
        yield measured(row_key, "failed_test_realisations", len(test) - len(ok), "count")
        if kernel == "rbf":
            yield measured(row_key, "gamma", choice["gamma"], "")


def _chosen(row_key, choice, metric):
    value, spread = (100 * pd.to_numeric(choice[name]) for name in (metric, f"{metric}_sd"))
    return measured(row_key, metric, value, "percent", spread)


def table3(rows, datasets):
    """Yield the cost of a whole model selection by the methods that were run: totals over realisations and
    models on which every method succeeded, also over all data sets (data set `ALL_SETS`).

    ``time`` is CPU time without the Gram matrix. The speed-ups of a method are standard / method;
    ``time_speedup_over_proposed`` is proposed / method. Of the points that no sufficiency check resolved
    (``solved_points``), ``certified`` is the share whose sign was certain before eps-KKT (proposed) or the
    end of the path (unlearn), ``resolved`` the share that was not retrained. Without a success, or without
    the method, values are missing. Where a method solved for a sample of the points, totals are estimates for
    all: the spread of times, columns and speed-ups is half of their 95 % interval.
    """
    for dataset, kernel in product([*datasets, ALL_SETS], KERNELS):
        selected = rows if dataset == ALL_SETS else rows[rows["dataset"] == dataset]
        total, n_runs, n_failed = _totals(selected[selected["kernel"] == kernel])
        row_key = {"exhibit": "table3", "dataset": dataset, "setting": kernel}
        for method in METHODS:
            here, cost = {**row_key, "method": method}, total.loc[method]
            shares = 100 * cost / (cost["n_solved"] or np.nan)
            yield _total(here, "time", cost, "cpu_s", "s")
            yield _total(here, "kernel_columns", cost, "columns_requested", "1e6", 1e6)
            yield measured(here, "solved_points", cost["n_solved"], "count")
            if method == "standard":
                continue
            standard = total.loc["standard"]
            yield _speedup(here, "time_speedup", standard, cost, "cpu_s")
            yield _speedup(here, "kernel_column_speedup", standard, cost, "columns_requested")
            yield measured(here, "certified", shares["n_certified"], "percent")
            if method == "unlearn":
                yield _speedup(here, "time_speedup_over_proposed", total.loc["proposed"], cost, "cpu_s")
                yield measured(here, "resolved", 100 - shares["n_retrained"], "percent")
                yield measured(here, "retrained_points", cost["n_retrained"], "count")
        yield measured({**row_key, "method": "all"}, "runs", n_runs, "count")
        yield measured({**row_key, "method": "all"}, "failed_runs", n_failed, "count")


def _total(row_key, metric, cost, name, unit, per=1):
    value = cost[name] / per
    return measured(row_key, metric, value, unit, half_width(value, (cost[name], cost[f"{name}_variance"])))


def _speedup(row_key, metric, other, cost, name):
    ratio = other[name] / (cost[name] or np.nan)
    parts = ((total[name], total[f"{name}_variance"]) for total in (other, cost))
    return measured(row_key, metric, ratio, "ratio", half_width(ratio, *parts))


def _totals(rows):
    """Return the cost columns summed over the runs on which every method succeeded, by method; the number of
    these runs, and that of the others.

    Methods that were not run have NaN, as have all where no run succeeded.
    """
    runs = rows.assign(ok=rows["status"] == OK).groupby(MODEL, dropna=False)["ok"]
    ok = runs.transform("all").astype(bool)
    # NaN, not 0, where there is nothing to add
    costs = for_all_points(rows[ok]).groupby("method")[COSTS + VARIANCES]
    total = costs.sum(min_count=1).astype(float).reindex(METHODS)
    n_runs = int(runs.all().sum())
    return total, n_runs, runs.ngroups - n_runs


def figure1(rows, figure1_datasets):
    """Yield leave-one-out error and CPU time of the standard method against eps; ``setting`` is log10 of eps.

    Method ``selected_at_eps``: the model selected with this eps; method ``selected_at_smallest_eps``: the one
    selected with the smallest eps; both estimated with this eps. ``loo_error`` selects a model for each
    realisation (the statistic of Table 2), ``loo_error_min_of_mean`` one model for all. ``time`` is the total
    over realisations and models. Spreads are standard deviations over the realisations.
    """
    for dataset in figure1_datasets:
        selected = rows[rows["dataset"] == dataset]
        tables = {eps: error_table(group) for eps, group in selected.groupby("eps")}
        smallest, _ = tables[min(tables)]
        for eps, (errors, n_failed) in tables.items():
            row_key = {"exhibit": "figure1", "dataset": dataset, "setting": f"{np.log10(eps):.4g}"}
            for method, reference in (("selected_at_eps", errors), ("selected_at_smallest_eps", smallest)):
                for metric, values in (
                    ("loo_error", _at_own_models(errors, reference)),
                    ("loo_error_min_of_mean", _at_one_model(errors, reference)),
                ):
                    mean, sd = values.mean(skipna=False), values.std(ddof=1, skipna=False)
                    yield measured({**row_key, "method": method}, metric, 100 * mean, "percent", 100 * sd)
            row_key["method"] = "standard"
            time = selected.loc[(selected["eps"] == eps) & (selected["status"] == OK), "cpu_s"].sum(
                min_count=1
            )
            yield measured(row_key, "time", time, "s")
            yield measured(row_key, "models", len(errors) + n_failed, "count")
            yield measured(row_key, "failed_models", n_failed, "count")


def _at_own_models(errors, reference):
    """Return the error in each realisation of the model that is best there in the reference table, or NaN."""
    if reference.empty:
        return pd.Series(np.nan, index=errors.columns)
    return pd.Series({r: errors[r].get(first_best(reference[r]), np.nan) for r in errors.columns})


def _at_one_model(errors, reference):
    """Return the error in each realisation of the model that is best on average in the reference table, or
    NaN."""
    if reference.empty:
        return pd.Series(np.nan, index=errors.columns)
    return errors.reindex([first_best(reference.mean(axis=1))]).iloc[0]
