"""Test errors of the weights that each rule selects, of Tables 2 and 3."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd

from lib.rows import OK
from lib.tables import IN_BRACKETS, MISSING, at_minimum, measured
from papers.sarafis2018.exhibits.models import RULES, each_set, estimates, model_counts
from papers.sarafis2018.exhibits.published_beside import NAMES, PublishedBeside

LETTERS = {"span_rule": "R", "span_bound": "B", "kfold": "K", "xi_alpha": "X"}


def selected_errors(exhibit, experiment, rows):
    """Yield test errors of the weights that each rule selects; ``setting`` is the experiment. ``models``
    counts the models that have an estimate, ``failed`` the runs that did not succeed and are left out, here
    and in Tables 4 to 6."""
    for row_key, group in each_set(exhibit, rows, experiment):
        row_key, values = {**row_key, "setting": experiment}, estimates(group)
        errors = errors_of_choices(values)
        for rule, error in [*errors.items(), ("best_on_test", values["test"].min())]:
            yield measured({**row_key, "method": rule}, "test_error", error, "fraction")
        yield from model_counts(row_key, values, (*RULES, "loo", "test"))
        yield measured({**row_key, "method": "all"}, "failed", int((group["status"] != OK).sum()), "count")


def errors_of_choices(values):
    """Return the test error of the model that each rule selects, by rule, from `estimates`: the worst of the
    models where the rule is least."""
    return at_minimum(values[[*RULES, "loo"]], values["test"]).max()


def table_of_errors(exhibit, tidy, published):
    """Return the test errors of each rule's choice, and the order of the rules."""
    both = PublishedBeside(exhibit, tidy, published)

    def order(find):
        return lambda dataset: _order(errors_of(find, dataset))

    def same(dataset):
        published_errors = errors_of(both.printed, dataset)
        known = not pd.isna(published_errors["span_rule"])
        return f"{same_pairs(errors_of(both.ours, dataset), published_errors)} of 6" if known else MISSING

    columns = [
        *(("", NAMES[rule], both.both(4, rule, "test_error")) for rule in (*RULES, "loo", "best_on_test")),
        ("Order", "here", order(both.ours)),
        ("Order", "published", order(both.printed)),
        ("Order", "same pairs", same),
    ]
    return both.arranged(
        columns,
        f"Share of errors on the test rows. {IN_BRACKETS} If several models reach the minimum of a rule, the "
        "one with the largest test error counts, as in the paper. Order: from the smallest test error, R "
        "span rule, B span bound, K 5-fold CV, X xi-alpha bound. Same pairs: how many of the six pairs of "
        "rules stand in the published order.",
        *both.part_of_the_grid("test"),
    )


def errors_of(find, dataset):
    """Return the test error of each rule's choice on a data set, by a `lookup`."""
    return {rule: find(dataset, rule, "test_error")[0] for rule in RULES}


def same_pairs(one, other):
    """Return how many pairs of rules two selections (dict of rule to test error) put in the same order."""
    signs = [[np.sign(errors[a] - errors[b]) for a, b in combinations(RULES, 2)] for errors in (one, other)]
    return sum(a == b for a, b in zip(*signs, strict=True))


def _order(errors):
    """Return the rules from the smallest test error on, such as ``R = K < B < X``."""
    if pd.isna(errors["span_rule"]):
        return MISSING
    ranked = sorted(errors, key=lambda rule: (errors[rule], list(errors).index(rule)))
    text = LETTERS[ranked[0]]
    for before, rule in pairwise(ranked):
        text += f" {'=' if errors[rule] == errors[before] else '<'} {LETTERS[rule]}"
    return text
