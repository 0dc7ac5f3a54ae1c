"""The figure from tidy rows."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D

from lib.comparison.exhibits import FIT, RANDOM
from lib.comparison.layout import estimator_name
from lib.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, figure

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
KFOLD = (GREEN, "o", 6)


def plot_tradeoff(tidy):
    """Mean regret against the CPU time of a model in fits, both logarithmic, bars of one standard error over
    the data sets; cross-validation joined over its numbers of folds."""
    fig, axes = figure(1, 1, 7.4, 4.2)
    ax = axes.flat[0]
    values = tidy.pivot(index="method", columns="metric", values="value")
    spreads = tidy.pivot(index="method", columns="metric", values="spread")
    sets = values.at["all", "datasets"]
    shown = [method for method in tidy["method"].unique() if method in values.index]
    shown = [method for method in shown if method not in (FIT, RANDOM) and values.at[method, "fits"] > 0]
    folds = [method for method in shown if method.startswith("kfold_")]
    ax.plot(*values.loc[folds, ["fits", "regret"]].to_numpy().T, color=GREEN, linestyle=":", zorder=1)
    handles = []
    for method in sorted(shown, key=lambda method: values.at[method, "regret"]):
        color, marker, size = MARKS.get(method, KFOLD)
        x, y = values.loc[method, ["fits", "regret"]]
        x_error = x * (np.exp(spreads.at[method, "fits"] / np.sqrt(sets) * np.array([[-1], [1]])) - 1)
        bars = {"xerr": np.abs(x_error), "yerr": spreads.at[method, "regret"] / np.sqrt(sets)}
        ax.errorbar(x, y, **bars, color=color, marker=marker, markersize=size, elinewidth=0.8, capsize=0)
        if method in folds:
            k = method.removeprefix("kfold_")
            ax.annotate(k, (x, y), (5, 5), textcoords="offset points", color=GREEN)
        mark = {"color": color, "marker": marker, "markersize": size, "linestyle": "none"}
        handles.append(Line2D([], [], **mark, label=estimator_name(method)))
    random = values.at[RANDOM, "regret"]
    ax.axhline(random, color=GREY, linestyle="--", linewidth=1)
    handles.append(Line2D([], [], color=GREY, linestyle="--", linewidth=1, label=estimator_name(RANDOM)))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("CPU time of one model (fits on all points)")
    ax.set_ylabel("Regret of the model chosen (percentage points)")
    fig.legend(handles=handles, loc="outside right upper")
    return fig
