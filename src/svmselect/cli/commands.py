"""The commands that train: `loo`, `cv`, `span`, `select` and `train`."""

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from svmselect.atomic import replacing
from svmselect.cli import page
from svmselect.cli.columns import load
from svmselect.cli.output import Share, counted, measures, name_of, show, table, text, warn
from svmselect.cli.tasks import TASKS, check_task
from svmselect.sklearn import LOOSearchCV, SeededCV, save_model
from svmselect.sklearn.candidates import default_grid
from svmselect.sklearn.fitting import ConstantModelWarning, EndOfListWarning, UnscaledWarning
from svmselect.sklearn.kernels import resolved_gamma
from svmselect.sklearn.progress import progress_bar
from svmselect.sklearn.scoring import Scoring

__all__ = ["cv", "loo", "select", "span", "train"]

FOLDS = {"cv": 10, "select": 3}
TOP = 10  # models that are listed
SMALL, LARGE = 0.1, 10.0  # other deviations of the targets are worth a remark
SHARES = ("error", "loo_rejection_rate")
CHOSEN = {
    "best": "Best",
    "middle": "Middle of the best",
    "one_standard_error": "Simplest within a standard error",
}


def loo(arguments):
    """Run the command `loo`: the exact leave-one-out error of one model."""
    data, task, facts, heading = _begun(arguments)
    scorer, parameters = task.scorer("--scoring", arguments.scoring, data)
    # 1) training, and leave-one-out
    begin = time.perf_counter()
    model = _fit(task.estimator(arguments, **parameters), data)
    if not parameters:  # else training has left each row out
        with progress_bar(1, not arguments.quiet) as report:
            task.leave_out(model, report, bool(scorer or arguments.report))
    truth = (task.truth(arguments.scoring, data),) if task.name == "one-class" else ()
    score = None if scorer is None else model.loo_score(scorer, *truth)
    seconds = time.perf_counter() - begin
    # 2) results, and the page
    predicted, result = task.left_out(model, data)
    result |= {"scoring": arguments.scoring, "score": score}
    training, shared, line, remarks = _trained(task, model, data)
    result |= training | shared
    for path in arguments.report:
        sections = page.sections(task, predicted, "leave-one-out", model, data)
        page.write_page(path, arguments, heading, [line, *remarks], result, data.doubts, sections)
    result["seconds"] = seconds
    described = _described(model, data)[0]
    show(facts | described | result, arguments.json, [heading, line, "", *table(measures(result)), *remarks])


def cv(arguments):
    """Run the command `cv`: the k-fold cross-validation error of one model."""
    data, task, facts, heading = _begun(arguments)
    scorer, parameters = task.scorer("--scoring", arguments.scoring, data)
    k = arguments.folds or FOLDS["cv"]
    # cross-validation of a grid of one model
    model = task.estimator(arguments, **parameters)
    names = task.fold_scores | ({} if scorer is None else {"score": scorer})
    splitter = task.splitter(arguments, data, k, "--folds", arguments.seed)
    options = dict(scoring=names, cv=splitter, refit=False, error_score="raise", verbose=not arguments.quiet)
    search = SeededCV(model, {"C": [model.C]}, **options).fit(data.X, data.y, groups=data.groups)
    splits = [[search.cv_results_[f"split{h}_test_{name}"][0] for h in range(k)] for name in names]
    scores = dict(zip(names, np.array(splits), strict=True))
    # results
    result = task.fold_results(scores, getattr(model, "class_weight", None) == "balanced")
    score = None if scorer is None else float(scores["score"].mean())
    result |= {"scoring": arguments.scoring, "score": score}
    result |= task.baseline(data.y) | {"seconds": search.search_time_}
    described, line = _described(model, data)
    facts |= described | {"folds": k, "seed": arguments.seed}
    show(facts | result, arguments.json, [heading, f"{line}; {k} folds", "", *table(measures(result))])


def span(arguments):
    """Run the command `span`: estimates of the leave-one-out error from a single fit."""
    data, task, facts, heading = _begun(arguments)
    begin = time.perf_counter()
    model = _fit(task.estimator(arguments), data)
    result = task.span(model)
    result["seconds"] = time.perf_counter() - begin
    described, line = _described(model, data)
    lines = table(measures(result), ("estimate of the leave-one-out error", "value"))
    end = "'svmselect loo' gives the error itself"
    show(facts | described | result, arguments.json, [heading, line, "", *lines, "", end])


