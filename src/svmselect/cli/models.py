"""The commands that judge one model, `loo`, `cv` and `span`, and what all commands that train share."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse

from svmselect.bounds import SINGLE_FITS
from svmselect.cli.figures import check_plotting
from svmselect.cli.folds import folds_of
from svmselect.cli.labels import name_of
from svmselect.cli.left_out import left_out_rows
from svmselect.cli.page import write_page
from svmselect.cli.read import read
from svmselect.cli.report import percent, show, table, warn
from svmselect.cli.scores import check_name, check_positive, check_score, score_name, scorer_for
from svmselect.sklearn import SVC, SeededCV
from svmselect.sklearn.kernels import resolved_gamma
from svmselect.sklearn.progress import progress_bar

__all__ = [
    "classifier",
    "constant_class",
    "constant_remark",
    "cv",
    "described",
    "evaluated_model",
    "heading",
    "load",
    "loo",
    "span",
]

UNEVEN = 100  # from this ratio of the features' deviations on, the command makes a remark


def load(arguments):
    """Features of the file, its Table, and the remarks that they deserve."""
    data = read(
        arguments.file,
        arguments.format,
        arguments.label,
        arguments.ignore,
        arguments.header,
        arguments.delimiter,
        arguments.drop_missing,
        arguments.strict,
        arguments.categorical,
        arguments.impute,
        arguments.standardise,
        getattr(arguments, "groups", None),
        arguments.zero_based,
        arguments.max_bytes,
    )
    for doubt in data.doubts:
        warn(doubt)
    X = data.X
    if arguments.kernel != "linear" and not arguments.standardise and not scipy.sparse.issparse(X):
        with np.errstate(over="ignore", invalid="ignore"):  # the kernel refuses such values
            deviation = X.std(axis=0)
        deviation[data.encoding.is_category] = 0.5  # that of a category which half of the rows have
        deviation = deviation[(deviation > 0) & np.isfinite(deviation)]
        if deviation.size and deviation.max() > UNEVEN * deviation.min():
            warn(
                f"the features' deviations differ by a factor of {deviation.max() / deviation.min():.3g}, "
                "and the largest decide alone: --standardise makes them equal"
            )
    if data.dropped:
        warn(f"{data.dropped} rows with a missing value are left out")
    classes, counts = np.unique(data.labels, return_counts=True)
    named = {name_of(label): int(n) for label, n in zip(classes, counts, strict=True)}
    facts = {
        "file": arguments.file,
        "rows": X.shape[0],
        "features": X.shape[1],
        "classes": named,
        "label": data.label_column,
        "dropped_rows": data.dropped,
        "doubts": data.doubts,
        "standardised": arguments.standardise,
        **({} if data.groups is None else {"groups": np.unique(data.groups).size}),
    }
    return X, data, facts


def heading(facts, model):
    """The first lines of every report."""
    classes = ", ".join(f"{label} ({n})" for label, n in facts["classes"].items())
    groups = f"; {facts['groups']} groups" if "groups" in facts else ""
    return [
        f"{facts['file']}: {facts['rows']} rows, {facts['features']} features; classes {classes}; "
        f"label: {facts['label']}{groups}",
        model,
        "",
    ]


def classifier(arguments, **parameters):
    """The SVC of the options."""
    return SVC(
        kernel=arguments.kernel,
        degree=arguments.degree,
        coef0=arguments.coef0,
        class_weight="balanced" if arguments.balanced else None,
        tol=arguments.tol,
        cache_size=arguments.memory,
        **parameters,
    )


def evaluated_model(arguments, **parameters):
    """Return the SVC of the options; it has probabilities if --scoring may ask for them."""
    return classifier(
        arguments,
        calibration="loo" if arguments.scoring else None,
        calibration_method=getattr(arguments, "calibration", None) or "sigmoid",
        **parameters,
    )


def described(model, X):
    """The parameters of an SVC as a dict, and for people."""
    parameters = {"kernel": model.kernel, "C": float(model.C)}
    if model.kernel != "linear":
        parameters["gamma"] = float(resolved_gamma(model.gamma, X))
    if model.kernel == "poly":
        parameters["degree"] = model.degree
    if model.kernel in ("poly", "sigmoid"):
        parameters["coef0"] = model.coef0
    words = [f"{model.kernel} kernel"]
    words += [f"{name} {value:.6g}" for name, value in parameters.items() if name != "kernel"]
    parameters["class_weight"] = model.class_weight
    if model.class_weight:
        words.append("balanced classes")
    return parameters, "SVM: " + ", ".join(words)


def constant_class(predicted):
    """Return the name of the class that all rows are given, or None where they are given several."""
    return name_of(predicted.tolist()[0]) if (predicted == predicted[0]).all() else None


def constant_remark(predicted):
    """Return a line that names the class that all rows are given; none where they are given several."""
    label = constant_class(predicted)
    return [] if label is None else [f"the model is constant: it gives every row the class {label}"]


def loo(arguments):
    """Exact leave-one-out error of one model."""
    check_name("--scoring", arguments.scoring)
    check_positive(arguments)
    check_plotting(None, arguments.report)
    X, data, facts = load(arguments)
    y = data.labels
    check_score("--scoring", arguments.scoring, y, arguments.positive)
    model = evaluated_model(arguments, C=arguments.C, gamma=arguments.gamma)
    begin = time.perf_counter()
    model.fit(X, y)
    if not arguments.scoring:  # else training has left each row out
        with progress_bar(1, not arguments.quiet) as report:
            model.leave_one_out(report, decision_values=bool(arguments.report))
    wrong = np.flatnonzero(model.loo_predictions_ != y)
    scorer = scorer_for(arguments.scoring, arguments.positive, y)
    score = model.loo_score(scorer) if arguments.scoring else None
    seconds = time.perf_counter() - begin
    parameters, line = described(model, X)
    predicted = model.predict(X)
    training_error = float(np.mean(predicted != y))
    shown_score = score_name(arguments.scoring, arguments.positive)
    result = {
        **facts,
        **parameters,
        "loo_error": model.loo_error_,
        "weighted_loo_error": model.weighted_loo_error_,
        "scoring": arguments.scoring,
        "positive": arguments.positive,
        "score": score,
        "loo_errors": wrong.size,
        "misclassified_rows": data.numbers[wrong],
        "training_error": training_error,
        "constant": constant_class(predicted),
        "support_vectors": model.support_.size,
        "seconds": seconds,
    }
    rows = [
        ("leave-one-out error", percent(model.loo_error_), f"{wrong.size} of {y.size} rows"),
        *([("weighted by class", percent(model.weighted_loo_error_), "")] if arguments.balanced else []),
        *([(f"leave-one-out {shown_score}", f"{score:.6g}", "")] if arguments.scoring else []),
        ("training error", percent(training_error), ""),
        ("support vectors", str(model.support_.size), ""),
        ("time", f"{seconds:.2f} s", ""),
    ]
    if arguments.report:
        numbers = [(name, value) for name, value, _ in rows[:-1]]
        lines = [line, *constant_remark(predicted)]
        write_page(arguments, facts, lines, numbers, left_out_rows(model, y), model, data)
    show(result, arguments.json, heading(facts, line) + table(rows) + constant_remark(predicted))


def cv(arguments):
    """k-fold cross-validation error of one model."""
    check_name("--scoring", arguments.scoring)
    check_positive(arguments)
    X, data, facts = load(arguments)
    y = data.labels
    check_score("--scoring", arguments.scoring, y, arguments.positive)
    model = evaluated_model(arguments, C=arguments.C, gamma=arguments.gamma)
    folds = folds_of(arguments.folds, y, data.groups, arguments, "--folds")
    names = {"accuracy": "accuracy", "balanced": "balanced_accuracy"}
    if arguments.scoring:
        names["score"] = scorer_for(arguments.scoring, arguments.positive, y)
    search = SeededCV(
        model,
        {"C": [arguments.C]},
        scoring=names,
        cv=folds,
        refit=False,
        error_score="raise",
        verbose=not arguments.quiet,
    )
    results = search.fit(X, y).cv_results_
    errors = 1 - np.array([results[f"split{h}_test_accuracy"][0] for h in range(search.n_splits_)])
    weighted = 1 - float(results["mean_test_balanced"][0])
    score = float(results["mean_test_score"][0]) if arguments.scoring else None
    shown_score = score_name(arguments.scoring, arguments.positive)
    parameters, line = described(model, X)
    result = {
        **facts,
        **parameters,
        "folds": search.n_splits_,
        "seed": arguments.seed,
        "cv_error": errors.mean(),
        "cv_error_deviation": errors.std(),
        "fold_errors": errors,
        "weighted_cv_error": weighted if arguments.balanced else errors.mean(),
        "scoring": arguments.scoring,
        "positive": arguments.positive,
        "score": score,
        "seconds": search.search_time_,
    }
    rows = [
        (f"{search.n_splits_}-fold error", percent(errors.mean())),
        *([("weighted by class", percent(weighted))] if arguments.balanced else []),
        *([(f"{search.n_splits_}-fold {shown_score}", f"{score:.6g}")] if arguments.scoring else []),
        ("deviation over the folds", percent(errors.std())),
        ("worst fold", percent(errors.max())),
        ("time", f"{search.search_time_:.2f} s"),
    ]
    show(result, arguments.json, heading(facts, line) + table(rows))


def span(arguments):
    """Estimates from a single fit."""
    X, data, facts = load(arguments)
    y = data.labels
    model = classifier(arguments, C=arguments.C, gamma=arguments.gamma)
    begin = time.perf_counter()
    model.fit(X, y)
    estimates = {one.key: (one.name, getattr(model, f"{one.key}_")) for one in SINGLE_FITS}
    seconds = time.perf_counter() - begin
    parameters, line = described(model, X)
    result = {
        **facts,
        **parameters,
        **{key: value for key, (_, value) in estimates.items()},
        "seconds": seconds,
    }
    rows = [(name, percent(value)) for name, value in estimates.values()]
    lines = heading(facts, line) + table(rows, ("estimate of the leave-one-out error", "value"))
    show(
        result, arguments.json, [*lines, "", f"time {seconds:.2f} s; 'svmselect loo' gives the error itself"]
    )
