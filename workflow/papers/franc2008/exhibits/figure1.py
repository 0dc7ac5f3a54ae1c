"""Figure 1: error and time against the stopping tolerance.

Line plots, one panel per data set, of the leave-one-out error (left axis, percent) and the CPU time (right
axis, seconds) against the decimal logarithm of the stopping tolerance eps.

Standard approach, RBF kernel. Both error curves are estimated with eps. Solid line, circles: the model is
selected with the same eps. Dashed line, squares: the model is selected with the smallest eps. Where the solid
line falls below the dashed one, a loose tolerance selects models whose error it underestimates. Values are
means over {{ settings["sample"]["realisations"] if config["baselines"] == "sampled" else
settings["realisations"] }} realisations, with a model selected on each (the statistic of Table 2).
``figure1.csv`` has the standard deviation (n - 1) over the realisations, and both curves for one model
selected by the mean.

Dotted line, triangles: CPU time of all leave-one-out estimates with this eps, over all models and
realisations, on one thread, without the Gram matrices. The solver stops at a KKT gap of eps. It takes steps
even at eps = 1, because the gap at alpha = 0 is 2. Broad grey line: the leave-one-out error that Table 2 of
the paper prints for the selected models. Dotted grey line: the end of the error axis in the paper's figure,
which its text does not have for banana.
"""

import numpy as np
import pandas as pd

from lib.figures import BLUE, GREY, PAPER_AXIS, PAPER_VALUE, VERMILLION, across, curve, legend, panels
from lib.rows import OK
from lib.shown import dataset_in_words
from lib.tables import measured, part_of
from papers.franc2008.selection import error_table, first_best

STAGES = ("stopping",)
RUN_TIME = "20 min"

COLUMNS = 3
# the curves coincide up to some eps: open squares stay visible around the filled circles
SAME_EPS = {"color": BLUE, "linestyle": "-", "marker": "o", "markersize": 3.5}
SMALLEST_EPS = {
    "color": VERMILLION, "linestyle": "--", "marker": "s", "markersize": 7, "markerfacecolor": "none"
}  # fmt: skip
TIME = {"color": GREY, "linestyle": ":", "marker": "^", "markersize": 4, "linewidth": 1.2}


def tidy(rows, context):
    """Yield leave-one-out error and CPU time of the standard method against eps; ``setting`` is log10 of eps.

    Method ``selected_at_eps``: the model selected with this eps; method ``selected_at_smallest_eps``: the one
    selected with the smallest eps; both estimated with this eps. ``loo_error`` selects a model for each
    realisation (the statistic of Table 2), ``loo_error_min_of_mean`` one model for all. ``time`` is the total
    over realisations and models. Spreads are standard deviations over the realisations.
    """
    for dataset in context.settings["figure1"]["datasets"]:
        selected = rows["stopping"][rows["stopping"]["dataset"] == dataset]
        tables = {eps: error_table(group) for eps, group in selected.groupby("eps")}
        smallest, _ = tables[min(tables)]
        for eps, (errors, n_failed) in tables.items():
            row_key = {"exhibit": "figure1", "dataset": dataset, "setting": f"{np.log10(eps):.4g}"}
            for method, reference in (("selected_at_eps", errors), ("selected_at_smallest_eps", smallest)):
                for metric, values in (
                    ("loo_error", _at_best_models(errors, reference)),
                    ("loo_error_min_of_mean", _at_one_model(errors, reference)),
                ):
                    mean, sd = values.mean(skipna=False), values.std(ddof=1, skipna=False)
                    yield measured({**row_key, "method": method}, metric, 100 * mean, "percent", 100 * sd)
            row_key["method"] = "standard"
            time = selected.loc[(selected["eps"] == eps) & (selected["status"] == OK), "cpu_s"].sum(
                min_count=1
            )
            yield measured(row_key, "time", time, "s")
            yield measured(row_key, "models", len(errors) + n_failed, "count")
            yield measured(row_key, "failed_models", n_failed, "count")


def _at_best_models(errors, reference):
    """Return the error in each realisation of the model that is best there in the reference table, or NaN."""
    if reference.empty:
        return pd.Series(np.nan, index=errors.columns)
    return pd.Series({r: errors[r].get(first_best(reference[r]), np.nan) for r in errors.columns})


def _at_one_model(errors, reference):
    """Return the error in each realisation of the model that is best on average in the reference table, or
    NaN."""
    if reference.empty:
        return pd.Series(np.nan, index=errors.columns)
    return errors.reindex([first_best(reference.mean(axis=1))]).iloc[0]


def figure(tidy, context):
    """Draw leave-one-out errors (left axis) and CPU time (right axis) against log10 eps, a panel per data
    set."""
    datasets, published = context.settings["figure1"]["datasets"], context.published
    columns = min(COLUMNS, len(datasets))
    rows = -(-len(datasets) // columns)
    fig, axes = panels(rows, columns, 3.3 * columns + 0.4, 2.7 * rows + 0.6)
    for unused in axes.flat[len(datasets) :]:
        unused.remove()
    for ax, dataset in zip(axes.flat, datasets, strict=False):
        last = dataset == datasets[-1]
        _draw_dataset(ax, tidy[tidy["dataset"] == dataset], published, dataset, last)
    # the legend of all panels
    reference = min(tidy["setting"].astype(float))
    curves = [
        (r"LOO error, model selected with the same $\epsilon$", SAME_EPS),
        (rf"LOO error, model selected with $\epsilon = 10^{{{reference:g}}}$", SMALLEST_EPS),
        ("CPU time, all models (right axis)", TIME),
    ]
    if published["dataset"].isin(datasets).any():
        curves += [
            ("LOO error of Table 2, paper", PAPER_VALUE),
            ("end of the paper's axis", PAPER_AXIS),
        ]
    legend(fig, curves, min(columns, 3))
    return fig


def _draw_dataset(ax, panel, published, dataset, last):
    """Draw the panel of a data set, from its tidy rows. Grey: the error of the selected models in the paper's
    Table 2, and where the axis of its figure ends."""
    from matplotlib.ticker import MaxNLocator

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
    if ax.get_subplotspec().is_last_col() or last:
        time_ax.set_ylabel("CPU time (s)", color=GREY)


def _curve(panel, method, metric):
    x, y, _ = curve(panel[(panel["method"] == method) & (panel["metric"] == metric)])
    return x, y
