"""The scorecard as a picture: every published result beside ours, and what explains the misses."""

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from lib.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, panels
from lib.shown import (
    FOUND_AFTERWARDS,
    NOT_EXPLAINED,
    PROVED,
    TOO_WIDE,
    UNDECIDABLE,
    WITHIN,
    dataset_in_words,
    exhibit_name,
    quantity_in_words,
)
from lib.tolerances import RESULT

COLORS = (PURPLE, GREEN, BLUE, ORANGE, VERMILLION)
MARKERS = {
    WITHIN: "o",
    PROVED: "^",
    FOUND_AFTERWARDS: "D",
    TOO_WIDE: "|",
    UNDECIDABLE: "s",
    NOT_EXPLAINED: "X",
}
HOLLOW = (FOUND_AFTERWARDS, UNDECIDABLE)
OPEN = (UNDECIDABLE, NOT_EXPLAINED)
# ratios further out stand at the edge; where 0 is printed, the result has no ratio and stands beyond it
EDGE = 16
ZERO = 1 / 48
NAMED = 2
INK = "#333333"
# where the words of the tables are too long for a line of a picture
SHORT = {
    "kernel_column_speedup": "kernel columns, ratio",
    "time_speedup": "time, ratio",
    "certified": "signs certain early",
    "empty_span_sets": "SVs without a span",
    "in_bound_svs": "in-bound SVs",
    "rmse_to_test_error": "distance to test error",
}
HANDLE = {"linestyle": "", "markersize": 5, "color": GREY}


def compared_results(scorecard):
    """Return the compared results, with numeric columns. ``ratio`` is ours over the published one, both
    relative where times are, and `ZERO` where 0 is published; ``low`` and ``high`` are the ends of its
    tolerance over the published one; ``verdict`` is a key of `MARKERS`."""
    rows = scorecard[(scorecard["kind"] == RESULT) & (scorecard["explained_by"] != "")].copy()
    names = ["value", "reproduced", "least", "most", "published_relative", "reproduced_relative"]
    # also where there are no rows
    rows = rows.assign(**{name: pd.to_numeric(rows[name], errors="coerce").astype(float) for name in names})
    relative = rows["published_relative"].notna()
    theirs = rows["value"].where(~relative, rows["published_relative"])
    ours = rows["reproduced"].where(~relative, rows["reproduced_relative"])
    with np.errstate(divide="ignore", invalid="ignore"):
        rows["ratio"], rows["low"], rows["high"] = (
            numbers / theirs for numbers in (ours, rows["least"], rows["most"])
        )
    rows.loc[theirs == 0, ["ratio", "low", "high"]] = ZERO
    return rows.assign(verdict=rows["explained_by"])


def plot_results(scorecard, papers):
    """Draw each result as a point, ours over the published one, on the line of its exhibit and metric.
    `scorecard` is from `lib.scorecard.figures`, of all papers, whose names are in `papers`."""
    # one line for each exhibit and metric, below the heading of its paper
    rows = compared_results(scorecard)
    lines = list(dict.fromkeys(zip(rows["paper"], rows["exhibit"], rows["metric"], strict=True)))
    places, heads = _places([paper for paper, *_ in lines])
    fig, axes = panels(1, 1, 7.4, max(2.5, 0.24 * (len(lines) + len(heads)) + 1.3))
    ax = axes[0, 0]
    colors = dict(zip(papers, cycle(COLORS), strict=False))
    for y, key in zip(places, lines, strict=True):
        line_rows = rows[(rows[["paper", "exhibit", "metric"]] == list(key)).all(axis=1)]
        _draw_line(ax, y, line_rows, colors[key[0]])
    # background, axes and labels
    ax.axvline(1, color=GREY, linewidth=0.8, zorder=0)
    for y in places[::2]:
        ax.axhspan(y - 0.5, y + 0.5, color="#F4F4F4", zorder=-1)
    ax.set_xscale("log", base=2)
    ax.axvline(ZERO * 1.5, color=GREY, linewidth=0.5, zorder=0)
    ax.set_xlim(ZERO / 1.3, EDGE * 1.15)
    ticks = [2.0**power for power in range(-4, 5)]
    names = [f"1/{1 / tick:g}" if tick < 1 else f"{tick:g}" for tick in ticks]
    ax.set_xticks([ZERO, *ticks], ["printed\n0", f"≤ {names[0]}", *names[1:-1], f"≥ {names[-1]}"])
    ax.minorticks_off()
    names = [f"{exhibit_name(exhibit)}: {_words(metric)}" for _, exhibit, metric in lines]
    _label_lines(ax, dict(zip(places, names, strict=True)), heads, papers)
    ax.set_xlabel("reproduced / published, with its tolerance", fontsize=9)
    if rows["verdict"].isin(OPEN).any():
        ax.text(
            EDGE * 1.25,
            0,
            "Data sets of results that are\nundecidable or not explained",
            fontsize=7,
            va="center",
            fontweight="bold",
            color=INK,
        )
    # the legend counts the verdicts
    counts = rows["verdict"].value_counts()
    handles = [
        Line2D(
            [],
            [],
            **HANDLE,
            marker=marker,
            markerfacecolor="none" if verdict in HOLLOW else GREY,
            label=f"{verdict} ({counts.get(verdict, 0)})",
        )
        for verdict, marker in MARKERS.items()
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=4, fontsize=8)
    return fig


