"""What the paper claims: the numbers that decide each claim."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.claims import at_least, at_most, number
from papers.chapelle1999.exhibits import PANELS


@dataclass
class Results:
    """What claims are decided from.

    Attributes
    ----------
    tidy : DataFrame
        Rows of the figures.
    limits : dict
        Limit -> its value, see `lib.claims.limits`.
    """

    tidy: pd.DataFrame
    limits: dict

    def curves(self, exhibit, metric):
        """Data set, and its curves: a DataFrame of methods by setting, in increasing order."""
        own = self.tidy[(self.tidy["exhibit"] == exhibit) & (self.tidy["metric"] == metric)]
        for dataset, rows in own.groupby("dataset", sort=False):
            curves = rows.assign(at=rows["setting"].astype(float)).pivot(
                index="at", columns="method", values="value"
            )
            yield dataset, curves.dropna()


def _excess(curve, test):
    """Test error, above the least one, where a curve has its minimum."""
    return test[curve.idxmin()] - test.min() if len(curve) else np.nan


def _span_rule(results):
    for exhibit, name, _ in PANELS.values():
        for dataset, curves in results.curves(exhibit, "error"):
            test, span = curves["test"], curves["span_rule"]
            quantity = f"test error above the least where the span rule is least, percentage points, {name}"
            yield at_most(dataset, "rbf", quantity, _excess(span, test), results.limits["excess"])
            gap = (span - test).abs().mean()
            quantity = f"mean distance of the two curves, percentage points, {name}"
            yield at_most(dataset, "rbf", quantity, gap, results.limits["distance"])


def _close_to_loo(results):
    for exhibit, name, _ in PANELS.values():
        for dataset, curves in results.curves(exhibit, "error"):
            gap = (curves["span_rule"] - curves["loo"]).abs().mean()
            quantity = f"mean distance of span rule and leave-one-out error, percentage points, {name}"
            yield at_most(dataset, "rbf", quantity, gap, results.limits["distance_to_loo"])


def _cost(results):
    for dataset, curves in results.curves("figure3", "time"):
        total = curves.sum()
        least = results.limits["speedup"]
        ratio = total["loo_retrain"] / total["span_rule"]
        yield at_least(dataset, "rbf", "CPU time, leave-one-out by retraining / span rule", ratio, least)
        yield number(dataset, "rbf", "CPU time, unlearning / span rule", total["loo"] / total["span_rule"])


def _tighter(results):
    for dataset, curves in results.curves("figure4", "functional"):
        ratio = curves["radius_margin"] / curves["rescaled_radius_margin"]
        quantity = "plain bound / rescaled bound, least over the widths"
        yield number(dataset, "rbf", quantity, ratio.min(), "> 1", ratio.min() > 1)
        quantity = "plain bound / rescaled bound, median over the widths"
        yield at_least(dataset, "rbf", quantity, ratio.median(), results.limits["tighter"])


def _not_prohibitive(results):
    for dataset, curves in results.curves("figure3", "time"):
        ratio = curves["span_rule"].sum() / curves["train"].sum()
        quantity = "CPU time, span rule / training"
        yield at_most(dataset, "rbf", quantity, ratio, results.limits["prohibitive"])


def _rescaling(results):
    tests = {dataset: curves["test"] for dataset, curves in results.curves("figure2a", "error")}
    for dataset, curves in results.curves("figure4", "functional"):
        both = curves.join(tests[dataset], how="inner")
        excess = _excess(both["radius_margin"], both["test"])
        quantity = "test error above the least where the plain functional is least, percentage points"
        yield at_most(dataset, "rbf", quantity, excess, results.limits["excess"])
        # of the curves' shape, whatever their units
        ranks = both[both["test"].round(2).diff() != 0].corr(method="spearman")["test"]
        plain, rescaled = ranks["radius_margin"], ranks["rescaled_radius_margin"]
        quantity = "rank correlation with the test error, rescaled"
        yield at_least(dataset, "rbf", quantity, rescaled, results.limits["correlation"])
        quantity = "rank correlation with the test error, plain"
        yield number(dataset, "rbf", quantity, plain, "less than rescaled", plain < rescaled)


# id in claims.yaml -> what decides it
TESTS = {
    "span-rule": _span_rule,
    "span-cost": _cost,
    "rescaling": _rescaling,
    "rescaled-tighter": _tighter,
    "span-not-prohibitive": _not_prohibitive,
    "span-is-loo": _close_to_loo,
}
