"""Means over the runs on which a method succeeded; errors and accuracies are in percent."""

from lib.rows import OK
from lib.tables import averaged, measured

# metric, its value in a row, and its unit
SVS = ("svs", lambda rows: rows["n_sv"], "count")
ERROR = ("error", lambda rows: 100 * rows["estimate"], "percent")
TIME = ("time", lambda rows: rows["cpu_s"], "s")
MEMORY = ("memory", lambda rows: rows["peak_mb"], "MB")


def curve_means(rows, column, metrics):
    """Yield summaries for every data set, value of a column, and method of an experiment, which has the name
    of its exhibit."""
    for (exhibit, dataset, value, method), group in rows.groupby(
        ["experiment", "dataset", column, "method"], sort=False
    ):
        row_key = {"exhibit": exhibit, "dataset": dataset, "setting": f"{value:g}", "method": method}
        yield from summary(row_key, group, metrics)


def summary(row_key, rows, metrics):
    """Yield mean and standard deviation of each metric over the runs that succeeded, and the number of the
    other runs."""
    ok = rows[rows["status"] == OK]
    for metric, column_of, unit in metrics:
        values = column_of(ok).astype(float).dropna()
        if len(values):
            yield averaged(row_key, metric, values, unit)
    yield measured(row_key, "failed", len(rows) - len(ok), "count")
