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
    *(f"points_wrong_by_{method}" for method in METHODS),
)


def agreement(rows, datasets, degenerate):
    """Compare the error patterns of the methods, model by model and point by point.

    Parameters
    ----------
    rows : DataFrame
        Leave-one-out rows.
    datasets : list of str
    degenerate : float
        An exact decision value of at most this size is a tie at 0.

    Returns
    -------
    summary : DataFrame
        One row per data set and kernel, then one of the totals: models compared (a model on one realisation
        counts once), models on which all methods have the same pattern, models not compared because a method
        failed, points compared, points that differ, how many of these are degenerate, and on how many others
        each method is wrong.
    differences : DataFrame
        One row per point that differs: the model, the point's row number in the training part, the exact
        decision value (retrained to a KKT gap of 1e-8) and that of each method (NaN if it was not run), the
        methods that call it an error, whether it is degenerate, and, if not, the methods whose decision
        value has the wrong sign.
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
                counts["points_degenerate"] += sum(point["degenerate"] for point in points)
                for method in METHODS:
                    wrong = sum(method in point["wrong_by"].split() for point in points)
                    counts[f"points_wrong_by_{method}"] += wrong
            summary.append({"dataset": dataset, "kernel": kernel, **counts})
    summary = pd.DataFrame(summary)
    total = {"dataset": ALL_SETS, "kernel": "both", **summary[list(COUNTS)].sum()}
    columns = [*MODEL, "point", "exact_decision", *(f"{method}_decision" for method in METHODS)]
    columns += ["error_by", "degenerate", "wrong_by"]
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
        decisions = {name: row["differing_decisions"][i] for name, row in model.iterrows()}
        exact = model["differing_exact"].iloc[0][i]
        tie = bool(abs(exact) <= degenerate)
        wrong = (
            [] if tie or np.isnan(exact) else [n for n in decisions if (decisions[n] >= 0) != (exact >= 0)]
        )
        found.append(
            {
                "point": int(point),
                "exact_decision": exact,
                **{f"{name}_decision": value for name, value in decisions.items()},
                "error_by": _names(name for name in patterns if patterns[name][point]),
                "degenerate": tie,
                "wrong_by": _names(wrong),
            }
        )
    return found


def _names(methods):
    return " ".join(sorted(methods, key=METHODS.index))


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
