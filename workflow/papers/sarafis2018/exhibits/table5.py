"""Table 5: empty span sets, and support vectors.

Table of support vectors, one row per data set: the mean number of in-bound ones whose span set is empty, of
in-bound ones and of all.

Empty: the in-bound SV fails the condition of Lemma 1. Standard deviations use n - 1. The published means can
be met only where the training rows are those of the paper: adult (a1a), splice (LIBSVM), the pairs of MNIST
and, but for an unknown kernel width, Parkinson's speech.
"""

import pandas as pd

from lib.rows import OK
from lib.shown import dataset_in_words
from lib.tables import IN_BRACKETS, MISSING, averaged, measured
from papers.sarafis2018.exhibits.models import each_set
from papers.sarafis2018.exhibits.published_beside import PublishedBeside
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS

STAGES = ("cells",)
RUN_TIME = "as Table 1"


def tidy(rows, context):
    """Yield empty span sets and numbers of support vectors."""
    for row_key, group in each_set("table5", rows["cells"], CLASS_WEIGHTS, INSTANCE_WEIGHTS):
        yield from sv_counts(row_key, group)


def sv_counts(row_key, group):
    """Yield empty span sets and numbers of support vectors of one set."""
    empty = group.loc[(group["method"] == "span_bound") & (group["status"] == OK), "n_empty"]
    fits = group[(group["method"] == "test") & (group["status"] == OK)]
    yield averaged({**row_key, "method": "span"}, "empty_span_sets", empty, "count")
    yield averaged({**row_key, "method": "svm"}, "in_bound_svs", fits["n_inbound"], "count")
    yield averaged({**row_key, "method": "svm"}, "svs", fits["n_sv"], "count")
    yield measured({**row_key, "method": "span"}, "models", len(empty), "count")


def table(tidy, context):
    """Return the counts. Data sets whose training rows are the paper's have a mark."""
    both, share = PublishedBeside("table5", tidy, context.published), context.limits["sv_counts"]

    def name(dataset):
        return dataset_in_words(dataset) + " *" * (dataset in context.facts["published_rows"])

    def agree(dataset):
        verdict = sv_counts_agree(both.ours, both.printed, dataset, share)
        return {None: MISSING, True: "yes", False: "no"}[verdict]

    columns = [
        ("", "Empty span sets", both.both(3, "span", "empty_span_sets", spread=True)),
        ("", "In-bound SVs", both.both(1, "svm", "in_bound_svs", spread=True)),
        ("", "SVs", both.both(1, "svm", "svs", spread=True)),
        ("", "SV counts agree", agree),
    ]
    return both.arranged(
        columns,
        "Mean ± standard deviation over the models. SV counts agree: both means are within "
        f"{100 * share:g} % of the printed ones. *: the training rows are the paper's; those of the other "
        f"sets are a draw of the same size. {IN_BRACKETS}",
        name=name,
    )


def sv_counts_agree(ours, published, dataset, share):
    """Return whether the mean numbers of in-bound and of all SVs differ from the published ones by at most a
    share; None if none are published."""
    verdicts = []
    for metric in ("in_bound_svs", "svs"):
        value, printed = ours(dataset, "svm", metric)[0], published(dataset, "svm", metric)[0]
        if pd.isna(printed):
            return None
        verdicts.append(abs(value - printed) <= share * printed)
    return all(verdicts)
