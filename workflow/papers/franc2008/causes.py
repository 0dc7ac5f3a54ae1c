"""Variants of the protocol, and a proof, for results that ours miss."""

from functools import partial

import numpy as np
import pandas as pd
from svmselect import Gram, leave_one_out

from data.dataset import Dataset
from lib.cell import error_count, kernel_of, load_part
from lib.config import grid
from lib.plan import Cell, Run
from lib.rows import OK
from lib.tables import averaged, measured
from papers.franc2008.cells import test_error
from papers.franc2008.exhibits.table3 import costs
from papers.franc2008.names import KERNELS
from papers.franc2008.selection import error_table, first_best


def _table2_key(dataset, kernel):
    return {"exhibit": "table2", "dataset": dataset, "setting": kernel, "method": "loo"}


def zeroed_realisation(rows, selects, realisations):
    """Yield Table 2's leave-one-out error if one realisation of each data set counts as 0 errors."""
    for dataset, realisation in realisations.items():
        selected = rows[
            (rows["dataset"] == dataset) & (rows["kernel"] == "rbf") & (rows["method"] == selects)
        ]
        minima = error_table(selected)[0].min(axis=0)
        minima[realisation] = 0.0
        yield measured(_table2_key(dataset, "rbf"), "loo_error", 100 * minima.mean(), "percent")


def errors_of_standard(rows):
    """Yield Table 2's leave-one-out error if the standard method, which stops at a tolerance, counts
    errors."""
    standard = rows[rows["method"] == "standard"]
    for (dataset, kernel), group in standard.groupby(["dataset", "kernel"]):
        minima = error_table(group)[0].min(axis=0)
        yield measured(_table2_key(dataset, kernel), "loo_error", 100 * minima.mean(), "percent")


def plan_least_errors(config, registry):
    section = config["franc2008"]
    cells = {
        f"titanic/realisation-{realisation}": Cell("titanic", arguments={"realisation": realisation})
        for realisation in range(1, section["realisations"] + 1)
    }
    return Run("least_errors", "causes.run_least_errors", "LOO_ROWS", cells, {"timing": config["timing"]})


def run_least_errors(job, realisation, settings):
    """Count the training errors that no function of the rows can avoid: of the rows at each distinct point,
    those of the rarer class."""
    part = load_part(Dataset.load(job.data), realisation)
    points, point_of_row = np.unique(part.X, axis=0, return_inverse=True)
    point_of_row = point_of_row.ravel()
    counts = np.array(
        [np.bincount(point_of_row[part.y == label], minlength=len(points)) for label in (-1, 1)]
    )
    errors = np.zeros(len(part.y), dtype=bool)
    errors[: counts.min(axis=0).sum()] = True
    return [{**part.identity, "m": len(part.y), "method": "least", "status": OK, **error_count(errors)}]


def least_errors(rows):
    """Yield the mean of the least training errors over the realisations, a bound on Table 2's leave-one-out
    error."""
    for dataset, group in rows.groupby("dataset"):
        yield measured(_table2_key(dataset, "rbf"), "loo_error", 100 * group["estimate"].mean(), "percent")


def _plan_test(config, registry, dataset, kernel, C, gamma):
    section = config["franc2008"]
    most = min(section["test_realisations"], registry[dataset].splits.realisations)
    arguments = {"kernel": kernel, "C": C, "gamma": gamma, "realisations": list(range(1, most + 1))}
    settings = {"eps": section["eps"], "max_iter": section["max_iter"], "timing": config["timing"]}
    return Run(
        "test_at",
        "causes.run_test_at",
        "TEST_ROWS",
        {f"{dataset}/{kernel}": Cell(dataset, arguments=arguments)},
        settings,
    )


plan_tie_of_C = partial(_plan_test, dataset="twonorm", kernel="linear", C=0.1, gamma=None)
plan_zeroed_selection = partial(
    _plan_test, dataset="titanic", kernel="rbf", C=500 ** (2 / 7), gamma=2 ** (-66 / 7)
)


def plan_draws_of_selection(config, registry):
    section = config["franc2008"]
    rbf = {"Cs": grid(section["rbf"]["C"]), "gammas": grid(section["rbf"]["gamma"])}
    grids = {"linear": {"Cs": grid(section["linear"]["C"]), "gammas": [None]}, "rbf": rbf}
    shared = {"draws": 6, "splits": section["realisations"], "realisations": list(range(1, 26))}
    cells = {
        f"{dataset}/{kernel}": Cell(dataset, arguments={**grids[kernel], **shared})
        for dataset in ("flare-solar", "thyroid")
        for kernel in KERNELS
    }
    settings = {"eps": section["eps"], "max_iter": section["max_iter"], "timing": config["timing"]}
    return Run("draws_of_selection", "causes.run_draws_of_selection", "TEST_ROWS", cells, settings)


