"""What the paper claims, and what we do: the numbers that decide each claim, and a verdict."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from lib.claims import at_least, at_most, number
from papers.franc2008.names import ALL_SETS, KERNELS, METHODS

# "a breakdown point between 1e-3 and 1e-1": log10 eps
BREAKDOWN = (-3, -1)
SPEEDUPS = {
    "time_speedup": "CPU time, standard / proposed",
    "kernel_column_speedup": "kernel columns, standard / proposed",
}
UNLEARN_SPEEDUPS = {
    "standard": ("time_speedup", "CPU time, standard / unlearn"),
    "proposed": ("time_speedup_over_proposed", "CPU time, proposed / unlearn"),
}


@dataclass
class Results:
    """What claims are decided from.

    Attributes
    ----------
    tidy : DataFrame
        Rows of the tables and of Figure 1.
    published : DataFrame
        The paper's, in the same form.
    datasets : list of str
        Of the tables.
    methods : list of str
        Leave-one-out methods that were run; claims about others are not tested.
    limits : dict
        Limit -> its value, see `lib.claims.limits`.
    agreement_points : DataFrame or None
        Points on which the methods disagree (`checks.agreement`), if more than one was run.
    """

    tidy: pd.DataFrame
    published: pd.DataFrame
    datasets: list
    methods: list
    limits: dict
    agreement_points: pd.DataFrame | None = None

    def __post_init__(self):
        key = ["exhibit", "dataset", "setting", "method", "metric"]
        self._values = self.tidy.set_index(key)["value"].to_dict()
        self._spreads = self.tidy.set_index(key)["spread"].to_dict()

    def value(self, *key):
        """Value of an exhibit, data set, setting, method and metric; NaN where there is none."""
        return self._values.get(key, np.nan)

    def spread(self, *key):
        """Its spread."""
        return self._spreads.get(key, np.nan)

    def sets_and_kernels(self):
        return [(dataset, kernel) for kernel in KERNELS for dataset in self.datasets]


def _disagreements(results, methods):
    """Per data set and kernel: the points on which these methods disagree, but for the degenerate ones."""
    if not set(methods) <= set(results.methods):
        return
    points = results.agreement_points
    n_errors = points["error_by"].map(lambda names: len(set(names.split()) & set(methods))).astype(int)
    points = points[(n_errors > 0) & (n_errors < len(methods))]
    for dataset, kernel in results.sets_and_kernels():
        if not all(results.value("table3", dataset, kernel, method, "time") > 0 for method in methods):
            continue
        own = points[(points["dataset"] == dataset) & (points["kernel"] == kernel)]
        degenerate = own["degenerate"].astype(bool)
        count = (~degenerate).sum()
        yield number(dataset, kernel, "points that differ, not degenerate", count, "= 0", count == 0)
        for method in methods if count else ():
            yield number(dataset, kernel, f"of these wrong by {method}", _wrong_by(own, method))
        if degenerate.any():
            yield number(dataset, kernel, "points that differ, degenerate", degenerate.sum())


def _identical_errors(results):
    yield from _disagreements(results, ("standard", "proposed"))


def _methods_agree(results):
    yield from _disagreements(results, METHODS)


def _wrong_by(points, method):
    return int(points["wrong_by"].fillna("").map(lambda names: method in names.split()).sum())


def _unlearn_exact(results):
    if results.agreement_points is None or "unlearn" not in results.methods:
        return
    for (dataset, kernel), points in results.agreement_points.groupby(["dataset", "kernel"], sort=False):
        count = _wrong_by(points, "unlearn")
        yield number(dataset, kernel, "differing points wrong by unlearn", count, "= 0", count == 0)


def _never_slower(results):
    least = 1 - results.limits["slower"]
    for dataset, kernel in results.sets_and_kernels():
        at = ("table3", dataset, kernel)
        ratios = {metric: results.value(*at, "proposed", metric) for metric in SPEEDUPS}
        for metric, quantity in SPEEDUPS.items():
            yield at_least(dataset, kernel, quantity, ratios[metric], least)
        if all(ratio >= least for ratio in ratios.values()):
            continue
        yield number(dataset, kernel, "certified, percent", results.value(*at, "proposed", "certified"))
        for method in ("standard", "proposed"):
            columns = 1e6 * results.value(*at, method, "kernel_columns")
            solved, time = (results.value(*at, method, metric) for metric in ("solved_points", "time"))
            yield number(dataset, kernel, f"columns per solved point, {method}", _ratio(columns, solved))
            yield number(dataset, kernel, f"columns per CPU second, {method}", _ratio(columns, time))


def _speedup(results, kernel):
    """Mean and largest speed-up over the paper's data sets, each beside the published one."""
    published = results.published
    published = published[(published["exhibit"] == "table3") & (published["setting"] == kernel)]
    for metric, quantity in SPEEDUPS.items():
        theirs = published[published["metric"] == metric].set_index("dataset")["value"]
        ours = pd.Series(
            {set_: results.value("table3", set_, kernel, "proposed", metric) for set_ in theirs.index}
        )
        if ours.isna().any():
            continue
        for name, statistic in (("mean", pd.Series.mean), ("largest", pd.Series.max)):
            value, wanted = statistic(ours), statistic(theirs)
            near = abs(value - wanted) <= results.limits["speedup"] * wanted
            limit = f"{wanted:.1f} ± {results.limits['speedup']:.0%}"
            yield number(ALL_SETS, kernel, f"{name}, {quantity}", value, limit, near)


