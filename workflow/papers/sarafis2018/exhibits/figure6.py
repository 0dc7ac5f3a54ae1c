"""Figure 6: support vectors against the training set.

Line plots on logarithmic axes of the mean numbers of in-bound and of all support vectors against the number
of training rows, one panel per number of features.

Circles: in-bound support vectors. Squares: all. Values are means over the models of the grid; ``figure6.csv``
has their standard deviations and the numbers of models. From 2^12 rows on, the default grid is a part of the
paper's. The paper's text prints no value of this figure that could stand beside ours.
"""

from lib.figures import BLUE, VERMILLION
from papers.sarafis2018.exhibits.models import estimates, model_counts
from papers.sarafis2018.exhibits.size_curves import draw_sizes, each_size
from papers.sarafis2018.exhibits.table5 import sv_counts

STAGES = ("cells",)
RUN_TIME = "as Table 1"

CURVES = {
    "in_bound_svs": ("in-bound SVs", {"color": BLUE, "linestyle": "-", "marker": "o"}),
    "svs": ("all SVs", {"color": VERMILLION, "linestyle": "--", "marker": "s"}),
}


def tidy(rows, context):
    """Yield numbers of support vectors against the number of training rows, which is the ``setting``."""
    for row_key, group in each_size("figure6", rows["cells"]):
        yield from sv_counts(row_key, group)
        yield from model_counts(row_key, estimates(group), ("test",))


def figure(tidy, context):
    """Draw numbers of support vectors against the number of training rows, one panel per data set."""
    return draw_sizes(tidy, "metric", CURVES, "Mean number of support vectors")
