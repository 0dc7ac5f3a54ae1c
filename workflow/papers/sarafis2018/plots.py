"""Figures from tidy rows."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D

from lib.figures import BLUE, GREEN, GREY, VERMILLION, figure

__all__ = ["plot_curves", "plot_figure2", "plot_figure3", "plot_figure4", "plot_figure5", "plot_figure6"]

CURVES = {
    "test": ("test error", {"color": BLUE, "linestyle": "-", "linewidth": 2}),
    "span_rule": ("span rule", {"color": VERMILLION, "linestyle": "--"}),
    "kfold": ("5-fold CV", {"color": GREEN, "linestyle": "-."}),
    "xi_alpha": (r"$\xi$-$\alpha$ bound", {"color": GREY, "linestyle": (0, (3, 1, 1, 1, 1, 1))}),
    "loo": ("exact leave-one-out", {"color": "black", "linestyle": ":"}),
}
# of the least value; squares that coincide lie in each other
MARKS = {
    "test": {"marker": "*", "markersize": 12},
    "span_rule": {"marker": "s", "markersize": 9},
    "loo": {"marker": "s", "markersize": 5},
}
LABELS = {
    "class_weights": (r"$\log_2 C^+$", r"$\log_2 C^-$"),
    "instance_weights": ("$A$", "$B$", r"$\log_2 C$"),
}
TIMES = {
    "span_rule": ("fit + span rule, on demand", {"color": VERMILLION, "linestyle": "--", "marker": "s"}),
    "kfold": ("LIBSVM 5-fold CV", {"color": GREEN, "linestyle": "-.", "marker": "^"}),
    "span_rule_shared": (
        "fit + span rule, shared Gram matrix",
        {"color": VERMILLION, "linestyle": "-", "marker": "s", "markerfacecolor": "none"},
    ),
    "kfold_shared": (
        "5-fold CV, shared Gram matrix",
        {"color": GREEN, "linestyle": "-", "marker": "^", "markerfacecolor": "none"},
    ),
    "loo_shared": ("fit + exact leave-one-out, shared", {"color": "black", "linestyle": ":", "marker": "x"}),
}
COUNTS = {
    "in_bound_svs": ("in-bound SVs", {"color": BLUE, "linestyle": "-", "marker": "o"}),
    "svs": ("all SVs", {"color": VERMILLION, "linestyle": "--", "marker": "s"}),
}


def plot_figure2(tidy, figures):
    """Figure 2; `figures` has the experiment and the data set of each."""
    return plot_curves(tidy, figures["figure2"][0])


def plot_figure3(tidy, figures):
    """Figure 3."""
    return plot_curves(tidy, figures["figure3"][0])


def plot_figure4(tidy, figures):
    """Figure 4."""
    return plot_curves(tidy, figures["figure4"][0])


def plot_curves(tidy, experiment):
    """Estimates and test error against each parameter, one panel each; the least of an estimate has a square,
    that of the test error a star."""
    labels = LABELS[experiment]
    fig, axes = figure(1, len(labels), 3.4 * len(labels), 3.2, sharey=True)
    for letter, label, ax in zip("abc", labels, axes.flat, strict=False):
        panel = tidy[tidy["exhibit"].str.endswith(letter)]
        for method, (_, style) in CURVES.items():
            x, y = _line(panel, method)
            if not len(x):
                continue
            # of exact leave-one-out, there may be few models
            ax.plot(x, y, marker="." if len(x) < 10 else None, **style)
            least = np.argmin(y)
            mark = MARKS.get(method, {"marker": "s", "markersize": 7})
            ax.plot(
                x[least],
                y[least],
                **mark,
                color=style["color"],
                markerfacecolor="none",
                markeredgewidth=1.2,
                clip_on=False,
            )
        ax.set_xlabel(label)
        ax.set_title(f"({letter}) {tidy['dataset'].iloc[0]}")
    axes.flat[0].set_ylabel("Share of errors")
    # one axis for all panels, from 0 to the largest value of any
    axes.flat[0].set_ylim(0, None)
    _legend(fig, CURVES, len(CURVES) if len(labels) > 2 else 3)
    return fig


def plot_figure5(tidy):
    """CPU time of a model against the number of training rows, one panel per data set, logarithmic axes."""
    return _sizes(tidy, "time", "method", TIMES, "CPU time of one model (s)", 2)


def plot_figure6(tidy):
    """Numbers of support vectors against the number of training rows, one panel per data set."""
    return _sizes(tidy, None, "metric", COUNTS, "Mean number of a model", 2)


def _sizes(tidy, metric, key, curves, label, legend_columns):
    rows = tidy if metric is None else tidy[tidy["metric"] == metric]
    datasets = list(dict.fromkeys(rows["dataset"]))
    fig, axes = figure(1, len(datasets), max(5, 3 * len(datasets)), 3.4, sharey=True)
    for dataset, ax in zip(datasets, axes.flat, strict=True):
        panel = rows[rows["dataset"] == dataset]
        for name, (_, style) in curves.items():
            x, y = _line(panel, name, key)
            ax.plot(x, y, markersize=4, **style)
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_title(dataset)
        ax.set_xlabel("Training rows")
        ax.xaxis.get_major_locator().set_params(numticks=20)
    axes.flat[0].set_ylabel(label)
    _legend(fig, curves, legend_columns)
    return fig


def _line(panel, name, key="method"):
    own = panel[panel[key] == name]
    x, y = own["setting"].astype(float).to_numpy(), own["value"].to_numpy()
    order = np.argsort(x)
    x, y = x[order], y[order]
    return x[~np.isnan(y)], y[~np.isnan(y)]


def _legend(fig, curves, columns):
    handles = [Line2D([], [], **style, label=label) for label, style in curves.values()]
    fig.legend(handles=handles, loc="outside upper center", ncols=columns)
