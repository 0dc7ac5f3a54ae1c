"""Estimates and test error against each parameter of the models, of Figures 2 to 4."""

import numpy as np

from lib.figures import BLUE, GREEN, GREY, PAPER_VALUE, VERMILLION, across, curve, legend, panels
from lib.shown import dataset_in_words
from lib.tables import measured
from papers.sarafis2018.exhibits.models import estimates
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS

# the parameters of each experiment, with the labels of their axes
LABELS = {
    CLASS_WEIGHTS: {"C_positive": r"$\log_2 C^+$", "C_negative": r"$\log_2 C^-$"},
    INSTANCE_WEIGHTS: {"A": "$A$", "B": "$B$", "C": r"$\log_2 C$"},
}
CURVES = {
    "test": ("test error", {"color": BLUE, "linestyle": "-", "linewidth": 2}),
    "span_rule": ("span rule", {"color": VERMILLION, "linestyle": "--"}),
    "kfold": ("5-fold CV", {"color": GREEN, "linestyle": "-."}),
    "xi_alpha": (r"$\xi$-$\alpha$ bound", {"color": GREY, "linestyle": (0, (3, 1, 1, 1, 1, 1))}),
    "loo": ("exact leave-one-out", {"color": "black", "linestyle": ":"}),
}
# Marks of the least value; squares that coincide lie in each other.
MARKS = {
    "test": {"marker": "*", "markersize": 12},
    "span_rule": {"marker": "s", "markersize": 9},
    "loo": {"marker": "s", "markersize": 5},
}
HOLLOW = {"markerfacecolor": "none", "markeredgewidth": 1.2}


def errors_along_parameters(exhibit, experiment, dataset, rows):
    """Yield estimates and test error against each parameter of the models. The other parameters are those of
    the best model on the test part, of several the first. Exhibits are ``figure2a`` and so on, one per
    parameter; ``setting`` is its value, of C, C+ and C- the binary logarithm."""
    selected = rows[(rows["experiment"] == experiment) & (rows["dataset"] == dataset)]
    values = estimates(selected).reset_index()
    best = values.loc[values["test"].idxmin()]
    parameters = list(LABELS[experiment])
    for letter, parameter in zip("abc", parameters, strict=False):
        other_names = [name for name in parameters if name != parameter]
        line = values[(values[other_names] == best[other_names]).all(axis=1)].sort_values(parameter)
        for _, model in line.iterrows():
            place = np.log2(model[parameter]) if parameter.startswith("C") else model[parameter]
            row_key = {"exhibit": f"{exhibit}{letter}", "dataset": dataset, "setting": f"{place:.6g}"}
            for method in CURVES:
                yield measured({**row_key, "method": method}, "error", model[method], "fraction")


def draw_parameters(tidy, experiment, published):
    """Draw estimates and test error against each parameter, one panel each, and below the distance of each
    estimate from the test error. The least value of an estimate has a square, that of the test error a star.
    Grey: the least test error that the paper prints in Table 2 or 3, at which its star is."""
    labels = LABELS[experiment].values()
    dataset = tidy["dataset"].iloc[0]
    printed = published[published["exhibit"].isin(("table2", "table3")) & (published["dataset"] == dataset)]
    printed = printed.loc[printed["method"] == "best_on_test", "value"]
    fig, axes = panels(2, len(labels), 3.2 * len(labels), 5.2, sharex="col", sharey="row")
    for letter, label, (ax, below) in zip("abc", labels, axes.T, strict=False):
        panel = tidy[tidy["exhibit"].str.endswith(letter)].dropna(subset="value")
        test = panel[panel["method"] == "test"].set_index("setting")["value"]
        for method, (_, style) in CURVES.items():
            method_rows = panel[panel["method"] == method]
            x, y, _ = curve(method_rows)
            if not len(x):
                continue
            # exact leave-one-out may have few models
            marker = "." if len(x) < 10 else None
            ax.plot(x, y, marker=marker, **style)
            mark = {**MARKS.get(method, {"marker": "s", "markersize": 7}), **HOLLOW}
            ax.plot(x[np.argmin(y)], y.min(), **mark, clip_on=False, color=style["color"])
            # the bound is so far off that it would hide how near the others are
            if method != "xi_alpha":
                x, apart, _ = curve(
                    method_rows.assign(value=method_rows["value"] - method_rows["setting"].map(test))
                )
                below.plot(x, apart, marker=marker, **style)
        across(ax, printed, PAPER_VALUE)
        ax.set_title(f"({letter})", loc="left")
        below.set_xlabel(label)
    # one axis for all panels, from 0 to the largest value of any
    axes[0, 0].set(ylabel="Share of errors", ylim=(0, None))
    axes[1, 0].set_ylabel("Estimate less test error")
    fig.suptitle(dataset_in_words(dataset), fontsize=10)
    marks = [
        ("least test error", {"color": BLUE, "linestyle": "", **MARKS["test"], **HOLLOW}),
        ("least estimate", {"color": GREY, "linestyle": "", "marker": "s", **HOLLOW}),
    ]
    if len(printed):
        marks.append(("least test error, paper", PAPER_VALUE))
    legend(fig, [*CURVES.values(), *marks], 4, "outside lower center")
    return fig
