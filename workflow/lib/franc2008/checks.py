"""Checks on the results: do the methods agree, and how far are they from the published values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.franc2008.exhibits import ALL_SETS, KERNELS, METHODS, MODEL
from lib.rows import OK, unpack_bits
from lib.tables import KEY

__all__ = ["agreement", "compare"]

# the published quantities that do not depend on the machine, and the time ratio
COMPARED = ("loo_error", "test_error", "kernel_columns", "kernel_column_speedup", "time_speedup", "certified")

COUNTS = (
    "models_compared",
    "models_equal",
    "models_not_compared",
    "points_compared",
    "points_differing",
    "points_degenerate",
    "points_within_tolerance",
)


def agreement(rows, datasets, degenerate):
    """Compare the error patterns of the methods, model by model and point by point.

    Parameters
    ----------
    rows : DataFrame
        Leave-one-out rows.
    datasets : list of str
    degenerate : float
        A decision value of at most this size, by "unlearn" (which solves to round-off), is a tie at 0.

    Returns
    -------
    summary : DataFrame
        One row per data set and kernel, then one of the totals: models compared (a model on one realisation
        counts once), models on which all methods have the same pattern, models not compared because a method
        failed, points compared, points that differ, how many of these are degenerate, and on how many no
        method has a decision value larger than the KKT gap at which retraining stops.
    differences : DataFrame
        One row per point that differs: the model, the point's row number in the training part, the decision
        value of each method (NaN if it was not run), the methods that call it an error, and whether it is
        degenerate and within tolerance.
    """
    summary, differences = [], []
    for dataset in datasets:
        for kernel in KERNELS:
            own = rows[(rows["dataset"] == dataset) & (rows["kernel"] == kernel)].fillna({"gamma": 0.0})
            counts = dict.fromkeys(COUNTS, 0)
            for key, model in own.groupby(MODEL):
                if not (model["status"] == OK).all():
                    counts["models_not_compared"] += 1
                    continue
                points = _differences(model, degenerate)
                differences += [{**dict(zip(MODEL, key, strict=True)), **point} for point in points]
                counts["models_compared"] += 1
                counts["models_equal"] += not points
                counts["points_compared"] += int(model["m"].iloc[0])
                counts["points_differing"] += len(points)
                for what in ("degenerate", "within_tolerance"):
                    counts[f"points_{what}"] += sum(point[what] for point in points)
            summary.append({"dataset": dataset, "kernel": kernel, **counts})
    summary = pd.DataFrame(summary)
    total = {"dataset": ALL_SETS, "kernel": "both", **summary[list(COUNTS)].sum()}
    columns = [*MODEL, "point", *(f"{method}_decision" for method in METHODS), "error_by"]
    columns += ["degenerate", "within_tolerance"]
    differences = pd.DataFrame(differences, columns=columns)
    differences.loc[differences["kernel"] == "linear", "gamma"] = np.nan
    return pd.concat([summary, pd.DataFrame([total])], ignore_index=True), differences


def _differences(model, degenerate):
    """Points whose error the rows of one model do not agree on, each as a dict."""
    model = model.set_index("method")
    patterns = {name: unpack_bits(row["error_pattern"], int(row["m"])) for name, row in model.iterrows()}
    stacked = np.array(list(patterns.values()))
    points = np.flatnonzero(stacked.any(axis=0) & ~stacked.all(axis=0))
    for name, row in model.iterrows():
        if list(row["differing_points"]) != list(points):
            raise ValueError(
                f"the error patterns of {tuple(row[MODEL])} differ in the points {list(points)}, the cell "
                f"recorded {list(row['differing_points'])} for {name}"
            )
    found = []
    for i, point in enumerate(points):
        decisions = {f"{name}_decision": row["differing_decisions"][i] for name, row in model.iterrows()}
        found.append(
            {
                "point": int(point),
                **decisions,
                "error_by": " ".join(name for name in METHODS if name in patterns and patterns[name][point]),
                "degenerate": bool(abs(decisions.get("unlearn_decision", np.inf)) <= degenerate),
                "within_tolerance": bool(max(map(abs, decisions.values())) <= model["tol"].iloc[0]),
            }
        )
    return found


def compare(published, reproduced, loo_tolerance):
    """Published beside reproduced values.

    Parameters
    ----------
    published, reproduced : DataFrame
        Tidy rows (`lib.tables.TIDY_COLUMNS`).
    loo_tolerance : float
        Largest difference of a leave-one-out error, in percentage points, that counts as the published value.

    Returns
    -------
    DataFrame
        One row per published value whose data set was run: the key columns, unit, ``published`` and
        ``reproduced`` with their spreads, ``difference`` (reproduced - published), ``ratio`` (reproduced /
        published), and ``within``: "yes" or "no" for ``loo_error``, empty for the others and where nothing
        was reproduced.

    Raises
    ------
    ValueError
        If a data set was run but one of its published values, of an exhibit that was made, has no reproduced
        row, or one in another unit.
    """
    published = published[
        published["metric"].isin(COMPARED)
        & published["dataset"].isin(reproduced["dataset"])
        & published["exhibit"].isin(reproduced["exhibit"])
    ]
    joined = published.merge(reproduced, on=KEY, how="left", suffixes=("_published", ""), indicator=True)
    unmatched = joined[(joined["_merge"] != "both") | (joined["unit"] != joined["unit_published"])]
    if len(unmatched):
        raise ValueError(f"no reproduced value of the published {tuple(unmatched.iloc[0][KEY])}")
    result = joined[KEY].copy()
    result["unit"] = joined["unit"]
    result["published"], result["published_spread"] = joined["value_published"], joined["spread_published"]
    result["reproduced"], result["reproduced_spread"] = joined["value"], joined["spread"]
    result["difference"] = result["reproduced"] - result["published"]
    result["ratio"] = result["reproduced"] / result["published"]
    decided = (result["metric"] == "loo_error") & result["reproduced"].notna()
    within = result["difference"].abs() <= loo_tolerance + 1e-9
    result["within"] = np.where(decided, np.where(within, "yes", "no"), "")
    return result
