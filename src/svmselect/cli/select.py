"""The command `select`, and with --outer the error of the selection as a whole."""

import csv
import io
from pathlib import Path

import numpy as np

from svmselect.atomic import replacing
from svmselect.cli.data import constant_class, constant_remark, described, heading, load
from svmselect.cli.encoding import counted, learned
from svmselect.cli.models import (
    check_name,
    check_score,
    classifier,
    evaluated_model,
    folds_of,
    held_out_rows,
    loo_rows,
    score_name,
    scorer_for,
)
from svmselect.cli.output import percent, show, table, text
from svmselect.cli.page import check_plotting, class_sections, plot, surface, write_page
from svmselect.cli.train import (
    check_groups,
    check_options,
    check_saving,
    configured_model,
    fit_saved,
    save,
    saved_facts,
    saved_rows,
)
from svmselect.forks import cached_property
from svmselect.sklearn import LOOSearchCV, SeededCV
from svmselect.sklearn.candidates import default_grid
from svmselect.sklearn.one_vs_one import class_weights
from svmselect.sklearn.scoring import Scoring

__all__ = ["check_gamma", "encoded_apart", "grid_of", "search_options", "select", "write_models"]


def select(arguments):
    """Run the command `select`: the best model of a grid."""
    # 1) checks before the file is read, and before anything is trained
    check_name("--scoring", arguments.scoring)
    check_groups(arguments)
    check_options(arguments)
    check_plotting(arguments.plot, arguments.report)
    check_gamma(arguments)
    X, data, facts = load(arguments)
    y = data.labels
    check_score("--scoring", arguments.scoring, y, arguments.positive)
    check_saving(arguments, data)
    outer_folds = []
    if arguments.outer:
        outer_folds = folds_of(arguments.outer, y, data.groups, arguments, "--outer")
    # 2) the search, and its models in the order of their ranks
    search = _searched(arguments, X, y, data.groups, not arguments.quiet)
    key, measure, models = _ranked(arguments, search)
    tied = int(np.count_nonzero(search.cv_results_["rank_test_score"] == 1))
    model = configured_model(arguments, **search.best_params_)
    parameters, line = described(model, X)
    result = {
        **facts,
        **parameters,
        "by": arguments.by,
        **({"folds": arguments.folds, "seed": arguments.seed} if arguments.by == "cv" else {}),
        "measure": measure,
        key: models[0][key],
        "tied": tied,
        "models": models,
        "seconds": search.search_time_,
    }

    # 3) sentences on the choice, and the error of the selection as a whole
    names, shown = sorted(search.param_grid), float if arguments.scoring else percent
    rows = [(*(m[name] for name in names), shown(m[key])) for m in models[: arguments.top]]
    least = text(shown(models[0][key]))
    all_models = counted(len(models), "model", "models")
    best = f"Best of {all_models} by {measure}, {least}: {line.removeprefix('SVM: ')}"
    remarks, numbers, about = [], [(measure, least)], []
    if tied > 1:
        remarks.append(f"{tied} models tie for the best {measure}; the first of the grid is chosen")
    optimistic = f"{least}, the best {measure} of {all_models}, is optimistic"
    if arguments.outer:
        outer = _Outer(arguments, data, outer_folds, _chosen, search.scoring_)
        result |= outer.facts
        remarks.append(f"{outer.sentence}; {optimistic}")
        numbers.append(outer.row)
    elif len(models) > 1:
        remarks.append(f"{optimistic}: --outer 5 measures the selection as a whole")
    # 4) the chosen model, trained on all rows
    if arguments.save or arguments.report or arguments.calibration or arguments.threshold:
        fit_saved(model, arguments, X, y)
        predicted = model.predict(X)
        result |= saved_facts(model)
        about = saved_rows(model, arguments)
        numbers += [(name, f"{value}, {remark}" if remark else value) for name, value, remark in about]
    else:
        predicted = classifier(arguments, **search.best_params_).fit(X, y).predict(X)
    result["constant"] = constant_class(predicted)
    remarks += constant_remark(predicted)
    # 5) files and output
    if arguments.save:
        save(model, data, arguments)
        result["model"] = arguments.save
    if arguments.output:
        write_models(arguments.output, names, key, models)
        result["output"] = arguments.output
    if arguments.plot:
        plot(surface(search), arguments.plot)
    if arguments.report:
        left_out = _left_out(arguments, model, X, data)
        sections = class_sections(left_out, model, data)
        condition = " at the threshold" if model.threshold else ""
        numbers.append((f"{left_out.method} error of the chosen model{condition}", percent(left_out.error)))
        numbers.append(("training error", percent(np.mean(predicted != y))))
        about_all = (surface(search), models, measure, key)
        write_page(arguments, facts, [best, *remarks], numbers, sections, about_all)
    lines = [*heading(facts, best), *table(rows, (*names, measure)), "", *remarks]
    lines += table([*about, ("time", f"{search.search_time_:.2f} s", "")])
    show(result, arguments.json, lines)


