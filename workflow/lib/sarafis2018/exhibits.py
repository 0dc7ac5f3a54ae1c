"""The paper's tables and figures as tidy rows, computed from result rows. Errors are fractions here."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from lib.rows import OK
from lib.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS, SIZE

__all__ = [
    "CURVES",
    "PARAMETERS",
    "PREDICTORS",
    "RULES",
    "TABLES",
    "TIMES",
    "curves",
    "models",
    "same_pairs",
    "size_curves",
    "tables",
]

# rules that select a model, and those whose value is an error rate; the last is not the paper's
RULES = ("span_rule", "span_bound", "kfold", "xi_alpha")
PREDICTORS = ("span_rule", "kfold", "xi_alpha", "loo")
CURVES = ("test", *PREDICTORS)
# what Tables 2 and 3 are about
TABLES = {"table2": CLASS_WEIGHTS, "table3": INSTANCE_WEIGHTS}
# a time of Table 6 and Figure 5 -> the methods whose times it is the sum of, and whether the Gram matrix is
# added
TIMES = {
    "span_rule": (("span_rule_lazy",), False),
    "kfold": (("kfold_libsvm",), False),
    "span_rule_shared": (("test", "span_rule"), True),
    "kfold_shared": (("kfold",), True),
    "loo_shared": (("test", "loo"), True),
}
# the parameters of the models, all and per experiment
MODEL = ("C_positive", "C_negative", "A", "B", "C")
PARAMETERS = {CLASS_WEIGHTS: ("C_positive", "C_negative"), INSTANCE_WEIGHTS: ("A", "B", "C")}


def models(rows, column="estimate"):
    """One column of the rows of one set: a DataFrame of models by methods, NaN where a run did not succeed
    or was not made."""
    ok = rows[rows["status"] == OK]
    varied = [name for name in MODEL if ok[name].notna().any()]
    return ok.pivot(index=varied, columns="method", values=column)


def estimates(rows):
    """Errors and bounds of the models of one set, by methods."""
    both = models(rows)
    both["span_bound"] = models(rows, "bound").get("span_bound")
    return both.reindex(columns=[*dict.fromkeys(("test", *RULES, *PREDICTORS, "kfold_libsvm"))])


def chosen(values, test):
    """Worst test error among the models where a rule is least; NaN without models."""
    both = pd.DataFrame({"value": values, "test": test}).dropna()
    return both.loc[both["value"] == both["value"].min(), "test"].max()


def same_pairs(one, other):
    """Of the pairs of rules, how many two selections (dict of rule to test error) put in the same order."""
    signs = [[np.sign(errors[a] - errors[b]) for a, b in combinations(RULES, 2)] for errors in (one, other)]
    return sum(a == b for a, b in zip(*signs, strict=True))


def tables(rows):
    """Tables 1 to 6.

    Parameters
    ----------
    rows : DataFrame
        Of all cells.

    Returns
    -------
    dict of str to list of dict
        Tidy rows by table; ``setting`` is the experiment in Tables 2 and 3, and empty in the others.
        ``models`` counts the models behind a value where they are not the whole grid, ``failed`` the runs
        that did not succeed and are left out.
    """
    found = {f"table{number}": [] for number in range(1, 7)}
    for experiment, dataset, own in sets(rows, (CLASS_WEIGHTS, INSTANCE_WEIGHTS)):
        row = partial(_tidy, dataset=dataset)
        selection = next(table for table, what in TABLES.items() if what == experiment)
        found["table1"] += _sizes(partial(row, "table1"), own)
        found[selection] += _selections(partial(row, selection, setting=experiment), own)
        found["table4"] += _predictions(partial(row, "table4"), own)
        found["table5"] += _counts(partial(row, "table5"), own)
        found["table6"] += _times(partial(row, "table6"), own)
    return found


def sets(rows, experiments):
    """Experiment, data set and rows of each set of some experiments, in their order."""
    for experiment in experiments:
        for dataset, own in rows[rows["experiment"] == experiment].groupby("dataset", sort=False):
            yield experiment, dataset, own


def _sizes(row, own):
    first = own[own["method"] == "test"].iloc[0]
    sizes = {
        "train_rows": first["m"],
        "test_rows": first["rows_tested"],
        "features": round(1 / first["gamma"]),
        "realisation": first["realisation"],
    }
    return [row(metric=metric, value=value, unit="count") for metric, value in sizes.items()]


def _selections(row, own):
    values = estimates(own)
    tidy = [
        row(method=rule, metric="test_error", value=chosen(values[rule], values["test"]), unit="fraction")
        for rule in (*RULES, "loo")
    ]
    least = {"method": "best_on_test", "metric": "test_error", "value": values["test"].min()}
    return [
        *tidy,
        row(**least, unit="fraction"),
        *_models(row, values, (*RULES, "loo", "test")),
        _failed(row, own),
    ]


def _predictions(row, own):
    values = estimates(own)
    tidy = []
    for method in PREDICTORS:
        error = (values[method] - values["test"]).dropna()
        rmse = np.sqrt((error**2).mean()) if len(error) else np.nan
        tidy.append(row(method=method, metric="rmse_to_test_error", value=rmse, unit="fraction"))
    # how far the span rule is from what it estimates, and our cross-validation from LIBSVM's
    for method, other in (("span_rule", "loo"), ("kfold", "kfold_libsvm")):
        error = (values[method] - values[other]).abs()
        tidy.append(row(method=method, metric=f"distance_to_{other}", value=error.mean(), unit="fraction"))
    return [*tidy, *_models(row, values, PREDICTORS)]


def _counts(row, own):
    empty = own.loc[(own["method"] == "span_bound") & (own["status"] == OK), "n_empty"]
    fits = own[(own["method"] == "test") & (own["status"] == OK)]
    counts = [("span", "empty_span_sets", empty)]
    counts += [("svm", name, fits[of]) for name, of in (("in_bound_svs", "n_inbound"), ("svs", "n_sv"))]
    return [
        row(method=method, metric=metric, value=values.mean(), unit="count", spread=values.std(ddof=1))
        for method, metric, values in counts
    ]


def _times(row, own):
    seconds = models(own, "cpu_s")
    # of one model: a job's matrix serves the whole grid
    gram_s = own["gram_cpu_s"].mean() / len(seconds)
    times = pd.DataFrame(
        {
            name: sum(seconds.get(method, np.nan) for method in methods) + gram_s * with_gram
            for name, (methods, with_gram) in TIMES.items()
        },
        index=seconds.index,
    )
    timed = times[times[["span_rule", "kfold"]].notna().all(axis=1)]
    tidy = [row(method="gram", metric="time", value=own["gram_cpu_s"].mean(), unit="s")]
    for method in TIMES:
        tidy += [
            row(
                method=method,
                metric="time",
                value=timed[method].mean(skipna=False),
                unit="s",
                spread=timed[method].std(ddof=1),
            ),
            row(method=method, metric="time_all_models", value=times[method].mean(), unit="s"),
        ]
    return [*tidy, row(method="all", metric="models", value=len(timed), unit="count")]


def _models(row, values, methods):
    return [
        row(method=method, metric="models", value=int(values[method].notna().sum()), unit="count")
        for method in methods
    ]


def _failed(row, own):
    return row(method="all", metric="failed", value=int((own["status"] != OK).sum()), unit="count")


def curves(exhibit, rows, experiment, dataset):
    """Estimates and test error against each parameter of the models (Figures 2 to 4), the others fixed at the
    best model on the test part, of several the first.

    Returns
    -------
    list of dict
        Tidy rows; exhibits ``figure2a`` and so on, one per parameter; ``setting`` is its value, of C, C+ and
        C- the binary logarithm.
    """
    own = rows[(rows["experiment"] == experiment) & (rows["dataset"] == dataset)]
    values = estimates(own).reset_index()
    best = values.loc[values["test"].idxmin()]
    tidy = []
    for letter, parameter in zip("abc", PARAMETERS[experiment], strict=False):
        others = [name for name in PARAMETERS[experiment] if name != parameter]
        line = values[(values[others] == best[others]).all(axis=1)].sort_values(parameter)
        for _, model in line.iterrows():
            at = np.log2(model[parameter]) if parameter.startswith("C") else model[parameter]
            row = partial(_tidy, f"{exhibit}{letter}", dataset=dataset, setting=f"{at:.6g}", metric="error")
            tidy += [row(method=method, value=model[method], unit="fraction") for method in CURVES]
    return tidy


def size_curves(rows):
    """CPU times (Figure 5) and numbers of support vectors (Figure 6) of a model against the number of
    training rows, which is the ``setting``: two lists of tidy rows."""
    figure5, figure6 = [], []
    for _, dataset, of_set in sets(rows, (SIZE,)):
        for m, own in of_set.groupby("m"):
            row = partial(_tidy, dataset=dataset, setting=str(m))
            figure5 += _times(partial(row, "figure5"), own)
            figure6 += _counts(partial(row, "figure6"), own)
            figure6 += _models(partial(row, "figure6"), estimates(own), ("test",))
    return figure5, figure6


def _tidy(exhibit, dataset, metric, value, unit, setting="", method="", spread=np.nan):
    return {
        "exhibit": exhibit,
        "dataset": dataset,
        "setting": setting,
        "method": method,
        "metric": metric,
        "value": value,
        "spread": spread,
        "unit": unit,
    }
