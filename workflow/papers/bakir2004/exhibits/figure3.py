"""Figure 3: two Gaussians: SVs, error and time against the training set.

Line plots of support vectors, test error and CPU time of training against the number of training points, for
two Gaussian classes in 10 dimensions: SVM, cross-training, MULTIEDIT with CONDENSE.

Open squares: SVM. Star: SVM with C of at least 0.01, which fits the paper's axis. Circles: cross-training on
{{ settings["figure3"]["subsets"] }} parts. Triangles, dotted: nearest-neighbour editing before the SVM (not
in the paper). A missing triangle means that the editing left points of one class only. Values are means over
{{ settings["figure3"]["runs"] }} draws; those of the editing over {{ settings["sample"]["runs"] if
config["baselines"] == "sampled" else settings["figure3"]["runs"] }}. Where there are several draws, bars show
one standard deviation (n - 1), on logarithmic axes as a factor. The kernel is linear. The SVM's C is chosen
by cross-validation, the C of cross-training by its subsets and a validation set. Time is that of training
with the chosen C on one thread.

There is a row of panels for each standard deviation that the configuration names. The means of the classes
are +1 and -1 in five dimensions. The paper prints a standard deviation of 4, whose Bayes risk is 28.8 %. The
axis of its figure, 13 to 20 %, fits a standard deviation of 2 (a variance of 4), whose Bayes risk is 13.2 %.
Dotted grey lines mark the end of the paper's axis, which its curves do not exceed; they are the same for both
deviations.
"""

import pandas as pd

from lib.figures import panels
from papers.bakir2004.exhibits.method_panels import add_legend, draw_axis_end, draw_metrics
from papers.bakir2004.exhibits.summaries import ERROR, SVS, TIME, curve_means

STAGES = ("cells", "variance_of_four")
RUN_TIME = "5 min"

LABELS = {"svs": "Support vectors", "error": "Test error (%)", "time": "CPU time of training (s)"}


def tidy(rows, context):
    """Return support vectors, test error and CPU time of training against the size of the training set; there
    is a data set per deviation."""
    cells = [rows["cells"]]
    if "variance_of_four" in rows:
        cells.append(rows["variance_of_four"].assign(method="svm_large_C"))
    selected = pd.concat(cells).query("experiment == 'figure3'")
    named = selected.assign(
        dataset=selected["dataset"] + " " + selected["level"].map("{:g}".format).astype(str)
    )
    return curve_means(named, "m", [SVS, ERROR, TIME])


def figure(tidy, context):
    """Draw support vectors, test error and training time against the size, with one row of panels per
    deviation. Grey: the end of the paper's axis, whose deviation is in doubt."""
    datasets = list(dict.fromkeys(tidy["dataset"]))
    fig, axes = panels(len(datasets), 3, 7.4, 2.4 * len(datasets) + 0.3)
    ends = 0
    for row, dataset in zip(axes, datasets, strict=True):
        dataset_rows = tidy[tidy["dataset"] == dataset]
        for ax, metric, panel in draw_metrics(
            row, dataset_rows, LABELS, "Training points", logarithmic=("time",)
        ):
            ends += len(draw_axis_end(ax, context.published, "figure3", metric, panel["value"]))
            if metric == "svs":
                ax.set_ylim(0, None)
        row[0].set_title(f"standard deviation {dataset.split()[-1]}", loc="left")
    add_legend(fig, tidy, ends)
    return fig
