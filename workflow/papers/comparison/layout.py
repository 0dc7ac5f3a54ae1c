"""Tables for readers: the tidy rows arranged, a row per estimator or per data set."""

import pandas as pd

from lib.tables import arranged, data_set, lines_of, listed, lookup, number, shown
from papers.comparison.estimator import estimator_of, load_estimators
from papers.comparison.exhibits import ALL_SETS, FIT, GRAM, RANDOM

# what is no estimator: the name for readers, and the short one
BASELINES = {
    FIT: ("Fit alone", "Fit"),
    GRAM: ("Gram matrix", "Gram"),
    RANDOM: ("A model drawn at random", "Random"),
}
BY = ("dataset", "method", "metric")
# percentage points of regret that hardly matter
MARGIN = 1


def estimator_name(method, short=False):
    """Return the name of an estimator for readers."""
    if method in BASELINES:
        return BASELINES[method][short]
    estimator, k = estimator_of(method)
    return (estimator.short if short else estimator.name).format(k=k)


def _assumptions():
    """Return the assumptions of the estimators, a sentence each."""
    sentences = [estimator.assumption for estimator in load_estimators().values() if estimator.assumption]
    return " ".join([*sentences, "Where an assumption fails the value is a heuristic."])


def _included():
    """Return a note on what the CPU time of an estimator includes."""

    def names(those):
        return ", ".join(estimator.name.format(k="k") for estimator in those)

    estimators = load_estimators().values()
    with_sphere = names(estimator for estimator in estimators if estimator.needs_sphere)
    without_fit = names(estimator for estimator in estimators if not estimator.needs_fit)
    return (
        "Cost: CPU time of one thread for one model. The fit on all points is included, except where none is "
        f"needed ({without_fit}), and so is the smallest sphere where it is needed ({with_sphere}), divided "
        "by the models that share it. The Gram matrix of a kernel, which all share, is not included."
    )


def answer(tidy):
    """Return advice on the choice of an estimator, from the tidy rows of the table of estimators: sentences
    in Markdown."""
    find = lookup(tidy, BY)
    sets = find(ALL_SETS, "all", "datasets")[0]
    random, _ = find(ALL_SETS, RANDOM, "regret")

    def value(method, metric):
        return find(ALL_SETS, method, metric)[0]

    def ranked(methods, metric, decimals, unit=""):
        return ", ".join(
            f"{estimator_name(method)} ({number(value(method, metric), decimals)}{unit})"
            for method in methods
        )

    methods = [method for method in _methods(tidy, "regret") if method != RANDOM]
    by_regret = sorted(methods, key=lambda method: value(method, "regret"))
    by_cost = sorted(methods, key=lambda method: value(method, "fits"))
    by_rmse = sorted(_methods(tidy, "rmse"), key=lambda method: value(method, "rmse"))
    good = []
    for method in by_cost:
        behind, spread = find(ALL_SETS, method, "behind")
        # a single data set has no spread
        if behind + 2 * (0 if pd.isna(spread) else spread) / sets**0.5 <= MARGIN:
            good.append(method)
    chance = [method for method in by_regret if value(method, "regret") >= random]
    first = by_regret[0]
    sentences = [
        f"**Which chooses best?** {estimator_name(first)}: on average over {sets:.0f} data sets its model "
        f"makes {value(first, 'regret'):.2f} percentage points more errors on the test rows than the best "
        f"model of the grid; a model drawn at random makes {random:.2f} more.",
        f"**Which are less than {MARGIN:g} percentage point behind it, two standard errors allowed for, from "
        f"the cheapest?** {ranked(good, 'fits', 1, ' fits')}.",
        f"**Which comes closest to the test error?** By RMSE: {ranked(by_rmse, 'rmse', 2, ' points')}.",
        f"**What do they cost, in fits on all points?** {ranked(by_cost, 'fits', 1)}.",
    ]
    if chance:
        sentences.append(
            "**Which choose no better than chance on such a grid?** "
            f"{ranked(chance, 'regret', 2, ' points of regret')}."
        )
    return sentences


