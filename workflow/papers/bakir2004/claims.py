"""The paper's claims and ours about its reproduction: the numbers that decide each claim."""

import numpy as np

from lib import claims
from lib.claims import number
from lib.tables import by_method, part_of
from papers.bakir2004.exhibits.method_panels import METHOD_NAMES

# what cross-training is compared with in a figure, and the kernel there
BASELINES = {"figure3": ("svm", "linear"), "figure4": ("nu_svm", "rbf")}


class Results(claims.Results):
    """The results from which claims are decided. Methods that were not run have no values."""

    def curves(self, exhibit, metric):
        """Yield each data set with its curves, with a column for every method."""
        for dataset, curves in super().curves(exhibit, metric):
            yield dataset, curves.reindex(columns=METHOD_NAMES)

    def table(self, metric, published=False):
        """Return values of Table 1: a DataFrame of methods ("" for the data set alone) by data set and
        size."""
        rows = part_of(self.published if published else self.tidy, "table1", metric)
        rows = rows.assign(name=rows["dataset"] + ", " + rows["setting"]).fillna({"method": ""})
        return by_method(rows, "name").reindex(columns=["", *METHOD_NAMES])

    def largest(self):
        """Return the name of the largest training set of Table 1."""
        return self.table("train_rows")[""].idxmax()


def _slope(curve):
    """Return the slope of a line through a curve, and the share of the curve's variance that the line
    explains."""
    curve = curve.dropna()
    if len(curve) < 2:
        return np.nan, np.nan
    slope, _ = np.polyfit(curve.index, curve, 1)
    return slope, curve.corr(curve.index.to_series()) ** 2


def claim_svs_constant(results):
    for exhibit, axis in (("figure3", "training points"), ("figure4", "label noise")):
        baseline, kernel = BASELINES[exhibit]
        for dataset, curves in results.curves(exhibit, "svs"):
            slope, explained = _slope(curves[baseline])
            edited_slope, _ = _slope(curves["cross_training"])
            quantity = f"slope of the SVs over {axis}, cross-training / SVM"
            yield results.test(dataset, quantity, edited_slope / slope, "<=", "slope", kernel)
            quantity = f"share of the variance of the SVM's SVs that a line over {axis} explains"
            yield results.test(dataset, quantity, explained, ">=", "linear", kernel)


def claim_accuracy(results):
    accuracy = results.table("accuracy")
    loss = accuracy["svm"] - accuracy["cross_training"]
    yield from results.test_each(loss, "accuracy lost, percentage points", "<=", "loss")
    for exhibit, metric in (("figure3", "error"), ("figure4", "clean_error")):
        baseline, kernel = BASELINES[exhibit]
        for dataset, curves in results.curves(exhibit, metric):
            loss = (curves["cross_training"] - curves[baseline]).max()
            yield results.test(dataset, "largest error added, percentage points", loss, "<=", "loss", kernel)


def claim_faster(results):
    for dataset, curves in results.curves("figure3", "time"):
        ratio = curves["cross_training"] / curves["svm"]
        for size, value in ratio.items():
            quantity = f"CPU time of training, cross-training / SVM, {size:g} points"
            large = size >= results.limits["faster_from"]
            yield results.test(dataset, quantity, value, "<=", 1, kernel="linear", decides=large)


def claim_fewer_svs(results):
    svs = results.table("svs")
    ratio = (svs["svm"] / svs["cross_training"]).dropna()
    yield from results.test_each(ratio, "SVs, SVM / cross-training", ">=", "fewer")


def claim_loss_not_significant(results):
    rows = part_of(results.tidy, "figure4", "clean_error")
    both = rows.pivot(index=["dataset", "setting"], columns="method", values=["value", "spread"])
    if {"nu_svm", "cross_training"} <= set(rows["method"]):
        for (dataset, setting), pair in both.iterrows():
            gap = pair["value", "cross_training"] - pair["value", "nu_svm"]
            error = np.hypot(*(pair["spread", name] for name in ("cross_training", "nu_svm")))
            quantity = f"clean error added, standard errors, {setting} % noise"
            deviations = gap / (error / np.sqrt(results.context.settings["figure4"]["runs"]))
            yield results.test(dataset, quantity, deviations, "<=", "significant")


