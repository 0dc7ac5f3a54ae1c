"""Figures from tidy rows."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from lib.figures import BLUE, GREY, VERMILLION, figure

__all__ = ["plot_figure1", "plot_speedup"]

FIGURE1_COLUMNS = 3
# the curves of Figure 1 coincide up to some eps: open squares stay visible around the filled circles
SAME_EPS = {"color": BLUE, "linestyle": "-", "marker": "o", "markersize": 3.5}
SMALLEST_EPS = {
    "color": VERMILLION, "linestyle": "--", "marker": "s", "markersize": 7, "markerfacecolor": "none"
}  # fmt: skip
TIME = {"color": GREY, "linestyle": ":", "marker": "^", "markersize": 4, "linewidth": 1.2}

SPEEDUP_TICKS = [0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128]


def plot_figure1(tidy, datasets):
    """Leave-one-out errors (left axis) and CPU time (right axis) against log10 eps, one panel per data set.

    Parameters
    ----------
    tidy : DataFrame
        Rows of `exhibits.figure1`.
    datasets : list of str

    Returns
    -------
    matplotlib.figure.Figure
    """
    columns = min(FIGURE1_COLUMNS, len(datasets))
    rows = -(-len(datasets) // columns)
    fig, axes = figure(rows, columns, 3.3 * columns + 0.4, 2.7 * rows + 0.6)
    for unused in axes.flat[len(datasets) :]:
        unused.remove()
    for ax, dataset in zip(axes.flat, datasets, strict=False):
        panel = tidy[tidy["dataset"] == dataset]
        time_ax = ax.twinx()
        # the time is context: it lies behind the errors
        ax.set_zorder(time_ax.get_zorder() + 1)
        ax.patch.set_visible(False)
        time_ax.plot(*_curve(panel, "standard", "time"), **TIME)
        time_ax.set_ylim(0, None)
        time_ax.spines["right"].set_visible(True)
        time_ax.spines["right"].set_color(GREY)
        time_ax.tick_params(axis="y", colors=GREY)
        time_ax.yaxis.set_major_locator(MaxNLocator(5))
        ax.plot(*_curve(panel, "selected_at_smallest_eps", "loo_error"), **SMALLEST_EPS)
        ax.plot(*_curve(panel, "selected_at_eps", "loo_error"), **SAME_EPS)
        ax.margins(y=0.12)
        ax.set_title(dataset)
        ax.set_xlabel(r"$\log_{10}\,\epsilon$")
        if ax.get_subplotspec().is_first_col():
            ax.set_ylabel("LOO error (%)")
        if ax.get_subplotspec().is_last_col() or dataset == datasets[-1]:
            time_ax.set_ylabel("CPU time (s)", color=GREY)
    reference = min(tidy["setting"].astype(float))
    handles = [
        Line2D([], [], **SAME_EPS, label=r"LOO error, model selected with the same $\epsilon$"),
        Line2D(
            [], [], **SMALLEST_EPS, label=rf"LOO error, model selected with $\epsilon = 10^{{{reference:g}}}$"
        ),
        Line2D([], [], **TIME, label="CPU time, all models (right axis)"),
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=min(columns, 3))
    return fig


def _curve(panel, method, metric):
    rows = panel[(panel["method"] == method) & (panel["metric"] == metric)]
    x = rows["setting"].astype(float).to_numpy()
    order = np.argsort(x)
    return x[order], rows["value"].to_numpy()[order]


def plot_speedup(tidy, published, datasets):
    """Speed-up in kernel columns and CPU time per data set and kernel, beside the published one.

    Parameters
    ----------
    tidy : DataFrame
        Rows of `exhibits.table3`.
    published : DataFrame
        Tidy rows of the paper; data sets that it does not have get no published mark.
    datasets : list of str

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = figure(1, 2, 7.4, 0.36 * len(datasets) + 1.5, sharey=True, sharex=True)
    metrics = (("kernel_column_speedup", BLUE, "o", -0.17), ("time_speedup", VERMILLION, "D", 0.17))
    published = published[published["exhibit"].eq("table3") & published["dataset"].isin(datasets)]
    for ax, (kernel, title) in zip(
        axes.flat, (("linear", "Linear kernel"), ("rbf", "RBF kernel")), strict=True
    ):
        for metric, color, marker, shift in metrics:
            ours, theirs = (_values(rows, kernel, metric, datasets) for rows in (tidy, published))
            y = np.arange(len(datasets)) + shift
            ax.hlines(y, np.fmin(ours, theirs), np.fmax(ours, theirs), color=color, linewidth=1, alpha=0.6)
            ax.plot(
                theirs,
                y,
                linestyle="none",
                marker=marker,
                color=color,
                markerfacecolor="white",
                markersize=6.5,
            )
            ax.plot(ours, y, linestyle="none", marker=marker, color=color, markersize=4)
        ax.axvline(1, color=GREY, linewidth=0.8, zorder=0)
        for y in range(0, len(datasets), 2):
            ax.axhspan(y - 0.5, y + 0.5, color="#F2F2F2", zorder=-1)
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(SPEEDUP_TICKS))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(axis="x", linewidth=0.4, alpha=0.6)
        ax.tick_params(axis="y", length=0)
        ax.set_title(title)
        ax.set_xlabel("Speed-up, standard / proposed (ratio)")
    axes.flat[0].set_yticks(np.arange(len(datasets)), datasets)
    axes.flat[0].set_ylim(len(datasets) - 0.5, -0.5)
    reproduced = ", reproduced" if len(published) else ""
    handles = [
        Line2D([], [], linestyle="none", marker="o", color=BLUE, label=f"kernel columns{reproduced}"),
        Line2D([], [], linestyle="none", marker="D", color=VERMILLION, label=f"CPU time{reproduced}"),
    ]
    if len(published):
        handles += [
            Line2D(
                [],
                [],
                linestyle="none",
                marker="o",
                color=BLUE,
                markerfacecolor="white",
                label="kernel columns, paper",
            ),
            Line2D(
                [],
                [],
                linestyle="none",
                marker="D",
                color=VERMILLION,
                markerfacecolor="white",
                label="time, paper",
            ),
        ]
    fig.legend(handles=handles, loc="outside upper center", ncols=2)
    return fig


def _values(tidy, kernel, metric, datasets):
    rows = tidy[(tidy["setting"] == kernel) & (tidy["metric"] == metric)]
    return rows.set_index("dataset")["value"].reindex(datasets).to_numpy(dtype=float)
