"""Speed-up: reproduced beside published.

Dot plot of the speed-up over the standard approach on a logarithmic axis, one row per data set, linear kernel
left and RBF kernel right: kernel columns (circles) and CPU time (diamonds) of the proposed approach, CPU time
of unlearning (triangles), filled where reproduced, open where published.

The numbers are those of Table 3: cost of the standard approach divided by cost of the method, for the whole
model selection. At 1 (grey line) nothing is gained. All sets: the ratio of the sums over all data sets. A
thin line joins the reproduced to the published value; unlearning and data sets that are not in the paper have
no published mark. The paper's times are wall-clock times of 2008. Ours are CPU times of one thread without
the Gram matrix. Kernel columns do not depend on the machine. Times were taken once, so no uncertainty is
shown.
"""

import numpy as np

from lib.figures import BLUE, GREEN, GREY, VERMILLION, legend, panels
from lib.shown import dataset_in_words
from papers.franc2008.exhibits.words import KERNEL_NAMES
from papers.franc2008.names import ALL_SETS

STAGES = ()

# of a data set: method and metric, label, style, place on the set's line
SPEEDUPS = [
    ("proposed", "kernel_column_speedup", "proposed, kernel columns", {"color": BLUE, "marker": "o"}, -0.25),
    ("proposed", "time_speedup", "proposed, CPU time", {"color": VERMILLION, "marker": "D"}, 0),
    ("unlearn", "time_speedup", "unlearning, CPU time", {"color": GREEN, "marker": "^"}, 0.25),
]
REPRODUCED = {"linestyle": "none", "markersize": 4}
PUBLISHED = {"linestyle": "none", "markersize": 6.5, "markerfacecolor": "white"}


def tidy(rows, context):
    """Return the speed-ups of Table 3."""
    table3 = context.exhibits["table3"]
    shown = [metric for _, metric, *_ in SPEEDUPS]
    return table3[table3["metric"].isin(shown)].assign(exhibit="speedup")


def figure(tidy, context):
    """Draw the speed-up in kernel columns and CPU time per data set and kernel, totals last, beside the
    published one of the data sets that have one. A data set on which no two methods were run has no line."""
    compared = set(tidy.dropna(subset="value")["dataset"])
    datasets = [*(name for name in context.settings["datasets"] if name in compared), ALL_SETS]
    published = context.published
    published = published[published["exhibit"].eq("table3") & published["dataset"].isin(datasets)]
    fig, axes = panels(1, 2, 7.4, 0.42 * len(datasets) + 1.7, sharey=True, sharex=True)
    for ax, (kernel, title) in zip(axes.flat, KERNEL_NAMES.items(), strict=True):
        for method, metric, _, style, shift in SPEEDUPS:
            ours, theirs = (_values(rows, kernel, method, metric, datasets) for rows in (tidy, published))
            y = np.arange(len(datasets)) + shift
            ax.hlines(
                y, np.fmin(ours, theirs), np.fmax(ours, theirs), color=style["color"], linewidth=1, alpha=0.6
            )
            ax.plot(theirs, y, **style, **PUBLISHED)
            ax.plot(ours, y, **style, **REPRODUCED)
        _set_axes(ax, len(datasets), title)
    axes.flat[0].set_yticks(np.arange(len(datasets)), map(dataset_in_words, datasets))
    axes.flat[0].set_ylim(len(datasets) - 0.5, -0.5)
    curves = []
    # a legend is filled column by column: the paper's mark stands below ours
    for method, _, label, style, _ in SPEEDUPS:
        curves.append((label, {**style, **REPRODUCED}))
        if len(published) and method == "proposed":
            curves.append((f"{label}, paper", {**style, **PUBLISHED}))
    legend(fig, curves, 3)
    return fig


def _values(tidy, kernel, method, metric, datasets):
    rows = tidy[(tidy["setting"] == kernel) & (tidy["method"] == method) & (tidy["metric"] == metric)]
    return rows.set_index("dataset")["value"].reindex(datasets).to_numpy(dtype=float)


def _set_axes(ax, n_lines, title):
    """Set the logarithmic axis of speed-ups, and the background of the lines."""
    from matplotlib.ticker import FixedLocator, NullFormatter

    ax.axvline(1, color=GREY, linewidth=0.8, zorder=0)
    for y in range(0, n_lines, 2):
        ax.axhspan(y - 0.5, y + 0.5, color="#F2F2F2", zorder=-1)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(4.0 ** np.arange(-4, 7)))
    ax.xaxis.set_minor_locator(FixedLocator(2.0 ** np.arange(-7, 12, 2)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter("{x:g}")
    ax.grid(axis="x", linewidth=0.4, alpha=0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_title(title)
    ax.set_xlabel("Speed-up over standard (ratio)")
