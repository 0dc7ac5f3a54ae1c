"""Models and points on which the methods agree or differ."""

import numpy as np
import pandas as pd

from lib.rows import OK, unpack_bits
from papers.franc2008.names import ALL_SETS, KERNELS, METHODS, MODEL
from papers.franc2008.sample import decided_by_all, differing_points

COUNTS = (
    "models_compared",
    "models_equal",
    "models_not_compared",
    "points_compared",
    "points_differing",
    "points_degenerate",
    *(f"points_wrong_by_{method}" for method in METHODS),
)


def compared_methods(rows, datasets, degenerate):
    """Compare the error patterns of the methods, by rows of leave-one-out, model by model and point by point.
    An exact decision value of at most `degenerate` in size is a tie at 0.

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
            selected = rows[(rows["dataset"] == dataset) & (rows["kernel"] == kernel)].fillna({"gamma": 0.0})
            counts = dict.fromkeys(COUNTS, 0)
            # thousands of models of a few rows each: plain dicts are many times faster than frames
            models = {}
            for row in selected.to_dict("records"):
                models.setdefault(tuple(row[name] for name in MODEL), []).append(row)
            for key, model in sorted(models.items()):
                if any(row["status"] != OK for row in model):
                    counts["models_not_compared"] += 1
                    continue
                points = _differences(key, model, degenerate)
                differences += [{**dict(zip(MODEL, key, strict=True)), **point} for point in points]
                counts["models_compared"] += 1
                counts["models_equal"] += not points
                counts["points_compared"] += int(decided_by_all(model, int(model[0]["m"])).sum())
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


def _differences(key, model, degenerate):
    """Return the points on whose error the rows (dicts) of one model disagree, each as a dict."""
    patterns = {row["method"]: unpack_bits(row["error_pattern"], int(row["m"])) for row in model}
    points = differing_points(model, int(model[0]["m"]))
    for row in model:
        if list(row["differing_points"]) != list(points):
            raise ValueError(
                f"the error patterns of {key} differ in the points {list(points)}, the cell recorded "
                f"{list(row['differing_points'])} for {row['method']}"
            )
    disagreements = []
    for i, point in enumerate(points):
        decisions = {row["method"]: row["differing_decisions"][i] for row in model}
        exact = model[0]["differing_exact"][i]
        tie = bool(abs(exact) <= degenerate)
        wrong = (
            [] if tie or np.isnan(exact) else [n for n in decisions if (decisions[n] >= 0) != (exact >= 0)]
        )
        disagreements.append(
            {
                "point": int(point),
                "exact_decision": exact,
                **{f"{name}_decision": value for name, value in decisions.items()},
                "error_by": _names(name for name in patterns if patterns[name][point]),
                "degenerate": tie,
                "wrong_by": _names(wrong),
            }
        )
    return disagreements


def _names(methods):
    return " ".join(sorted(methods, key=METHODS.index))
