"""Folds: iterations and the choice of folds.

Table of the total iterations of cross-validation from each seed on many random assignments of the rows to
folds, stratified or not, beside the published ones.

The paper does not say how it draws its folds. The table has the mean, the least and the most over the
assignments; ``folds.csv`` has standard deviations (n - 1). Two seeds leave out steps of the paper: "SIR, K >
0 only" and "T at 0". They give published counts that the paper's own description does not.
"""

from lib.rows import OK
from lib.shown import dataset_in_words
from lib.tables import (
    MISSING,
    arranged,
    averaged,
    data_set,
    filled,
    lines_of,
    lookup,
    measured,
    printed_text,
    shown,
)
from papers.wen2017.exhibits.methods import COLD, LIBSVM, NAMES

STAGES = ("variants",)


def tidy(rows, context):
    return iterations_by_folds(rows["variants"])


def iterations_by_folds(rows):
    """Yield total iterations of every seed over many assignments of the rows to folds, with the kind of
    assignment as ``setting``: their mean, ``iterations_least``, ``iterations_most`` and ``assignments``."""
    for (dataset, kind, method), group in rows.groupby(["dataset", "folds", "method"], sort=False):
        row_key = {"exhibit": "folds", "dataset": dataset, "setting": kind, "method": method}
        n_iter = group.loc[group["status"] == OK, "n_iter"].astype(float)
        yield averaged(row_key, "iterations", n_iter, "count")
        yield measured(row_key, "iterations_least", n_iter.min(), "count")
        yield measured(row_key, "iterations_most", n_iter.max(), "count")
        yield measured(row_key, "assignments", len(n_iter), "count")


def table(tidy, context):
    """Return the iterations beside the published ones, for each kind of assignment."""
    key = ("dataset", "method", "setting", "metric")
    ours, printed = lookup(tidy, key), printed_text(context.published, "table1", key)

    def as_printed(dataset, method):
        return printed(dataset, LIBSVM if method == COLD else method, "k=10", "iterations") or MISSING

    columns = [("", "Data set", data_set), ("", "Method", lambda *line: NAMES[line[1]])]
    columns += [("", "Published", as_printed)]
    for (kind,) in lines_of(tidy, "setting"):
        ends = [(kind, f"iterations_{end}") for end in ("least", "most")]
        columns.append((kind, "mean", shown(ours, 0, kind, "iterations")))
        columns.append((kind, "least to most", filled("{:.0f} to {:.0f}", ours, *ends)))
    counts = tidy[tidy["metric"] == "assignments"].drop_duplicates(["dataset", "setting"])
    drawn = {}
    for dataset, group in counts.groupby("dataset", sort=False):
        numbers = ", ".join(f"{row.setting} {row.value:.0f}" for row in group.itertuples())
        drawn.setdefault(numbers, []).append(dataset_in_words(dataset))
    assignments = "; ".join(f"{', '.join(names)}: {numbers}" for numbers, names in drawn.items())
    notes = [
        f"Total iterations of all folds. Assignments of the rows to folds: {assignments}. "
        "SIR, K > 0 only: a point that leaves hands its alpha to a point whose kernel value with it is above "
        "0, or to none. T at 0: all points that enter start at 0. Both then move the points that enter only "
        "as far as the equality constraint requires. The published counts of cold are those of LIBSVM."
    ]
    return arranged(lines_of(tidy, "dataset", "method"), columns, notes)
