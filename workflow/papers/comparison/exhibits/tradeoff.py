"""Trade-off: accuracy of choice against cost.

Scatter plot on logarithmic axes of the mean regret of the model that each estimator chooses against its CPU
time in fits, one point each.

Regret and what the CPU time includes are explained below the table of estimators. Regret is the mean over {{
settings["datasets"] | length }} data sets. The CPU time of one model is divided by that of one fit on all
points; values are geometric means over the data sets. Bars: one standard error over the data sets. Numbers
beside circles: folds. Dashed: a model drawn at random. Lower left is better.
"""

from itertools import cycle

import numpy as np

from lib.figures import GREY, mark, panels, plain_numbers
from papers.comparison.estimator import estimator_of, load_estimators
from papers.comparison.exhibits.estimator_words import RANDOM, estimator_name

STAGES = ()

# The mark of each estimator. It is none of the estimator's own, as no cell depends on it.
MARKS = {
    "span_rule": mark("vermillion", "s"),
    "span_bound": mark("purple", "v"),
    "xi_alpha": mark("orange", "^"),
    "jaakkola_haussler": mark("grey", "X", 7),
    "opper_winther": mark("sky", "D", 5.5),
    "radius_margin": mark("purple", "P", 7),
    "rescaled_radius_margin": mark("orange", "p", 7),
    "kfold": mark("green", "o"),
    "loo": mark("blue", "*", 11),
}
# further ones, in turn
SPARE_MARKS = [mark(color, marker) for marker in "hH8d" for color in ("blue", "green", "grey")]
TICKS = [0, 0.5, 1, 2, 5, 10, 20, 50]


def tidy(rows, context):
    """Return regret and fits of all estimators, and the number of data sets."""
    estimators = context.exhibits["estimators"]
    return estimators[estimators["metric"].isin(["regret", "fits", "datasets"])].assign(exhibit="tradeoff")


def marks_of(estimators):
    """Return the mark of each estimator, from the estimators by the names of their files."""
    spare = cycle(SPARE_MARKS)
    return {estimator: MARKS.get(key) or next(spare) for key, estimator in estimators.items()}


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
    marks = marks_of(load_estimators())
    for estimator, folds in by_estimator.items():
        joined = values.loc[folds, ["fits", "regret"]].to_numpy().T
        ax.plot(*joined, color=marks[estimator]["color"], linestyle=":", zorder=1)
    # a mark for each method, and its bars
    labels = {}
    for method in sorted(shown, key=lambda method: values.at[method, "regret"]):
        x, y = values.loc[method, ["fits", "regret"]]
        # the bars are those of the mean of a logarithm
        ratio = np.exp(spreads.at[method, "fits"] / sets**0.5)
        bars = {"xerr": [[x - x / ratio], [x * ratio - x]], "yerr": spreads.at[method, "regret"] / sets**0.5}
        estimator, k = estimator_of(method)
        ax.errorbar(x, y, **bars, **marks[estimator], elinewidth=0.8)
        label = estimator.name
        if k:
            ax.annotate(k, (x, y), (5, -12), textcoords="offset points", color=marks[estimator]["color"])
            label = f"{label.format(k='k')}, k beside"
        labels[label] = Line2D([], [], **marks[estimator], linestyle="none")
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
