"""Figures from tidy rows."""

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
    """Cost of each seed over that of the cold start, in columns of panels: iterations, CPU time and kernel
    values. A line for every data set and k with published and with chosen settings; below, against C."""
    titles = {PUBLISHED: "published settings", CHOSEN: "chosen settings"}
    blocks = {exhibit: wide(tidy, exhibit, "time").index for exhibit in titles}
    heights = [max(len(lines), 1) + 1 for lines in blocks.values()]
    fig, axes = figure(
        3, len(COSTS), 7.4, 0.17 * sum(heights) + 3.2, sharey="row", height_ratios=[*heights, 12]
    )
    used = {}
    for column, (metric, label) in zip(axes.T, COSTS.items(), strict=True):
        for ax, (exhibit, lines) in zip(column, blocks.items(), strict=False):
            used |= dict.fromkeys(draw_lines(ax, over_cold(tidy, exhibit, metric).reindex(lines)))
        used |= dict.fromkeys(draw_along_C(column[-1], over_cold(tidy, "along_C", metric)))
        column[-2].set_xlabel(label)
    for (ax, *_), title in zip(axes, titles.values(), strict=False):
        ax.set_title(title, loc="left", fontsize=9, fontweight="bold", x=-0.35)
    axes[-1, 0].set_ylabel("Cost / cold, along C")
    legend_of(fig, [method for method in STYLES if method in used], 4, "-")
    return fig


def over_cold(tidy, exhibit, metric):
    """Costs of methods, one column each, over that of the cold start."""
    costs = wide(tidy, exhibit, metric)
    return costs.div(costs[COLD], axis="index") if len(costs) else costs


def draw_lines(ax, ratios):
    """Marks on a line per data set and k; returns the methods drawn."""
    drawn, names = [], []
    for place, (dataset, setting) in enumerate(ratios.index):
        first = place == 0 or ratios.index[place - 1][0] != dataset
        names.append(f"{dataset.removesuffix('-statlog')}   {setting}" if first else setting)
        ax.axhline(place, color=GREY, linewidth=0.6 if first else 0.3, alpha=0.5, zorder=0)
    for method, style in STYLES.items():
        if method != COLD and method in ratios and ratios[method].notna().any():
            ax.plot(ratios[method], range(len(ratios)), linestyle="none", markersize=4, **style)
            drawn.append(method)
    ax.axvline(1, color="black", linewidth=0.8, zorder=0)
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xscale("log")
    plain_numbers(ax.xaxis, (1, 3))
    ax.tick_params(axis="x", labelsize=7)
    return drawn


def draw_along_C(ax, ratios):
    """Medians over the data sets against C, with bars from the least to the most; returns the methods
    drawn."""
    drawn = []
    for method in STYLES:
        if method == COLD or method not in ratios or not ratios[method].notna().any():
            continue
        curves = ratios[method].unstack("dataset")
        curves.index = curves.index.astype(float)
        curves = curves.sort_index()
        # a solution at the C before may be one at the next: 0 iterations, which a logarithmic axis has not
        curves = curves.where(curves > 0)
        # bars beside each other
        at = curves.index * 1.07 ** (len(drawn) - 2)
        median = curves.median(axis=1)
        ends = [median - curves.min(axis=1), curves.max(axis=1) - median]
        ax.errorbar(at, median, ends, elinewidth=0.5, linewidth=1, markersize=3.5, **STYLES[method])
        drawn.append(method)
    ax.axhline(1, color="black", linewidth=0.8, zorder=0)
    ax.set(xscale="log", yscale="log", xlabel="C")
    plain_numbers(ax.xaxis, (1,))
    plain_numbers(ax.yaxis)
    return drawn


def plain_numbers(axis, subs=(1, 2, 5)):
    """Label a logarithmic axis with plain numbers, at some multiples of the powers of 10."""
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def legend_of(fig, methods, columns, linestyle):
    legend(fig, [(LABELS[m], {"linestyle": linestyle, **STYLES[m]}) for m in methods], columns)
