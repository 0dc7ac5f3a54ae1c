"""Figures from tidy rows."""

from lib.figures import BLUE, GREEN, GREY, VERMILLION, curve, figure, legend
from lib.shown import dataset_in_words
from papers.chapelle1999.exhibits import PANELS

LABELS = {"log_sigma": r"$\ln\,\sigma$", "log_C": r"$\ln\,C$"}
MARK = {"color": BLUE, "linestyle": "-", "marker": "o", "markersize": 3.5}
# curves that nearly coincide: each stays visible around the next
OPEN = {"marker": "s", "markersize": 6, "markerfacecolor": "none"}
CURVES = {
    "test": ("test error", MARK),
    "span_rule": ("span rule", {"color": VERMILLION, "linestyle": "--", **OPEN}),
    "loo": ("exact leave-one-out", {"color": GREEN, "linestyle": ":", "marker": "x", "markersize": 5}),
}
TIMES = {
    "train": ("training", MARK),
    "span_rule": ("span rule", {"color": VERMILLION, "linestyle": "--", "marker": "s", "markersize": 4}),
    "loo_retrain": ("leave-one-out, retraining", {"color": GREY, "linestyle": "-.", "marker": "^"}),
    "loo": ("leave-one-out, unlearning", {"color": GREEN, "linestyle": ":", "marker": "x"}),
}
FUNCTIONALS = {"radius_margin": "without rescaling", "rescaled_radius_margin": "with rescaling"}


def plot_figure2(tidy):
    """Draw errors against the width (a) and C (b), one panel each, bars of one standard deviation."""
    fig, axes = figure(1, 2, 7.4, 3.3)
    for ax, letter, (exhibit, name, _) in zip(axes.flat, "ab", PANELS.values(), strict=True):
        panel = tidy[(tidy["exhibit"] == exhibit) & (tidy["metric"] == "error")]
        for method, (_, style) in CURVES.items():
            x, y, spread = curve(panel[panel["method"] == method])
            # one set of bars: three would hide each other
            ax.errorbar(x, y, yerr=spread if method == "test" else None, elinewidth=0.6, **style)
        ax.set(title=f"({letter}) {_data_sets(panel)}", xlabel=LABELS[name])
        ax.set(ylabel="Error (%)", ylim=(0, None))
    legend(fig, CURVES.values(), 3)
    return fig


def _data_sets(panel):
    return ", ".join(map(dataset_in_words, dict.fromkeys(panel["dataset"])))


def plot_figure3(tidy):
    """Draw CPU time against the width on a logarithmic axis."""
    fig, ((ax,),) = figure(1, 1, 5, 3.5)
    panel = tidy[tidy["metric"] == "time"]
    for method, (_, style) in TIMES.items():
        x, y, _ = curve(panel[panel["method"] == method])
        ax.plot(x, y, **style)
    ax.set(yscale="log", xlabel=LABELS["log_sigma"], ylabel="CPU time of one model (s)")
    ax.set_title(_data_sets(panel))
    legend(fig, TIMES.values(), 2)
    return fig


def plot_figure4(tidy):
    """Draw the functional without (a) and with (b) rescaling against the width, bars of one standard
    deviation."""
    fig, axes = figure(1, 2, 7.4, 3)
    panel = tidy[tidy["metric"] == "functional"]
    for ax, letter, (method, name) in zip(axes.flat, "ab", FUNCTIONALS.items(), strict=True):
        x, y, spread = curve(panel[panel["method"] == method])
        ax.errorbar(x, y, yerr=spread, elinewidth=0.6, **MARK)
        ylabel = r"$R^2 |w|^2$" if letter == "a" else "rescaled functional"
        ax.set(title=f"({letter}) {name}", xlabel=LABELS["log_sigma"], ylabel=ylabel, ylim=(0, None))
    return fig
