"""Cost: CPU time of a model, per data set, in milliseconds.

Table of the CPU time that each estimate takes for one model, one row per data set, on one thread.

Each of the k fits of k-fold cross-validation starts from zero. Fit: training alone. ``cost.csv`` also has the
times in units of this fit.
"""

from papers.comparison.estimator import estimator_of
from papers.comparison.exhibits.estimator_words import FIT, GRAM, included_costs
from papers.comparison.exhibits.per_set import MODEL, by_model, means_per_set, table_per_set

STAGES = ("cells",)


def tidy(rows, context):
    """Return CPU times of a model, for each data set."""
    return means_per_set(rows["cells"], "cost", _times)


def _times(group):
    fit, seconds = by_model(group, "cpu_s")
    yield GRAM, "time", "s", _shared(group, "gram_cpu_s")
    yield FIT, "time", "s", fit.mean()
    sphere = _shared(group, "sphere_cpu_s")
    alone, with_fit = seconds.mean(), seconds.add(fit, axis="index").mean()
    for method in seconds:
        estimator, _ = estimator_of(method)
        time = (with_fit if estimator.needs_fit else alone)[method]
        time += sphere if estimator.needs_sphere else 0
        yield method, "time", "s", time
        yield method, "fits", "ratio", time / fit.mean()


def _shared(group, column):
    """Return the CPU time that the models of a kernel share, divided by the models."""
    kernels = group.dropna(subset=[column]).drop_duplicates(["kernel", "gamma"])
    return kernels[column].sum() / len(group.drop_duplicates(MODEL))


def table(tidy, context):
    note = f"Means over the models and the realisations. {included_costs()} Gram: a model's share of it."
    return table_per_set(tidy, "time", note, factor=1000)
