"""Trade-off: accuracy of choice against cost.

Scatter plot on logarithmic axes of the mean regret of the model that each estimator chooses against its CPU
time in fits, one point each.

Regret and what the CPU time includes are explained below the table of estimators. Regret is the mean over {{
settings["datasets"] | length }} data sets. The CPU time of one model is divided by that of one fit on all
points; values are geometric means over the data sets. Bars: one standard error over the data sets. Numbers
beside circles: folds. Dashed: a model drawn at random. Lower left is better.
"""

import numpy as np

from lib.figures import COLORS, GREY, panels, plain_numbers
from papers.comparison.estimator import estimator_of
from papers.comparison.exhibits.estimator_words import RANDOM, estimator_name

STAGES = ()

TICKS = [0, 0.5, 1, 2, 5, 10, 20, 50]


def tidy(rows, context):
    """Return regret and fits of all estimators, and the number of data sets."""
    estimators = context.exhibits["estimators"]
    return estimators[estimators["metric"].isin(["regret", "fits", "datasets"])].assign(exhibit="tradeoff")


def figure(tidy, context):
    """Draw mean regret against the CPU time of a model in fits, both logarithmic, with bars of one standard
    error over the data sets. A line joins cross-validation over its numbers of folds."""
    from matplotlib.lines import Line2D

    fig, axes = panels(1, 1, 7.4, 4.2)
    ax = axes.flat[0]
    values = tidy.pivot(index="method", columns="metric", values="value")
    spreads = tidy.pivot(index="method", columns="metric", values="spread")
    sets = values.at["all", "datasets"]
    shown = tidy.loc[tidy["metric"] == "fits", "method"]
    # a dotted line joins the numbers of folds of an estimator
    by_estimator = {}
    for method in shown:
        estimator, k = estimator_of(method)
        if k:
            by_estimator.setdefault(estimator, []).append(method)
    for estimator, folds in by_estimator.items():
        joined = values.loc[folds, ["fits", "regret"]].to_numpy().T
        ax.plot(*joined, color=COLORS[estimator.color], linestyle=":", zorder=1)
    # a mark for each method, and its bars
    labels = {}
    for method in sorted(shown, key=lambda method: values.at[method, "regret"]):
        x, y = values.loc[method, ["fits", "regret"]]
        # the bars are those of the mean of a logarithm
        ratio = np.exp(spreads.at[method, "fits"] / sets**0.5)
        bars = {"xerr": [[x - x / ratio], [x * ratio - x]], "yerr": spreads.at[method, "regret"] / sets**0.5}
        estimator, k = estimator_of(method)
        color = COLORS[estimator.color]
        mark = {"color": color, "marker": estimator.marker, "markersize": estimator.size}
        ax.errorbar(x, y, **bars, **mark, elinewidth=0.8)
        label = estimator.name
        if k:
            ax.annotate(k, (x, y), (5, -12), textcoords="offset points", color=color)
            label = f"{label.format(k='k')}, k beside"
        labels[label] = Line2D([], [], **mark, linestyle="none")
    # the random model, axes and legend
    dashed = {"color": GREY, "linestyle": "--", "linewidth": 1}
    ax.axhline(values.at[RANDOM, "regret"], **dashed)
    labels[estimator_name(RANDOM)] = Line2D([], [], **dashed)
    ax.set_xscale("log")
    plain_numbers(ax.xaxis)
    # a regret may be 0
    ax.set_yscale("symlog", linthresh=1, linscale=0.5)
    ax.set_ylim(0, None)
    ax.set_yticks(TICKS, TICKS)
    ax.set_xlabel("CPU time of one model (fits on all points)")
    ax.set_ylabel("Regret of the model chosen (percentage points)")
    fig.legend(labels.values(), labels.keys(), loc="outside right upper")
    return fig