def _breakdown(results):
    """Where, and by how much, a loose eps misleads the selection (Figure 1)."""
    tolerance = results.limits["breakdown"]
    figure = results.tidy[(results.tidy["exhibit"] == "figure1") & (results.tidy["metric"] == "loo_error")]
    for dataset, own in figure.groupby("dataset", sort=False):
        errors = own.assign(log10_eps=own["setting"].astype(float)).pivot(
            index="log10_eps", columns="method", values="value"
        )
        off = (errors - errors.iloc[0]).abs().max(axis=1) > tolerance
        at = off.idxmax() if off.any() else np.inf
        low, high = BREAKDOWN
        yield number(
            dataset,
            "rbf",
            f"smallest log10 eps at which a curve is off by more than {tolerance:g} points",
            at,
            f"{low} to {high}",
            low <= at <= high,
        )
        gap = (errors["selected_at_smallest_eps"] - errors["selected_at_eps"]).max()
        quantity = "largest optimism of a selection with loose eps, percentage points"
        yield number(dataset, "rbf", quantity, gap, f"> {tolerance:g}", gap > tolerance)


def _linear_estimate(results):
    for dataset in results.datasets:
        at = ("table2", dataset, "linear", "loo")
        difference = results.value(*at, "loo_error") - results.value(*at, "test_error")
        # of both means over the realisations
        error = np.hypot(
            *(
                results.spread(*at, f"{name}_error") / np.sqrt(results.value(*at, f"{name}_realisations"))
                for name in ("loo", "test")
            )
        )
        quantity = "distance of LOO and test error, standard errors of the difference"
        yield at_most(dataset, "linear", quantity, _ratio(abs(difference), error), results.limits["estimate"])


def _errors(results, kernel):
    """Data set, test error and its spread."""
    for dataset in results.datasets:
        at = ("table2", dataset, kernel, "loo", "test_error")
        yield dataset, results.value(*at), results.spread(*at)


def _as_raetsch(results):
    reported = results.limits["raetsch"]
    for dataset, error, _ in _errors(results, "rbf"):
        if dataset in reported:
            quantity = "distance of the test error from that of Raetsch et al., percentage points"
            far = abs(error - reported[dataset])
            yield at_most(dataset, "rbf", quantity, far, results.limits["very_similar"])


def _linear_comparable(results):
    count = 0
    both = zip(_errors(results, "linear"), _errors(results, "rbf"), strict=True)
    for (dataset, linear, _), (_, rbf, spread) in both:
        above = _ratio(linear - rbf, spread)
        count += above <= 1
        quantity = "test error above that with RBF, standard deviations"
        yield number(dataset, "linear", quantity, above)
    quantity = "data sets on which it is at most one standard deviation above RBF"
    yield at_least(ALL_SETS, "linear", quantity, count, results.limits["some"])


