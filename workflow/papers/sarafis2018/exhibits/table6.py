"""Table 6: mean time of a model.

Table of the mean CPU time of one model, one row per data set: fit and span rule against 5-fold
cross-validation, with kernel values on demand as in LIBSVM, with a quadratic program for each span, and on a
shared Gram matrix.

On demand are the two columns of the paper: kernel values in float32 within a cache of {{ settings["cache_mb"]
}} MB, a tolerance of {{ settings["tol"] }}, and the same job and folds for both. LIBSVM is scikit-learn's
SVC. Where most values of the features are 0, the span rule has sparse rows. LIBSVM has dense rows, on which
it is faster.

A QP each is the paper's way: a fit on demand, and a quadratic program for each span by an interior-point
method, timed on a sample of the spans. It stands beside LIBSVM's cross-validation without the time of
scikit-learn's calls. On the shared Gram matrix, each fold of our cross-validation starts cold, which takes
less time there than seeds. ``table6.csv`` has standard deviations (n - 1) over the models, and means over all
models that a method was run on.
"""

import numpy as np
import pandas as pd

from lib import sample
from lib.tables import IN_BRACKETS, measured
from papers.sarafis2018.exhibits.models import each_set, models
from papers.sarafis2018.exhibits.published_beside import PublishedBeside
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS

STAGES = ("cells", "spans")
RUN_TIME = "as Table 1"

# a time -> the methods whose times it is the sum of, and whether the Gram matrix is added
TIMES = {
    "span_rule": (("span_rule_lazy",), False),
    "kfold": (("kfold_libsvm",), False),
    "span_rule_shared": (("test", "span_rule"), True),
    "kfold_shared": (("kfold",), True),
    "loo_shared": (("test", "loo"), True),
}


def tidy(rows, context):
    """Yield CPU times of a model."""
    for row_key, group in each_set("table6", rows["cells"], CLASS_WEIGHTS, INSTANCE_WEIGHTS):
        yield from model_times(row_key, group)
    for row_key, group in each_set("table6", rows["spans"], CLASS_WEIGHTS, INSTANCE_WEIGHTS):
        yield from times_by_qp(row_key, group)


def times_by_qp(row_key, rows):
    """Yield the mean CPU times of fit and span rule with a QP for each span, and of LIBSVM's cross-validation
    of the same models, on one set; and the number of these models."""
    times = models(rows, "cpu_s")[["span_rule_qp", "kfold_libsvm"]].dropna()
    for method, seconds in zip(("span_rule_qp", "kfold_beside_qp"), times.T.to_numpy(), strict=True):
        yield measured({**row_key, "method": method}, "time", seconds.mean(), "s")
    yield measured({**row_key, "method": "span_rule_qp"}, "models", len(times), "count")


def model_times(row_key, group):
    """Yield CPU times of a model of one set: means over the models on which LIBSVM was run, and over all."""
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


def table(tidy, context):
    """Return the times with kernel values on demand, and those on a shared Gram matrix."""
    both = PublishedBeside("table6", tidy, context.published)
    columns = [
        ("", "Models", both.alone(0, "all", "models")),
        ("On demand", "fit + span (s)", both.both(3, "span_rule", "time")),
        ("On demand", "LIBSVM 5-fold CV (s)", both.both(3, "kfold", "time")),
        ("On demand", "ratio", both.over("span_rule")),
        ("A QP each", "fit + spans (s)", both.alone(3, "span_rule_qp", "time")),
        ("A QP each", "ratio", both.over("span_rule_qp", "kfold_beside_qp")),
        ("Shared Gram matrix", "fit + span (s)", both.alone(4, "span_rule_shared", "time")),
        ("Shared Gram matrix", "5-fold CV (s)", both.alone(4, "kfold_shared", "time")),
        ("Shared Gram matrix", "fit + LOO (s)", both.alone(4, "loo_shared", "time")),
        ("Shared Gram matrix", "LIBSVM / fit + span", both.over("span_rule_shared")),
    ]
    notes = [
        "Mean CPU time of one thread over the models of a sub-grid on which LIBSVM's cross-validation was "
        f"run (Models). {IN_BRACKETS} Printed times are of another machine. On demand: kernel values are "
        "computed when asked for, within a cache of LIBSVM's size, as in the paper. A QP each: on fewer of "
        "these models; the ratio is LIBSVM's cross-validation of the same models over fit and spans. Shared: "
        "on the whole Gram matrix, whose time is divided by the models of the grid and included. LOO is "
        "shown where it was run on all of these models."
    ]
    if any(both.ours(dataset, "span_rule", "libsvm_over")[1] > 0 for dataset in both.datasets):
        notes.append("LIBSVM was run on a sample of the folds of each model. ±: half of the 95 % interval.")
    return both.arranged(columns, *notes)
