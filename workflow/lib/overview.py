"""The scorecard as two pictures: every published result beside ours, and what explains the misses."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from lib.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, panels
from lib.shown import (
    EXPLAINED,
    NOT_EXPLAINED,
    UNDECIDABLE,
    UNDECIDED,
    WITHIN,
    cause_in_words,
    dataset_in_words,
    exhibit_name,
    quantity_in_words,
    state,
)
from lib.tolerances import RESULT

COLORS = (PURPLE, GREEN, BLUE, ORANGE, VERMILLION)
MARKERS = {WITHIN: "o", EXPLAINED: "D", UNDECIDABLE: "s", NOT_EXPLAINED: "X", UNDECIDED: "."}
MISSES = (EXPLAINED, NOT_EXPLAINED, UNDECIDABLE)
HOLLOW = (EXPLAINED, UNDECIDABLE)
OPEN = (UNDECIDABLE, NOT_EXPLAINED)
# ratios further out stand at the edge
EDGE = 16
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
    """Return the results beside which a number of ours stands, with numeric columns. ``ratio`` is ours over
    the published one, both relative where times are; ``low`` and ``high`` are the ends of its tolerance over
    the published one; ``verdict`` is a key of `MARKERS`."""
    rows = scorecard[(scorecard["kind"] == RESULT) & (scorecard["reproduced"] != "")].copy()
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
    rows["verdict"] = [state(row) for row in rows.to_dict("records")]
    unit = relative & (rows["published_relative"] == 1)
    return rows[(theirs > 0) & ~unit & np.isfinite(rows["ratio"])]


def plot_results(scorecard, papers):
    """Draw each result as a point, ours over the published one, on the line of its exhibit and metric.
    `scorecard` is from `lib.scorecard.figures`, of all papers, whose names are in `papers`."""
    # one line for each exhibit and metric, below the heading of its paper
    rows = compared_results(scorecard)
    lines = list(dict.fromkeys(zip(rows["paper"], rows["exhibit"], rows["metric"], strict=True)))
    places, heads = _places([paper for paper, *_ in lines])
    fig, axes = panels(1, 1, 7.4, max(2.5, 0.24 * (len(lines) + len(heads)) + 1.3))
    ax = axes[0, 0]
    colors = dict(zip(papers, COLORS, strict=False))
    # points of each line, spread around it, over their tolerances; misses get larger marks
    for y, key in zip(places, lines, strict=True):
        line_rows = rows[(rows[["paper", "exhibit", "metric"]] == list(key)).all(axis=1)]
        heights = y + np.linspace(-0.27, 0.27, len(line_rows)) if len(line_rows) > 1 else np.array([float(y)])
        x = line_rows["ratio"].clip(1 / EDGE, EDGE)
        ends = line_rows[["low", "high"]].clip(1 / EDGE, EDGE)
        ax.hlines(heights, ends["low"], ends["high"], color=GREY, linewidth=0.6, alpha=0.35, zorder=1)
        for verdict, marker in MARKERS.items():
            mask = (line_rows["verdict"] == verdict).to_numpy()
            size = 20 if verdict in MISSES else 9
            color = GREY if verdict == UNDECIDED else colors[key[0]]
            face = "none" if verdict in HOLLOW else color
            ax.scatter(
                x[mask],
                heights[mask],
                size,
                marker=marker,
                facecolor=face,
                edgecolor=color,
                linewidths=0.8,
                zorder=3,
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
    # background, axes and labels
    ax.axvline(1, color=GREY, linewidth=0.8, zorder=0)
    for y in places[::2]:
        ax.axhspan(y - 0.5, y + 0.5, color="#F4F4F4", zorder=-1)
    ax.set_xscale("log", base=2)
    ax.set_xlim(1 / EDGE / 1.15, EDGE * 1.15)
    ticks = [2.0**power for power in range(-4, 5)]
    names = [f"1/{1 / tick:g}" if tick < 1 else f"{tick:g}" for tick in ticks]
    ax.set_xticks(ticks, [f"≤ {names[0]}", *names[1:-1], f"≥ {names[-1]}"])
    ax.minorticks_off()
    names = [f"{exhibit_name(exhibit)}: {_words(metric)}" for _, exhibit, metric in lines]
    _label_lines(ax, dict(zip(places, names, strict=True)), heads, papers)
    ax.set_xlabel("reproduced / published, with its tolerance", fontsize=9)
    if rows["verdict"].isin(OPEN).any():
        ax.text(
            EDGE * 1.25, 0, "Undecidable or missed on", fontsize=7, va="center", fontweight="bold", color=INK
        )
    # the legend counts the verdicts
    counts = rows["verdict"].value_counts()
    handles = [
        Line2D(
            [], [], **HANDLE, marker=marker, label=f"{verdict} ({counts.get(verdict, 0)})", **_face(verdict)
        )
        for verdict, marker in MARKERS.items()
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize=8)
    return fig


def plot_misses(scorecard, papers):
    """Draw how the misses of each paper divide into causes that are shown, misses that are undecidable here,
    and unexplained ones by quantity."""
    rows = compared_results(scorecard)
    missed = rows[rows["verdict"].isin(MISSES)]
    groups = [
        (paper, misses, part_key)
        for paper in papers
        for part_key, misses in _parts(missed[missed["paper"] == paper])
    ]
    order = [EXPLAINED, UNDECIDABLE, NOT_EXPLAINED]
    groups.sort(key=lambda group: (list(papers).index(group[0]), order.index(group[2][0]), -len(group[1])))
    places, heads = _places([paper for paper, *_ in groups])
    fig, axes = panels(1, 1, 7.4, max(2.0, 0.22 * (len(groups) + len(heads)) + 1.0))
    ax = axes[0, 0]
    colors = dict(zip(papers, COLORS, strict=False))
    for y, (paper, misses, (verdict, _)) in zip(places, groups, strict=True):
        style = {"color": colors[paper]} if verdict == EXPLAINED else {"color": "white"}
        if verdict == NOT_EXPLAINED:
            style["hatch"] = "////"
        ax.barh(y, len(misses), 0.7, **style, edgecolor=colors[paper], linewidth=0.8)
        ax.annotate(
            str(len(misses)), (len(misses), y), (3, 0), textcoords="offset points", va="center", fontsize=7
        )
    names = [label for _, _, (_, label) in groups]
    _label_lines(ax, dict(zip(places, names, strict=True)), heads, papers)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("results outside their tolerance", fontsize=9)
    handles = [
        Patch(facecolor=GREY, edgecolor=GREY, label="explained by a variant or a proof"),
        Patch(facecolor="white", edgecolor=GREY, label=UNDECIDABLE),
        Patch(facecolor="white", edgecolor=GREY, hatch="////", label=NOT_EXPLAINED),
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=8)
    return fig


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


def _face(verdict):
    return {"markerfacecolor": "none"} if verdict in HOLLOW else {}


def _parts(missed):
    """Return the misses grouped by verdict and cause, or by metric if there is no cause."""
    metric = missed["exhibit"].map(exhibit_name) + ": " + missed["metric"].map(_words)
    cause = missed["cause"].map(lambda cause: cause_in_words(cause.partition(" (")[0]))
    named = missed["verdict"] != NOT_EXPLAINED
    return missed.groupby([missed["verdict"], cause.where(named, metric)], sort=False)
