"""Table 4: how well each rule predicts the test error.

Table of the root mean square difference between a rule's value and the test error over all models, one row
per data set.

The span bound may exceed 1 and is left out, as in the paper.
"""

import numpy as np
import pandas as pd

from lib.tables import IN_BRACKETS, measured
from papers.sarafis2018.exhibits.models import (
    PREDICTORS,
    each_set,
    estimates,
    model_counts,
    models,
    rmse_to_test,
)
from papers.sarafis2018.exhibits.published_beside import NAMES, PublishedBeside
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS

STAGES = ("cells",)
RUN_TIME = "as Table 1"


def tidy(rows, context):
    """Yield the distance of each rule from the test error."""
    for row_key, group in each_set("table4", rows["cells"], CLASS_WEIGHTS, INSTANCE_WEIGHTS):
        values = estimates(group)
        for method, rmse in rmse_to_test(values).items():
            yield measured({**row_key, "method": method}, "rmse_to_test_error", rmse, "fraction")
        # how far the span rule is from what it estimates, and our cross-validation from LIBSVM's
        apart = {
            ("span_rule", "loo"): values["span_rule"] - values["loo"],
            ("kfold", "kfold_libsvm"): _beside_libsvm(group, values["kfold"]) - values["kfold_libsvm"],
        }
        for (method, other), error in apart.items():
            yield measured(
                {**row_key, "method": method}, f"distance_to_{other}", error.abs().mean(), "fraction"
            )
        yield from model_counts(row_key, values, PREDICTORS)


def _beside_libsvm(group, errors):
    """Return the errors of our cross-validation on the rows that LIBSVM's has left out, if these are a
    sample."""
    if "folds_run" not in group or group["folds_run"].isna().all():
        return errors
    counts, drawn, rows = (models(group, name) for name in ("fold_errors", "folds_run", "rows_tested"))
    both = pd.DataFrame({"counts": counts["kfold"], "drawn": drawn["kfold_libsvm"]}).dropna()
    errors_of_sample = both.apply(
        lambda model: np.asarray(model["counts"])[list(model["drawn"])].sum(), axis=1
    )
    return (errors_of_sample / rows["kfold_libsvm"]).reindex(errors.index)


def table(tidy, context):
    """Return the distance of each rule from the test error, and distances between rules."""
    both = PublishedBeside("table4", tidy, context.published)
    columns = [
        *(("RMSE", NAMES[method], both.both(4, method, "rmse_to_test_error")) for method in PREDICTORS),
        ("Mean distance", "span rule, LOO", both.alone(4, "span_rule", "distance_to_loo")),
        ("Mean distance", "CV, LIBSVM's CV", both.alone(4, "kfold", "distance_to_kfold_libsvm")),
    ]
    return both.arranged(
        columns,
        "Root mean square difference of a rule's value and the test error over the models. Mean distance: "
        "mean absolute difference over the models on which both were run, of the span rule from exact "
        "leave-one-out, and of our cross-validation from LIBSVM's on the same folds. "
        f"{IN_BRACKETS}",
        *both.part_of_the_grid("span_rule"),
    )
