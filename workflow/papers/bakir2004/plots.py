"""Figures from tidy rows."""

import numpy as np

from lib.figures import BLUE, GREEN, GREY, PAPER_AXIS, VERMILLION, across, curve, figure, legend
from papers.bakir2004.layout import METHOD_NAMES

STYLES = {
    "svm": {"color": BLUE, "linestyle": "-", "marker": "s", "markerfacecolor": "none"},
    "nu_svm": {"color": BLUE, "linestyle": "-.", "marker": "D", "markerfacecolor": "none"},
    "cross_training": {"color": VERMILLION, "linestyle": "-", "marker": "o"},
    "bagging": {"color": GREY, "linestyle": "--", "marker": "x"},
    "multiedit_condense": {"color": GREEN, "linestyle": ":", "marker": "^"},
}
KINDS = {
    "svs_bounded": (r"$\alpha = C$", {"color": BLUE, "linestyle": "-", "marker": "s"}),
    "svs_inbound": (r"$0 < \alpha < C$", {"color": VERMILLION, "linestyle": "--", "marker": "o"}),
}
SIZE = 3.5


def plot_figure1(tidy):
    """Draw bounded and in-bound support vectors against the overlap, on a logarithmic axis."""
    fig, ((ax,),) = figure(1, 1, 4.6, 3.2)
    ax.set_yscale("log")
    for metric, (label, style) in KINDS.items():
        _bars(ax, tidy[(tidy["metric"] == metric) & (tidy["value"] > 0)], {**style, "label": label})
    ax.set(ylim=(1, None), xlabel="Width of the common strip", ylabel="Support vectors")
    ax.legend()
    return fig


def plot_figure3(tidy, published):
    """Draw support vectors, test error and training time against the size, with one row of panels per
    deviation. Grey: the end of the paper's axis, whose deviation is in doubt."""
    datasets = list(dict.fromkeys(tidy["dataset"]))
    panels = {"svs": "Support vectors", "error": "Test error (%)", "time": "CPU time of training (s)"}
    fig, axes = figure(len(datasets), 3, 7.4, 2.4 * len(datasets) + 0.3)
    ends = 0
    for row, dataset in zip(axes, datasets, strict=True):
        dataset_rows = tidy[tidy["dataset"] == dataset]
        for ax, metric, _ in _panels(row, dataset_rows, panels, "Training points", logarithmic=("time",)):
            ends += _axis_end(ax, published, "figure3", metric)
            if metric == "svs":
                ax.set_ylim(0, None)
        row[0].set_title(f"standard deviation {dataset.split()[-1]}", loc="left")
    return _with_legend(fig, tidy, ends)


def plot_figure4(tidy, published):
    """Draw support vectors, test error and test error on clean labels against the label noise. Grey: the end
    of the paper's axis."""
    panels = {
        "svs": "Support vectors",
        "error": "Test error, noisy labels (%)",
        "clean_error": "Test error, clean labels (%)",
    }
    fig, axes = figure(1, 3, 7.4, 2.9)
    ends = 0
    for ax, metric, _ in _panels(axes.flat, tidy, panels, "Labels swapped (%)"):
        ends += _axis_end(ax, published, "figure4", metric)
        ax.set_ylim(0, None)
    return _with_legend(fig, tidy, ends)


def _axis_end(ax, published, exhibit, metric):
    """Draw a grey line where the paper's axis ends, and return the number of lines."""
    ends = published[(published["exhibit"] == exhibit) & (published["metric"] == metric)]
    return across(ax, ends["value"].unique(), PAPER_AXIS)


def plot_growth(tidy):
    """Draw CPU time, memory, support vectors and test error against the size, on logarithmic axes."""
    panels = {
        "time": "CPU time of training (s)",
        "memory": "Memory of training (MB)",
        "svs": "Support vectors",
        "error": "Test error (%)",
    }
    fig, axes = figure(2, 2, 6.6, 5)
    logarithmic = ("time", "memory", "svs")
    for ax, _, panel in _panels(axes.flat, tidy, panels, "Training points", logarithmic):
        ax.set_xscale("log")
        sizes = sorted(set(panel["setting"].astype(float)))
        ax.set_xticks(sizes, [f"{size:,.0f}" for size in sizes], fontsize=7)
        ax.set_xticks([], minor=True)
    return _with_legend(fig, tidy)


def _panels(axes, tidy, panels, xlabel, logarithmic=()):
    """Draw one panel for each metric (`panels` has their labels), with a curve for each method.

    The axes of some metrics are logarithmic, without 0. Yields axes, metric and rows, for what is the
    figure's own.
    """
    for ax, (metric, label) in zip(axes, panels.items(), strict=True):
        panel = tidy[tidy["metric"] == metric]
        if metric in logarithmic:
            ax.set_yscale("log")
            panel = panel[panel["value"] > 0]
        for method, style in STYLES.items():
            method_rows = panel[panel["method"] == method]
            if len(method_rows):
                _bars(ax, method_rows, style)
        ax.set(ylabel=label, xlabel=xlabel)
        yield ax, metric, panel


def _bars(ax, rows, style):
    """Draw a curve with its standard deviations. On a logarithmic axis they are factors, 1 + deviation /
    mean, so that both halves have one length and none reaches 0."""
    x, y, spread = curve(rows)
    spread = np.nan_to_num(spread)
    if ax.get_yscale() == "log":
        spread = [y - y / (1 + spread / y), spread]
    ax.errorbar(x, y, spread, elinewidth=0.6, markersize=SIZE, **style)


def _with_legend(fig, tidy, ends=False):
    methods = [method for method in STYLES if method in set(tidy["method"])]
    curves = [(METHOD_NAMES[method], {"markersize": SIZE, **STYLES[method]}) for method in methods]
    curves += [("end of the paper's axis", PAPER_AXIS)] if ends else []
    legend(fig, curves, len(curves) if len(curves) < 5 else 3)
    return fig
