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
    """Bounded and in-bound support vectors against the overlap: means over the runs on which the method
    succeeded, as of all figures here. ``failed`` counts the others."""
    bounded = ("svs_bounded", lambda rows: rows["n_sv"] - rows["n_inbound"], "count")
    inbound = ("svs_inbound", lambda rows: rows["n_inbound"], "count")
    return _means(rows[rows["experiment"] == "figure1"], "level", [bounded, inbound, ERROR])


def figure3(rows):
    """Support vectors, test error and CPU time of training against the size of the training set; a data set
    per deviation."""
    own = rows[rows["experiment"] == "figure3"]
    named = own.assign(dataset=own["dataset"] + " " + own["level"].map("{:g}".format).astype(str))
    return _means(named, "m", [SVS, ERROR, TIME])


def figure4(rows):
    """Support vectors and test errors, on noisy and on clean labels, against the percentage of labels
    swapped."""
    clean = ("clean_error", lambda rows: 100 * rows["clean_errors"] / rows["rows_tested"], "percent")
    own = rows[rows["experiment"] == "figure4"]
    return _means(own.assign(level=100 * own["level"]), "level", [SVS, ERROR, clean, TIME])


def growth(rows):
    """CPU time and memory of training, support vectors and test error against the size of the training
    set."""
    return _means(rows[rows["experiment"] == "growth"], "m", [TIME, MEMORY, SVS, ERROR])


def table1(rows):
    """Accuracy and support vectors of each data set and method, and what they took; ``setting`` is the size
    of the training set. ``p_value``: of a paired test of the errors against those of the SVM. Support vectors
    and time of an SVM that was not run on the growth's data set are `extrapolated` from it, and named so."""
    own = rows[rows["experiment"] == "table1"]
    own = own.assign(setting=own["m"].map("train={}".format))
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
    for (dataset, setting), of_set in own.groupby(["dataset", "setting"], sort=False):
        at = {"exhibit": "table1", "dataset": dataset, "setting": setting}
        first = of_set.iloc[0]
        yield measured(at, "train_rows", first["m"], "count")
        yield measured(at, "test_rows", first["rows_tested"], "count")
        yield measured(at, "subsets", first["n_subsets"], "count")
        yield measured(at, "subset_size", first["subset_size"], "count")
        yield measured(at, "realisations", of_set["realisation"].nunique(), "count")
        for method, of_method in of_set.groupby("method", sort=False):
            yield from _summary({**at, "method": method}, of_method, metrics)
            if method != "svm":
                p = _paired_test(of_set[of_set["method"] == "svm"], of_method)
                yield measured({**at, "method": method}, "p_value", p, "")
        if "svm" not in set(of_set["method"]):
            for found in extrapolated(rows, dataset, first["m"]):
                yield measured({**at, "method": "svm"}, *found)


def extrapolated(rows, dataset, m):
    """Support vectors and CPU time of an SVM at a size of the training set, from the three largest sizes of
    the growth on this data set: a power law through them, by least squares of the logarithms. Yields metric,
    which ends in "_extrapolated", value and unit."""
    own = rows[(rows["experiment"] == "growth") & (rows["dataset"] == dataset) & (rows["method"] == "svm")]
    own = own[own["status"] == OK].sort_values("m").tail(3)
    if len(own) < 3:
        return
    for metric, of, unit in (SVS, TIME):
        slope, at_one = np.polyfit(np.log(own["m"]), np.log(of(own).astype(float)), 1)
        yield f"{metric}_extrapolated", float(np.exp(at_one + slope * np.log(m))), unit


def _means(rows, column, metrics):
    """Summaries for every data set, value of a column, and method of an experiment, whose name is that of the
    exhibit."""
    for (exhibit, dataset, value, method), own in rows.groupby(
        ["experiment", "dataset", column, "method"], sort=False
    ):
        at = {"exhibit": exhibit, "dataset": dataset, "setting": f"{value:g}", "method": method}
        yield from _summary(at, own, metrics)


def _summary(at, rows, metrics):
    """Mean and standard deviation of each metric over the runs that succeeded, and the number of others."""
    ok = rows[rows["status"] == OK]
    for metric, of, unit in metrics:
        values = of(ok).astype(float).dropna()
        if len(values):
            yield averaged(at, metric, values, unit)
    yield measured(at, "failed", len(rows) - len(ok), "count")


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
