"""Figures from tidy rows."""

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from lib.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, figure, legend
from papers.wen2017.claims import wide
from papers.wen2017.exhibits import COLD, LIBSVM, PATH, UNLEARN
from papers.wen2017.layout import NAMES
from papers.wen2017.problem import CHOSEN, PUBLISHED

STYLES = {
    LIBSVM: {"color": GREY, "marker": "X"},
    COLD: {"color": "black", "marker": "o"},
    "ato": {"color": PURPLE, "marker": "v"},
    "mir": {"color": GREEN, "marker": "^"},
    "sir": {"color": VERMILLION, "marker": "s"},
    "avg": {"color": SKY, "marker": "P"},
    "top": {"color": BLUE, "marker": "D"},
    UNLEARN: {"color": "black", "marker": "<"},
    PATH: {"color": ORANGE, "marker": "*"},
}
LABELS = {**NAMES, PATH: "solution at the C before"}
# what is measured -> label of its axis
COSTS = {
    "iterations": "Iterations / cold",
    "time": "CPU time / cold",
    "kernel_values": "Kernel values / cold",
}
STEP = 1.0  # between the marks of one data set


def plot_figure2(tidy):
    """CPU time of leave-one-out, one line per data set; marks of extrapolated times are open."""
    time, rounds, points = (wide(tidy, "figure2", name) for name in ("time_total", "rounds", "points"))
    fig, ((ax,),) = figure(1, 1, 6.4, 0.75 * len(time) + 1.4)
    methods = [method for method in STYLES if method in time and time[method].notna().any()]
    for place, key in enumerate(time.index):
        ax.axhline(place, color=GREY, linewidth=0.4, zorder=0)
        for i, method in enumerate(methods):
            whole = rounds[method][key] == points[method][key]
            y = place + 0.6 * ((i + 0.5) / len(methods) - 0.5)
            face = {} if whole else {"markerfacecolor": "white"}
            ax.plot(time[method][key], y, linestyle="none", **STYLES[method], **face)
    ax.set_xscale("log")
    if time.max(axis=None) < 100 * time.min(axis=None):
        plain_numbers(ax.xaxis)
    ax.set_yticks(range(len(time)), [dataset for dataset, _ in time.index])
    ax.set_ylim(len(time) - 0.5, -0.5)
    ax.set_xlabel("CPU time of all rounds (s); open: extrapolated")
    legend_of(fig, methods, 4, "none")
    return fig


def plot_seeds(tidy):
    """Cost of each seed over that of the cold start: iterations, CPU time and kernel values (rows of panels),
    for every data set and k with published and chosen settings, and along C (columns)."""
    columns = [PUBLISHED, CHOSEN, "along_C"]
    fig, axes = figure(
        len(COSTS), len(columns), 10.5, 7.6, sharey="row", gridspec_kw={"width_ratios": [1.4, 1.4, 1]}
    )
    used = {}
    for panels, (metric, label) in zip(axes, COSTS.items(), strict=True):
        for ax, exhibit in zip(panels, columns, strict=True):
            ratios = wide(tidy, exhibit, metric)
            ratios = ratios.div(ratios[COLD], axis="index") if len(ratios) else ratios
            draw = draw_along_C if exhibit == "along_C" else draw_over_k
            for method in draw(ax, ratios):
                used[method] = None
            ax.axhline(1, color="black", linewidth=0.8, zorder=0)
            # a solution at the C before may be one at the next: 0 iterations
            ax.set_yscale("log", nonpositive="mask")
            plain_numbers(ax.yaxis)
            if ax.get_subplotspec().is_first_col():
                ax.set_ylabel(label)
    for ax, exhibit in zip(axes[0], columns, strict=True):
        ax.set_title({PUBLISHED: "published settings", CHOSEN: "chosen settings"}.get(exhibit, "along C"))
    legend_of(fig, [method for method in STYLES if method in used], 7, "-")
    return fig


def draw_over_k(ax, ratios):
    """Lines over k, one group per data set; returns the methods drawn."""
    drawn, ticks, names, start = [], [], [], 0.0
    for dataset, own in ratios.groupby(level="dataset", sort=False):
        x = start + STEP * np.arange(len(own))
        for method in STYLES:
            if method != COLD and method in own and own[method].notna().any():
                ax.plot(x, own[method], linewidth=1, markersize=4, **STYLES[method])
                drawn.append(method)
        ticks += list(x)
        names += [setting.removeprefix("k=") for _, setting in own.index]
        below = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "top", "fontsize": 8}
        ax.annotate(dataset.removesuffix("-statlog"), (x.mean(), -0.14), **below)
        start = x[-1] + 2 * STEP
    ax.set_xticks(ticks, names, fontsize=6.5)
    return drawn


def draw_along_C(ax, ratios):
    """Medians over the data sets against C, thin lines for each; returns the methods drawn."""
    drawn = []
    for method in STYLES:
        if method == COLD or method not in ratios or not ratios[method].notna().any():
            continue
        curves = ratios[method].unstack("dataset")
        curves.index = curves.index.astype(float)
        curves = curves.sort_index()
        for dataset in curves:
            ax.plot(curves.index, curves[dataset], linewidth=0.5, alpha=0.5, color=STYLES[method]["color"])
        ax.plot(curves.index, curves.median(axis=1), markersize=4, **STYLES[method])
        drawn.append(method)
    ax.set_xscale("log")
    plain_numbers(ax.xaxis, (1,))
    ax.set_xlabel("C")
    return drawn


def plain_numbers(axis, subs=(1, 2, 5)):
    """Label a logarithmic axis with plain numbers, at some multiples of the powers of 10."""
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def legend_of(fig, methods, columns, linestyle):
    legend(fig, [(LABELS[m], {"linestyle": linestyle, **STYLES[m]}) for m in methods], columns)
