"""The paper's claims: the numbers that decide each claim."""

import numpy as np

from lib import claims
from lib.claims import number
from papers.chapelle1999.exhibits.figure2 import PANELS


class Results(claims.Results):
    """The results from which claims are decided."""

    def curves(self, exhibit, metric):
        """Yield each data set with its curves, at the settings where every method has a value."""
        for dataset, curves in super().curves(exhibit, metric):
            yield dataset, curves.dropna()

    def panels(self):
        """Yield, for each panel of Figure 2, the logarithm on its axis, the data set, and the curves of
        errors."""
        for experiment, exhibit in PANELS.items():
            axis = {"width": "log_sigma", "C": "log_C"}[experiment]
            for dataset, curves in self.curves(exhibit, "error"):
                yield axis, dataset, curves


def _excess(curve, test):
    """Test error, above the least one, where a curve has its minimum."""
    return test[curve.idxmin()] - test.min() if len(curve) else np.nan


def claim_span_rule(results):
    for name, dataset, curves in results.panels():
        test, span = curves["test"], curves["span_rule"]
        quantity = f"test error above the least where the span rule is least, percentage points, {name}"
        yield results.test(dataset, quantity, _excess(span, test), "<=", "excess")
        quantity = f"mean distance of the two curves, percentage points, {name}"
        yield results.test(dataset, quantity, (span - test).abs().mean(), "<=", "distance")


def claim_span_is_loo(results):
    for name, dataset, curves in results.panels():
        gap = (curves["span_rule"] - curves["loo"]).abs().mean()
        quantity = f"mean distance of span rule and leave-one-out error, percentage points, {name}"
        yield results.test(dataset, quantity, gap, "<=", "distance_to_loo")


def claim_span_cost(results):
    for dataset, curves in results.curves("figure3", "time"):
        total = curves.sum()
        ratio = total["loo_retrain"] / total["span_rule"]
        quantity = "CPU time, leave-one-out by retraining / span rule"
        yield results.test(dataset, quantity, ratio, ">=", "speedup")
        yield number(dataset, "CPU time, unlearning / span rule", total["loo"] / total["span_rule"])


def claim_rescaled_tighter(results):
    for dataset, curves in results.curves("figure4", "functional"):
        ratio = curves["radius_margin"] / curves["rescaled_radius_margin"]
        quantity = "plain bound / rescaled bound, least over the widths"
        yield results.test(dataset, quantity, ratio.min(), ">", 1)
        quantity = "plain bound / rescaled bound, median over the widths"
        yield results.test(dataset, quantity, ratio.median(), ">=", "tighter")


def claim_span_not_prohibitive(results):
    for dataset, curves in results.curves("figure3", "time"):
        ratio = curves["span_rule"].sum() / curves["train"].sum()
        yield results.test(dataset, "CPU time, span rule / training", ratio, "<=", "prohibitive")


def claim_rescaling(results):
    tests = {dataset: curves["test"] for dataset, curves in results.curves("figure2a", "error")}
    for dataset, curves in results.curves("figure4", "functional"):
        both = curves.join(tests[dataset], how="inner")
        excess = _excess(both["radius_margin"], both["test"])
        quantity = "test error above the least where the plain functional is least, percentage points"
        yield results.test(dataset, quantity, excess, "<=", "excess")
        # the curves' shape alone counts, whatever their units
        ranks = both[both["test"].round(2).diff() != 0].corr(method="spearman")["test"]
        plain, rescaled = ranks["radius_margin"], ranks["rescaled_radius_margin"]
        quantity = "rank correlation with the test error, rescaled"
        yield results.test(dataset, quantity, rescaled, ">=", "correlation")
        quantity = "rank correlation with the test error, plain"
        yield number(dataset, quantity, plain, "less than rescaled", plain < rescaled)
