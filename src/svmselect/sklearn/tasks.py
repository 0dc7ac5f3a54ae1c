"""The tasks of a search: classification, regression and one class."""

from functools import partial
from typing import Any

import numpy as np

from svmselect.sklearn.calibration import check_calibration
from svmselect.sklearn.classifier import training_set
from svmselect.sklearn.fold_evaluators import FoldEvaluator, RegressionFoldEvaluator
from svmselect.sklearn.loo_evaluators import (
    CRITERIA,
    ClassifierEstimates,
    ClassifierEvaluator,
    OneClassEvaluator,
    RegressionEstimates,
    RegressionEvaluator,
)
from svmselect.sklearn.machine import LeftOutOneClass, OneClassSVM, one_class_rows
from svmselect.sklearn.one_vs_one import right_values
from svmselect.sklearn.scoring import LeftOut
from svmselect.sklearn.svc import SVC, NuSVC
from svmselect.sklearn.svr import SVR, LeftOutRegression, Regressor, regression_rows

__all__ = ["task_of"]


class _Task:
    """A kind of models that a search compares: its rows, scores and evaluators.

    Attributes
    ----------
    scoring : str or None
        The score by default; None is that of the evaluators.
    folds, loo : callable
        The evaluators of folds and of leave-one-out, called as `Evaluator`; None where there is none.
    """

    scoring: str | None = None
    folds: Any = None
    loo: Any = None
    stratified = False  # whether a number of splits is that of stratified ones

    def check(self, template):
        """Raise a ValueError for parameters of the models that no fit would see."""

    def default_score(self, data):
        """Return the name of the score that the evaluators have by default."""
        return self.scoring

    def estimates(self, criterion, template):
        """Return the evaluator by an estimate of leave-one-out; raise a ValueError if there is none."""
        raise ValueError(f"criterion must be 'exact' for a {type(template).__name__}, got {criterion!r}")


class _Classification(_Task):
    folds, loo, stratified = FoldEvaluator, ClassifierEvaluator, True

    def check(self, template):
        """Raise a ValueError for a bad calibration."""
        check_calibration(template)

    def default_score(self, data):
        """Return "accuracy", or "weighted_accuracy" where the weights of classes differ."""
        return "weighted_accuracy" if np.ptp(data.per_class) else "accuracy"

    def rows(self, search, X, y):
        """Return X, classes, the number of each row's class, and labels."""
        X, classes, codes = training_set(search, X, y)
        return X, classes, codes, classes[codes]

    def right(self, data, template):
        """Return an estimator for scorers that is right at each row."""
        k, codes = data.classes.size, data.codes
        values = right_values(codes, k)
        return LeftOut(template, data.classes, data.given_X, values, lambda: np.eye(k)[codes])

    def estimates(self, criterion, template):
        """Return the evaluator by an estimate of the leave-one-out error."""
        if criterion == "radius_margin" and not isinstance(template, SVC):
            return super().estimates(criterion, template)
        return partial(ClassifierEstimates, criterion=CRITERIA[criterion])


class _Regression(_Task):
    scoring, folds, loo = "r2", RegressionFoldEvaluator, RegressionEvaluator

    def rows(self, search, X, y):
        """Return X, and targets as those of one class."""
        X, z = regression_rows(search, X, y)
        return X, np.zeros(1), np.zeros(z.size, dtype=np.intp), z

    def right(self, data, template):
        """Return an estimator for scorers that is right at each row."""
        return LeftOutRegression(data.given_X, data.y)

    def estimates(self, criterion, template):
        """Return the evaluator by the span estimate of the mean absolute residual."""
        if criterion != "span" or not isinstance(template, SVR):
            return super().estimates(criterion, template)
        return RegressionEstimates


class _OneClass(_Task):
    loo = OneClassEvaluator

    def default_score(self, data):
        """Return "consistency"."""
        return "consistency"

    def rows(self, search, X, y):
        """Return X, and one class without labels."""
        X = one_class_rows(search, X)
        m = X.shape[0]
        return X, np.zeros(1), np.zeros(m, dtype=np.intp), np.zeros(m)

    def right(self, data, template):
        """Return an estimator for scorers that is right at each row."""
        return LeftOutOneClass(data.given_X, np.where(np.asarray(data.given_y) == 1, 1.0, -1.0))


TASKS = {SVC: _Classification(), NuSVC: _Classification(), Regressor: _Regression(), OneClassSVM: _OneClass()}


def task_of(template):
    """Return the task of an estimator; raise a ValueError for an estimator of another library."""
    for kind, task in TASKS.items():
        if isinstance(template, kind):
            return task
    raise ValueError(
        "estimator must be a svmselect.sklearn.SVC, NuSVC, SVR, NuSVR or OneClassSVM, or a Pipeline that "
        f"ends in one, got a {type(template).__name__} of {type(template).__module__.split('.')[0]}"
    )
