"""What the paper claims, and what we ask of its reproduction: the numbers that decide each claim."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib import claims
from lib.claims import at_least, at_most, number
from lib.tables import by_method, part_of


@dataclass(kw_only=True)
class Results(claims.Results):
    """What claims are decided from, and the runs of Figure 4."""

    figure4_runs: int

    def table(self, metric, published=False):
        """Values of Table 1: a DataFrame of methods, "" for the data set alone, by data set and size."""
        own = part_of(self.published if published else self.tidy, "table1", metric)
        own = own.assign(name=own["dataset"] + ", " + own["setting"]).fillna({"method": ""})
        return by_method(own, "name")


def _column(frame, method):
    return frame[method] if method in frame else pd.Series(np.nan, index=frame.index)


def _slope(curve):
    """The slope of a line through a curve, and the share of its variance that the line explains."""
    curve = curve.dropna()
    if len(curve) < 2:
        return np.nan, np.nan
    slope, at_zero = np.polyfit(curve.index, curve, 1)
    rest = curve - (at_zero + slope * curve.index.to_numpy())
    total = ((curve - curve.mean()) ** 2).sum()
    return slope, 1 - (rest**2).sum() / total if total > 0 else np.nan


def claim_svs_constant(results):
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


def claim_accuracy(results):
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


def claim_faster(results):
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


def claim_fewer_svs(results):
    svs = results.table("svs")
    ratio = _column(svs, "svm") / _column(svs, "cross_training")
    for name, value in ratio.dropna().items():
        yield at_least(name, "rbf", "SVs, SVM / cross-training", value, results.limits["fewer"])


def claim_loss_not_significant(results):
    rows = part_of(results.tidy, "figure4", "clean_error")
    both = rows.pivot(index=["dataset", "setting"], columns="method", values=["value", "spread"])
    if {"nu_svm", "cross_training"} <= set(rows["method"]):
        for (dataset, setting), own in both.iterrows():
            gap = own["value", "cross_training"] - own["value", "nu_svm"]
            error = np.hypot(*(own["spread", name] for name in ("cross_training", "nu_svm")))
            quantity = f"clean error added, standard errors, {setting} % noise"
            deviations = gap / (error / np.sqrt(results.figure4_runs))
            yield at_most(dataset, "rbf", quantity, deviations, results.limits["significant"])


def claim_bouncing_follow_bayes_risk(results):
    for metric, holds in (("svs_bounded", at_least), ("svs_inbound", at_most)):
        name = "bouncing" if holds is at_least else "ordinary"
        for dataset, curves in results.curves("figure1", metric):
            curve = _column(curves, "svm").dropna()
            quantity = f"{name} SVs, largest overlap / none"
            ratio = curve.iloc[-1] / max(curve.iloc[0], 1)
            yield holds(dataset, "linear", quantity, ratio, results.limits[name])


def claim_week_and_night(results):
    name = _largest(results)
    time, search = results.table("time").loc[name], results.table("search_time").loc[name]
    if {"svm", "cross_training"} <= set(time.dropna().index):
        quantity = "CPU time, SVM / cross-training, specified values"
        ratio = time["svm"] / time["cross_training"]
        yield at_least(name, "rbf", quantity, ratio, results.limits["week_over_night"])
        quantity = "CPU time, SVM with a specified C / cross-training with its search"
        ratio = time["svm"] / (time["cross_training"] + search["cross_training"])
        yield at_least(name, "rbf", quantity, ratio, results.limits["week_over_search"])


def claim_rebalancing(results):
    for name, value in _column(results.table("reinserted"), "cross_training").dropna().items():
        yield number(name, "rbf", "examples put back, mean", value, "> 0", value > 0)


def claim_scales(results):
    accuracy = _column(results.table("accuracy"), "cross_training").dropna()
    rows = results.table("train_rows")[""].loc[accuracy.index]
    name = rows.idxmax()
    quantity = "largest training set of cross-training, points"
    yield at_least(name, "rbf", quantity, rows.max(), results.limits["points"])
    same = rows[rows.index.str.partition(",").get_level_values(0) == name.partition(",")[0]].drop(name)
    if len(same):
        quantity = "accuracy there above that of the next smaller training set, percentage points"
        gain = accuracy[name] - accuracy[same.idxmax()]
        yield number(name, "rbf", quantity, gain, "> 0", gain > 0)


def claim_table_accuracy(results):
    ours, theirs = results.table("accuracy"), results.table("accuracy", published=True)
    for method in ("svm", "cross_training"):
        gap = (_column(ours, method) - _column(theirs, method)).abs().dropna()
        for name, value in gap.items():
            quantity = f"accuracy, distance from the published one, percentage points, {method}"
            yield at_most(name, "rbf", quantity, value, results.limits["accuracy"])


def claim_table_svs(results):
    ours, theirs = results.table("svs"), results.table("svs", published=True)
    for method in ("svm", "cross_training"):
        gap = (_column(ours, method) / _column(theirs, method) - 1).abs().dropna()
        for name, value in gap.items():
            quantity = f"SVs, relative distance from the published ones, {method}"
            yield at_most(name, "rbf", quantity, value, results.limits["svs"])


def claim_cost(results):
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


def claim_svms_edit_better(results):
    accuracy, svs = results.table("accuracy"), results.table("svs")
    for frame, what, sign in ((accuracy, "accuracy", 1), (svs, "SVs", -1)):
        gap = _column(frame, "cross_training") - _column(frame, "multiedit_condense")
        for name, value in gap.dropna().items():
            quantity = f"{what}, cross-training minus MULTIEDIT + CONDENSE"
            if sign > 0:
                yield at_least(name, "rbf", quantity, value, 0)
            else:
                yield number(name, "rbf", quantity, value)
