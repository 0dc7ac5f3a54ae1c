"""Seeds: cost on a shared matrix, and along C.

Nine plots of the cost of each seed over that of the cold start: iterations, CPU time and kernel values, for
each data set and k with published and chosen settings, and against C.

Below 1 a seed saves work. CPU time is that of seeds and fits; all folds share one Gram matrix, whose time is
not included. Kernel values are those that a cache of 100 MB computes if each fit starts with an empty one, as
in LIBSVM. Above they are extrapolated from the first {{ settings["cached"]["rounds"] }} folds, along C they
are counted. Large grey marks: the costs over LIBSVM's that Tables 1 and 3 of the paper print; the printed
times include kernel values.

Along C: the chosen gamma, at most {{ settings["along_C"]["rows"] }} rows, k = {{ settings["along_C"]["k"] }}.
Marks are medians over the data sets ({{ facts["along_C_data"] }}), with bars from the least to the most of
them. Stars: each fold starts from its own solution at the C before, scaled to the next C. This is often a
solution already; its 0 iterations are left out.
"""

from lib.figures import GREY, panels, plain_numbers
from lib.rows import OK
from lib.shown import dataset_in_words
from papers.wen2017.exhibits.costs import cost_rows, costs, rows_of_methods, wide
from papers.wen2017.exhibits.methods import COLD, LIBSVM, METHODS, PAPER, PATH, STYLES, add_legend
from papers.wen2017.problem import CHOSEN, LOO, PUBLISHED

STAGES = ("seeds", "cached", "along_C")

# what is measured -> label of its axis
COSTS = {
    "iterations": "Iterations / cold",
    "time": "CPU time / cold",
    "kernel_values": "Kernel values / cold",
}
TITLES = {PUBLISHED: "published settings", CHOSEN: "chosen settings"}


def tidy(rows, context):
    """Yield the cost of each seed, beyond the paper: where all folds share the Gram matrix, and where each
    fit has a cache of its own.

    The exhibits are ``published`` and ``chosen``, whose settings are ``k=...``, and ``along_C``, whose
    settings are values of C. ``time`` is that of seeds and fits, without the matrix; with a cache of 100 MB
    for each fit instead ``cached_time``, and ``kernel_values``, extrapolated from ``cached_rounds`` folds.
    """
    apart = {"iterations": "iterations", "failed": "failed", "time": "time_apart"}
    with_cache = {"kernel_values": "kernel_values", "cached_rounds": "rounds", "cached_time": "time_total"}
    whole = costs(rows["seeds"][rows["seeds"]["fold"] != LOO])
    whole["time_apart"] = whole["time_total"] - whole["time_kernel"]
    for row in rows_of_methods(whole, METHODS[1:]):
        yield from cost_rows(row.settings, f"k={row.fold}", row, apart)
    for row in rows_of_methods(costs(rows["cached"]), METHODS[1:]):
        yield from cost_rows(row.settings, f"k={row.fold}", row, with_cache)
    for row in rows_of_methods(costs_along_C(rows["along_C"]), (*METHODS[1:], PATH)):
        yield from cost_rows("along_C", f"{row.C:.6g}", row, with_cache if row.cached else apart)


def costs_along_C(rows):
    """Return the cost of each cross-validation along C, as `costs`, with C and whether a cache was used. Rows
    of the path are sums already."""
    ok = rows["status"] == OK
    time = rows["cpu_s"].where(ok)
    return rows[["dataset", "method", "k", "rounds", "C"]].assign(
        cached=rows["cache_mb"].notna(),
        failed=(~ok).astype(int),
        iterations=rows["n_iter"].where(ok),
        kernel_values=rows["kernel_values"].where(ok),
        time_apart=time,
        time_total=time,
    )


def figure(tidy, context):
    """Draw the cost of each seed over that of the cold start, in columns of panels: iterations, CPU time and
    kernel values. There is a line for every data set and k with published and with chosen settings, and below
    are the costs against C. Grey: the cost over LIBSVM's that the paper prints in Tables 1 and 3."""
    blocks = {exhibit: wide(tidy, exhibit, "time").index for exhibit in TITLES}
    heights = [max(len(lines), 1) + 1 for lines in blocks.values()]
    fig, axes = panels(
        3, len(COSTS), 7.4, 0.17 * sum(heights) + 3.2, sharey="row", height_ratios=[*heights, 12]
    )
    used = {}
    for column, (metric, label) in zip(axes.T, COSTS.items(), strict=True):
        for ax, (exhibit, lines) in zip(column, blocks.items(), strict=False):
            printed = over_libsvm(context.published, metric) if exhibit == PUBLISHED else None
            used |= dict.fromkeys(draw_lines(ax, over_cold(tidy, exhibit, metric).reindex(lines), printed))
        used |= dict.fromkeys(draw_along_C(column[-1], over_cold(tidy, "along_C", metric)))
        column[-2].set_xlabel(label)
    for (ax, *_), title in zip(axes, TITLES.values(), strict=False):
        ax.set_title(title, loc="left", fontsize=9, fontweight="bold", x=-0.35)
    axes[-1, 0].set_ylabel("Cost / cold, along C")
    add_legend(fig, [method for method in STYLES if method in used], "-", len(blocks[PUBLISHED]))
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
