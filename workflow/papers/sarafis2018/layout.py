"""Tables for readers: tidy rows arranged as the paper prints them, the published values in brackets."""

from functools import partial
from itertools import pairwise

import pandas as pd

from lib import tables
from lib.shown import dataset_in_words
from lib.tables import MISSING, arranged, data_set, faster, lines_of, shown
from papers.sarafis2018.exhibits import PREDICTORS, RULES, same_pairs

NAMES = {
    "span_rule": "Span rule",
    "span_bound": "Span bound",
    "kfold": "5-fold CV",
    "xi_alpha": "xi-alpha bound",
    "loo": "Exact LOO",
    "best_on_test": "Least error",
}
LETTERS = {"span_rule": "R", "span_bound": "B", "kfold": "K", "xi_alpha": "X"}


def lookup(tidy):
    """Return values and spreads by data set, method and metric."""
    return tables.lookup(tidy, ("dataset", "method", "metric"))


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


class _Table:
    """The columns of a table by data set: our values, and the published ones in brackets."""

    def __init__(self, table, tidy, published):
        self.ours, self.printed = lookup(tidy), lookup(published[published["exhibit"] == table])
        self.lines = lines_of(tidy, "dataset")
        self.datasets = [dataset for (dataset,) in self.lines]

    def alone(self, decimals, *key):
        return shown(self.ours, decimals, *key)

    def both(self, decimals, *key, spread=False):
        ours, printed = (shown(find, decimals, *key, spread=spread) for find in (self.ours, self.printed))

        def text(dataset):
            beside = printed(dataset)
            return ours(dataset) if beside == MISSING else f"{ours(dataset)} ({beside})"

        return text

    def over(self, below):
        """Return a column of LIBSVM's time over that of a method."""
        return faster(self.ours, "kfold", "time", below)

    def arranged(self, columns, *notes):
        return arranged(self.lines, [("", "Data set", data_set), *columns], list(notes))

    def sampled(self):
        """Return a note on the intervals of the values that were estimated from a sample of LIBSVM's
        folds."""
        if not any(self.ours(dataset, "span_rule", "libsvm_over")[1] > 0 for dataset in self.datasets):
            return []
        return ["LIBSVM was run on a sample of the folds of each model. ±: half of the 95 % interval."]

    def part_of_the_grid(self, whole):
        """Return a note on exact leave-one-out if it was not run on every model."""
        parts = []
        for dataset in self.datasets:
            some, every = (self.ours(dataset, method, "models")[0] for method in ("loo", whole))
            if some < every:
                parts.append(f"{dataset_in_words(dataset)}: {some:.0f} of {every:.0f}")
        return [f"Exact LOO on a sub-grid of the models: {', '.join(parts)}."] if parts else []


def table1_layout(tidy, published):
    """Return columns, body and notes of Table 1 (see `lib.tables.arranged`)."""
    table = _Table("table1", tidy, published)
    columns = [
        ("", "Training rows", table.both(0, "", "train_rows")),
        ("", "Test rows", table.both(0, "", "test_rows")),
        ("", "Features d", table.both(0, "", "features")),
        ("", "Realisation", table.alone(0, "", "realisation")),
    ]
    notes = [
        "In brackets: published. gamma = 1/d; each feature is scaled to [0, 1] by its range over the "
        "training rows."
    ]
    if (wisconsin := "breast-cancer-wisconsin") in table.datasets:
        notes.append(
            f"{dataset_in_words(wisconsin)}: the published 783 test rows do not fit the 683 rows of the set; "
            "all rows that are not trained on are used."
        )
    return table.arranged(columns, *notes)


def _selections(name, tidy, published):
    table = _Table(name, tidy, published)

    def errors(find, dataset):
        return {rule: find(dataset, rule, "test_error")[0] for rule in RULES}

    def order(find):
        return lambda dataset: _order(errors(find, dataset))

    def same(dataset):
        published_errors = errors(table.printed, dataset)
        known = not pd.isna(published_errors["span_rule"])
        return f"{same_pairs(errors(table.ours, dataset), published_errors)} of 6" if known else MISSING

    columns = [
        *(("", NAMES[rule], table.both(4, rule, "test_error")) for rule in (*RULES, "loo", "best_on_test")),
        ("Order", "here", order(table.ours)),
        ("Order", "published", order(table.printed)),
        ("Order", "same pairs", same),
    ]
    return table.arranged(
        columns,
        "Share of errors on the test rows, in brackets the published one. Of several models at the minimum "
        "of a rule the one with the largest test error counts. Order: R span rule, B span bound, K 5-fold "
        "CV, X xi-alpha bound, from the smallest test error; same pairs: of the six pairs of rules those "
        "that stand in the published order.",
        *table.part_of_the_grid("test"),
    )