def train(arguments):
    """Run the command `train`: one model, which is saved."""
    data, task, facts, heading = _begun(arguments)
    if arguments.save_as == "libsvm" and not data.is_plain:
        raise ValueError(
            "LIBSVM's model file cannot hold categories, imputed values or standardised features: save the "
            "model as skops, or encode the file itself"
        )
    # 1) training
    threshold, _ = task.scorer("--threshold", arguments.threshold, data)
    parameters = {"threshold": threshold} if threshold else {}
    if arguments.calibration:
        parameters |= {"calibration": "loo", "calibration_method": arguments.calibration}
    begin = time.perf_counter()
    model = _fit(task.estimator(arguments, **parameters), data)
    if threshold:  # a name can be saved, and a scorer of one class cannot
        model.threshold = arguments.threshold
    if arguments.intervals:
        model.predict_interval(data.X[:1])  # which computes the models without each row
    seconds = time.perf_counter() - begin
    # 2) the file
    if arguments.save_as == "libsvm":
        save_model(model, arguments.save, "libsvm", zero_based=arguments.zero_based)
    else:
        save_model(data.pipeline(model), arguments.save)
    # 3) results
    training, shared, line, remarks = _trained(task, model, data)
    result = training | shared
    result |= {"threshold": model.threshold_} if threshold else {}
    result |= {"calibration": arguments.calibration, "intervals": arguments.intervals}
    result |= {"model": arguments.save, "seconds": seconds}
    remarks.append(f"saved: {arguments.save}")
    described = _described(model, data)[0]
    show(facts | described | result, arguments.json, [heading, line, "", *table(measures(result)), *remarks])


def select(arguments):
    """Run the command `select`: the best model of a grid."""
    # 1) the search
    data, task, facts, heading = _begun(arguments)
    arguments.by = arguments.by or task.by
    arguments.folds = arguments.folds or FOLDS["select"]
    scored = task.scorer("--scoring", arguments.scoring, data)
    outer = task.splitter(arguments, data, arguments.outer, "--outer") if arguments.outer else None
    search = _search(arguments, task, data, *scored).set_params(verbose=not arguments.quiet)
    y = task.truth(arguments.scoring, data) if task.name == "one-class" else data.y
    ends = _fit_search(search, data, y)
    # 2) its models in the order of their ranks
    columns, measure = task.search_values(search, arguments)
    names, (*_, key) = sorted(search.param_grid), columns
    method = {"cv": f"{arguments.folds}-fold", "loo": "leave-one-out"}.get(arguments.by, arguments.by)
    measure = f"{method} {measure}"
    for name in (name for name in SHARES if name in columns):
        columns[name] = [Share(value) for value in columns[name]]
    models = pd.DataFrame(
        {name: [one[name] for one in search.cv_results_["params"]] for name in names} | columns, dtype=object
    )
    chosen = {name: models[name].iloc[search.best_index_] for name in models}
    models = models.iloc[np.argsort(search.cv_results_["rank_test_score"], kind="stable")]
    # 3) the chosen model, sentences on the choice, and the error of the selection as a whole
    model, least, number = search.best_estimator_, text(chosen[key]), counted(len(models), "model", "models")
    training, result, line, constant = _trained(task, model, data)
    by = f"consistency, {measure}" if key == "loo_rejection_rate" else measure
    sentence = f"{CHOSEN[arguments.rule]} of {number} by {by}, {least}: {line.partition(': ')[2]}"
    remarks = [*_remarks(task, arguments, search, chosen, measure), *ends]
    if outer is not None:
        result |= _outer(arguments, task, data, search.scoring_, scored, outer)
    elif key != "loo_rejection_rate" and len(models) > 1:
        remarks.append(
            f"{least}, the best of {number}, is optimistic: --outer 5 measures the whole selection"
        )
    remarks += constant
    # 4) files and output
    if arguments.save:
        save_model(data.pipeline(model), arguments.save)
        remarks.append(f"saved: {arguments.save}")
    for path in arguments.report:
        words = heading, [sentence, *remarks], measure
        _report(
            path, arguments, task, data, search, models, {measure: chosen[key]} | result | training, words
        )
    result["seconds"] = search.search_time_
    facts |= _described(model, data)[0] | {"by": arguments.by, "rule": arguments.rule, "measure": measure}
    facts |= {"folds": arguments.folds, "seed": 0} if arguments.by == "cv" else {}
    facts |= {name: chosen[name] for name in columns}
    facts |= {"tied": int(np.count_nonzero(search.cv_results_["rank_test_score"] == 1))}
    facts |= {"models": models.to_dict("records"), "model": arguments.save}
    listed = table(models[:TOP].to_numpy().tolist(), (*models.columns[:-1], measure))
    lines = [heading, sentence, "", *listed, "", *remarks, *table(measures(result))]
    show(facts | result, arguments.json, lines)


