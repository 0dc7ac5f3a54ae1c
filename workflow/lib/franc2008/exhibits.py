"""The paper's tables and figure as tidy rows, computed from result rows. Errors are in percent here."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from lib.franc2008.selection import error_table, first_best
from lib.rows import OK

__all__ = ["KERNELS", "figure1", "table2", "table3"]

KERNELS = ("linear", "rbf")


def table2(selected, tests, datasets):
    """Leave-one-out and test errors of the selected models.

    Parameters
    ----------
    selected : DataFrame
        Columns `selection.COLUMNS`.
    tests : DataFrame
        Test rows.
    datasets : list of str
        In the order of the table.

    Returns
    -------
    list of dict
        Tidy rows. ``loo_error`` is the mean over the realisations of each one's minimum, as printed in the
        paper; ``loo_error_min_of_mean`` the error of the one selected model. Spreads are standard deviations
        over realisations.
    """
    rows = []
    for dataset in datasets:
        for kernel in KERNELS:
            choice = selected[(selected["dataset"] == dataset) & (selected["kernel"] == kernel)].iloc[0]
            test = tests[(tests["dataset"] == dataset) & (tests["kernel"] == kernel)]
            ok = test.loc[test["status"] == OK, "estimate"]

            row = partial(_tidy, "table2", dataset, kernel, "loo")
            rows += [
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
                rows.append(row("gamma", choice["gamma"], ""))
    return rows


def table3(rows, datasets):
    """Cost of a whole model selection: totals over realisations and models on which both methods succeeded.

    Parameters
    ----------
    rows : DataFrame
        Leave-one-out rows of both methods.
    datasets : list of str

    Returns
    -------
    list of dict
        Tidy rows. ``time`` is CPU time without the Gram matrix; speed-ups are standard / proposed;
        ``certified`` is the share of the proposed method's solved points whose sign was certain before
        eps-KKT. Without a success all are missing.
    """
    tidy = []
    for dataset in datasets:
        for kernel in KERNELS:
            standard, proposed, n_failed = _pairs(
                rows[(rows["dataset"] == dataset) & (rows["kernel"] == kernel)]
            )
            total = {
                (method, column): frame[column].sum() if len(frame) else np.nan
                for method, frame in (("standard", standard), ("proposed", proposed))
                for column in ("cpu_s", "columns_requested", "n_certified", "n_solved")
            }

            row = partial(_tidy, "table3", dataset, kernel)
            time_speedup, column_speedup = (
                _ratio(total["standard", column], total["proposed", column])
                for column in ("cpu_s", "columns_requested")
            )
            certified = _ratio(total["proposed", "n_certified"], total["proposed", "n_solved"])
            tidy += [
                row("standard", "time", total["standard", "cpu_s"], "s"),
                row("standard", "kernel_columns", total["standard", "columns_requested"] / 1e6, "1e6"),
                row("proposed", "time_speedup", time_speedup, "ratio"),
                row("proposed", "kernel_column_speedup", column_speedup, "ratio"),
                row("proposed", "certified", _percent(certified), "percent"),
                row("proposed", "time", total["proposed", "cpu_s"], "s"),
                row("proposed", "kernel_columns", total["proposed", "columns_requested"] / 1e6, "1e6"),
                row("standard", "solved_points", total["standard", "n_solved"], "count"),
                row("proposed", "solved_points", total["proposed", "n_solved"], "count"),
                row("both", "runs", len(standard), "count"),
                row("both", "failed_runs", n_failed, "count"),
            ]
    return tidy


def _pairs(rows):
    """Rows of the two methods side by side where both succeeded, and the number of runs where one did not."""
    key = ["realisation", "C", "gamma"]
    frames = []
    for method in ("standard", "proposed"):
        frame = rows[rows["method"] == method].fillna({"gamma": 0.0}).set_index(key)
        frames.append(frame)
    standard, proposed = frames
    both = standard.index[standard["status"] == OK].intersection(proposed.index[proposed["status"] == OK])
    return standard.loc[both], proposed.loc[both], len(standard.index.union(proposed.index)) - len(both)


def figure1(rows, datasets):
    """Leave-one-out error and CPU time against eps.

    Parameters
    ----------
    rows : DataFrame
        Rows of the stopping cells (standard method, RBF kernel).
    datasets : list of str

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
    for dataset in datasets:
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
