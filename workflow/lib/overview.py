"""The scorecard as two pictures: every published result beside ours, and what explains the misses."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from lib.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, figure
from lib.tolerances import RESULT

COLORS = (PURPLE, GREEN, BLUE, ORANGE, VERMILLION)
WITHIN, EXPLAINED, MISSED, UNDECIDED = "within tolerance", "explained", "not explained", "not decided"
MARKERS = {WITHIN: "o", EXPLAINED: "D", MISSED: "X", UNDECIDED: "."}
# ratios further out stand at the edge
EDGE = 16
NAMED = 4
HANDLE = {"linestyle": "", "markersize": 5, "color": GREY}


def judged(scorecard):
    """Results beside which a number of ours stands, with numeric columns: ``ratio`` of ours to the published
    one, both relative where times are; ``low`` and ``high``, the ends of its tolerance over the published
    one; and the ``verdict``, a key of `MARKERS`."""
    rows = scorecard[(scorecard["kind"] == RESULT) & (scorecard["reproduced"] != "")].copy()
    names = ["value", "reproduced", "least", "most", "published_relative", "reproduced_relative"]
    # also where there are no rows
    rows = rows.assign(**{name: pd.to_numeric(rows[name], errors="coerce").astype(float) for name in names})
    relative = rows["published_relative"].notna()
    theirs = rows["value"].where(~relative, rows["published_relative"])
    ours = rows["reproduced"].where(~relative, rows["reproduced_relative"])
    with np.errstate(divide="ignore", invalid="ignore"):
        rows["ratio"], rows["low"], rows["high"] = (of / theirs for of in (ours, rows["least"], rows["most"]))
    rows["verdict"] = np.select(
        [rows["within"] == "yes", rows["within"] == "", rows["explained"] == "yes"],
        [WITHIN, UNDECIDED, EXPLAINED],
        MISSED,
    )
    unit = relative & (rows["published_relative"] == 1)
    return rows[(theirs > 0) & ~unit & np.isfinite(rows["ratio"])]


def plot_results(scorecard, papers):
    """Each result as a point, ours over the published one, on the line of its exhibit and metric.
    `scorecard` is from `lib.scorecard.figures`, of all papers, whose names are in `papers`."""
    rows = judged(scorecard)
    lines = list(dict.fromkeys(zip(rows["paper"], rows["exhibit"], rows["metric"], strict=True)))
    fig, axes = figure(1, 1, 7.4, max(2.5, 0.26 * len(lines) + 1.3))
    ax = axes[0, 0]
    colors = dict(zip(papers, COLORS, strict=False))
    for y, key in enumerate(lines):
        own = rows[(rows[["paper", "exhibit", "metric"]] == key).all(axis=1)]
        at = y + np.linspace(-0.27, 0.27, len(own)) if len(own) > 1 else np.array([float(y)])
        x = own["ratio"].clip(1 / EDGE, EDGE)
        ends = own[["low", "high"]].clip(1 / EDGE, EDGE)
        ax.hlines(at, ends["low"], ends["high"], color=GREY, linewidth=0.6, alpha=0.35, zorder=1)
        for verdict, marker in MARKERS.items():
            mask = (own["verdict"] == verdict).to_numpy()
            size = 20 if verdict in (EXPLAINED, MISSED) else 9
            color = GREY if verdict == UNDECIDED else colors[key[0]]
            face = "none" if verdict == EXPLAINED else color
            ax.scatter(
                x[mask],
                at[mask],
                size,
                marker=marker,
                facecolor=face,
                edgecolor=color,
                linewidths=0.8,
                zorder=3,
            )
        missed = own.loc[own["verdict"] == MISSED, "dataset"].drop_duplicates().tolist()
        names = ", ".join(missed[:NAMED])
        names += f" and {len(missed) - NAMED} more" if len(missed) > NAMED else ""
        ax.text(EDGE * 1.25, y, names, fontsize=5.5, va="center", color=colors[key[0]])
    ax.axvline(1, color=GREY, linewidth=0.8, zorder=0)
    for y in range(0, len(lines), 2):
        ax.axhspan(y - 0.5, y + 0.5, color="#F4F4F4", zorder=-1)
    ax.set_xscale("log", base=2)
    ax.set_xlim(1 / EDGE / 1.15, EDGE * 1.15)
    ticks = [2.0**power for power in range(-4, 5)]
    ax.set_xticks(ticks, [f"1/{1 / tick:g}" if tick < 1 else f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    names = [(paper, f"{exhibit}: {metric.replace('_', ' ')}") for paper, exhibit, metric in lines]
    _label_lines(ax, names, papers, colors)
    ax.set_xlabel(
        "reproduced / published, with tolerances; on the right the data sets of what is not explained"
    )
    counts = rows["verdict"].value_counts()
    handles = [
        Line2D(
            [], [], **HANDLE, marker=marker, label=f"{verdict} ({counts.get(verdict, 0)})", **_face(verdict)
        )
        for verdict, marker in MARKERS.items()
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=4, fontsize=8)
    return fig


def plot_misses(scorecard, papers):
    """How the misses of each paper divide into causes: those that are shown, and what is not explained by
    metric."""
    rows = judged(scorecard)
    missed = rows[rows["verdict"].isin([EXPLAINED, MISSED])]
    groups = [
        (paper, own, what) for paper in papers for what, own in _parts(missed[missed["paper"] == paper])
    ]
    groups.sort(key=lambda group: (list(papers).index(group[0]), group[2][0] != EXPLAINED, -len(group[1])))
    fig, axes = figure(1, 1, 7.4, max(2.0, 0.24 * len(groups) + 1.0))
    ax = axes[0, 0]
    colors = dict(zip(papers, COLORS, strict=False))
    for y, (paper, own, (verdict, _)) in enumerate(groups):
        explained = verdict == EXPLAINED
        style = {"color": colors[paper]} if explained else {"color": "white", "hatch": "////"}
        ax.barh(y, len(own), 0.7, **style, edgecolor=colors[paper], linewidth=0.8)
        ax.annotate(str(len(own)), (len(own), y), (3, 0), textcoords="offset points", va="center", fontsize=7)
    _label_lines(ax, [(paper, what) for paper, _, (_, what) in groups], papers, colors)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("results outside their tolerance")
    handles = [
        Line2D([], [], **HANDLE, marker="s", label="explained by a variant or a proof"),
        Line2D([], [], **HANDLE, marker="s", label="not explained", markerfacecolor="none"),
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=2, fontsize=8)
    return fig


def _label_lines(ax, lines, papers, colors):
    """Label a line for each paper and what it is about, from the top."""
    names = [f"{papers[paper].partition(' ')[0]}, {what}" for paper, what in lines]
    ax.set_yticks(range(len(lines)), names, fontsize=7)
    for label, (paper, _) in zip(ax.get_yticklabels(), lines, strict=True):
        label.set_color(colors[paper])
    ax.set_ylim(max(len(lines), 1) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _face(verdict):
    return {"markerfacecolor": "none"} if verdict == EXPLAINED else {}


def _parts(missed):
    """The misses of each verdict, and cause or metric."""
    metric = missed["metric"].str.replace("_", " ") + " of " + missed["exhibit"]
    cause = missed["cause"].str.replace("_", " ")
    shown = missed["verdict"] == EXPLAINED
    return missed.groupby([missed["verdict"], cause.where(shown, metric)], sort=False)
