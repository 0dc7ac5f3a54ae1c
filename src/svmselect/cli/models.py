"""The commands that train: `loo`, `cv`, `span` and `select`."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse
from sklearn.model_selection import StratifiedKFold

from svmselect.cli.labels import name_of, printable
from svmselect.cli.nested import outer_error
from svmselect.cli.page import write_page
from svmselect.cli.read import read
from svmselect.cli.report import percent, show, table, text, warn
from svmselect.cli.saving import check_saving, save
from svmselect.cli.surface import check_plotting, plot, surface
from svmselect.sklearn import SVC, LOOSearchCV, SeededCV
from svmselect.sklearn.kernels import resolved_gamma
from svmselect.sklearn.scoring import Scoring
from svmselect.sklearn.search import default_grid, progress_bar

__all__ = ["cv", "loo", "select", "span"]

UNEVEN = 100  # ratio of the features' deviations from which on a remark is made


def load(arguments):
    """Features of the file, its Table, and what is to be said of them."""
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
    }
    return X, data, facts


def heading(facts, model):
    """The first lines of every report."""
    classes = ", ".join(f"{printable(label)} ({n})" for label, n in facts["classes"].items())
    return [
        f"{facts['file']}: {facts['rows']} rows, {facts['features']} features; classes {classes}; "
        f"label: {facts['label']}",
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
        calibration="loo" if getattr(arguments, "scoring", None) else None,
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


def loo(arguments):
    """Exact leave-one-out error of one model."""
    check_scoring(arguments)
    check_plotting(None, arguments.report)
    X, data, facts = load(arguments)
    y = data.labels
    model = classifier(arguments, C=arguments.C, gamma=arguments.gamma)
    begin = time.perf_counter()
    model.fit(X, y)
    if not arguments.scoring:  # else training has left each row out
        with progress_bar(1, not arguments.quiet) as report:
            model.leave_one_out(report)
    wrong = np.flatnonzero(model.loo_predictions_ != y)
    score = model.loo_score(arguments.scoring) if arguments.scoring else None
    seconds = time.perf_counter() - begin
    parameters, line = described(model, X)
    training_error = float(np.mean(model.predict(X) != y))
    result = {
        **facts,
        **parameters,
        "loo_error": model.loo_error_,
        "weighted_loo_error": model.weighted_loo_error_,
        "scoring": arguments.scoring,
        "score": score,
        "loo_errors": wrong.size,
        "misclassified_rows": data.numbers[wrong],
        "training_error": training_error,
        "support_vectors": model.support_.size,
        "seconds": seconds,
    }
    rows = [
        ("leave-one-out error", percent(model.loo_error_), f"{wrong.size} of {y.size} rows"),
        *([("weighted by class", percent(model.weighted_loo_error_), "")] if arguments.balanced else []),
        *([(f"leave-one-out {arguments.scoring}", f"{score:.6g}", "")] if arguments.scoring else []),
        ("training error", percent(training_error), ""),
        ("support vectors", str(model.support_.size), ""),
        ("time", f"{seconds:.2f} s", ""),
    ]
    if arguments.report:
        write_page(arguments, facts, line, [(name, value) for name, value, _ in rows[:3]], model, data)
    show(result, arguments.json, heading(facts, line) + table(rows))


def check_scoring(arguments):
    """A ValueError, before any work, unless --scoring is a name that scikit-learn knows."""
    if arguments.scoring is not None:
        try:
            Scoring(arguments.scoring)
        except ValueError:
            raise ValueError(
                "--scoring must be a name of sklearn.metrics.get_scorer_names(), such as balanced_accuracy, "
                f"f1 or roc_auc, got {arguments.scoring!r}"
            ) from None


def cv(arguments):
    """k-fold cross-validation error of one model."""
    check_scoring(arguments)
    X, data, facts = load(arguments)
    y = data.labels
    model = classifier(arguments, C=arguments.C, gamma=arguments.gamma)
    folds = StratifiedKFold(checked_folds(arguments.folds, y), shuffle=True, random_state=arguments.seed)
    names = {"accuracy": "accuracy", "balanced": "balanced_accuracy"}
    if arguments.scoring:
        names["score"] = arguments.scoring
    search = SeededCV(
        model, {"C": [arguments.C]}, scoring=names, cv=folds, refit=False, verbose=not arguments.quiet
    )
    found = search.fit(X, y).cv_results_
    errors = 1 - np.array([found[f"split{h}_test_accuracy"][0] for h in range(search.n_splits_)])
    weighted = 1 - float(found["mean_test_balanced"][0])
    score = float(found["mean_test_score"][0]) if arguments.scoring else None
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
        "score": score,
        "seconds": search.search_time_,
    }
    rows = [
        (f"{search.n_splits_}-fold error", percent(errors.mean())),
        *([("weighted by class", percent(weighted))] if arguments.balanced else []),
        *([(f"{search.n_splits_}-fold {arguments.scoring}", f"{score:.6g}")] if arguments.scoring else []),
        ("deviation over the folds", percent(errors.std())),
        ("worst fold", percent(errors.max())),
        ("time", f"{search.search_time_:.2f} s"),
    ]
    show(result, arguments.json, heading(facts, line) + table(rows))


def checked_folds(k, y, option="--folds"):
    """The number of folds, or a ValueError."""
    labels, counts = np.unique(y, return_counts=True)
    if not 2 <= k <= counts.min():
        rarest = name_of(labels[counts.argmin()])
        raise ValueError(f"{option} must be from 2 to the {counts.min()} rows of class {rarest}, got {k}")
    return k


def span(arguments):
    """Estimates from a single fit."""
    X, data, facts = load(arguments)
    y = data.labels
    if len(facts["classes"]) != 2:
        raise ValueError(f"span is for two classes, {arguments.file} has {len(facts['classes'])}: use loo")
    model = classifier(arguments, C=arguments.C, gamma=arguments.gamma)
    begin = time.perf_counter()
    model.fit(X, y)
    estimates = {
        "span_estimate": ("span rule", model.span_estimate_),
        "span_bound": ("span bound", model.span_bound_),
        "xi_alpha_bound": ("xi-alpha bound", model.xi_alpha_bound_),
        "sv_count_bound": ("support vectors", model.sv_count_bound_),
        "radius_margin_bound": ("radius-margin bound", model.radius_margin_bound_),
    }
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


def select(arguments):
    """The best model of a grid."""
    check_scoring(arguments)
    check_plotting(arguments.plot, arguments.report)
    X, data, facts = load(arguments)
    y = data.labels
    check_saving(arguments, data)
    if arguments.kernel == "linear" and arguments.gamma:
        raise ValueError("--gamma is for kernels that have one, got --kernel linear")
    if arguments.outer:
        checked_folds(arguments.outer, y, "--outer")
    search = searched(arguments, X, y, not arguments.quiet)
    key, measure, values = measured(arguments, search)
    rank = search.cv_results_["rank_test_score"]
    models = [{**search.cv_results_["params"][n], key: values[n]} for n in np.argsort(rank, kind="stable")]
    tied = int(np.count_nonzero(rank == 1))
    model = search.estimator.set_params(**search.best_params_)
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
    best = f"Best of {len(models)} models by {measure}, {least}: {line.removeprefix('SVM: ')}"
    lines = [*heading(facts, best), *table(rows, (*names, measure)), ""]
    if tied > 1:
        lines.append(f"{tied} models tie for the best {measure}; the first of the grid is chosen")
    if arguments.outer:
        wrong = outer_error(arguments, data, lambda X, y: chosen(arguments, X, y))
        result.update(outer_folds=arguments.outer, outer_error=wrong.sum() / y.size, outer_errors=wrong)
        lines.append(
            f"error of the whole selection {percent(wrong.sum() / y.size)} ({wrong.sum()} of {y.size} rows, "
            f"in {arguments.outer} outer folds); the best of {len(models)} models, {least}, is optimistic"
        )
    if arguments.save or arguments.report:
        model.fit(X, y)
    if arguments.save:
        save(model, data, arguments)
        result["model"] = arguments.save
    if arguments.plot:
        plot(surface(models, 0, measure, key), arguments.plot)
    if arguments.report:
        numbers = [(measure, least), ("models that tie", str(tied))]
        if arguments.outer:
            numbers.append(("error of the whole selection", percent(result["outer_error"])))
        numbers.append(("leave-one-out error of the chosen model", percent(model.loo_error_)))
        numbers.append(("training error", percent(np.mean(model.predict(X) != y))))
        write_page(arguments, facts, best, numbers, model, data, (models, 0, measure, key))
    show(result, arguments.json, [*lines, f"time {search.search_time_:.2f} s"])


def searched(arguments, X, y, verbose):
    """The search of the options, after its fit."""
    model = classifier(arguments)
    grid = default_grid(model.kernel, X)
    if arguments.C:
        grid["C"] = arguments.C
    if arguments.gamma:
        grid["gamma"] = arguments.gamma
    if arguments.by == "loo":
        search = LOOSearchCV(model, grid, scoring=arguments.scoring, refit=False, verbose=verbose)
    else:
        folds = StratifiedKFold(checked_folds(arguments.folds, y), shuffle=True, random_state=arguments.seed)
        search = SeededCV(model, grid, scoring=arguments.scoring, cv=folds, refit=False, verbose=verbose)
    return search.fit(X, y)


def measured(arguments, search):
    """What a search chose by: its name in results, its name for people, and its values."""
    method = "leave-one-out" if arguments.by == "loo" else f"{arguments.folds}-fold"
    scores = search.cv_results_["mean_test_score"]
    if arguments.scoring:
        return "score", f"{method} {arguments.scoring}", scores
    if search.scoring_ == "weighted_accuracy":
        return "error", f"{method} error weighted by class", 1 - scores
    exact = arguments.by == "loo" and search.scoring_ == "accuracy"
    return "error", f"{method} error", search.cv_results_["loo_error"] if exact else 1 - scores


def chosen(arguments, X, y):
    """The best model of the grid, trained."""
    search = searched(arguments, X, y, False)
    return search.estimator.set_params(**search.best_params_).fit(X, y)
