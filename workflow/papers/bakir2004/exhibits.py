"""The paper's exhibits as tidy rows, computed from result rows. Errors and accuracies are in percent here."""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest, ttest_rel

from lib.rows import OK, unpack_bits

__all__ = ["extrapolated", "figure1", "figure3", "figure4", "growth", "table1"]

# metric -> what it is of a row, and its unit
SVS = ("svs", lambda rows: rows["n_sv"], "count")
ERROR = ("error", lambda rows: 100 * rows["estimate"], "percent")
TIME = ("time", lambda rows: rows["cpu_s"], "s")


def figure1(rows):
    """Bounded and in-bound support vectors against the overlap, means over the draws.

    Parameters
    ----------
    rows : DataFrame
        Of all cells.

    Returns
    -------
    list of dict
        Tidy rows; ``setting`` is the width of the common strip. Means over the runs on which the method
        succeeded, spreads their standard deviations; ``failed`` counts the others.
    """
    metrics = [
        ("svs_bounded", lambda rows: rows["n_sv"] - rows["n_inbound"], "count"),
        ("svs_inbound", lambda rows: rows["n_inbound"], "count"),
        ERROR,
    ]
    return _means(rows, "figure1", "level", metrics)


def figure3(rows):
    """Support vectors, test error and CPU time of training against the size of the training set; a data set
    per deviation. Else as `figure1`."""
    own = rows[rows["experiment"] == "figure3"]
    named = own.assign(dataset=own["dataset"] + " " + own["level"].map("{:g}".format).astype(str))
    return _means(named, "figure3", "m", [SVS, ERROR, TIME])


def figure4(rows):
    """Support vectors and test errors, on noisy and on clean labels, against the percentage of labels
    swapped. Else as `figure1`."""
    clean = ("clean_error", lambda rows: 100 * rows["clean_errors"] / rows["rows_tested"], "percent")
    own = rows[rows["experiment"] == "figure4"]
    return _means(own.assign(level=100 * own["level"]), "figure4", "level", [SVS, ERROR, clean, TIME])


def growth(rows):
    """CPU time and memory of training, support vectors and test error against the size of the training set.
    Else as `figure1`."""
    memory = ("memory", lambda rows: rows["peak_mb"], "MB")
    return _means(rows, "growth", "m", [TIME, memory, SVS, ERROR])


def table1(rows):
    """Accuracy and support vectors of each data set and method, as published figures have them, and what they
    took.

    Parameters
    ----------
    rows : DataFrame
        Of all cells.

    Returns
    -------
    list of dict
        Tidy rows; ``setting`` is the size of the training set. ``p_value``: of a paired test of the errors
        against those of the SVM. Support vectors and time of an SVM that was not run on the data set of the
        growth are extrapolated from it (`extrapolated`), and named so.
    """
    own = rows[rows["experiment"] == "table1"]
    own = own.assign(setting=own["m"].map("train={}".format))
    metrics = [
        ("accuracy", lambda rows: 100 * (1 - rows["estimate"]), "percent"),
        SVS,
        TIME,
        ("search_time", lambda rows: rows["search_cpu_s"], "s"),
        ("memory", lambda rows: rows["peak_mb"], "MB"),
        ("C", lambda rows: rows["value"], ""),
        ("first_C", lambda rows: rows["first_value"], ""),
        ("kept", lambda rows: rows["n_kept"], "count"),
        ("misclassified", lambda rows: rows["n_misclassified"], "count"),
        ("recognised", lambda rows: rows["n_recognised"], "count"),
        ("reinserted", lambda rows: rows["n_reinserted"], "count"),
    ]
    tidy = []
    for (dataset, setting), of_set in own.groupby(["dataset", "setting"], sort=False):
        row = {"exhibit": "table1", "dataset": dataset, "setting": setting, "spread": np.nan}
        first = of_set.iloc[0]
        for metric, value in (
            ("train_rows", first["m"]),
            ("test_rows", first["rows_tested"]),
            ("subsets", first["n_subsets"]),
            ("subset_size", first["subset_size"]),
            ("realisations", of_set["realisation"].nunique()),
        ):
            tidy.append({**row, "method": "", "metric": metric, "value": value, "unit": "count"})
        for method, of_method in of_set.groupby("method", sort=False):
            tidy += _summary({**row, "method": method}, of_method, metrics)
            if method != "svm":
                p = _paired_test(of_set[of_set["method"] == "svm"], of_method)
                tidy.append({**row, "method": method, "metric": "p_value", "value": p, "unit": ""})
        if "svm" not in set(of_set["method"]):
            for metric, value, unit in extrapolated(rows, dataset, first["m"]):
                tidy.append({**row, "method": "svm", "metric": metric, "value": value, "unit": unit})
    return tidy


def extrapolated(rows, dataset, m):
    """Support vectors and CPU time of an SVM at a size of the training set, from the three largest sizes of
    the growth on this data set: a power law through them, by least squares of the logarithms.

    Yields
    ------
    metric : str
        Ends in "_extrapolated".
    value : float
    unit : str
    """
    own = rows[(rows["experiment"] == "growth") & (rows["dataset"] == dataset) & (rows["method"] == "svm")]
    own = own[own["status"] == OK].sort_values("m").tail(3)
    if len(own) < 3:
        return
    for metric, of, unit in (SVS, TIME):
        slope, at_one = np.polyfit(np.log(own["m"]), np.log(of(own).astype(float)), 1)
        yield f"{metric}_extrapolated", float(np.exp(at_one + slope * np.log(m))), unit


def _means(rows, exhibit, column, metrics):
    """Summaries for every data set, value of a column, and method of an experiment."""
    own = rows[rows["experiment"] == exhibit]
    tidy = []
    for (dataset, value, method), group in own.groupby(["dataset", column, "method"], sort=False):
        row = {"exhibit": exhibit, "dataset": dataset, "setting": f"{value:g}", "method": method}
        tidy += _summary(row, group, metrics)
    return tidy


def _summary(row, rows, metrics):
    """Mean and standard deviation of each metric over the runs that succeeded, and the number of others."""
    ok = rows[rows["status"] == OK]
    tidy = []
    for metric, of, unit in metrics:
        values = of(ok).astype(float).dropna()
        if len(values):
            spread = values.std(ddof=1)
            tidy.append({**row, "metric": metric, "value": values.mean(), "spread": spread, "unit": unit})
    failed = {"metric": "failed", "value": len(rows) - len(ok), "spread": np.nan, "unit": "count"}
    return [*tidy, {**row, **failed}]


def _paired_test(svm, other):
    """p-value that two methods err equally often: McNemar's exact test for one realisation, a paired t-test
    over several; NaN where one of them has no result."""
    both = svm[svm["status"] == OK].merge(
        other[other["status"] == OK], on="realisation", suffixes=("", "_other")
    )
    if len(both) == 0:
        return np.nan
    if len(both) > 1:
        return float(ttest_rel(both["errors"], both["errors_other"]).pvalue)
    row = both.iloc[0]
    wrong, wrong_other = (
        unpack_bits(row[name], int(row["rows_tested"])) for name in ("error_pattern", "error_pattern_other")
    )
    only, only_other = np.count_nonzero(wrong & ~wrong_other), np.count_nonzero(wrong_other & ~wrong)
    return float(binomtest(only, only + only_other).pvalue) if only + only_other else 1.0
