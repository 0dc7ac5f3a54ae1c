"""Model selection by the leave-one-out error."""

import numpy as np
import pandas as pd

from lib.rows import ERROR, OK
from papers.franc2008.names import KERNELS

COLUMNS = [
    "dataset", "kernel", "C", "gamma",
    "loo_error", "loo_error_sd", "loo_error_min_of_mean", "loo_error_min_of_mean_sd",
    "n_realisations", "n_models", "n_failed_models", "status", "reason",
]  # fmt: skip


def error_table(rows):
    """Return the leave-one-out errors of the models that succeeded on every realisation, and how many models
    are left out, from the rows of one data set, kernel, method and eps. The errors are fractions, a DataFrame
    with a row per model, indexed by (C, gamma) in ascending order, and a column per realisation."""
    # pivot drops a NaN key: the linear kernel's gamma is set to 0 while the table is made
    rows = rows.assign(gamma=rows["gamma"].fillna(0.0), estimate=rows["estimate"].where(rows["status"] == OK))
    errors = rows.pivot(index=["C", "gamma"], columns="realisation", values="estimate").sort_index()
    complete = errors.dropna()
    return complete, len(errors) - len(complete)


def first_best(errors):
    """Return the index (C, gamma) of the smallest error in a Series sorted by (C, gamma).

    Ties go to the smallest C, then the smallest gamma; the paper is silent. Means that differ by rounding
    only are ties.
    """
    return errors.round(12).idxmin()


def select(rows):
    """Return the selected model and both statistics of its leave-one-out error, from the rows of one data
    set, kernel and method: a dict with the keys of `COLUMNS` but ``dataset`` and ``kernel``.

    ``loo_error_min_of_mean`` is the error of the one model with the smallest mean over the realisations, as
    the paper's text has it; ``loo_error`` is the mean over the realisations of each one's own minimum, which
    is what Table 2 prints. Errors are fractions, each with its standard deviation over the realisations (n -
    1; NaN with one). ``gamma`` is None for the linear kernel. If no model succeeded on every realisation the
    status is ``error`` and the results are None.
    """
    errors, n_failed = error_table(rows)
    counts = {
        "n_realisations": int(rows["realisation"].nunique()),
        "n_models": len(errors) + n_failed,
        "n_failed_models": n_failed,
    }
    if errors.empty:
        empty = dict.fromkeys(COLUMNS[2:8])
        return {**empty, **counts, "status": ERROR, "reason": "no model succeeded on every realisation"}
    C, gamma = first_best(errors.mean(axis=1))
    chosen, minima = errors.loc[(C, gamma)], errors.min(axis=0)
    return {
        "C": float(C),
        "gamma": None if rows["gamma"].isna().all() else float(gamma),
        "loo_error": float(minima.mean()),
        "loo_error_sd": _sd(minima),
        "loo_error_min_of_mean": float(chosen.mean()),
        "loo_error_min_of_mean_sd": _sd(chosen),
        **counts,
        "status": OK,
        "reason": None,
    }


def selected_models(rows, datasets, method):
    """Return the model that a method selects for each data set and kernel by its rows of leave-one-out: a
    DataFrame with the columns `COLUMNS`."""
    method_rows = rows[rows["method"] == method]
    models = [
        {
            "dataset": dataset,
            "kernel": kernel,
            **select(method_rows[(method_rows["dataset"] == dataset) & (method_rows["kernel"] == kernel)]),
        }
        for dataset in datasets
        for kernel in KERNELS
    ]
    return pd.DataFrame(models, columns=COLUMNS)


def _sd(values):
    return float(values.std(ddof=1)) if len(values) > 1 else np.nan
