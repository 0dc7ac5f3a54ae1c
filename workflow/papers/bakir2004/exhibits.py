"""The paper's exhibits as tidy rows, computed from result rows. Errors and accuracies are in percent here."""

import numpy as np
from scipy.stats import binomtest, ttest_rel

from lib.rows import OK, unpack_bits
from lib.tables import averaged, measured

# metric -> what it is of a row, and its unit
SVS = ("svs", lambda rows: rows["n_sv"], "count")
ERROR = ("error", lambda rows: 100 * rows["estimate"], "percent")
TIME = ("time", lambda rows: rows["cpu_s"], "s")
MEMORY = ("memory", lambda rows: rows["peak_mb"], "MB")
EDITED = ("kept", "misclassified", "recognised", "reinserted")


def figure1(rows):
    """Return bounded and in-bound support vectors against the overlap: means over the runs on which the
    method succeeded, as in all figures here. ``failed`` counts the others."""
    bounded = ("svs_bounded", lambda rows: rows["n_sv"] - rows["n_inbound"], "count")
    inbound = ("svs_inbound", lambda rows: rows["n_inbound"], "count")
    return _means(rows[rows["experiment"] == "figure1"], "level", [bounded, inbound, ERROR])


def figure3(rows):
    """Return support vectors, test error and CPU time of training against the size of the training set; there
    is a data set per deviation."""
    selected = rows[rows["experiment"] == "figure3"]
    named = selected.assign(
        dataset=selected["dataset"] + " " + selected["level"].map("{:g}".format).astype(str)
    )
    return _means(named, "m", [SVS, ERROR, TIME])


def figure4(rows):
    """Return support vectors and test errors, on noisy and on clean labels, against the percentage of labels
    swapped."""
    clean = ("clean_error", lambda rows: 100 * rows["clean_errors"] / rows["rows_tested"], "percent")
    selected = rows[rows["experiment"] == "figure4"]
    return _means(selected.assign(level=100 * selected["level"]), "level", [SVS, ERROR, clean, TIME])


def growth(rows):
    """Return CPU time and memory of training, support vectors and test error against the size of the training
    set."""
    return _means(rows[rows["experiment"] == "growth"], "m", [TIME, MEMORY, SVS, ERROR])


def table1(rows):
    """Yield accuracy, support vectors and cost of each data set and method; ``setting`` is the size of the
    training set. ``p_value`` is of a paired test of the errors against those of the SVM. Support vectors and
    time of an SVM that was not run on the growth's data set are `extrapolated` from it, and named so."""
    selected = rows[rows["experiment"] == "table1"]
    selected = selected.assign(setting=selected["m"].map("train={}".format))
    metrics = [
        ("accuracy", lambda rows: 100 * (1 - rows["estimate"]), "percent"),
        SVS,
        TIME,
        ("search_time", lambda rows: rows["search_cpu_s"], "s"),
        MEMORY,
        ("C", lambda rows: rows["value"], ""),
        ("first_C", lambda rows: rows["first_value"], ""),
        *((name, lambda rows, name=name: rows[f"n_{name}"], "count") for name in EDITED),
    ]
    for (dataset, setting), dataset_rows in selected.groupby(["dataset", "setting"], sort=False):
        row_key = {"exhibit": "table1", "dataset": dataset, "setting": setting}
        first = dataset_rows.iloc[0]
        yield measured(row_key, "train_rows", first["m"], "count")
        yield measured(row_key, "test_rows", first["rows_tested"], "count")
        yield measured(row_key, "subsets", first["n_subsets"], "count")
        yield measured(row_key, "subset_size", first["subset_size"], "count")
        yield measured(row_key, "realisations", dataset_rows["realisation"].nunique(), "count")
        for method, method_rows in dataset_rows.groupby("method", sort=False):
            yield from _summary({**row_key, "method": method}, method_rows, metrics)
            if method != "svm":
                p = _paired_test(dataset_rows[dataset_rows["method"] == "svm"], method_rows)
                yield measured({**row_key, "method": method}, "p_value", p, "")
        if "svm" not in set(dataset_rows["method"]):
            for estimate in extrapolated(rows, dataset, first["m"]):
                yield measured({**row_key, "method": "svm"}, *estimate)


def extrapolated(rows, dataset, m):
    """Yield support vectors and CPU time of an SVM at a size of the training set, by a power law through the
    three largest sizes of the growth on this data set, by least squares of the logarithms. A value is a tuple
    of metric, which ends in "_extrapolated", value and unit."""
    selected = rows[
        (rows["experiment"] == "growth") & (rows["dataset"] == dataset) & (rows["method"] == "svm")
    ]
    selected = selected[selected["status"] == OK].sort_values("m").tail(3)
    if len(selected) < 3:
        return
    for metric, column_of, unit in (SVS, TIME):
        slope, at_one = np.polyfit(np.log(selected["m"]), np.log(column_of(selected).astype(float)), 1)
        yield f"{metric}_extrapolated", float(np.exp(at_one + slope * np.log(m))), unit


def _means(rows, column, metrics):
    """Yield summaries for every data set, value of a column, and method of an experiment, which has the name
    of its exhibit."""
    for (exhibit, dataset, value, method), group in rows.groupby(
        ["experiment", "dataset", column, "method"], sort=False
    ):
        row_key = {"exhibit": exhibit, "dataset": dataset, "setting": f"{value:g}", "method": method}
        yield from _summary(row_key, group, metrics)


def _summary(row_key, rows, metrics):
    """Yield mean and standard deviation of each metric over the runs that succeeded, and the number of the
    other runs."""
    ok = rows[rows["status"] == OK]
    for metric, column_of, unit in metrics:
        values = column_of(ok).astype(float).dropna()
        if len(values):
            yield averaged(row_key, metric, values, unit)
    yield measured(row_key, "failed", len(rows) - len(ok), "count")


def _paired_test(svm, other):
    """Return the p-value that two methods err equally often: McNemar's exact test for one realisation, a
    paired t-test over several; NaN if one of them has no result."""
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
