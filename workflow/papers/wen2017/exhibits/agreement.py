"""Agreement: seed against seed.

Table of the agreement of the seeds, one row per data set, settings and k: points classified by all, points
whose class differs, and how many of these are no ties.

``agreement_points.csv`` lists each point whose class depends on the seed, with its decision value from each
seed. A point is a tie if none of these values is larger than {{ limits["tie"] }} in size. All fits stop at a
KKT gap of {{ settings["tol"] }}, within which decision values may differ.
"""

from lib.shown import dataset_in_words
from lib.tables import arranged, number
from papers.wen2017.exhibits.differing_points import WHOLE, compared_seeds

STAGES = ("seeds",)


def tidy(rows, context):
    """Return the numbers of points compared, and of those that differ."""
    summary, _ = compared_seeds(rows["seeds"], context.limits["tie"])
    return summary


def table(tidy, context):
    """Return the numbers, a row per data set, settings and k."""

    def text(column):
        return lambda row: str(row[column])

    columns = [
        ("", "Data set", lambda row: dataset_in_words(row["dataset"])),
        ("", "Settings", text("settings")),
        ("", "k", lambda row: str(WHOLE.get(row["k"], row["k"]))),
        *(("", name.capitalize(), text(name)) for name in ("seeds", "failed", "points", "differing")),
        ("", "No ties", text("no_ties")),
        *(
            ("Accuracy (%)", end, lambda row, end=end: number(row[f"accuracy_{end}"], 3))
            for end in ("least", "most")
        ),
    ]
    notes = [
        "Points: those that all seeds of a line classify. Differing: points whose class depends on the "
        f"seed. Such a point is a tie if no decision value is larger than {context.limits['tie']:g} in size. "
        "A decision value of 0 counts as class +1."
    ]
    return arranged([(row,) for row in tidy.to_dict("records")], columns, notes)
