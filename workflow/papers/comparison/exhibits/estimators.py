"""Estimators: accuracy and cost, means over the data sets.

Table of the estimators of the test error over all data sets: distance from the test error, regret of the
model chosen, CPU time.

All estimators see the same models of {{ settings["datasets"] | length }} data sets: the linear and the RBF
kernel with the configuration's grids of C and gamma. Every feature is scaled to mean 0 and deviation 1 by the
training rows. A model drawn at random: the mean over all models. Values are means over the data sets of the
means over their realisations.

Each of the k fits of k-fold cross-validation starts from zero. The rescaled radius-margin bound computes the
eigenvectors of the Gram matrix anew for every model.
"""

import numpy as np
import pandas as pd

from lib.tables import arranged, averaged, listed, lookup, measured, number, shown
from papers.comparison.exhibits.estimator_words import RANDOM, assumptions, estimator_name, included_costs

STAGES = ()

ALL_SETS = "all sets"
BY = ("dataset", "method", "metric")
# percentage points of regret that hardly matter
MARGIN = 1


def tidy(rows, context):
    """Yield all estimators, from the tables per data set: means over the data sets.

    The spread is the standard deviation over the data sets, of ``time`` and ``fits``, which are geometric
    means, that of the natural logarithm. ``behind`` is the regret minus that of the estimator whose mean
    regret is the least, on the same data set; ``rank`` the place of an estimator by regret on a data set,
    those that tie all at the mean of their places.
    """
    regret, rmse, cost = (context.exhibits[key] for key in ("regret", "rmse", "cost"))
    regrets = _by_method(regret, "regret")
    without_chance = regrets.drop(columns=RANDOM)
    means = {
        ("regret", "points"): regrets,
        ("mean_regret", "points"): _by_method(regret, "mean_regret"),
        ("tied", "count"): _by_method(regret, "tied"),
        ("behind", "points"): without_chance.sub(without_chance[without_chance.mean().idxmin()], axis=0),
        ("rank", "place"): without_chance.rank(axis=1),
        ("rmse", "points"): _by_method(rmse, "rmse"),
        ("bias", "points"): _by_method(rmse, "bias"),
    }
    row_key = {"exhibit": "estimators", "dataset": ALL_SETS}
    for (metric, unit), values in means.items():
        for method, series in values.items():
            yield averaged({**row_key, "method": method}, metric, series, unit)
    for metric, unit in (("time", "s"), ("fits", "ratio")):
        for method, series in np.log(_by_method(cost, metric)).items():
            yield measured(
                {**row_key, "method": method}, metric, np.exp(series.mean()), unit, series.std(ddof=1)
            )
    for method, worst in regrets.max().items():
        yield measured({**row_key, "method": method}, "largest_regret", worst, "points")
    for method, count in _by_method(regret, "failed").sum().items():
        yield measured({**row_key, "method": method}, "failed", count, "count")
    yield measured({**row_key, "method": "all"}, "datasets", len(regrets), "count")


def _by_method(tidy, metric):
    """Return values of one metric: data sets by methods, both in their order."""
    selected = tidy[tidy["metric"] == metric]
    both = selected.pivot(index="dataset", columns="method", values="value")
    return both.reindex(index=selected["dataset"].unique(), columns=selected["method"].unique())


