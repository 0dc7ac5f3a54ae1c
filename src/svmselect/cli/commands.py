"""The commands that train: `loo`, `cv`, `span`, `select` and `train`."""

import csv
import io
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from svmselect.atomic import replacing
from svmselect.cli import page
from svmselect.cli.columns import load
from svmselect.cli.output import counted, name_of, percent, show, table, text, warn
from svmselect.cli.tasks import TASKS, check_task
from svmselect.sklearn import LOOSearchCV, SeededCV, save_model
from svmselect.sklearn.candidates import default_grid
from svmselect.sklearn.kernels import resolved_gamma
from svmselect.sklearn.progress import progress_bar
from svmselect.sklearn.scoring import Scoring

__all__ = ["cv", "loo", "select", "span", "train"]

FOLDS = {"cv": 10, "select": 3}
TOP = 10  # models that are listed


def loo(arguments):
    """Run the command `loo`: the exact leave-one-out error of one model."""
    data, task, facts, heading = _begun(arguments)
    scorer, calibrated = task.scorer("--scoring", arguments.scoring, data)
    # 1) training, and leave-one-out
    model = task.estimator(arguments, **({"calibration": "loo"} if calibrated else {}))
    begin = time.perf_counter()
    _fit(model, data)
    if not calibrated:  # else training has left each row out
        with progress_bar(1, not arguments.quiet) as report:
            task.leave_out(model, report, bool(scorer or arguments.report))
    truth = () if task.name != "one-class" else (task.truth(arguments.scoring, data),)
    score = None if scorer is None else model.loo_score(scorer, *truth)
    seconds = time.perf_counter() - begin
    # 2) results for JSON, for people, and for the page
    predicted, left_out, rows = task.left_out(model, data.y)
    trained, trained_rows = task.results("training", "training", _values(task, model, data), data.y)
    baseline, baseline_rows = task.baseline(data.y)
    parameters, line = _described(model, data)
    constant = _constant(task, model, data)
    odd = (
        predicted != data.y
        if task.name == "classification"
        else predicted < 0
        if task.name == "one-class"
        else None
    )
    key = {"classification": "misclassified_rows", "one-class": "rejected_rows"}.get(task.name)
    result = {
        **facts,
        **parameters,
        **trained,
        **left_out,
        **({} if odd is None else {key: data.numbers[odd]}),
        "scoring": arguments.scoring,
        "score": score,
        **baseline,
        **constant,
        "support_vectors": model.support_.size,
        "seconds": seconds,
    }
    rows = [
        *rows,
        *([(f"leave-one-out {arguments.scoring}", f"{score:.6g}", "")] if scorer else []),
        (*trained_rows[0][:2], ""),
        *baseline_rows,
        ("support vectors", str(model.support_.size), ""),
        ("time", f"{seconds:.2f} s", ""),
    ]
    remarks = _constant_remark(constant)
    for path in arguments.report:
        sections = page.sections(task, predicted, "leave-one-out", model, data)
        page.write_page(path, arguments, heading, [line, *remarks], rows[:-1], data.doubts, sections)
    show(result, arguments.json, [heading, line, "", *table(rows), *remarks])


def cv(arguments):
    """Run the command `cv`: the k-fold cross-validation error of one model."""
    data, task, facts, heading = _begun(arguments)
    scorer, calibrated = task.scorer("--scoring", arguments.scoring, data)
    k = arguments.folds or FOLDS["cv"]
    splitter = task.splitter(arguments, data, k, "--folds", arguments.seed)
    # cross-validation of a grid of one model
    model = task.estimator(arguments, **({"calibration": "loo"} if calibrated else {}))
    names = task.fold_scores | ({} if scorer is None else {"score": scorer})
    options = dict(scoring=names, cv=splitter, refit=False, error_score="raise", verbose=not arguments.quiet)
    search = SeededCV(model, {"C": [model.C]}, **options).fit(data.rows, data.y, groups=data.groups)
    scores = {
        name: np.array([search.cv_results_[f"split{h}_test_{name}"][0] for h in range(k)]) for name in names
    }
    score = None if scorer is None else float(scores["score"].mean())
    # results for JSON and for people
    balanced = getattr(model, "class_weight", None) == "balanced"
    folds, rows, ends = task.fold_results(scores, k, data.y, balanced)
    baseline, baseline_rows = task.baseline(data.y)
    parameters, line = _described(model, data)
    result = {
        **facts,
        **parameters,
        "folds": k,
        "seed": arguments.seed,
        **folds,
        "scoring": arguments.scoring,
        "score": score,
        **baseline,
        "seconds": search.search_time_,
    }
    rows += [(f"{k}-fold {arguments.scoring}", f"{score:.6g}")] if scorer else []
    rows += [*ends, *(row[:2] for row in baseline_rows), ("time", f"{search.search_time_:.2f} s")]
    show(result, arguments.json, [heading, line, "", *table(rows)])


