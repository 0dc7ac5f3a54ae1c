"""The command `select`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from svmselect.atomic import replacing
from svmselect.cli.encoding import counted
from svmselect.cli.figures import check_plotting, plot, surface
from svmselect.cli.folds import folds_of
from svmselect.cli.left_out import held_out_rows, left_out_rows
from svmselect.cli.models import (
    classifier,
    constant_class,
    constant_remark,
    described,
    evaluated_model,
    heading,
    load,
)
from svmselect.cli.nested import Outer
from svmselect.cli.page import write_page
from svmselect.cli.report import percent, show, table, text
from svmselect.cli.saving import (
    check_groups,
    check_options,
    check_saving,
    configured_model,
    fit_saved,
    save,
    saved_facts,
    saved_rows,
)
from svmselect.cli.scores import check_name, check_score, score_name, scorer_for
from svmselect.sklearn import LOOSearchCV, SeededCV
from svmselect.sklearn.candidates import default_grid

__all__ = ["select"]


def select(arguments):
    """The best model of a grid."""
    check_name("--scoring", arguments.scoring)
    check_groups(arguments)
    check_options(arguments)
    check_plotting(arguments.plot, arguments.report)
    if arguments.kernel == "linear" and arguments.gamma:
        raise ValueError("--gamma is for kernels that have one, got --kernel linear")
    X, data, facts = load(arguments)
    y = data.labels
    check_score("--scoring", arguments.scoring, y, arguments.positive)
    check_saving(arguments, data)
    outer_folds = []
    if arguments.outer:
        outer_folds = folds_of(arguments.outer, y, data.groups, arguments, "--outer")
    search = _searched(arguments, X, y, data.groups, not arguments.quiet)
    key, measure, values = _measured(arguments, search)
    rank = search.cv_results_["rank_test_score"]
    models = [{**search.cv_results_["params"][n], key: values[n]} for n in np.argsort(rank, kind="stable")]
    tied = int(np.count_nonzero(rank == 1))
    model = configured_model(arguments, **search.best_params_)
    parameters, line = described(model, X)
    result = {
        **facts,
        **parameters,
        "by": arguments.by,
        **({"folds": arguments.folds, "seed": arguments.seed} if arguments.by == "cv" else {}),
        "measure": measure,
        key: values[search.best_index_],
        "tied": tied,
        "models": models,
        "seconds": search.search_time_,
    }

    def shown(value):
        return float(value) if arguments.scoring else percent(value)

    names = sorted(search.param_grid)
    rows = [(*(m[name] for name in names), shown(m[key])) for m in models[: arguments.top]]
    least = text(shown(values[search.best_index_]))
    all_models = counted(len(models), "model", "models")
    best = f"Best of {all_models} by {measure}, {least}: {line.removeprefix('SVM: ')}"
    remarks, numbers, about = [], [(measure, least)], []
    if tied > 1:
        remarks.append(f"{tied} models tie for the best {measure}; the first of the grid is chosen")
    optimistic = f"{least}, the best {measure} of {all_models}, is optimistic"
    if arguments.outer:
        outer = Outer(arguments, data, outer_folds, _chosen, search.scoring_)
        result |= outer.facts
        remarks.append(f"{outer.sentence}; {optimistic}")
        numbers.append(outer.row)
    elif len(models) > 1:
        remarks.append(f"{optimistic}: --outer 5 measures the selection as a whole")
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
    if arguments.save:
        save(model, data, arguments)
        result["model"] = arguments.save
    if arguments.output:
        _write_models(arguments.output, names, key, models)
        result["output"] = arguments.output
    if arguments.plot:
        plot(surface(search), arguments.plot)
    if arguments.report:
        if arguments.by == "loo":
            left_out = left_out_rows(model, y)
        else:
            folds = folds_of(arguments.folds, y, data.groups, arguments, "--folds")
            left_out = held_out_rows(model, X, y, folds)
        condition = " at the threshold" if model.threshold else ""
        numbers.append((f"{left_out.method} error of the chosen model{condition}", percent(left_out.error)))
        numbers.append(("training error", percent(np.mean(predicted != y))))
        about_all = (search, models, measure, key)
        write_page(arguments, facts, [best, *remarks], numbers, left_out, model, data, about_all)
    lines = [*heading(facts, best), *table(rows, (*names, measure)), "", *remarks]
    lines += table([*about, ("time", f"{search.search_time_:.2f} s", "")])
    show(result, arguments.json, lines)


def _searched(arguments, X, y, groups, verbose):
    """The search of the options, after its fit."""
    model = evaluated_model(arguments)
    grid = default_grid(model.kernel, X)
    if arguments.C:
        grid["C"] = arguments.C
    if arguments.gamma:
        grid["gamma"] = arguments.gamma
    options = {
        "scoring": scorer_for(arguments.scoring, arguments.positive, y),
        "refit": False,
        "n_jobs": arguments.jobs,
        "error_score": "raise",
        "verbose": verbose and arguments.jobs == 1,  # several print lines where there is no terminal, too
    }
    if arguments.by == "loo":
        search = LOOSearchCV(model, grid, **options)
    else:
        folds = folds_of(arguments.folds, y, groups, arguments, "--folds")
        search = SeededCV(model, grid, cv=folds, **options)
    return search.fit(X, y)


def _measured(arguments, search):
    """Return the measure that a search chose by: its name in results, its name for people, and its values."""
    method = "leave-one-out" if arguments.by == "loo" else f"{arguments.folds}-fold"
    scores = search.cv_results_["mean_test_score"]
    if arguments.scoring:
        return "score", f"{method} {score_name(arguments.scoring, arguments.positive)}", scores
    if search.scoring_ == "weighted_accuracy":
        return "error", f"{method} error weighted by class", 1 - scores
    exact = arguments.by == "loo" and search.scoring_ == "accuracy"
    return "error", f"{method} error", search.cv_results_["loo_error"] if exact else 1 - scores


def _chosen(arguments, X, y, groups):
    """The best model of the grid, trained on these rows alone."""
    search = _searched(arguments, X, y, groups, False)
    return fit_saved(
        configured_model(arguments, bool(arguments.scoring), **search.best_params_), arguments, X, y
    )


def _write_models(path, names, key, models):
    """A CSV file of all models, the best first, with every number in full."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow([*names, key])
    writer.writerows([*(model[name] for name in names), float(model[key])] for model in models)
    with replacing(Path(path)) as file:
        file.write(content.getvalue().encode())
