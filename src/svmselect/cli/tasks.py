"""The three tasks of the commands: classes, numbers to predict, and rows unlike the others."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, ClassVar

import numpy as np
from sklearn import metrics
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from svmselect.bounds import SINGLE_FITS
from svmselect.cli.arguments import is_number
from svmselect.cli.columns import MOST_CLASSES
from svmselect.cli.output import Share, name_of
from svmselect.sklearn import SVC, SVR, OneClassSVM
from svmselect.sklearn.candidates import DEFAULT
from svmselect.sklearn.machine import LeftOutOneClass
from svmselect.sklearn.one_vs_one import right_values
from svmselect.sklearn.scoring import LeftOut, Scoring
from svmselect.sklearn.svr import LeftOutRegression

__all__ = ["TASKS", "check_task", "task_of_model"]

# scores of one of two classes, and the methods of a classifier that give their argument
ONE_CLASS_SCORES = {
    "average_precision": ("decision_function", "predict_proba"),
    **dict.fromkeys(("f1", "jaccard", "precision", "recall"), "predict"),
}
SEARCHED = ("nu", "epsilon", "degree", "coef0", "class_weight")  # what a grid may hold beside C and gamma


class _Task:
    """The base of tasks: `kind` is the estimator, and `refused` has options that the task lacks."""

    name: str
    kind: Any
    refused: tuple[str, ...] = ()
    by = "cv"
    default_scoring: str | None = None
    fold_scores: ClassVar[dict[str, str]] = {}

    def check(self, arguments):
        """Raise a ValueError for options that this task does not have, and a bad --set."""
        for option in self.refused:
            if vars(arguments).get(option):
                raise ValueError(f"--{option} is not for --task {self.name}")
        self.settings(arguments)

    def settings(self, arguments):
        """Return the values of --set by name: lists of those that select compares, else single values."""
        known, kind = self.kind().get_params(), self.kind.__name__
        lists, single = {}, {}
        for name, values in arguments.set:
            if name in ("C", "gamma", "kernel", "calibration", "threshold"):
                raise ValueError(f"--set {name}: there is an option --{name}")
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f", is it {near[0]}?" if near else ""
                raise ValueError(f"--set {name}: a {kind} has no such parameter{hint}")
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

    def scorer(self, option, text, data):
        """Return a score as `Scoring` takes it, None for None, and parameters that an estimator needs for it.

        Raise a ValueError, before anything is trained, if it is not for these labels.
        """
        if text is None:
            return None, {}
        scorer, name = self._scorer(option, text, data), text.partition(":")[0]
        for right, parameters in self._right(data, text):
            try:
                Scoring(scorer).rehearse(right, self.truth(text, data))
                return scorer, parameters
            except (ValueError, TypeError, AttributeError) as error:
                reason = error
        fitting = self._fitting(name, data)
        other = f"; {' or '.join(fitting)} is" if fitting else ""
        raise ValueError(f"{option} {text} is not for {self.name} of these labels{other}: {reason}")

    def _fitting(self, name, data):
        """Return scores of the same kind that are for these labels."""
        return []

    def _scorer(self, option, text, data):
        """Return the scorer that a text names."""
        name, _, positive = text.partition(":")
        if positive:
            raise ValueError(f"{option} {text}: {name} of {self.name} has no class {positive}")
        return name

    def truth(self, text, data):
        """Return the labels that a score compares with."""
        return data.y

    def splitter(self, arguments, data, k, option, seed=0):
        """Return the splitter of k folds; raise a ValueError where the rows are too few."""
        m, unit = data.numbers.size, "rows"
        if data.groups is not None:
            m, unit = np.unique(data.groups).size, "groups of --groups"
        if not 2 <= k <= m:
            raise ValueError(f"{option} must be from 2 to the {m} {unit}, got {k}")
        return (KFold if data.groups is None else GroupKFold)(k, shuffle=True, random_state=seed)

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

    name, kind, refused = "classification", SVC, ("intervals",)
    fold_scores: ClassVar = {"error": "accuracy", "balanced": "balanced_accuracy"}

    def check(self, arguments):
        """Raise a ValueError for options that cannot go together."""
        super().check(arguments)
        for option in ("calibration", "threshold"):
            if vars(arguments).get(option) and arguments.kernel == "sigmoid":
                raise ValueError(f"--{option} goes by leave-one-out, which --kernel sigmoid does not have")
            if vars(arguments).get(option) and arguments.save_as == "libsvm":
                raise ValueError(f"--{option} is nothing that LIBSVM's model file can hold: save it as skops")

    def _scorer(self, option, text, data):
        """Return the scorer that a text names, of the class behind its colon."""
        name, _, positive = text.partition(":")
        k = np.unique(data.y).size
        if option == "--threshold" and k > 2:
            raise ValueError(f"--threshold is for two classes, the file has {k}")
        if not positive:
            return name
        if name not in ONE_CLASS_SCORES:
            raise ValueError(
                f"{option} {text}: {name} is not of one class, as {', '.join(ONE_CLASS_SCORES)} are"
            )
        classes = {name_of(label): label for label in np.unique(data.y).tolist()}
        if positive not in classes:
            raise ValueError(f"{option} {text}: {positive} is none of the classes {', '.join(classes)}")
        metric, response = getattr(metrics, f"{name}_score"), ONE_CLASS_SCORES[name]
        return metrics.make_scorer(metric, response_method=response, pos_label=classes[positive])

    def _fitting(self, name, data):
        """Return scores of the same kind that are for these classes."""
        classes, macro = np.unique(data.y).tolist(), f"{name}_macro"
        single = [f"{name}:{name_of(classes[1])}"] if len(classes) == 2 and name in ONE_CLASS_SCORES else []
        return [macro] * (macro in metrics.get_scorer_names()) + single

    def _right(self, data, text):
        """Yield a model that is right at each row, with and without probabilities, and its parameters."""
        classes, codes = np.unique(data.y, return_inverse=True)
        is_class, values = np.eye(classes.size)[codes], right_values(codes, classes.size)
        for parameters in ({}, {"calibration": "loo"}):
            yield LeftOut(SVC(**parameters), classes, is_class, values, lambda: is_class), parameters

    def splitter(self, arguments, data, k, option, seed=0):
        """Return the splitter of k folds in which classes have about their shares; see `_Task`."""
        labels, counts = np.unique(data.y, return_counts=True)
        if not 2 <= k <= counts.min():
            rarest = f"class {name_of(labels[counts.argmin()])} has {counts.min()}"
            hints = ["--by loo needs no folds"] * (arguments.command == "select" and option == "--folds")
            hints += ["--task regression takes the label for a number"] * (data.y.dtype.kind == "i")
            needed = f"{option} {k} needs {k} rows of each class" if k > 1 else f"{option} must be at least 2"
            raise ValueError(f"{needed}; {'; '.join([rarest, *hints])}")
        if data.groups is None:
            return StratifiedKFold(k, shuffle=True, random_state=seed)
        super().splitter(arguments, data, k, option)
        return StratifiedGroupKFold(k, shuffle=True, random_state=seed)

    def leave_out(self, model, progress, decision_values):
        """Leave each training row out."""
        model.leave_one_out(progress, decision_values=decision_values)

    def span(self, model):
        """Return estimates and bounds of the left-out error from one fit."""
        return {one.key: Share(getattr(model, f"{one.key}_")) for one in SINGLE_FITS}

    def fold_results(self, scores, balanced):
        """Return the errors of folds, from an array of scores by name."""
        errors = 1 - scores["error"]
        weighted = {"weighted_cv_error": Share(1 - scores["balanced"].mean())} if balanced else {}
        spread = {"cv_error_deviation": Share(errors.std()), "worst_fold": Share(errors.max())}
        return {"cv_error": Share(errors.mean()), **weighted, **spread, "fold_errors": errors}

    def about(self, y):
        """Return facts on the labels for JSON, and a phrase for people."""
        classes, counts = np.unique(y, return_counts=True)
        sizes = {name_of(label): int(n) for label, n in zip(classes.tolist(), counts, strict=True)}
        return {"classes": sizes}, "classes " + ", ".join(f"{label} ({n})" for label, n in sizes.items())

    def results(self, key, predicted, y, weighted=False):
        """Return errors of predictions, by names that have a key."""
        wrong = predicted != y
        facts = {f"{key}_error": Share(wrong.mean()), f"{key}_errors": int(wrong.sum())}
        if weighted:
            each = [wrong[y == label].mean() for label in np.unique(y)]
            facts[f"weighted_{key}_error"] = Share(np.mean(each))
        return facts

    def left_out(self, model, data):
        """Return predictions of rows by the model without each, and their errors."""
        predicted = model.loo_predictions_
        facts = self.results("loo", predicted, data.y, model.class_weight == "balanced")
        return predicted, facts | {"misclassified_rows": data.numbers[predicted != data.y]}

    def baseline(self, y):
        """Return the error of the best constant."""
        return {"baseline_error": Share(1 - np.unique(y, return_counts=True)[1].max() / y.size)}

    def search_values(self, search, arguments):
        """Return the columns that models are listed by; see `_Task`."""
        if arguments.scoring:
            return super().search_values(search, arguments)
        results, weighted = search.cv_results_, search.scoring_ == "weighted_accuracy"
        errors = 1 - results["mean_test_score"]
        if arguments.by == "loo" and not weighted:
            errors = results["loo_error"]
        return {"error": errors}, "error weighted by class" if weighted else "error"


class _Regression(_Task):
    """The label is a number to predict."""

    name, kind, refused = "regression", SVR, ("calibration", "threshold")
    default_scoring = "neg_mean_absolute_error"
    fold_scores: ClassVar = {"error": default_scoring, "squared": "neg_root_mean_squared_error"}

    def _right(self, data, text):
        """Yield a model that is right at each row, and no parameters."""
        yield LeftOutRegression(data.X, data.y), {}

    def about(self, y):
        """Return facts on the targets for JSON, and a phrase for people."""
        facts = {"least": y.min(), "mean": y.mean(), "largest": y.max(), "deviation": y.std()}
        return {"targets": facts}, f"numbers from {y.min():.6g} to {y.max():.6g}"

    def span(self, model):
        """Return the estimate of the left-out error from one fit."""
        return {"span_mean_absolute_error": float(model.span_estimate_)}

    def fold_results(self, scores, balanced):
        """Return the errors of folds; see `_Classification`."""
        errors, squared = -scores["error"], -float(scores["squared"].mean())
        facts = {"cv_mean_absolute_error": float(errors.mean()), "cv_root_mean_squared_error": squared}
        spread = {"cv_error_deviation": float(errors.std()), "worst_fold": float(errors.max())}
        return facts | spread | {"fold_errors": errors}

    def results(self, key, predicted, y, weighted=False):
        """Return errors of predictions, by names that have a key."""
        residuals = y - predicted
        return {
            f"{key}_mean_absolute_error": float(np.abs(residuals).mean()),
            f"{key}_root_mean_squared_error": float(np.sqrt(np.mean(residuals**2))),
            f"{key}_r2": float(metrics.r2_score(y, predicted)) if y.size > 1 else np.nan,
        }

    def left_out(self, model, data):
        """Return predictions of rows by the model without each, and their errors."""
        predicted = model.loo_predictions_
        return predicted, self.results("loo", predicted, data.y) | {"loo_predictions": predicted}

    def baseline(self, y):
        """Return the error of the best constant."""
        return {"baseline_mean_absolute_error": float(np.abs(y - np.median(y)).mean())}

    def search_values(self, search, arguments):
        """Return the columns that models are listed by; see `_Task`."""
        if arguments.scoring:
            return super().search_values(search, arguments)
        return {"mean_absolute_error": -search.cv_results_["mean_test_score"]}, "mean absolute error"


class _OneClass(_Task):
    """The model tells rows like the file's from others."""

    name, kind, by = "one-class", OneClassSVM, "loo"
    refused = ("C", "folds", "groups", "outer", "calibration", "threshold", "intervals")

    def check(self, arguments):
        """Raise a ValueError for options and commands that this task does not have."""
        super().check(arguments)
        if arguments.command in ("cv", "span"):
            raise ValueError(f"--task one-class is for loo, select and train, not for {arguments.command}")
        if vars(arguments).get("by") not in (None, "loo"):
            raise ValueError("--by is not for --task one-class, which goes by leave-one-out")
        if vars(arguments).get("rule", "best") != "best":
            raise ValueError("--rule is not for --task one-class")

    def _scorer(self, option, text, data):
        """Return the scorer that a text names; raise a ValueError unless labels tell outliers."""
        name, _, positive = text.partition(":")
        if data.y is None:
            raise ValueError(f"{option} needs --label, the column that says which rows are outliers")
        if np.unique(self.truth(text, data)).size < 2:
            kinds = ", ".join(np.unique(data.y))
            accepted = f"rows to accept have the label {positive or 1}"
            raise ValueError(
                f"{option} {text}: {accepted}, and the labels are {kinds}; {name}:LABEL is another"
            )
        return name

    def _right(self, data, text):
        """Yield a model that is right at each row, and no parameters."""
        yield LeftOutOneClass(data.X, self.truth(text, data).astype(np.float64)), {}

    def truth(self, text, data):
        """Return 1 for rows to accept, by the label of a score, and -1 for others; None without a score."""
        if text is None:
            return None
        accepted = text.partition(":")[2] or "1"
        same = [_as_number(label) == _as_number(accepted) for label in data.y]
        return np.where(same, 1, -1)

    def about(self, y):
        """Return facts on the labels for JSON, and a phrase for people."""
        return ({}, "") if y is None else TASKS["classification"].about(y)

    def results(self, key, values, y, weighted=False):
        """Return rejection rates of all rows and of each label; a rejected row has a value below 0."""
        rejected = values < 0
        kinds = [] if y is None else [kind for kind in np.unique(y).tolist() if kind]
        kinds = kinds if 2 <= len(kinds) <= MOST_CLASSES else []
        return {
            f"{key}_rejection_rate": Share(rejected.mean()),
            f"{key}_rejected": int(rejected.sum()),
            f"{key}_rejected_by_class": {kind: int(rejected[y == kind].sum()) for kind in kinds},
        }

    def left_out(self, model, data):
        """Return decision values of rows by the model without each, and rejection rates."""
        values = model.loo_decision_
        rows = {"loo_decision_values": values, "rejected_rows": data.numbers[values < 0]}
        return values, self.results("loo", values, data.y) | rows

    def baseline(self, y):
        """Return nothing: no constant is a baseline of one class."""
        return {}

    def search_values(self, search, arguments):
        """Return the columns that models are listed by; see `_Task`."""
        names = ("consistent", "loo_rejection_rate") + ("mean_test_score",) * bool(arguments.scoring)
        columns = {name.replace("mean_test_", ""): search.cv_results_[name] for name in names}
        return columns, arguments.scoring or "rejection rate"

    def default_values(self, arguments):
        """Return the values of nu that are compared where --set gives none."""
        return {"nu": list(DEFAULT["nu"]) if arguments.scoring else [0.5]}