def span(arguments):
    """Run the command `span`: estimates of the leave-one-out error from a single fit."""
    data, task, facts, heading = _begun(arguments)
    begin = time.perf_counter()
    model = _fit(task.estimator(arguments), data)
    estimates, rows = task.span(model)
    seconds = time.perf_counter() - begin
    parameters, line = _described(model, data)
    lines = table(rows, ("estimate of the leave-one-out error", "value"))
    end = f"time {seconds:.2f} s; 'svmselect loo' gives the error itself"
    result = {**facts, **parameters, **estimates, "seconds": seconds}
    show(result, arguments.json, [heading, line, "", *lines, "", end])


def train(arguments):
    """Run the command `train`: one model, which is saved."""
    data, task, facts, heading = _begun(arguments)
    if arguments.save_as == "libsvm" and data.steps:
        raise ValueError(
            "LIBSVM's model file cannot hold categories, imputed values or standardised features: save the "
            "model as skops, or encode the file itself"
        )
    # 1) training
    parameters = {}
    if arguments.calibration:
        parameters |= {"calibration": "loo", "calibration_method": arguments.calibration}
    if arguments.threshold:
        parameters["threshold"] = task.check_threshold(arguments.threshold, data)
    begin = time.perf_counter()
    model = _fit(task.estimator(arguments, **parameters), data)
    if arguments.threshold:  # a name can be saved, and a scorer of one class cannot
        model.threshold = arguments.threshold
    if arguments.intervals:
        model.predict_interval(data.rows[:1])  # which computes the models without each row
    seconds = time.perf_counter() - begin
    # 2) the file
    saved = model if arguments.save_as == "libsvm" else data.pipeline(model)
    save_model(
        saved,
        arguments.save,
        arguments.save_as,
        zero_based=arguments.zero_based and arguments.save_as == "libsvm",
    )
    # 3) results
    trained, rows = task.results("training", "training", _values(task, model, data), data.y)
    parameters, line = _described(model, data)
    constant = _constant(task, model, data)
    result = {**facts, **parameters, **trained, **constant, "support_vectors": model.support_.size}
    rows = [*rows, ("support vectors", str(model.support_.size), "")]
    if arguments.calibration:
        rows.append(("probabilities", arguments.calibration, "calibrated on left-out decision values"))
    if arguments.threshold:
        quantity = f"decision value with the best {arguments.threshold} of left-out rows"
        rows.append(("threshold", f"{model.threshold_:.6g}", quantity))
    if task.name == "classification":
        result |= {"calibration": arguments.calibration, "threshold_scoring": arguments.threshold}
        result["threshold"] = model.threshold_
    result |= {"intervals": arguments.intervals, "model": arguments.save, "seconds": seconds}
    rows += [("saved", arguments.save, ""), ("time", f"{seconds:.2f} s", "")]
    show(result, arguments.json, [heading, line, "", *table(rows), *_constant_remark(constant)])


