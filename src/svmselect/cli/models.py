"""The commands `loo`, `cv` and `span`, and the options and reports that all commands share which train."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict

from svmselect.bounds import SINGLE_FITS
from svmselect.cli.csv_table import is_number
from svmselect.cli.encoding import name_of
from svmselect.cli.output import percent, show, table, warn
from svmselect.cli.page import check_plotting, write_page
from svmselect.cli.read import read
from svmselect.sklearn import SVC, SeededCV
from svmselect.sklearn.evaluate import progress_bar
from svmselect.sklearn.kernels import resolved_gamma
from svmselect.sklearn.one_vs_one import margins, right_values
from svmselect.sklearn.scoring import LeftOut, Scoring

__all__ = [
    "LeftOutRows",
    "check_name",
    "check_positive",
    "check_score",
    "check_threshold",
    "classifier",
    "constant_class",
    "constant_remark",
    "cv",
    "described",
    "evaluated_model",
    "folds_of",
    "heading",
    "held_out_rows",
    "load",
    "loo",
    "loo_rows",
    "score_name",
    "scorer_for",
    "span",
]

UNEVEN = 100  # from this ratio of the features' deviations on, the command makes a remark
# scores of one of two classes: the metric, and the method of a classifier that gives its argument
ONE_CLASS_SCORES = {
    "average_precision": (average_precision_score, ("decision_function", "predict_proba")),
    "f1": (f1_score, "predict"),
    "jaccard": (jaccard_score, "predict"),
    "precision": (precision_score, "predict"),
    "recall": (recall_score, "predict"),
}


def load(arguments):
    """Read the file of the arguments: return its features, its Table, and facts for reports."""
    if arguments.task == "classification" and arguments.epsilon is not None:
        raise ValueError("--epsilon is for --task regression")
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
        arguments.task,
    )
    # remarks on the file
    for doubt in data.doubts:
        warn(doubt)
    X = data.X
    if arguments.kernel != "linear" and not arguments.standardise and not scipy.sparse.issparse(X):
        with np.errstate(over="ignore", invalid="ignore"):  # the kernel refuses such values
            deviation = X.std(axis=0)
        deviation[data.encoding.is_category] = 0.5  # of a category that half of the rows have
        deviation = deviation[(deviation > 0) & np.isfinite(deviation)]
        if deviation.size and deviation.max() > UNEVEN * deviation.min():
            warn(
                f"the features' deviations differ by a factor of {deviation.max() / deviation.min():.3g}, "
                "and the largest decide alone: --standardise makes them equal"
            )
    if data.dropped:
        warn(f"{data.dropped} rows with a missing value are left out")
    # facts for reports
    if arguments.task == "regression":
        z = data.labels
        about = {"targets": {"least": z.min(), "mean": z.mean(), "largest": z.max(), "deviation": z.std()}}
    else:
        classes, counts = np.unique(data.labels, return_counts=True)
        about = {"classes": {name_of(label): int(n) for label, n in zip(classes, counts, strict=True)}}
    facts = {
        "file": arguments.file,
        "rows": X.shape[0],
        "features": X.shape[1],
        **about,
        "label": data.label_column,
        "dropped_rows": data.dropped,
        "doubts": data.doubts,
        "standardised": arguments.standardise,
        **({} if data.groups is None else {"groups": np.unique(data.groups).size}),
    }
    return X, data, facts


def heading(facts, model):
    """Return the first lines of every report."""
    if "targets" in facts:
        targets = facts["targets"]
        about = f"numbers from {targets['least']:.6g} to {targets['largest']:.6g}"
    else:
        about = "classes " + ", ".join(f"{label} ({n})" for label, n in facts["classes"].items())
    groups = f"; {facts['groups']} groups" if "groups" in facts else ""
    return [
        f"{facts['file']}: {facts['rows']} rows, {facts['features']} features; {about}; "
        f"label: {facts['label']}{groups}",
        model,
        "",
    ]


def classifier(arguments, **parameters):
    """Return the SVC of the options."""
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
    """Return the parameters of an SVC or SVR as a dict, and as a line for people."""
    parameters = {"kernel": model.kernel, "C": float(model.C)}
    if model.kernel != "linear":
        parameters["gamma"] = float(resolved_gamma(model.gamma, X))
    if model.kernel == "poly":
        parameters["degree"] = model.degree
    if model.kernel in ("poly", "sigmoid"):
        parameters["coef0"] = model.coef0
    words = [f"{model.kernel} kernel"]
    words += [f"{name} {value:.6g}" for name, value in parameters.items() if name != "kernel"]
    if hasattr(model, "epsilon"):
        parameters["epsilon"] = float(model.epsilon)
        words.append(f"epsilon {model.epsilon:.6g}")
        return parameters, "SVR: " + ", ".join(words)
    parameters["class_weight"] = model.class_weight
    if model.class_weight:
        words.append("balanced classes")
    return parameters, "SVM: " + ", ".join(words)


def constant_class(predicted):
    """Return the name of the class if all rows are given one, else None."""
    return name_of(predicted.tolist()[0]) if (predicted == predicted[0]).all() else None


def constant_remark(predicted):
    """Return a line that names the class if all rows are given one, else no line."""
    label = constant_class(predicted)
    return [] if label is None else [f"the model is constant: it gives every row the class {label}"]


def loo(arguments):
    """Run the command `loo`: the exact leave-one-out error of one model."""
    check_name("--scoring", arguments.scoring)
    check_positive(arguments)
    check_plotting(None, arguments.report)
    X, data, facts = load(arguments)
    y = data.labels
    check_score("--scoring", arguments.scoring, y, arguments.positive)
    model = evaluated_model(arguments, C=arguments.C, gamma=arguments.gamma)
    # training, and leave-one-out
    begin = time.perf_counter()
    model.fit(X, y)
    if not arguments.scoring:  # else training has left each row out
        with progress_bar(1, not arguments.quiet) as report:
            model.leave_one_out(report, decision_values=bool(arguments.report))
    wrong = np.flatnonzero(model.loo_predictions_ != y)
    scorer = scorer_for(arguments.scoring, arguments.positive, y)
    score = model.loo_score(scorer) if arguments.scoring else None
    seconds = time.perf_counter() - begin
    # results for JSON, for people, and for the page
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
        write_page(arguments, facts, lines, numbers, loo_rows(model, y), model, data)
    show(result, arguments.json, heading(facts, line) + table(rows) + constant_remark(predicted))


def cv(arguments):
    """Run the command `cv`: the k-fold cross-validation error of one model."""
    check_name("--scoring", arguments.scoring)
    check_positive(arguments)
    X, data, facts = load(arguments)
    y = data.labels
    check_score("--scoring", arguments.scoring, y, arguments.positive)
    model = evaluated_model(arguments, C=arguments.C, gamma=arguments.gamma)
    folds = folds_of(arguments.folds, y, data.groups, arguments, "--folds")
    # cross-validation of a grid of one model
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
    # results for JSON and for people
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
    """Run the command `span`: estimates from a single fit."""
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


def check_name(option, name):
    """Raise a ValueError, before a file is read, for a score that scikit-learn does not know."""
    try:
        Scoring("accuracy" if name is None else name)
    except ValueError:
        raise ValueError(
            f"{option} must be a name of sklearn.metrics.get_scorer_names(), such as balanced_accuracy, "
            f"f1 or roc_auc, got {name!r}"
        ) from None


def check_positive(arguments):
    """Raise a ValueError, before a file is read, if --positive is given and no score is that of one class."""
    names = {vars(arguments).get(option) for option in ("scoring", "threshold")}
    if arguments.positive is not None and not names & {*ONE_CLASS_SCORES}:
        raise ValueError(
            f"--positive {arguments.positive} is for scores of one class, {', '.join(ONE_CLASS_SCORES)}: "
            "name one by --scoring or --threshold"
        )


def score_name(name, positive):
    """Return the name of a score for people, with its class."""
    return name if positive is None or name not in ONE_CLASS_SCORES else f"{name} of {positive}"


def scorer_for(name, positive, y):
    """Return a score as `Scoring` takes it, None for None.

    `positive` names the class that the score is of, by default scikit-learn's, which is called 1. Raise a
    ValueError if no label of y has this name.
    """
    if positive is None or name not in ONE_CLASS_SCORES:
        return name
    metric, response = ONE_CLASS_SCORES[name]
    classes = np.unique(y).tolist()
    for label in classes:
        if name_of(label) == positive or (
            isinstance(label, float) and is_number(positive) and float(positive) == label
        ):
            return make_scorer(metric, response_method=response, pos_label=label)
    raise ValueError(f"--positive {positive} is none of the classes {', '.join(map(name_of, classes))}")


def check_score(option, name, y, positive=None):
    """Return the Scoring of a name, or None for None.

    Raise a ValueError, before anything is trained, if the score is not for these labels.
    """
    if name is None:
        return None
    classes, codes = np.unique(y, return_inverse=True)
    is_class = np.eye(classes.size)[codes]
    values = right_values(codes, classes.size)
    right = LeftOut(SVC(calibration="loo"), classes, is_class, values, lambda: is_class)
    scoring = Scoring(scorer_for(name, positive, y))
    try:
        scoring.rehearse(right, y, None)
    except (ValueError, TypeError) as error:
        named = ", ".join(map(name_of, classes.tolist()))
        fitting = [f"{name}_macro"] if f"{name}_macro" in get_scorer_names() else []
        if classes.size == 2 and name in ONE_CLASS_SCORES and positive is None:
            fitting.append(f"{name} with --positive {name_of(classes[1])}")
        other = f"; {' or '.join(fitting)} is" if fitting else ""
        raise ValueError(f"{option} {name} is not for the classes {named}{other}: {error}") from None
    return scoring


def check_threshold(name, y, positive=None):
    """Raise a ValueError, before anything is trained, unless this score can tune a threshold of y."""
    scoring = check_score("--threshold", name, y, positive)
    if scoring is None:
        return
    if np.unique(y).size > 2:
        raise ValueError(f"--threshold is for two classes, the file has {np.unique(y).size}")
    if scoring.needs_values:
        raise ValueError(f"--threshold is tuned by a score of predicted classes, and {name} is none")


def folds_of(k, y, groups, arguments, option):
    """Return k folds in which the classes have about their shares; raise a ValueError where there are none.

    A fold is a pair of arrays: the rows that are trained on, and those that are held out. Rows of one group
    of `groups`, an array of str or None, are held out together. Of the arguments of the command, --seed and
    --scoring count, since most scores need rows of every class. `option` is the option that asks for folds,
    for errors.
    """
    labels, counts = np.unique(y, return_counts=True)
    rarest = name_of(labels[counts.argmin()])
    if not 2 <= k <= counts.min():
        instead = "; --by loo needs no folds" if option == "--folds" and arguments.command == "select" else ""
        if counts.min() == 1:
            raise ValueError(f"{option} needs two rows of each class, and class {rarest} has one{instead}")
        raise ValueError(
            f"{option} must be from 2 to the {counts.min()} rows of class {rarest}, got {k}{instead}"
        )
    if groups is None:
        return list(StratifiedKFold(k, shuffle=True, random_state=arguments.seed).split(y, y))
    n_groups = np.unique(groups).size
    if k > n_groups:
        raise ValueError(f"{option} must be from 2 to the {n_groups} groups of --groups, got {k}")
    folds = list(StratifiedGroupKFold(k, shuffle=True, random_state=arguments.seed).split(y, y, groups))
    for h, (train, held_out) in enumerate(folds, 1):
        absent, unseen = np.setdiff1d(labels, y[train]), np.setdiff1d(labels, y[held_out])
        lack = "no row" if not held_out.size else None
        if absent.size:
            lack = f"no row of class {name_of(absent[0])} to train on"
        elif unseen.size and arguments.scoring not in (None, "accuracy"):
            lack = f"no row of class {name_of(unseen[0])} to score {arguments.scoring} by"
        if lack:
            raise ValueError(
                f"{option} {k} with --groups leaves {lack} in fold {h}: take fewer folds, or smaller groups"
            )
    return folds


@dataclass(frozen=True)
class LeftOutRows:
    """Predictions of rows by classifiers that were trained without them.

    Attributes
    ----------
    predicted : ndarray, shape (m,)
        Labels.
    margins : ndarray, shape (m,)
        With two classes, the decision value less the threshold, with the sign that makes it positive where
        the row is right. With more classes, the score of the row's class less the largest of the others.
    wrong : ndarray of bool, shape (m,)
    method : str
        The name of the method for people.
    without : str
        The end of the sentence "the classifier that was trained without".
    """

    predicted: np.ndarray
    margins: np.ndarray
    wrong: np.ndarray
    method: str
    without: str

    @property
    def error(self):
        """The share of rows that are misclassified."""
        return float(self.wrong.mean())


def loo_rows(model, y):
    """Return the LeftOutRows of a trained SVC, each by the classifier without it alone."""
    return _rows(model, model.loo_decision_, model.loo_predictions_, y, "leave-one-out", "them")


def held_out_rows(model, X, y, folds):
    """Return the LeftOutRows of an SVC, each by the classifier trained without its fold."""
    plain = clone(model).set_params(calibration=None, threshold=None)
    values = cross_val_predict(plain, X, y, cv=folds, method="decision_function")
    predicted = None if values.ndim == 1 else cross_val_predict(plain, X, y, cv=folds)
    return _rows(model, values, predicted, y, f"{len(folds)}-fold", "their fold")


def _rows(model, values, predicted, y, method, without):
    codes = np.searchsorted(model.classes_, y)
    if values.ndim == 1:
        values = values - model.threshold_
        predicted = model.classes_[(values >= 0).astype(np.intp)]
    return LeftOutRows(predicted, margins(values, codes), predicted != y, method, without)
