"""The commands of regressions, with --task regression, and the errors of their predictions."""

import time
from types import SimpleNamespace

import numpy as np
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from svmselect.cli.csv_table import is_number
from svmselect.cli.data import common_options, described, heading, load
from svmselect.cli.output import show, table, warn
from svmselect.cli.page import check_plotting, plot, surface, target_sections, write_page
from svmselect.cli.select import encoded_apart, grid_of, search_options, write_models
from svmselect.cli.train import check_encoding, save
from svmselect.sklearn import SVR, LOOSearchCV, SeededCV
from svmselect.sklearn.candidates import default_grid
from svmselect.sklearn.progress import progress_bar
from svmselect.sklearn.scoring import Scoring
from svmselect.sklearn.svr import LeftOutRegression

__all__ = [
    "cv",
    "errors_of_file",
    "loo",
    "select",
    "span",
    "train",
]

ERROR = "neg_mean_absolute_error"  # what a selection goes by without --scoring
SMALL, LARGE = 0.1, 10.0  # other deviations of the targets are worth a remark


def _checked(arguments, data):
    """Return the targets; raise a ValueError for a score or a file that is not for regressions."""
    check_encoding(arguments, data)
    z, name = data.labels, getattr(arguments, "scoring", None)
    if name is not None:
        try:
            Scoring(name).rehearse(LeftOutRegression(data.X, z), z, None)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"--scoring {name} is not for numbers: {error}") from None
    return z


def _regression(arguments, **parameters):
    """Return the SVR of the options."""
    return SVR(**common_options(arguments), **parameters)


def _model(arguments, z):
    """Return the SVR of the options of one model; remark on odd units of its targets."""
    deviation = float(z.std())
    if not SMALL <= deviation <= LARGE and arguments.epsilon is None:
        warn(
            f"the targets deviate by {deviation:.3g} from their mean; C and epsilon, 0.1 by default, "
            "are in their units"
        )
    epsilon = 0.1 if arguments.epsilon is None else arguments.epsilon
    return _regression(arguments, C=arguments.C, gamma=arguments.gamma, epsilon=epsilon)


def _errors(z, predicted):
    """Return mean absolute error, root of the mean squared error, and r2 of predictions."""
    residuals = z - predicted
    r2 = float(r2_score(z, predicted)) if z.size > 1 else np.nan
    return float(np.abs(residuals).mean()), float(np.sqrt(np.mean(residuals**2))), r2


def _error_rows(method, values):
    """Return the three errors as rows of a table."""
    names = ("mean absolute error", "root mean squared error", "r2")
    return [(f"{method} {name}", f"{value:.6g}") for name, value in zip(names, values, strict=True)]


def _error_facts(prefix, values):
    """Return the three errors for JSON."""
    names = ("mean_absolute_error", "root_mean_squared_error", "r2")
    return {f"{prefix}_{name}": value for name, value in zip(names, values, strict=True)}


def loo(arguments):
    """Run the command `loo` for a regression."""
    check_plotting(None, arguments.report)
    X, data, facts = load(arguments)
    z = _checked(arguments, data)
    model = _model(arguments, z)
    begin = time.perf_counter()
    model.fit(X, z)
    with progress_bar(1, not arguments.quiet) as report:
        model.leave_one_out(report)
    seconds = time.perf_counter() - begin
    left_out, training = _errors(z, model.loo_predictions_), _errors(z, model.predict(X))
    score = model.loo_score(arguments.scoring) if arguments.scoring else None
    parameters, line = described(model, X)
    result = {
        **facts,
        **parameters,
        **_error_facts("loo", left_out),
        **_error_facts("training", training),
        "scoring": arguments.scoring,
        "score": score,
        "loo_predictions": model.loo_predictions_,
        "support_vectors": model.support_.size,
        "seconds": seconds,
    }
    rows = [
        *_error_rows("leave-one-out", left_out),
        *([(f"leave-one-out {arguments.scoring}", f"{score:.6g}")] if arguments.scoring else []),
        ("training mean absolute error", f"{training[0]:.6g}"),
        ("support vectors", str(model.support_.size)),
        ("time", f"{seconds:.2f} s"),
    ]
    if arguments.report:
        sections = target_sections(model.loo_predictions_, "leave-one-out", model, data)
        write_page(arguments, facts, [line], rows[:-1], sections)
    show(result, arguments.json, heading(facts, line) + table(rows))


