"""Checks on the results: do the methods agree, and how far are they from the published values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.franc2008.exhibits import KERNELS
from lib.rows import OK, unpack_bits
from lib.tables import KEY

__all__ = ["agreement", "compare"]

# the published quantities that do not depend on the machine, and the time ratio
COMPARED = ("loo_error", "test_error", "kernel_columns", "kernel_column_speedup", "time_speedup", "certified")


def agreement(rows, datasets):
    """Compare the error patterns of the standard and the proposed method, model by model and point by point.

    Parameters
    ----------
    rows : DataFrame
        Leave-one-out rows of both methods.
    datasets : list of str

    Returns
    -------
    summary : DataFrame
        One row per data set and kernel: models compared (a model on one realisation counts once), equal
        patterns, points compared, points that differ, and models not compared because a method failed.
    differences : DataFrame
        One row per point that differs: the model, the point's row number in the training part, the decision
        value of each method and which of them calls it an error.
    """
    summary, differences = [], []
    for dataset in datasets:
        for kernel in KERNELS:
            own = rows[(rows["dataset"] == dataset) & (rows["kernel"] == kernel)].fillna({"gamma": 0.0})
            counts = dict.fromkeys(
                (
                    "models_compared",
                    "patterns_equal",
                    "points_compared",
                    "points_differing",
                    "models_not_compared",
                ),
                0,
            )
            for (realisation, C, gamma), pair in own.groupby(["realisation", "C", "gamma"]):
                pair = pair.set_index("method")
                if not (pair["status"] == OK).all():
                    counts["models_not_compared"] += 1
                    continue
                standard, proposed = pair.loc["standard"], pair.loc["proposed"]
                m = int(standard["m"])
                patterns = {name: unpack_bits(row["error_pattern"], m) for name, row in pair.iterrows()}
                points = np.flatnonzero(patterns["standard"] != patterns["proposed"])
                if list(standard["differing_points"]) != list(points):
                    raise ValueError(
                        f"{dataset}, {kernel}, realisation {realisation}, C={C}, gamma={gamma}: the error "
                        f"patterns "
                        f"differ in the points {list(points)}, the cell recorded "
                        f"{list(standard['differing_points'])}"
                    )
                counts["models_compared"] += 1
                counts["patterns_equal"] += not len(points)
                counts["points_compared"] += m
                counts["points_differing"] += len(points)
                for i, point in enumerate(points):
                    differences.append(
                        {
                            "dataset": dataset,
                            "kernel": kernel,
                            "realisation": realisation,
                            "C": C,
                            "gamma": np.nan if kernel == "linear" else gamma,
                            "point": int(point),
                            "standard_decision": standard["differing_decisions"][i],
                            "proposed_decision": proposed["differing_decisions"][i],
                            "error_by": "standard" if patterns["standard"][point] else "proposed",
                        }
                    )
            summary.append({"dataset": dataset, "kernel": kernel, **counts})
    columns = ["dataset", "kernel", "realisation", "C", "gamma", "point"]
    columns += ["standard_decision", "proposed_decision", "error_by"]
    return pd.DataFrame(summary), pd.DataFrame(differences, columns=columns)


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
        If a data set was run but one of its published values has no reproduced row, or in another unit.
    """
    published = published[
        published["metric"].isin(COMPARED) & published["dataset"].isin(reproduced["dataset"])
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
