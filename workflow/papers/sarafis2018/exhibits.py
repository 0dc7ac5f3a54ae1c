"""The paper's tables and figures as tidy rows, computed from result rows. Errors are fractions here."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from lib.rows import OK
from lib.selection import at_minimum
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS, SIZE

__all__ = [
    "CURVES",
    "PARAMETERS",
    "PREDICTORS",
    "RULES",
    "TABLES",
    "TIMES",
    "curves",
    "figure2",
    "figure3",
    "figure4",
    "figure5",
    "figure6",
    "models",
    "same_pairs",
    "table1",
    "table2",
    "table3",
    "table4",
    "table5",
    "table6",
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


def same_pairs(one, other):
    """Of the pairs of rules, how many two selections (dict of rule to test error) put in the same order."""
    signs = [[np.sign(errors[a] - errors[b]) for a, b in combinations(RULES, 2)] for errors in (one, other)]
    return sum(a == b for a, b in zip(*signs, strict=True))


def table1(rows):
    """Sizes of the data sets, as tidy rows like all exhibits."""
    return _of_sets(rows, "table1", _sizes)


def table2(rows):
    """Test errors of the class weights that each rule selects; ``setting`` is the experiment."""
    return _of_experiment(rows, "table2")


def table3(rows):
    """Test errors of the instance weights that each rule selects, likewise."""
    return _of_experiment(rows, "table3")


def table4(rows):
    """How far each rule is from the test error. ``models`` counts the models behind a value where they are
    not the whole grid, ``failed`` the runs that did not succeed and are left out, here and in Tables 5, 6."""
    return _of_sets(rows, "table4", _predictions)


def table5(rows):
    """Empty span sets and numbers of support vectors."""
    return _of_sets(rows, "table5", _counts)


def table6(rows):
    """CPU times of a model."""
    return _of_sets(rows, "table6", _times)


def _of_sets(rows, table, make):
    """What `make` finds in each set of both weightings."""
    every = sets(rows, (CLASS_WEIGHTS, INSTANCE_WEIGHTS))
    return [row for _, dataset, own in every for row in make(partial(_tidy, table, dataset=dataset), own)]


def _of_experiment(rows, table):
    experiment = TABLES[table]
    every = sets(rows, (experiment,))
    return [
        row
        for _, dataset, own in every
        for row in _selections(partial(_tidy, table, dataset=dataset, setting=experiment), own)
    ]


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
    # of the models where a rule is least the worst
    errors = at_minimum(values[[*RULES, "loo"]], values["test"]).max()
    tidy = [
        row(method=rule, metric="test_error", value=error, unit="fraction") for rule, error in errors.items()
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


def figure2(rows, figures):
    """Estimates and test error against the class weights of a data set; `figures` has, for this one and the
    next two, the experiment and the data set."""
    return curves("figure2", rows, *figures["figure2"])


def figure3(rows, figures):
    """The same of another data set."""
    return curves("figure3", rows, *figures["figure3"])


def figure4(rows, figures):
    """Estimates and test error against the parameters of instance weights."""
    return curves("figure4", rows, *figures["figure4"])


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


def figure5(rows):
    """CPU times of a model against the number of training rows, which is the ``setting``."""
    return [line for row, own in _of_sizes(rows, "figure5") for line in _times(row, own)]


def figure6(rows):
    """Numbers of support vectors against the number of training rows, which is the ``setting``."""
    tidy = []
    for row, own in _of_sizes(rows, "figure6"):
        tidy += _counts(row, own)
        tidy += _models(row, estimates(own), ("test",))
    return tidy


def _of_sizes(rows, figure):
    for _, dataset, of_set in sets(rows, (SIZE,)):
        for m, own in of_set.groupby("m"):
            yield partial(_tidy, figure, dataset=dataset, setting=str(m)), own


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
