"""Figures from tidy rows."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D

from lib.figures import BLUE, GREEN, GREY, VERMILLION, figure
from papers.bakir2004.layout import METHOD_NAMES

__all__ = ["plot_figure1", "plot_figure3", "plot_figure4", "plot_growth"]

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
    """Bounded and in-bound support vectors against the overlap, on a logarithmic axis."""
    fig, axes = figure(1, 1, 4.6, 3.2)
    ax = axes.flat[0]
    for metric, (label, style) in KINDS.items():
        x, y, spread = _curve(tidy[tidy["metric"] == metric])
        shown = y > 0
        ax.errorbar(x[shown], y[shown], spread[shown], elinewidth=0.6, markersize=SIZE, label=label, **style)
    ax.set_yscale("log")
    ax.set_ylim(1, None)
    ax.set_xlabel("Width of the common strip")
    ax.set_ylabel("Support vectors")
    ax.legend()
    return fig


def plot_figure3(tidy):
    """Support vectors, test error and training time against the size; one row of panels per deviation."""
    datasets = list(dict.fromkeys(tidy["dataset"]))
    panels = {"svs": "Support vectors", "error": "Test error (%)", "time": "CPU time of training (s)"}
    fig, axes = figure(len(datasets), 3, 7.4, 2.4 * len(datasets) + 0.3)
    for row, dataset in zip(axes, datasets, strict=True):
        for ax, (metric, label) in zip(row, panels.items(), strict=True):
            _panel(ax, tidy[(tidy["dataset"] == dataset) & (tidy["metric"] == metric)])
            ax.set_ylabel(label)
            ax.set_xlabel("Training points")
            if metric == "svs":
                ax.set_ylim(0, None)
            elif metric == "time":
                ax.set_yscale("log")
        row[0].set_title(f"standard deviation {dataset.split()[-1]}", loc="left")
    _legend(fig, tidy)
    return fig


def plot_figure4(tidy):
    """Support vectors, test error and test error on clean labels against the label noise."""
    panels = {
        "svs": "Support vectors",
        "error": "Test error, noisy labels (%)",
        "clean_error": "Test error, clean labels (%)",
    }
    fig, axes = figure(1, 3, 7.4, 2.9)
    for ax, (metric, label) in zip(axes.flat, panels.items(), strict=True):
        _panel(ax, tidy[tidy["metric"] == metric])
        ax.set_ylabel(label)
        ax.set_xlabel("Labels swapped (%)")
        ax.set_ylim(0, None)
    _legend(fig, tidy)
    return fig


def plot_growth(tidy):
    """CPU time, memory, support vectors and test error against the size, on logarithmic axes."""
    panels = {
        "time": "CPU time of training (s)",
        "memory": "Memory of training (MB)",
        "svs": "Support vectors",
        "error": "Test error (%)",
    }
    fig, axes = figure(2, 2, 6.6, 5)
    for ax, (metric, label) in zip(axes.flat, panels.items(), strict=True):
        panel = tidy[tidy["metric"] == metric]
        _panel(ax, panel[panel["value"] > 0])
        ax.set_xscale("log")
        sizes = sorted(set(panel["setting"].astype(float)))
        ax.set_xticks(sizes, [f"{size:,.0f}" for size in sizes], fontsize=7)
        ax.set_xticks([], minor=True)
        if metric != "error":
            ax.set_yscale("log")
        ax.set_ylabel(label)
        ax.set_xlabel("Training points")
    _legend(fig, tidy)
    return fig


def _panel(ax, panel):
    for method, style in STYLES.items():
        x, y, spread = _curve(panel[panel["method"] == method])
        if x.size:
            ax.errorbar(x, y, spread, elinewidth=0.6, markersize=SIZE, **style)


def _curve(rows):
    x = rows["setting"].astype(float).to_numpy()
    order = np.argsort(x)
    spread = rows["spread"].fillna(0).to_numpy()
    return x[order], rows["value"].to_numpy()[order], spread[order]


def _legend(fig, tidy):
    found = [method for method in STYLES if method in set(tidy["method"])]
    handles = [
        Line2D([], [], markersize=SIZE, label=METHOD_NAMES[method], **STYLES[method]) for method in found
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=min(len(found), 5))
