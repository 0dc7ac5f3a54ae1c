"""Curves of the figures: means over the realisations on which a method succeeded, and how many failed.

Settings are natural logarithms of sigma or C.
"""

import numpy as np

from lib.figures import BLUE
from lib.rows import OK
from lib.shown import dataset_in_words
from lib.tables import averaged, measured

# experiment -> its natural logarithm from the rows, and the label of the axis
LOGARITHMS = {
    "width": (lambda rows: -0.5 * np.log(2 * rows["gamma"]), r"$\ln\,\sigma$"),
    "C": (lambda rows: np.log(rows["C"]), r"$\ln\,C$"),
}
MARK = {"color": BLUE, "linestyle": "-", "marker": "o", "markersize": 3.5}


def mean_curves(rows, experiment, exhibit, methods, metric, column, unit):
    """Yield the mean of a column for every data set, value that the experiment varies, and method by its
    name."""
    logarithm, _ = LOGARITHMS[experiment]
    selected = rows[rows["experiment"] == experiment]
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


def datasets_in_words(tidy):
    return ", ".join(map(dataset_in_words, dict.fromkeys(tidy["dataset"])))