def _curves(results, metric, method):
    """Data set, and a curve of Figure 1 by log10 eps, up to the end of the breakdown points."""
    rows = results.tidy[(results.tidy["exhibit"] == "figure1") & (results.tidy["metric"] == metric)]
    for dataset, own in rows[rows["method"] == method].groupby("dataset", sort=False):
        curve = own.assign(at=own["setting"].astype(float)).set_index("at")["value"].sort_index()
        curve = curve[curve.index <= BREAKDOWN[1]]
        if len(curve) > 1:
            yield dataset, curve


def _overestimates(results):
    for dataset, curve in _curves(results, "loo_error", "selected_at_smallest_eps"):
        above = curve.iloc[1:] - curve.iloc[0]
        quantity = "least of the dashed curve above its value at the smallest eps, percentage points"
        yield at_least(dataset, "rbf", quantity, above.min(), 0)
        yield at_least(dataset, "rbf", quantity.replace("least", "most", 1), above.max(), 1e-9)
        quantity = "mean of the dashed curve above its value at the smallest eps, percentage points"
        yield at_most(dataset, "rbf", quantity, above.mean(), results.limits["slightly"])


def _time_falls(results):
    for dataset, curve in _curves(results, "time", "standard"):
        most = (curve.to_numpy()[1:] / curve.to_numpy()[:-1]).max()
        quantity = "CPU time over that at the next smaller eps, largest"
        yield at_most(dataset, "rbf", quantity, most, 1 + results.limits["slower"])


def _efficiency_test(results):
    for dataset, kernel in results.sets_and_kernels():
        at = ("table3", dataset, kernel, "proposed")
        if results.value(*at, "certified") < 50:
            ratio = results.value(*at, "kernel_column_speedup")
            yield at_least(
                dataset, kernel, SPEEDUPS["kernel_column_speedup"], ratio, 1 - results.limits["slower"]
            )


def _certified_share(results):
    published = results.published
    for kernel in KERNELS:
        theirs = published[
            (published["exhibit"] == "table3")
            & (published["setting"] == kernel)
            & (published["metric"] == "certified")
        ].set_index("dataset")["value"]
        ours = [results.value("table3", name, kernel, "proposed", "certified") for name in theirs.index]
        wanted, share = theirs.mean(), results.limits["speedup"]
        limit = f"{wanted:.1f} ± {share:.0%}"
        value = np.mean(ours)
        yield number(
            ALL_SETS, kernel, "mean share certified, percent", value, limit, abs(value / wanted - 1) <= share
        )


def _unlearn_speedup(results):
    for kernel, limits in results.limits["unlearn_speedup"].items():
        for other, least in limits.items():
            metric, quantity = UNLEARN_SPEEDUPS[other]
            value = results.value("table3", ALL_SETS, kernel, "unlearn", metric)
            yield at_least(ALL_SETS, kernel, quantity, value, least)


def _unlearn_never_slower(results):
    for dataset, kernel in results.sets_and_kernels():
        times = [results.value("table3", dataset, kernel, method, "time") for method in METHODS]
        if np.nanmax([0, *times]) <= results.limits["least_time"]:
            continue
        for metric, quantity in UNLEARN_SPEEDUPS.values():
            value = results.value("table3", dataset, kernel, "unlearn", metric)
            yield at_least(dataset, kernel, quantity, value, 1)


def _ratio(above, below):
    return above / below if below else np.nan


# id in claims.yaml -> what decides it
TESTS = {
    "identical-errors": _identical_errors,
    "never-slower": _never_slower,
    "speedup-linear": partial(_speedup, kernel="linear"),
    "speedup-rbf": partial(_speedup, kernel="rbf"),
    "breakdown": _breakdown,
    "overestimates": _overestimates,
    "time-falls": _time_falls,
    "efficiency-test": _efficiency_test,
    "certified-share": _certified_share,
    "errors-as-raetsch": _as_raetsch,
    "linear-comparable": _linear_comparable,
    "linear-estimate": _linear_estimate,
    "methods-agree": _methods_agree,
    "unlearn-exact": _unlearn_exact,
    "unlearn-speedup": _unlearn_speedup,
    "unlearn-never-slower": _unlearn_never_slower,
}