def _begun(arguments):
    """Return the Data of the file, its Task, facts for JSON, and a line for people."""
    warnings.simplefilter("ignore", UnscaledWarning)  # the Data has a doubt of its own
    warnings.simplefilter("ignore", ConstantModelWarning)  # which every command says of its model
    check_task(arguments)
    page.check_report(arguments)
    data = load(arguments)
    task = TASKS[data.task]
    task.check(arguments)
    about, phrase = task.about(data.y)
    if task.name == "regression" and arguments.command != "select" and not SMALL <= data.y.std() <= LARGE:
        units = f"the numbers to predict deviate by {data.y.std():.3g} from their mean"
        data.doubts.append(f"{units}; C and epsilon, 0.1 by default, are in their units")
        warn(data.doubts[-1])
    (m, d), label = data.X.shape, data.label
    facts = {"file": arguments.file, "task": task.name, "rows": m, "features": d, **about, "label": label}
    facts |= {"dropped_rows": data.dropped, "doubts": data.doubts, "standardised": arguments.standardise}
    parts = [f"{arguments.file}: {m} rows, {d} features", phrase, f"label: {label}" if label else "no label"]
    if data.groups is not None:
        facts["groups"] = np.unique(data.groups).size
        parts.append(f"{facts['groups']} groups")
    return data, task, facts, "; ".join(filter(None, parts))


def _fit(model, data):
    """Train a model on all rows, and return it."""
    return model.fit(data.X, None if data.task == "one-class" else data.y)


def _trained(task, model, data):
    """Return results on the training rows, others of the model, a line on it, and remarks.

    The former are known to the tolerance of the fit.
    """
    predicted = model.decision_function(data.X) if task.name == "one-class" else model.predict(data.X)
    training = task.results("training", predicted, data.y) | {"support_vectors": model.support_.size}
    result, remarks = task.baseline(data.y), []
    if task.name == "classification":
        label = name_of(predicted.tolist()[0]) if (predicted == predicted[0]).all() else None
        remarks = [] if label is None else [f"the model is constant: it gives every row the class {label}"]
        result["constant"] = label
    return training, result, _described(model, data)[1], remarks


def _described(model, data):
    """Return the parameters of a model as a dict, and as a line for people."""
    names = ["nu", "C", "degree", "coef0", "epsilon"]
    if model.kernel != "poly":
        names = [
            name for name in names if name != "degree" and (name != "coef0" or model.kernel == "sigmoid")
        ]
    parameters = {name: float(getattr(model, name)) for name in names if hasattr(model, name)}
    if model.kernel != "linear":
        parameters["gamma"] = float(resolved_gamma(model.gamma, data.X))
    words = [f"{model.kernel} kernel", *(f"{name} {value:.6g}" for name, value in parameters.items())]
    title = {"regression": "SVR", "one-class": "One-class SVM"}.get(data.task, "SVM")
    if data.task == "classification":
        parameters["class_weight"] = model.class_weight
        words += ["balanced classes"] * (model.class_weight == "balanced")
    return {"kernel": model.kernel, **parameters}, f"{title}: {', '.join(words)}"


