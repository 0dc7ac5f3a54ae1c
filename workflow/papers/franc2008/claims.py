"""The paper's claims and ours: the numbers that decide each claim, and a verdict."""

from functools import cached_property, partial

import numpy as np
import pandas as pd

from lib import claims
from lib.claims import number
from lib.tables import KEY, lookup, part_of
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


class Results(claims.Results):
    """The results from which claims are decided. Claims about leave-one-out methods that were not run are not
    tested."""

    @cached_property
    def _find(self):
        return lookup(self.tidy, KEY)

    @property
    def datasets(self):
        return self.context.settings["datasets"]

    @property
    def methods(self):
        return self.context.settings["methods"]

    @property
    def agreement_points(self):
        """The points on which several methods disagree; None with one method."""
        return self.exhibits.get("agreement_points")

    def value(self, *key):
        """Return the value of an exhibit, data set, setting, method and metric; NaN if there is none."""
        return self._find(*key)[0]

    def spread(self, *key):
        """Return the spread of an exhibit, data set, setting, method and metric; NaN if there is none."""
        return self._find(*key)[1]

    def proposed(self, metric, kernel, datasets):
        """Return values of the proposed method in Table 3, by data set."""
        return pd.Series({name: self.value("table3", name, kernel, "proposed", metric) for name in datasets})

    def beside(self, kernel, quantity, value, published):
        """Return a statistic over all sets, which decides by its relative distance from the published one."""
        share = self.limits["speedup"]
        near = abs(value - published) <= share * published
        return number(ALL_SETS, quantity, value, f"{published:.1f} ± {share:.0%}", near, kernel)

    def printed(self, metric, kernel):
        """Return published values of Table 3, by data set."""
        return part_of(self.published, "table3", metric, setting=kernel).set_index("dataset")["value"]

    def sets_and_kernels(self):
        return [(dataset, kernel) for kernel in KERNELS for dataset in self.datasets]


def _disagreements(results, methods):
    """Yield, per data set and kernel, the points on which these methods disagree, without the degenerate
    ones."""
    if not set(methods) <= set(results.methods):
        return
    points = results.agreement_points
    n_errors = points["error_by"].map(lambda names: len(set(names.split()) & set(methods))).astype(int)
    points = points[(n_errors > 0) & (n_errors < len(methods))]
    for dataset, kernel in results.sets_and_kernels():
        if not all(results.value("table3", dataset, kernel, method, "time") > 0 for method in methods):
            continue
        selected = points[(points["dataset"] == dataset) & (points["kernel"] == kernel)]
        degenerate = selected["degenerate"].astype(bool)
        count = (~degenerate).sum()
        yield results.test(dataset, "points that differ, not degenerate", count, "=", 0, kernel)
        for method in methods if count else ():
            yield number(dataset, f"of these wrong by {method}", _wrong_by(selected, method), kernel=kernel)
        if degenerate.any():
            yield number(dataset, "points that differ, degenerate", degenerate.sum(), kernel=kernel)


claim_identical_errors = partial(_disagreements, methods=("standard", "proposed"))
claim_methods_agree = partial(_disagreements, methods=METHODS)


def _wrong_by(points, method):
    return int(points["wrong_by"].fillna("").map(lambda names: method in names.split()).sum())


def claim_unlearn_exact(results):
    if results.agreement_points is None or "unlearn" not in results.methods:
        return
    for (dataset, kernel), points in results.agreement_points.groupby(["dataset", "kernel"], sort=False):
        count = _wrong_by(points, "unlearn")
        yield results.test(dataset, "differing points wrong by unlearn", count, "=", 0, kernel)


def claim_never_slower(results):
    least = 1 - results.limits["slower"]
    for dataset, kernel in results.sets_and_kernels():
        row_key = ("table3", dataset, kernel)
        ratios = {metric: results.value(*row_key, "proposed", metric) for metric in SPEEDUPS}
        for metric, quantity in SPEEDUPS.items():
            yield results.test(dataset, quantity, ratios[metric], ">=", least, kernel)
        if all(ratio >= least for ratio in ratios.values()):
            continue
        certified = results.value(*row_key, "proposed", "certified")
        yield number(dataset, "certified, percent", certified, kernel=kernel)
        for method in ("standard", "proposed"):
            columns = 1e6 * results.value(*row_key, method, "kernel_columns")
            for metric, per in (("solved_points", "solved point"), ("time", "CPU second")):
                each = _ratio(columns, results.value(*row_key, method, metric))
                yield number(dataset, f"columns per {per}, {method}", each, kernel=kernel)


def _speedup(results, kernel):
    """Yield the mean and largest speed-up over the paper's data sets, each beside the published one."""
    for metric, quantity in SPEEDUPS.items():
        theirs = results.printed(metric, kernel)
        ours = results.proposed(metric, kernel, theirs.index)
        if not ours.isna().any():
            yield results.beside(kernel, f"mean, {quantity}", ours.mean(), theirs.mean())
            yield results.beside(kernel, f"largest, {quantity}", ours.max(), theirs.max())


claim_speedup_linear, claim_speedup_rbf = (partial(_speedup, kernel=kernel) for kernel in KERNELS)


