"""Figures from tidy rows."""

import numpy as np
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter

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
from lib.tables import part_of
from papers.franc2008.layout import KERNEL_NAMES
from papers.franc2008.names import ALL_SETS

FIGURE1_COLUMNS = 3
# the curves of Figure 1 coincide up to some eps: open squares stay visible around the filled circles
SAME_EPS = {"color": BLUE, "linestyle": "-", "marker": "o", "markersize": 3.5}
SMALLEST_EPS = {
    "color": VERMILLION, "linestyle": "--", "marker": "s", "markersize": 7, "markerfacecolor": "none"
}  # fmt: skip
TIME = {"color": GREY, "linestyle": ":", "marker": "^", "markersize": 4, "linewidth": 1.2}

# what the speed-up figure shows of a data set: method and metric, label, style, place on the set's line
SPEEDUPS = [
    ("proposed", "kernel_column_speedup", "proposed, kernel columns", {"color": BLUE, "marker": "o"}, -0.25),
    ("proposed", "time_speedup", "proposed, CPU time", {"color": VERMILLION, "marker": "D"}, 0),
    ("unlearn", "time_speedup", "unlearning, CPU time", {"color": GREEN, "marker": "^"}, 0.25),
]
REPRODUCED = {"linestyle": "none", "markersize": 4}
PUBLISHED = {"linestyle": "none", "markersize": 6.5, "markerfacecolor": "white"}


def plot_figure1(tidy, published, figure1_datasets):
    """Draw leave-one-out errors (left axis) and CPU time (right axis) against log10 eps, a panel per data
    set. Grey: the error of the selected models in the paper's Table 2, and where the axis of its figure
    ends."""
    columns = min(FIGURE1_COLUMNS, len(figure1_datasets))
    rows = -(-len(figure1_datasets) // columns)
    fig, axes = figure(rows, columns, 3.3 * columns + 0.4, 2.7 * rows + 0.6)
    for unused in axes.flat[len(figure1_datasets) :]:
        unused.remove()
    # a panel per data set: time behind, errors before it, the paper's values in grey
    for ax, dataset in zip(axes.flat, figure1_datasets, strict=False):
        panel = tidy[tidy["dataset"] == dataset]
        time_ax = ax.twinx()
        # the time is context: it lies behind the errors
        ax.set_zorder(time_ax.get_zorder() + 1)
        ax.patch.set_visible(False)
        # a time near 0 is a mark on the axis, which would cut it
        time_ax.plot(*_curve(panel, "standard", "time"), **TIME, clip_on=False)
        time_ax.set_ylim(0, None)
        time_ax.spines["right"].set_visible(True)
        time_ax.spines["right"].set_color(GREY)
        time_ax.tick_params(axis="y", colors=GREY)
        time_ax.yaxis.set_major_locator(MaxNLocator(5))
        ax.plot(*_curve(panel, "selected_at_smallest_eps", "loo_error"), **SMALLEST_EPS)
        ax.plot(*_curve(panel, "selected_at_eps", "loo_error"), **SAME_EPS)
        printed = part_of(published, "table2", "loo_error", dataset=dataset, setting="rbf")
        across(ax, printed["value"], PAPER_VALUE)
        across(ax, part_of(published, "figure1", "loo_error", dataset=dataset)["value"], PAPER_AXIS)
        ax.margins(y=0.12)
        ax.set_title(dataset_in_words(dataset))
        ax.set_xlabel(r"$\log_{10}\,\epsilon$")
        if ax.get_subplotspec().is_first_col():
            ax.set_ylabel("LOO error (%)")
        if ax.get_subplotspec().is_last_col() or dataset == figure1_datasets[-1]:
            time_ax.set_ylabel("CPU time (s)", color=GREY)
    # the legend of all panels
    reference = min(tidy["setting"].astype(float))
    curves = [
        (r"LOO error, model selected with the same $\epsilon$", SAME_EPS),
        (rf"LOO error, model selected with $\epsilon = 10^{{{reference:g}}}$", SMALLEST_EPS),
        ("CPU time, all models (right axis)", TIME),
    ]
    if published["dataset"].isin(figure1_datasets).any():
        curves += [
            ("LOO error of Table 2, paper", PAPER_VALUE),
            ("end of the paper's axis", PAPER_AXIS),
        ]
    legend(fig, curves, min(columns, 3))
    return fig


def _curve(panel, method, metric):
    x, y, _ = curve(panel[(panel["method"] == method) & (panel["metric"] == metric)])
    return x, y


def plot_speedup(tidy, published, datasets):
    """Draw the speed-up in kernel columns and CPU time per data set and kernel, totals last, beside the
    published one of the data sets that have one. A data set on which no two methods were run has no line."""
    speedups = tidy[tidy["metric"].isin([metric for _, metric, *_ in SPEEDUPS])].dropna(subset="value")
    datasets = [*(name for name in datasets if name in set(speedups["dataset"])), ALL_SETS]
    fig, axes = figure(1, 2, 7.4, 0.42 * len(datasets) + 1.7, sharey=True, sharex=True)
    published = published[published["exhibit"].eq("table3") & published["dataset"].isin(datasets)]
    for ax, (kernel, title) in zip(axes.flat, KERNEL_NAMES.items(), strict=True):
        for method, metric, _, style, shift in SPEEDUPS:
            ours, theirs = (_values(rows, kernel, method, metric, datasets) for rows in (tidy, published))
            y = np.arange(len(datasets)) + shift
            ax.hlines(
                y, np.fmin(ours, theirs), np.fmax(ours, theirs), color=style["color"], linewidth=1, alpha=0.6
            )
            ax.plot(theirs, y, **style, **PUBLISHED)
            ax.plot(ours, y, **style, **REPRODUCED)
        ax.axvline(1, color=GREY, linewidth=0.8, zorder=0)
        for y in range(0, len(datasets), 2):
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
