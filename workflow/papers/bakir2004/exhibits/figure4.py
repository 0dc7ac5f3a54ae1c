"""Figure 4: SVs and errors against the label noise.

Three line plots against the percentage of labels swapped: support vectors, test error on noisy labels and
test error on clean labels; nu-SVM, SVM, cross-training, bagging, MULTIEDIT with CONDENSE.

The data set is {{ facts["figure4_data"] }}{{ facts["figure4_printed_data"] }}. Diamonds, dash-dotted:
nu-SVM, the paper's baseline, which the paper draws as open squares. Open squares: C-SVM (not in the
paper). Circles: cross-training with nu-SVMs on {{ settings["figure4"]["subsets"] }} parts. Crosses,
dashed: bagging, which predicts by the mean decision value of the first stage; its support vectors are the
distinct ones of this stage. Triangles, dotted: nearest-neighbour editing before a C-SVM (not in the
paper). Values are means over {{ settings["figure4"]["runs"] }} draws of the swapped labels; those of the
editing over {{ settings["sample"]["runs"] if config["baselines"] == "sampled" else
settings["figure4"]["runs"] }}. Where there are several draws, bars show one standard deviation (n - 1).
Labels are swapped in the training and in the test part. Dotted grey lines mark the end of the paper's
axis, where our values reach a tenth of it; errors of the editing on clean labels may lie above our axis.

The RBF kernel has gamma = {{ settings["figure4"]["gamma"] }} on features divided by the largest absolute
value (scale: {{ settings["figure4"]["scale"] }}).
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
        drawn = draw_axis_end(ax, context.published, "figure4", metric, rows["value"])
        ends += len(drawn)
        # the editing, which is not in the paper, may be far above the other methods
        compared = rows.loc[rows["method"] != "multiedit_condense", "value"]
        ax.set_ylim(0, 1.05 * max([*drawn, compared.max()]) if metric == "clean_error" else None)
    # other data than the paper's are named in the picture
    if context.facts.get("figure4_printed_data"):
        axes[0, 0].set_title(f"Data: {context.facts['figure4_data']}", loc="left")
    add_legend(fig, tidy, ends, METHOD_NAMES | {"svm": "C-SVM"})
    return fig