def claim_breakdown(results):
    """Yield the eps at which, and the amount by which, a loose eps misleads the selection (Figure 1)."""
    tolerance, (low, high) = results.limits["breakdown"], BREAKDOWN
    for dataset, errors in results.curves("figure1", "loo_error"):
        off = (errors - errors.iloc[0]).abs().max(axis=1) > tolerance
        breakdown = off.idxmax() if off.any() else np.inf
        quantity = f"smallest log10 eps at which a curve is off by more than {tolerance:g} points"
        yield number(dataset, quantity, breakdown, f"{low} to {high}", low <= breakdown <= high)
        gap = (errors["selected_at_smallest_eps"] - errors["selected_at_eps"]).max()
        quantity = "largest optimism of a selection with loose eps, percentage points"
        yield results.test(dataset, quantity, gap, ">", tolerance)


def claim_linear_estimate(results):
    for dataset in results.datasets:
        row_key = ("table2", dataset, "linear", "loo")
        difference = results.value(*row_key, "loo_error") - results.value(*row_key, "test_error")
        # the standard error of both means over the realisations
        errors = (
            results.spread(*row_key, f"{name}_error")
            / np.sqrt(results.value(*row_key, f"{name}_realisations"))
            for name in ("loo", "test")
        )
        far = _ratio(abs(difference), np.hypot(*errors))
        quantity = "distance of LOO and test error, standard errors of the difference"
        yield results.test(dataset, quantity, far, "<=", "estimate", "linear")


def claim_errors_as_raetsch(results):
    for dataset, reported in results.limits["raetsch"].items():
        far = abs(results.value("table2", dataset, "rbf", "loo", "test_error") - reported)
        quantity = "distance of the test error from that of Raetsch et al., percentage points"
        yield results.test(dataset, quantity, far, "<=", "very_similar")


def claim_linear_comparable(results):
    count = 0
    for dataset in results.datasets:
        linear, rbf = (("table2", dataset, kernel, "loo", "test_error") for kernel in KERNELS)
        above = _ratio(results.value(*linear) - results.value(*rbf), results.spread(*rbf))
        count += above <= 1
        quantity = "test error above that with RBF, standard deviations"
        yield number(dataset, quantity, above, kernel="linear")
    quantity = "data sets on which it is at most one standard deviation above RBF"
    yield results.test(ALL_SETS, quantity, count, ">=", "some", "linear")


def _curves(results, metric, method):
    """Yield each data set with a curve of Figure 1 by log10 eps, up to the end of the breakdown points."""
    for dataset, curves in results.curves("figure1", metric):
        curve = curves.get(method, pd.Series(dtype=float))
        curve = curve[curve.index <= BREAKDOWN[1]]
        if len(curve) > 1:
            yield dataset, curve


def claim_overestimates(results):
    for dataset, curve in _curves(results, "loo_error", "selected_at_smallest_eps"):
        above = curve.iloc[1:] - curve.iloc[0]
        quantity = "{} of the dashed curve above its value at the smallest eps, percentage points"
        yield results.test(dataset, quantity.format("least"), above.min(), ">=", 0)
        yield results.test(dataset, quantity.format("most"), above.max(), ">=", 1e-9)
        yield results.test(dataset, quantity.format("mean"), above.mean(), "<=", "slightly")


def claim_time_falls(results):
    for dataset, curve in _curves(results, "time", "standard"):
        most = (curve / curve.shift()).iloc[1:].max(skipna=False)
        quantity = "CPU time over that at the next smaller eps, largest"
        yield results.test(dataset, quantity, most, "<=", 1 + results.limits["slower"])


def claim_efficiency_test(results):
    least = 1 - results.limits["slower"]
    for dataset, kernel in results.sets_and_kernels():
        row_key = ("table3", dataset, kernel, "proposed")
        if results.value(*row_key, "certified") < 50:
            metric = "kernel_column_speedup"
            yield results.test(
                dataset, SPEEDUPS[metric], results.value(*row_key, metric), ">=", least, kernel
            )


def claim_certified_share(results):
    for kernel in KERNELS:
        theirs = results.printed("certified", kernel)
        ours = results.proposed("certified", kernel, theirs.index).mean(skipna=False)
        yield results.beside(kernel, "mean share certified, percent", ours, theirs.mean())


def claim_unlearn_speedup(results):
    for kernel, limits in results.limits["unlearn_speedup"].items():
        for other, least in limits.items():
            metric, quantity = UNLEARN_SPEEDUPS[other]
            value = results.value("table3", ALL_SETS, kernel, "unlearn", metric)
            yield results.test(ALL_SETS, quantity, value, ">=", least, kernel)


def claim_unlearn_never_slower(results):
    for dataset, kernel in results.sets_and_kernels():
        times = [results.value("table3", dataset, kernel, method, "time") for method in METHODS]
        if np.nanmax([0, *times]) <= results.limits["least_time"]:
            continue
        for metric, quantity in UNLEARN_SPEEDUPS.values():
            value = results.value("table3", dataset, kernel, "unlearn", metric)
            yield results.test(dataset, quantity, value, ">=", 1, kernel)


def _ratio(above, below):
    return above / below if below else np.nan
