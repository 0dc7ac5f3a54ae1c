"""Figure 2: test error, span rule and leave-one-out error against the width and C.

Two line plots of the test error, the span rule and the exact leave-one-out error, in percent: (a) against the
natural logarithm of the width sigma, (b) against that of C.

Solid line, circles: test error. Dashed, squares: span rule. Dotted, crosses: leave-one-out error by
unlearning, which the paper does not draw. Values are means over the realisations ({{
settings["width"]["realisations"] }} in (a), {{ settings["C"]["realisations"] }} in (b)). Bars show one
standard deviation (n - 1) of the test error; ``figure2.csv`` has the deviations of the other curves. (a) The
margin is hard, and the RBF kernel is ``exp(-|x - z|^2 / (2 sigma^2))``. The paper cuts the training rows of
USPS into 23 parts of 317, here after a seeded shuffle. (b) The width is fixed. The ranges of the axes are
assumptions, because the paper's text does not give them. The paper's text prints no value of this figure that
could stand beside ours.
"""

from lib.figures import GREEN, VERMILLION, curve, legend, panels
from papers.chapelle1999.exhibits.curves import LOGARITHMS, MARK, datasets_in_words, mean_curves

STAGES = ("cells",)
RUN_TIME = "3 min for all"

# experiment -> the exhibit of its panel
PANELS = {"width": "figure2a", "C": "figure2b"}
# curves that nearly coincide: each stays visible around the next
OPEN = {"marker": "s", "markersize": 6, "markerfacecolor": "none"}
CURVES = {
    "test": ("test error", MARK),
    "span_rule": ("span rule", {"color": VERMILLION, "linestyle": "--", **OPEN}),
    "loo": ("exact leave-one-out", {"color": GREEN, "linestyle": ":", "marker": "x", "markersize": 5}),
}


def tidy(rows, context):
    """Yield the errors of each panel, in percent."""
    cells = rows["cells"].assign(error=100 * rows["cells"]["estimate"])
    methods = {method: method for method in CURVES}
    for experiment, exhibit in PANELS.items():
        yield from mean_curves(cells, experiment, exhibit, methods, "error", "error", "percent")


def figure(tidy, context):
    """Draw errors against the width (a) and C (b), one panel each, bars of one standard deviation."""
    fig, axes = panels(1, 2, 7.4, 3.3)
    for ax, letter, (experiment, exhibit) in zip(axes.flat, "ab", PANELS.items(), strict=True):
        panel = tidy[(tidy["exhibit"] == exhibit) & (tidy["metric"] == "error")]
        for method, (_, style) in CURVES.items():
            x, y, spread = curve(panel[panel["method"] == method])
            # one set of bars: three would hide each other
            ax.errorbar(x, y, yerr=spread if method == "test" else None, elinewidth=0.6, **style)
        ax.set(title=f"({letter}) {datasets_in_words(panel)}", xlabel=LOGARITHMS[experiment][1])
        ax.set(ylabel="Error (%)", ylim=(0, None))
    legend(fig, CURVES.values(), 3)
    return fig