def _search(arguments, task, data, scorer, parameters):
    """Return the search that the options describe, with the default grid for the rows of `data`."""
    model, (lists, _) = task.estimator(arguments, **parameters), task.settings(arguments)
    grid = default_grid(model, data.X, data.y if task.name == "regression" else None)
    grid |= task.default_values(arguments)
    grid |= lists | {name: values for name in ("C", "gamma") if (values := getattr(arguments, name))}
    default = task.default_scoring if arguments.by in ("cv", "loo") else None
    options = {"scoring": scorer or default, "error_score": "raise"}
    options["refit"] = True if arguments.rule == "best" else arguments.rule
    if arguments.by == "cv":
        return SeededCV(model, grid, cv=task.splitter(arguments, data, arguments.folds, "--folds"), **options)
    criterion = "exact" if arguments.by == "loo" else arguments.by
    return LOOSearchCV(model, grid, criterion=criterion, **options)


def _fit_search(search, data, y):
    """Fit a search, and return its warnings that the best model is at the end of a list."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EndOfListWarning)
        search.fit(data.X, y, **({} if data.groups is None else {"groups": data.groups}))
    ends = [one for one in caught if one.category is EndOfListWarning]
    for one in (one for one in caught if one not in ends):
        warn(one.message)
    return [str(one.message).partition(". extend")[0] for one in ends]


def _outer(arguments, task, data, by, scored, splitter):
    """Return the error or the score of the whole selection by outer folds.

    Everything is learned anew without each fold: categories, values that are filled in, means and deviations,
    the grid's scale of gamma, and the choice. `by` is the default score that chooses without --scoring.
    """
    predicted, scores, (scorer, _) = np.empty_like(data.y), [], scored
    fold = np.zeros(data.y.size, dtype=np.intp)
    for h, (train, held_out) in enumerate(splitter.split(data.y, data.y, data.groups)):
        part, rows = data.taken(train), data.taken(held_out)
        search = _search(arguments, task, part, *scored)
        _fit_search(search, part, part.y)
        whole = part.pipeline(search)
        predicted[held_out], fold[held_out] = whole.predict(rows.frame), h
        if scorer is not None:
            scores.append(Scoring(scorer).score_estimator(whole, rows.frame, rows.y, "score", {}))
    result = task.results("outer", predicted, data.y, by == "weighted_accuracy")
    if task.name == "classification":
        result["outer_errors"] = np.bincount(fold, weights=predicted != data.y).astype(int)
    if scores:
        result |= {"outer_score": float(np.mean(scores)), "outer_scores": scores}
    return result | {"outer_folds": arguments.outer}


def _remarks(task, arguments, search, chosen, measure):
    """Return sentences on the choice."""
    remarks, grid = [], search.param_grid
    if task.name != "one-class" or arguments.scoring:
        tied = np.count_nonzero(search.cv_results_["rank_test_score"] == 1)
        if tied > 1 and arguments.rule == "best":
            remarks.append(f"{tied} models tie for the best {measure}; the first of the grid is chosen")
        return remarks
    if not chosen["consistent"]:
        remarks.append("no model is consistent; the chosen one rejects the fewest standard errors too many")
    elif chosen.get("gamma") == max(grid.get("gamma", [0])):
        remarks.append("the largest gamma of the grid is consistent; larger ones may be, too")
    if len(grid["nu"]) > 1:
        remarks.append(
            "consistency does not choose nu, since a larger nu allows a larger gamma: --scoring does"
        )
    return remarks


def _report(path, arguments, task, data, search, models, result, words):
    """Write a file of --report: a page, all models, or a figure, by its ending."""
    heading, sentences, measure = words
    if path.lower().endswith(".csv"):
        with replacing(Path(path)) as file:
            file.write(models.to_csv(index=False, lineterminator="\n").encode())
        return
    is_rate = models.columns[-1] == "loo_rejection_rate"
    figure = page.rejection_rates(search) if is_rate else page.surface(search)
    if not path.lower().endswith(".html"):
        page.plot(figure, path)
        return
    model, method = search.best_estimator_, "leave-one-out"
    if arguments.by == "cv":
        method, options = f"{arguments.folds}-fold", {"groups": data.groups, "cv": search.cv}
        predicted = cross_val_predict(clone(model), data.X, data.y, **options)
    else:
        predicted = task.left_out(model, data)[0]
    result = result | task.results(arguments.by, predicted, data.y)
    sections = page.sections(task, predicted, method, model, data)
    all_models = figure, models.rename(columns={models.columns[-1]: measure})
    page.write_page(path, arguments, heading, sentences, result, data.doubts, sections, all_models)
