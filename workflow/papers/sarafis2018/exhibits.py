"""The paper's tables and figures as tidy rows, computed from result rows. Errors are fractions here."""

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from lib import sample
from lib.rows import OK
from lib.tables import at_minimum, averaged, measured
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS, SIZE

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
    """Return one column of the rows of one set: a DataFrame of models by methods, NaN if a run did not
    succeed or was not made."""
    ok = rows[rows["status"] == OK]
    varied = [name for name in MODEL if ok[name].notna().any()]
    return ok.pivot(index=varied, columns="method", values=column)


def estimates(rows):
    """Return errors and bounds of the models of one set, by methods."""
    both = models(rows)
    both["span_bound"] = models(rows, "bound").get("span_bound")
    return both.reindex(columns=[*dict.fromkeys(("test", *RULES, *PREDICTORS, "kfold_libsvm"))])


def same_pairs(one, other):
    """Return how many pairs of rules two selections (dict of rule to test error) put in the same order."""
    signs = [[np.sign(errors[a] - errors[b]) for a, b in combinations(RULES, 2)] for errors in (one, other)]
    return sum(a == b for a, b in zip(*signs, strict=True))


def table1(rows):
    """Yield the sizes of the data sets of both weightings, which Tables 4 to 6 have too."""
    for row_key, group in _sets("table1", rows, CLASS_WEIGHTS, INSTANCE_WEIGHTS):
        first = group[group["method"] == "test"].iloc[0]
        yield measured(row_key, "train_rows", first["m"], "count")
        yield measured(row_key, "test_rows", first["rows_tested"], "count")
        yield measured(row_key, "features", round(1 / first["gamma"]), "count")
        yield measured(row_key, "realisation", first["realisation"], "count")


def _selections(table, rows):
    """Yield test errors of the weights that each rule selects; ``setting`` is the experiment. ``models``
    counts the models that have an estimate, ``failed`` the runs that did not succeed and are left out, here
    and in Tables 4 to 6."""
    for row_key, group in _sets(table, rows, TABLES[table]):
        row_key, values = {**row_key, "setting": TABLES[table]}, estimates(group)
        # the worst of the models where a rule is least
        errors = at_minimum(values[[*RULES, "loo"]], values["test"]).max()
        for rule, error in [*errors.items(), ("best_on_test", values["test"].min())]:
            yield measured({**row_key, "method": rule}, "test_error", error, "fraction")
        yield from _models(row_key, values, (*RULES, "loo", "test"))
        yield measured({**row_key, "method": "all"}, "failed", int((group["status"] != OK).sum()), "count")


table2, table3 = partial(_selections, "table2"), partial(_selections, "table3")


def table4(rows):
    """Yield the distance of each rule from the test error."""
    for row_key, group in _sets("table4", rows, CLASS_WEIGHTS, INSTANCE_WEIGHTS):
        values = estimates(group)
        for method in PREDICTORS:
            error = (values[method] - values["test"]).dropna()
            rmse = np.sqrt((error**2).mean()) if len(error) else np.nan
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
        yield from _models(row_key, values, PREDICTORS)


def table5(rows):
    """Yield empty span sets and numbers of support vectors."""
    for row_key, group in _sets("table5", rows, CLASS_WEIGHTS, INSTANCE_WEIGHTS):
        yield from _counts(row_key, group)


def table6(rows):
    """Yield CPU times of a model."""
    for row_key, group in _sets("table6", rows, CLASS_WEIGHTS, INSTANCE_WEIGHTS):
        yield from _times(row_key, group)


def _sets(exhibit, rows, *experiments):
    """Yield exhibit and data set, and the rows, of each set of some experiments, in their order."""
    for experiment in experiments:
        for dataset, group in rows[rows["experiment"] == experiment].groupby("dataset", sort=False):
            yield {"exhibit": exhibit, "dataset": dataset}, group


def _counts(row_key, group):
    empty = group.loc[(group["method"] == "span_bound") & (group["status"] == OK), "n_empty"]
    fits = group[(group["method"] == "test") & (group["status"] == OK)]
    yield averaged({**row_key, "method": "span"}, "empty_span_sets", empty, "count")
    yield averaged({**row_key, "method": "svm"}, "in_bound_svs", fits["n_inbound"], "count")
    yield averaged({**row_key, "method": "svm"}, "svs", fits["n_sv"], "count")
    yield measured({**row_key, "method": "span"}, "models", len(empty), "count")


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