def run_draws_of_selection(job, Cs, gammas, draws, splits, realisations, settings):
    """Compute test errors of the models that each of some draws of the selecting splits selects by their mean
    leave-one-out error."""
    dataset, rows = Dataset.load(job.data), []
    for first in range(1, draws * splits, splits):
        errors = {}
        for realisation in range(first, first + splits):
            part = load_part(dataset, realisation)
            for gamma in gammas:
                gram = Gram(part.X, kernel_of(gamma))
                for C in Cs:
                    errors[C, gamma or 0.0, realisation] = leave_one_out(gram, part.y, C).error
        C, gamma = first_best(pd.Series(errors).groupby(level=[0, 1]).mean())
        model = {"kernel": "rbf" if gamma else "linear", "C": C, "gamma": gamma or None}
        tested = run_test_at(job, **model, realisations=realisations, settings=settings)
        model["fold"] = f"selected on {first} to {first + splits - 1}"
        rows += [{**row, **model} for row in tested]
    return rows


def draws_of_selection(rows):
    """Yield the deviation of Table 2's test errors over draws of the selecting splits."""
    for (dataset, kernel), group in rows[rows["status"] == OK].groupby(["dataset", "kernel"]):
        means = 100 * group.groupby("fold")["estimate"].mean()
        row_key = _table2_key(dataset, kernel)
        yield measured(row_key, "test_error", means.mean(), "percent", means.std(ddof=1))


def run_test_at(job, kernel, C, gamma, realisations, settings):
    """Compute the test errors of a given model on each realisation."""
    dataset = Dataset.load(job.data)
    job.identity |= {"fold": "test", "kernel": kernel, "C": C, "gamma": gamma, "eps": settings.eps}
    rows = []
    for realisation in realisations:
        part = load_part(dataset, realisation)
        row = {**part.identity, "m": len(part.y), "rows_tested": len(part.y_test), "method": "retrained"}
        rows.append(row | test_error(job, part, kernel_of(gamma), C, settings))
    return rows


def chosen_test_errors(rows):
    """Yield Table 2's test error of the models of `run_test_at`."""
    for (dataset, kernel), group in rows[rows["status"] == OK].groupby(["dataset", "kernel"]):
        yield averaged(_table2_key(dataset, kernel), "test_error", 100 * group["estimate"], "percent")


def time_of_columns(rows):
    """Yield Table 3's speed-up in time where kernel columns stand for time, of the paper's rows."""
    for row in costs(rows, sorted(rows["dataset"].unique())):
        if row["metric"] == "kernel_column_speedup" and row["method"] == "proposed":
            yield {**row, "metric": "time_speedup"}


def without_largest_C(rows, dataset):
    """Yield Table 3 of one data set without the linear kernel's largest C."""
    selected = rows[(rows["dataset"] == dataset) & (rows["kernel"] == "linear")]
    yield from costs(selected[selected["C"] < selected["C"].max()], [dataset])


def draws_of_table3(rows, datasets):
    """Yield the standard errors of Table 3's figures over splits: of totals over the realisations, and of
    mean ratios, on data sets whose splits are not the paper's."""
    for dataset in datasets:
        values_by_key = {}
        for _, realisation_rows in rows[rows["dataset"] == dataset].groupby("realisation"):
            for row in costs(realisation_rows, [dataset]):
                if row["dataset"] == dataset:
                    key = tuple(row[name] for name in ("setting", "method", "metric", "unit"))
                    values_by_key.setdefault(key, []).append(row["value"])
        for (setting, method, metric, unit), values in values_by_key.items():
            if metric in ("kernel_columns", "kernel_column_speedup", "time_speedup", "certified"):
                number = len(values)
                value, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(number)
                times = number if metric == "kernel_columns" else 1
                row_key = {"exhibit": "table3", "dataset": dataset, "setting": setting, "method": method}
                yield measured(row_key, metric, times * value, unit, times * error)


def plan_median_of_models(config, registry):
    """Return the run of the test errors of the models whose parameters are medians over the realisations."""
    section = config["franc2008"]
    cells = {}
    for dataset in section["datasets"]:
        most = min(section["test_realisations"], registry[dataset].splits.realisations)
        for kernel in KERNELS:
            arguments = {"kernel": kernel, "realisations": list(range(1, most + 1))}
            cells[f"{dataset}/{kernel}"] = Cell(dataset, arguments=arguments)
    settings = {"eps": section["eps"], "max_iter": section["max_iter"], "method": section["methods"][0]}
    return Run(
        "median_of_models",
        "causes.run_median_of_models",
        "TEST_ROWS",
        cells,
        {**settings, "timing": config["timing"]},
        after=["cells"],
    )


def run_median_of_models(job, kernel, realisations, cells, settings):
    """Compute the test errors of the model whose C and gamma are the medians of those that the realisations
    select."""
    selected = cells[(cells["dataset"] == job.identity["dataset"]) & (cells["kernel"] == kernel)]
    errors, _ = error_table(selected[selected["method"] == settings.method])
    chosen = np.array([first_best(errors[realisation]) for realisation in errors.columns])
    C, gamma = np.median(chosen, axis=0)
    return run_test_at(job, kernel, C, gamma or None, realisations, settings)