def span(arguments):
    """Run the command `span` for a regression: the estimate of the left-out error from a single fit."""
    X, data, facts = load(arguments)
    z = _checked(arguments, data)
    model = _model(arguments, z)
    begin = time.perf_counter()
    estimate = model.fit(X, z).span_estimate_
    seconds = time.perf_counter() - begin
    parameters, line = described(model, X)
    result = {**facts, **parameters, "span_mean_absolute_error": estimate, "seconds": seconds}
    rows = [("mean absolute error by spans", f"{estimate:.6g}"), ("time", f"{seconds:.2f} s")]
    show(result, arguments.json, heading(facts, line) + table(rows))


def _folds(arguments, data, option="folds"):
    """Return the folds of --folds or --outer; rows of one group of --groups are held out together."""
    k, m = getattr(arguments, option), data.labels.size
    most = m if data.groups is None else np.unique(data.groups).size
    if not 2 <= k <= most:
        kind = "rows" if data.groups is None else "groups of --groups"
        raise ValueError(f"--{option} must be from 2 to the {most} {kind}, got {k}")
    kind = KFold if data.groups is None else GroupKFold
    splitter = kind(k, shuffle=True, random_state=arguments.seed)
    return list(splitter.split(np.zeros(m), groups=data.groups))


def cv(arguments):
    """Run the command `cv` for a regression."""
    X, data, facts = load(arguments)
    z, folds = _checked(arguments, data), _folds(arguments, data)
    model = _model(arguments, z)
    names = {"absolute": ERROR, "squared": "neg_root_mean_squared_error"}
    if arguments.scoring:
        names["score"] = arguments.scoring
    options = dict(scoring=names, cv=folds, refit=False, error_score="raise", verbose=not arguments.quiet)
    search = SeededCV(model, {"C": [arguments.C]}, **options).fit(X, z)
    results, k = search.cv_results_, len(folds)
    errors = -np.array([results[f"split{h}_test_absolute"][0] for h in range(k)])
    squared = -float(results["mean_test_squared"][0])
    score = float(results["mean_test_score"][0]) if arguments.scoring else None
    parameters, line = described(model, X)
    result = {
        **facts,
        **parameters,
        "folds": k,
        "seed": arguments.seed,
        "cv_mean_absolute_error": errors.mean(),
        "cv_root_mean_squared_error": squared,
        "fold_errors": errors,
        "scoring": arguments.scoring,
        "score": score,
        "seconds": search.search_time_,
    }
    rows = [
        (f"{k}-fold mean absolute error", f"{errors.mean():.6g}"),
        (f"{k}-fold root mean squared error", f"{squared:.6g}"),
        *([(f"{k}-fold {arguments.scoring}", f"{score:.6g}")] if arguments.scoring else []),
        ("deviation over the folds", f"{errors.std():.6g}"),
        ("worst fold", f"{errors.max():.6g}"),
        ("time", f"{search.search_time_:.2f} s"),
    ]
    show(result, arguments.json, heading(facts, line) + table(rows))


def train(arguments):
    """Run the command `train` for a regression."""
    X, data, facts = load(arguments)
    z = _checked(arguments, data)
    begin = time.perf_counter()
    model = _model(arguments, z).fit(X, z)
    seconds = time.perf_counter() - begin
    save(model, data, arguments)
    training = _errors(z, model.predict(X))
    parameters, line = described(model, X)
    result = {
        **facts,
        **parameters,
        **_error_facts("training", training),
        "support_vectors": model.support_.size,
        "model": arguments.save,
        "seconds": seconds,
    }
    rows = [
        *_error_rows("training", training),
        ("support vectors", str(model.support_.size)),
        ("saved", arguments.save),
        ("time", f"{seconds:.2f} s"),
    ]
    show(result, arguments.json, heading(facts, line) + table(rows))


