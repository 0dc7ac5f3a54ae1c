"""Figures from tidy rows."""

from lib.figures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILLION,
    figure,
    legend,
    plain_numbers,
)
from lib.shown import dataset_in_words
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


# what the paper prints, in the shape of the method
PAPER = {"color": PALE, "markerfacecolor": "none", "markersize": 8, "zorder": 1}
# The only time of leave-one-out that the paper's text prints: LIBSVM's over that of a seed.
LOO_PRINTED = {"webdata": ("sir", 167)}


def plot_figure2(tidy):
    """Draw the CPU time of leave-one-out, one line per data set; marks of extrapolated times are open. Grey:
    the time of a seed by our LIBSVM's time and the paper's ratio."""
    time, rounds, points = (wide(tidy, "figure2", name) for name in ("time_total", "rounds", "points"))
    fig, ((ax,),) = figure(1, 1, 6.4, 0.75 * len(time) + 1.4)
    methods = [method for method in STYLES if method in time and time[method].notna().any()]
    printed = False
    for place, key in enumerate(time.index):
        ax.axhline(place, color=GREY, linewidth=0.4, zorder=0)
        for i, method in enumerate(methods):
            whole = rounds[method][key] == points[method][key]
            y = place + 0.8 * ((i + 0.5) / len(methods) - 0.5)
            face = {} if whole else {"markerfacecolor": "white"}
            ax.plot(time[method][key], y, linestyle="none", **STYLES[method], **face)
            named, ratio = LOO_PRINTED.get(key[0], ("", 1))
            if method == named and LIBSVM in time and time[LIBSVM][key] > 0:
                printed = True
                ax.plot(time[LIBSVM][key] / ratio, y, linestyle="none", **{**STYLES[method], **PAPER})
    ax.set_xscale("log")
    if time.max(axis=None) < 100 * time.min(axis=None):
        plain_numbers(ax.xaxis)
    ax.set_yticks(range(len(time)), [dataset_in_words(dataset) for dataset, _ in time.index])
    ax.set_ylim(len(time) - 0.5, -0.5)
    ax.set_xlabel("CPU time of all rounds (s); open: extrapolated")
    legend_of(fig, methods, 4, "none", printed)
    return fig


def plot_seeds(tidy, published):
    """Draw the cost of each seed over that of the cold start, in columns of panels: iterations, CPU time and
    kernel values. There is a line for every data set and k with published and with chosen settings, and below
    are the costs against C. Grey: the cost over LIBSVM's that the paper prints in Tables 1 and 3."""
    titles = {PUBLISHED: "published settings", CHOSEN: "chosen settings"}
    blocks = {exhibit: wide(tidy, exhibit, "time").index for exhibit in titles}
    heights = [max(len(lines), 1) + 1 for lines in blocks.values()]
    fig, axes = figure(
        3, len(COSTS), 7.4, 0.17 * sum(heights) + 3.2, sharey="row", height_ratios=[*heights, 12]
    )
    used = {}
    for column, (metric, label) in zip(axes.T, COSTS.items(), strict=True):
        for ax, (exhibit, lines) in zip(column, blocks.items(), strict=False):
            printed = over_libsvm(published, metric) if exhibit == PUBLISHED else None
            used |= dict.fromkeys(draw_lines(ax, over_cold(tidy, exhibit, metric).reindex(lines), printed))
        used |= dict.fromkeys(draw_along_C(column[-1], over_cold(tidy, "along_C", metric)))
        column[-2].set_xlabel(label)
    for (ax, *_), title in zip(axes, titles.values(), strict=False):
        ax.set_title(title, loc="left", fontsize=9, fontweight="bold", x=-0.35)
    axes[-1, 0].set_ylabel("Cost / cold, along C")
    legend_of(fig, [method for method in STYLES if method in used], 4, "-", len(blocks[PUBLISHED]))
    return fig


def over_cold(tidy, exhibit, metric):
    """Return costs of methods, one column each, over that of the cold start."""
    costs = wide(tidy, exhibit, metric)
    return costs.div(costs[COLD], axis="index") if len(costs) else costs


def over_libsvm(published, metric):
    """Return the costs that the paper prints over that of LIBSVM: a column per method, by data set and k.
    Times are the sum of all parts that Table 1 prints, or the whole of Table 3."""
    parts = {"iterations": ["iterations"], "time": ["time_init", "time_rest", "time_total"]}.get(metric, [])
    selected = published[published["exhibit"].isin(("table1", "table3")) & published["metric"].isin(parts)]
    selected = selected.groupby(["exhibit", "dataset", "setting", "method"])["value"].sum().unstack("method")
    ratios = selected.div(selected[LIBSVM], axis="index") if LIBSVM in selected else selected
    # SIR at k = 10 stands in both tables: that of Table 1
    return ratios.groupby(["dataset", "setting"]).first()


def draw_lines(ax, ratios, printed=None):
    """Draw marks on a line per data set and k, and large ones where the paper prints a ratio; return the
    methods drawn."""
    drawn, names = [], []
    for place, (dataset, setting) in enumerate(ratios.index):
        first = place == 0 or ratios.index[place - 1][0] != dataset
        names.append(f"{dataset_in_words(dataset)}   {setting}" if first else setting)
        ax.axhline(place, color=GREY, linewidth=0.6 if first else 0.3, alpha=0.5, zorder=0)
    for method, style in STYLES.items():
        if method != COLD and method in ratios and ratios[method].notna().any():
            ax.plot(ratios[method], range(len(ratios)), linestyle="none", markersize=4, **style)
            drawn.append(method)
            if printed is not None and method in printed:
                theirs = printed[method].reindex(ratios.index)
                ax.plot(theirs, range(len(ratios)), linestyle="none", **{**style, **PAPER, "markersize": 6})
    ax.axvline(1, color="black", linewidth=0.8, zorder=0)
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xscale("log")
    plain_numbers(ax.xaxis, (1, 3))
    ax.tick_params(axis="x", labelsize=7)
    return drawn


def draw_along_C(ax, ratios):
    """Draw medians over the data sets against C, with bars from the least to the most; return the methods
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
        places = curves.index * 1.07 ** (len(drawn) - 2)
        median = curves.median(axis=1)
        ends = [median - curves.min(axis=1), curves.max(axis=1) - median]
        ax.errorbar(places, median, ends, elinewidth=0.5, linewidth=1, markersize=3.5, **STYLES[method])
        drawn.append(method)
    ax.axhline(1, color="black", linewidth=0.8, zorder=0)
    ax.set(xscale="log", yscale="log", xlabel="C")
    plain_numbers(ax.xaxis, (1,))
    plain_numbers(ax.yaxis)
    return drawn


def legend_of(fig, methods, columns, linestyle, printed=False):
    curves = [(LABELS[m], {"linestyle": linestyle, **STYLES[m]}) for m in methods]
    if printed:
        curves.append(("paper: grey, mark of the method", {"linestyle": "none", "marker": "s", **PAPER}))
    legend(fig, curves, columns)
