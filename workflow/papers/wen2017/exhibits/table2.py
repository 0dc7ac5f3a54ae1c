"""Table 2: data sets and settings.

Table of the data sets with rows, features, C and gamma, as published and as chosen on scaled data, and of the
size of the kernel values off the diagonal; the printed numbers are in brackets.

K > 1e-6: the percentage of the kernel values off the diagonal that are above 1e-6. Largest K: the largest
value off the diagonal. With the published settings several kernel matrices are all but the identity. Their
models learn nothing, which is why their accuracy is the share of the larger class. Chosen: the model with the
least error in {{ settings["choice"]["folds"] }}-fold cross-validation on at most {{
settings["choice"]["rows"] }} rows, with each feature divided by its range.
"""

from lib.shown import dataset_in_words
from lib.tables import (
    IN_BRACKETS,
    arranged,
    beside,
    data_set,
    filled,
    lines_of,
    lookup,
    measured,
    part,
    printed_text,
    shown,
)
from papers.wen2017.problem import PUBLISHED

STAGES = ("seeds",)
RUN_TIME = "as Table 1"


def tidy(rows, context):
    """Yield the settings, published and chosen, as ``setting``, and measures of the kernel with them.
    ``kernel_share`` is the percentage of the kernel values off the diagonal that are above 1e-6,
    ``kernel_largest`` the largest of these values."""
    for (dataset, settings), group in rows["seeds"].groupby(["dataset", "settings"], sort=False):
        row_key, first = {"exhibit": "table2", "dataset": dataset, "setting": settings}, group.iloc[0]
        yield measured(row_key, "rows", first["m"], "count")
        yield measured(row_key, "features", context.facts["features"][dataset], "count")
        yield measured(row_key, "C", first["C"], "")
        yield measured(row_key, "gamma", first["gamma"], "")
        yield measured(row_key, "kernel_share", 100 * first["kernel_share"], "percent")
        yield measured(row_key, "kernel_largest", first["kernel_largest"], "")


def table(tidy, context):
    """Return the settings and the printed ones."""
    ours, printed = lookup(tidy), printed_text(context.published, "table2")

    def setting(name):
        return beside(filled("{:.6g}", ours, ("", name)), printed, "", name)

    columns = [
        ("", "Data set", data_set),
        ("", "Settings", part(1)),
        ("", "Rows", shown(ours, 0, "", "rows", printed=printed)),
        ("", "Features", shown(ours, 0, "", "features", printed=printed)),
        ("", "C", setting("C")),
        ("", "gamma", setting("gamma")),
        ("", "K > 1e-6 (%)", filled("{:.3g}", ours, ("", "kernel_share"))),
        ("", "Largest K", filled("{:.3g}", ours, ("", "kernel_largest"))),
    ]
    lines, notes = lines_of(tidy, "dataset", "setting"), [IN_BRACKETS]
    empty = [
        dataset_in_words(dataset)
        for dataset, settings in lines
        if settings == PUBLISHED and ours(dataset, settings, "", "kernel_share")[0] < 1
    ]
    if empty:
        notes.append(
            "With the published settings the kernel matrix is all but the identity on "
            f"{', '.join(empty)}: fewer than 1 % of its values off the diagonal are above 1e-6, and no "
            "classifier can learn from it."
        )
    notes.append("Chosen: features scaled to [0, 1], C and gamma by cross-validation on part of the rows.")
    return arranged(lines, columns, notes)
