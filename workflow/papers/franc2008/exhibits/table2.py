"""Table 2: leave-one-out and test errors of the selected models.

Table of leave-one-out and test errors in percent, one row per data set, both kernels beside each other, for
the models that the leave-one-out error selects; the printed errors are in brackets.

Models are selected by leave-one-out (method: {{ settings["methods"][0] }}) on the training parts of the first
{{ settings["realisations"] }} realisations with eps = {{ settings["eps"] }}. Ties go to the smallest C, then
the smallest gamma. The LOO error is the statistic that the paper prints. The test error is that of the model
that the paper's text describes, over at most {{ settings["test_realisations"] }} realisations. Standard
deviations use n - 1. A decision value of exactly 0 counts as class +1. ``table2.csv`` has the number of
models that failed or did not converge, and the leave-one-out error of the one model.
"""

from itertools import product

import pandas as pd

from lib.rows import OK
from lib.tables import IN_BRACKETS, arranged, averaged, data_set, lookup, measured, printed_text, shown
from papers.franc2008.exhibits.words import KERNEL_NAMES, failures
from papers.franc2008.names import KERNELS
from papers.franc2008.selection import selected_models

STAGES = ("cells", "test")
RUN_TIME = "as Table 3"


def tidy(rows, context):
    """Yield leave-one-out and test errors of the models that the first method selects (`errors_of_selected`);
    also ``loo_points``, the points of all its realisations, and ``loo_realisations``."""
    cells, datasets, selects = rows["cells"], context.settings["datasets"], context.settings["methods"][0]
    yield from errors_of_selected(selected_models(cells, datasets, selects), rows["test"], datasets)
    for (dataset, kernel), group in cells[cells["method"] == selects].groupby(["dataset", "kernel"]):
        points = group.groupby("realisation")["rows_tested"].first()
        row_key = {"exhibit": "table2", "dataset": dataset, "setting": kernel, "method": "loo"}
        yield measured(row_key, "loo_points", points.sum(), "count")
        yield measured(row_key, "loo_realisations", len(points), "count")


def errors_of_selected(selected, rows, datasets):
    """Yield leave-one-out and test errors of the `selected` models (from `selection.selected_models`), from
    rows of the tests. ``loo_error`` is the mean over the realisations of each one's minimum, as printed in
    the paper; ``loo_error_min_of_mean`` the error of the one selected model. Spreads are standard deviations
    over realisations."""
    for dataset, kernel in product(datasets, KERNELS):
        choice = selected[(selected["dataset"] == dataset) & (selected["kernel"] == kernel)].iloc[0]
        test = rows[(rows["dataset"] == dataset) & (rows["kernel"] == kernel)]
        ok = 100 * test.loc[test["status"] == OK, "estimate"]
        row_key = {"exhibit": "table2", "dataset": dataset, "setting": kernel, "method": "loo"}
        yield _chosen(row_key, choice, "loo_error")
        yield averaged(row_key, "test_error", ok, "percent")
        yield _chosen(row_key, choice, "loo_error_min_of_mean")
        yield measured(row_key, "C", choice["C"], "")
        yield measured(row_key, "models", choice["n_models"], "count")
        yield measured(row_key, "failed_models", choice["n_failed_models"], "count")
        yield measured(row_key, "test_realisations", len(ok), "count")
        yield measured(row_key, "failed_test_realisations", len(test) - len(ok), "count")
        if kernel == "rbf":
            yield measured(row_key, "gamma", choice["gamma"], "")


def _chosen(row_key, choice, metric):
    value, spread = (100 * pd.to_numeric(choice[name]) for name in (metric, f"{metric}_sd"))
    return measured(row_key, metric, value, "percent", spread)


def table(tidy, context):
    """Return the errors, a row per data set, each kernel beside the other."""
    find, printed = lookup(tidy), printed_text(context.published, "table2")

    def errors(kernel, metric, spread=False):
        return shown(find, 2, kernel, "loo", metric, spread=spread, printed=printed)

    columns = [("", "Data set", data_set)]
    for kernel, name in KERNEL_NAMES.items():
        columns += [
            (name, "LOO error (%)", errors(kernel, "loo_error")),
            (name, "Test error (%)", errors(kernel, "test_error", spread=True)),
        ]
    notes = [
        "LOO error: the smallest leave-one-out error of each realisation, averaged over the realisations. "
        "Test error: that of the one model with the smallest mean leave-one-out error, trained anew on each "
        f"realisation; mean ± standard deviation over the realisations. {IN_BRACKETS}",
        *failures(tidy, "failed_models", "Models without a result, left out of the selection"),
        *failures(
            tidy, "failed_test_realisations", "Realisations without a test error, left out of the mean"
        ),
    ]
    return arranged([(dataset,) for dataset in context.settings["datasets"]], columns, notes)