def _draw_line(ax, y, line_rows, color):
    """Draw the results of one exhibit and metric at the height y, and name the data sets of open ones."""
    # points, spread around the line, over their tolerances; misses get larger marks
    heights = y + np.linspace(-0.27, 0.27, len(line_rows)) if len(line_rows) > 1 else np.array([float(y)])
    zero = line_rows["ratio"] == ZERO
    x = line_rows["ratio"].clip(1 / EDGE, EDGE).mask(zero, ZERO)
    ends = line_rows[["low", "high"]].clip(1 / EDGE, EDGE).mask(zero, ZERO)
    ax.hlines(heights, ends["low"], ends["high"], color=GREY, linewidth=0.6, alpha=0.35, zorder=1)
    for verdict, marker in MARKERS.items():
        mask = (line_rows["verdict"] == verdict).to_numpy()
        size = 9 if verdict == WITHIN else 20
        shade = GREY if verdict == TOO_WIDE else color
        style = {"facecolor": "none", "edgecolor": shade} if verdict in HOLLOW else {"color": shade}
        ax.scatter(x[mask], heights[mask], size, marker=marker, linewidths=0.8, zorder=3, **style)
    # numbers of points beyond the edges
    for edge, beyond, side in (
        (1 / EDGE, (line_rows["ratio"] < 1 / EDGE) & ~zero, "left"),
        (EDGE, line_rows["ratio"] > EDGE, "right"),
    ):
        if beyond.sum() > 1:
            shift = (5 if side == "left" else -5, 0)
            ax.annotate(
                f"{beyond.sum()}",
                (edge, y),
                shift,
                textcoords="offset points",
                fontsize=6,
                va="center",
                ha=side,
            )
    # the data sets of misses that nothing explains, beside the line
    missed = (
        line_rows.loc[line_rows["verdict"].isin(OPEN), "dataset"]
        .drop_duplicates()
        .map(dataset_in_words)
        .tolist()
    )
    names = ", ".join(missed[:NAMED])
    names += f" and {len(missed) - NAMED} more" if len(missed) > NAMED else ""
    ax.text(EDGE * 1.25, y, names, fontsize=6, va="center", color=INK)


def _places(papers):
    """Return the places of lines about these papers, from the top, and place -> paper of the headings, one
    above the lines of each paper."""
    places, heads = [], {}
    for paper in papers:
        if paper not in heads.values():
            heads[len(places) + len(heads)] = paper
        places.append(len(places) + len(heads))
    return places, heads


def _label_lines(ax, names, heads, papers):
    """Label the lines (place -> name) and the headings of the papers (place -> key)."""
    labels = {**names, **{place: papers[paper] for place, paper in heads.items()}}
    ax.set_yticks(list(labels), labels.values(), fontsize=7.5, color=INK)
    for label, place in zip(ax.get_yticklabels(), labels, strict=True):
        if place in heads:
            label.set(fontweight="bold", fontsize=8)
    ax.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _words(metric):
    return SHORT.get(metric) or quantity_in_words(metric)