def select(arguments):
    """Run the command `select` for a regression."""
    # 1) the search
    check_plotting(arguments.plot, arguments.report)
    X, data, facts = load(arguments)
    z = _checked(arguments, data)
    outer_folds = _folds(arguments, data, "outer") if arguments.outer else []
    search = _searched(arguments, X, z, _folds(arguments, data), not arguments.quiet)
    # 2) the models in the order of their ranks
    results = search.cv_results_
    key, sign = ("score", 1) if arguments.scoring else ("mean_absolute_error", -1)
    order = np.argsort(results["rank_test_score"], kind="stable")
    models = [{**results["params"][n], key: sign * results["mean_test_score"][n]} for n in order]
    method = "leave-one-out" if arguments.by == "loo" else f"{arguments.folds}-fold"
    measure = f"{method} {arguments.scoring or 'mean absolute error'}"
    best = clone(search.estimator).set_params(**search.best_params_)
    parameters, line = described(best, X)
    result = {
        **facts,
        **parameters,
        "by": arguments.by,
        **({"folds": arguments.folds, "seed": arguments.seed} if arguments.by == "cv" else {}),
        "measure": measure,
        key: models[0][key],
        "models": models,
        "seconds": search.search_time_,
    }
    names = sorted(search.param_grid)
    rows = [(*(each[name] for name in names), float(each[key])) for each in models[: arguments.top]]
    sentence = f"Best of {len(models)} models by {measure}, {models[0][key]:.6g}: {line}"
    lines = [*heading(facts, sentence), *table(rows, (*names, measure)), ""]
    # 3) the error of the selection as a whole
    numbers = [(measure, f"{models[0][key]:.6g}")]
    if arguments.outer:
        values = _errors(z, _outer_predictions(arguments, data, outer_folds))
        result |= {"outer_folds": arguments.outer, **_error_facts("outer", values)}
        numbers += _error_rows("whole selection:", values)
        lines += table(numbers[1:])
    # 4) files and output
    if arguments.save or arguments.report:
        best.fit(X, z)
    if arguments.save:
        save(best, data, arguments)
        result["model"] = arguments.save
        lines += table([("saved", arguments.save)])
    if arguments.output:
        write_models(arguments.output, names, key, models)
        result["output"] = arguments.output
    if arguments.plot:
        plot(surface(search), arguments.plot)
    if arguments.report:
        predicted = best.loo_predictions_ if arguments.by == "loo" else _held_out(arguments, best, X, data)
        sections = target_sections(predicted, method, best, data)
        write_page(arguments, facts, [sentence], numbers, sections, (surface(search), models, measure, key))
    show(result, arguments.json, [*lines, *table([("time", f"{search.search_time_:.2f} s")])])


def _searched(arguments, X, z, folds, verbose):
    """Return the search of the options, after its fit; `folds` are for --by cv."""
    model = _regression(arguments)
    grid = grid_of(arguments, default_grid(model, X, z))
    options = search_options(arguments, verbose) | {"scoring": arguments.scoring or ERROR}
    if arguments.by == "loo":
        return LOOSearchCV(model, grid, **options).fit(X, z)
    return SeededCV(model, grid, cv=folds, **options).fit(X, z)


def _held_out(arguments, model, X, data):
    """Return the prediction of each row by the model that was trained without its fold."""
    return cross_val_predict(clone(model), X, data.labels, cv=_folds(arguments, data))


def _outer_predictions(arguments, data, folds):
    """Return the prediction of each row by the model that was chosen and trained without its fold."""
    predicted = np.empty(data.labels.size)
    for train, held_out in folds:
        X, X_held_out = encoded_apart(data, train, held_out, arguments)
        z, groups = data.labels[train], None if data.groups is None else data.groups[train]
        inner = _folds(arguments, SimpleNamespace(labels=z, groups=groups))
        search = _searched(arguments, X, z, inner, False)
        model = clone(search.estimator).set_params(**search.best_params_).fit(X, z)
        predicted[held_out] = model.predict(X_held_out)
    return predicted


def errors_of_file(predicted, labels):
    """Return the errors of predictions, for JSON and as lines; none without a label that is a number.

    `labels` are those of the file: words or numbers, or None.
    """
    words = [] if labels is None else [str(label) for label in labels]
    known = np.array([is_number(word) for word in words], dtype=bool)
    if not known.any():
        return {}, []
    z = np.array([float(word) for word, is_known in zip(words, known, strict=True) if is_known])
    values, n = _errors(z, predicted[known]), int(known.sum())
    facts = {**_error_facts("test", values), "rows_with_label": n}
    return facts, [f"mean absolute error {values[0]:.6g}, r2 {values[2]:.6g} ({n} rows)"]
