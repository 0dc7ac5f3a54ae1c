"""The commands `cv`, `span` and `loo` by an estimator, and the estimators and scores of all commands."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
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
from svmselect.cli.data import constant_remark, described, heading, load, model_options
from svmselect.cli.encoding import name_of
from svmselect.cli.loo import findings
from svmselect.cli.output import percent, show, table
from svmselect.cli.page import check_plotting, class_sections, write_page
from svmselect.sklearn import SVC, SeededCV
from svmselect.sklearn.one_vs_one import margins, right_values
from svmselect.sklearn.progress import progress_bar
from svmselect.sklearn.scoring import LeftOut, Scoring

__all__ = [
    "LeftOutRows",
    "check_name",
    "check_positive",
    "check_score",
    "check_threshold",
    "classifier",
    "cv",
    "evaluated_model",
    "folds_of",
    "held_out_rows",
    "loo_rows",
    "score_name",
    "scored_loo",
    "scorer_for",
    "span",
]

# scores of one of two classes: the metric, and the method of a classifier that gives its argument
ONE_CLASS_SCORES = {
    "average_precision": (average_precision_score, ("decision_function", "predict_proba")),
    "f1": (f1_score, "predict"),
    "jaccard": (jaccard_score, "predict"),
    "precision": (precision_score, "predict"),
    "recall": (recall_score, "predict"),
}


def classifier(arguments, **parameters):
    """Return the SVC of the options."""
    return SVC(**model_options(arguments), **parameters)


def evaluated_model(arguments, **parameters):
    """Return the SVC of the options; it has probabilities if --scoring may ask for them."""
    return classifier(
        arguments,
        calibration="loo" if arguments.scoring else None,
        calibration_method=getattr(arguments, "calibration", None) or "sigmoid",
        **parameters,
    )


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


def scored_loo(arguments):
    """Run the command `loo` by an estimator, which has probabilities if --scoring may ask for them."""
    # 1) checks before the file is read, and before anything is trained
    check_name("--scoring", arguments.scoring)
    check_positive(arguments)
    check_plotting(None, arguments.report)
    X, data, facts = load(arguments)
    y = data.labels
    check_score("--scoring", arguments.scoring, y, arguments.positive)
    # 2) training, and leave-one-out
    estimator = evaluated_model(arguments, C=arguments.C, gamma=arguments.gamma)
    begin = time.perf_counter()
    estimator.fit(X, y)
    if not arguments.scoring:  # else training has left each row out
        with progress_bar(1, not arguments.quiet) as report:
            estimator.leave_one_out(report, decision_values=bool(arguments.report))
    scorer = scorer_for(arguments.scoring, arguments.positive, y)
    score = estimator.loo_score(scorer) if arguments.scoring else None
    seconds = time.perf_counter() - begin
    model = SimpleNamespace(
        **model_options(arguments),
        C=arguments.C,
        gamma=arguments.gamma,
        predicted=estimator.predict(X),
        left_out=estimator.loo_predictions_,
        weighted_error=estimator.weighted_loo_error_,
        n_support=estimator.support_.size,
        score=score,
        score_name=score_name(arguments.scoring, arguments.positive),
        seconds=seconds,
    )
    # 3) results for JSON, for people, and for the page
    line, result, rows = findings(arguments, X, data, facts, model)
    if arguments.report:
        numbers = [(name, value) for name, value, _ in rows[:-1]]
        lines = [line, *constant_remark(model.predicted)]
        sections = class_sections(loo_rows(estimator, y), estimator, data)
        write_page(arguments, facts, lines, numbers, sections)
    lines = heading(facts, line) + table(rows) + constant_remark(model.predicted)
    show(result, arguments.json, lines)


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