def claim_bouncing_follow_bayes_risk(results):
    for metric, name, relation in (("svs_bounded", "bouncing", ">="), ("svs_inbound", "ordinary", "<=")):
        for dataset, curves in results.curves("figure1", metric):
            curve = curves["svm"].dropna()
            ratio = curve.iloc[-1] / max(curve.iloc[0], 1)
            quantity = f"{name} SVs, largest overlap / none"
            yield results.test(dataset, quantity, ratio, relation, name, kernel="linear")


def claim_week_and_night(results):
    name = results.largest()
    time, search = results.table("time").loc[name], results.table("search_time").loc[name]
    quantity = "CPU time, SVM / cross-training, specified values"
    yield results.test(name, quantity, time["svm"] / time["cross_training"], ">=", "week_over_night")
    quantity = "CPU time, SVM with a specified C / cross-training with its search"
    ratio = time["svm"] / (time["cross_training"] + search["cross_training"])
    yield results.test(name, quantity, ratio, ">=", "week_over_search")


def claim_rebalancing(results):
    reinserted = results.table("reinserted")["cross_training"].dropna()
    yield from results.test_each(reinserted, "examples put back, mean", ">", 0)


def claim_scales(results):
    accuracy = results.table("accuracy")["cross_training"].dropna()
    rows = results.table("train_rows")[""].loc[accuracy.index]
    name = rows.idxmax()
    quantity = "largest training set of cross-training, points"
    yield results.test(name, quantity, rows.max(), ">=", "points")
    same = rows[rows.index.str.partition(",").get_level_values(0) == name.partition(",")[0]].drop(name)
    if len(same):
        quantity = "accuracy there above that of the next smaller training set, percentage points"
        yield results.test(name, quantity, accuracy[name] - accuracy[same.idxmax()], ">", 0)


def claim_table_accuracy(results):
    gap = (results.table("accuracy") - results.table("accuracy", published=True)).abs()
    for method in ("svm", "cross_training"):
        quantity = f"accuracy, distance from the published one, percentage points, {method}"
        yield from results.test_each(gap[method].dropna(), quantity, "<=", "accuracy")


def claim_table_svs(results):
    gap = (results.table("svs") / results.table("svs", published=True) - 1).abs()
    for method in ("svm", "cross_training"):
        quantity = f"SVs, relative distance from the published ones, {method}"
        yield from results.test_each(gap[method].dropna(), quantity, "<=", "svs")


def claim_cost(results):
    name = results.largest()
    time, search = results.table("time"), results.table("search_time")
    quantity = "CPU time of cross-training with specified values, hours"
    yield results.test(name, quantity, time.loc[name, "cross_training"] / 3600, "<=", "hours")
    peak = results.table("memory")["cross_training"].get(name, np.nan) / 1024
    yield results.test(name, "memory of cross-training, GB", peak, "<=", "memory_gb")
    realisations = results.table("realisations")[""]
    total = ((time.fillna(0) + search.fillna(0)).sum(axis=1) * realisations).sum() / 3600
    quantity = "CPU time of all of Table 1, hours on two cores"
    yield results.test("all sets", quantity, total / 2, "<=", "table_hours")


def claim_svms_edit_better(results):
    for metric, quantity_name in (("accuracy", "accuracy"), ("svs", "SVs")):
        table = results.table(metric)
        gap = (table["cross_training"] - table["multiedit_condense"]).dropna()
        quantity = f"{quantity_name}, cross-training minus MULTIEDIT + CONDENSE"
        if metric == "accuracy":
            yield from results.test_each(gap, quantity, ">=", 0)
        else:
            yield from (number(name, quantity, value) for name, value in gap.items())