def _methods(tidy, metric):
    return list(tidy.loc[tidy["metric"] == metric, "method"].unique())


def estimators_layout(tidy):
    """Return columns, body and notes of the table of estimators (see `lib.tables.arranged`)."""
    find = lookup(tidy, BY)
    sets = find(ALL_SETS, "all", "datasets")[0]

    # the standard error of a mean over the data sets
    mean = lookup(tidy.assign(spread=tidy["spread"] / sets**0.5), BY)

    def bias(*line):
        value, _ = find(*line, "bias")
        return number(value, 2) if pd.isna(value) else f"{value:+.2f}"

    # columns: distance from the test error, regret, cost
    columns = [
        ("", "Estimator", lambda _, method: estimator_name(method)),
        ("Distance from the test error", "RMSE", shown(find, 2, "rmse", spread=True)),
        ("Distance from the test error", "bias", bias),
        ("Regret", "mean", shown(find, 2, "regret", spread=True)),
        ("Regret", "largest", shown(find, 2, "largest_regret")),
        ("Regret", "if ties are drawn", shown(find, 2, "mean_regret")),
        ("Regret", "behind the first", shown(mean, 2, "behind", spread=True)),
        ("Regret", "place", shown(find, 1, "rank")),
        ("CPU time", "ms", shown(find, 2, "time", factor=1000)),
        ("CPU time", "fits", shown(find, 1, "fits")),
    ]
    # estimators by regret, the random model last
    order = sorted(
        _methods(tidy, "regret"), key=lambda method: (method == RANDOM, find(ALL_SETS, method, "regret"))
    )
    notes = [
        f"Mean ± standard deviation over {sets:.0f} data sets, in percentage points. Regret: test error of"
        " the model where the estimate is least, of several such models the largest, minus the least test"
        " error on the grid; if ties are drawn: their mean instead. Behind the first: regret minus that of"
        " the first row on the same data set, mean ± standard error. Place: mean place by regret on a data"
        " set. RMSE and bias (estimate minus test error) over all models, of the estimates that are error"
        " rates. CPU times are geometric means; fits: in units of one fit on all points.",
        _included(),
        _assumptions(),
        *listed(
            tidy,
            "failed",
            "Models without a value, per realisation, summed over the data sets",
            lambda row: f"{estimator_name(row.method)}: {row.value:.1f}",
        ),
    ]
    return arranged([(ALL_SETS, method) for method in order], columns, notes)


def _per_set(tidy, metric, *notes, factor=1, leading=()):
    """Return a table of a metric: a row per data set, and leading columns of (heading, metric, decimals)."""
    find = lookup(tidy, BY)
    columns = [("", "Data set", data_set)]
    columns += [("", heading, shown(find, decimals, "all", name)) for heading, name, decimals in leading]
    columns += [
        ("", estimator_name(method, short=True), shown(find, 2, method, metric, factor=factor))
        for method in _methods(tidy, metric)
    ]
    return arranged(lines_of(tidy, "dataset"), columns, list(notes))


def regret_layout(tidy):
    leading = [
        ("Training rows", "train_rows", 0),
        ("Test rows", "test_rows", 0),
        ("Realisations", "realisations", 0),
        ("Least test error (%)", "least_test_error", 2),
    ]
    return _per_set(
        tidy,
        "regret",
        "Means over the realisations. Regret: test error of the model where the estimate is least, of "
        "several such models the largest, minus the least test error on the grid. Random: the mean over "
        "all models of the grid.",
        _assumptions(),
        leading=leading,
    )


def rmse_layout(tidy):
    return _per_set(
        tidy,
        "rmse",
        "Root mean square difference of the estimate and the test error over the models of the grid, "
        "means over the realisations. The bounds whose value is no error rate are left out.",
        _assumptions(),
    )


def cost_layout(tidy):
    note = f"Means over the models and the realisations. {_included()} Its share of a model is Gram."
    return _per_set(tidy, "time", note, factor=1000)
