"""Figure 4: MNIST 3 against 8: SVs and errors against the label noise.

Three line plots against the percentage of labels swapped: support vectors, test error on noisy labels and
test error on clean labels; nu-SVM, SVM, cross-training, bagging, MULTIEDIT with CONDENSE.

Diamonds, dash-dotted: nu-SVM, which the paper compares with and draws as open squares; open squares: C-SVM
(not in the paper); circles: cross-training with nu-SVMs on {{ settings["figure4"]["subsets"] }} parts;
crosses, dashed: the mean decision value of its first stage, and the number of their different support
vectors; triangles, dotted: nearest-neighbour editing before a C-SVM (not in the paper). Data set {{
facts["figure4_data"] }}, RBF kernel with gamma = {{ settings["figure4"]["gamma"] }} on features divided by
the largest one (scale: {{ settings["figure4"]["scale"] }}). Labels are swapped in the training and in the
test part. Means over {{ settings["figure4"]["runs"] }} draws of the swapped labels, of the editing {{
settings["sample"]["runs"] if config["baselines"] == "sampled" else settings["figure4"]["runs"] }}, bars of
one standard deviation (n - 1) of several draws. Dotted grey lines: where the axis of the paper ends. Errors
of the editing on clean labels may be above the axis.
"""

from lib.figures import panels
from papers.bakir2004.exhibits.method_panels import METHOD_NAMES, add_legend, draw_axis_end, draw_metrics
from papers.bakir2004.exhibits.summaries import ERROR, SVS, TIME, curve_means

STAGES = ("cells",)
RUN_TIME = "25 min"

CLEAN_ERROR = ("clean_error", lambda rows: 100 * rows["clean_errors"] / rows["rows_tested"], "percent")
LABELS = {
    "svs": "Support vectors",
    "error": "Test error, noisy labels (%)",
    "clean_error": "Test error, clean labels (%)",
}


def tidy(rows, context):
    """Return support vectors and test errors, on noisy and on clean labels, against the percentage of labels
    swapped."""
    selected = rows["cells"][rows["cells"]["experiment"] == "figure4"]
    return curve_means(
        selected.assign(level=100 * selected["level"]), "level", [SVS, ERROR, CLEAN_ERROR, TIME]
    )


def figure(tidy, context):
    """Draw support vectors, test error and test error on clean labels against the label noise. Grey: the end
    of the paper's axis."""
    fig, axes = panels(1, 3, 7.4, 2.9)
    ends = 0
    for ax, metric, rows in draw_metrics(axes.flat, tidy, LABELS, "Labels swapped (%)"):
        drawn = draw_axis_end(ax, context.published, "figure4", metric)
        ends += len(drawn)
        # the editing, which is not in the paper, may be far above the other methods
        compared = rows.loc[rows["method"] != "multiedit_condense", "value"]
        ax.set_ylim(0, 1.05 * max([*drawn, compared.max()]) if metric == "clean_error" else None)
    add_legend(fig, tidy, ends, METHOD_NAMES | {"svm": "C-SVM"})
    return fig