TASKS = {task.name: task for task in (_Classification(), _Regression(), _OneClass())}


def check_task(arguments):
    """Raise a ValueError, before the file is read, for options that cannot go together."""
    for option in ("scoring", "threshold"):
        name = (vars(arguments).get(option) or "accuracy").partition(":")[0]
        names = metrics.get_scorer_names()
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f": is it {near[0]}?" if near else ", as balanced_accuracy, f1 and roc_auc are"
            raise ValueError(f"--{option} {name!r} is no name of sklearn.metrics.get_scorer_names(){hint}")
    if arguments.task:
        TASKS[arguments.task].check(arguments)
    if arguments.command == "select" and arguments.kernel == "linear" and arguments.gamma:
        raise ValueError("--gamma is for kernels that have one, got --kernel linear")
    if vars(arguments).get("groups") and vars(arguments).get("by") not in (None, "cv"):
        raise ValueError(f"--by {arguments.by} leaves out single rows, not groups: --groups is for --by cv")


def task_of_model(model):
    """Return the task that a fitted model is for, by the methods and attributes that it has."""
    from sklearn.base import is_outlier_detector, is_regressor

    if is_outlier_detector(model):
        return TASKS["one-class"]
    return TASKS["regression" if is_regressor(model) else "classification"]


def _as_number(word):
    """Return a word as a number where it is one."""
    return float(word) if is_number(word) else word
