"""The methods of the exhibits: names, and marks in figures."""

from lib.figures import BLUE, GREEN, GREY, ORANGE, PALE, PURPLE, SKY, VERMILLION, legend

LIBSVM, COLD, PATH, UNLEARN = "libsvm", "cold", "path", "unlearn"
# our cold start, the paper's three seeds, and the two of others
SEEDS = (COLD, "ato", "mir", "sir", "avg", "top")
# in the order of the tables: LIBSVM itself, the seeds, and folds by unlearning where they were run
METHODS = (LIBSVM, *SEEDS, UNLEARN)
CHAINED = ("ato", "mir", "sir")

NAMES = {
    LIBSVM: "LIBSVM",
    COLD: "cold",
    "ato": "ATO",
    "mir": "MIR",
    "sir": "SIR",
    "avg": "AVG",
    "top": "TOP",
    UNLEARN: "unlearning",
    "sir_positive": "SIR, K > 0 only",
    "zero": "T at 0",
    PATH: "solution at the C before",
}
STYLES = {
    LIBSVM: {"color": GREY, "marker": "X"},
    COLD: {"color": "black", "marker": "o"},
    "ato": {"color": PURPLE, "marker": "v"},
    "mir": {"color": GREEN, "marker": "^"},
    "sir": {"color": VERMILLION, "marker": "s"},
    "avg": {"color": SKY, "marker": "P"},
    "top": {"color": BLUE, "marker": "D"},
    UNLEARN: {"color": "black", "marker": "<"},
    PATH: {"color": ORANGE, "marker": "*"},
}
# what the paper prints, in the shape of the method
PAPER = {"color": PALE, "markerfacecolor": "none", "markersize": 8, "zorder": 1}


def add_legend(fig, methods, linestyle, printed=False):
    """Add the legend of some methods, and of what the paper prints if that is drawn."""
    curves = [(NAMES[method], {"linestyle": linestyle, **STYLES[method]}) for method in methods]
    if printed:
        curves.append(("paper: grey, mark of the method", {"linestyle": "none", "marker": "s", **PAPER}))
    legend(fig, curves, 4)