def _times_of_all_folds(group, seconds):
    """Return CPU times of the models (from `models`), with those of LIBSVM's cross-validation for all folds,
    and the variance of the latter. If LIBSVM was run on a sample of a model's folds, they are taken to be as
    far apart as those of our cross-validation."""
    known = pd.Series(0.0, seconds.index)
    if "folds_run" not in group or group["folds_run"].isna().all():
        return seconds, known
    fold_times = models(group, "fold_cpu_s")[["kfold", "kfold_libsvm"]].dropna()
    totals = fold_times.apply(_libsvm_total, axis=1, result_type="expand")
    seconds = seconds.assign(kfold_libsvm=totals[0].reindex(seconds.index))
    return seconds, totals[1].reindex(seconds.index)


def _libsvm_total(fold_times):
    ours = np.asarray(fold_times["kfold"])
    return sample.total(fold_times["kfold_libsvm"], ours.size, ours.std(ddof=1) / ours.mean())


def _times(row_key, group):
    seconds, variance = _times_of_all_folds(group, models(group, "cpu_s"))
    # one model's share: a job's matrix serves the whole grid
    gram_s = group["gram_cpu_s"].mean() / len(seconds)
    times = pd.DataFrame(
        {
            name: sum(seconds.get(method, np.nan) for method in methods) + gram_s * with_gram
            for name, (methods, with_gram) in TIMES.items()
        },
        index=seconds.index,
    )
    timed = times[times[["span_rule", "kfold"]].notna().all(axis=1)]
    yield measured({**row_key, "method": "gram"}, "time", group["gram_cpu_s"].mean(), "s")
    for method in TIMES:
        here, mean = {**row_key, "method": method}, timed[method].mean(skipna=False)
        yield measured(here, "time", mean, "s", timed[method].std(ddof=1))
        yield measured(here, "time_all_models", times[method].mean(), "s")
    libsvm = timed["kfold"].sum(), variance[timed.index].sum()
    for method in TIMES if libsvm[1] > 0 else ():
        ratio = libsvm[0] / timed[method].sum(skipna=False)
        half = sample.half_width(ratio, libsvm)
        yield measured({**row_key, "method": method}, "libsvm_over", ratio, "ratio", half)
    yield measured({**row_key, "method": "all"}, "models", len(timed), "count")


def _models(row_key, values, methods):
    for method in methods:
        yield measured({**row_key, "method": method}, "models", int(values[method].notna().sum()), "count")


def curves(exhibit, rows, figures):
    """Yield estimates and test error against each parameter of the models (Figures 2 to 4). The other
    parameters are those of the best model on the test part, of several the first. `figures` has the
    experiment and the data set of each figure. Exhibits are ``figure2a`` and so on, one per parameter;
    ``setting`` is its value, of C, C+ and C- the binary logarithm."""
    experiment, dataset = figures[exhibit]
    selected = rows[(rows["experiment"] == experiment) & (rows["dataset"] == dataset)]
    values = estimates(selected).reset_index()
    best = values.loc[values["test"].idxmin()]
    for letter, parameter in zip("abc", PARAMETERS[experiment], strict=False):
        other_names = [name for name in PARAMETERS[experiment] if name != parameter]
        line = values[(values[other_names] == best[other_names]).all(axis=1)].sort_values(parameter)
        for _, model in line.iterrows():
            place = np.log2(model[parameter]) if parameter.startswith("C") else model[parameter]
            row_key = {"exhibit": f"{exhibit}{letter}", "dataset": dataset, "setting": f"{place:.6g}"}
            for method in CURVES:
                yield measured({**row_key, "method": method}, "error", model[method], "fraction")


figure2, figure3, figure4 = (partial(curves, name) for name in ("figure2", "figure3", "figure4"))


def figure5(rows):
    """Yield CPU times of a model against the number of training rows, which is the ``setting``."""
    for row_key, group in _sizes("figure5", rows):
        yield from _times(row_key, group)


def figure6(rows):
    """Yield numbers of support vectors against the number of training rows, which is the ``setting``."""
    for row_key, group in _sizes("figure6", rows):
        yield from _counts(row_key, group)
        yield from _models(row_key, estimates(group), ("test",))


def _sizes(figure, rows):
    for row_key, dataset_rows in _sets(figure, rows, SIZE):
        for m, group in dataset_rows.groupby("m"):
            yield {**row_key, "setting": str(m)}, group
