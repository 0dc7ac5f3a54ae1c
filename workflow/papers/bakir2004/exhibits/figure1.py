"""Figure 1: support vectors against the overlap.

Line plot on a logarithmic axis of the support vectors of a linear SVM, bounded (alpha = C) and in-bound (0 <
alpha < C), against the overlap of the two classes.

Solid line, squares: alpha = C. Dashed line, circles: 0 < alpha < C. The two classes are uniform on unit
squares that share a strip. The axis shows the width of this strip; the Bayes risk is half of the width.
Values are means over {{ settings["figure1"]["runs"] }} draws, with bars of one standard deviation (n - 1).
The number of points, {{ 2 * settings["figure1"]["n"] }}, and C = {{ settings["figure1"]["C"] }} are
assumptions, because the paper states neither. The paper's text prints no value of this figure that could
stand beside ours.
"""

from lib.figures import BLUE, VERMILLION, panels
from papers.bakir2004.exhibits.method_panels import draw_bars
from papers.bakir2004.exhibits.summaries import ERROR, curve_means

STAGES = ("cells",)
RUN_TIME = "seconds"

CURVES = {
    "svs_bounded": (r"$\alpha = C$", {"color": BLUE, "linestyle": "-", "marker": "s"}),
    "svs_inbound": (r"$0 < \alpha < C$", {"color": VERMILLION, "linestyle": "--", "marker": "o"}),
}


def tidy(rows, context):
    """Return bounded and in-bound support vectors against the overlap."""
    cells = rows["cells"]
    bounded = ("svs_bounded", lambda rows: rows["n_sv"] - rows["n_inbound"], "count")
    inbound = ("svs_inbound", lambda rows: rows["n_inbound"], "count")
    return curve_means(cells[cells["experiment"] == "figure1"], "level", [bounded, inbound, ERROR])


def figure(tidy, context):
    """Draw bounded and in-bound support vectors against the overlap, on a logarithmic axis."""
    fig, ((ax,),) = panels(1, 1, 4.6, 3.2)
    ax.set_yscale("log")
    for metric, (label, style) in CURVES.items():
        draw_bars(ax, tidy[(tidy["metric"] == metric) & (tidy["value"] > 0)], {**style, "label": label})
    ax.set(ylim=(1, None), xlabel="Width of the common strip", ylabel="Support vectors")
    ax.legend()
    return fig
