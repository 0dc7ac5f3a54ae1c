"""Figures from tidy rows."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D

from lib.figures import BLUE, GREEN, GREY, VERMILLION, figure
from papers.chapelle1999.exhibits import PANELS

__all__ = ["plot_figure2", "plot_figure3", "plot_figure4"]

LABELS = {"log_sigma": r"$\ln\,\sigma$", "log_C": r"$\ln\,C$"}
# curves that nearly coincide: each stays visible around the next
CURVES = {
    "test": ("test error", {"color": BLUE, "linestyle": "-", "marker": "o", "markersize": 3.5}),
    "span_rule": (
        "span rule",
        {"color": VERMILLION, "linestyle": "--", "marker": "s", "markersize": 6, "markerfacecolor": "none"},
    ),
    "loo": ("exact leave-one-out", {"color": GREEN, "linestyle": ":", "marker": "x", "markersize": 5}),
}
TIMES = {
    "train": ("training", {"color": BLUE, "linestyle": "-", "marker": "o", "markersize": 3.5}),
    "span_rule": ("span rule", {"color": VERMILLION, "linestyle": "--", "marker": "s", "markersize": 4}),
    "loo_retrain": ("leave-one-out, retraining", {"color": GREY, "linestyle": "-.", "marker": "^"}),
    "loo": ("leave-one-out, unlearning", {"color": GREEN, "linestyle": ":", "marker": "x"}),
}
FUNCTIONALS = {"radius_margin": "without rescaling", "rescaled_radius_margin": "with rescaling"}
MARK = {"color": BLUE, "linestyle": "-", "marker": "o", "markersize": 3.5}


def plot_figure2(tidy):
    """Errors against the width (a) and C (b), one panel each, bars of one standard deviation."""
    fig, axes = figure(1, 2, 7.4, 3.3)
    for ax, (letter, (exhibit, name, _)) in zip(
        axes.flat, zip("ab", PANELS.values(), strict=True), strict=True
    ):
        panel = tidy[(tidy["exhibit"] == exhibit) & (tidy["metric"] == "error")]
        for method, (_, style) in CURVES.items():
            x, y, spread = _curve(panel, method)
            # one set of bars: three would hide each other
            ax.errorbar(x, y, yerr=spread if method == "test" else None, elinewidth=0.6, **style)
        ax.set_title(f"({letter}) {', '.join(dict.fromkeys(panel['dataset']))}")
        ax.set_xlabel(LABELS[name])
        ax.set_ylabel("Error (%)")
        ax.set_ylim(0, None)
    _legend(fig, CURVES)
    return fig


def plot_figure3(tidy):
    """CPU time against the width on a logarithmic axis."""
    fig, axes = figure(1, 1, 5, 3.5)
    ax = axes.flat[0]
    panel = tidy[tidy["metric"] == "time"]
    for method, (_, style) in TIMES.items():
        x, y, _ = _curve(panel, method)
        ax.plot(x, y, **style)
    ax.set_yscale("log")
    ax.set_xlabel(LABELS["log_sigma"])
    ax.set_ylabel("CPU time of one model (s)")
    ax.set_title(", ".join(dict.fromkeys(panel["dataset"])))
    _legend(fig, TIMES, 2)
    return fig


def plot_figure4(tidy):
    """The functional without (a) and with (b) rescaling against the width, bars of one standard deviation."""
    fig, axes = figure(1, 2, 7.4, 3)
    panel = tidy[tidy["metric"] == "functional"]
    for ax, (letter, (method, name)) in zip(
        axes.flat, zip("ab", FUNCTIONALS.items(), strict=True), strict=True
    ):
        x, y, spread = _curve(panel, method)
        ax.errorbar(x, y, yerr=spread, elinewidth=0.6, **MARK)
        ax.set_title(f"({letter}) {name}")
        ax.set_xlabel(LABELS["log_sigma"])
        ax.set_ylabel(r"$R^2 |w|^2$" if letter == "a" else "rescaled functional")
        ax.set_ylim(0, None)
    return fig


def _curve(panel, method):
    rows = panel[panel["method"] == method]
    x = rows["setting"].astype(float).to_numpy()
    order = np.argsort(x)
    return x[order], rows["value"].to_numpy()[order], rows["spread"].to_numpy()[order]


def _legend(fig, curves, columns=3):
    handles = [Line2D([], [], **style, label=label) for label, style in curves.values()]
    fig.legend(handles=handles, loc="outside upper center", ncols=columns)
