"""Draws: how often the span rule is best.

Table of shares, one row per data set: of the draws of its rows, those in which the span rule is at least as
good as cross-validation, or better than every other rule.

The rows of some sets are not the paper's, so a claim over all sets depends on the draw. Selects as well as
CV: the test error at the span rule's choice is at most that at the choice of 5-fold cross-validation. Selects
best: it is below the test error at the choice of every other rule. Predicts best: of span rule,
cross-validation and xi-alpha, the span rule has the smallest root mean square difference from the test error.
Draws use a part of the grid of models, which the configuration sets. A set with one draw has the paper's rows
and the whole grid, as in Tables 2 to 4. Not in the paper.
"""

import pandas as pd

from lib.tables import arranged, averaged, data_set, lines_of, measured, shown
from papers.sarafis2018.exhibits.models import PREDICTED, RULES, each_set, estimates, rmse_to_test
from papers.sarafis2018.exhibits.published_beside import lookup
from papers.sarafis2018.exhibits.selections import errors_of_choices
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS

STAGES = ("cells", "draws")
EXPERIMENTS = (CLASS_WEIGHTS, INSTANCE_WEIGHTS)
HEADINGS = {
    "selects_as_well": "Selects as well as CV",
    "selects_best": "Selects best",
    "predicts_best": "Predicts best",
}


def tidy(rows, context):
    """Yield the number of draws of each set and the share of them in which the span rule is best;
    ``setting`` is the experiment."""
    drawn = {key["dataset"]: group for key, group in each_set("draws", rows["draws"], *EXPERIMENTS)}
    for key, group in each_set("draws", rows["cells"], *EXPERIMENTS):
        row_key = {**key, "setting": group["experiment"].iloc[0], "method": "span_rule"}
        draws = [draw for _, draw in drawn.get(key["dataset"], group).groupby("realisation")]
        outcomes = pd.DataFrame([ranks_first(estimates(draw)) for draw in draws], dtype=float)
        yield measured(row_key, "draws", len(draws), "count")
        for metric in HEADINGS:
            yield averaged(row_key, metric, outcomes[metric], "fraction")


def ranks_first(values):
    """Return whether the span rule is best in each respect of `HEADINGS`, from the estimates of all models of
    one set."""
    errors, rmse = errors_of_choices(values), rmse_to_test(values)[list(PREDICTED)]
    return {
        "selects_as_well": errors["span_rule"] <= errors["kfold"],
        "selects_best": errors["span_rule"] < errors[list(RULES[1:])].min(),
        "predicts_best": rmse["span_rule"] == rmse.min(),
    }


def table(tidy, context):
    """Return the shares, and the number of draws of each set."""
    ours = lookup(tidy)
    columns = [
        ("", "Data set", data_set),
        ("", "Draws", shown(ours, 0, "span_rule", "draws")),
        *(("", heading, shown(ours, 1, "span_rule", metric)) for metric, heading in HEADINGS.items()),
    ]
    return arranged(lines_of(tidy, "dataset"), columns, ["The columns after Draws are shares of the draws."])
