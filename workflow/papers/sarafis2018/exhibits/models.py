"""Rows as estimates of models by methods. Errors are fractions."""

import numpy as np

from lib.rows import OK
from lib.tables import measured

# rules that select a model, and those whose value is an error rate; the last is not the paper's
RULES = ("span_rule", "span_bound", "kfold", "xi_alpha")
PREDICTED = ("span_rule", "kfold", "xi_alpha")
PREDICTORS = (*PREDICTED, "loo")
# the parameters of the models
PARAMETERS = ("C_positive", "C_negative", "A", "B", "C")


def models(rows, column="estimate"):
    """Return one column of the rows of one set: a DataFrame of models by methods, NaN if a run did not
    succeed or was not made."""
    ok = rows[rows["status"] == OK]
    varied = [name for name in PARAMETERS if ok[name].notna().any()]
    return ok.pivot(index=varied, columns="method", values=column)


def estimates(rows):
    """Return errors and bounds of the models of one set, by methods."""
    both = models(rows)
    both["span_bound"] = models(rows, "bound").get("span_bound")
    return both.reindex(columns=[*dict.fromkeys(("test", *RULES, *PREDICTORS, "kfold_libsvm"))])


def rmse_to_test(values):
    """Return the root mean square difference of each predictor from the test error, by method, from
    `estimates`; NaN without estimates."""
    errors = values[list(PREDICTORS)].sub(values["test"], axis=0)
    return errors.apply(lambda error: np.sqrt((error.dropna() ** 2).mean()))


def each_set(exhibit, rows, *experiments):
    """Yield exhibit and data set, and the rows, of each set of some experiments, in their order."""
    for experiment in experiments:
        for dataset, group in rows[rows["experiment"] == experiment].groupby("dataset", sort=False):
            yield {"exhibit": exhibit, "dataset": dataset}, group


def model_counts(row_key, values, methods):
    """Yield the number of models that have an estimate, for each method."""
    for method in methods:
        yield measured({**row_key, "method": method}, "models", int(values[method].notna().sum()), "count")
