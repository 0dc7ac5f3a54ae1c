"""The paper's tables and figure as tidy rows, computed from result rows. Errors are in percent here."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from lib.rows import OK
from papers.franc2008.checks import agreement
from papers.franc2008.names import ALL_SETS, KERNELS, METHODS, MODEL
from papers.franc2008.selection import error_table, first_best, selected_models

__all__ = ["agreement", "errors_of_selected", "figure1", "table2", "table3"]

COSTS = ["cpu_s", "columns_requested", "n_solved", "n_certified", "n_retrained"]


def table2(cells, rows, datasets, selects):
    """Leave-one-out and test errors of the models that the method `selects` selects by its rows in `cells`;
    see `errors_of_selected`."""
    return errors_of_selected(selected_models(cells, datasets, selects), rows, datasets)


def errors_of_selected(selected, rows, datasets):
    """Leave-one-out and test errors of the selected models.

    Parameters
    ----------
    selected : DataFrame
        From `selection.selected_models`.
    rows : DataFrame
        Of the tests.
    datasets : list of str
        In the order of the table.

    Returns
    -------
    list of dict
        Tidy rows. ``loo_error`` is the mean over the realisations of each one's minimum, as printed in the
        paper; ``loo_error_min_of_mean`` the error of the one selected model. Spreads are standard deviations
        over realisations.
    """
    tidy = []
    for dataset in datasets:
        for kernel in KERNELS:
            choice = selected[(selected["dataset"] == dataset) & (selected["kernel"] == kernel)].iloc[0]
            test = rows[(rows["dataset"] == dataset) & (rows["kernel"] == kernel)]
            ok = test.loc[test["status"] == OK, "estimate"]

            row = partial(_tidy, "table2", dataset, kernel, "loo")
            tidy += [
                row("loo_error", _percent(choice["loo_error"]), "percent", _percent(choice["loo_error_sd"])),
                row("test_error", _percent(ok.mean()), "percent", _percent(ok.std(ddof=1))),
                row(
                    "loo_error_min_of_mean",
                    _percent(choice["loo_error_min_of_mean"]),
                    "percent",
                    _percent(choice["loo_error_min_of_mean_sd"]),
                ),
                row("C", choice["C"], ""),
                row("models", choice["n_models"], "count"),
                row("failed_models", choice["n_failed_models"], "count"),
                row("test_realisations", len(ok), "count"),
                row("failed_test_realisations", len(test) - len(ok), "count"),
            ]
            if kernel == "rbf":
                tidy.append(row("gamma", choice["gamma"], ""))
    return tidy


def table3(rows, datasets):
    """Cost of a whole model selection: totals over realisations and models on which every method succeeded.

    Parameters
    ----------
    rows : DataFrame
        Leave-one-out rows of the methods that were run.
    datasets : list of str

    Returns
    -------
    list of dict
        Tidy rows, also of the totals over all data sets (data set `ALL_SETS`). ``time`` is CPU time without
        the Gram matrix. The speed-ups of a method are standard / method; ``time_speedup_over_proposed`` is
        proposed / method. Of the points that no sufficiency check resolved (``solved_points``), ``certified``
        is the share whose sign was certain before eps-KKT (proposed) or the end of the path (unlearn),
        ``resolved`` the share that was not retrained. Without a success, or without the method, values are
        missing.
    """
    tidy = []
    for dataset in [*datasets, ALL_SETS]:
        own = rows if dataset == ALL_SETS else rows[rows["dataset"] == dataset]
        for kernel in KERNELS:
            row = partial(_tidy, "table3", dataset, kernel)
            total, n_runs, n_failed = _totals(own[own["kernel"] == kernel])
            for method in METHODS:
                cost = total.loc[method]
                tidy += [
                    row(method, "time", cost["cpu_s"], "s"),
                    row(method, "kernel_columns", cost["columns_requested"] / 1e6, "1e6"),
                    row(method, "solved_points", cost["n_solved"], "count"),
                ]
                if method == "standard":
                    continue
                time_speedup, column_speedup = (
                    _ratio(total.loc["standard", column], cost[column])
                    for column in ("cpu_s", "columns_requested")
                )
                tidy += [
                    row(method, "time_speedup", time_speedup, "ratio"),
                    row(method, "kernel_column_speedup", column_speedup, "ratio"),
                    row(method, "certified", _share(cost, "n_certified"), "percent"),
                ]
                if method == "unlearn":
                    over_proposed = _ratio(total.loc["proposed", "cpu_s"], cost["cpu_s"])
                    tidy += [
                        row(method, "time_speedup_over_proposed", over_proposed, "ratio"),
                        row(method, "resolved", 100 - _share(cost, "n_retrained"), "percent"),
                        row(method, "retrained_points", cost["n_retrained"], "count"),
                    ]
            tidy += [row("all", "runs", n_runs, "count"), row("all", "failed_runs", n_failed, "count")]
    return tidy


def _totals(rows):
    """Cost columns summed over the runs on which every method succeeded, by method; the runs, and the others.

    Methods that were not run have NaN, as have all where no run succeeded.
    """
    runs = rows.assign(ok=rows["status"] == OK).groupby(MODEL, dropna=False)["ok"]
    ok = runs.transform("all").astype(bool)
    # NaN, not 0, where there is nothing to add
    total = rows[ok].groupby("method")[COSTS].sum(min_count=1).astype(float).reindex(METHODS)
    n_runs = int(runs.all().sum())
    return total, n_runs, runs.ngroups - n_runs


def _share(cost, column):
    return 100 * _ratio(cost[column], cost["n_solved"])


def figure1(rows, figure1_datasets):
    """Leave-one-out error and CPU time against eps.

    Parameters
    ----------
    rows : DataFrame
        Rows of the stopping cells (standard method, RBF kernel).
    figure1_datasets : list of str

    Returns
    -------
    list of dict
        Tidy rows; ``setting`` is log10 of eps. Method ``selected_at_eps``: the model selected with this eps;
        method ``selected_at_smallest_eps``: the one selected with the smallest eps; both estimated with this
        eps. ``loo_error`` selects a model for each realisation (the statistic of Table 2),
        ``loo_error_min_of_mean`` one model for all. ``time`` is the total over realisations and models.
        Spreads are standard deviations over the realisations.
    """
    tidy = []
    for dataset in figure1_datasets:
        own = rows[rows["dataset"] == dataset]
        tables = {eps: error_table(group) for eps, group in own.groupby("eps")}
        smallest, _ = tables[min(tables)]
        for eps, (errors, n_failed) in tables.items():
            row = partial(_tidy, "figure1", dataset, f"{np.log10(eps):.4g}")
            for method, reference in (("selected_at_eps", errors), ("selected_at_smallest_eps", smallest)):
                for metric, values in (
                    ("loo_error", _at_own_models(errors, reference)),
                    ("loo_error_min_of_mean", _at_one_model(errors, reference)),
                ):
                    mean, sd = values.mean(skipna=False), values.std(ddof=1, skipna=False)
                    tidy.append(row(method, metric, _percent(mean), "percent", _percent(sd)))
            ok = own[(own["eps"] == eps) & (own["status"] == OK)]
            tidy += [
                row("standard", "time", ok["cpu_s"].sum() if len(ok) else np.nan, "s"),
                row("standard", "models", len(errors) + n_failed, "count"),
                row("standard", "failed_models", n_failed, "count"),
            ]
    return tidy


def _at_own_models(errors, reference):
    """Error in each realisation of the model that is best there in the reference table, or NaN."""
    if reference.empty:
        return pd.Series(np.nan, index=errors.columns)
    return pd.Series({r: errors[r].get(first_best(reference[r]), np.nan) for r in errors.columns})


def _at_one_model(errors, reference):
    """Error in each realisation of the model that is best on average in the reference table, or NaN."""
    if reference.empty:
        return pd.Series(np.nan, index=errors.columns)
    return errors.reindex([first_best(reference.mean(axis=1))]).iloc[0]


def _percent(fraction):
    return np.nan if fraction is None else 100 * fraction


def _ratio(above, below):
    return above / below if below else np.nan


def _tidy(exhibit, dataset, setting, method, metric, value, unit, spread=np.nan):
    return {
        "exhibit": exhibit,
        "dataset": dataset,
        "setting": setting,
        "method": method,
        "metric": metric,
        "value": value,
        "spread": spread,
        "unit": unit,
    }