def check_gamma(arguments):
    """Raise a ValueError, before the file is read, for values of gamma and a kernel without one."""
    if arguments.kernel == "linear" and arguments.gamma:
        raise ValueError("--gamma is for kernels that have one, got --kernel linear")


def grid_of(arguments, defaults):
    """Return the grid of the options, which has the default values of parameters without an option."""
    given = {name: getattr(arguments, name) for name in ("C", "epsilon", "gamma", "nu")}
    return defaults | {name: values for name, values in given.items() if values}


def search_options(arguments, verbose):
    """Return the parameters that the searches of all tasks have."""
    return {
        "refit": False,
        "n_jobs": arguments.jobs,
        "error_score": "raise",
        "verbose": verbose and arguments.jobs == 1,  # several print lines where there is no terminal, too
    }


def _searched(arguments, X, y, groups, verbose):
    """Return the search of the options, after its fit."""
    model = evaluated_model(arguments)
    grid = grid_of(arguments, default_grid(model, X))
    options = search_options(arguments, verbose)
    options["scoring"] = scorer_for(arguments.scoring, arguments.positive, y)
    if arguments.by == "loo":
        search = LOOSearchCV(model, grid, **options)
    else:
        folds = folds_of(arguments.folds, y, groups, arguments, "--folds")
        search = SeededCV(model, grid, cv=folds, **options)
    return search.fit(X, y)


def _ranked(arguments, search):
    """Return the measure of a search, by its name in results and for people, and the models, best first."""
    method = "leave-one-out" if arguments.by == "loo" else f"{arguments.folds}-fold"
    scores = search.cv_results_["mean_test_score"]
    if arguments.scoring:
        key, measure, values = "score", score_name(arguments.scoring, arguments.positive), scores
    elif search.scoring_ == "weighted_accuracy":
        key, measure, values = "error", "error weighted by class", 1 - scores
    else:
        exact = arguments.by == "loo"
        key, measure, values = "error", "error", search.cv_results_["loo_error"] if exact else 1 - scores
    order = np.argsort(search.cv_results_["rank_test_score"], kind="stable")
    models = [{**search.cv_results_["params"][n], key: values[n]} for n in order]
    return key, f"{method} {measure}", models


def _chosen(arguments, X, y, groups):
    """Return the best model of the grid, trained on these rows alone."""
    search = _searched(arguments, X, y, groups, False)
    return fit_saved(
        configured_model(arguments, bool(arguments.scoring), **search.best_params_), arguments, X, y
    )


def _left_out(arguments, model, X, data):
    """Return the LeftOutRows of the chosen model by the method of --by."""
    if arguments.by == "loo":
        return loo_rows(model, data.labels)
    folds = folds_of(arguments.folds, data.labels, data.groups, arguments, "--folds")
    return held_out_rows(model, X, data.labels, folds)