def table(tidy, context):
    """Return the estimators by regret, the random model last, with advice on the choice of one."""
    find = lookup(tidy, BY)
    sets = find(ALL_SETS, "all", "datasets")[0]

    # the standard error of a mean over the data sets
    mean = lookup(tidy.assign(spread=tidy["spread"] / sets**0.5), BY)

    def bias(*line):
        value, _ = find(*line, "bias")
        return number(value, 2) if pd.isna(value) else f"{value:+.2f}"

    # columns: distance from the test error, regret, cost
    columns = [
        ("", "Estimator", lambda _, method: estimator_name(method)),
        ("Distance from the test error", "RMSE", shown(find, 2, "rmse", spread=True)),
        ("Distance from the test error", "bias", bias),
        ("Regret", "mean", shown(find, 2, "regret", spread=True)),
        ("Regret", "largest", shown(find, 2, "largest_regret")),
        ("Regret", "if ties are drawn", shown(find, 2, "mean_regret")),
        ("Regret", "behind the first", shown(mean, 2, "behind", spread=True)),
        ("Regret", "place", shown(find, 1, "rank")),
        ("CPU time", "ms", shown(find, 2, "time", factor=1000)),
        ("CPU time", "fits", shown(find, 1, "fits")),
    ]
    order = sorted(
        _methods(tidy, "regret"), key=lambda method: (method == RANDOM, find(ALL_SETS, method, "regret"))
    )
    notes = [
        *advice(tidy),
        f"Mean ± standard deviation over {sets:.0f} data sets, in percentage points. Regret: test error of"
        " the model with the smallest estimate minus the smallest test error on the grid. If several models"
        " tie, the largest of their test errors counts; if ties are drawn: their mean. Behind the first:"
        " regret minus the regret of the first row on the same data set, mean ± standard error. Place: mean"
        " rank by regret on a data set. RMSE and bias (estimate minus test error) are over all models, for"
        " the estimates that are error rates. CPU times are geometric means; fits: in units of one fit on"
        " all points.",
        included_costs(),
        assumptions(),
        *listed(
            tidy,
            "failed",
            "Models without a value, per realisation, summed over the data sets",
            lambda row: f"{estimator_name(row.method)}: {row.value:.1f}",
        ),
    ]
    return arranged([(ALL_SETS, method) for method in order], columns, notes)


def advice(tidy):
    """Return advice on the choice of an estimator, in sentences."""
    find = lookup(tidy, BY)
    sets = find(ALL_SETS, "all", "datasets")[0]
    random, _ = find(ALL_SETS, RANDOM, "regret")

    def value(method, metric):
        return find(ALL_SETS, method, metric)[0]

    def ranked(methods, metric, decimals, unit=""):
        return ", ".join(
            f"{estimator_name(method)} ({number(value(method, metric), decimals)}{unit})"
            for method in methods
        )

    methods = [method for method in _methods(tidy, "regret") if method != RANDOM]
    by_regret = sorted(methods, key=lambda method: value(method, "regret"))
    by_cost = sorted(methods, key=lambda method: value(method, "fits"))
    by_rmse = sorted(_methods(tidy, "rmse"), key=lambda method: value(method, "rmse"))
    good = []
    for method in by_cost:
        behind, spread = find(ALL_SETS, method, "behind")
        # a single data set has no spread
        if behind + 2 * (0 if pd.isna(spread) else spread) / sets**0.5 <= MARGIN:
            good.append(method)
    chance = [method for method in by_regret if value(method, "regret") >= random]
    first = by_regret[0]
    sentences = [
        f"Which chooses best? {estimator_name(first)}: on average over {sets:.0f} data sets its model "
        f"makes {value(first, 'regret'):.2f} percentage points more errors on the test rows than the best "
        f"model of the grid; a model drawn at random makes {random:.2f} more.",
        f"Which are at most {MARGIN:g} percentage point behind it, even with two standard errors added? From "
        f"the cheapest: {ranked(good, 'fits', 1, ' fits')}.",
        f"Which comes closest to the test error? By RMSE: {ranked(by_rmse, 'rmse', 2, ' points')}.",
        f"What do they cost, in fits on all points? {ranked(by_cost, 'fits', 1)}.",
    ]
    if chance:
        sentences.append(
            "Which choose no better than chance on such a grid? "
            f"{ranked(chance, 'regret', 2, ' points of regret')}."
        )
    return sentences


def _methods(tidy, metric):
    return list(tidy.loc[tidy["metric"] == metric, "method"].unique())
