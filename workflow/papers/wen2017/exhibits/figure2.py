"""Supplementary Figure 2: time of leave-one-out.

Dot plot of the CPU time of leave-one-out with LIBSVM, from our cold start, from the seeds ATO, MIR, SIR, AVG
and TOP, and by unlearning where it was run, on a logarithmic axis, one column per data set.

Filled marks: all points were left out one by one. Open marks: extrapolated from the first points of a random
order; ``figure2.csv`` has their number. The settings are the paper's. Times are of one thread, include the
kernel matrix, and were taken once. A data set without a cross has no time of LIBSVM. Grey, if LIBSVM was run
on webdata: LIBSVM's time divided by 167, where SIR would be by the only ratio of this figure that the paper's
text prints.
"""

from lib.figures import GREY, panels, plain_numbers
from lib.shown import dataset_in_words
from papers.wen2017.exhibits.costs import (
    TIMES,
    cost_rows,
    costs,
    intervals,
    rows_of_methods,
    wide,
    with_libsvm,
)
from papers.wen2017.exhibits.methods import LIBSVM, METHODS, PAPER, STYLES, add_legend
from papers.wen2017.problem import LOO, PUBLISHED

STAGES = ("seeds", "libsvm")
RUN_TIME = "as Table 1"

# The only time of leave-one-out that the paper's text prints: LIBSVM's over that of a seed.
PRINTED = {"webdata": ("sir", 167)}


def tidy(rows, context):
    """Yield the CPU time of leave-one-out by every method, with the settings of the paper. ``rounds`` is the
    number of points left out, ``points`` that of all: with fewer, times and iterations are extrapolated."""
    cells = with_libsvm(rows)
    selected = costs(cells[(cells["settings"] == PUBLISHED) & (cells["fold"] == LOO)])
    selected = selected.assign(points=selected["k"])
    for row in rows_of_methods(selected, METHODS):
        yield from cost_rows("figure2", LOO, row, [*TIMES, "iterations", "rounds", "points", "failed"])
    yield from intervals("figure2", selected, METHODS) if context.facts["sampled"] else ()


def figure(tidy, context):
    """Draw the CPU time of leave-one-out, a column per data set; marks of extrapolated times are open. Grey:
    the time of a seed by our LIBSVM's time and the paper's ratio."""
    time, rounds, points = (wide(tidy, "figure2", name) for name in ("time_total", "rounds", "points"))
    fig, ((ax,),) = panels(1, 1, 6.4, 4)
    methods = [method for method in STYLES if method in time and time[method].notna().any()]
    printed = False
    for place, key in enumerate(time.index):
        ax.axvline(place, color=GREY, linewidth=0.4, zorder=0)
        for i, method in enumerate(methods):
            whole = rounds[method][key] == points[method][key]
            x = place + 0.8 * ((i + 0.5) / len(methods) - 0.5)
            face = {} if whole else {"markerfacecolor": "white"}
            ax.plot(x, time[method][key], linestyle="none", **STYLES[method], **face)
            named, ratio = PRINTED.get(key[0], ("", 1))
            if method == named and LIBSVM in time and time[LIBSVM][key] > 0:
                printed = True
                ax.plot(x, time[LIBSVM][key] / ratio, linestyle="none", **{**STYLES[method], **PAPER})
    ax.set_yscale("log")
    if time.max(axis=None) < 100 * time.min(axis=None):
        plain_numbers(ax.yaxis)
    ax.set_xticks(range(len(time)), [dataset_in_words(dataset) for dataset, _ in time.index])
    ax.set_xlim(-0.5, len(time) - 0.5)
    ax.set_ylabel("CPU time of all rounds (s); open: extrapolated")
    add_legend(fig, methods, "none", printed)
    return fig
