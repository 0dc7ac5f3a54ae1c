"""Points whose class depends on the seed."""

import numpy as np
import pandas as pd

from lib.rows import OK
from papers.wen2017.exhibits.methods import SEEDS

# a k that is no number, in words
WHOLE = {"loo": "leave-one-out"}


def compared_seeds(rows, tie):
    """Compare the classes that all seeds give. Folds by unlearning are a cell of their own, which has not
    seen the decision values of the seeds.

    Returns a summary, one row per data set, settings and k: seeds compared, seeds that failed, points
    compared, points that differ, how many of these are no ties, and the least and the largest accuracy
    (percent). And one row per point that differs: its row number in the data, its fold, the decision value of
    each seed, and whether it is a tie, which it is if none of these is larger than `tie` in size.
    """
    rows = rows[rows["method"].isin(SEEDS)]
    summary, points = [], []
    for (dataset, settings, k), group in rows.groupby(["dataset", "settings", "fold"], sort=False):
        key = {"dataset": dataset, "settings": settings, "k": k}
        # a fit that stopped early has decision values too, but not those of a solution
        ok = group[group["status"] == OK]
        differing_points = differing(ok, tie)
        # seeds that were run on fewer folds have the accuracy of other points
        accuracy = 100 * (1 - ok.loc[ok["rounds"] == ok["rounds"].max(), "estimate"])
        summary.append(
            {
                **key,
                "seeds": len(ok),
                "failed": len(group) - len(ok),
                "points": int(ok["rows_tested"].min()) if len(ok) else 0,
                "differing": len(differing_points),
                "no_ties": sum(point["tie"] == "no" for point in differing_points),
                "accuracy_least": accuracy.min(),
                "accuracy_most": accuracy.max(),
            }
        )
        points += [{**key, **point} for point in differing_points]
    columns = ["dataset", "settings", "k", "point", "fold", *SEEDS, "tie"]
    return pd.DataFrame(summary), pd.DataFrame(points, columns=columns)


def differing(rows, tie):
    """Return the points of one cell on which its seeds differ."""
    if not len(rows):
        return []
    decisions = np.array([list(values) for values in rows["differing_decisions"]], dtype=float)
    first = rows.iloc[0]
    points = []
    for i, (point, fold) in enumerate(zip(first["differing_points"], first["differing_folds"], strict=True)):
        values = decisions[:, i]
        # seeds that failed may be what made the point differ
        if (values >= 0).all() or (values < 0).all():
            continue
        named = dict(zip(rows["method"], values.tolist(), strict=True))
        is_tie = "yes" if np.abs(values).max() <= tie else "no"
        points.append({"point": int(point), "fold": int(fold), **named, "tie": is_tie})
    return points