def write_models(path, names, key, models):
    """Write a CSV file of all models, the best first, with every number in full."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow([*names, key])
    writer.writerows([*(model[name] for name in names), float(model[key])] for model in models)
    with replacing(Path(path)) as file:
        file.write(content.getvalue().encode())


class _Outer:
    """Models chosen and trained without each outer fold, evaluated on that fold.

    Everything is learned anew without the fold: categories, values that are filled in, means and deviations,
    the grid's scale of gamma, and the choice itself.

    Parameters
    ----------
    arguments : Namespace
    data : Table
    folds : list of tuple of ndarray
        The rows that are chosen and trained on, and those that are held out.
    choose : callable
        ``choose(arguments, X, y, groups)`` returns the chosen model, trained on all of these rows.
    by : str
        The score by which `choose` chooses: "accuracy", "weighted_accuracy", or the name of a score.

    Attributes
    ----------
    wrong : ndarray of bool, shape (m,)
        The rows that the model without their fold misclassifies.
    fold : ndarray of int, shape (m,)
        The outer fold of each row.
    scores : list of float
        The score of each fold, with --scoring.
    """

    def __init__(self, arguments, data, folds, choose, by):
        y = data.labels
        self.n_folds, self.by = arguments.outer, by
        self.scoring = score_name(arguments.scoring, arguments.positive)
        self.labels, self.scores = y, []
        self.wrong, self.fold = np.zeros(y.size, dtype=bool), np.zeros(y.size, dtype=np.intp)
        scorer = scorer_for(arguments.scoring, arguments.positive, y)
        scoring = None if scorer is None else Scoring(scorer)
        for h, (train, held_out) in enumerate(folds):
            X, X_held_out = encoded_apart(data, train, held_out, arguments)
            model = choose(arguments, X, y[train], None if data.groups is None else data.groups[train])
            self.fold[held_out] = h
            self.wrong[held_out] = model.predict(X_held_out) != y[held_out]
            if scoring is not None:
                self.scores.append(scoring.score_estimator(model, X_held_out, y[held_out], "score", {}))

    @cached_property
    def weighted_error(self):
        """The error in which each class counts by its weight among all rows."""
        classes, codes = np.unique(self.labels, return_inverse=True)
        return float(np.average(self.wrong, weights=class_weights("balanced", classes, codes)[codes]))

    @property
    def facts(self):
        """The errors and scores of the outer folds, for JSON."""
        return {
            "outer_folds": self.n_folds,
            "outer_error": self.wrong.mean(),
            "outer_errors": np.bincount(self.fold, weights=self.wrong).astype(int),
            **({"outer_weighted_error": self.weighted_error} if self.by == "weighted_accuracy" else {}),
            **(
                {"outer_score": float(np.mean(self.scores)), "outer_scores": self.scores}
                if self.scores
                else {}
            ),
        }

    @property
    def row(self):
        """Name and value of the measure, for people."""
        if self.scores:
            return f"{self.scoring} of the whole selection", f"{np.mean(self.scores):.6g}"
        if self.by == "weighted_accuracy":
            return "weighted error of the whole selection", percent(self.weighted_error)
        return "error of the whole selection", percent(self.wrong.mean())

    @property
    def sentence(self):
        """Name and value of the measure, and how it was counted."""
        if self.scores:
            how = f"mean of {self.n_folds} outer folds, {min(self.scores):.6g} to {max(self.scores):.6g}"
        else:
            how = f"{self.wrong.sum()} of {self.wrong.size} rows, in {self.n_folds} outer folds"
        return f"{' '.join(self.row)} ({how})"


def encoded_apart(data, train, held_out, arguments):
    """Return the features of training rows, and of held-out rows by the encoding of the training rows."""
    known = data.encoding
    if known.layout is None:
        raw, raw_held_out, categorical = data.raw[train], data.raw[held_out], set()
    else:
        raw, raw_held_out = data.raw.take(train), data.raw.take(held_out)
        pairs = zip(known.layout.places, known.columns, strict=True)
        categorical = {j for j, column in pairs if column.categories is not None}
    encoding = learned(raw, categorical, arguments.impute, arguments.standardise, [])
    return encoding.applied(raw, []), encoding.applied(raw_held_out, [])
