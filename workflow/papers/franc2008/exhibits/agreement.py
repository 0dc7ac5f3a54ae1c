"""Agreement: method against method.

Table of the agreement of the leave-one-out methods, one row per data set and kernel and one for all: models
and points compared, and how many differ.

A model on one realisation is one comparison: the patterns, which training points are leave-one-out errors,
are equal for all methods or not. ``agreement_points.csv`` lists every point on which they differ, with the
decision value of each method and the exact one: of the classifier retrained without the point to a KKT gap of
1e-8. A point is degenerate if the exact value is at most {{ limits["degenerate"] }} in size; else the methods
with the other sign are wrong there. Models on which a method failed or did not converge are not compared.
"""

from lib.shown import dataset_in_words
from lib.tables import arranged
from papers.franc2008.exhibits.disagreements import compared_methods
from papers.franc2008.exhibits.words import kernel_in_words
from papers.franc2008.names import METHODS

STAGES = ("cells",)


def tidy(rows, context):
    """Return the numbers of models and points compared, and of those that differ."""
    summary, _ = compared_methods(rows["cells"], context.settings["datasets"], context.limits["degenerate"])
    return summary


def table(tidy, context):
    """Return the numbers, a row per data set and kernel."""
    headings = [
        *(("Models", heading) for heading in ("compared", "equal patterns", "not compared")),
        *(("Points", heading) for heading in ("compared", "differing", "degenerate")),
        *(("Wrong by", method) for method in METHODS),
    ]
    columns = [
        ("", "Data set", lambda dataset, *_: dataset_in_words(dataset)),
        ("", "Kernel", lambda _, kernel, *numbers: kernel_in_words(kernel)),
        *(
            (*heading, lambda *line, place=place: str(line[place]))
            for place, heading in enumerate(headings, start=2)
        ),
    ]
    notes = [
        "A model is compared once per realisation; its pattern says for every training point whether it is "
        "an error. Each point on which methods differ is retrained to a KKT gap of 1e-8, which decides who "
        "is wrong; it is degenerate if this decision value is at most "
        f"{context.limits['degenerate']:g} in size."
    ]
    return arranged(tidy.itertuples(index=False, name=None), columns, notes)
