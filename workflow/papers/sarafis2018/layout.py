"""Tables for readers: tidy rows arranged as the paper prints them, the published values in brackets."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

from lib.tables import number
from papers.sarafis2018.exhibits import PREDICTORS, RULES, TIMES, same_pairs

__all__ = [
    "lookup",
    "sv_counts_agree",
    "table1_layout",
    "table2_layout",
    "table3_layout",
    "table4_layout",
    "table5_layout",
    "table6_layout",
]

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
    """A function of data set, method and metric that returns value and spread, NaN where there are none."""
    keyed = tidy.fillna({"method": "", "setting": ""}).set_index(["dataset", "method", "metric"])
    values = keyed[["value", "spread"]].to_dict("index")

    def find(dataset, method, metric):
        found = values.get((dataset, method, metric), {})
        return found.get("value", float("nan")), found.get("spread", float("nan"))

    return find


def sv_counts_agree(own, published, dataset, share):
    """Whether the mean numbers of in-bound and of all SVs differ from the published ones by at most a share;
    None where none are published."""
    verdicts = []
    for metric in ("in_bound_svs", "svs"):
        value, wanted = own(dataset, "svm", metric)[0], published(dataset, "svm", metric)[0]
        if pd.isna(wanted):
            return None
        verdicts.append(abs(value - wanted) <= share * wanted)
    return all(verdicts)


def table1_layout(tidy, published):
    """Columns, body and notes of Table 1 for `lib.tables.write_markdown` and ``write_tex``, from tidy rows
    and the published ones; so are those of the other tables."""
    return _sizes(*_found("table1", tidy, published))


def table2_layout(tidy, published):
    return _selections(*_found("table2", tidy, published))


def table3_layout(tidy, published):
    return _selections(*_found("table3", tidy, published))


def table4_layout(tidy, published):
    return _rmse(*_found("table4", tidy, published))


def table5_layout(tidy, published, published_rows, sv_counts):
    """Table 5: data sets whose training rows are the paper's have a mark; `sv_counts` is the share by which
    numbers of support vectors may differ and agree (see `sv_counts_agree`)."""
    return _counts(*_found("table5", tidy, published), published_rows, sv_counts)


def table6_layout(tidy, published):
    return _times(*_found("table6", tidy, published))


def _found(table, tidy, published):
    """What looks up our values and the published ones, and the data sets."""
    printed = published[published["exhibit"] == table]
    return lookup(tidy), lookup(printed), list(dict.fromkeys(tidy["dataset"]))


def _both(own, printed, key, decimals, spread=False):
    """A value, with the published one in brackets if there is one."""
    value, published = (
        (value, number(value, decimals, sd if spread else None)) for value, sd in (own(*key), printed(*key))
    )
    return value[1] if pd.isna(published[0]) else f"{value[1]} ({published[1]})"


def _sizes(own, printed, datasets):
    columns = [("", name) for name in ("Data set", "Training rows", "Test rows", "Features d", "Realisation")]
    sizes = ("train_rows", "test_rows", "features")
    body = [
        [
            dataset,
            *(_both(own, printed, (dataset, "", metric), 0) for metric in sizes),
            number(own(dataset, "", "realisation")[0], 0),
        ]
        for dataset in datasets
    ]
    notes = [
        "In brackets: published. gamma = 1/d; each feature is scaled to [0, 1] by its range over the "
        "training rows."
    ]
    if "breast-cancer-wisconsin" in datasets:
        notes.append(
            "breast-cancer-wisconsin: the published 783 test rows do not fit the 683 rows of the set; all "
            "rows that are not trained on are used."
        )
    return columns, body, notes


def _selections(own, printed, datasets):
    methods = (*RULES, "loo", "best_on_test")
    columns = [
        ("", "Data set"),
        *(("", NAMES[method]) for method in methods),
        ("Order", "here"),
        ("Order", "published"),
        ("Order", "same pairs"),
    ]
    body = []
    for dataset in datasets:
        errors, wanted = (
            {rule: find(dataset, rule, "test_error")[0] for rule in RULES} for find in (own, printed)
        )
        known = not pd.isna(wanted["span_rule"])
        body.append(
            [
                dataset,
                *(_both(own, printed, (dataset, method, "test_error"), 4) for method in methods),
                _order(errors),
                _order(wanted) if known else "n/a",
                f"{same_pairs(errors, wanted)} of 6" if known else "n/a",
            ]
        )
    notes = [
        "Share of errors on the test rows, in brackets the published one. Of several models at the minimum "
        "of a rule the one with the largest test error counts. Order: R span rule, B span bound, K 5-fold "
        "CV, X xi-alpha bound, from the smallest test error; same pairs: of the six pairs of rules those "
        "that stand in the published order.",
        *_part_of_the_grid(own, datasets, "test"),
    ]
    return columns, body, notes


def _order(errors):
    """Rules from the smallest test error, such as ``R = K < B < X``."""
    ranked = sorted(errors, key=lambda rule: (errors[rule], list(errors).index(rule)))
    text = LETTERS[ranked[0]]
    for before, rule in pairwise(ranked):
        text += f" {'=' if errors[rule] == errors[before] else '<'} {LETTERS[rule]}"
    return text


def _part_of_the_grid(own, datasets, whole):
    """A note on exact leave-one-out where it was not run on every model."""
    parts = []
    for dataset in datasets:
        some, every = (own(dataset, method, "models")[0] for method in ("loo", whole))
        if some < every:
            parts.append(f"{dataset}: {some:.0f} of {every:.0f}")
    return [f"Exact LOO on a sub-grid of the models: {', '.join(parts)}."] if parts else []


def _rmse(own, printed, datasets):
    columns = [
        ("", "Data set"),
        *(("RMSE", NAMES[method]) for method in PREDICTORS),
        ("Mean distance", "span rule, LOO"),
        ("Mean distance", "CV, LIBSVM's CV"),
    ]
    body = [
        [
            dataset,
            *(_both(own, printed, (dataset, method, "rmse_to_test_error"), 4) for method in PREDICTORS),
            number(own(dataset, "span_rule", "distance_to_loo")[0], 4),
            number(own(dataset, "kfold", "distance_to_kfold_libsvm")[0], 4),
        ]
        for dataset in datasets
    ]
    notes = [
        "Root mean square difference of a rule's value and the test error over the models, in brackets the "
        "published one. Mean distance: absolute, over the models on which both were run.",
        *_part_of_the_grid(own, datasets, "span_rule"),
    ]
    return columns, body, notes


def _counts(own, printed, datasets, published_rows, sv_share):
    keys = (("span", "empty_span_sets", 3), ("svm", "in_bound_svs", 1), ("svm", "svs", 1))
    columns = [
        ("", name) for name in ("Data set", "Empty span sets", "In-bound SVs", "SVs", "SV counts agree")
    ]
    body = []
    for dataset in datasets:
        agree = sv_counts_agree(own, printed, dataset, sv_share)
        same_rows = " *" if dataset in published_rows else ""
        cells = [_both(own, printed, (dataset, method, metric), d, spread=True) for method, metric, d in keys]
        body.append([dataset + same_rows, *cells, "n/a" if agree is None else "yes" if agree else "no"])
    notes = [
        "Mean ± standard deviation over the models, in brackets the published ones. SV counts agree: both "
        f"means are within {100 * sv_share:g} % of the published ones. *: the training rows are those of "
        "the paper; the others are a draw of the same size."
    ]
    return columns, body, notes


def _times(own, printed, datasets):
    columns = [
        ("", "Data set"),
        ("", "Models"),
        ("On demand", "fit + span (s)"),
        ("On demand", "LIBSVM 5-fold CV (s)"),
        ("On demand", "ratio"),
        ("Shared Gram matrix", "fit + span (s)"),
        ("Shared Gram matrix", "5-fold CV (s)"),
        ("Shared Gram matrix", "fit + LOO (s)"),
        ("Shared Gram matrix", "LIBSVM / fit + span"),
    ]
    body = []
    for dataset in datasets:
        time = {method: own(dataset, method, "time")[0] for method in TIMES}
        body.append(
            [
                dataset,
                number(own(dataset, "all", "models")[0], 0),
                _both(own, printed, (dataset, "span_rule", "time"), 3),
                _both(own, printed, (dataset, "kfold", "time"), 3),
                number(time["kfold"] / time["span_rule"], 1),
                *(number(time[method], 4) for method in ("span_rule_shared", "kfold_shared", "loo_shared")),
                number(time["kfold"] / time["span_rule_shared"], 1),
            ]
        )
    notes = [
        "Mean CPU time of one thread, of the models of a sub-grid on which LIBSVM's cross-validation was "
        "run (Models), in brackets the published times, whose machine is another. On demand: kernel values "
        "are computed when asked for, within a cache of LIBSVM's size, as in the paper. Shared: on the "
        "whole Gram matrix, the time of which is divided by the models of the grid and included; LOO where "
        "it was run on all of these models. The means over the whole grid are in the csv file "
        "(time_all_models)."
    ]
    return columns, body, notes