def select(arguments):
    """Run the command `select`: the best model of a grid."""
    # 1) the search
    data, task, facts, heading = _begun(arguments)
    arguments.by = arguments.by or task.by
    k = arguments.folds or FOLDS["select"]
    scorer, calibrated = task.scorer("--scoring", arguments.scoring, data)
    outer = None
    if arguments.outer:
        outer = task.splitter(arguments, data, arguments.outer, "--outer")
    search = _search(arguments, task, data, scorer, calibrated, k)
    y = task.truth(arguments.scoring, data) if task.name == "one-class" else data.y
    search.set_params(refit=False if arguments.rule == "best" else arguments.rule)
    search.fit(data.rows, y, **({} if data.groups is None else {"groups": data.groups}))
    # 2) its models in the order of their ranks
    columns, measure = task.search_values(search, arguments)
    key = [*columns][-1]
    shown = percent if key in ("error", "loo_rejection_rate") else float
    method = f"{k}-fold" if arguments.by == "cv" else {"loo": "leave-one-out"}.get(arguments.by, arguments.by)
    measure, ranks = f"{method} {measure}", search.cv_results_["rank_test_score"]
    models, chosen = _ranked_models(search, columns)
    # 3) the chosen model, trained on all rows; it holds no more than its line says
    model = _fit(task.estimator(arguments, **search.best_params_), data)
    parameters, line = _described(model, data)
    constant = _constant(task, model, data)
    baseline, baseline_rows = task.baseline(data.y)
    tied = int(np.count_nonzero(ranks == 1))
    result = {
        **facts,
        **parameters,
        "by": arguments.by,
        **({"folds": k, "seed": 0} if arguments.by == "cv" else {}),
        "rule": arguments.rule,
        "measure": measure,
        **{name: chosen[name] for name in columns},
        **baseline,
        "tied": tied,
        "models": models,
        **constant,
        "seconds": search.search_time_,
    }
    # 4) sentences on the choice, and the error of the selection as a whole
    names, least = sorted(search.param_grid), text(shown(chosen[key]))
    all_models = counted(len(models), "model", "models")
    best = {"best": "Best", "middle": "Middle of the best"}.get(
        arguments.rule, "Simplest within a standard error"
    )
    consistency = "consistency, " if key == "loo_rejection_rate" else ""
    sentence = f"{best} of {all_models} by {consistency}{measure}, {least}: {line.partition(': ')[2]}"
    remarks = _remarks(task, arguments, search, tied, chosen, measure)
    numbers = [(measure, least, ""), *baseline_rows]
    if outer is not None:
        outer_facts, outer_rows, sentence_of_outer = _outer(
            arguments, task, data, search.scoring_, scorer, calibrated, outer
        )
        result |= outer_facts
        numbers += outer_rows
    if key != "loo_rejection_rate" and len(models) > 1:
        optimistic = f"{least}, the best {measure} of {all_models}, is optimistic"
        remarks.append(
            f"{optimistic}: --outer 5 measures the selection as a whole"
            if outer is None
            else f"{sentence_of_outer}; {optimistic}"
        )
    remarks += _constant_remark(constant)
    # 5) files and output
    if arguments.save:
        save_model(data.pipeline(model), arguments.save)
        result["model"] = arguments.save
    for path in arguments.report:
        _report(
            path,
            arguments,
            task,
            data,
            model,
            search,
            models,
            names,
            measure,
            numbers,
            heading,
            [sentence, *remarks],
        )
    header = (*names, *[*columns][:-1], measure)
    rows = [[*(shown(value) if name == key else value for name, value in m.items())] for m in models[:TOP]]
    rows = [
        [
            percent(v) if h == "loo_rejection_rate" and key != h else v
            for h, v in zip(header, row, strict=True)
        ]
        for row in rows
    ]
    about = [
        *(row for row in numbers[1:] if row),
        *([("saved", arguments.save, "")] if arguments.save else []),
    ]
    about.append(("time", f"{search.search_time_:.2f} s", ""))
    show(result, arguments.json, [heading, sentence, "", *table(rows, header), "", *remarks, *table(about)])


def _ranked_models(search, columns):
    """Return parameters and values of all models as dicts, the best first, and those of the chosen one."""
    order = np.argsort(search.cv_results_["rank_test_score"], kind="stable")
    values = {name: np.asarray(column).tolist() for name, column in columns.items()}
    models = {
        n: search.cv_results_["params"][n] | {name: column[n] for name, column in values.items()}
        for n in order.tolist()
    }
    return list(models.values()), models[search.best_index_]


