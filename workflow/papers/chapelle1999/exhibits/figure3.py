"""Figure 3: time of training, span rule and leave-one-out.

Line plot of the CPU time of one model, on a logarithmic axis, against the natural logarithm of the width
sigma: training, span rule, and leave-one-out in two ways.

Solid line, circles: training; dashed, squares: the span rule after it, one factorisation for all support
vectors; dash-dotted, triangles: leave-one-out by retraining each support vector from the full solution, as in
the paper; dotted, crosses: leave-one-out by unlearning. Leave-one-out includes the training it starts with.
Means over {{ settings["width"]["realisations"] }} realisations, one thread, without the Gram matrix.
Deviations are in ``figure3.csv``. The text of the paper prints no value of this figure, so none of it stands
beside ours.
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
