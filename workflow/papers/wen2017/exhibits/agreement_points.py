"""Disagreements: points whose class depends on the seed.

Table of the points whose class depends on the seed, one row each, with the decision value of each seed.

A point is a tie if none of its decision values is larger than {{ limits["tie"] }} in size. All fits stop at a
KKT gap of {{ settings["tol"] }}, within which decision values may differ.
"""

import pandas as pd

from lib.shown import dataset_in_words
from lib.tables import MISSING, arranged
from papers.wen2017.exhibits.differing_points import WHOLE, compared_seeds
from papers.wen2017.exhibits.methods import NAMES, SEEDS

STAGES = ("seeds",)


def tidy(rows, context):
    """Return a row per point that differs."""
    _, points = compared_seeds(rows["seeds"], context.limits["tie"])
    return points


def table(tidy, context):
    """Return the points with their decision values."""
    columns = [
        ("", "Data set", lambda point: dataset_in_words(point["dataset"])),
        ("", "Settings", lambda point: point["settings"]),
        ("", "k", lambda point: str(WHOLE.get(point["k"], point["k"]))),
        ("", "Fold", lambda point: str(point["fold"])),
        ("", "Point", lambda point: str(point["point"])),
        *(("Decision value", NAMES[seed], lambda point, seed=seed: _decision(point[seed])) for seed in SEEDS),
        ("", "Tie", lambda point: point["tie"]),
    ]
    return arranged([(point,) for point in tidy.to_dict("records")], columns, [])


def _decision(value):
    return MISSING if pd.isna(value) else f"{value:.3g}"
