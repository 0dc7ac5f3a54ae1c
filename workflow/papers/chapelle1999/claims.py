"""The paper's claims: the numbers that decide each claim."""

import numpy as np

from lib import claims
from lib.claims import Limit, claim, number
from papers.chapelle1999.exhibits.figure2 import PANELS

# The tolerances that the tests use, each with its reason.
LIMITS = {
    "excess": Limit(
        1,
        ("Percentage points: the standard error of a test error over the realisations is about half of one."),
    ),
    "distance": Limit(
        3, "Percentage points: a leave-one-out error of 200 to 317 points has this standard deviation."
    ),
    "distance_to_loo": Limit(
        1, "Percentage points: the span rule keeps the set of SVs as it is, which moves few signs."
    ),
    "speedup": Limit(10, "Little is taken to be a tenth."),
    "tighter": Limit(2, "At most half."),
    "much_tighter": Limit(10, "Much: an order of magnitude. Set with 13 in view."),
    "prohibitive": Limit(10, "Another order of magnitude would be."),
    "correlation": Limit(0.9, "Two curves that rise and fall together, but for noise, reach it."),
}


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


@claim(
    statement="The span rule finds the minimum of the test error, and the two curves nearly coincide.",
    text="we can see that the method predicts the correct value of the minimum",
    test=(
        "Test error at the minimum of the span rule minus the least test error; mean distance of the two"
        " curves."
    ),
    exhibits=["figure2"],
    limits=["excess", "distance"],
    assumption=(
        "The text does not give the ranges of its axes: ln(sigma) from -6 to 6 and ln(C) from -2 to"
        " 12. The width on breast cancer is the benchmark's, 2 sigma^2 = 50."
    ),
)
def claim_span_rule(results):
    for name, dataset, curves in results.panels():
        test, span = curves["test"], curves["span_rule"]
        quantity = f"test error above the least where the span rule is least, percentage points, {name}"
        yield results.test(dataset, quantity, _excess(span, test), "<=", "excess")
        quantity = f"mean distance of the two curves, percentage points, {name}"
        yield results.test(dataset, quantity, (span - test).abs().mean(), "<=", "distance")


@claim(
    statement="The span costs little next to leave-one-out.",
    text="is very attractive compared to the leave-one-out procedure",
    test="CPU time of leave-one-out by retraining with warm starts over that of the span rule.",
    exhibits=["figure3"],
    limits=["speedup"],
)
def claim_span_cost(results):
    for dataset, curves in results.curves("figure3", "time"):
        total = curves.sum()
        ratio = total["loo_retrain"] / total["span_rule"]
        quantity = "CPU time, leave-one-out by retraining / span rule"
        yield results.test(dataset, quantity, ratio, ">=", "speedup")
        yield number(dataset, "CPU time, unlearning / span rule", total["loo"] / total["span_rule"])


@claim(
    statement=(
        "The plain bound finds the minimum, not the curve's shape; the rescaled one follows the test error."
    ),
    text="the shape of the curve with rescaling is very similar to the test error",
    test=(
        "Test error at the minimum of the plain bound minus the least test error; rank correlation of "
        "each bound with the test error, in which neighbouring models with the same test error count once."
    ),
    exhibits=["figure4"],
    limits=["excess", "correlation"],
    assumption=(
        "The paper shows the curves in other units; ranks compare shapes whatever the units. Where the "
        "kernel is nearly the identity, all widths have one test error. One model of such a plateau counts, "
        "so that the assumed range of the axis does not matter."
    ),
)
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


@claim(
    statement="The rescaled bound is much tighter than the plain one.",
    text="by performing a rescaling of our data, we manage to have a much tighter bound",
    test=(
        "Plain bound over rescaled bound: the smallest ratio over the widths, and the ratio at the width of "
        "the least test error."
    ),
    exhibits=["figure2", "figure4"],
    limits=["tighter", "much_tighter"],
)
def claim_rescaled_tighter(results):
    tests = {dataset: curves["test"] for dataset, curves in results.curves("figure2a", "error")}
    for dataset, curves in results.curves("figure4", "functional"):
        ratio = curves["radius_margin"] / curves["rescaled_radius_margin"]
        quantity = "plain bound / rescaled bound, least over the widths"
        yield results.test(dataset, quantity, ratio.min(), ">=", "tighter")
        for width in tests[dataset].reindex(ratio.index).dropna().nsmallest(1).index:
            quantity = "plain bound / rescaled bound, at the width of the least test error"
            yield results.test(dataset, quantity, ratio[width], ">=", "much_tighter")


@claim(
    statement="The time of the span is not prohibitive beside that of training.",
    text="the time required to compute the span is not prohibitive",
    test="CPU time of the span rule over that of training.",
    exhibits=["figure3"],
    limits=["prohibitive"],
)
def claim_span_not_prohibitive(results):
    for dataset, curves in results.curves("figure3", "time"):
        ratio = curves["span_rule"].sum() / curves["train"].sum()
        yield results.test(dataset, "CPU time, span rule / training", ratio, "<=", "prohibitive")


@claim(
    by="svmselect",
    statement="The span rule is close to the exact leave-one-out error.",
    test="Mean distance of the span rule from the exact leave-one-out error.",
    exhibits=["figure2"],
    limits=["distance_to_loo"],
)
def claim_span_is_loo(results):
    for name, dataset, curves in results.panels():
        gap = (curves["span_rule"] - curves["loo"]).abs().mean()
        quantity = f"mean distance of span rule and leave-one-out error, percentage points, {name}"
        yield results.test(dataset, quantity, gap, "<=", "distance_to_loo")
