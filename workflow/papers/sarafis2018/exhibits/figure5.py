"""Figure 5: time against the training set.

Line plots on logarithmic axes of the mean CPU time of one model against the number of training rows, one
panel per number of features.

Blue, the paper's way: fit and span rule with a quadratic program for each span (circles), and LIBSVM's 5-fold
cross-validation of the same models without the time of scikit-learn's calls (triangles, dotted). Other filled
marks, kernel values on demand within LIBSVM's cache: fit and span rule with one factorisation for all spans
(squares, dashed), and LIBSVM's 5-fold cross-validation (triangles, dash-dotted). Open marks, solid: fit and
span rule, and 5-fold cross-validation, on the whole Gram matrix; its time is divided by the models and
included. Crosses, dotted: fit and exact leave-one-out on the whole Gram matrix. Values are means over the
models of a sub-grid; ``figure5.csv`` has their number. From 2^12 rows on, the default grid is a part of the
paper's, which the configuration sets. Dotted grey line, where curves cross: from this number of rows on, the
paper finds the span rule faster than cross-validation.
"""

from lib.figures import BLUE, GREEN, PAPER_AXIS, VERMILLION
from papers.sarafis2018.exhibits.size_curves import draw_sizes, each_size
from papers.sarafis2018.exhibits.table6 import model_times, times_by_qp

STAGES = ("cells", "spans")
RUN_TIME = "as Table 1"

OPEN = {"linestyle": "-", "markerfacecolor": "none"}
# in the order of a legend of two columns, which is filled column by column
CURVES = {
    "span_rule_shared": ("fit + span rule, shared Gram matrix", {"color": VERMILLION, "marker": "s", **OPEN}),
    "kfold_shared": ("5-fold CV, shared Gram matrix", {"color": GREEN, "marker": "^", **OPEN}),
    "loo_shared": ("fit + exact leave-one-out, shared", {"color": "black", "linestyle": ":", "marker": "x"}),
    "span_rule": ("fit + span rule, on demand", {"color": VERMILLION, "linestyle": "--", "marker": "s"}),
    "kfold": ("LIBSVM 5-fold CV", {"color": GREEN, "linestyle": "-.", "marker": "^"}),
    "span_rule_qp": ("fit + a QP for each span", {"color": BLUE, "linestyle": "-", "marker": "o"}),
    "kfold_beside_qp": (
        "LIBSVM 5-fold CV of the same models",
        {"color": BLUE, "linestyle": ":", "marker": "^"},
    ),
}


def tidy(rows, context):
    """Yield CPU times of a model against the number of training rows, which is the ``setting``."""
    for row_key, group in each_size("figure5", rows["cells"]):
        yield from model_times(row_key, group)
    for row_key, group in each_size("figure5", rows["spans"]):
        yield from times_by_qp(row_key, group)


def figure(tidy, context):
    """Draw the CPU time of a model against the number of training rows. Grey, where times cross: the size
    from which on the paper finds the span rule faster than cross-validation."""
    times = tidy[tidy["metric"] == "time"]
    crossing = [_times_cross(panel) for _, panel in times.groupby("dataset", sort=False)]
    grey = [("span rule faster from here on, paper", PAPER_AXIS)] if any(crossing) else []
    fig = draw_sizes(times, "method", CURVES, "CPU time of one model (s)", grey)
    for ax, crosses in zip(fig.axes, crossing, strict=True):
        if crosses:
            ax.axvline(2 ** context.limits["from_log2_m"], zorder=0, **PAPER_AXIS)
    return fig


def _times_cross(panel):
    """Return whether a curve of the span rule on demand crosses that of LIBSVM's cross-validation."""
    times = panel.pivot(index="setting", columns="method", values="value").reindex(columns=list(CURVES))
    on_demand = [name for name in CURVES if name.startswith("span_rule") and not name.endswith("_shared")]
    ratios = times[on_demand].div(times["kfold"], axis=0)
    return bool(((ratios < 1).any() & (ratios > 1).any()).any())
