"""Agreement: method against method.

Table of the agreement of the leave-one-out methods, one row per data set and kernel and one for all: models
and points compared, and how many differ.

``agreement_points.csv`` lists every point on which the methods differ, with the decision value of each method
and the exact one. A point is degenerate if the exact value is at most {{ limits["degenerate"] }} in size.
Models on which a method failed or did not converge are not compared.
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
        "A model is compared once per realisation. Its pattern says which training points are leave-one-out "
        "errors. For each point on which methods differ, the classifier without the point is retrained to a "
        "KKT gap of 1e-8. The point is degenerate if this exact decision value is at most "
        f"{context.limits['degenerate']:g} in size. Otherwise the methods with the other sign are wrong."
    ]
    return arranged(tidy.itertuples(index=False, name=None), columns, notes)
