"""The paper's figures as tidy rows, computed from result rows: means over the realisations on which a method
succeeded, and how many failed. Errors are in percent here, settings are natural logarithms of sigma or C."""

import numpy as np

from lib.rows import OK
from lib.tables import averaged, measured

# experiment -> the panel of Figure 2 and what it varies: the column, and its natural logarithm from it
PANELS = {
    "width": ("figure2a", "log_sigma", lambda rows: -0.5 * np.log(2 * rows["gamma"])),
    "C": ("figure2b", "log_C", lambda rows: np.log(rows["C"])),
}
ERRORS = ("test", "span_rule", "loo")
TIMES = {"train": "test", "span_rule": "span_rule", "loo_retrain": "loo_retrain", "loo": "loo"}
FUNCTIONALS = ("radius_margin", "rescaled_radius_margin")


def figure2(rows):
    """Test error, span rule and leave-one-out error against the width (a) and C (b)."""
    rows, methods = rows.assign(error=100 * rows["estimate"]), {method: method for method in ERRORS}
    for experiment, (exhibit, _, _) in PANELS.items():
        yield from _curves(rows, experiment, exhibit, methods, "error", "error", "percent")


def figure3(rows):
    """Return CPU time of training, of the span rule after it, and of leave-one-out, against the width."""
    return _curves(rows, "width", "figure3", TIMES, "time", "cpu_s", "s")


def figure4(rows):
    """Return the radius-margin functional ``R^2 |w|^2``, plain (a) and rescaled (b), against the width."""
    rows, methods = rows.assign(functional=rows["bound"] * rows["m"]), {name: name for name in FUNCTIONALS}
    return _curves(rows, "width", "figure4", methods, "functional", "functional", "")


def _curves(rows, experiment, exhibit, methods, metric, column, unit):
    """Yield the mean of a column for every data set, value that the experiment varies, and method by its
    name."""
    selected = rows[rows["experiment"] == experiment]
    _, _, logarithm = PANELS[experiment]
    # 1e-12 of round-off in the logarithm does not make another value
    selected = selected.assign(setting=logarithm(selected).map("{:.6g}".format).replace("-0", "0"))
    for dataset, dataset_rows in selected.groupby("dataset", sort=False):
        for setting in sorted(dataset_rows["setting"].unique(), key=float):
            for name, method in methods.items():
                runs = dataset_rows[(dataset_rows["setting"] == setting) & (dataset_rows["method"] == method)]
                ok = runs.loc[runs["status"] == OK, column]
                row_key = {"exhibit": exhibit, "dataset": dataset, "setting": setting, "method": name}
                yield averaged(row_key, metric, ok, unit)
                yield measured(row_key, f"{metric}_failed", len(runs) - len(ok), "count")
