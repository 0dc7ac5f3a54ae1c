"""Figure 3: time of training, span rule and leave-one-out.

Line plot of the CPU time of one model, on a logarithmic axis, against the natural logarithm of the width
sigma: training, span rule, and leave-one-out in two ways.

Solid line, circles: training. Dashed, squares: the span rule without the training before it, by one
factorisation for all support vectors. Dash-dotted, triangles: leave-one-out by retraining each support vector
from the full solution, as in the paper. Dotted, crosses: leave-one-out by unlearning. Both times of
leave-one-out include the training that it starts with. Values are means over {{
settings["width"]["realisations"] }} realisations on one thread, without the Gram matrix; ``figure3.csv`` has
their standard deviations. The paper's text prints no value of this figure that could stand beside ours.
"""

from lib.figures import GREEN, GREY, VERMILLION, curve, legend, panels
from papers.chapelle1999.exhibits.curves import LOGARITHMS, MARK, datasets_in_words, mean_curves

STAGES = ("cells",)
RUN_TIME = "as Figure 2"

# time -> the method in the rows
METHODS = {"train": "test", "span_rule": "span_rule", "loo_retrain": "loo_retrain", "loo": "loo"}
CURVES = {
    "train": ("training", MARK),
    "span_rule": ("span rule", {"color": VERMILLION, "linestyle": "--", "marker": "s", "markersize": 4}),
    "loo_retrain": ("leave-one-out, retraining", {"color": GREY, "linestyle": "-.", "marker": "^"}),
    "loo": ("leave-one-out, unlearning", {"color": GREEN, "linestyle": ":", "marker": "x"}),
}


def tidy(rows, context):
    """Return CPU time of training, of the span rule after it, and of leave-one-out, against the width."""
    return mean_curves(rows["cells"], "width", "figure3", METHODS, "time", "cpu_s", "s")


def figure(tidy, context):
    """Draw CPU time against the width on a logarithmic axis."""
    fig, ((ax,),) = panels(1, 1, 5, 3.5)
    times = tidy[tidy["metric"] == "time"]
    for method, (_, style) in CURVES.items():
        x, y, _ = curve(times[times["method"] == method])
        ax.plot(x, y, **style)
    ax.set(yscale="log", xlabel=LOGARITHMS["width"][1], ylabel="CPU time of one model (s)")
    ax.set_title(datasets_in_words(times))
    legend(fig, CURVES.values(), 2)
    return fig