def _begun(arguments):
    """Return the Data of the file, its Task, facts for JSON, and a line for people."""
    check_task(arguments)
    page.check_report(arguments)
    data = load(arguments)
    task = TASKS[data.task]
    task.check(arguments)
    task.settings(arguments)
    m, d = data.transformed.shape
    about, phrase = task.about(data.y)
    remark = None if arguments.command == "select" else task.remark(arguments, data.y)
    if remark:
        data.doubts.append(remark)
        warn(remark)
    n_groups = None if data.groups is None else np.unique(data.groups).size
    facts = {
        "file": arguments.file,
        "task": task.name,
        "rows": m,
        "features": d,
        **about,
        "label": data.label,
        "dropped_rows": data.dropped,
        "doubts": data.doubts,
        "standardised": arguments.standardise,
        **({} if n_groups is None else {"groups": n_groups}),
    }
    parts = [f"{arguments.file}: {m} rows, {d} features", phrase]
    parts += [
        "no label" if data.label is None else f"label: {data.label}",
        f"{n_groups} groups" if n_groups else "",
    ]
    return data, task, facts, "; ".join(filter(None, parts))


def _fit(model, data):
    """Train a model on all rows, and return it."""
    return model.fit(data.rows) if data.task == "one-class" else model.fit(data.rows, data.y)


def _values(task, model, data):
    """Return the predictions of the training rows, or decision values of one class."""
    return model.decision_function(data.rows) if task.name == "one-class" else model.predict(data.rows)


def _described(model, data):
    """Return the parameters of a model as a dict, and as a line for people."""
    parameters = {"kernel": model.kernel}
    parameters |= {name: float(getattr(model, name)) for name in ("nu", "C") if hasattr(model, name)}
    if model.kernel != "linear":
        parameters["gamma"] = float(resolved_gamma(model.gamma, data.transformed))
    if model.kernel == "poly":
        parameters["degree"] = model.degree
    if model.kernel in ("poly", "sigmoid"):
        parameters["coef0"] = model.coef0
    if hasattr(model, "epsilon"):
        parameters["epsilon"] = float(model.epsilon)
    words = [f"{model.kernel} kernel"]
    words += [f"{name} {value:.6g}" for name, value in parameters.items() if name != "kernel"]
    title = {"regression": "SVR", "one-class": "One-class SVM"}.get(data.task, "SVM")
    if data.task == "classification":
        parameters["class_weight"] = model.class_weight
        words += ["balanced classes"] if model.class_weight == "balanced" else []
    return parameters, f"{title}: {', '.join(words)}"


def _constant(task, model, data):
    """Return the name of the class if all rows are given one, for JSON."""
    if task.name != "classification":
        return {}
    kinds = np.unique(model.predict(data.rows)).tolist()
    return {"constant": name_of(kinds[0]) if len(kinds) == 1 else None}


def _constant_remark(constant):
    """Return a remark if all rows are given one class."""
    label = constant.get("constant")
    return [] if label is None else [f"the model is constant: it gives every row the class {label}"]


def _search(arguments, task, data, scorer, calibrated, k):
    """Return the search of the options, which trains the chosen model when it is fitted."""
    model = task.estimator(arguments, **({"calibration": "loo"} if calibrated else {}))
    lists, _ = task.settings(arguments)
    grid = default_grid(model, data.transformed, data.y if task.name == "regression" else None)
    grid |= task.default_values(arguments)
    grid |= lists | {name: values for name in ("C", "gamma") if (values := getattr(arguments, name))}
    options = {
        "scoring": scorer or (task.default_scoring if arguments.by in ("cv", "loo") else None),
        "refit": True if arguments.rule == "best" else arguments.rule,
        "error_score": "raise",
        "verbose": not arguments.quiet,
    }
    if arguments.by == "cv":
        return SeededCV(model, grid, cv=task.splitter(arguments, data, k, "--folds"), **options)
    criterion = {} if arguments.by == "loo" else {"criterion": arguments.by}
    return LOOSearchCV(model, grid, **criterion, **options)


