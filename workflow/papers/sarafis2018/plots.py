"""Figures from tidy rows."""

from functools import partial

import numpy as np

from lib.figures import (
    BLUE,
    GREEN,
    GREY,
    PAPER_AXIS,
    PAPER_VALUE,
    VERMILLION,
    across,
    curve,
    figure,
    legend,
)
from lib.shown import dataset_in_words

CURVES = {
    "test": ("test error", {"color": BLUE, "linestyle": "-", "linewidth": 2}),
    "span_rule": ("span rule", {"color": VERMILLION, "linestyle": "--"}),
    "kfold": ("5-fold CV", {"color": GREEN, "linestyle": "-."}),
    "xi_alpha": (r"$\xi$-$\alpha$ bound", {"color": GREY, "linestyle": (0, (3, 1, 1, 1, 1, 1))}),
    "loo": ("exact leave-one-out", {"color": "black", "linestyle": ":"}),
}
# Marks of the least value; squares that coincide lie in each other.
MARKS = {
    "test": {"marker": "*", "markersize": 12},
    "span_rule": {"marker": "s", "markersize": 9},
    "loo": {"marker": "s", "markersize": 5},
}
HOLLOW = {"markerfacecolor": "none", "markeredgewidth": 1.2}
LABELS = {
    "class_weights": (r"$\log_2 C^+$", r"$\log_2 C^-$"),
    "instance_weights": ("$A$", "$B$", r"$\log_2 C$"),
}
OPEN = {"linestyle": "-", "markerfacecolor": "none"}
# in the order of a legend of two columns, which is filled column by column
TIMES = {
    "span_rule_shared": ("fit + span rule, shared Gram matrix", {"color": VERMILLION, "marker": "s", **OPEN}),
    "kfold_shared": ("5-fold CV, shared Gram matrix", {"color": GREEN, "marker": "^", **OPEN}),
    "loo_shared": ("fit + exact leave-one-out, shared", {"color": "black", "linestyle": ":", "marker": "x"}),
    "span_rule": ("fit + span rule, on demand", {"color": VERMILLION, "linestyle": "--", "marker": "s"}),
    "kfold": ("LIBSVM 5-fold CV", {"color": GREEN, "linestyle": "-.", "marker": "^"}),
}
COUNTS = {
    "in_bound_svs": ("in-bound SVs", {"color": BLUE, "linestyle": "-", "marker": "o"}),
    "svs": ("all SVs", {"color": VERMILLION, "linestyle": "--", "marker": "s"}),
}


def plot_curves(name, tidy, figures, published):
    """Draw estimates and test error against each parameter, one panel each, and below the distance of each
    estimate from the test error. The least value of an estimate has a square, that of the test error a star.
    Grey: the least test error that the paper prints in Table 2 or 3, at which its star is."""
    labels = LABELS[figures[name][0]]
    dataset = tidy["dataset"].iloc[0]
    printed = published[published["exhibit"].isin(("table2", "table3")) & (published["dataset"] == dataset)]
    printed = printed.loc[printed["method"] == "best_on_test", "value"]
    fig, axes = figure(2, len(labels), 3.2 * len(labels), 5.2, sharex="col", sharey="row")
    for letter, label, (ax, below) in zip("abc", labels, axes.T, strict=False):
        panel = tidy[tidy["exhibit"].str.endswith(letter)].dropna(subset="value")
        test = panel[panel["method"] == "test"].set_index("setting")["value"]
        for method, (_, style) in CURVES.items():
            method_rows = panel[panel["method"] == method]
            x, y, _ = curve(method_rows)
            if not len(x):
                continue
            # exact leave-one-out may have few models
            marker = "." if len(x) < 10 else None
            ax.plot(x, y, marker=marker, **style)
            mark = {**MARKS.get(method, {"marker": "s", "markersize": 7}), **HOLLOW}
            ax.plot(x[np.argmin(y)], y.min(), **mark, clip_on=False, color=style["color"])
            # the bound is so far off that it would hide how near the others are
            if method != "xi_alpha":
                x, apart, _ = curve(
                    method_rows.assign(value=method_rows["value"] - method_rows["setting"].map(test))
                )
                below.plot(x, apart, marker=marker, **style)
        across(ax, printed, PAPER_VALUE)
        ax.set_title(f"({letter})", loc="left")
        below.set_xlabel(label)
    # one axis for all panels, from 0 to the largest value of any
    axes[0, 0].set(ylabel="Share of errors", ylim=(0, None))
    axes[1, 0].set_ylabel("Estimate less test error")
    fig.suptitle(dataset_in_words(dataset), fontsize=10)
    marks = [
        ("least test error", {"color": BLUE, "linestyle": "", **MARKS["test"], **HOLLOW}),
        ("least estimate", {"color": GREY, "linestyle": "", "marker": "s", **HOLLOW}),
    ]
    if len(printed):
        marks.append(("least test error, paper", PAPER_VALUE))
    legend(fig, [*CURVES.values(), *marks], 4, "outside lower center")
    return fig


plot_figure2, plot_figure3, plot_figure4 = (
    partial(plot_curves, name) for name in ("figure2", "figure3", "figure4")
)


def plot_figure5(tidy, from_log2_m):
    """Draw the CPU time of a model against the number of training rows, one panel per data set, on
    logarithmic axes. Grey: the size from which on the paper finds the span rule faster than
    cross-validation."""
    fig = _sizes(
        tidy[tidy["metric"] == "time"],
        "method",
        TIMES,
        "CPU time of one model (s)",
        [("span rule faster from here on, paper", PAPER_AXIS)],
    )
    for ax in fig.axes:
        ax.axvline(2**from_log2_m, zorder=0, **PAPER_AXIS)
    return fig


def plot_figure6(tidy):
    """Draw numbers of support vectors against the number of training rows, one panel per data set."""
    return _sizes(tidy, "metric", COUNTS, "Mean number of support vectors")


def _sizes(tidy, key, curves, label, other_curves=()):
    datasets = list(dict.fromkeys(tidy["dataset"]))
    fig, axes = figure(1, len(datasets), max(5, 3 * len(datasets)), 3.4, sharey=True)
    for dataset, ax in zip(datasets, axes.flat, strict=True):
        panel = tidy[tidy["dataset"] == dataset].dropna(subset="value")
        for name, (_, style) in curves.items():
            x, y, _ = curve(panel[panel[key] == name])
            ax.plot(x, y, markersize=4, **style)
        ax.set_xscale("log", base=2)
        ax.set(yscale="log", title=dataset_in_words(dataset), xlabel="Training rows")
        ax.xaxis.get_major_locator().set_params(numticks=20)
    axes.flat[0].set_ylabel(label)
    legend(fig, [*curves.values(), *other_curves], 2)
    return fig
