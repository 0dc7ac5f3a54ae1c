"""Growth: time and memory.

Four line plots against the number of training points on logarithmic axes: CPU time of training, memory,
support vectors and test error of SVM, cross-training and MULTIEDIT with CONDENSE.

Open squares: SVM. Circles: cross-training on {{ settings["growth"]["subsets"] }} subsets of a fifth of the
points each. Triangles, dotted: nearest-neighbour editing before the SVM. The axis of the test error is
linear. The data set is {{ facts["growth_data"] }}, with one C for all. Time is that of one thread. Memory is
the peak of the process during training minus what it held before, with Gram matrices of at most {{
settings["memory_mb"] }} MB. Each method is run once at each size, up to the size that the configuration gives
it. Not in the paper.
"""

from lib.figures import panels
from papers.bakir2004.exhibits.method_panels import add_legend, draw_metrics
from papers.bakir2004.exhibits.summaries import ERROR, MEMORY, SVS, TIME, curve_means

STAGES = ("cells",)

LABELS = {
    "time": "CPU time of training (s)",
    "memory": "Memory of training (MB)",
    "svs": "Support vectors",
    "error": "Test error (%)",
}


def tidy(rows, context):
    """Return CPU time and memory of training, support vectors and test error against the size of the training
    set."""
    cells = rows["cells"]
    return curve_means(cells[cells["experiment"] == "growth"], "m", [TIME, MEMORY, SVS, ERROR])


def figure(tidy, context):
    """Draw CPU time, memory, support vectors and test error against the size, on logarithmic axes."""
    fig, axes = panels(2, 2, 6.6, 5)
    logarithmic = ("time", "memory", "svs")
    for ax, _, panel in draw_metrics(axes.flat, tidy, LABELS, "Training points", logarithmic):
        ax.set_xscale("log")
        sizes = sorted(set(panel["setting"].astype(float)))
        ax.set_xticks(sizes, [f"{size:,.0f}" for size in sizes], fontsize=7)
        ax.set_xticks([], minor=True)
    add_legend(fig, tidy)
    return fig
