"""Which rule should choose the model? results/selection_models.csv, selection.csv, selection.md.

python benchmarks/selection.py
python benchmarks/selection.py --datasets heart thyroid --realisations 1
python benchmarks/selection.py --report

Every model of a grid gets its test error and the estimates of it; rules then choose by these, and their
regret is compared. --report computes no model. README.md has the columns.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from csv_rows import current_rows, read_rows, write_rows
from origin import of_rows
from problems import registered, standardised
from scipy import sparse
from scipy.special import expit
from threadpoolctl import threadpool_limits

from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate_grid,
    decision_function,
    leave_one_out,
    opper_winther,
    span_rule,
    stratified_folds,
)
from svmselect.sklearn.calibration import blocks_of, left_out_probabilities

RESULTS = Path(__file__).resolve().parent / "results"
COMPARISON = RESULTS.parents[1] / "results" / "paper" / "comparison" / "estimators.csv"
# those of the comparison with at most 1,300 training rows
DATASETS = [
    "iris-versicolor",
    "breast-cancer-wisconsin",
    "wine-1",
    "thyroid",
    "titanic",
    "heart",
    "digits-3v8",
    "flare-solar",
    "mushrooms",
    "breast-cancer",
    "skin-nonskin",
    "banana",
    "wdbc",
    "bank-marketing",
    "waveform",
    "ringnorm",
    "twonorm",
    "diabetis",
    "parkinson",
    "german",
    "image",
    "splice",
]
# the grid of the comparison: the linear kernel, and 8 gammas times 8 values of C
LINEAR_CS = [0.01, 0.1, 1.0, 10.0, 100.0]
CS = np.geomspace(1, 500, 8).tolist()
GAMMAS = np.geomspace(2.0**-11, 1, 8).tolist()
FOLDS = (3, 5, 10)
SEED = 2026
STEEP = 4.0  # of the smoothed error: how fast a left-out margin turns from wrong to right
LEAST_P = 1e-3  # with which a log loss counts
# what models are chosen by: its name in rows, and for people
ESTIMATES = {
    "loo": "leave-one-out error",
    "loo_hinge": "leave-one-out hinge loss",
    "loo_smooth": "leave-one-out error, smoothed",
    "loo_log": "leave-one-out log loss, calibrated",
    "cv3": "3-fold error",
    "cv5": "5-fold error",
    "cv10": "10-fold error",
    "span": "span rule",
    "opper_winther": "Opper-Winther",
}
FAMILIES = {
    "leave-one-out": ["loo", "loo_hinge", "loo_smooth", "loo_log"],
    "folds": ["cv3", "cv5", "cv10"],
    "one fit": ["span", "opper_winther"],
}
COUNTED = ("loo", "cv3", "cv5", "cv10", "span", "opper_winther")  # shares of rows, with their standard error
# what the comparison calls those whose cost it has; left-out decision values cost more than the errors
COSTS = {
    "loo": "loo",
    "cv3": "kfold_3",
    "cv5": "kfold_5",
    "cv10": "kfold_10",
    "span": "span_rule",
    "opper_winther": "opper_winther",
}
HALVES = 1000
LOOKED_AT = 3  # realisations that were there when the rules were made up; the others test them
REFERENCE = ("cv3", "least")
BEST = 8


def models_of(dataset, realisation):
    """The rows of the models of a realisation."""
    X, y, X_test, y_test, _ = registered(dataset).realisation(realisation)
    X, X_test = (part.toarray() if sparse.issparse(part) else part for part in (X, X_test))
    X, X_test = standardised(X, X_test)
    y = y.astype(np.float64)
    folds = {k: stratified_folds(y, k, SEED) for k in FOLDS}
    gram = Gram(X, Linear())
    for gamma in (None, *GAMMAS):
        Cs = LINEAR_CS if gamma is None else CS
        gram.set_kernel(Linear() if gamma is None else RBF(gamma))
        gram.compute()
        errors = {k: cross_validate_grid(gram, y, Cs, folds=own).error[0] for k, own in folds.items()}
        for c, C in enumerate(Cs):
            loo = leave_one_out(gram, y, C, decision_values=True)
            found = {
                "test": np.mean((decision_function(gram, y, loo.solution, X_test) >= 0) != (y_test > 0)),
                **losses(y, loo.decision),
                **{f"cv{k}": errors[k][c] for k in FOLDS},
                "span": span_rule(gram, y, loo.solution).error,
                "opper_winther": opper_winther(gram, y, loo.solution).error,
            }
            yield {
                "dataset": dataset,
                "realisation": realisation,
                "rows": y.size,
                "gamma": "" if gamma is None else f"{gamma:.8g}",
                "C": f"{C:.8g}",
                **{name: f"{value:.6g}" for name, value in found.items()},
            }


def losses(y, decision):
    """What left-out decision values say of the error: counted, and smoothly."""
    margin, codes = y * decision, (y > 0).astype(np.intp)
    blocks, weight = blocks_of(codes), np.ones(y.size)
    p = left_out_probabilities(decision, codes, 2, weight, "sigmoid", blocks)[np.arange(y.size), codes]
    return {
        "loo": np.mean((decision >= 0) != (y > 0)),
        "loo_hinge": np.maximum(0, 1 - margin).mean(),
        "loo_smooth": expit(-STEEP * margin).mean(),
        "loo_log": -np.log(np.maximum(p, LEAST_P)).mean(),
    }


class Grid:
    """The models of one realisation.

    Attributes
    ----------
    C : ndarray, shape (n,)
    m : int
    values : dict from str to ndarray, shape (n,)
        Of each estimate, and "test".
    """

    def __init__(self, rows):
        gamma = np.array([float(row["gamma"] or 0) for row in rows])
        C = np.array([float(row["C"]) for row in rows])
        # the order of a search: C, then the kernels
        order = np.lexsort([gamma, C])
        self.C, self.gamma, self.m = C[order], gamma[order], int(rows[0]["rows"])
        self.values = {
            name: np.array([float(row[name]) for row in rows])[order] for name in ("test", *ESTIMATES)
        }

    def averaged(self, name):
        """The values averaged over neighbours on the (log C, log gamma) grid, the border repeated: weights 2
        for the model, 1 for its four neighbours, 1/2 for the four corners; along C alone for the linear
        kernel."""
        out = np.empty(self.C.size)
        for linear in (True, False):
            own = np.flatnonzero((self.gamma == 0) == linear)
            gammas, Cs = np.unique(self.gamma[own]), np.unique(self.C[own])
            place = np.searchsorted(gammas, self.gamma[own]), np.searchsorted(Cs, self.C[own])
            table = np.full((gammas.size, Cs.size), np.nan)
            table[place] = self.values[name][own]
            wide = np.pad(table, 1, mode="edge")
            kernel = np.outer([1, 2, 1], [1, 2, 1]) / 16
            smooth = sum(
                kernel[i, j] * wide[i : i + table.shape[0], j : j + table.shape[1]]
                for i in range(3)
                for j in range(3)
            )
            out[own] = smooth[place]
        return out

    def regret(self, chosen):
        """Test error of the chosen model above the least, in percentage points."""
        return 100 * (self.values["test"][chosen] - self.values["test"].min())


def least(values):
    """The first of the least, up to round-off."""
    return int(np.flatnonzero(values <= values.min() + 1e-9)[0])


def nearly_least(values, m, errors):
    """The models within so many standard errors of the least share of m rows."""
    least = values.min()
    return values <= least + errors * np.sqrt(least * (1 - least) / m) + 1e-9


def simplest(grid, values, errors):
    """The smallest C within so many standard errors of the least; with this C the least."""
    within = nearly_least(values, grid.m, errors)
    own = within & np.isclose(grid.C, grid.C[within].min())
    return int(np.flatnonzero(own)[values[own].argmin()])


def middle(grid, values, errors):
    """Of the models within so many standard errors of the least, the one nearest to their median of log C and
    log gamma; linear models stand one step below the smallest gamma."""
    gammas = np.unique(grid.gamma[grid.gamma > 0])
    below = gammas[0] ** 2 / gammas[1]
    place = np.log([grid.C, np.where(grid.gamma > 0, grid.gamma, below)])
    own = np.flatnonzero(nearly_least(values, grid.m, errors))
    away = place[:, own] - np.median(place[:, own], axis=1, keepdims=True)
    return int(own[(away**2).sum(axis=0).argmin()])


# by name: averaged or not, what chooses, and how many standard errors are nearly the least
RULES = {
    "least": (False, None, 0),
    "averaged": (True, None, 0),
    "smallest C, half": (False, simplest, 0.5),
    "smallest C, one": (False, simplest, 1),
    "averaged, smallest C, half": (True, simplest, 0.5),
    "averaged, smallest C, one": (True, simplest, 1),
    "middle, half": (False, middle, 0.5),
    "middle, one": (False, middle, 1),
}


def chosen(grid, estimate, rule):
    """The number of the model that a rule chooses by an estimate."""
    averaged, among, errors = RULES[rule]
    values = grid.averaged(estimate) if averaged else grid.values[estimate]
    return least(values) if among is None else among(grid, values, errors)


def regrets(rows):
    """The regret of each estimate and rule on each data set, mean over its realisations: shape (n_rules,
    n_sets), and the names of both. Losses that count no rows have no standard error."""
    grids = defaultdict(list)
    for row in rows:
        grids[row["dataset"], row["realisation"]].append(row)
    names = list(dict.fromkeys(dataset for dataset, _ in grids))
    own = [(e, r) for e in ESTIMATES for r in RULES if e in COUNTED or not RULES[r][2]]
    table = np.zeros((len(own), len(names)))
    counts = np.zeros(len(names))
    for (dataset, _), models in grids.items():
        grid, at = Grid(models), names.index(dataset)
        counts[at] += 1
        table[:, at] += [grid.regret(chosen(grid, estimate, rule)) for estimate, rule in own]
    return table / counts, own, names


def halves(table, own, rng):
    """Rules chosen on half of the data sets, and their regret on the other half.

    Returns
    -------
    dict from str to (float, str, float)
        Of each family: the mean regret on the halves that did not choose, the rule that was chosen most
        often, and in which share of the halves.
    """
    n = table.shape[1]
    found = {}
    families = FAMILIES | {"all of them": [name for names in FAMILIES.values() for name in names]}
    for family, estimates in families.items():
        mine = [k for k, (estimate, _) in enumerate(own) if estimate in estimates]
        reported, winners = [], []
        for _ in range(HALVES):
            order = rng.permutation(n)
            first, second = order[: n // 2], order[n // 2 :]
            best = mine[table[np.ix_(mine, first)].mean(axis=1).argmin()]
            winners.append(best)
            reported.append(table[best, second].mean())
        most = max(set(winners), key=winners.count)
        found[family] = np.mean(reported), own[most], winners.count(most) / HALVES
    return found


def set_aside(table, own, names):
    """Rules chosen without a third of the data sets, which is drawn first, and their regret there.

    Returns
    -------
    list of str
        The data sets that are set aside.
    dict from str to ((str, str), float, float, float)
        Of each family: the rule of least regret on the other sets, its regret there and on those set aside,
        and there the standard error of its difference to the least 3-fold error.
    """
    order = np.random.default_rng(SEED).permutation(len(names))
    aside, others = np.sort(order[: len(names) // 3]), np.sort(order[len(names) // 3 :])
    reference, result = table[own.index(REFERENCE)], {}
    families = FAMILIES | {"all of them": [name for members in FAMILIES.values() for name in members]}
    for family, estimates in families.items():
        rules = [k for k, (estimate, _) in enumerate(own) if estimate in estimates]
        best = rules[table[np.ix_(rules, others)].mean(axis=1).argmin()]
        difference = (table[best] - reference)[aside]
        error = difference.std(ddof=1) / np.sqrt(aside.size)
        result[family] = own[best], table[best][others].mean(), table[best][aside].mean(), error
    result["no choice"] = REFERENCE, reference[others].mean(), reference[aside].mean(), 0.0
    return [names[k] for k in aside], result


def fits():
    """What estimates cost in the comparison, in fits on all rows."""
    costs = {row["method"]: float(row["value"]) for row in read_rows(COMPARISON) if row["metric"] == "fits"}
    return {estimate: costs[name] for estimate, name in COSTS.items()}


def summary(rows):
    """The rows of selection.csv, and the report."""
    table, own, names = regrets(rows)
    new = [row for row in rows if int(row["realisation"]) > LOOKED_AT]
    later = regrets(new)[0].mean(axis=1) if new else np.full(len(own), np.nan)
    costs, reference = fits(), table[own.index(REFERENCE)]
    found = []
    for n in np.argsort(table.mean(axis=1), kind="stable"):
        (estimate, rule), difference = own[n], table[n] - reference
        found.append(
            {
                "estimate": estimate,
                "rule": rule,
                "regret": f"{table[n].mean():.3f}",
                "later_regret": f"{later[n]:.3f}",
                "over_3_fold": f"{difference.mean():.3f}",
                "deviation": f"{difference.std(ddof=1) / np.sqrt(len(names)):.3f}",
                "fits": f"{costs[estimate]:.2f}" if estimate in costs else "",
            }
        )
    realisations = {(row["dataset"], row["realisation"]) for row in rows}
    lines = [f"{len(names)} data sets, {len(realisations)} realisations, {len(rows)} models.", ""]
    lines += [f"| by | {' | '.join(RULES)} | fits |", "|---|" + "---:|" * (len(RULES) + 1)]
    by_name = {(row["estimate"], row["rule"]): row["regret"] for row in found}
    for estimate, name in ESTIMATES.items():
        cells = [by_name.get((estimate, rule), "") for rule in RULES]
        cost = f"{costs[estimate]:.1f}" if estimate in costs else ""
        lines.append(f"| {name} | {' | '.join(cells)} | {cost} |")
    lines += ["", f"The {BEST} of least regret, and those that take the least value:", ""]
    lines += ["| by | rule | regret | of later realisations | over 3-fold |", "|---|---|---:|---:|---:|"]
    for place, row in enumerate(found):
        if place < BEST or row["rule"] == "least":
            is_reference = (row["estimate"], row["rule"]) == REFERENCE
            over = "" if is_reference else f"{row['over_3_fold']} ± {row['deviation']}"
            shown = ESTIMATES[row["estimate"]], row["rule"], row["regret"], row["later_regret"], over
            lines.append(f"| {' | '.join(shown)} |")
    lines += ["", f"Chosen on one half of the data sets, regret on the other, mean over {HALVES} halves:", ""]
    lines += ["| family | regret on the other half | chosen most often | in |", "|---|---:|---|---:|"]
    for family, (regret, (estimate, rule), share) in halves(table, own, np.random.default_rng(SEED)).items():
        lines.append(f"| {family} | {regret:.3f} | {ESTIMATES[estimate]}, {rule} | {100 * share:.0f} % |")
    lines.append(f"| 3-fold error, least: no choice | {reference.mean():.3f} | | |")
    aside, chosen_rules = set_aside(table, own, names)
    lines += [
        "",
        f"Chosen on {len(names) - len(aside)} data sets, with these set aside: {', '.join(aside)}.",
        "",
    ]
    lines += ["| family | chosen | regret there | regret of those set aside | over 3-fold |"]
    lines += ["|---|---|---:|---:|---:|"]
    for family, ((estimate, rule), there, away, error) in chosen_rules.items():
        over = "" if family == "no choice" else f"{away - chosen_rules['no choice'][2]:.3f} ± {error:.3f}"
        lines.append(f"| {family} | {ESTIMATES[estimate]}, {rule} | {there:.3f} | {away:.3f} | {over} |")
    return found, "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--datasets", nargs="+", default=DATASETS, metavar="NAME")
    parser.add_argument("--realisations", type=int, default=6, metavar="N")
    parser.add_argument("--report", action="store_true", help="compute no model")
    parser.add_argument("--output", type=Path, default=RESULTS / "selection.csv", metavar="CSV")
    options = parser.parse_args()
    models = options.output.with_name(f"{options.output.stem}_models.csv")
    rows = read_rows(models) if options.report else current_rows(models)
    done = {(row["dataset"], int(row["realisation"])) for row in rows}
    for realisation in range(1, 1 if options.report else options.realisations + 1):
        for name in options.datasets:
            if (name, realisation) in done or realisation > registered(name).n_splits:
                continue
            with threadpool_limits(1):
                rows += models_of(name, realisation)
            print(f"{name} {realisation}", flush=True)
            write_rows(models, rows)
    found, report = summary(rows)
    whence = of_rows(read_rows(models))
    write_rows(options.output, [row | whence for row in found], report)


if __name__ == "__main__":
    main()