def _outer(arguments, task, data, by, scorer, calibrated, splitter):
    """Return the error of the whole selection by outer folds: for JSON, as rows of a table, and a sentence.

    Everything is learned anew without each fold: categories, values that are filled in, means and deviations,
    the grid's scale of gamma, and the choice. `by` is the default score that chooses without --scoring.
    """
    predicted, scores, m = np.empty_like(data.y), [], data.y.size
    fold = np.zeros(m, dtype=np.intp)
    for h, (train, held_out) in enumerate(splitter.split(np.zeros(m), data.y, data.groups)):
        part, rows = data.taken(train), data.taken(held_out)
        search = _search(arguments, task, part, scorer, calibrated, arguments.folds or FOLDS["select"])
        search.set_params(verbose=False)
        search.fit(part.rows, part.y, **({} if part.groups is None else {"groups": part.groups}))
        X = rows.frame if part.steps else rows.rows
        whole = part.pipeline(search)
        predicted[held_out], fold[held_out] = whole.predict(X), h
        if scorer is not None:
            scores.append(Scoring(scorer).score_estimator(whole, X, rows.y, "score", {}))
    title = "whole selection:" if task.name == "regression" else "whole selection"
    facts, rows = task.results("outer", title, predicted, data.y, by == "weighted_accuracy")
    facts["outer_folds"] = arguments.outer
    if task.name == "classification":
        facts["outer_errors"] = np.bincount(fold, weights=predicted != data.y).astype(int)
    if scores:
        facts |= {"outer_score": float(np.mean(scores)), "outer_scores": scores}
        spread = f"mean of {arguments.outer} outer folds, {min(scores):.6g} to {max(scores):.6g}"
        rows = [(f"whole selection {arguments.scoring}", f"{np.mean(scores):.6g}", spread)]
    name, value, how = rows[-1] if by == "weighted_accuracy" else rows[0]
    how = how if scores else f"{how + ', in' if how else 'in'} {arguments.outer} outer folds"
    return facts, rows, f"{name} {value} ({how})"


def _remarks(task, arguments, search, tied, chosen, measure):
    """Return sentences on the choice."""
    grid, remarks = search.param_grid, []
    if task.name == "one-class" and not arguments.scoring:
        if not chosen["consistent"]:
            remarks.append(
                "no model is consistent; the chosen one rejects the fewest standard errors too many"
            )
        elif chosen.get("gamma") == max(grid.get("gamma", [0])):
            remarks.append("the largest gamma of the grid is consistent; larger ones may be, too")
        if len(grid["nu"]) > 1:
            remarks.append(
                "consistency compares gamma, and a larger nu allows a larger one: it does not choose nu, "
                "which --scoring with --label does"
            )
        return remarks
    if tied > 1 and arguments.rule == "best":
        remarks.append(f"{tied} models tie for the best {measure}; the first of the grid is chosen")
    for name in ("C", "gamma", "nu"):
        values = grid.get(name, [])
        ends = (
            (min(values), max(values))
            if len(values) > 2 and not any(isinstance(v, str) for v in values)
            else ()
        )
        if chosen.get(name) in ends:
            end = "least" if chosen[name] == ends[0] else "largest"
            remarks.append(
                f"{name} {chosen[name]:.6g} is the {end} of its list: "
                f"{'smaller' if end == 'least' else 'larger'} values may be better"
            )
    return remarks


def _report(path, arguments, task, data, model, search, models, names, measure, numbers, heading, sentences):
    """Write a file of --report: a page, all models, or a figure, by its ending."""
    key = [name for name in models[0] if name not in names][-1]
    if path.lower().endswith(".csv"):
        content = io.StringIO()
        writer = csv.writer(content, lineterminator="\n")
        writer.writerow([*names, key])
        writer.writerows([*(m[name] for name in names), float(m[key])] for m in models)
        with replacing(Path(path)) as file:
            file.write(content.getvalue().encode())
        return
    figure = page.rejection_rates(search) if key == "loo_rejection_rate" else page.surface(search)
    if not path.lower().endswith(".html"):
        page.plot(figure, path)
        return
    predicted, method = None, "leave-one-out"
    if arguments.by == "cv":
        splitter = task.splitter(arguments, data, arguments.folds or FOLDS["select"], "--folds")
        predicted = cross_val_predict(clone(model), data.rows, data.y, groups=data.groups, cv=splitter)
        method = f"{splitter.get_n_splits()}-fold"
    else:
        predicted = task.left_out(model, data.y)[0]
    _, rows = task.results(arguments.by, f"{method}, of the chosen model:", predicted, data.y)
    _, trained = task.results("training", "training", _values(task, model, data), data.y)
    sections = page.sections(task, predicted, method, model, data)
    numbers = [*numbers, *rows, trained[0]]
    page.write_page(
        path, arguments, heading, sentences, numbers, data.doubts, sections, (figure, models, measure, key)
    )
