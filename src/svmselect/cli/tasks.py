"""The three tasks of the commands: classes, numbers to predict, and rows unlike the others."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    r2_score,
    recall_score,
)
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from svmselect.bounds import SINGLE_FITS
from svmselect.cli.arguments import is_number
from svmselect.cli.columns import MOST_CLASSES
from svmselect.cli.output import name_of, percent
from svmselect.sklearn import SVC, SVR, OneClassSVM
from svmselect.sklearn.candidates import DEFAULT
from svmselect.sklearn.machine import LeftOutOneClass
from svmselect.sklearn.one_vs_one import right_values
from svmselect.sklearn.scoring import LeftOut, Scoring
from svmselect.sklearn.svr import LeftOutRegression

__all__ = ["TASKS", "check_task", "task_of_model"]

# scores of one of two classes: the metric, and the method of a classifier that gives its argument
ONE_CLASS_SCORES = {
    "average_precision": (average_precision_score, ("decision_function", "predict_proba")),
    "f1": (f1_score, "predict"),
    "jaccard": (jaccard_score, "predict"),
    "precision": (precision_score, "predict"),
    "recall": (recall_score, "predict"),
}
SEARCHED = ("nu", "epsilon", "degree", "coef0", "class_weight")  # what a grid may hold beside C and gamma
SMALL, LARGE = 0.1, 10.0  # other deviations of the targets are worth a remark


def _named_score(option, text):
    """Return the name of a score and its class or None; raise a ValueError for an unknown name."""
    name, _, positive = (text or "accuracy").partition(":")
    try:
        Scoring(name)
    except ValueError:
        near = get_close_matches(name, get_scorer_names(), 1)
        raise ValueError(
            f"{option} must be a name of sklearn.metrics.get_scorer_names(), such as balanced_accuracy, f1 "
            "or roc_auc, "
            f"got {name!r}" + (f": is it {near[0]}?" if near else "")
        ) from None
    return (name if text else None), (positive or None)


class _Task:
    """The base of tasks: `kind` is the estimator, and `refused` has options that the task lacks."""

    name: str
    kind: Any
    refused: tuple[str, ...] = ()
    by = "cv"
    default_scoring: str | None = None

    def check(self, arguments):
        """Raise a ValueError for options that this task does not have."""
        given = vars(arguments)
        for option in self.refused:
            if given.get(option):
                raise ValueError(f"--{option} is not for --task {self.name}")

    def settings(self, arguments):
        """Return the values of --set by name: lists of those that select compares, else single values."""
        known = self.kind().get_params()
        lists, single = {}, {}
        for name, values in arguments.set:
            if name in ("C", "gamma", "kernel", "calibration", "threshold"):
                raise ValueError(f"--set {name}: there is an option --{name}")
            if name not in known:
                near = get_close_matches(name, known, 1)
                raise ValueError(
                    f"--set {name}: a {self.kind.__name__} has no such parameter"
                    + (f", is it {near[0]}?" if near else "")
                )
            if arguments.command == "select" and name in SEARCHED:
                lists[name] = values
            elif len(values) > 1:
                raise ValueError(f"--set {name}: one value, got {len(values)}")
            else:
                single[name] = values[0]
        return lists, single

    def estimator(self, arguments, **parameters):
        """Return the estimator of the options, without the parameters that `select` compares."""
        _, single = self.settings(arguments)
        if arguments.command != "select":
            single |= {"gamma": arguments.gamma} | ({"C": arguments.C} if arguments.C else {})
        return self.kind(**({"kernel": arguments.kernel} | single | parameters))

    def splitter(self, arguments, data, k, option, seed=0):
        """Return the splitter of k folds; raise a ValueError where the rows are too few."""
        m, unit = (
            (data.numbers.size, "rows")
            if data.groups is None
            else (np.unique(data.groups).size, "groups of --groups")
        )
        if not 2 <= k <= m:
            raise ValueError(f"{option} must be from 2 to the {m} {unit}, got {k}")
        return (KFold if data.groups is None else GroupKFold)(k, shuffle=True, random_state=seed)

    def remark(self, arguments, y):
        """Return a remark on the labels, None where there is none."""
        return None

    def leave_out(self, model, progress, decision_values):
        """Leave each training row out."""
        model.leave_one_out(progress)

    def default_values(self, arguments):
        """Return the values of parameters that `select` compares beside those of `default_grid`."""
        return {}

    def search_values(self, search, arguments):
        """Return the columns that models are listed by, of which the last one chooses, and its name."""
        return {"score": search.cv_results_["mean_test_score"]}, arguments.scoring


class _Classification(_Task):
    """The label is a class."""

    name, kind = "classification", SVC

    def check(self, arguments):
        """Raise a ValueError for options that cannot go together."""
        super().check(arguments)
        for option in ("calibration", "threshold"):
            if vars(arguments).get(option):
                if arguments.kernel == "sigmoid":
                    raise ValueError(
                        f"--{option} goes by leave-one-out, which --kernel sigmoid does not have"
                    )
                if arguments.save_as == "libsvm":
                    raise ValueError(
                        f"--{option} is nothing that LIBSVM's model file can hold: save the model as skops"
                    )
        if vars(arguments).get("intervals"):
            raise ValueError("--intervals is for --task regression")

    def scorer(self, option, text, data):
        """Return a score as `Scoring` takes it, None for None, and whether it needs probabilities.

        Raise a ValueError, before anything is trained, if it is not for these labels.
        """
        name, positive = _named_score(option, text)
        if name is None:
            return None, False
        classes, codes = np.unique(data.y, return_inverse=True)
        named = ", ".join(map(name_of, classes.tolist()))
        scorer = name
        if positive is not None:
            if name not in ONE_CLASS_SCORES:
                raise ValueError(
                    f"{option} {text}: {name} is not of one class, as {', '.join(ONE_CLASS_SCORES)} are"
                )
            labels = [label for label in classes.tolist() if name_of(label) == positive]
            if not labels:
                raise ValueError(f"{option} {text}: {positive} is none of the classes {named}")
            metric, response = ONE_CLASS_SCORES[name]
            scorer = make_scorer(metric, response_method=response, pos_label=labels[0])
        is_class, values = np.eye(classes.size)[codes], right_values(codes, classes.size)
        for calibration in (None, "loo"):
            right = LeftOut(SVC(calibration=calibration), classes, is_class, values, lambda: is_class)
            try:
                Scoring(scorer).rehearse(right, data.y, None)
                return scorer, calibration is not None
            except (ValueError, TypeError) as error:
                reason = error
        fitting = [f"{name}_macro"] if f"{name}_macro" in get_scorer_names() else []
        if classes.size == 2 and name in ONE_CLASS_SCORES and positive is None:
            fitting.append(f"{name}:{name_of(classes[1])}")
        other = f"; {' or '.join(fitting)} is" if fitting else ""
        raise ValueError(f"{option} {text} is not for the classes {named}{other}: {reason}")

    def check_threshold(self, text, data):
        """Return the score that tunes a threshold; raise a ValueError unless it can."""
        scorer, _ = self.scorer("--threshold", text, data)
        if scorer is None:
            return None
        classes, codes = np.unique(data.y, return_inverse=True)
        if classes.size > 2:
            raise ValueError(f"--threshold is for two classes, the file has {classes.size}")
        scoring, is_class = Scoring(scorer), np.eye(2)[codes]
        scoring.rehearse(
            LeftOut(SVC(calibration="loo"), classes, is_class, right_values(codes, 2), lambda: is_class),
            data.y,
        )
        if scoring.needs_values:
            raise ValueError(f"--threshold is tuned by a score of predicted classes, and {text} is none")
        return scorer

    def splitter(self, arguments, data, k, option, seed=0):
        """Return the splitter of k folds in which classes have about their shares; see `_Task`."""
        labels, counts = np.unique(data.y, return_counts=True)
        if not 2 <= k <= counts.min():
            rarest = name_of(labels[counts.argmin()])
            number = "; --task regression takes the label for a number" if data.y.dtype.kind == "i" else ""
            instead = (
                f"; --by loo needs no folds{number}"
                if option == "--folds" and arguments.command == "select"
                else number
            )
            count = counts.min()
            if count == 1:
                raise ValueError(
                    f"{option} needs two rows of each class, and class {rarest} has one{instead}"
                )
            raise ValueError(
                f"{option} must be from 2 to the {count} rows of class {rarest}, got {k}{instead}"
            )
        if data.groups is None:
            return StratifiedKFold(k, shuffle=True, random_state=seed)
        super().splitter(arguments, data, k, option)
        splitter = StratifiedGroupKFold(k, shuffle=True, random_state=seed)
        for h, (train, held_out) in enumerate(splitter.split(data.y, data.y, data.groups), 1):
            absent, unseen = np.setdiff1d(labels, data.y[train]), np.setdiff1d(labels, data.y[held_out])
            lack = None if held_out.size else "no row"
            if absent.size:
                lack = f"no row of class {name_of(absent[0])} to train on"
            elif unseen.size and arguments.scoring not in (None, "accuracy"):
                lack = f"no row of class {name_of(unseen[0])} to score {arguments.scoring} by"
            if lack:
                raise ValueError(
                    f"{option} {k} with --groups leaves {lack} in fold {h}: take fewer folds, or smaller "
                    "groups"
                )
        return splitter

    def leave_out(self, model, progress, decision_values):
        """Leave each training row out."""
        model.leave_one_out(progress, decision_values=decision_values)

    def span(self, model):
        """Return estimates and bounds of the left-out error from one fit, for JSON and as rows of a table."""
        values = {one.key: (one.name, float(getattr(model, f"{one.key}_"))) for one in SINGLE_FITS}
        facts = {key: value for key, (_, value) in values.items()}
        return facts, [(name, percent(value)) for name, value in values.values()]

    fold_scores: ClassVar = {"error": "accuracy", "balanced": "balanced_accuracy"}

    def fold_results(self, scores, k, y, balanced):
        """Return the errors of k folds, from an array of scores by name: for JSON and as rows of a table."""
        errors, weighted = 1 - scores["error"], 1 - float(scores["balanced"].mean())
        facts = {"cv_error": errors.mean(), "cv_error_deviation": errors.std(), "fold_errors": errors}
        facts["weighted_cv_error"] = weighted if balanced else errors.mean()
        rows = [(f"{k}-fold error", percent(errors.mean()))]
        rows += [("weighted by class", percent(weighted))] if balanced else []
        return (
            facts,
            rows,
            [("deviation over the folds", percent(errors.std())), ("worst fold", percent(errors.max()))],
        )

    def about(self, y):
        """Return facts on the labels for JSON, and a phrase for people."""
        classes, counts = np.unique(y, return_counts=True)
        sizes = {name_of(label): int(n) for label, n in zip(classes.tolist(), counts, strict=True)}
        return {"classes": sizes}, "classes " + ", ".join(f"{label} ({n})" for label, n in sizes.items())

    def results(self, key, title, predicted, y, weighted=False):
        """Return errors of predictions, for JSON and as rows of a table."""
        wrong = predicted != y
        facts, rows = {f"{key}_error": float(wrong.mean())}, []
        if weighted:
            _, codes = np.unique(y, return_inverse=True)
            each = np.bincount(codes, weights=wrong) / np.bincount(codes)
            rows = [("weighted by class", percent(each.mean()), "")]
            facts[f"weighted_{key}_error"] = float(each.mean())
        return facts, [
            (f"{title} error", percent(wrong.mean()), f"{wrong.sum()} of {wrong.size} rows"),
            *rows,
        ]

    def left_out(self, model, y):
        """Return predictions of rows by the model without each, facts and rows of a table."""
        predicted, balanced = model.loo_predictions_, model.class_weight == "balanced"
        facts, rows = self.results("loo", "leave-one-out", predicted, y, weighted=balanced)
        facts = (
            {"weighted_loo_error": facts["loo_error"]} | facts | {"loo_errors": int((predicted != y).sum())}
        )
        return predicted, facts, rows

    def baseline(self, y):
        """Return the error of the best constant, for JSON and for people."""
        classes, counts = np.unique(y, return_counts=True)
        error = 1 - counts.max() / y.size
        return {"baseline_error": error}, [
            (f"always {name_of(classes[counts.argmax()])}", percent(error), "the largest class")
        ]

    def search_values(self, search, arguments):
        """Return the columns that models are listed by; see `_Task`."""
        if arguments.scoring:
            return super().search_values(search, arguments)
        results, exact = search.cv_results_, arguments.by == "loo"
        weighted = search.scoring_ == "weighted_accuracy"
        errors = results["loo_error"] if exact and not weighted else 1 - results["mean_test_score"]
        return {"error": errors}, "error weighted by class" if weighted else "error"


class _Regression(_Task):
    """The label is a number to predict."""

    name, kind = "regression", SVR
    refused = ("calibration", "threshold")
    default_scoring = "neg_mean_absolute_error"

    def scorer(self, option, text, data):
        """Return a score as `Scoring` takes it, and that it needs no probabilities; see `_Classification`."""
        name, positive = _named_score(option, text)
        if positive is not None:
            raise ValueError(f"{option} {text}: {name} of numbers has no class {positive}")
        if name is not None:
            try:
                Scoring(name).rehearse(LeftOutRegression(data.transformed, data.y), data.y, None)
            except (ValueError, TypeError, AttributeError) as error:
                raise ValueError(f"{option} {name} is not for numbers: {error}") from None
        return name, False

    def about(self, y):
        """Return facts on the targets for JSON, and a phrase for people."""
        facts = {"least": y.min(), "mean": y.mean(), "largest": y.max(), "deviation": y.std()}
        return {"targets": facts}, f"numbers from {y.min():.6g} to {y.max():.6g}"

    def span(self, model):
        """Return the estimate of the left-out error from one fit, for JSON and as rows of a table."""
        value = float(model.span_estimate_)
        return {"span_mean_absolute_error": value}, [("mean absolute error by spans", f"{value:.6g}")]

    fold_scores: ClassVar = {"error": "neg_mean_absolute_error", "squared": "neg_root_mean_squared_error"}

    def fold_results(self, scores, k, y, balanced):
        """Return the errors of k folds; see `_Classification`."""
        errors, squared = -scores["error"], -float(scores["squared"].mean())
        facts = {
            "cv_mean_absolute_error": errors.mean(),
            "cv_root_mean_squared_error": squared,
            "fold_errors": errors,
        }
        rows = [
            (f"{k}-fold mean absolute error", f"{errors.mean():.6g}"),
            (f"{k}-fold root mean squared error", f"{squared:.6g}"),
        ]
        ends = [("deviation over the folds", f"{errors.std():.6g}"), ("worst fold", f"{errors.max():.6g}")]
        return facts, rows, ends

    def remark(self, arguments, y):
        """Return a remark on odd units of the targets, None where there is none."""
        if SMALL <= y.std() <= LARGE or any(name == "epsilon" for name, _ in arguments.set):
            return None
        return (
            f"the numbers to predict deviate by {y.std():.3g} from their mean; C and epsilon, 0.1 by "
            "default, are in their units"
        )

    def results(self, key, title, predicted, y, weighted=False):
        """Return errors of predictions, for JSON and as rows of a table."""
        residuals = y - predicted
        values = {
            "mean absolute error": float(np.abs(residuals).mean()),
            "root mean squared error": float(np.sqrt(np.mean(residuals**2))),
            "r2": float(r2_score(y, predicted)) if y.size > 1 else np.nan,
        }
        facts = {f"{key}_{name.replace(' ', '_')}": value for name, value in values.items()}
        return facts, [(f"{title} {name}", f"{value:.6g}", "") for name, value in values.items()]

    def left_out(self, model, y):
        """Return predictions of rows by the model without each, facts and rows of a table."""
        facts, rows = self.results("loo", "leave-one-out", model.loo_predictions_, y)
        return model.loo_predictions_, facts | {"loo_predictions": model.loo_predictions_}, rows

    def baseline(self, y):
        """Return the error of the best constant, for JSON and for people."""
        error = float(np.abs(y - np.median(y)).mean())
        return {"baseline_mean_absolute_error": error}, [
            (f"always {np.median(y):.6g}", f"{error:.6g}", "mean absolute error of the median")
        ]

    def search_values(self, search, arguments):
        """Return the columns that models are listed by; see `_Task`."""
        if arguments.scoring:
            return super().search_values(search, arguments)
        return {"mean_absolute_error": -search.cv_results_["mean_test_score"]}, "mean absolute error"


class _OneClass(_Task):
    """The model tells rows like the file's from others."""

    name, kind = "one-class", OneClassSVM
    refused = ("C", "folds", "groups", "outer", "calibration", "threshold", "intervals")
    by = "loo"

    def check(self, arguments):
        """Raise a ValueError for options and commands that this task does not have."""
        super().check(arguments)
        if arguments.command in ("cv", "span"):
            raise ValueError(
                f"svmselect {arguments.command} is not for --task one-class, which has loo and select"
            )
        if vars(arguments).get("by") not in (None, "loo"):
            raise ValueError("--by is not for --task one-class, which goes by leave-one-out")
        if vars(arguments).get("rule", "best") != "best":
            raise ValueError("--rule is not for --task one-class")

    def scorer(self, option, text, data):
        """Return a score of accepting the rows of one label; see `_Classification`."""
        name, positive = _named_score(option, text)
        if data.numbers.size < 2:
            raise ValueError(f"{data.path}: leave-one-out needs at least two rows, has one")
        if name is None:
            return None, False
        if data.y is None:
            raise ValueError(f"{option} needs --label, the column that says which rows are outliers")
        kinds = np.unique(data.y).tolist()
        accepted = [kind for kind in kinds if _is_label(kind, positive or "1")]
        if not accepted:
            raise ValueError(
                f"{option} {text}: rows to accept have the label {positive or 1}, which is none of "
                f"{', '.join(kinds)}; {name}:LABEL names it"
            )
        if len(accepted) == len(kinds):
            raise ValueError(f"{option} needs rows of outliers, and the label of all rows is {kinds[0]}")
        y = self.truth(text, data)
        try:
            Scoring(name).rehearse(LeftOutOneClass(data.transformed, y.astype(np.float64)), y, None)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"{option} {name} is not for one-class models: {error}") from None
        return name, False

    def truth(self, text, data):
        """Return 1 for rows to accept, by the label of a score, and -1 for others; None without a score."""
        if text is None:
            return None
        positive = _named_score("--scoring", text)[1] or "1"
        return np.where([_is_label(label, positive) for label in data.y], 1, -1)

    def about(self, y):
        """Return facts on the labels for JSON, and a phrase for people."""
        return ({}, "") if y is None else _Classification().about(y)

    def results(self, key, title, values, y):
        """Return rejection rates of all rows and of each label; a rejected row has a value below 0."""
        rejected = values < 0
        kinds = [] if y is None else [kind for kind in np.unique(y).tolist() if kind]
        counts = {f"{title} rejection rate": (int(rejected.sum()), rejected.size)}
        by_class = {}
        if 2 <= len(kinds) <= MOST_CLASSES:
            by_class = {kind: (int(rejected[y == kind].sum()), int((y == kind).sum())) for kind in kinds}
        counts |= {f"of class {kind}": pair for kind, pair in by_class.items()}
        rows = [(name, percent(n / m), f"{n} of {m} rows") for name, (n, m) in counts.items()]
        facts = {f"{key}_rejection_rate": float(rejected.mean())}
        return facts | {"rejected_by_class": {kind: n for kind, (n, _) in by_class.items()}}, rows

    def left_out(self, model, y):
        """Return decision values of rows by the model without each, facts and rows of a table."""
        facts, rows = self.results("loo", "leave-one-out", model.loo_decision_, y)
        return model.loo_decision_, facts | {"loo_decision_values": model.loo_decision_}, rows

    def baseline(self, y):
        """Return nothing: no constant is a baseline of one class."""
        return {}, []

    def search_values(self, search, arguments):
        """Return the columns that models are listed by; see `_Task`."""
        results = search.cv_results_
        columns = {"consistent": results["consistent"], "loo_rejection_rate": results["loo_rejection_rate"]}
        if arguments.scoring:
            columns["score"] = results["mean_test_score"]
        return columns, arguments.scoring or "rejection rate"

    def default_values(self, arguments):
        """Return the values of nu that are compared where --set gives none."""
        return {"nu": list(DEFAULT["nu"]) if arguments.scoring else [0.5]}


TASKS = {task.name: task for task in (_Classification(), _Regression(), _OneClass())}


def check_task(arguments):
    """Raise a ValueError, before the file is read, for options that cannot go together."""
    for option in ("scoring", "threshold"):
        _named_score(f"--{option}", vars(arguments).get(option))
    if arguments.task:
        TASKS[arguments.task].check(arguments)
        TASKS[arguments.task].settings(arguments)
    if arguments.command == "select" and arguments.kernel == "linear" and arguments.gamma:
        raise ValueError("--gamma is for kernels that have one, got --kernel linear")
    if vars(arguments).get("groups") and vars(arguments).get("by") not in (None, "cv"):
        raise ValueError(
            f"--by {arguments.by} leaves out single rows, and the others of their group would stay: --groups "
            "is for --by cv"
        )


def task_of_model(model):
    """Return the task that a fitted model is for, by the methods and attributes that it has."""
    from sklearn.base import is_outlier_detector, is_regressor

    if is_outlier_detector(model):
        return TASKS["one-class"]
    return TASKS["regression" if is_regressor(model) else "classification"]


def _is_label(word, name):
    """Return whether a label is the one of this name: as text, or as a number."""
    return word == name or (is_number(word) and is_number(name) and float(word) == float(name))