table2_layout, table3_layout = partial(_selections, "table2"), partial(_selections, "table3")


def _order(errors):
    """Return the rules from the smallest test error on, such as ``R = K < B < X``."""
    if pd.isna(errors["span_rule"]):
        return MISSING
    ranked = sorted(errors, key=lambda rule: (errors[rule], list(errors).index(rule)))
    text = LETTERS[ranked[0]]
    for before, rule in pairwise(ranked):
        text += f" {'=' if errors[rule] == errors[before] else '<'} {LETTERS[rule]}"
    return text


def table4_layout(tidy, published):
    table = _Table("table4", tidy, published)
    columns = [
        *(("RMSE", NAMES[method], table.both(4, method, "rmse_to_test_error")) for method in PREDICTORS),
        ("Mean distance", "span rule, LOO", table.alone(4, "span_rule", "distance_to_loo")),
        ("Mean distance", "CV, LIBSVM's CV", table.alone(4, "kfold", "distance_to_kfold_libsvm")),
    ]
    return table.arranged(
        columns,
        "Root mean square difference of a rule's value and the test error over the models, in brackets the "
        "published one. Mean distance: absolute, over the models on which both were run.",
        *table.part_of_the_grid("span_rule"),
    )


def table5_layout(tidy, published, published_rows, sv_counts):
    """Return columns, body and notes of Table 5. Data sets whose training rows are the paper's have a mark.
    `sv_counts` is the share by which numbers of support vectors may differ and agree (see
    `sv_counts_agree`)."""
    table = _Table("table5", tidy, published)

    def agree(dataset):
        verdict = sv_counts_agree(table.ours, table.printed, dataset, sv_counts)
        return {None: MISSING, True: "yes", False: "no"}[verdict]

    columns = [
        ("", "Empty span sets", table.both(3, "span", "empty_span_sets", spread=True)),
        ("", "In-bound SVs", table.both(1, "svm", "in_bound_svs", spread=True)),
        ("", "SVs", table.both(1, "svm", "svs", spread=True)),
        ("", "SV counts agree", agree),
    ]
    columns, body, notes = table.arranged(
        columns,
        "Mean ± standard deviation over the models, in brackets the published ones. SV counts agree: both "
        f"means are within {100 * sv_counts:g} % of the published ones. *: the training rows are those of "
        "the paper; the others are a draw of the same size.",
    )
    marks = [" *" * (dataset in published_rows) for dataset in table.datasets]
    body = [[name + mark, *cells] for mark, (name, *cells) in zip(marks, body, strict=True)]
    return columns, body, notes


def table6_layout(tidy, published):
    table = _Table("table6", tidy, published)
    columns = [
        ("", "Models", table.alone(0, "all", "models")),
        ("On demand", "fit + span (s)", table.both(3, "span_rule", "time")),
        ("On demand", "LIBSVM 5-fold CV (s)", table.both(3, "kfold", "time")),
        ("On demand", "ratio", table.over("span_rule")),
        ("Shared Gram matrix", "fit + span (s)", table.alone(4, "span_rule_shared", "time")),
        ("Shared Gram matrix", "5-fold CV (s)", table.alone(4, "kfold_shared", "time")),
        ("Shared Gram matrix", "fit + LOO (s)", table.alone(4, "loo_shared", "time")),
        ("Shared Gram matrix", "LIBSVM / fit + span", table.over("span_rule_shared")),
    ]
    return table.arranged(
        columns,
        "Mean CPU time of one thread, of the models of a sub-grid on which LIBSVM's cross-validation was "
        "run (Models), in brackets the published times, whose machine is another. On demand: kernel values "
        "are computed when asked for, within a cache of LIBSVM's size, as in the paper. Shared: on the "
        "whole Gram matrix, the time of which is divided by the models of the grid and included; LOO where "
        "it was run on all of these models. The means over the whole grid are in the csv file.",
        *table.sampled(),
    )
