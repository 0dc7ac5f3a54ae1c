"""The figure from tidy rows."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D

from lib.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, figure
from papers.comparison.exhibits import RANDOM
from papers.comparison.layout import estimator_name

__all__ = ["plot_tradeoff"]

MARKS = {
    "loo": (BLUE, "*", 11),
    "span_rule": (VERMILLION, "s", 6),
    "span_bound": (PURPLE, "v", 6),
    "xi_alpha": (ORANGE, "^", 6),
    "jaakkola_haussler": (GREY, "X", 7),
    "opper_winther": (SKY, "D", 5.5),
    "radius_margin": (PURPLE, "P", 7),
    "rescaled_radius_margin": (ORANGE, "p", 7),
}
TICKS = [0, 0.5, 1, 2, 5, 10, 20, 50]
KFOLD = (GREEN, "o", 6)


def plot_tradeoff(tidy):
    """Mean regret against the CPU time of a model in fits, both logarithmic, bars of one standard error over
    the data sets; cross-validation joined over its numbers of folds."""
    fig, axes = figure(1, 1, 7.4, 4.2)
    ax = axes.flat[0]
    values = tidy.pivot(index="method", columns="metric", values="value")
    spreads = tidy.pivot(index="method", columns="metric", values="spread")
    sets = values.at["all", "datasets"]
    shown = tidy.loc[tidy["metric"] == "fits", "method"]
    folds = [method for method in shown if method.startswith("kfold_")]
    ax.plot(*values.loc[folds, ["fits", "regret"]].to_numpy().T, color=GREEN, linestyle=":", zorder=1)
    labels = {}
    for method in sorted(shown, key=lambda method: values.at[method, "regret"]):
        x, y = values.loc[method, ["fits", "regret"]]
        # of a logarithm to its bars, and of the mean
        ratio = np.exp(spreads.at[method, "fits"] / sets**0.5)
        bars = {"xerr": [[x - x / ratio], [x * ratio - x]], "yerr": spreads.at[method, "regret"] / sets**0.5}
        color, marker, size = MARKS.get(method, KFOLD)
        mark = {"color": color, "marker": marker, "markersize": size}
        ax.errorbar(x, y, **bars, **mark, elinewidth=0.8)
        label = estimator_name(method)
        if method in folds:
            k = method.removeprefix("kfold_")
            ax.annotate(k, (x, y), (5, 5), textcoords="offset points", color=color)
            label = "k-fold CV, k beside"
        labels[label] = Line2D([], [], **mark, linestyle="none")
    dashed = {"color": GREY, "linestyle": "--", "linewidth": 1}
    ax.axhline(values.at[RANDOM, "regret"], **dashed)
    labels[estimator_name(RANDOM)] = Line2D([], [], **dashed)
    ax.set_xscale("log")
    # a regret may be 0
    ax.set_yscale("symlog", linthresh=1, linscale=0.5)
    ax.set_ylim(0, None)
    ax.set_yticks(TICKS, TICKS)
    ax.set_xlabel("CPU time of one model (fits on all points)")
    ax.set_ylabel("Regret of the model chosen (percentage points)")
    fig.legend(labels.values(), labels.keys(), loc="outside right upper")
    return fig
