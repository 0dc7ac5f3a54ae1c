"""Sensitivity: cross-training without rebalancing, and with each C.

Table of accuracies, one row per data set: what cross-training loses without the measures of section 4.3 of
the paper, and how much the accuracy of the SVM and of cross-training depends on C.

Accuracy: the SVM and cross-training as in Table 1, cross-training that puts no examples back, and
cross-training that tunes no thresholds either. Lost by a C on average: the best accuracy on the grid of C
minus the mean over the grid. For cross-training, the grid consists of all pairs of a C of the first stage
(step 2) and a C of the final SVM (step 6). Range over C: the range of the accuracy over one of these two,
with the other at its best value. Not in the paper.
"""

import pandas as pd

from lib.rows import OK
from lib.tables import arranged, data_set, filled, lines_of, lookup, measured, shown
from papers.bakir2004.exhibits.summaries import summary

STAGES = ("cells", "sensitivity")

MEASURES = {
    "svm": "SVM",
    "cross_training": "cross-training",
    "unbalanced": "nothing put back",
    "unadjusted": "no thresholds either",
}


def accuracy(rows):
    """Return the accuracy of each row, in percent."""
    return 100 * (1 - rows["estimate"])


def tidy(rows, context):
    """Yield accuracies of each data set; ``setting`` is the size of the training set."""
    cells, sensitivity = rows["cells"], rows["sensitivity"]
    metrics = [("accuracy", accuracy, "percent")]
    for (dataset, m), group in sensitivity.groupby(["dataset", "m"], sort=False):
        row_key = {"exhibit": "sensitivity", "dataset": dataset, "setting": f"train={m}"}
        yield measured(row_key, "train_rows", m, "count")
        same = (cells["experiment"] == "table1") & (cells["dataset"] == dataset) & (cells["m"] == m)
        each_C = group["method"].isin(["svm", "cross_training"])
        both = pd.concat([cells[same], group[~each_C]])
        for method in MEASURES:
            yield from summary({**row_key, "method": method}, both[both["method"] == method], metrics)
        yield from by_C(row_key, group[each_C & (group["status"] == OK)])


def by_C(row_key, rows):
    """Yield the accuracy that a C loses on average, and the range over each C of cross-training, from the
    rows of each C that succeeded."""
    values = ["first_value", "value"]
    for method, group in rows.groupby("method"):
        mean = accuracy(group).groupby([group[name] for name in values], dropna=False).mean()
        row_key = {**row_key, "method": method}
        yield measured(row_key, "lost_on_average", mean.max() - mean.mean(), "percent")
        if method == "cross_training":
            first, final = mean.idxmax()
            for name, line in (("first_C", mean.xs(final, level="value")), ("final_C", mean.xs(first))):
                yield measured(row_key, f"range_over_{name}", line.max() - line.min(), "percent")


def table(tidy, context):
    """Return the accuracies, what a C loses on average, and ranges over C."""
    ours = lookup(tidy)
    columns = [
        ("", "Data set", data_set),
        ("", "Training", filled("{:.0f}", ours, ("", "train_rows"))),
        *(("Accuracy (%)", name, shown(ours, 1, method, "accuracy")) for method, name in MEASURES.items()),
        *(
            ("Lost by a C on average", MEASURES[method], shown(ours, 1, method, "lost_on_average"))
            for method in ("svm", "cross_training")
        ),
        ("Range over C", "step 2", shown(ours, 1, "cross_training", "range_over_first_C")),
        ("Range over C", "step 6", shown(ours, 1, "cross_training", "range_over_final_C")),
    ]
    note = "Means over the realisations, on the test rows, in percent and percentage points."
    return arranged(lines_of(tidy, "dataset", "setting"), columns, [note])
