"""Panels with a curve for each method."""

import numpy as np

from lib.figures import BLUE, GREEN, GREY, PAPER_AXIS, VERMILLION, across, curve, legend

METHOD_NAMES = {
    "svm": "SVM",
    "svm_large_C": "SVM, C ≥ 0.01",
    "nu_svm": "nu-SVM",
    "cross_training": "Cross-training",
    "bagging": "Bagging",
    "multiedit_condense": "MULTIEDIT + CONDENSE",
}
STYLES = {
    "svm": {"color": BLUE, "linestyle": "-", "marker": "s", "markerfacecolor": "none"},
    "svm_large_C": {"color": BLUE, "linestyle": "none", "marker": "*", "markersize": 9},
    "nu_svm": {"color": BLUE, "linestyle": "-.", "marker": "D", "markerfacecolor": "none"},
    "cross_training": {"color": VERMILLION, "linestyle": "-", "marker": "o"},
    "bagging": {"color": GREY, "linestyle": "--", "marker": "x"},
    "multiedit_condense": {"color": GREEN, "linestyle": ":", "marker": "^"},
}
SIZE = 3.5


def draw_metrics(axes, tidy, labels, xlabel, logarithmic=()):
    """Draw one panel for each metric (`labels` has their labels), with a curve for each method.

    The axes of some metrics are logarithmic, without 0. Yields axes, metric and rows, for what is the
    figure's own.
    """
    for ax, (metric, label) in zip(axes, labels.items(), strict=True):
        panel = tidy[tidy["metric"] == metric]
        if metric in logarithmic:
            ax.set_yscale("log")
            panel = panel[panel["value"] > 0]
        for method, style in STYLES.items():
            method_rows = panel[panel["method"] == method]
            if len(method_rows):
                draw_bars(ax, method_rows, style)
        ax.set(ylabel=label, xlabel=xlabel)
        yield ax, metric, panel


def draw_bars(ax, rows, style):
    """Draw a curve with its standard deviations. On a logarithmic axis they are factors, 1 + deviation /
    mean, so that both halves have one length and none reaches 0."""
    x, y, spread = curve(rows)
    spread = np.nan_to_num(spread)
    if ax.get_yscale() == "log":
        spread = [y - y / (1 + spread / y), spread]
    ax.errorbar(x, y, spread, elinewidth=0.6, **{"markersize": SIZE, **style})


def draw_axis_end(ax, published, exhibit, metric, values):
    """Draw a grey line where the paper's axis ends, and return these ends; none where all `values` of the
    panel are below a tenth of it, since the panel would show nothing else."""
    printed = published[(published["exhibit"] == exhibit) & (published["metric"] == metric)]
    ends = [end for end in printed["value"].unique() if values.max() >= end / 10]
    across(ax, ends, PAPER_AXIS)
    return ends


def add_legend(fig, tidy, ends=False, names=METHOD_NAMES):
    """Add the legend of the methods, and of the ends of the paper's axes if there are any."""
    methods = [method for method in STYLES if method in set(tidy["method"])]
    curves = [(names[method], {"markersize": SIZE, **STYLES[method]}) for method in methods]
    curves += [("end of the paper's axis", PAPER_AXIS)] if ends else []
    legend(fig, curves, len(curves) if len(curves) < 5 else 3)
