"""The paper's figures as tidy rows, computed from result rows. Errors are in percent here."""

from __future__ import annotations

import numpy as np

from lib.rows import OK

__all__ = ["PANELS", "figure2", "figure3", "figure4"]

# experiment -> the panel of Figure 2 and what it varies: the column, and its natural logarithm from it
PANELS = {
    "width": ("figure2a", "log_sigma", lambda rows: -0.5 * np.log(2 * rows["gamma"])),
    "C": ("figure2b", "log_C", lambda rows: np.log(rows["C"])),
}
ERRORS = ("test", "span_rule", "loo")
TIMES = {"train": "test", "span_rule": "span_rule", "loo_retrain": "loo_retrain", "loo": "loo"}
FUNCTIONALS = ("radius_margin", "rescaled_radius_margin")


def figure2(rows):
    """Test error, span rule and leave-one-out error against the width (a) and C (b).

    Parameters
    ----------
    rows : DataFrame
        Of all cells.

    Returns
    -------
    list of dict
        Tidy rows; ``setting`` is the natural logarithm of sigma or C. Means over the realisations on which
        the method succeeded, spreads their standard deviations; ``failed`` counts the others.
    """
    tidy = []
    for experiment, (exhibit, _, _) in PANELS.items():
        for dataset, setting, own in _grid(rows, experiment):
            for method in ERRORS:
                tidy += _mean(exhibit, dataset, setting, method, "error", own, "estimate", 100, "percent")
    return tidy


def figure3(rows):
    """CPU time of training, of the span rule after it, and of leave-one-out, against the width: the mean over
    the realisations."""
    tidy = []
    for dataset, setting, own in _grid(rows, "width"):
        for name, method in TIMES.items():
            tidy += _mean("figure3", dataset, setting, method, "time", own, "cpu_s", 1, "s", name)
    return tidy


def figure4(rows):
    """The radius-margin functional ``R^2 |w|^2``, plain (a) and rescaled (b), against the width: the mean
    over the realisations."""
    tidy = []
    for dataset, setting, own in _grid(rows, "width"):
        own = own.assign(functional=own["bound"] * own["m"])
        for method in FUNCTIONALS:
            tidy += _mean("figure4", dataset, setting, method, "functional", own, "functional", 1, "")
    return tidy


def _grid(rows, experiment):
    """Data set, logarithm as text, and rows of every value that an experiment varies."""
    own = rows[rows["experiment"] == experiment]
    _, _, logarithm = PANELS[experiment]
    # 1e-12 of round-off in the logarithm does not make another value
    own = own.assign(setting=logarithm(own).map("{:.6g}".format).replace("-0", "0"))
    for dataset, of_set in own.groupby("dataset", sort=False):
        for setting in sorted(of_set["setting"].unique(), key=float):
            yield dataset, setting, of_set[of_set["setting"] == setting]


def _mean(exhibit, dataset, setting, method, metric, rows, column, factor, unit, name=None):
    rows = rows[rows["method"] == method]
    ok = rows.loc[rows["status"] == OK, column] * factor
    row = {"exhibit": exhibit, "dataset": dataset, "setting": setting, "method": name or method}
    return [
        {**row, "metric": metric, "value": ok.mean(), "spread": ok.std(ddof=1), "unit": unit},
        {
            **row,
            "metric": f"{metric}_failed",
            "value": len(rows) - len(ok),
            "spread": np.nan,
            "unit": "count",
        },
    ]
