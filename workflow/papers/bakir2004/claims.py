"""What the paper claims, and what we ask of its reproduction: the numbers that decide each claim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.claims import at_least, at_most, number

__all__ = ["TESTS", "Results"]


@dataclass
class Results:
    """What claims are decided from.

    Attributes
    ----------
    tidy : DataFrame
        Rows of all exhibits.
    published : DataFrame
        The paper's, in the same form.
    limits : dict
        Limit -> its value, see `lib.claims.limits`.
    """

    tidy: pd.DataFrame
    published: pd.DataFrame
    limits: dict

    def curves(self, exhibit, metric):
        """Data set, and its curves: a DataFrame of methods by setting, in increasing order."""
        own = self.tidy[(self.tidy["exhibit"] == exhibit) & (self.tidy["metric"] == metric)]
        for dataset, rows in own.groupby("dataset", sort=False):
            yield (
                dataset,
                rows.assign(at=rows["setting"].astype(float)).pivot(
                    index="at", columns="method", values="value"
                ),
            )

    def table(self, metric, published=False):
        """Values of Table 1: a DataFrame of methods, "" for the data set alone, by data set and size."""
        tidy = self.published if published else self.tidy
        own = tidy[(tidy["exhibit"] == "table1") & (tidy["metric"] == metric)]
        own = own.assign(name=own["dataset"] + ", " + own["setting"]).fillna({"method": ""})
        return own.pivot(index="name", columns="method", values="value")


def _column(frame, method):
    return frame[method] if method in frame else pd.Series(np.nan, index=frame.index)


def _slope(curve):
    """Of a line through a curve, and the share of its variance that the line explains."""
    curve = curve.dropna()
    if len(curve) < 2:
        return np.nan, np.nan
    slope, at_zero = np.polyfit(curve.index, curve, 1)
    rest = curve - (at_zero + slope * curve.index.to_numpy())
    total = ((curve - curve.mean()) ** 2).sum()
    return slope, 1 - (rest**2).sum() / total if total > 0 else np.nan


def _growth_of_svs(results):
    for exhibit, what in (("figure3", "training points"), ("figure4", "label noise")):
        for dataset, curves in results.curves(exhibit, "svs"):
            kernel = "linear" if exhibit == "figure3" else "rbf"
            baseline = "svm" if exhibit == "figure3" else "nu_svm"
            slope, explained = _slope(_column(curves, baseline))
            of_edited, _ = _slope(_column(curves, "cross_training"))
            quantity = f"slope of the SVs over {what}, cross-training / SVM"
            yield at_most(dataset, kernel, quantity, of_edited / slope, results.limits["slope"])
            quantity = f"share of the variance of the SVM's SVs that a line over {what} explains"
            yield at_least(dataset, kernel, quantity, explained, results.limits["linear"])


def _accuracy(results):
    limit = results.limits["loss"]
    accuracy = results.table("accuracy")
    loss = _column(accuracy, "svm") - _column(accuracy, "cross_training")
    for name, value in loss.items():
        yield at_most(name, "rbf", "accuracy lost, percentage points", value, limit)
    for exhibit, metric, baseline in (("figure3", "error", "svm"), ("figure4", "clean_error", "nu_svm")):
        for dataset, curves in results.curves(exhibit, metric):
            loss = (_column(curves, "cross_training") - _column(curves, baseline)).max()
            kernel = "linear" if exhibit == "figure3" else "rbf"
            yield at_most(dataset, kernel, "largest error added, percentage points", loss, limit)


def _faster(results):
    for dataset, curves in results.curves("figure3", "time"):
        ratio = _column(curves, "cross_training") / _column(curves, "svm")
        for at, value in ratio.items():
            quantity = f"CPU time of training, cross-training / SVM, {at:g} points"
            if at >= results.limits["faster_from"]:
                yield at_most(dataset, "linear", quantity, value, 1)
            else:
                yield number(dataset, "linear", quantity, value)


def _largest(results):
    """Name of the largest training set of Table 1."""
    return results.table("train_rows")[""].idxmax()


def _scales(results):
    trained = _column(results.table("accuracy"), "cross_training").notna()
    rows = results.table("train_rows")[""].where(trained)
    quantity = "largest training set of cross-training, points"
    yield at_least("all sets", "rbf", quantity, rows.max(), results.limits["points"])


def _table_accuracy(results):
    ours, theirs = results.table("accuracy"), results.table("accuracy", published=True)
    for method in ("svm", "cross_training"):
        gap = (_column(ours, method) - _column(theirs, method)).abs().dropna()
        for name, value in gap.items():
            quantity = f"accuracy, distance from the published one, percentage points, {method}"
            yield at_most(name, "rbf", quantity, value, results.limits["accuracy"])


def _table_svs(results):
    ours, theirs = results.table("svs"), results.table("svs", published=True)
    for method in ("svm", "cross_training"):
        gap = (_column(ours, method) / _column(theirs, method) - 1).abs().dropna()
        for name, value in gap.items():
            quantity = f"SVs, relative distance from the published ones, {method}"
            yield at_most(name, "rbf", quantity, value, results.limits["svs"])


def _cost(results):
    name = _largest(results)
    time, search = results.table("time"), results.table("search_time")
    hours = time.loc[name, "cross_training"] / 3600
    quantity = "CPU time of cross-training with specified values, hours"
    yield at_most(name, "rbf", quantity, hours, results.limits["hours"])
    memory = results.table("memory")
    if "cross_training" in memory:
        peak = memory.loc[name, "cross_training"] / 1024
        quantity = "memory of cross-training, GB"
        yield at_most(name, "rbf", quantity, peak, results.limits["memory_gb"])
    realisations = results.table("realisations")[""]
    total = ((time.fillna(0) + search.fillna(0)).sum(axis=1) * realisations).sum() / 3600
    quantity = "CPU time of all of Table 1, hours on two cores"
    yield at_most("all sets", "rbf", quantity, total / 2, results.limits["table_hours"])


def _edited(results):
    accuracy, svs = results.table("accuracy"), results.table("svs")
    for frame, what, sign in ((accuracy, "accuracy", 1), (svs, "SVs", -1)):
        gap = _column(frame, "cross_training") - _column(frame, "multiedit_condense")
        for name, value in gap.dropna().items():
            quantity = f"{what}, cross-training minus MULTIEDIT + CONDENSE"
            if sign > 0:
                yield at_least(name, "rbf", quantity, value, 0)
            else:
                yield number(name, "rbf", quantity, value)


# id in claims.yaml -> what decides it
TESTS = {
    "svs-constant": _growth_of_svs,
    "accuracy": _accuracy,
    "faster": _faster,
    "scales": _scales,
    "table-accuracy": _table_accuracy,
    "table-svs": _table_svs,
    "cost": _cost,
    "svms-edit-better": _edited,
}
