"""Disagreements: points on which the methods differ.

Table of the points whose leave-one-out error depends on the method, one row each: the model, the decision
values, and who is wrong.

The exact decision value is that of the classifier retrained without the point to a KKT gap of 1e-8. A point
is degenerate if this value is at most {{ limits["degenerate"] }} in size. Otherwise the methods with the
other sign are wrong.
"""

import pandas as pd

from lib.shown import dataset_in_words
from lib.tables import MISSING, arranged
from papers.franc2008.exhibits.disagreements import compared_methods
from papers.franc2008.exhibits.words import kernel_in_words
from papers.franc2008.names import METHODS

STAGES = ("cells",)


def tidy(rows, context):
    """Return a row per point that differs."""
    _, points = compared_methods(rows["cells"], context.settings["datasets"], context.limits["degenerate"])
    return points


def table(tidy, context):
    """Return the points with their models and decision values."""

    def text(column, pattern="{}", empty=MISSING):
        return lambda point: empty if pd.isna(point[column]) else pattern.format(point[column])

    columns = [
        ("", "Data set", lambda point: dataset_in_words(point["dataset"])),
        ("", "Kernel", lambda point: kernel_in_words(point["kernel"])),
        ("", "Realisation", text("realisation")),
        ("", "C", text("C", "{:.6g}")),
        ("", "gamma", text("gamma", "{:.6g}")),
        ("", "Point", text("point")),
        *(("Decision value", name, text(f"{name}_decision", "{:.3e}")) for name in ("exact", *METHODS)),
        ("", "An error by", text("error_by", empty="none")),
        (
            "",
            "Wrong by",
            lambda point: "degenerate" if point["degenerate"] else text("wrong_by", empty="undecided")(point),
        ),
    ]
    return arranged([(point,) for point in tidy.to_dict("records")], columns, [])
